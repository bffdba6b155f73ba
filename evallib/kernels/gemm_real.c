/* The heart of every product: a tile of C kept in registers while k runs.
**
** Measured on Zen 3 and 4: 95-100 % of the processor's FMA peak with operands in cache,
** so no intrinsics. Each number of rows is a copy of its own of one inlined text: with
** the number constant, the sums stay in registers. The inner loops count to a constant
** and ask `i < rows` because clang, which unrolls before it inlines, would otherwise
** keep the sums in memory (5 times slower). */
#include "kernels/finish.h"
#include "kernels/set.h"
#include <string.h>

enum {
    COLUMNS = 2 * LANES,
    LINE = 64,    /* bytes that memory gives at once */
    FEW_ROWS = 3, /* so many are multiplied by several panels at once */
    MOST_PANELS = 4,
    MOST_SUMS = 6 /* of COLUMNS each, that few rows make */
};

/* What a tile is multiplied from. */
typedef struct operands {
    size_t k;
    const real *a;
    size_t a_row, a_step;
    const real *b;
    size_t b_panel;
    uintptr_t next; /* is fetched meanwhile, a line for each k; may lie behind the last panel */
} operands;

/* rows x COLUMNS sums of one panel. */
static inline __attribute__((always_inline)) void panel_sums(const operands *o, size_t rows,
                                                             real *sums)
{
    const size_t a_row = o->a_row, a_step = o->a_step;
    const real *a = o->a, *b = o->b;
    uintptr_t next = o->next;
    vec left[VECTOR_ROWS] = { 0 }, right[VECTOR_ROWS] = { 0 };
    for (size_t p = o->k; p > 0; p--, a += a_step, b += COLUMNS, next += LINE) {
        __builtin_prefetch((const void *)next, 0, 2);
        vec b0 = vec_load(b), b1 = vec_load(b + LANES);
#pragma GCC unroll 16
        for (size_t i = 0; i < VECTOR_ROWS; i++)
            if (i < rows) {
                left[i] += a[i * a_row] * b0;
                right[i] += a[i * a_row] * b1;
            }
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < rows; i++) {
        vec_store(sums + i * COLUMNS, left[i]);
        vec_store(sums + i * COLUMNS + LANES, right[i]);
    }
}

/* The same of the first vector of a panel: for a right edge of at most LANES columns. */
static inline __attribute__((always_inline)) void edge_sums(const operands *o, size_t rows,
                                                            real *sums)
{
    const size_t a_row = o->a_row, a_step = o->a_step;
    const real *a = o->a, *b = o->b;
    vec left[VECTOR_ROWS] = { 0 };
    for (size_t p = o->k; p > 0; p--, a += a_step, b += COLUMNS) {
        vec b0 = vec_load(b);
#pragma GCC unroll 16
        for (size_t i = 0; i < VECTOR_ROWS; i++)
            if (i < rows)
                left[i] += a[i * a_row] * b0;
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < rows; i++)
        vec_store(sums + i * COLUMNS, left[i]);
}

/* Few rows by several panels: with one panel, each sum would wait for itself. */
static inline __attribute__((always_inline)) void wide_sums(const operands *o, size_t rows,
                                                            size_t panels, real *sums)
{
    const size_t a_row = o->a_row, a_step = o->a_step, panel = o->b_panel, n = rows * panels;
    const real *a = o->a, *b = o->b;
    vec left[MOST_SUMS] = { 0 }, right[MOST_SUMS] = { 0 };
    for (size_t p = o->k; p > 0; p--, a += a_step, b += COLUMNS)
#pragma GCC unroll 8
        for (size_t i = 0; i < MOST_SUMS; i++)
            if (i < n) {
                const real *from = b + i / rows * panel;
                left[i] += a[i % rows * a_row] * vec_load(from);
                right[i] += a[i % rows * a_row] * vec_load(from + LANES);
            }
#pragma GCC unroll 8
    for (size_t i = 0; i < n; i++) {
        vec_store(sums + i * COLUMNS, left[i]);
        vec_store(sums + i * COLUMNS + LANES, right[i]);
    }
}

/* How many panels so many rows are multiplied by at once. */
static size_t panels_for(size_t rows)
{
    return rows == 1 ? MOST_PANELS : 2;
}

