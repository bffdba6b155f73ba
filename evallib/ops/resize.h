/* resize.h - the plan of a Resize, made once: per axis, the input elements that each
** position of the output is made of, and their weights. */
#ifndef EVL_OPS_RESIZE_H
#define EVL_OPS_RESIZE_H
#include "ir/op.h"

typedef struct evl_taps {
    size_t n_in, n_out, n; /* n taps for each position of the output */
    size_t *index;         /* n_out * n */
    double *weight;        /* n_out * n */
    bool *is_outside;      /* n_out: tf_crop_and_resize shows the extrapolation value */
    bool is_used;          /* false: the axis stays as it is */
} evl_taps;

typedef struct evl_resize {
    int32_t rank;
    evl_taps axis[EVAL_MAX_RANK];
    bool has_outside;
    double extrapolation;
} evl_resize;

evl_run evl_resize_f, evl_resize_d; /* weighted sums; resize_real.c */
#endif
