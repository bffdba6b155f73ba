/* Trigonometry and its inverses. Sine and cosine are the library's own where arguments are
** not far from 0; the rest are the C library's functions, one number at a time. */
#include "kernels/loops_set.h"
#include "kernels/real_items.h"
#include "kernels/arrays.h"
#include "kernels/circle.h"

static bool is_near(size_t n, const real *x)
{
    real_bits n_far = 0;
#pragma omp simd reduction(+ : n_far)
    for (size_t i = 0; i < n; i++)
        n_far += !(fabs(x[i]) < TWIN(sin_far));
    return n_far == 0;
}

/* Tiles that are near are one loop in vectors; each number of another is looked at. */
static inline void circle(size_t n, const real *x, real *y, real (*near)(real), real (*far)(real))
{
    for (size_t end, i = 0; i < n; i = end) {
        end = n - i < TILE ? n : i + TILE;
        size_t part = whole(end - i, sizeof *y);
        if (is_near(part, x + i)) {
#pragma omp simd
            for (size_t j = i; j < i + part; j++)
                y[j] = near(x[j]);
            continue;
        }
        for (size_t j = i; j < end; j++)
            y[j] = fabs(x[j]) < TWIN(sin_far) ? near(x[j]) : far(x[j]);
    }
}

static real far_sin(real x)
{
    return sin(x);
}

static real far_cos(real x)
{
    return cos(x);
}

void SET(evl_sin_loop)(size_t n, const void *x, void *y, const evl_number *p)
{
    n = whole(map_rest(n, x, y, sizeof(real), SET(evl_sin_loop), p), sizeof(real));
    circle(n, x, y, near_sin, far_sin);
}

void SET(evl_cos_loop)(size_t n, const void *x, void *y, const evl_number *p)
{
    n = whole(map_rest(n, x, y, sizeof(real), SET(evl_cos_loop), p), sizeof(real));
    circle(n, x, y, near_cos, far_cos);
}

void SET(evl_tan_loop)(size_t n, const void *from, void *to, const evl_number *p)
{
    const real *x = from;
    real *y = to;
    (void)p;
    for (size_t i = 0; i < n; i++)
        y[i] = tan(x[i]);
}

void SET(evl_asin_loop)(size_t n, const void *from, void *to, const evl_number *p)
{
    const real *x = from;
    real *y = to;
    (void)p;
    for (size_t i = 0; i < n; i++)
        y[i] = asin(x[i]);
}

void SET(evl_acos_loop)(size_t n, const void *from, void *to, const evl_number *p)
{
    const real *x = from;
    real *y = to;
    (void)p;
    for (size_t i = 0; i < n; i++)
        y[i] = acos(x[i]);
}

void SET(evl_atan_loop)(size_t n, const void *from, void *to, const evl_number *p)
{
    const real *x = from;
    real *y = to;
    (void)p;
    for (size_t i = 0; i < n; i++)
        y[i] = atan(x[i]);
}

void SET(evl_sinh_loop)(size_t n, const void *from, void *to, const evl_number *p)
{
    const real *x = from;
    real *y = to;
    (void)p;
    for (size_t i = 0; i < n; i++)
        y[i] = sinh(x[i]);
}

void SET(evl_cosh_loop)(size_t n, const void *from, void *to, const evl_number *p)
{
    const real *x = from;
    real *y = to;
    (void)p;
    for (size_t i = 0; i < n; i++)
        y[i] = cosh(x[i]);
}

void SET(evl_asinh_loop)(size_t n, const void *from, void *to, const evl_number *p)
{
    const real *x = from;
    real *y = to;
    (void)p;
    for (size_t i = 0; i < n; i++)
        y[i] = asinh(x[i]);
}

void SET(evl_acosh_loop)(size_t n, const void *from, void *to, const evl_number *p)
{
    const real *x = from;
    real *y = to;
    (void)p;
    for (size_t i = 0; i < n; i++)
        y[i] = acosh(x[i]);
}

void SET(evl_atanh_loop)(size_t n, const void *from, void *to, const evl_number *p)
{
    const real *x = from;
    real *y = to;
    (void)p;
    for (size_t i = 0; i < n; i++)
        y[i] = atanh(x[i]);
}
