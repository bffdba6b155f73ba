/* Broadcasting: collapsing of dimensions, and the walk over what is left. */
#include "ops/broadcast.h"
#include "ops/elementwise.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <string.h>

/* The step of each input along dimension d of the output, from its own contiguous steps. */
static void steps_of(const evl_shape *out, const evl_shape *in, size_t step[EVAL_MAX_RANK])
{
    int32_t lead = out->rank - in->rank;
    size_t next = 1;
    for (int32_t d = out->rank; d-- > 0;) {
        size_t size = d >= lead ? (size_t)in->dim[d - lead] : 1;
        step[d] = size == 1 ? 0 : next;
        next *= size;
    }
}

/* Whether dimension d and the one collected last are one for that input. */
static bool is_one(const evl_broadcast *b, size_t input, size_t step, int32_t last)
{
    return step == b->step[input][last] * b->dim[last];
}

static bool is_joined(const evl_broadcast *b, size_t step[][EVAL_MAX_RANK], int32_t d)
{
    for (size_t i = 0; i < b->n_in; i++)
        if (!is_one(b, i, step[i][d], b->rank - 1))
            return false;
    return true;
}

static void reverse(size_t *v, int32_t n)
{
    for (int32_t i = 0; i < n / 2; i++) {
        size_t other = v[n - 1 - i];
        v[n - 1 - i] = v[i];
        v[i] = other;
    }
}

void evl_broadcast_make(evl_broadcast *b, const evl_shape *out, const evl_shape *const *in,
                        size_t n_in)
{
    size_t step[EVL_BROADCAST_INPUTS][EVAL_MAX_RANK];
    *b = (evl_broadcast){ .n_in = n_in, .count = evl_shape_count(out) };
    for (size_t i = 0; i < n_in; i++)
        steps_of(out, in[i], step[i]);
    for (int32_t d = out->rank; d-- > 0;) { /* innermost first */
        size_t n = (size_t)out->dim[d];
        if (n == 1)
            continue;
        if (b->rank > 0 && is_joined(b, step, d)) {
            b->dim[b->rank - 1] *= n;
            continue;
        }
        for (size_t i = 0; i < n_in; i++)
            b->step[i][b->rank] = step[i][d];
        b->dim[b->rank++] = n;
    }
    if (b->rank == 0)
        b->dim[b->rank++] = 1;
    reverse(b->dim, b->rank);
    for (size_t i = 0; i < n_in; i++)
        reverse(b->step[i], b->rank);
}

/* Where element `to` of the output comes from; gives how far it is along the last dimension. */
static size_t locate(const evl_broadcast *b, evl_broadcast_run *run)
{
    size_t rest = run->to, along = 0;
    memset(run->at, 0, sizeof run->at);
    for (int32_t d = b->rank; d-- > 0; rest /= b->dim[d]) {
        size_t index = rest % b->dim[d];
        along = d == b->rank - 1 ? index : along;
        for (size_t i = 0; i < b->n_in; i++)
            run->at[i] += index * b->step[i][d];
    }
    return along;
}

void evl_broadcast_part(const evl_broadcast *b, size_t from, size_t to, evl_broadcast_work *work,
                        void *arg)
{
    evl_broadcast_run run = { .to = from };
    size_t inner = b->dim[b->rank - 1];
    for (size_t i = 0; i < b->n_in; i++)
        run.step[i] = b->step[i][b->rank - 1];
    while (run.to < to) {
        size_t left = inner - locate(b, &run);
        run.n = left < to - run.to ? left : to - run.to;
        work(arg, &run);
        run.to += run.n;
    }
}

typedef struct walking {
    const evl_broadcast *b;
    evl_broadcast_work *work;
    void *arg;
} walking;

static void walk_tile(void *arg, size_t tile, size_t lane)
{
    const walking *w = arg;
    size_t n = w->b->count;
    (void)lane;
    evl_broadcast_part(w->b, evl_tile_start(n, tile), evl_tile_start(n, tile + 1), w->work, w->arg);
}

