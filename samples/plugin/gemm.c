/* gemm.c - a kernel as a plug-in: products of matrices for this processor.
**
**     cc -std=c11 -O3 -march=native -shared -fPIC -I ../../include gemm.c -o gemm.so
**
** A place to start from, not a fast one: it keeps a strip of C in registers and leaves the rest
** to the compiler. The score says how good it is; 0 would say that it cannot run here. */
#include "evallib/plugin.h"

enum { STRIP = 16 };

/* The same for both types, but for the name and the type. */
static void gemm_f(size_t m, size_t n, size_t k, const float *a, size_t lda, const float *b, size_t ldb,
                   float *c, size_t ldc)
{
    for (size_t j = 0; j < n; j += STRIP) {
        size_t left = n - j, width = left < (size_t)STRIP ? left : (size_t)STRIP;
        for (size_t i = 0; i < m; i++) {
            float sum[STRIP] = { 0 };
            for (size_t p = 0; p < k; p++)
                for (size_t q = 0; q < width; q++)
                    sum[q] += a[i * lda + p] * b[p * ldb + j + q];
            for (size_t q = 0; q < width; q++)
                c[i * ldc + j + q] = sum[q];
        }
    }
}

static void gemm_d(size_t m, size_t n, size_t k, const double *a, size_t lda, const double *b, size_t ldb,
                   double *c, size_t ldc)
{
    for (size_t j = 0; j < n; j += STRIP) {
        size_t left = n - j, width = left < (size_t)STRIP ? left : (size_t)STRIP;
        for (size_t i = 0; i < m; i++) {
            double sum[STRIP] = { 0 };
            for (size_t p = 0; p < k; p++)
                for (size_t q = 0; q < width; q++)
                    sum[q] += a[i * lda + p] * b[p * ldb + j + q];
            for (size_t q = 0; q < width; q++)
                c[i * ldc + j + q] = sum[q];
        }
    }
}

static const EvalKernelSet strips = { sizeof strips, "strips", 10, gemm_f, gemm_d, 0, 0, 0 };
static const EvalKernelSet *const kernels[] = { &strips };
static const EvalPlugin plugin = { sizeof plugin, EVAL_PLUGIN_ABI, 0, 0, "gemm", "1.0", 0, 0, 0, 0, 0, 0,
                                   kernels, 1, 0, 0, 0 };

const EvalPlugin *EvalPluginEntry(void)
{
    return &plugin;
}
