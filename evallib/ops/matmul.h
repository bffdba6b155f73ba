/* matmul.h - what MatMul and Gemm ask for, without arithmetic. */
#ifndef EVL_OPS_MATMUL_H
#define EVL_OPS_MATMUL_H
#include "ir/op.h"

/* C[m x n] = A[m x k] B[k x n], for each of `batch` pairs of matrices. */
typedef struct evl_matmul {
    size_t m, n, k, batch;
    size_t a_row, a_column, b_row, b_column; /* steps in elements */
    int32_t rank;                            /* of what runs over matrices */
    size_t dim[EVAL_MAX_RANK], a_step[EVAL_MAX_RANK], b_step[EVAL_MAX_RANK];
} evl_matmul;

/* Of known shapes that infer let pass. */
evl_matmul evl_matmul_of(const evl_use *);
evl_matmul evl_gemm_of(const evl_use *);

/* Where the matrices of product `index` begin. */
void evl_matmul_at(const evl_matmul *, size_t index, size_t *a, size_t *b);

/* What Gemm adds: element (i, j) is at i * row + j * column of input C. */
typedef struct evl_gemm_addend {
    size_t row, column;
} evl_gemm_addend;
evl_gemm_addend evl_gemm_addend_of(const evl_tensor *c);

/* Integers: C = A B wrapped to the type; add may be NULL. alpha and beta are real
** numbers in ONNX; the sum is truncated to the type. */
typedef struct evl_integer_gemm {
    const evl_matmul *shape;
    const void *a, *b, *add;
    evl_gemm_addend addend;
    void *c;
    double alpha, beta;
} evl_integer_gemm;
typedef void evl_integer_gemm_loop(const evl_integer_gemm *);
#endif
