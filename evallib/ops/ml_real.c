/* Arithmetic of ai.onnx.ml in one precision. */
#include "ops/ml.h"
#include "real.h"

extern const evl_ml_kit TWIN(evl_ml_kit);

static real logistic(real v)
{
    real y = 1 / (1 + exp(-fabs(v)));
    return v < 0 ? 1 - y : y;
}

/* The standard names no formula; this is the usual one, by Winitzki. */
static real probit(real p)
{
    real x = 2 * p - 1, sign = x < 0 ? (real)-1 : (real)1, rest = (1 - x) * (1 + x);
    if (rest == 0)
        return 0;
    real logarithm = log(rest), a = (real)0.147,
         v = 2 / ((real)3.14159265358979323846 * a) + logarithm / 2;
    return (real)1.41421356 * sign * sqrt(sqrt(v * v - logarithm / a) - v);
}

static real largest(size_t n, const real *x)
{
    real most = x[0];
    for (size_t i = 1; i < n; i++)
        most = x[i] > most ? x[i] : most;
    return most;
}

static void softmax(size_t n, real *z)
{
    real most = largest(n, z), sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += z[i] = exp(z[i] - most);
    for (size_t i = 0; i < n; i++)
        z[i] /= sum;
}

/* Softmax of what is not 0; zeros stay. */
static void softmax_zero(size_t n, real *z)
{
    real most = largest(n, z), sum = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_zero = fabs(z[i]) <= (real)1e-7;
        sum += z[i] = is_zero ? z[i] * exp(-most) : exp(z[i] - most);
    }
    for (size_t i = 0; i < n; i++)
        z[i] = sum == 0 ? (real)0.5 : z[i] / sum;
}

static void write_two(const evl_ml_scores *how, real s, real *z)
{
    z[0] = how->second == EVL_ML_NEGATIVE ? -s : 1 - s;
    z[1] = s;
    if (how->transform == EVL_ML_LOGISTIC) {
        z[0] = logistic(-s);
        z[1] = logistic(s);
    } else if (how->transform == EVL_ML_PROBIT) {
        z[0] = probit(z[0]);
        z[1] = probit(s);
    }
}

static void write(const evl_ml_scores *how, const void *scores, void *to)
{
    const real *s = scores;
    real *z = to;
    if (how->second != EVL_ML_NO_SECOND) {
        write_two(how, s[0], z);
        return;
    }
    for (size_t i = 0; i < how->n; i++)
        z[i] = how->transform == EVL_ML_LOGISTIC ? logistic(s[i])
               : how->transform == EVL_ML_PROBIT ? probit(s[i])
                                                 : s[i];
    if (how->transform == EVL_ML_SOFTMAX)
        softmax(how->n, z);
    else if (how->transform == EVL_ML_SOFTMAX_ZERO)
        softmax_zero(how->n, z);
}

static size_t best(size_t n, const void *scores)
{
    const real *s = scores;
    size_t most = 0;
    for (size_t i = 1; i < n; i++)
        most = s[i] > s[most] ? i : most;
    return most;
}

static evl_number at(const void *x, size_t i)
{
    return (evl_number)((const real *)x)[i];
}

static void set(void *x, size_t i, evl_number value)
{
    ((real *)x)[i] = (real)value;
}

static void add(size_t n, const void *from, void *to)
{
    const real *x = from;
    real *y = to;
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
}

static void affine(const evl_ml_affine *how, size_t width, const void *from, void *to)
{
    const real *x = from, *offset = how->offset, *scale = how->scale;
    real *y = to;
    for (size_t i = 0; i < width; i++) {
        real v = offset ? x[i] - offset[how->n_offsets == 1 ? 0 : i] : x[i];
        y[i] = scale ? v * scale[how->n_scales == 1 ? 0 : i] : v;
    }
}

static void replace(const evl_ml_replace *how, size_t width, const void *from, void *to)
{
    const real *x = from, *news = how->new_ones;
    real *y = to, old = (real)how->old;
    for (size_t i = 0; i < width; i++) {
        bool is_old = old == old ? x[i] == old : x[i] != x[i];
        y[i] = is_old ? news[how->n == 1 ? 0 : i] : x[i];
    }
}

static void above(evl_number threshold, size_t n, const void *from, void *to)
{
    const real *x = from;
    real *y = to, least = (real)threshold;
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] > least ? 1 : 0;
}

/* Of divisor 0 the row stays. */
static void normalize(evl_ml_norm norm, size_t width, const void *from, void *to)
{
    const real *x = from;
    real *y = to, by = norm == EVL_ML_MAX && width ? x[0] : 0;
    for (size_t i = 0; i < width; i++)
        by = norm == EVL_ML_MAX  ? (x[i] > by ? x[i] : by)
             : norm == EVL_ML_L1 ? by + fabs(x[i])
                                 : by + x[i] * x[i];
    if (norm == EVL_ML_L2)
        by = sqrt(by);
    for (size_t i = 0; i < width; i++)
        y[i] = by == 0 ? x[i] : x[i] / by;
}

enum { LANES = 8 };

/* Sums in lanes, whose number is the same everywhere. */
static real sum_lanes(const real *lanes)
{
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
           ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

static real dot(size_t n, const real *a, const real *b)
{
    real lanes[LANES] = { 0 };
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            lanes[j] += a[i + j] * b[i + j];
    for (size_t j = 0; i + j < n; j++)
        lanes[j] += a[i + j] * b[i + j];
    return sum_lanes(lanes);
}

static real distance(size_t n, const real *a, const real *b)
{
    real lanes[LANES] = { 0 };
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            lanes[j] += (a[i + j] - b[i + j]) * (a[i + j] - b[i + j]);
    for (size_t j = 0; i + j < n; j++)
        lanes[j] += (a[i + j] - b[i + j]) * (a[i + j] - b[i + j]);
    return sum_lanes(lanes);
}

static void kernel(evl_ml_kernel kind, const evl_number *p, size_t width, const void *from,
                   size_t n, const void *vectors, void *to)
{
    const real *x = from, *w = vectors;
    real *y = to, gamma = (real)p[0], coef0 = (real)p[1], degree = (real)p[2];
    for (size_t i = 0; i < n; i++, w += width)
        y[i] = kind == EVL_ML_LINEAR ? dot(width, x, w)
               : kind == EVL_ML_RBF  ? exp(-gamma * distance(width, x, w))
               : kind == EVL_ML_POLY ? pow(gamma * dot(width, x, w) + coef0, degree)
                                     : tanh(gamma * dot(width, x, w) + coef0);
}

static evl_number dot_of(size_t n, const void *a, const void *b)
{
    return (evl_number)dot(n, a, b);
}

const evl_ml_kit TWIN(evl_ml_kit) = { sizeof(real), write, best,      at,     add, affine,
                                      replace,      above, normalize, kernel, set, dot_of };
