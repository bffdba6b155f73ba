#include "ops/strided.h"
#include <string.h>

enum {
    TILE = 65536, /* elements: enough work to be worth a thread's while */
    BLOCK = 32,   /* of a transposition: 32 rows of 32 elements stay in the first cache */
    BLOCKED_WIDTH = 256,
    SHORT_ROW = 8, /* columns: fewer are walked faster along the rows */
    LONG_RUN = 64  /* bytes from which memcpy beats a loop */
};

typedef struct block {
    size_t rows, columns;
    const char *from;
    char *to;
    ptrdiff_t from_row, from_column, to_row, to_column;
} block;

typedef void copy_kernel(const block *);

/* Only `size` differs between the kernels below: it is a constant in each, and makes each
** memcpy one load and one store. */
static inline void copy_elements(size_t size, const block *b)
{
    const size_t columns = b->columns;
    const ptrdiff_t from_step = b->from_column, to_step = b->to_column;
    for (size_t i = 0; i < b->rows; i++) {
        const char *from = b->from + (ptrdiff_t)i * b->from_row;
        char *to = b->to + (ptrdiff_t)i * b->to_row;
        for (size_t j = 0; j < columns; j++)
            memcpy(to + (ptrdiff_t)j * to_step, from + (ptrdiff_t)j * from_step, size);
    }
}

static inline void fill_elements(size_t size, const block *b)
{
    const size_t columns = b->columns;
    for (size_t i = 0; i < b->rows; i++) {
        char value[16];
        char *to = b->to + (ptrdiff_t)i * b->to_row;
        memcpy(value, b->from + (ptrdiff_t)i * b->from_row, size);
        for (size_t j = 0; j < columns; j++)
            memcpy(to + j * size, value, size);
    }
}

static void copy_1(const block *b)
{
    copy_elements(1, b);
}
static void copy_2(const block *b)
{
    copy_elements(2, b);
}
static void copy_4(const block *b)
{
    copy_elements(4, b);
}
static void copy_8(const block *b)
{
    copy_elements(8, b);
}
static void copy_16(const block *b)
{
    copy_elements(16, b);
}
static void fill_1(const block *b)
{
    fill_elements(1, b);
}
static void fill_2(const block *b)
{
    fill_elements(2, b);
}
static void fill_4(const block *b)
{
    fill_elements(4, b);
}
static void fill_8(const block *b)
{
    fill_elements(8, b);
}
static void fill_16(const block *b)
{
    fill_elements(16, b);
}

/* Two to four rows whose elements alternate in the target, as channels beside each other, or
** in the source. */
static inline void weave_elements(size_t size, size_t rows, const block *b)
{
    const char *x = b->from, *y = x + b->from_row, *z = y + b->from_row, *w = z + b->from_row;
    char *to = b->to;
#pragma omp simd
    for (size_t j = 0; j < b->columns; j++) {
        memcpy(to + rows * j * size, x + j * size, size);
        memcpy(to + (rows * j + 1) * size, y + j * size, size);
        if (rows > 2)
            memcpy(to + (rows * j + 2) * size, z + j * size, size);
        if (rows > 3)
            memcpy(to + (rows * j + 3) * size, w + j * size, size);
    }
}

static inline void part_elements(size_t size, size_t rows, const block *b)
{
    const char *from = b->from;
    char *x = b->to, *y = x + b->to_row, *z = y + b->to_row, *w = z + b->to_row;
#pragma omp simd
    for (size_t j = 0; j < b->columns; j++) {
        memcpy(x + j * size, from + rows * j * size, size);
        memcpy(y + j * size, from + (rows * j + 1) * size, size);
        if (rows > 2)
            memcpy(z + j * size, from + (rows * j + 2) * size, size);
        if (rows > 3)
            memcpy(w + j * size, from + (rows * j + 3) * size, size);
    }
}