static void wide_tile(const operands *o, size_t rows, real *sums)
{
    switch (rows) {
    case 1: wide_sums(o, 1, MOST_PANELS, sums); return;
    case 2: wide_sums(o, 2, 2, sums); return;
    default: wide_sums(o, FEW_ROWS, 2, sums); return;
    }
}

/* A set has as many of these as its registers hold rows; the rest fold away. */
enum {
    R5 = VECTOR_ROWS < 5 ? 1 : 5,
    R6 = VECTOR_ROWS < 6 ? 1 : 6,
    R7 = VECTOR_ROWS < 7 ? 1 : 7,
    R8 = VECTOR_ROWS < 8 ? 1 : 8,
    R9 = VECTOR_ROWS < 9 ? 1 : 9,
    R10 = VECTOR_ROWS < 10 ? 1 : 10,
    R11 = VECTOR_ROWS < 11 ? 1 : 11,
    R12 = VECTOR_ROWS < 12 ? 1 : 12
};

static void panel_tile(const operands *o, size_t rows, real *sums)
{
    switch (rows) {
    case 1: panel_sums(o, 1, sums); return;
    case 2: panel_sums(o, 2, sums); return;
    case 3: panel_sums(o, 3, sums); return;
    case 4: panel_sums(o, 4, sums); return;
    case 5: panel_sums(o, R5, sums); return;
    case 6: panel_sums(o, R6, sums); return;
    case 7: panel_sums(o, R7, sums); return;
    case 8: panel_sums(o, R8, sums); return;
    case 9: panel_sums(o, R9, sums); return;
    case 10: panel_sums(o, R10, sums); return;
    case 11: panel_sums(o, R11, sums); return;
    default: panel_sums(o, R12, sums); return;
    }
}

static void edge_tile(const operands *o, size_t rows, real *sums)
{
    switch (rows) {
    case 1: edge_sums(o, 1, sums); return;
    case 2: edge_sums(o, 2, sums); return;
    case 3: edge_sums(o, 3, sums); return;
    case 4: edge_sums(o, 4, sums); return;
    case 5: edge_sums(o, R5, sums); return;
    case 6: edge_sums(o, R6, sums); return;
    case 7: edge_sums(o, R7, sums); return;
    case 8: edge_sums(o, R8, sums); return;
    case 9: edge_sums(o, R9, sums); return;
    case 10: edge_sums(o, R10, sums); return;
    case 11: edge_sums(o, R11, sums); return;
    default: edge_sums(o, R12, sums); return;
    }
}

/* What the loop of an activation gives, by way of the sums. */
static void activate(const evl_gemm_block *g, size_t rows, size_t columns, real *sums, real *c)
{
    const evl_activation *f = &g->epilogue.activation;
    if (columns == COLUMNS)
        f->loop(rows * columns, sums, sums, f->parameters);
    for (size_t r = 0; r < rows; r++, sums += COLUMNS, c += g->c_row) {
        if (columns < COLUMNS)
            f->loop(columns, sums, sums, f->parameters);
        for (size_t x = 0; x < columns; x++)
            c[x] = sums[x];
    }
}

static bool is_plain(const evl_epilogue *e)
{
    return e->alpha == 1 && !e->add[0].data && !e->add[1].data && !e->activation.clips &&
           !e->activation.loop;
}

static void copy_rows(size_t rows, const real *sums, real *c, size_t c_row)
{
    for (size_t r = 0; r < rows; r++, sums += COLUMNS, c += c_row) {
        vec_store(c, vec_load(sums));
        vec_store(c + LANES, vec_load(sums + LANES));
    }
}

/* From the sums to C; inlined once for the full width, once for edges. */
static inline __attribute__((always_inline)) void store(const evl_gemm_block *g, size_t i, size_t j,
                                                        size_t rows, size_t columns, real *sums)
{
    real *c = g->c + i * g->c_row + j;
    bool is_last = !g->epilogue.activation.loop;
    if (columns == COLUMNS && is_plain(&g->epilogue)) {
        copy_rows(rows, sums, c, g->c_row);
        return;
    }
    real *to = is_last ? c : sums;
    size_t to_row = is_last ? g->c_row : COLUMNS;
    for (size_t r = 0; r < rows; r++)
        evl_finish_row(&g->epilogue, i + r, j, columns, sums + r * COLUMNS, to + r * to_row);
    if (!is_last)
        activate(g, rows, columns, sums, c);
}

