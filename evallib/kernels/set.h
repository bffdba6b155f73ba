/* set.h - names of what is compiled once per instruction set: SET(evl_loops) is
** evl_loops_avx2_f in one of the builds. EVL_ISA comes from the build. */
#ifndef EVL_KERNELS_SET_H
#define EVL_KERNELS_SET_H
#include "kernels/kernels.h"
#define SET_PASTE(name, isa)  TWIN(name##_##isa)
#define SET_EXPAND(name, isa) SET_PASTE(name, isa)
#define SET(name)             SET_EXPAND(name, EVL_ISA)
extern const evl_loops SET(evl_loops);
extern const evl_gemm_kernels SET(evl_gemm_kernels);
extern const evl_product_kernels SET(evl_product_kernels);
extern const evl_conv_kernels SET(evl_conv_kernels);
extern const evl_blocked_kernels SET(evl_blocked_kernels);
extern const evl_window_kernels SET(evl_window_kernels);
extern const evl_winograd_kernels SET(evl_winograd_kernels);
extern const evl_pool_kernels SET(evl_pool_kernels);
extern const evl_attention_kernels SET(evl_attention_kernels);
extern const evl_kernels SET(evl_kernels);
#endif
