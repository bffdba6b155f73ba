/* Trigonometry and its inverses: the C library's functions, one number at a time. */
#include "kernels/loops_set.h"
#include "real.h"

void SET(evl_sin_loop)(size_t n, const void *from, void *to, const evl_number *p)
{
    const real *x = from;
    real *y = to;
    (void)p;
    for (size_t i = 0; i < n; i++)
        y[i] = sin(x[i]);
}

void SET(evl_cos_loop)(size_t n, const void *from, void *to, const evl_number *p)
{
    const real *x = from;
    real *y = to;
    (void)p;
    for (size_t i = 0; i < n; i++)
        y[i] = cos(x[i]);
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
