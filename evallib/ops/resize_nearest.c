/* Resize that picks one element for each position, of any type: rows along the last axis that
** changes; what lies behind it goes as it is. */
#include "ops/elementwise.h"
#include "ops/lines.h"
#include "ops/resize.h"
#include <string.h>

enum { ROWS = 8 }; /* made one after another */

typedef struct rows {
    const evl_resize *r;
    int32_t last; /* the axis that rows go along */
    size_t bytes; /* of what lies behind one position of it */
    size_t n;     /* of rows */
    const char *x;
    char *y;
} rows;

/* Only `size` differs: each memcpy becomes a load and a store. */
static inline void pick(size_t size, const evl_taps *t, const char *x, char *y)
{
    const size_t *index = t->index, n = t->n_out;
    for (size_t j = 0; j < n; j++)
        memcpy(y + j * size, x + index[j] * size, size);
}

static void pick_row(size_t size, const evl_taps *t, const char *x, char *y)
{
    switch (size) {
    case 1: pick(1, t, x, y); return;
    case 2: pick(2, t, x, y); return;
    case 4: pick(4, t, x, y); return;
    case 8: pick(8, t, x, y); return;
    default: pick(size, t, x, y); return;
    }
}

/* The row of the source that row `row` comes from. */
static size_t source_row(const rows *s, size_t row)
{
    size_t from = 0, step = 1;
    for (int32_t d = s->last; d-- > 0;) {
        const evl_taps *t = &s->r->axis[d];
        size_t at = row % t->n_out;
        row /= t->n_out;
        from += (t->is_used ? t->index[at] : at) * step;
        step *= t->n_in;
    }
    return from;
}

/* A row that comes from where the one before came from is a copy of that. */
static void do_rows(void *arg, size_t part)
{
    const rows *s = arg;
    const evl_taps *t = &s->r->axis[s->last];
    size_t row = part * ROWS, end = row + ROWS < s->n ? row + ROWS : s->n;
    size_t n = t->n_out * s->bytes, before = SIZE_MAX;
    for (char *y = s->y + row * n; row < end; row++, y += n) {
        size_t source = source_row(s, row);
        if (source == before)
            memcpy(y, y - n, n);
        else
            pick_row(s->bytes, t, s->x + source * t->n_in * s->bytes, y);
        before = source;
    }
}

static void extrapolate(const evl_resize *r, const evl_tensor *out)
{
    size_t size = evl_type_size(out->type), n = evl_shape_count(&out->shape);
    char value[16] = { 0 };
    (void)evl_convert(1, EVAL_FLOAT64, &r->extrapolation, out->type, value);
    for (size_t i = 0; i < n; i++) {
        bool is_outside = false;
        size_t rest = i;
        for (int32_t d = r->rank; d-- > 0; rest /= r->axis[d].n_out)
            is_outside = is_outside ||
                         (r->axis[d].is_used && r->axis[d].is_outside[rest % r->axis[d].n_out]);
        if (is_outside)
            memcpy((char *)out->data + i * size, value, size);
    }
}

EvalStatus evl_resize_nearest(const evl_call *call)
{
    const evl_resize *r = call->state;
    const evl_tensor *in = call->in[0], *out = call->out[0];
    size_t n = evl_shape_count(&out->shape), size = evl_type_size(out->type);
    rows s = { .r = r, .last = r->rank - 1, .x = in->data, .y = out->data };
    while (s.last >= 0 && !r->axis[s.last].is_used)
        s.last--;
    if (n && s.last < 0)
        memcpy(out->data, in->data, n * size);
    if (n == 0 || s.last < 0)
        return EVAL_OK;
    s.bytes = evl_resize_count(r, s.last + 1, r->rank, true) * size;
    s.n = evl_resize_count(r, 0, s.last, true);
    evl_each_for((s.n - 1) / ROWS + 1, ROWS * r->axis[s.last].n_out * s.bytes / size,
                 call->machine->pool, do_rows, &s);
    if (r->has_outside)
        extrapolate(r, out);
    return EVAL_OK;
}