void evl_broadcast_for(const evl_broadcast *b, evl_pool *pool, evl_broadcast_work *work, void *arg)
{
    walking w = { b, work, arg };
    if (b->count)
        evl_parallel_for(pool, evl_tile_count(b->count), walk_tile, &w);
}

/* Before opset 7 input 1's dimensions stand at `axis` of input 0's (default: at its end);
** PRelu's slope, without that attribute, stands at the channels. */
static bool is_placed(const evl_use *use, int64_t *axis)
{
    const evl_shape *a = &use->in[0]->shape, *b = &use->in[1]->shape;
    bool is_prelu = use->node->op == &evl_op_prelu;
    if (use->node->version >= 7 || a->rank < 0 || b->rank < 0 || b->rank > a->rank)
        return false;
    if (!is_prelu && !evl_node_int(use->node, "broadcast", 0))
        return false;
    *axis = is_prelu ? 1 : evl_node_int(use->node, "axis", a->rank - b->rank);
    *axis += *axis < 0 ? a->rank : 0;
    return *axis >= 0 && *axis + b->rank <= a->rank;
}

evl_shape evl_broadcast_shape(const evl_use *use, size_t input)
{
    evl_shape shape = use->in[input]->shape;
    int64_t axis;
    if (input != 1 || use->n_in != 2 || !is_placed(use, &axis))
        return shape;
    while (shape.rank < use->in[0]->shape.rank - axis)
        shape.dim[shape.rank++] = 1;
    return shape;
}

void evl_broadcast_operands(evl_broadcast *b, const evl_prepare *p, size_t n_in)
{
    evl_shape shape[EVL_BROADCAST_INPUTS];
    const evl_shape *at[EVL_BROADCAST_INPUTS];
    for (size_t i = 0; i < n_in; i++) {
        shape[i] = evl_broadcast_shape(&p->use, i);
        at[i] = &shape[i];
    }
    evl_broadcast_make(b, &p->out[0]->shape, at, n_in);
}

typedef struct binary_arrays {
    const evl_binary_step *step;
    const char *a, *b;
    char *y;
} binary_arrays;

static void apply_run(void *arg, const evl_broadcast_run *run)
{
    const binary_arrays *x = arg;
    size_t size = x->step->size;
    x->step->loop(run->n, x->a + run->at[0] * size, run->step[0], x->b + run->at[1] * size,
                  run->step[1], x->y + run->to * size);
}

void evl_binary_apply(const evl_machine *machine, const evl_binary_step *step, const void *a,
                      const void *b, void *y)
{
    binary_arrays arrays = { step, a, b, y };
    evl_broadcast_for(&step->shape, machine->pool, apply_run, &arrays);
}

static void binary_part(const evl_call *call, size_t from, size_t to)
{
    const evl_binary_step *step = call->state;
    binary_arrays arrays = { step, call->in[0]->data, call->in[1]->data, call->out[0]->data };
    evl_broadcast_part(&step->shape, from, to, apply_run, &arrays);
}

EvalStatus evl_binary_run(const evl_call *call)
{
    return evl_parts_run(call, binary_part);
}

EvalStatus evl_binary_prepare(evl_prepare *p, evl_binary_kind kind)
{
    evl_binary_step *step = evl_arena_take(p->arena, sizeof *step);
    if (!step)
        return evl_no_memory(p->ctx);
    evl_broadcast_operands(&step->shape, p, 2);
    step->loop = evl_loops_of(p, 0)->binary[kind];
    step->size = evl_type_size(p->use.in[0]->type);
    p->state = step;
    p->part = binary_part;
    return step->loop ? EVAL_OK : evl_no_arithmetic(p->ctx, p->use.in[0]->type);
}

EvalStatus evl_infer_binary(evl_infer *x)
{
    evl_shape a = evl_broadcast_shape(&x->use, 0), b = evl_broadcast_shape(&x->use, 1);
    EvalStatus st = evl_infer_one_type(x, 2);
    if (st != EVAL_OK)
        return st;
    x->out[0].type = x->use.in[0]->type;
    return evl_shape_broadcast(x->ctx, &a, &b, &x->out[0].shape);
}
