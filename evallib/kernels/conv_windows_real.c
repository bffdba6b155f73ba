/* The matrix of a convolution's windows, made panel by panel as a product asks for it. */
#include "kernels/conv_parts.h"
#include "kernels/set.h"
#include "kernels/vector.h"

enum { COLUMNS = 2 * LANES, CHUNK = 128 };

/* Windows beside each other in one row of the output. */
typedef struct run {
    int64_t z, y,
        x; /* z, y: of the input, where the first kernel position looks; x: of the output */
    size_t n;
} run;

static size_t runs_of(const evl_stencil *w, size_t j, size_t n, run *runs)
{
    size_t out_x = (size_t)w->out[2], out_y = (size_t)w->out[1], count = 0;
    size_t x = j % out_x, y = j / out_x % out_y, z = j / out_x / out_y;
    while (n > 0) {
        size_t length = out_x - x < n ? out_x - x : n;
        runs[count++] = (run){ (int64_t)z * w->stride[0] - w->begin[0],
                               (int64_t)y * w->stride[1] - w->begin[1], (int64_t)x, length };
        n -= length;
        x = 0;
        if (++y == out_y) {
            y = 0;
            z++;
        }
    }
    return count;
}

/* A kernel position of one channel, and which output columns see the input with it. */
typedef struct position {
    const real *plane;
    int64_t z, y, x; /* what it adds to the place of a window */
    int64_t from, to;
} position;

static position position_of(const evl_conv_input *in, size_t k)
{
    const evl_stencil *w = in->stencil;
    size_t kernel_x = (size_t)w->kernel[2], kernel_y = (size_t)w->kernel[1];
    size_t kernel = kernel_x * kernel_y * (size_t)w->kernel[0];
    size_t plane = (size_t)w->in[0] * (size_t)w->in[1] * (size_t)w->in[2];
    position p = { .plane = in->x + k / kernel * plane };
    k %= kernel;
    p.z = (int64_t)(k / kernel_x / kernel_y) * w->dilation[0];
    p.y = (int64_t)(k / kernel_x % kernel_y) * w->dilation[1];
    p.x = (int64_t)(k % kernel_x) * w->dilation[2] - w->begin[2];
    evl_conv_range range = evl_conv_range_of(w, 2, p.x);
    p.from = range.from;
    p.to = range.to;
    return p;
}

static void zero(size_t n, real *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = 0;
}

static void copy(size_t n, const real *x, size_t step, real *y)
{
    if (step == 1)
        for (size_t i = 0; i < n; i++)
            y[i] = x[i];
    else
        for (size_t i = 0; i < n; i++)
            y[i] = x[i * step];
}

static void take_run(const evl_stencil *w, const position *p, const run *r, real *row)
{
    int64_t z = r->z + p->z, y = r->y + p->y, n = (int64_t)r->n;
    int64_t from = p->from - r->x, to = p->to - r->x;
    from = from < 0 ? 0 : from;
    to = to > n ? n : to;
    if (z < 0 || z >= w->in[0] || y < 0 || y >= w->in[1] || from >= to) {
        zero(r->n, row);
        return;
    }
    const real *line = p->plane + (z * w->in[1] + y) * w->in[2];
    zero((size_t)from, row);
    copy((size_t)(to - from), line + (r->x + from) * w->stride[2] + p->x, (size_t)w->stride[2],
         row + from);
    zero((size_t)(n - to), row + to);
}

static void deal(size_t n, const real *row, size_t panel, real *panels)
{
    for (size_t j = 0; j < n; j += COLUMNS, panels += panel) {
        vec_store(panels, vec_load(row + j));
        vec_store(panels + LANES, vec_load(row + j + LANES));
    }
}

/* Row by row in a buffer first: runs end anywhere, panels after COLUMNS. */
static void chunk(const evl_conv_input *in, const evl_product_part *part, real *panels)
{
    run runs[CHUNK];
    real row[CHUNK + COLUMNS];
    size_t n_runs = runs_of(in->stencil, part->j, part->n, runs);
    zero(CHUNK + COLUMNS, row);
    for (size_t k = 0; k < part->n_k; k++) {
        position p = position_of(in, part->k + k);
        real *to = row;
        for (size_t i = 0; i < n_runs; to += runs[i++].n)
            take_run(in->stencil, &p, &runs[i], to);
        deal(part->n, row, part->n_k * COLUMNS, panels + k * COLUMNS);
    }
}

void SET(evl_conv_windows)(const void *arg, const evl_product_part *part, real *panels)
{
    evl_product_part some = *part;
    for (size_t j = 0; j < part->n; j += CHUNK) {
        some.j = part->j + j;
        some.n = part->n - j < CHUNK ? part->n - j : CHUNK;
        chunk(arg, &some, panels + j * part->n_k);
    }
}
