/* Products of bytes. Where real numbers come in, they are float32 in both precisions. */
#include "kernels/integers.h"
#include "kernels/loops_set.h"
#include "kernels/pairs.h"

enum {
    COLUMNS = 2 * SUMS,
    MOST_BLOCKS = 4, /* of COLUMNS that a single row is multiplied by at once */
    MOST_TILES = VECTOR_ROWS > MOST_BLOCKS ? VECTOR_ROWS : MOST_BLOCKS
};

/* Wraps: signed overflow is no sum that C knows. */
static inline sums add(sums a, sums b)
{
    return (sums)((wrapping)a + (wrapping)b);
}

/* `rows` and `blocks` are constants where it is called, and all is unrolled. */
static inline __attribute__((always_inline)) void tile(const evl_pairs_product *g, const int16_t *a,
                                                       const int16_t *b, size_t rows, size_t blocks,
                                                       int32_t *c)
{
    const size_t a_row = g->a_row, a_step = g->a_step, c_row = g->c_row, n = rows * blocks;
    const size_t *at = g->b_at;
    sums left[MOST_TILES] = { 0 }, right[MOST_TILES] = { 0 };
    if (g->adds)
#pragma GCC unroll 12
        for (size_t i = 0; i < n; i++) {
            left[i] = load_sums(c + i / blocks * c_row + i % blocks * COLUMNS);
            right[i] = load_sums(c + i / blocks * c_row + i % blocks * COLUMNS + SUMS);
        }
    for (size_t p = g->steps; p > 0; p--, a += a_step) {
        const int16_t *from = b + 2 * *at++;
#pragma GCC unroll 4
        for (size_t q = 0; q < blocks; q++) {
            sums b0 = load_pairs(from + q * 2 * COLUMNS), b1 = load_pairs(from + q * 2 * COLUMNS + COLUMNS);
#pragma GCC unroll 12
            for (size_t i = 0; i < rows; i++) {
                sums pair = load_pair(a + i * a_row);
                left[i * blocks + q] = add(left[i * blocks + q], multiply_add(pair, b0));
                right[i * blocks + q] = add(right[i * blocks + q], multiply_add(pair, b1));
            }
        }
    }
#pragma GCC unroll 12
    for (size_t i = 0; i < n; i++) {
        *(sums *)(c + i / blocks * c_row + i % blocks * COLUMNS) = left[i];
        *(sums *)(c + i / blocks * c_row + i % blocks * COLUMNS + SUMS) = right[i];
    }
}

/* As many columns from `from` on as whole tiles have; where they end. */
static inline __attribute__((always_inline)) size_t strip(const evl_pairs_product *g, const int16_t *a,
                                                          size_t rows, size_t blocks, size_t from, int32_t *c)
{
    for (; from + (blocks - 1) * COLUMNS < g->n; from += blocks * COLUMNS)
        tile(g, a, g->b + 2 * from, rows, blocks, c + from);
    return from;
}

static void few_rows(const evl_pairs_product *g, const int16_t *a, size_t rows, int32_t *c)
{
    for (; rows >= 4; rows -= 4, a += 4 * g->a_row, c += 4 * g->c_row)
        (void)strip(g, a, 4, 1, 0, c);
    for (; rows >= 2; rows -= 2, a += 2 * g->a_row, c += 2 * g->c_row)
        (void)strip(g, a, 2, 1, 0, c);
    if (rows)
        (void)strip(g, a, 1, 1, strip(g, a, 1, MOST_BLOCKS, 0, c), c);
}

static void product(const evl_pairs_product *g)
{
    const int16_t *a = g->a;
    int32_t *c = g->c;
    size_t rows = g->m;
    for (; rows >= VECTOR_ROWS; rows -= VECTOR_ROWS, a += VECTOR_ROWS * g->a_row, c += VECTOR_ROWS * g->c_row)
        (void)strip(g, a, VECTOR_ROWS, 1, 0, c);
    few_rows(g, a, rows, c);
}

static inline void beside_at(const evl_bytes_beside *p, size_t i, int32_t flip, int16_t less, int16_t *pairs)
{
    const uint8_t *first = p->first + i * p->step, *second = p->second + i * p->step;
    wrapping both = p->step == 1 ? side_by_side(load_bytes(first), load_bytes(second), flip)
                                 : side_by_side(load_every_second(first), load_every_second(second), flip);
    store_pairs(pairs + 2 * i, both, less);
}

