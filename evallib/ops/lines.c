/* Work along an axis, cut for threads. */
#include "ops/lines.h"

enum { TILE = 1 << 14, WHOLE = 1 << 16, COLUMNS = 128 };

evl_lines evl_lines_along(const evl_shape *s, int32_t axis)
{
    return (evl_lines){ evl_shape_count_part(s, 0, axis), (size_t)s->dim[axis],
                        evl_shape_count_part(s, axis + 1, s->rank) };
}

evl_lines evl_lines_from(const evl_shape *s, int32_t axis)
{
    return (evl_lines){ evl_shape_count_part(s, 0, axis), evl_shape_count_part(s, axis, s->rank),
                        1 };
}

typedef struct each_tiles {
    size_t n, per_tile;
    evl_each_work *work;
    void *arg;
} each_tiles;

static void each_tile(void *arg, size_t tile, size_t lane)
{
    const each_tiles *t = arg;
    size_t from = tile * t->per_tile, end = from + t->per_tile;
    (void)lane;
    for (size_t i = from; i < end && i < t->n; i++)
        t->work(t->arg, i);
}

void evl_each_for(size_t n, size_t each, evl_pool *pool, evl_each_work *work, void *arg)
{
    each_tiles t = { n, each < TILE ? TILE / (each ? each : 1) : 1, work, arg };
    if (n == 0)
        return;
    if (each <= WHOLE / n)
        t.per_tile = n;
    evl_parallel_for(pool, (n - 1) / t.per_tile + 1, each_tile, &t);
}

typedef struct lines_parts {
    const evl_lines *lines;
    size_t width, n_across; /* lines side by side in a part; parts across */
    evl_lines_work *work;
    void *arg;
} lines_parts;

static void each_part(void *arg, size_t i)
{
    const lines_parts *p = arg;
    const evl_lines *l = p->lines;
    size_t outer = i / p->n_across, from = i % p->n_across * p->width;
    evl_lines_part part = { .at = { l->n, l->inner, l->inner - from } };
    part.at.inner = part.at.inner < p->width ? part.at.inner : p->width;
    part.x = outer * l->n * l->inner + from;
    part.y = outer * l->inner + from;
    p->work(p->arg, &part);
}

void evl_lines_for(const evl_lines *l, evl_pool *pool, evl_lines_work *work, void *arg)
{
    lines_parts p = { l, l->inner, 1, work, arg };
    if (l->outer == 0 || l->inner == 0)
        return;
    if (l->n && l->inner > TILE / l->n) {
        size_t width = TILE / l->n / COLUMNS * COLUMNS;
        p.width = width ? width : COLUMNS;
        p.n_across = (l->inner - 1) / p.width + 1;
    }
    evl_each_for(l->outer * p.n_across, l->n * p.width, pool, each_part, &p);
}

typedef struct axis_arrays {
    const evl_axis_step *step;
    const char *x;
    char *y;
    size_t size;
} axis_arrays;

static void axis_part(void *arg, const evl_lines_part *part)
{
    const axis_arrays *a = arg;
    a->step->loop(part->at, a->x + part->x * a->size, a->y + part->x * a->size, a->step->p);
}

void evl_axis_apply(const evl_call *call, const evl_axis_step *step)
{
    axis_arrays arrays = { step, call->in[0]->data, call->out[0]->data,
                           evl_type_size(call->in[0]->type) };
    evl_lines_for(&step->lines, call->machine->pool, axis_part, &arrays);
}
