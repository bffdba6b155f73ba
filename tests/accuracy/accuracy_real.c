/* How far the library's functions are from the truth, in units in the last place, over all
** floats or random doubles; tests/README.md says how to read it.
**
**     accuracy_f [STRIDE [FUNCTION ...]]     every STRIDE-th of all 2^32 floats
**     accuracy_d [COUNT [FUNCTION ...]]      COUNT random doubles and those at the edges
**
** Fails when a function is further away than it may be, or where a set of kernels gives other
** bits than the best one. truth.h says what the truth is. */
#include "kernels/kernels.h"
#include "os/os.h"
#include "truth.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 4096 };

/* What is compared, and how many units it may be off. */
typedef struct function {
    const char *name;
    int kind;
    bool has_two; /* operands */
    double most;
} function;

static const function functions[] = {
    { "exp", EVL_EXP, false, 1.5 },
    { "log", EVL_LOG, false, 1.5 },
    { "tanh", EVL_TANH, false, 1.5 },
    { "sigmoid", EVL_SIGMOID, false, 1.5 },
    { "erf", EVL_ERF, false, 1.5 },
    { "softplus", EVL_SOFTPLUS, false, 1.5 },
    { "elu", EVL_ELU, false, 1.5 },
    { "sin", EVL_SIN, false, 1.5 },
    { "cos", EVL_COS, false, 1.5 },
    { "tan", EVL_TAN, false, 1.5 },
    { "asin", EVL_ASIN, false, 1.5 },
    { "acos", EVL_ACOS, false, 1.5 },
    { "atan", EVL_ATAN, false, 1.5 },
    { "sinh", EVL_SINH, false, 2.5 }, /* the C library's own, as the rest */
    { "cosh", EVL_COSH, false, 2.5 },
    { "asinh", EVL_ASINH, false, 2.5 },
    { "acosh", EVL_ACOSH, false, 2.5 },
    { "atanh", EVL_ATANH, false, 2.5 },
    { "pow", EVL_POW, true, 1.5 },
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
        return fabs(truth) > REAL_MAX ? 0 : (double)fabs(truth);
    wide got = isinf(y) ? copysign(ldexp((wide)1, ilogb(REAL_MAX) + 1), (wide)y) : y;
    (void)frexp(truth, &exponent);
    if (exponent < least)
        exponent = least;
    return (double)ldexp(fabs(got - truth), REAL_DIGITS - exponent);
}

typedef struct worst {
    double ulps;
    real x, y;
    bool differs; /* between sets of kernels, at x and y */
} worst;

extern const evl_kernels *const TWIN(evl_kernel_sets)[];

static void compute(const function *f, const evl_loops *loops, const real *x, const real *y,
                    real *to)
{
    static const evl_number parameters[3] = { 1, 0, 0 };
    if (f->has_two)
        loops->binary[f->kind](BATCH, x, 1, y, 1, to);
    else
        loops->unary[f->kind](BATCH, x, to, parameters);
}

static void judge(const function *f, const evl_kernels *set, const real *x, const real *y,
                  const real *got, worst *w)
{
    real other[BATCH];
    compute(f, set->loops, x, y, other);
    for (size_t i = 0; i < BATCH && !w->differs; i++)
        if (memcmp(&got[i], &other[i], sizeof *got) != 0 && !(isnan(got[i]) && isnan(other[i])))
            *w = (worst){ INFINITY, x[i], y[i], true };
}

/* The best set against the truth, the others against the best. */
static void judge_all(const function *f, const real *x, const real *y, worst *w)
{
    const evl_kernels *const *set = TWIN(evl_kernel_sets);
    const unsigned cpu = evl_cpu_features();
    const evl_loops *best = TWIN(evl_kernels_choose)(cpu).loops;
    real got[BATCH];
    compute(f, best, x, y, got);
    for (; *set; set++)
        if (((*set)->needs & cpu) == (*set)->needs && (*set)->loops != best)
            judge(f, *set, x, y, got, w);
    for (size_t i = 0; i < BATCH; i++) {
        wide truth = f->has_two ? evl_truth_of_pow(x[i], y[i]) : evl_truth(f->kind, x[i]);
        double distance = ulps(got[i], truth);
        if (distance > w->ulps)
            *w = (worst){ distance, x[i], y[i], false };
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

/* Where what a logarithm is off counts most in a power: near 1, to almost all that there is room for. */
static void far_power(uint64_t *seed, real *x, real *y)
{
    double share = ldexp((double)(random_bits(seed) >> 11), -53);
    double far = ldexp((double)(random_bits(seed) >> 11), -53);
    *x = (real)(0.7 + 0.72 * share);
    *y = (real)(REAL_BIAS * (far < 0.5 ? far - 1 : far) / log2((double)*x));
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
    worst w = { 0, 0, 0, false };
    uint64_t seed = 1, next = 0, stride = 0;
    if (sizeof(real) == 4 && !f->has_two) {
        stride = count;
        count = ((uint64_t)1 << 32) / count;
    } else if (sizeof(real) == 4)
        count = ((uint64_t)1 << 32) / count / 16;
    for (uint64_t done = 0; done <= count; done += BATCH) {
        for (size_t i = 0; i < BATCH; i++, next += stride) {
            uint32_t bits = (uint32_t)next;
            x[i] = any_number(&seed);
            y[i] = any_number(&seed);
            if (f->has_two && i % 2)
                far_power(&seed, &x[i], &y[i]);
            if (stride)
                memcpy(&x[i], &bits, sizeof bits);
            if (done == 0 && i < EDGES * EDGES) {
                x[i] = edges[i % EDGES];
                y[i] = edges[i / EDGES];
            }
        }
        judge_all(f, x, y, &w);
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
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (!is_wanted(functions[i].name, argc, argv) || count == 0)
            continue;
        worst w = examine(&functions[i], count);
        bool is_near = w.ulps <= functions[i].most;
        printf("%-9s %8.3f ulp at %.17g", functions[i].name, w.ulps, (double)w.x);
        if (functions[i].has_two)
            printf(", %.17g", (double)w.y);
        printf("%s\n", w.differs ? " - sets of kernels differ" : is_near ? "" : " - too far");
        fflush(stdout);
        is_right = is_right && is_near;
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