static void beside(const evl_bytes_beside *given, int16_t *pairs)
{
    const evl_bytes_beside p = *given;
    const int32_t flip = p.are_signed ? 0x80 : 0; /* the sign's bit counts down, not up */
    const int16_t less = (int16_t)(flip + p.zero);
    size_t i = 0, end = p.has_room ? p.n : p.n >= SUMS ? p.n - SUMS : 0;
    if (p.step == 1)
        for (; i < end; i += SUMS)
            beside_at(&p, i, flip, less, pairs);
    else if (p.step == 2) /* one byte past the last is read */
        for (; i < end; i += SUMS)
            beside_at(&p, i, flip, less, pairs);
    if (p.step == 1 && i < p.n && p.n >= SUMS) {
        beside_at(&p, p.n - SUMS, flip, less, pairs);
        return;
    }
    for (; i < p.n; i++) {
        pairs[2 * i] = (int16_t)((p.first[i * p.step] ^ flip) - less);
        pairs[2 * i + 1] = (int16_t)((p.second[i * p.step] ^ flip) - less);
    }
}

/* Added, it leaves the nearest whole number, ties to even, of what is small in the lowest bits. */
static const real shift = (real)((real_bits)3 << (REAL_DIGITS - 2));

/* What a vector is multiplied by and held within, before the zero point is added. */
typedef struct quantum {
    vec scale, least, most;
    sums add, zero;
} quantum;

static inline quantum quantum_of(const evl_requantized *how)
{
    return (quantum){ vec_all(*how->scale), vec_all(how->least - how->zero), vec_all(how->most - how->zero),
                      all_sums(*how->add), all_sums((int32_t)how->zero) - (sums)vec_all(shift) };
}

static inline sums quanta_of(const quantum *how, vec x)
{
    x = vec_smaller(vec_larger(x, how->least), how->most);
    return add((sums)(x + shift), how->zero);
}

static inline sums quanta(const quantum *how, sums c)
{
    return quanta_of(how, vec_of(add(c, how->add)) * how->scale);
}

static inline sums quanta_at(const evl_requantized *how, quantum *q, const int32_t *c, size_t i)
{
    if (how->step) {
        q->add = load_sums(how->add + i);
        q->scale = vec_load(how->scale + i);
    }
    return quanta(q, load_sums(c + i));
}

static void requantize(const evl_requantized *given, size_t n, const int32_t *c, uint8_t *to)
{
    const evl_requantized how = *given;
    quantum q = quantum_of(&how);
    narrow some;
    size_t i = 0;
    for (; i + (size_t)4 * SUMS <= n; i += (size_t)4 * SUMS) {
        sums four[4];
#pragma GCC unroll 4
        for (size_t k = 0; k < 4; k++)
            four[k] = quanta_at(&how, &q, c, i + k * SUMS);
        store_narrow(to + i, four);
    }
    for (; i < n; i += SUMS) {
        some = narrow_of(quanta_at(&how, &q, c, i));
        if (n - i < SUMS)
            memcpy(to + i, &some, n - i);
        else
            memcpy(to + i, &some, SUMS);
    }
}

static inline vec reals_of(const uint8_t *bytes, int32_t flip, int32_t zero, real scale)
{
    return vec_of(add((sums)(load_bytes(bytes) ^ (uint32_t)flip), all_sums(-flip - zero))) * scale;
}

/* The arithmetic of DequantizeLinear, Add or Mul, and QuantizeLinear. */
static inline sums joined(const evl_bytes_joined *how, const quantum *q, const uint8_t *a, const uint8_t *b)
{
    const int32_t flip = how->are_signed ? 0x80 : 0;
    vec x = reals_of(a, flip, how->zero[0], how->scale[0]), y = reals_of(b, flip, how->zero[1], how->scale[1]);
    return quanta_of(q, (how->multiplies ? x * y : x + y) / how->y_scale);
}

static void join(const evl_bytes_joined *given, size_t n, const uint8_t *a, const uint8_t *b, uint8_t *y)
{
    const evl_bytes_joined how = *given;
    const evl_requantized to = { .scale = &how.y_scale, .add = how.zero, .zero = (real)how.y_zero, .least = how.least,
                                 .most = how.most };
    const quantum q = quantum_of(&to);
    size_t i = 0;
    for (; i + (size_t)4 * SUMS <= n; i += (size_t)4 * SUMS) {
        sums four[4];
#pragma GCC unroll 4
        for (size_t k = 0; k < 4; k++)
            four[k] = joined(&how, &q, a + i + k * SUMS, b + i + k * SUMS);
        store_narrow(y + i, four);
    }
    for (; i < n; i += SUMS) {
        uint8_t ends[2][SUMS] = { { 0 } };
        size_t some = n - i < SUMS ? n - i : SUMS;
        memcpy(ends[0], a + i, some);
        memcpy(ends[1], b + i, some);
        narrow end = narrow_of(joined(&how, &q, ends[0], ends[1]));
        memcpy(y + i, &end, some);
    }
}

/* --- Winograd's way --- */

/* Four places of a tile, step apart, to their polynomial's values at 0, 1, -1 and infinity. */
static inline void to_values(halves *d, size_t step)
{
    halves d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step];
    d[0] = d0 - d2;
    d[step] = d2 + d1;
    d[2 * step] = d2 - d1;
    d[3 * step] = d3 - d1;
}

