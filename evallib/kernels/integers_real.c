/* Products of bytes. Nothing here is real: this is built with the kernels to have one for
** each instruction set. */
#include "kernels/integers.h"
#include "kernels/loops_set.h"
#include "kernels/pairs.h"

enum { COLUMNS = 2 * SUMS };
static const size_t PAIR = sizeof(int16_t) * COLUMNS; /* bytes that two k have in a panel */

/* Wraps: signed overflow is no sum that C knows. */
static inline sums add(sums a, sums b)
{
    typedef uint32_t wrapping __attribute__((vector_size(VECTOR_BYTES)));
    return (sums)((wrapping)a + (wrapping)b);
}

/* `rows` is a constant where it is called, and all is unrolled. */
static inline __attribute__((always_inline)) void tile(const evl_integer_block *g, const int16_t *a,
                                                       const int8_t *b, size_t rows, int32_t *c)
{
    size_t row = 2 * g->pairs;
    sums left[VECTOR_ROWS] = { 0 }, right[VECTOR_ROWS] = { 0 };
    for (size_t p = g->pairs; p > 0; p--, a += 2, b += PAIR) {
        sums b0 = load_panel(b), b1 = load_panel(b + COLUMNS);
#pragma GCC unroll 12
        for (size_t i = 0; i < rows; i++) {
            sums pair = load_pair(a + i * row);
            left[i] = add(left[i], multiply_add(pair, b0));
            right[i] = add(right[i], multiply_add(pair, b1));
        }
    }
#pragma GCC unroll 12
    for (size_t i = 0; i < rows; i++) {
        *(sums *)(c + i * COLUMNS) = left[i];
        *(sums *)(c + i * COLUMNS + SUMS) = right[i];
    }
}

static void rows_tile(const evl_integer_block *g, const int16_t *a, const int8_t *b, size_t rows,
                      int32_t *c)
{
    if (rows == VECTOR_ROWS) {
        tile(g, a, b, VECTOR_ROWS, c);
        return;
    }
    for (; rows >= 2; rows -= 2, a += 4 * g->pairs, c += (size_t)2 * COLUMNS)
        tile(g, a, b, 2, c);
    if (rows)
        tile(g, a, b, 1, c);
}

/* A panel of B stays in the first cache while the rows of A pass by it. */
static void block(const evl_integer_block *g)
{
    int32_t c[VECTOR_ROWS * COLUMNS];
    const int8_t *b = g->b;
    for (size_t j = 0; j < g->n; j += COLUMNS, b += PAIR * g->pairs) {
        size_t width = g->n - j < COLUMNS ? g->n - j : COLUMNS;
        for (size_t i = 0; i < g->m; i += VECTOR_ROWS) {
            size_t rows = g->m - i < VECTOR_ROWS ? g->m - i : VECTOR_ROWS;
            rows_tile(g, g->a + 2 * i * g->pairs, b, rows, c);
            for (size_t r = 0; r < rows; r++)
                memcpy(g->c + (i + r) * g->c_row + j, c + r * COLUMNS, width * sizeof *c);
        }
    }
}

static inline void widen(size_t k, evl_bytes_matrix a, int32_t zero, int16_t *row)
{
    const uint8_t *bytes = a.data;
    const int32_t flip = a.is_signed ? 0x80 : 0; /* the sign's bit counts down, not up */
    if (a.column != 1) {
        for (size_t p = 0; p < k; p++)
            row[p] = (int16_t)((bytes[p * a.column] ^ flip) - flip - zero);
        return;
    }
#pragma omp simd
    for (size_t p = 0; p < k; p++)
        row[p] = (int16_t)((bytes[p] ^ flip) - flip - zero);
}

static void pack_rows(size_t m, size_t k, evl_bytes_matrix a, const int32_t *zero, size_t zero_step,
                      int16_t *rows, int32_t *row_sums)
{
    size_t row = k + (k & 1);
    for (size_t i = 0; i < m; i++, rows += row) {
        evl_bytes_matrix from = { (const char *)a.data + i * a.row, 0, a.column, a.is_signed };
        widen(k, from, zero[i * zero_step], rows);
        int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
        for (size_t p = 0; p < k; p++)
            sum += rows[p];
        row_sums[i] = sum;
        if (row != k)
            rows[k] = 0;
    }
}

/* Two whole rows of a panel. */
static inline void interleave(const uint8_t *first, const uint8_t *second, uint8_t flip, int8_t *to)
{
#pragma omp simd
    for (size_t x = 0; x < COLUMNS; x++) {
        to[2 * x] = (int8_t)(first[x] ^ flip);
        to[2 * x + 1] = (int8_t)(second[x] ^ flip);
    }
}

static void pack_panels(size_t k, size_t n, evl_bytes_matrix b, int8_t *panels)
{
    const uint8_t *bytes = b.data;
    const uint8_t flip = b.is_signed ? 0 : 0x80;
    size_t pairs = (k + 1) / 2;
    for (size_t j = 0; j < n; j += COLUMNS, panels += PAIR * pairs) {
        size_t width = n - j < COLUMNS ? n - j : COLUMNS;
        size_t p = 0;
        memset(panels, 0, PAIR * pairs);
        for (; b.column == 1 && width == COLUMNS && p + 1 < k; p += 2)
            interleave(bytes + p * b.row + j, bytes + (p + 1) * b.row + j, flip, panels + p / 2 * PAIR);
        for (; p < k; p++) {
            const uint8_t *from = bytes + p * b.row + j * b.column;
            int8_t *to = panels + p / 2 * PAIR + (p & 1);
            for (size_t x = 0; x < width; x++)
                to[2 * x] = (int8_t)(from[x * b.column] ^ flip);
        }
    }
}

const evl_integer_kernels SET(evl_integer_kernels) = {
    .rows = VECTOR_ROWS,
    .columns = COLUMNS,
    .block = block,
    .pack_rows = pack_rows,
    .pack_panels = pack_panels,
};
