/* ml.h - what the operators of ai.onnx.ml share: rows of features, labels, scores.
**
** X is [N, C], or [C] as one row; integers are taken as real numbers. */
#ifndef EVL_OPS_ML_H
#define EVL_OPS_ML_H
#include "ir/op.h"

/* Rank 1 or 2, or unknown; sizes -1 where they are. */
EVL_MUST_USE EvalStatus evl_ml_infer_rows(const evl_infer *, size_t input, int64_t *n,
                                          int64_t *width);
void evl_ml_rows(const evl_shape *, size_t *n, size_t *width); /* of a known shape */

/* Output 1 is [n, width], real; output 0 is [n], labels. */
EVL_MUST_USE EvalStatus evl_ml_infer_classes(evl_infer *, int64_t width, EvalType label);

/* An attribute of numbers, or the tensor `name`_as_tensor, as reals of this plan. Without:
** NULL, and n is 0. */
EVL_MUST_USE EvalStatus evl_ml_numbers(evl_prepare *, const char *name, const void **reals,
                                       size_t *n);
/* The one of several names that the attribute's text is; without it the first. */
EVL_MUST_USE EvalStatus evl_ml_choice(evl_context *, const evl_node *, const char *name,
                                      const char *const *choices, size_t n, size_t *choice);
EVL_MUST_USE EvalStatus evl_ml_wrong_count(evl_context *, const char *name, size_t n,
                                           size_t expected);

/* Input 0 as reals: itself, or converted into the first evl_ml_scratch bytes of scratch. */
size_t evl_ml_scratch(const evl_tensor *x, const evl_machine *);
const void *evl_ml_reals(const evl_call *);

typedef struct evl_ml_labels {
    const int64_t *ints;
    const EvalString *texts; /* one of the two is NULL */
    size_t n;
} evl_ml_labels;
evl_ml_labels evl_ml_labels_of(const evl_node *, const char *ints, const char *texts);
/* y[i] = label `index`; of fewer than two labels 1 or 0 is the label, whatever they are. */
void evl_ml_label_put(const evl_ml_labels *, size_t index, const evl_tensor *y, size_t i);

typedef enum evl_ml_transform {
    EVL_ML_NONE,
    EVL_ML_SOFTMAX,
    EVL_ML_LOGISTIC,
    EVL_ML_SOFTMAX_ZERO,
    EVL_ML_PROBIT,
    EVL_ML_TRANSFORMS
} evl_ml_transform;
extern const char *const evl_ml_transforms[EVL_ML_TRANSFORMS];

/* How scores go out. One score may stand for two classes: what it leaves of 1 or its negative
** comes before it. */
typedef enum evl_ml_second { EVL_ML_NO_SECOND, EVL_ML_COMPLEMENT, EVL_ML_NEGATIVE } evl_ml_second;
typedef struct evl_ml_scores {
    size_t n;
    evl_ml_transform transform;
    evl_ml_second second;
} evl_ml_scores;

typedef enum evl_ml_norm { EVL_ML_MAX, EVL_ML_L1, EVL_ML_L2 } evl_ml_norm;
typedef enum evl_ml_kernel { EVL_ML_LINEAR, EVL_ML_POLY, EVL_ML_RBF, EVL_ML_SIGMOID } evl_ml_kernel;
typedef struct evl_ml_affine { /* (x - offset) * scale, one of each or one a column */
    const void *offset, *scale;
    size_t n_offsets, n_scales;
} evl_ml_affine;
typedef struct evl_ml_replace { /* x that is `old` (a NaN: is one) becomes new[column] */
    double old;
    const void *new_ones;
    size_t n;
} evl_ml_replace;

/* Arithmetic in this plan's precision. Arrays are of reals. */
typedef struct evl_ml_kit {
    size_t bytes; /* of a real */
    void (*write)(const evl_ml_scores *, const void *scores, void *z);
    size_t (*best)(size_t n, const void *scores); /* the first of the largest */
    double (*at)(const void *x, size_t i);
    void (*add)(size_t n, const void *x, void *y);
    void (*affine)(const evl_ml_affine *, size_t width, const void *x, void *y);
    void (*replace)(const evl_ml_replace *, size_t width, const void *x, void *y);
    void (*above)(double threshold, size_t n, const void *x, void *y); /* 1 or 0 */
    void (*normalize)(evl_ml_norm, size_t width, const void *x, void *y);
    /* y[i] = kernel(x, w[i]) for n vectors; p: gamma, coef0, degree. */
    void (*kernel)(evl_ml_kernel, const double *p, size_t width, const void *x, size_t n,
                   const void *w, void *y);
    void (*set)(void *x, size_t i, double value);
    double (*dot)(size_t n, const void *a, const void *b);
} evl_ml_kit;
extern const evl_ml_kit evl_ml_kit_f, evl_ml_kit_d;
const evl_ml_kit *evl_ml_kit_of(const evl_machine *);
#endif