static void before(size_t n, const int16_t *pairs, const size_t *taps, size_t step, int16_t *v)
{
    halves d[EVL_BYTE_ELEMENTS];
    for (size_t j = 0; j < n; j += SUMS, v += 2 * (size_t)SUMS) {
#pragma GCC unroll 16
        for (size_t e = 0; e < EVL_BYTE_ELEMENTS; e++)
            d[e] = *(const halves *)(pairs + 2 * (taps[e] + j));
#pragma GCC unroll 4
        for (size_t i = 0; i < 4; i++)
            to_values(d + i, 4);
#pragma GCC unroll 4
        for (size_t i = 0; i < 4; i++)
            to_values(d + 4 * i, 1);
#pragma GCC unroll 16
        for (size_t e = 0; e < EVL_BYTE_ELEMENTS; e++)
            *(halves *)(v + e * step) = d[e];
    }
}

/* Four values, step apart, to two outputs. */
static inline void to_outputs(const wrapping *m, size_t step, wrapping *y, size_t y_step)
{
    y[0] = m[0] + m[step] + m[2 * step];
    y[y_step] = m[step] - m[2 * step] + m[3 * step];
}

static inline narrow_pair line_of(const quantum *how, const wrapping *m)
{
    wrapping y[2];
    to_outputs(m, 1, y, 1);
    return in_turn(quanta(how, (sums)y[0] >> 2), quanta(how, (sums)y[1] >> 2));
}

static void after(const evl_requantized *given, size_t n, const int32_t *m, size_t step, uint8_t *const lines[2])
{
    const quantum how = quantum_of(given);
    wrapping half[2 * 4], column[4];
    for (size_t j = 0; j < n; j += SUMS, m += SUMS) {
#pragma GCC unroll 4
        for (size_t x = 0; x < 4; x++) {
#pragma GCC unroll 4
            for (size_t y = 0; y < 4; y++)
                column[y] = (wrapping)load_sums(m + (4 * y + x) * step);
            to_outputs(column, 1, half + x, 4);
        }
        *(narrow_pair *)(lines[0] + 2 * j) = line_of(&how, half);
        *(narrow_pair *)(lines[1] + 2 * j) = line_of(&how, half + 4);
    }
}

/* --- packing --- */

static inline void widen_row(size_t k, evl_bytes_matrix a, int32_t zero, int16_t *row)
{
    const uint8_t *bytes = a.data;
    const int32_t flip = a.is_signed ? 0x80 : 0;
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
                      int16_t *rows)
{
    size_t row = k + (k & 1);
    for (size_t i = 0; i < m; i++, rows += row) {
        evl_bytes_matrix from = { (const char *)a.data + i * a.row, 0, a.column, a.is_signed };
        widen_row(k, from, zero[i * zero_step], rows);
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
    const size_t pairs = (k + 1) / 2, pair = 2 * (size_t)COLUMNS;
    for (size_t j = 0; j < n; j += COLUMNS, panels += pair * pairs) {
        size_t width = n - j < COLUMNS ? n - j : COLUMNS;
        size_t p = 0;
        memset(panels, 0, pair * pairs);
        for (; b.column == 1 && width == COLUMNS && p + 1 < k; p += 2)
            interleave(bytes + p * b.row + j, bytes + (p + 1) * b.row + j, flip, panels + p / 2 * pair);
        for (; p < k; p++) {
            const uint8_t *from = bytes + p * b.row + j * b.column;
            int8_t *to = panels + p / 2 * pair + (p & 1);
            for (size_t x = 0; x < width; x++)
                to[2 * x] = (int8_t)(from[x * b.column] ^ flip);
        }
    }
}

static void widen(size_t steps, const int8_t *panel, const int16_t *zero, int16_t *pairs)
{
    sums left = { 0 }, right = { 0 };
    int16_t both[2 * COLUMNS];
    for (size_t j = 0; j < (size_t)2 * COLUMNS; j++)
        both[j] = zero[j / 2];
    left = load_pairs(both);
    right = load_pairs(both + COLUMNS);
    for (size_t p = 0; p < steps; p++, panel += (size_t)2 * COLUMNS, pairs += (size_t)2 * COLUMNS) {
        store_less(pairs, load_panel(panel), left);
        store_less(pairs + COLUMNS, load_panel(panel + COLUMNS), right);
    }
}

const evl_integer_kernels SET(evl_integer_kernels) = {
    .rows = VECTOR_ROWS,
    .columns = COLUMNS,
    .product = product,
    .beside = beside,
    .requantize = requantize,
    .join = join,
    .before = before,
    .after = after,
    .pack_rows = pack_rows,
    .pack_panels = pack_panels,
    .widen = widen,
};
