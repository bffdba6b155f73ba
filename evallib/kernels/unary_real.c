/* One real number to one. A function a kind, then its loop, then the table. */
#include "kernels/loops_set.h"
#include "kernels/real_items.h"
#include "kernels/arrays.h"
#include "kernels/activations.h"

static inline real magnitude(real x)
{
    return fabs(x);
}

static inline real negative(real x)
{
    return -x;
}

static inline real sign(real x)
{
    return x > 0 ? 1 : x < 0 ? -1 : x;
}

static inline real reciprocal(real x)
{
    return 1 / x;
}

static inline real root(real x)
{
    return sqrt(x);
}

static inline real exp_far(real x, real unused)
{
    (void)unused;
    return evl_exp(x);
}

static inline real exp_close(real x, real unused)
{
    (void)unused;
    return exp_near(x);
}

static inline real sigmoid_far(real x, real unused)
{
    (void)unused;
    return evl_sigmoid(x);
}

static inline real sigmoid_close(real x, real unused)
{
    (void)unused;
    return sigmoid_few(x);
}

static inline real floor_of(real x)
{
    return floor(x);
}

static inline real ceil_of(real x)
{
    return ceil(x);
}

/* Halves to even, as ONNX wants and the default rounding does. */
static inline real nearest(real x)
{
    return rint(x);
}

/* Whether no p0 x[i] is larger than p1; a NaN counts as small. n makes whole vectors, two of which
** are taken at a time: a maximum waits for the one before. */
__attribute__((noinline)) static bool all_near(size_t n, const real *x, real p0, real p1)
{
    uint64_t words[VECTOR_BYTES / sizeof(uint64_t)], any = 0;
    vec most[2] = { { 0 }, { 0 } }, least[2] = { { 0 }, { 0 } };
#pragma GCC unroll 1
    for (size_t i = 0; i < n; i += (size_t)2 * LANES) {
        vec a = vec_load(x + i), b = vec_load(i + LANES < n ? x + i + LANES : x + i);
        most[0] = vec_larger(a, most[0]);
        most[1] = vec_larger(b, most[1]);
        least[0] = vec_smaller(a, least[0]);
        least[1] = vec_smaller(b, least[1]);
    }
    most[0] = vec_larger(most[0], most[1]);
    least[0] = vec_smaller(least[0], least[1]);
    vec_mask far = vec_larger(most[0], -least[0]) * vec_all(fabs(p0)) > vec_all(p1);
    memcpy(words, &far, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        any |= words[i];
    return any == 0;
}

/* f, or `near`, which gives the same bits sooner, for the tiles where p0 x is up to p1 in size. */
static inline void map_near(size_t n, const void *from, void *to, evl_unary_loop *self,
                            map_parameters with, real (*near)(real, real),
                            real (*f)(real, real))
{
    const real *x = from, p0 = with.p0;
    real *y = to;
    n = map_rest(n, from, to, sizeof *y, self, with.p);
    for (size_t i = 0; i < n; i += TILE, x += TILE, y += TILE) {
        size_t part = whole(n - i < TILE ? n - i : TILE, sizeof *y);
        if (all_near(part, x, p0, with.p1)) {
#pragma omp simd
            for (size_t j = 0; j < part; j++)
                y[j] = near(x[j], p0);
        } else {
#pragma omp simd
            for (size_t j = 0; j < part; j++)
                y[j] = f(x[j], p0);
        }
    }
}

static void abs_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, abs_loop, magnitude);
}

static void neg_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, neg_loop, negative);
}

static void sign_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, sign_loop, sign);
}

static void reciprocal_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, reciprocal_loop, reciprocal);
}

static void sqrt_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, sqrt_loop, root);
}

static void exp_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    map_near(n, x, y, exp_loop, (map_parameters){ p, 1, NEAR }, exp_close, exp_far);
}

static void log_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, log_loop, evl_log);
}

static void erf_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, erf_loop, evl_erf);
}

static void floor_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, floor_loop, floor_of);
}

static void ceil_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, ceil_loop, ceil_of);
}

static void round_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, round_loop, nearest);
}

static void sigmoid_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    map_near(n, x, y, sigmoid_loop, (map_parameters){ p, 1, FEW }, sigmoid_close, sigmoid_far);
}

static void tanh_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, tanh_loop, evl_tanh);
}

/* In two steps over what stays in the first cache: in one, those of few elements would fit
** a processor's window, and it would wait. */
static void softplus_loop(size_t n, const void *from, void *to, const evl_number *p)
{
    const real *x = from;
    real *y = to, power[TILE], low[TILE];
    n = map_rest(n, from, to, sizeof *y, softplus_loop, p);
    for (size_t i = 0; i < n; i += TILE) {
        size_t part = whole(n - i < TILE ? n - i : TILE, sizeof *y);
#pragma omp simd
        for (size_t j = 0; j < part; j++)
            power[j] = softplus_begin(x[i + j], &low[j]);
#pragma omp simd
        for (size_t j = 0; j < part; j++)
            y[i + j] = softplus_end(x[i + j], power[j], low[j]);
    }
}

static void relu_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, relu_loop, relu);
}

static void hard_swish_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, hard_swish_loop, hard_swish);
}

static void softsign_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, softsign_loop, softsign);
}

static void mish_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, mish_loop, mish);
}

static void gelu_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, gelu_loop, gelu);
}

