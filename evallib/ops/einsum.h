/* einsum.h - what an equation of Einsum says. Readers turn one of many operands into
** several of two (readers/onnx/einsum.c), so the operator itself has one or two. */
#ifndef EVL_OPS_EINSUM_H
#define EVL_OPS_EINSUM_H
#include "ir/op.h"
#include "ops/matmul.h"

enum {
    EVL_EINSUM_REST = 52,                              /* the label of "..." */
    EVL_EINSUM_LABELS = EVL_EINSUM_REST + EVAL_MAX_RANK, /* its axes: REST + i, from the last */
    EVL_EINSUM_TERMS = 64,
    EVL_EINSUM_AXES = EVAL_MAX_RANK + 1
};

/* Letters as labels, 'A' 0 to 'z' 51. */
typedef struct evl_einsum_term {
    size_t n;
    uint8_t label[EVL_EINSUM_AXES];
} evl_einsum_term;

typedef struct evl_equation {
    size_t n_in;
    evl_einsum_term in[EVL_EINSUM_TERMS], out;
} evl_equation;

/* NULL, or what is wrong with the text. An output that is not written is made. */
const char *evl_equation_read(const char *text, evl_equation *);
bool evl_einsum_has(const evl_einsum_term *, uint8_t label);

extern const evl_op evl_op_einsum;

/* The equation as products of matrices, of known shapes; false: it is none. */
bool evl_einsum_product(const evl_use *, evl_matmul *);
#endif