static void store_tile(const evl_gemm_block *g, size_t i, size_t j, size_t rows, real *sums)
{
    if (g->n - j >= COLUMNS)
        store(g, i, j, rows, COLUMNS, sums);
    else
        store(g, i, j, rows, g->n - j, sums);
}

static operands operands_of(const evl_gemm_block *g)
{
    return (operands){ g->k, g->a, g->a_row, g->a_step, g->b, g->b_panel, (uintptr_t)g->b };
}

static void block_of_few_rows(const evl_gemm_block *g)
{
    operands o = operands_of(g);
    real sums[MOST_SUMS * COLUMNS];
    size_t j = 0, panels = panels_for(g->m);
    for (; j + (panels - 1) * COLUMNS < g->n; j += panels * COLUMNS) {
        wide_tile(&o, g->m, sums);
        o.b += panels * g->b_panel;
        for (size_t q = 0; q < panels; q++)
            store_tile(g, 0, j + q * COLUMNS, g->m, sums + q * g->m * COLUMNS);
    }
    for (; j < g->n; j += COLUMNS, o.b += g->b_panel) {
        panel_tile(&o, g->m, sums);
        store_tile(g, 0, j, g->m, sums);
    }
}

/* A panel of B stays in the caches while the groups of A pass by it. The first two groups
** fetch the panel that comes next (of the narrower sets, the two that do): the processor's own
** fetching is late where B comes from memory (18 % of a network in double, 6 % in float). */
static void block(const evl_gemm_block *g)
{
    if (g->m <= FEW_ROWS) {
        block_of_few_rows(g);
        return;
    }
    operands o = operands_of(g);
    real sums[VECTOR_ROWS * COLUMNS];
    for (size_t j = 0; j < g->n; j += COLUMNS, o.b += g->b_panel) {
        void (*tile)(const operands *, size_t, real *) = g->n - j > LANES ? panel_tile : edge_tile;
        uintptr_t next = (uintptr_t)o.b + g->b_panel * sizeof(real);
        o.a = g->a;
        for (size_t i = 0; i < g->m; i += g->rows, o.a += g->a_group) {
            size_t rows = g->m - i < g->rows ? g->m - i : g->rows;
            o.next = i == 0 ? next : next + g->k * LINE;
            tile(&o, rows, sums);
            store_tile(g, i, j, rows, sums);
        }
    }
}

/* Rows of B that lie as the panel wants them. */
static void copy_panel(size_t k, evl_gemm_matrix b, real *panel)
{
    for (size_t p = 0; p < k; p++, panel += COLUMNS)
        memcpy(panel, (const char *)b.data + p * b.row * sizeof(real), COLUMNS * sizeof(real));
}

/* Column by column: reads run along memory when B is transposed, and the writes stay in
** the first cache. */
static void pack_panel(size_t k, size_t n, evl_gemm_matrix b, real *panel)
{
    const loose_real *from = b.data;
    if (n == COLUMNS && b.column == 1) {
        copy_panel(k, b, panel);
        return;
    }
    for (size_t j = 0; j < n; j++)
        for (size_t p = 0; p < k; p++)
            panel[p * COLUMNS + j] = from[p * b.row + j * b.column];
    for (size_t j = n; j < COLUMNS; j++)
        for (size_t p = 0; p < k; p++)
            panel[p * COLUMNS + j] = 0;
}

static void pack_panels(size_t k, size_t n, evl_gemm_matrix b, size_t panel, real *panels)
{
    for (size_t j = 0; j < n; j += COLUMNS, panels += panel) {
        evl_gemm_matrix from = { b.data + j * b.column, b.row, b.column };
        pack_panel(k, n - j < COLUMNS ? n - j : COLUMNS, from, panels);
    }
}

static void pack_rows(size_t m, size_t k, evl_gemm_matrix a, size_t rows, size_t group,
                      real *packed)
{
    for (size_t i = 0; i < m; i += rows, packed += group)
        for (size_t p = 0; p < k; p++)
            for (size_t r = 0; r < rows; r++)
                packed[p * rows + r] = i + r < m ? a.data[(i + r) * a.row + p * a.column] : 0;
}

const evl_gemm_kernels SET(evl_gemm_kernels) = {
    .rows = VECTOR_ROWS,
    .columns = COLUMNS,
    .block = block,
    .pack_panels = pack_panels,
    .pack_rows = pack_rows,
};
