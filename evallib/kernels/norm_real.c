/* Rows made mean 0 and square mean 1; local response normalization. */
#include "kernels/loops_set.h"
#include "kernels/real_items.h"

static evl_binary_loop *const *const item_loops = SET(evl_binary_loops);

#include "kernels/folds.h"

static real square_of_distance(real x, real from)
{
    return (x - from) * (x - from);
}

static void enter_distance(size_t n, const void *x, size_t x_step, const void *from,
                           size_t from_step, void *y)
{
    zip(n, x, x_step, from, from_step, y, enter_distance, square_of_distance);
}

static const fold_rule distance_rule = { 0, EVL_ADD, sum_block, enter_distance };

/* A scale and a bias for each element; NULL: 1, 0. */
static void affine_each(size_t n, const real *x, const real *moments, const evl_normalize *how,
                        real *y)
{
    const real mean = moments[0], inverse = moments[1];
    const real *scale = how->scale, *bias = how->bias;
    if (scale && bias) {
#pragma omp simd
        for (size_t i = 0; i < n; i++)
            y[i] = (x[i] - mean) * inverse * scale[i] + bias[i];
        return;
    }
    for (size_t i = 0; i < n; i++)
        y[i] = (x[i] - mean) * inverse * (scale ? scale[i] : 1) + (bias ? bias[i] : 0);
}

static void affine_one(size_t n, const real *x, real mean, real factor, real bias, real *y)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = (x[i] - mean) * factor + bias;
}

void SET(evl_normalize_row)(const evl_normalize *how, const void *from, void *to)
{
    const real *x = from, *scale = how->scale, *bias = how->bias;
    real *y = to;
    size_t part = how->groups ? how->n / how->groups : 0;
    real mean = how->centred ? fold_row(how->n, x, 0, &sum_rule) / (real)how->n : 0;
    real square = fold_row(how->n, x, mean, &distance_rule) / (real)how->n;
    real inverse = 1 / sqrt(square + (real)how->epsilon);
    if (part == 1 && how->n > 1)
        affine_each(how->n, x, (const real[]){ mean, inverse }, how, y);
    else
        for (size_t g = 0; g < how->groups; g++)
            affine_one(part, x + g * part, mean, scale ? inverse * scale[g] : inverse,
                       bias ? bias[g] : 0, y + g * part);
    if (how->mean)
        *(real *)how->mean = mean;
    if (how->inverse)
        *(real *)how->inverse = inverse;
}

void SET(evl_normalize_channels)(const evl_channels *how, const void *from, void *to)
{
    const real *x = from, *scale = how->scale, *bias = how->bias, *mean = how->mean,
               *variance = how->variance, epsilon = (real)how->epsilon;
    real *y = to;
    if (how->inner == 1) {
#pragma omp simd
        for (size_t c = 0; c < how->n; c++)
            y[c] = (x[c] - mean[c]) * (scale[c] / sqrt(variance[c] + epsilon)) + bias[c];
        return;
    }
    for (size_t c = 0; c < how->n; c++)
        affine_one(how->inner, x + c * how->inner, mean[c], scale[c] / sqrt(variance[c] + epsilon),
                   bias[c], y + c * how->inner);
}

/* The sum of squares of the channels from .. to-1 at one place. */
static real window_sum(const evl_window *how, const real *x, size_t from, size_t to)
{
    real sum = 0;
    for (size_t c = from; c < to; c++)
        sum += x[c * how->inner] * x[c * how->inner];
    return sum;
}

void SET(evl_local_response)(const evl_window *how, const void *from, void *to)
{
    const real *x = from;
    real *y = to, bias = (real)how->bias, beta = (real)how->beta;
    real alpha = (real)(how->alpha / (evl_number)how->size);
    size_t before = (how->size - 1) / 2, after = how->size / 2;
    for (size_t c = 0; c < how->channels; c++) {
        size_t first = c < before ? 0 : c - before;
        size_t end = how->channels - c <= after ? how->channels : c + after + 1;
        for (size_t j = 0; j < how->inner; j++) {
            real square = window_sum(how, x + j, first, end);
            y[c * how->inner + j] = x[c * how->inner + j] / pow(bias + alpha * square, beta);
        }
    }
}