static void weave_4(const block *b)
{
    if (b->rows == 2)
        weave_elements(4, 2, b);
    else if (b->rows == 3)
        weave_elements(4, 3, b);
    else
        weave_elements(4, 4, b);
}

static void weave_8(const block *b)
{
    if (b->rows == 2)
        weave_elements(8, 2, b);
    else if (b->rows == 3)
        weave_elements(8, 3, b);
    else
        weave_elements(8, 4, b);
}

static void part_4(const block *b)
{
    if (b->rows == 2)
        part_elements(4, 2, b);
    else if (b->rows == 3)
        part_elements(4, 3, b);
    else
        part_elements(4, 4, b);
}

static void part_8(const block *b)
{
    if (b->rows == 2)
        part_elements(8, 2, b);
    else if (b->rows == 3)
        part_elements(8, 3, b);
    else
        part_elements(8, 4, b);
}

static copy_kernel *const copies[] = { copy_1, copy_2, copy_4, copy_8, copy_16 };
static copy_kernel *const fills[] = { fill_1, fill_2, fill_4, fill_8, fill_16 };

static size_t log2_of(size_t size)
{
    size_t k = 0;
    while (size > 1) {
        size >>= 1;
        k++;
    }
    return k;
}

static void copy_runs(size_t bytes, const block *b)
{
    for (size_t i = 0; i < b->rows; i++)
        memcpy(b->to + (ptrdiff_t)i * b->to_row, b->from + (ptrdiff_t)i * b->from_row, bytes);
}

/* Turning a matrix: the source runs along the rows of a block, the target along its columns.
** Runs of the source are put side by side first, with a gap, so that neither power-of-two
** steps nor half-used lines of the cache matter; then four or two of them at a time become
** one store. */
enum { RUN = 16, RUNS = 128, GAP = 4 };

/* Only moved, whatever they are: of integers gcc makes such a vector through memory. */
typedef float four __attribute__((vector_size(16)));
typedef double two __attribute__((vector_size(16)));

static void turn_4(const block *b)
{
    float runs[RUNS][RUN + GAP];
    for (size_t j = 0; j < b->columns; j++)
        memcpy(runs[j], b->from + (ptrdiff_t)j * b->from_column, b->rows * 4);
    for (size_t i = 0; i < b->rows; i++) {
        char *to = b->to + (ptrdiff_t)i * b->to_row;
        size_t j = 0;
        for (; j + 4 <= b->columns; j += 4) {
            four part = { runs[j][i], runs[j + 1][i], runs[j + 2][i], runs[j + 3][i] };
            memcpy(to + j * 4, &part, sizeof part);
        }
        for (; j < b->columns; j++)
            memcpy(to + j * 4, &runs[j][i], 4);
    }
}

static void turn_8(const block *b)
{
    double runs[RUNS][RUN + GAP];
    for (size_t j = 0; j < b->columns; j++)
        memcpy(runs[j], b->from + (ptrdiff_t)j * b->from_column, b->rows * 8);
    for (size_t i = 0; i < b->rows; i++) {
        char *to = b->to + (ptrdiff_t)i * b->to_row;
        size_t j = 0;
        for (; j + 2 <= b->columns; j += 2) {
            two part = { runs[j][i], runs[j + 1][i] };
            memcpy(to + j * 8, &part, sizeof part);
        }
        for (; j < b->columns; j++)
            memcpy(to + j * 8, &runs[j][i], 8);
    }
}

static bool is_turned(const evl_strided *s, const block *b)
{
    ptrdiff_t size = (ptrdiff_t)s->size;
    return b->from_row == size && b->to_column == size && (size == 4 || size == 8);
}

static bool is_few(const evl_strided *s, const block *b)
{
    return b->rows >= 2 && b->rows <= 4 && (s->size == 4 || s->size == 8);
}

