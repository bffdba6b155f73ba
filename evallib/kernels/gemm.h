/* gemm.h - products of matrices. */
#ifndef EVL_KERNELS_GEMM_H
#define EVL_KERNELS_GEMM_H
#include "real.h"
#include <stddef.h>

typedef struct evl_gemm_kernels {
    size_t unused;
} evl_gemm_kernels;
#endif
