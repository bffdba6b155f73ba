/* How far the library's functions are from the truth, in units in the last place, over all
** floats or random doubles; tests/README.md says how to read it.
**
**     accuracy_f [STRIDE [FUNCTION ...]]     every STRIDE-th of all 2^32 floats
**     accuracy_d [COUNT [FUNCTION ...]]      COUNT random doubles and those at the edges
**
** The truth is MPFR's where there is MPFR and the library is double, else the C library's
** long double. Fails when a function is further away than it may be. */
#include "kernels/kernels.h"
#include "os/os.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if EVL_HAS_MPFR && EVL_REAL_IS_DOUBLE
#include <mpfr.h>
enum { PRECISION = 120 };
#endif

typedef long double wide;
enum { BATCH = 4096 };

/* What is compared: a loop of one or two operands, and the truth. */
typedef struct function {
    const char *name;
    int kind;
    wide (*truth)(wide);
    wide (*truth_of_two)(wide, wide);
    double most; /* ulp that are allowed */
} function;

#if EVL_HAS_MPFR && EVL_REAL_IS_DOUBLE
/* 64 bits of the truth, by MPFR. */
static wide by_mpfr(wide x, int (*f)(mpfr_t, const mpfr_t, mpfr_rnd_t))
{
    static mpfr_t in, out;
    static bool is_ready;
    if (!is_ready) {
        mpfr_init2(in, PRECISION);
        mpfr_init2(out, PRECISION);
        is_ready = true;
    }
    mpfr_set_ld(in, x, MPFR_RNDN);
    f(out, in, MPFR_RNDN);
    return mpfr_get_ld(out, MPFR_RNDN);
}

static wide true_exp(wide x)
{
    return by_mpfr(x, mpfr_exp);
}

static wide true_log(wide x)
{
    return by_mpfr(x, mpfr_log);
}

static wide true_sin(wide x)
{
    return by_mpfr(x, mpfr_sin);
}

static wide true_cos(wide x)
{
    return by_mpfr(x, mpfr_cos);
}

static wide true_tan(wide x)
{
    return by_mpfr(x, mpfr_tan);
}

static wide true_tanh(wide x)
{
    return by_mpfr(x, mpfr_tanh);
}

static wide true_erf(wide x)
{
    return by_mpfr(x, mpfr_erf);
}

static wide true_pow(wide x, wide y)
{
    mpfr_t a, b;
    mpfr_inits2(PRECISION, a, b, (mpfr_ptr)0);
    mpfr_set_ld(a, x, MPFR_RNDN);
    mpfr_set_ld(b, y, MPFR_RNDN);
    mpfr_pow(a, a, b, MPFR_RNDN);
    wide z = mpfr_get_ld(a, MPFR_RNDN);
    mpfr_clears(a, b, (mpfr_ptr)0);
    return z;
}
#else
static wide true_exp(wide x)
{
    return expl(x);
}

static wide true_log(wide x)
{
    return logl(x);
}

static wide true_sin(wide x)
{
    return sinl(x);
}

static wide true_cos(wide x)
{
    return cosl(x);
}

static wide true_tan(wide x)
{
    return tanl(x);
}

static wide true_tanh(wide x)
{
    return tanhl(x);
}

static wide true_erf(wide x)
{
    return erfl(x);
}

static wide true_pow(wide x, wide y)
{
    return powl(x, y);
}
#endif

static wide true_sigmoid(wide x)
{
    return 1 / (1 + true_exp(-x));
}

static wide true_softplus(wide x)
{
    return x > 0 ? x + log1pl(expl(-x)) : log1pl(expl(x));
}

static wide true_elu(wide x)
{
    return x < 0 ? expm1l(x) : x;
}

static const function functions[] = {
    { "exp", EVL_EXP, true_exp, NULL, 1.5 },
    { "log", EVL_LOG, true_log, NULL, 1.5 },
    { "tanh", EVL_TANH, true_tanh, NULL, 1.5 },
    { "sigmoid", EVL_SIGMOID, true_sigmoid, NULL, 1.5 },
    { "erf", EVL_ERF, true_erf, NULL, 1.5 },
    { "softplus", EVL_SOFTPLUS, true_softplus, NULL, 1.5 },
    { "elu", EVL_ELU, true_elu, NULL, 1.5 },
    { "sin", EVL_SIN, true_sin, NULL, 1.5 },
    { "cos", EVL_COS, true_cos, NULL, 1.5 },
    { "tan", EVL_TAN, true_tan, NULL, 1.5 },
    { "asin", EVL_ASIN, asinl, NULL, 1.5 },
    { "acos", EVL_ACOS, acosl, NULL, 1.5 },
    { "atan", EVL_ATAN, atanl, NULL, 1.5 },
    { "sinh", EVL_SINH, sinhl, NULL, 2.5 }, /* the C library's own, as the rest */
    { "cosh", EVL_COSH, coshl, NULL, 2.5 },
    { "asinh", EVL_ASINH, asinhl, NULL, 2.5 },
    { "acosh", EVL_ACOSH, acoshl, NULL, 2.5 },
    { "atanh", EVL_ATANH, atanhl, NULL, 2.5 },
    { "pow", EVL_POW, NULL, true_pow, 1.5 },
};