/* In parts of so many rows and columns. */
static void copy_parts(copy_kernel *kernel, size_t rows, size_t columns, const block *b)
{
    for (size_t i = 0; i < b->rows; i += rows) {
        for (size_t j = 0; j < b->columns; j += columns) {
            block part = *b;
            part.rows = b->rows - i < rows ? b->rows - i : rows;
            part.columns = b->columns - j < columns ? b->columns - j : columns;
            part.from += (ptrdiff_t)i * b->from_row + (ptrdiff_t)j * b->from_column;
            part.to += (ptrdiff_t)i * b->to_row + (ptrdiff_t)j * b->to_column;
            kernel(&part);
        }
    }
}

static void copy_block(const evl_strided *s, const block *b)
{
    ptrdiff_t size = (ptrdiff_t)s->size;
    bool writes_runs = b->to_column == size;
    if (writes_runs && b->from_column == size && b->columns * s->size >= LONG_RUN)
        copy_runs(b->columns * s->size, b);
    else if (writes_runs && b->from_column == 0)
        fills[log2_of(s->size)](b);
    else if (is_few(s, b) && b->from_column == size && b->to_row == size &&
             b->to_column == (ptrdiff_t)b->rows * size)
        (size == 4 ? weave_4 : weave_8)(b);
    else if (is_few(s, b) && writes_runs && b->from_row == size &&
             b->from_column == (ptrdiff_t)b->rows * size)
        (size == 4 ? part_4 : part_8)(b);
    else if (s->is_blocked && is_turned(s, b))
        copy_parts(s->size == 4 ? turn_4 : turn_8, RUN, RUNS, b);
    else if (s->is_blocked)
        copy_parts(copies[log2_of(s->size)], BLOCK, BLOCK, b);
    else
        copies[log2_of(s->size)](b);
}

/* Where a walk over the outer dimensions stands. */
typedef struct place {
    size_t at[EVL_STRIDED_RANK];
    const char *from;
    char *to;
} place;

typedef struct job {
    const evl_strided *s;
    const char *from;
    char *to;
} job;

static void seek(const job *j, size_t outer, place *p)
{
    p->from = j->from;
    p->to = j->to;
    for (size_t d = j->s->rank - 2; d-- > 0;) {
        p->at[d] = outer % j->s->n[d];
        outer /= j->s->n[d];
        p->from += (ptrdiff_t)p->at[d] * j->s->from[d];
        p->to += (ptrdiff_t)p->at[d] * j->s->to[d];
    }
}

