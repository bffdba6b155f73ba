/* How a product is cut, and one tile of it from start to end. */
#include "base/memory.h"
#include "kernels/set.h"
#include "kernels/vector.h"

enum {
    ROWS = VECTOR_ROWS,
    COLUMNS = 2 * LANES,
    /* A block of k. A packed panel streams from the second cache, so it may be long: each
       block more reads and writes C again (800 for 384: 5 % of 64 x 200 x 784 on Zen 3).
       What a tile fills is to fit the caches, all its panels together. */
    BLOCK_K = 800,
    FILL_K = 384,
    /* What a tile's A may take of the second cache, and the B it fills itself. */
    TILE_ROWS = 512 / sizeof(real),
    FILL_BYTES = 512,
    FILL_ROWS = 256,
    TILES_WANTED = 8,
    TILE_WORK = 2 * EVL_PRODUCT_SMALL,
    ROW_PANELS = 4, /* a single row is multiplied by so many panels at once */
    READ_ROWS = 2   /* fewer rows cost as much: it is B that takes the time */
};

static size_t ceil_divide(size_t n, size_t by)
{
    return n / by + (n % by != 0);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t saturated(size_t a, size_t b)
{
    size_t product;
    return evl_size_multiply(a, b, &product) ? product : SIZE_MAX;
}

/* n in equal parts of at most `most`: 13 by 12 is 7 and 6, not 12 and 1. */
static size_t even(size_t n, size_t most)
{
    return n ? ceil_divide(n, ceil_divide(n, most)) : 1;
}

/* Half as many panels: in fours, which one row multiplies at once. */
static size_t half_panels(size_t panels)
{
    return ceil_divide(ceil_divide(panels, 2), ROW_PANELS) * ROW_PANELS;
}

/* The tile the caches like, halved while there are too few of them to share. Tiles
** below each other fill the same panels again, so then they stay tall. */
static void cut_tiles(evl_product_cut *c, size_t groups, size_t panels, size_t times, int b_packed)
{
    size_t least_groups = b_packed ? 1 : ceil_divide(FILL_ROWS, c->rows);
    for (;;) {
        size_t tiles = saturated(ceil_divide(groups, c->tile_groups),
                                 saturated(ceil_divide(panels, c->tile_panels), times));
        bool across = c->tile_panels > ROW_PANELS, down = c->tile_groups > least_groups;
        bool is_wide = 2 * c->tile_panels * COLUMNS >= c->tile_groups * c->rows; /* B is far */
        if (tiles >= TILES_WANTED || c->work / (tiles ? tiles : 1) < TILE_WORK)
            return;
        if (across && (is_wide || !down || !b_packed))
            c->tile_panels = half_panels(c->tile_panels);
        else if (down)
            c->tile_groups = ceil_divide(c->tile_groups, 2);
        else
            return;
    }
}

static evl_product_cut cut(size_t m, size_t n, size_t k, size_t times, int b_packed)
{
    evl_product_cut c = { .rows = even(m, ROWS) };
    size_t groups = ceil_divide(m, c.rows), panels = ceil_divide(n, COLUMNS);
    size_t fill_panels = FILL_BYTES / (COLUMNS * sizeof(real));
    c.work = saturated(saturated(m && m < READ_ROWS ? READ_ROWS : m, n), saturated(k, times));
    /* One group reads B once, so blocks of k would only cost; what a tile fills is cut. */
    c.block_k = groups == 1 && b_packed ? (k ? k : 1) : even(k, b_packed ? BLOCK_K : FILL_K);
    c.tile_groups = groups ? (b_packed ? even(groups, ceil_divide(TILE_ROWS, c.rows)) : groups) : 1;
    c.tile_panels = panels ? (b_packed ? panels : even(panels, fill_panels)) : 1;
    cut_tiles(&c, groups, panels, times, b_packed);
    c.n_down = ceil_divide(groups, c.tile_groups);
    c.n_across = ceil_divide(panels, c.tile_panels);
    c.scratch = b_packed ? 0 : least(c.tile_panels, panels) * COLUMNS * c.block_k;
    return c;
}

static size_t panels_size(size_t k, size_t n)
{
    size_t size;
    return evl_size_multiply(ceil_divide(n, COLUMNS) * COLUMNS, k, &size) ? size : 0;
}

static size_t rows_size(const evl_product_cut *c, size_t m, size_t k)
{
    size_t size;
    return evl_size_multiply(ceil_divide(m, c->rows) * c->rows, k, &size) ? size : 0;
}

/* A tile's place: rows i .. i+m-1, columns j .. j+n-1. */
typedef struct place {
    size_t i, m, j, n;
} place;

static place place_of(const evl_product *p, const evl_product_cut *c, size_t tile)
{
    size_t m = c->tile_groups * c->rows, n = c->tile_panels * COLUMNS;
    place at = { .i = tile / c->n_across * m, .j = tile % c->n_across * n };
    at.m = least(m, p->m - at.i);
    at.n = least(n, p->n - at.j);
    return at;
}

static void take_rows(const evl_product *p, const evl_product_cut *c, const place *at, size_t k,
                      evl_gemm_block *block)
{
    block->rows = c->rows;
    if (p->rows) {
        block->a = p->rows + at->i * p->k + k * c->rows;
        block->a_row = 1;
        block->a_step = c->rows;
        block->a_group = c->rows * p->k;
        return;
    }
    block->a = p->a.data + at->i * p->a.row + k * p->a.column;
    block->a_row = p->a.row;
    block->a_step = p->a.column;
    block->a_group = c->rows * p->a.row;
}

static void take_panels(const evl_product *p, const place *at, size_t k, evl_gemm_block *block,
                        real *scratch)
{
    if (p->panels) {
        block->b_panel = p->k * COLUMNS;
        block->b = p->panels + at->j / COLUMNS * block->b_panel + k * COLUMNS;
        return;
    }
    block->b = scratch;
    block->b_panel = block->k * COLUMNS;
    evl_product_part part = { k, block->k, at->j, at->n };
    if (p->fill) {
        p->fill(p->fill_arg, &part, scratch);
        return;
    }
    evl_gemm_matrix b = { p->b.data + k * p->b.row + at->j * p->b.column, p->b.row, p->b.column };
    SET(evl_gemm_kernels).pack_panels(block->k, at->n, b, block->b_panel, scratch);
}

static void move_addend(evl_addend *add, const place *at)
{
    if (add->data)
        add->data += at->i * add->row + at->j * add->column;
}

/* Blocks of k after the first add to what the ones before left in C; the last has the
** activation. */
static void tile(const evl_product *p, const evl_product_cut *c, size_t index, real *scratch)
{
    place at = place_of(p, c, index);
    evl_gemm_block block = { .m = at.m, .n = at.n, .c_row = p->c_row, .epilogue = p->epilogue };
    evl_epilogue *e = &block.epilogue;
    block.c = p->c + at.i * p->c_row + at.j;
    move_addend(&e->add[0], &at);
    move_addend(&e->add[1], &at);
    e->activation = (evl_activation){ 0 };
    size_t k = 0;
    do {
        block.k = least(c->block_k, p->k - k);
        take_rows(p, c, &at, k, &block);
        take_panels(p, &at, k, &block, scratch);
        k += block.k;
        if (k == p->k)
            e->activation = p->epilogue.activation;
        SET(evl_gemm_kernels).block(&block);
        e->add[0] = (evl_addend){ block.c, p->c_row, 1 };
        e->add[1] = (evl_addend){ NULL, 0, 0 };
    } while (k < p->k);
}

const evl_product_kernels SET(evl_product_kernels) = {
    .cut = cut,
    .tile = tile,
    .panels_size = panels_size,
    .rows_size = rows_size,
};