/* The distance from the truth, in units of the last place that the truth has as a real.
** Infinity counts as the number behind the largest. */
static double ulps(real y, wide truth)
{
    const int least = ilogb(REAL_MIN) + 1;
    int exponent;
    if (isnan(y) || isnan(truth))
        return isnan(y) && isnan(truth) ? 0 : INFINITY;
    if (y == (real)truth && (isinf(y) || y == 0))
        return fabsl(truth) > REAL_MAX ? 0 : (double)fabsl(truth);
    wide got = isinf(y) ? copysignl(ldexpl(1, ilogb(REAL_MAX) + 1), y) : y;
    (void)frexpl(truth, &exponent);
    if (exponent < least)
        exponent = least;
    return (double)(fabsl(got - truth) / ldexpl(1, exponent - REAL_DIGITS));
}

typedef struct worst {
    double ulps;
    real x, y;
} worst;

static const evl_loops *loops; /* of the best set; all sets give the same bits */

static void judge(const function *f, const real *x, const real *y, worst *w)
{
    static const evl_number parameters[3] = { 1, 0, 0 };
    real got[BATCH];
    if (f->truth_of_two)
        loops->binary[f->kind](BATCH, x, 1, y, 1, got);
    else
        loops->unary[f->kind](BATCH, x, got, parameters);
    for (size_t i = 0; i < BATCH; i++) {
        wide truth = f->truth_of_two ? f->truth_of_two(x[i], y[i]) : f->truth(x[i]);
        double distance = ulps(got[i], truth);
        if (distance > w->ulps)
            *w = (worst){ distance, x[i], y[i] };
    }
}

static uint64_t random_bits(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed ^ (*seed >> 29);
}

/* Any bits, or a number of moderate size. */
static real any_number(uint64_t *seed)
{
    uint64_t bits = random_bits(seed);
    real_bits cut = (real_bits)(bits >> (64 - 8 * sizeof(real)));
    real x;
    memcpy(&x, &cut, sizeof x);
    if (random_bits(seed) >> 63)
        x = (real)ldexp((double)(int64_t)bits, (int)(random_bits(seed) >> 59) - 82);
    return x;
}

static const real edges[] = { 0,
                              -(real)0,
                              1,
                              -1,
                              REAL_MAX,
                              -REAL_MAX,
                              REAL_MIN,
                              -REAL_MIN,
                              2,
                              -2,
                              INFINITY,
                              -INFINITY,
                              (real)0.5,
                              (real)-0.5,
                              NAN,
                              REAL_EPSILON,
                              88,
                              -88,
                              104,
                              -104,
                              709,
                              -745,
                              (real)1e5,
                              (real)-1e5,
                              3,
                              -3,
                              (real)1e22,
                              710,
                              1 + REAL_EPSILON,
                              1 - REAL_EPSILON / 2,
                              6,
                              -6 };
enum { EDGES = sizeof edges / sizeof *edges };

/* All floats by their bits, one in `count`; or `count` random numbers, and the edges. */
static worst examine(const function *f, uint64_t count)
{
    real x[BATCH], y[BATCH];
    worst w = { 0, 0, 0 };
    uint64_t seed = 1, next = 0, stride = 0;
    if (sizeof(real) == 4 && !f->truth_of_two) {
        stride = count;
        count = ((uint64_t)1 << 32) / count;
    } else if (sizeof(real) == 4)
        count = ((uint64_t)1 << 32) / count / 16;
    for (uint64_t done = 0; done <= count; done += BATCH) {
        for (size_t i = 0; i < BATCH; i++, next += stride) {
            uint32_t bits = (uint32_t)next;
            x[i] = any_number(&seed);
            y[i] = any_number(&seed);
            if (stride)
                memcpy(&x[i], &bits, sizeof bits);
            if (done == 0 && i < EDGES * EDGES) {
                x[i] = edges[i % EDGES];
                y[i] = edges[i / EDGES];
            }
        }
        judge(f, x, y, &w);
    }
    return w;
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc <= 2;
}

int main(int argc, char **argv)
{
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    bool is_right = true;
    loops = TWIN(evl_kernels_choose)(evl_cpu_features()).loops;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (!is_wanted(functions[i].name, argc, argv) || count == 0)
            continue;
        worst w = examine(&functions[i], count);
        bool is_near = w.ulps <= functions[i].most;
        printf("%-9s %8.3f ulp at %.17g", functions[i].name, w.ulps, (double)w.x);
        if (functions[i].truth_of_two)
            printf(", %.17g", (double)w.y);
        printf("%s\n", is_near ? "" : " - too far");
        fflush(stdout);
        is_right = is_right && is_near;
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
