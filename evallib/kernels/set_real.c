/* All the kernels of one instruction set under one name. */
#include "kernels/set.h"
#include "os/os.h"

const evl_kernels SET(evl_kernels) = {
    .name = EVL_ISA_NAME,
    .needs = EVL_ISA_NEEDS,
    .loops = &SET(evl_loops),
    .gemm = &SET(evl_gemm_kernels),
    .product = &SET(evl_product_kernels),
    .conv = &SET(evl_conv_kernels),
    .blocked = &SET(evl_blocked_kernels),
    .pool = &SET(evl_pool_kernels),
    .attention = &SET(evl_attention_kernels),
};
