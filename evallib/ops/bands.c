#include "ops/bands.h"
#include "base/memory.h"
#include <string.h>

enum { Z, Y, X, DIMS = EVL_STENCIL_DIMS };
enum { MOST_OUTPUTS = 512, FEWEST_OUTPUTS = 48 /* of a band, if the plane has them */ };

bool evl_bands_fit(const evl_stencil *w)
{
    for (int d = 0; d < DIMS; d++)
        if (w->begin[d] + w->end[d] > w->in[d] + 64 || w->in[d] < 1 || w->out[d] < 1)
            return false;
    return true;
}

/* Places alone, each its own window: one long row of them, turned so that it can be cut. */
static void straighten(evl_stencil *w)
{
    for (int d = 0; d < DIMS; d++)
        if (w->kernel[d] != 1 || w->stride[d] != 1 || w->begin[d] != 0 || w->end[d] != 0)
            return;
    int64_t all = w->in[Z] * w->in[Y] * w->in[X];
    for (int d = 0; d < DIMS; d++)
        w->in[d] = w->out[d] = d == Y ? all : 1;
}

/* One row of any length, turned so that it can be cut. */
static void turn_row(evl_stencil *w)
{
    if (w->in[Y] != 1 || w->kernel[Y] != 1 || w->begin[Y] != 0 || w->end[Y] != 0)
        return;
    int64_t *sizes[] = { w->in, w->kernel, w->stride, w->dilation, w->begin, w->end, w->out };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t across = sizes[i][X];
        sizes[i][X] = sizes[i][Y];
        sizes[i][Y] = across;
    }
}

static int64_t ceil_divide(int64_t n, int64_t by)
{
    return n / by + (n % by > 0);
}

/* As many rows as the budget holds, in even parts. */
static void choose_rows(evl_bands *b, size_t budget)
{
    const evl_stencil *w = &b->window;
    double row = (double)(w->in[X] + w->begin[X] + w->end[X]) * (double)w->stride[Y] *
                 (double)(b->unit * b->planes * b->element);
    int64_t rows = row < (double)budget ? (int64_t)((double)budget / row) : 1;
    int64_t most = ceil_divide(MOST_OUTPUTS, w->out[X]), least = ceil_divide(FEWEST_OUTPUTS, w->out[X]);
    rows = rows > most ? most : rows < least ? least : rows;
    rows = rows > w->out[Y] ? w->out[Y] : rows;
    b->in_slice = (size_t)ceil_divide(w->out[Y], rows);
    b->rows = (size_t)ceil_divide(w->out[Y], (int64_t)b->in_slice);
    b->in_slice = (size_t)ceil_divide(w->out[Y], (int64_t)b->rows);
    b->n = b->in_slice * (size_t)w->out[Z];
}

static bool size_copy(evl_bands *b)
{
    const evl_stencil *w = &b->window;
    size_t plane, all;
    b->depth = (size_t)(b->is_padded ? evl_stencil_reach(w, Z) : w->in[Z]);
    b->height = (size_t)(b->is_padded ? ((int64_t)b->rows - 1) * w->stride[Y] + evl_stencil_reach(w, Y)
                                      : w->in[Y]);
    b->width = (size_t)(b->is_padded ? (w->out[X] - 1) * w->stride[X] + evl_stencil_reach(w, X)
                                     : w->in[X]);
    if (!evl_size_multiply(b->depth, b->height, &plane) ||
        !evl_size_multiply(plane, b->width, &plane) || !evl_size_multiply(plane, b->unit, &plane) ||
        !evl_size_multiply(plane, b->planes, &all) || !evl_size_multiply(all, b->element, &plane))
        return false;
    b->copy = b->is_padded ? all : 0;
    return true;
}

static void set_places(evl_bands *b)
{
    const evl_stencil *w = &b->window;
    size_t *to = b->places, across = (size_t)w->out[X];
    for (size_t y = 0; y < b->rows; y++)
        for (size_t x = 0; x < across; x++)
            *to++ = (y * (size_t)w->stride[Y] * b->width + x * (size_t)w->stride[X]) * b->unit;
}

static void set_taps(evl_bands *b)
{
    const evl_stencil *w = &b->window;
    size_t *to = b->taps, kernel = evl_stencil_kernel(w);
    size_t across = (size_t)w->kernel[X], down = (size_t)w->kernel[Y];
    for (size_t plane = 0; plane < b->planes; plane++)
        for (size_t k = 0; k < kernel; k++) {
            size_t z = k / across / down, y = k / across % down, x = k % across;
            size_t slice = plane * b->depth + z * (size_t)w->dilation[Z];
            size_t row = slice * b->height + y * (size_t)w->dilation[Y];
            *to++ = (row * b->width + x * (size_t)w->dilation[X]) * b->unit;
        }
}

