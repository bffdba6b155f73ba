/* matmul.h - what MatMul, Gemm and Product ask for, without arithmetic.
**
** Product is what a pass makes of the two and of what follows them (domain "evl"):
** Y = f(alpha * A B + C + D), A, B and Y seen through transpositions. Inputs A, B, C, D;
** attributes perm_a, perm_b, perm_y, alpha, activation (an evl_unary_kind) and
** activation_parameters. */
#ifndef EVL_OPS_MATMUL_H
#define EVL_OPS_MATMUL_H
#include "ir/op.h"

enum { EVL_MATMUL_A, EVL_MATMUL_B, EVL_MATMUL_C, EVL_MATMUL_D, EVL_MATMUL_Y, EVL_MATMUL_OPERANDS };

/* Where the elements of an operand's matrices are, in elements. */
typedef struct evl_matrices {
    size_t row, column;
    size_t step[EVAL_MAX_RANK]; /* along each dimension that runs over matrices */
} evl_matrices;

/* Y[m x n] = A[m x k] B[k x n], for each of `batch` pairs of matrices. */
typedef struct evl_matmul {
    size_t m, n, k, batch;
    int32_t rank; /* of what runs over matrices */
    size_t dim[EVAL_MAX_RANK];
    evl_matrices of[EVL_MATMUL_OPERANDS];
} evl_matmul;

/* The shape of output 0, from inputs 0 and 1, as MatMul has it; as Gemm has it, whose input 2
** is C. Ranks and sizes are checked, types are not. */
EVL_MUST_USE EvalStatus evl_infer_product(evl_infer *);
EVL_MUST_USE EvalStatus evl_infer_gemm(evl_infer *);

/* Of known shapes that infer let pass. */
evl_matmul evl_matmul_of(const evl_use *);

/* Where the matrices of product `index` begin in each operand. */
void evl_matmul_at(const evl_matmul *, size_t index, size_t at[EVL_MATMUL_OPERANDS]);

/* Whether a tensor of that shape can be C or D: it broadcasts to Y, and its columns lie
** side by side or are one. */
bool evl_matmul_can_add(const evl_shape *y, const evl_shape *added);

extern const evl_op evl_op_product;

/* Integers: Y = A B wrapped to the type; add may be NULL. alpha and beta are real
** numbers in ONNX; the sum is truncated to the type. */
typedef struct evl_integer_gemm {
    const evl_matmul *shape;
    const void *a, *b, *add;
    void *c;
    double alpha, beta;
} evl_integer_gemm;
typedef void evl_integer_gemm_loop(const evl_integer_gemm *);
#endif