static void advance(const evl_strided *s, place *p)
{
    for (size_t d = s->rank - 2; d-- > 0;) {
        p->from += s->from[d];
        p->to += s->to[d];
        if (++p->at[d] < s->n[d])
            return;
        p->at[d] = 0;
        p->from -= (ptrdiff_t)s->n[d] * s->from[d];
        p->to -= (ptrdiff_t)s->n[d] * s->to[d];
    }
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void copy_strip(const evl_strided *s, size_t strip, const place *p)
{
    size_t r = s->rank - 2, c = s->rank - 1;
    size_t row = strip / s->column_strips * s->rows;
    size_t column = strip % s->column_strips * s->columns;
    block b = { .rows = least(s->rows, s->n[r] - row),
                .columns = least(s->columns, s->n[c] - column),
                .from = p->from + (ptrdiff_t)row * s->from[r] + (ptrdiff_t)column * s->from[c],
                .to = p->to + (ptrdiff_t)row * s->to[r] + (ptrdiff_t)column * s->to[c],
                .from_row = s->from[r],
                .from_column = s->from[c],
                .to_row = s->to[r],
                .to_column = s->to[c] };
    copy_block(s, &b);
}

static void copy_tile(void *arg, size_t tile, size_t lane)
{
    const job *j = arg;
    const evl_strided *s = j->s;
    size_t unit = tile * s->units, end = least(unit + s->units, s->n_units);
    size_t strip = unit % s->strips;
    place p;
    (void)lane;
    seek(j, unit / s->strips, &p);
    for (; unit < end; unit++) {
        copy_strip(s, strip, &p);
        if (++strip == s->strips) {
            strip = 0;
            advance(s, &p);
        }
    }
}

void evl_strided_copy(const evl_strided *s, evl_pool *pool, const void *from, void *to)
{
    job j = { s, from, to };
    if (s->n_units == 0)
        return;
    if (s->n_units <= s->units)
        copy_tile(&j, 0, 0);
    else
        evl_parallel_for(pool, (s->n_units - 1) / s->units + 1, copy_tile, &j);
}

void evl_strided_begin(evl_strided *s, size_t size)
{
    *s = (evl_strided){ .size = size };
}

void evl_strided_add(evl_strided *s, size_t n, ptrdiff_t from, ptrdiff_t to)
{
    size_t last = s->rank - 1;
    if (n == 1)
        return;
    if (s->rank > 0 && (size_t)s->from[last] == n * (size_t)from &&
        (size_t)s->to[last] == n * (size_t)to) {
        s->n[last] *= n;
    } else {
        last = s->rank++;
        s->n[last] = n;
    }
    s->from[last] = from;
    s->to[last] = to;
}

static void swap_dimensions(evl_strided *s, size_t a, size_t b)
{
    size_t n = s->n[a];
    ptrdiff_t from = s->from[a], to = s->to[a];
    s->n[a] = s->n[b];
    s->from[a] = s->from[b];
    s->to[a] = s->to[b];
    s->n[b] = n;
    s->from[b] = from;
    s->to[b] = to;
}

static void pad_rank(evl_strided *s)
{
    for (; s->rank < 2; s->rank++) {
        s->n[s->rank] = 1;
        s->from[s->rank] = s->to[s->rank] = 0;
        if (s->rank == 1)
            swap_dimensions(s, 0, 1);
    }
}

static size_t magnitude(ptrdiff_t step)
{
    return step < 0 ? (size_t)-step : (size_t)step;
}

/* When the source does not run along the columns, the dimension along which its steps are
** smallest becomes the rows, so that blocks of both use each cache line they touch. */
static void choose_rows(evl_strided *s)
{
    size_t c = s->rank - 1, r = s->rank - 2, best = c;
    if (s->from[c] == (ptrdiff_t)s->size || s->from[c] == 0)
        return;
    for (size_t d = 0; d < c; d++)
        if (s->from[d] != 0 && magnitude(s->from[d]) < magnitude(s->from[best]))
            best = d;
    if (best == c)
        return;
    swap_dimensions(s, best, r);
    s->is_blocked = true;
    if (s->n[c] < SHORT_ROW && s->n[r] > s->n[c])
        swap_dimensions(s, r, c);
}

void evl_strided_ready(evl_strided *s)
{
    size_t outer = 1;
    pad_rank(s);
    choose_rows(s);
    const size_t rows = s->n[s->rank - 2], columns = s->n[s->rank - 1];
    for (size_t d = 0; d < s->rank - 2; d++)
        outer *= s->n[d];
    if (outer == 0 || rows == 0 || columns == 0)
        return;
    s->columns = least(columns, s->is_blocked ? BLOCKED_WIDTH : TILE);
    s->rows = least(rows, TILE / s->columns);
    s->column_strips = (columns - 1) / s->columns + 1;
    s->strips = s->column_strips * ((rows - 1) / s->rows + 1);
    s->units = s->strips > 1 ? 1 : TILE / (s->rows * s->columns);
    s->n_units = outer * s->strips;
}

void evl_strided_steps(const evl_shape *shape, size_t size, ptrdiff_t steps[EVAL_MAX_RANK])
{
    size_t step = size;
    for (int32_t d = shape->rank; d-- > 0;) {
        steps[d] = (ptrdiff_t)step;
        step *= (size_t)shape->dim[d];
    }
}
