/* resize.h - the plan of a Resize, made once: per axis, the input elements that each
** position of the output is made of, and their weights. */
#ifndef EVL_OPS_RESIZE_H
#define EVL_OPS_RESIZE_H
#include "ir/op.h"

typedef struct evl_taps {
    size_t n_in, n_out, n; /* n taps for each position of the output */
    size_t *index;         /* n_out * n */
    double *weight;        /* n_out * n */
    void *real_weight;     /* the same as real numbers, of the type that is computed in */
    bool *is_outside;      /* n_out: tf_crop_and_resize shows the extrapolation value */
    bool is_used;          /* false: the axis stays as it is */
} evl_taps;

typedef struct evl_resize {
    int32_t rank;
    evl_taps axis[EVAL_MAX_RANK];
    bool has_outside;
    size_t sums; /* bytes of scratch memory that the sums of integers take */
    double extrapolation;
} evl_resize;

/* Elements of all dimensions from .. to-1, before or after they are resized. */
size_t evl_resize_count(const evl_resize *, int32_t from, int32_t to, bool is_out);

evl_run evl_resize_nearest;         /* one element for each; resize_nearest.c */
evl_run evl_resize_f, evl_resize_d; /* weighted sums; resize_real.c */
#endif
