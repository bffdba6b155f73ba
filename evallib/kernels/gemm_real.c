#include "kernels/set.h"
const evl_gemm_kernels SET(evl_gemm_kernels) = { 0 };