EvalStatus evl_bands_of(evl_context *ctx, evl_arena *arena, const evl_stencil *window, size_t unit,
                        size_t planes, size_t element, size_t budget, evl_bands *b)
{
    *b = (evl_bands){ .window = *window, .unit = unit, .planes = planes, .element = element };
    straighten(&b->window);
    turn_row(&b->window);
    for (int d = 0; d < DIMS; d++)
        b->is_padded |= window->begin[d] > 0 || (window->out[d] - 1) * window->stride[d] +
                                                        evl_stencil_reach(window, d) > window->in[d];
    choose_rows(b, budget);
    size_t n_places;
    if (!size_copy(b) || !evl_size_multiply(b->rows, (size_t)b->window.out[X], &n_places) ||
        !evl_size_multiply(evl_stencil_kernel(window), planes, &b->n_taps))
        return evl_no_memory(ctx);
    b->places = evl_arena_take_many(arena, n_places, sizeof *b->places);
    b->taps = evl_arena_take_many(arena, b->n_taps, sizeof *b->taps);
    if (!b->places || !b->taps)
        return evl_no_memory(ctx);
    set_places(b);
    set_taps(b);
    return EVAL_OK;
}

evl_band evl_band_at(const evl_bands *b, size_t index)
{
    size_t across = (size_t)b->window.out[X], height = (size_t)b->window.out[Y];
    size_t slice = index / b->in_slice, row = index % b->in_slice * b->rows;
    size_t rows = height - row < b->rows ? height - row : b->rows;
    return (evl_band){ (int64_t)slice, (int64_t)row, rows, (slice * height + row) * across,
                       rows * across };
}

/* n places of `unit` elements, all the same. */
static char *fill_places(const evl_bands *b, char *to, size_t n, const void *fill)
{
    size_t bytes = n * b->unit * b->element;
    if (!fill)
        memset(to, 0, bytes);
    else
        for (size_t i = 0; i < bytes; i += b->element)
            memcpy(to + i, fill, b->element);
    return to + bytes;
}

static char *copy_row(const evl_bands *b, const char *x, char *to, const void *fill)
{
    const evl_stencil *w = &b->window;
    size_t before = (size_t)w->begin[X] < b->width ? (size_t)w->begin[X] : b->width;
    size_t n = (size_t)w->in[X] < b->width - before ? (size_t)w->in[X] : b->width - before;
    size_t bytes = n * b->unit * b->element;
    to = fill_places(b, to, before, fill);
    memcpy(to, x, bytes);
    return fill_places(b, to + bytes, b->width - before - n, fill);
}

/* The rows of a slice from `first` on, whole: those inside the input lie side by side. */
static char *copy_rows(const evl_bands *b, const char *x, int64_t first, char *to, const void *fill)
{
    const evl_stencil *w = &b->window;
    int64_t height = (int64_t)b->height, from = first < 0 ? 0 : first, end = first + height;
    end = end < w->in[Y] ? end : w->in[Y];
    int64_t n = end > from ? end - from : 0, before = from - first < height ? from - first : height;
    size_t row = b->width * b->unit * b->element, bytes = (size_t)n * row;
    to = fill_places(b, to, (size_t)before * b->width, fill);
    if (n)
        memcpy(to, x + (size_t)from * row, bytes);
    return fill_places(b, to + bytes, (size_t)(height - before - n) * b->width, fill);
}

static char *copy_slice(const evl_bands *b, const char *x, int64_t first, char *to, const void *fill)
{
    const evl_stencil *w = &b->window;
    size_t row = (size_t)w->in[X] * b->unit * b->element;
    if (w->begin[X] == 0 && b->width == (size_t)w->in[X])
        return copy_rows(b, x, first, to, fill);
    for (int64_t y = first; y < first + (int64_t)b->height; y++)
        to = y >= 0 && y < w->in[Y] ? copy_row(b, x + (size_t)y * row, to, fill)
                                    : fill_places(b, to, b->width, fill);
    return to;
}

const void *evl_band_input(const evl_bands *b, const evl_band *band, const void *x, void *copy,
                           const void *fill)
{
    const evl_stencil *w = &b->window;
    int64_t first_z = band->slice * w->stride[Z] - w->begin[Z];
    int64_t first_y = band->row * w->stride[Y] - w->begin[Y];
    size_t place = b->unit * b->element, slice = (size_t)(w->in[Y] * w->in[X]) * place;
    const char *from = x;
    if (!b->is_padded)
        return from + (size_t)((first_z * w->in[Y] + first_y) * w->in[X]) * place;
    char *to = copy;
    for (size_t plane = 0; plane < b->planes; plane++, from += (size_t)w->in[Z] * slice)
        for (int64_t z = first_z; z < first_z + (int64_t)b->depth; z++)
            to = z >= 0 && z < w->in[Z] ? copy_slice(b, from + (size_t)z * slice, first_y, to, fill)
                                        : fill_places(b, to, b->height * b->width, fill);
    return copy;
}