static void gelu_tanh_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    map(n, x, y, gelu_tanh_loop, gelu_tanh);
}

static void elu_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    map_with(n, x, y, elu_loop, (map_parameters){ p, (real)p[0], 0 }, elu);
}

static void selu_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    map_with(n, x, y, selu_loop, (map_parameters){ p, (real)p[0], (real)p[1] }, selu);
}

static void celu_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    map_with(n, x, y, celu_loop, (map_parameters){ p, (real)p[0], 0 }, celu);
}

static void leaky_relu_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    map_with(n, x, y, leaky_relu_loop, (map_parameters){ p, (real)p[0], 0 }, leaky_relu);
}

static void thresholded_relu_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    map_with(n, x, y, thresholded_relu_loop, (map_parameters){ p, (real)p[0], 0 },
             thresholded_relu);
}

static void hard_sigmoid_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    map_with(n, x, y, hard_sigmoid_loop, (map_parameters){ p, (real)p[0], (real)p[1] },
             hard_sigmoid);
}

static void clip_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    map_with(n, x, y, clip_loop, (map_parameters){ p, (real)p[0], (real)p[1] }, clip);
}

static void swish_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    map_near(n, x, y, swish_loop, (map_parameters){ p, (real)p[0], FEW }, swish_few, swish);
}

static void shrink_loop(size_t n, const void *x, void *y, const evl_number *p)
{
    map_with(n, x, y, shrink_loop, (map_parameters){ p, (real)p[0], (real)p[1] }, shrink);
}

static inline real exp_from(real x, real from, real unused)
{
    (void)unused;
    return evl_exp(x - from);
}

void SET(evl_exp_from)(size_t n, const void *x, void *y, const evl_number *p)
{
    map_with(n, x, y, SET(evl_exp_from), (map_parameters){ p, (real)p[0], 0 }, exp_from);
}

static void affine_loop(size_t n, const void *from, void *to, const evl_number *p)
{
    const real *x = from, shift = (real)p[0], factor = (real)p[1], bias = (real)p[2];
    real *y = to;
    n = whole(map_rest(n, from, to, sizeof *y, affine_loop, p), sizeof *y);
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = (x[i] - shift) * factor + bias;
}

static void is_nan_loop(size_t n, const void *from, void *to, const evl_number *p)
{
    const real *x = from;
    uint8_t *y = to;
    n = whole(map_rest(n, from, to, sizeof *y, is_nan_loop, p), sizeof *y);
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] != x[i];
}

static void is_inf_loop(size_t n, const void *from, void *to, const evl_number *p)
{
    const real *x = from, least = p[0] != 0 ? -REAL_MAX : -(real)INFINITY,
               most = p[1] != 0 ? REAL_MAX : (real)INFINITY;
    uint8_t *y = to;
    n = whole(map_rest(n, from, to, sizeof *y, is_inf_loop, p), sizeof *y);
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = (x[i] > most) | (x[i] < least);
}

evl_unary_loop *const SET(evl_unary_loops)[EVL_N_UNARY] = {
    [EVL_ABS] = abs_loop,
    [EVL_NEG] = neg_loop,
    [EVL_SIGN] = sign_loop,
    [EVL_RECIPROCAL] = reciprocal_loop,
    [EVL_SQRT] = sqrt_loop,
    [EVL_EXP] = exp_loop,
    [EVL_LOG] = log_loop,
    [EVL_ERF] = erf_loop,
    [EVL_FLOOR] = floor_loop,
    [EVL_CEIL] = ceil_loop,
    [EVL_ROUND] = round_loop,
    [EVL_SIGMOID] = sigmoid_loop,
    [EVL_TANH] = tanh_loop,
    [EVL_SOFTPLUS] = softplus_loop,
    [EVL_RELU] = relu_loop,
    [EVL_HARD_SWISH] = hard_swish_loop,
    [EVL_SOFTSIGN] = softsign_loop,
    [EVL_MISH] = mish_loop,
    [EVL_GELU] = gelu_loop,
    [EVL_GELU_TANH] = gelu_tanh_loop,
    [EVL_ELU] = elu_loop,
    [EVL_SELU] = selu_loop,
    [EVL_CELU] = celu_loop,
    [EVL_LEAKY_RELU] = leaky_relu_loop,
    [EVL_THRESHOLDED_RELU] = thresholded_relu_loop,
    [EVL_HARD_SIGMOID] = hard_sigmoid_loop,
    [EVL_CLIP] = clip_loop,
    [EVL_SWISH] = swish_loop,
    [EVL_SHRINK] = shrink_loop,
    [EVL_AFFINE] = affine_loop,
    [EVL_IS_NAN] = is_nan_loop,
    [EVL_IS_INF] = is_inf_loop,
    [EVL_SIN] = SET(evl_sin_loop),
    [EVL_COS] = SET(evl_cos_loop),
    [EVL_TAN] = SET(evl_tan_loop),
    [EVL_ASIN] = SET(evl_asin_loop),
    [EVL_ACOS] = SET(evl_acos_loop),
    [EVL_ATAN] = SET(evl_atan_loop),
    [EVL_SINH] = SET(evl_sinh_loop),
    [EVL_COSH] = SET(evl_cosh_loop),
    [EVL_ASINH] = SET(evl_asinh_loop),
    [EVL_ACOSH] = SET(evl_acosh_loop),
    [EVL_ATANH] = SET(evl_atanh_loop),
};
