/* kernels.h - what a set of kernels holds: one build of all loops over real for one
** instruction set. Every set has every kernel, so a caller never asks whether one
** is there. Only *_real.c files see it. */
#ifndef EVL_KERNELS_KERNELS_H
#define EVL_KERNELS_KERNELS_H
#include "kernels/attention.h"
#include "kernels/blocked.h"
#include "kernels/conv.h"
#include "kernels/gemm.h"
#include "kernels/loops.h"
#include "kernels/pool.h"
#include "kernels/product.h"
#include "real.h"

typedef struct evl_kernels {
    const char *name;
    unsigned needs;                /* EVL_CPU_...: what it must not run without */
    const evl_loops *loops;
    const evl_gemm_kernels *gemm;
    const evl_product_kernels *product;
    const evl_conv_kernels *conv;
    const evl_blocked_kernels *blocked;
    const evl_pool_kernels *pool;
    const evl_attention_kernels *attention;
} evl_kernels;

extern const evl_kernels *const TWIN(evl_kernel_sets)[]; /* best first, NULL at the end */

/* For blocks of so many lanes: the set's own, or those of one below it. */
const evl_blocked_kernels *TWIN(evl_blocked_of)(const evl_kernels *, size_t lanes);
#endif
