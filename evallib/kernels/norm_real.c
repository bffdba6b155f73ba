/* Rows made mean 0 and square mean 1; local response normalization. */
#include "kernels/loops_set.h"
#include "kernels/real_items.h"

static evl_binary_loop *const *const item_loops = SET(evl_binary_loops);

#include "kernels/folds.h"

/* The sum of (x - from)^2 over at most BLOCK elements, in the order of fold_block. In vectors by
** name: compilers made a part of each step out of single numbers. */
static real distance_block(size_t n, const real *x, real from)
{
    vec sums[SUMS / LANES] = { 0 }, all_from = vec_all(from);
    real lane[SUMS];
    size_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
        for (size_t j = 0; j < SUMS / LANES; j++) {
            vec away = vec_load(x + i + j * LANES) - all_from;
            sums[j] += away * away;
        }
    memcpy(lane, sums, sizeof lane);
    for (size_t j = 0; i < n; i++, j++)
        lane[j] += (x[i] - from) * (x[i] - from);
    return sum_block(SUMS, lane);
}

/* The mean, and the sum of the squares of the distances from it: of each BLOCK while it is in
** the first cache, then joined: when means of m and of k elements are d apart, the sum for both
** is d^2 m k / (m + k) more than theirs. */
static real spread(size_t n, const real *x, real *mean)
{
    real sum = 0;
    *mean = n ? 0 : (real)NAN;
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t part = n - i < BLOCK ? n - i : BLOCK;
        real here = sum_block(part, x + i) / (real)part, share = (real)part / (real)(i + part);
        real squares = distance_block(part, x + i, here), moved = here - *mean;
        sum = i ? sum + squares + moved * moved * (real)i * share : squares;
        *mean = i ? *mean + moved * share : here;
    }
    return sum;
}

static real distance(size_t n, const real *x, real from)
{
    real sum = 0;
    for (size_t i = 0; i < n; i += BLOCK)
        sum += distance_block(n - i < BLOCK ? n - i : BLOCK, x + i, from);
    return sum;
}

/* A scale for each element, and a bias or none. */
static void affine_each(size_t n, const real *x, const real *moments, const evl_normalize *how,
                        real *y)
{
    const real mean = moments[0], inverse = moments[1];
    const real *scale = how->scale, *bias = how->bias;
    if (bias) {
#pragma omp simd
        for (size_t i = 0; i < n; i++)
            y[i] = (x[i] - mean) * inverse * scale[i] + bias[i];
        return;
    }
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = (x[i] - mean) * inverse * scale[i];
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
    real mean = 0, squares = how->centred ? spread(how->n, x, &mean) : distance(how->n, x, mean);
    real inverse = 1 / sqrt(squares / (real)how->n + (real)how->epsilon);
    if (part == 1 && how->n > 1 && scale)
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

/* COLUMNS elements of each channel at a time, which stay in the first cache. */
void SET(evl_local_response)(evl_axis_lines at, const evl_window *how, const void *from, void *to)
{
    const evl_number affine[] = { 0, how->alpha / (evl_number)how->size, how->bias };
    const real *x = from, beta = (real)how->beta;
    real *y = to, sum[COLUMNS], square[COLUMNS];
    size_t before = (how->size - 1) / 2, after = how->size / 2, width;
    for (size_t j = 0; j < at.inner; j += width) {
        width = at.inner - j < COLUMNS ? at.inner - j : COLUMNS;
        for (size_t c = 0; c < at.n; c++) {
            size_t first = c < before ? 0 : c - before;
            size_t end = at.n - c <= after ? at.n : c + after + 1, here = c * at.stride + j;
            fill_tile(width, 0, sum);
            for (size_t k = first; k < end; k++) {
                const real *row = x + k * at.stride + j;
                item_loops[EVL_MUL](width, row, 1, row, 1, square);
                item_loops[EVL_ADD](width, sum, 1, square, 1, sum);
            }
            SET(evl_unary_loops)[EVL_AFFINE](width, sum, sum, affine);
            item_loops[EVL_POW](width, sum, 1, &beta, 0, sum);
            item_loops[EVL_DIV](width, x + here, 1, sum, 1, y + here);
        }
    }
}
