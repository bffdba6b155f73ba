/* Kernels of plug-ins: which set serves which function, and what the library does around it. */
#include "lines.h"
#include <math.h>

static size_t n_gemm, n_conv; /* calls; one thread */

static void gemm(size_t m, size_t n, size_t k, const real *a, size_t lda, const real *b, size_t ldb,
                 real *c, size_t ldc)
{
    n_gemm++;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            real sum = 0;
            for (size_t p = 0; p < k; p++)
                sum += a[i * lda + p] * b[p * ldb + j];
            c[i * ldc + j] = sum;
        }
}

static void gemm_wrong(size_t m, size_t n, size_t k, const real *a, size_t lda, const real *b, size_t ldb,
                       real *c, size_t ldc)
{
    gemm(m, n, k, a, lda, b, ldb, c, ldc);
    c[0] = 1000;
}

static int is_of_three(const EvalConvolution *c)
{
    return c->axes == 2 && c->kernel[0] == 3 && c->kernel[1] == 3;
}

static real tap(const EvalConvolution *c, const real *x, int64_t row, int64_t column)
{
    return row < 0 || column < 0 || row >= c->in[0] || column >= c->in[1] ? 0 : x[row * c->in[1] + column];
}

static real sum_at(const EvalConvolution *c, const real *x, const real *w, int64_t row, int64_t column)
{
    real sum = 0;
    for (size_t channel = 0; channel < c->channels; channel++)
        for (int64_t i = 0; i < 3; i++)
            for (int64_t j = 0; j < 3; j++)
                sum += *w++ * tap(c, x + (int64_t)channel * c->in[0] * c->in[1],
                                  row * c->strides[0] - c->pads[0] + i * c->dilations[0],
                                  column * c->strides[1] - c->pads[1] + j * c->dilations[1]);
    return sum;
}

static void convolve(const EvalConvolution *c, size_t outputs, const real *x, const real *w,
                     const real *bias, real *y)
{
    n_conv++;
    assert_true(is_of_three(c));
    for (size_t o = 0; o < outputs; o++)
        for (int64_t row = 0; row < c->out[0]; row++)
            for (int64_t column = 0; column < c->out[1]; column++)
                *y++ = sum_at(c, x, w + o * c->channels * 9, row, column) + (bias ? bias[o] : 0);
}

static const EvalKernelSet weak = { .size = sizeof weak, .name = "set", .score = 5,
                                    .PUBLIC(Gemm) = gemm_wrong };
static const EvalKernelSet strong = { .size = sizeof strong, .name = "set", .score = 9,
                                      .PUBLIC(Gemm) = gemm };
static const EvalKernelSet never = { .size = sizeof never, .name = "set", .score = 0,
                                     .PUBLIC(Gemm) = gemm_wrong };
static const EvalKernelSet conv_set = { .size = sizeof conv_set, .name = "of three", .score = 1,
                                        .PUBLIC(Convolve) = convolve, .Convolves = is_of_three };
static const EvalKernelSet *const sets[] = { &strong, &weak, &never, &conv_set, NULL };
static const EvalPlugin mine = { .size = sizeof mine, .abi = EVAL_PLUGIN_ABI, .name = "mine",
                                 .kernels = sets, .nKernels = 5 };

static void fill(size_t n, real *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (real)(i * 37 % 19) / 8 - 1;
}

/* With the set and without, the same, to rounding. */
static void expect_same(const char *text, size_t n, int64_t columns, size_t calls)
{
    enum { MOST = 20000 };
    static real x[MOST], with[MOST], without[MOST];
    size_t n_with = MOST, n_without = MOST;
    fill(n, x);
    n_gemm = n_conv = 0;
    model *a = load_lines(&mine, text, NULL), *b = load_lines(NULL, text, NULL);
    if (run_lines(a, x, n, columns, with, &n_with) != EVAL_OK)
        fail_msg("%s", a->vtbl->LastError(a));
    assert_int_equal(n_gemm + n_conv, calls);
    assert_int_equal(run_lines(b, x, n, columns, without, &n_without), EVAL_OK);
    assert_int_equal(n_with, n_without);
    for (size_t i = 0; i < n_with; i++)
        assert_true(fabs((double)(with[i] - without[i])) < 1e-4);
    a->vtbl->Destroy(a);
    b->vtbl->Destroy(b);
}

#define W "constant w 3 2 = 1 2 -3 4 5 -6\nconstant t 2 3 = 1 -3 5 2 4 -6\nconstant c 2 = 7 -80\n"

static void products_of_all_sizes_are_the_plugins(void **state)
{
    (void)state;
    expect_same("lines\nin x -1 3\n" W "node m - MatMul 13 x w > y\nout y\n", 3, 3, 1);
    expect_same("lines\nin x -1 3\n" W "node m - MatMul 13 x w > y\nout y\n", 600, 3, 4);
    expect_same("lines\nin x -1 3\n" W "node m - MatMul 13 x w > y\nout y\n", 0, 3, 0);
}

static void what_follows_a_product_is_done(void **state)
{
    (void)state;
    expect_same("lines\nin x -1 3\n" W "node m - Gemm 13 x w c > y\nout y\n", 6, 3, 1);
    expect_same("lines\nin x -1 3\n" W "node m - Gemm 13 x t c > y transB=1 alpha=0.5 beta=2.0\nout y\n", 6, 3, 1);
    expect_same("lines\nin x -1 3\n" W "node m - MatMul 13 x w > p\nnode a - Add 13 p c > q\n"
                "node r - Relu 14 q > y\nout y\n", 6, 3, 1);
    expect_same("lines\nin x -1 3\n" W "node m - MatMul 13 x w > p\nnode a - Add 13 p c > q\n"
                "node r - Tanh 13 q > y\nout y\n", 6, 3, 1);
}

/* B is made in the run: in rows it is the plug-in's, turned round it is not. */
static void a_matrix_of_the_run_is_not_turned_round(void **state)
{
    (void)state;
    expect_same("lines\nin x 3 3\nnode m - MatMul 13 x x > y\nout y\n", 9, 3, 1);
    expect_same("lines\nin x 3 3\nnode m - Gemm 13 x x > y transB=1\nout y\n", 9, 3, 0);
    expect_same("lines\nin x 3 3\n" W "node m - Gemm 13 x w > y transA=1\nout y\n", 9, 3, 0);
}

#define IMAGE "lines\nin x -1 72\nconstant s 4 = -1 2 6 6\nnode i - Cast 13 s > d to=7\n" \
              "node v - Reshape 13 x d > image\n"
#define K3 "constant w 2 2 3 3 = 1 2 3 4 5 6 7 8 9 1 -2 3 -4 5 -6 7 -8 9 0 1 0 1 -4 1 0 1 0 2 2 2 2 2 2 2 2 2\n" \
           "constant b 2 = 0.5 -3\n"
#define K1 "constant w 2 2 1 1 = 1 2 3 4\n"

static void convolutions_that_it_takes_are_the_plugins(void **state)
{
    (void)state;
    expect_same(IMAGE K3 "node c - Conv 11 image w b > y\nout y\n", 144, 72, 2);
    expect_same(IMAGE K3 "node c - Conv 11 image w > p\nnode r - Relu 14 p > y\nout y\n", 144, 72, 2);
    expect_same(IMAGE K1 "node c - Conv 11 image w > y\nout y\n", 144, 72, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_all_sizes_are_the_plugins),
        cmocka_unit_test(what_follows_a_product_is_done),
        cmocka_unit_test(a_matrix_of_the_run_is_not_turned_round),
        cmocka_unit_test(convolutions_that_it_takes_are_the_plugins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
