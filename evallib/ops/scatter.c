/* ScatterElements, ScatterND and Scatter: a copy of the data with updates put, or combined,
** where indices say. Updates are taken one after another, so of several for one place the
** last wins, and sums have one order whatever the number of threads. */
#include "kernels/loops.h"
#include "ops/axes.h"
#include "ops/indices.h"
#include "ops/move.h"
#include "ops/ops.h"
#include <inttypes.h>

typedef struct reduction {
    const char *name;
    evl_binary_kind kind, of_bool; /* sums and products of truth values: or, and */
} reduction;

static const reduction reductions[] = { { "add", EVL_ADD, EVL_MAX },
                                        { "mul", EVL_MUL, EVL_MIN },
                                        { "max", EVL_MAX, EVL_MAX },
                                        { "min", EVL_MIN, EVL_MIN } };

typedef struct state {
    evl_binary_loop *combine; /* NULL: an update replaces what was there */
} state;

static EvalStatus find_combine(const evl_prepare *p, const char *name, evl_binary_loop **combine)
{
    EvalType type = p->out[0]->type;
    const evl_loops *loops = p->machine->loops[type];
    for (size_t i = 0; i < sizeof reductions / sizeof reductions[0]; i++) {
        const reduction *r = &reductions[i];
        if (strcmp(name, r->name) != 0)
            continue;
        *combine = loops ? loops->binary[type == EVAL_BOOL ? r->of_bool : r->kind] : NULL;
        if (*combine)
            return EVAL_OK;
        return evl_fail(p->ctx, EVAL_ERR_TYPE, "reduction '%s' is not offered for %s", name,
                        evl_type_name(type));
    }
    return evl_fail(p->ctx, EVAL_ERR_UNSUPPORTED,
                    "reduction '%s' is none of none, add, mul, max, min", name);
}

static EvalStatus prepare_scatter(evl_prepare *p)
{
    const char *name = evl_node_text(p->use.node, "reduction", "none");
    state *s = evl_arena_take(p->arena, sizeof *s);
    if (!s)
        return evl_no_memory(p->ctx);
    p->state = s;
    return strcmp(name, "none") == 0 ? EVAL_OK : find_combine(p, name, &s->combine);
}

static EvalStatus check_updates(evl_infer *x, const evl_shape *wanted)
{
    const evl_tensor *updates = x->use.in[2];
    char a[EVL_SHAPE_TEXT], b[EVL_SHAPE_TEXT];
    bool fits = updates->shape.rank == wanted->rank;
    if (updates->type != x->use.in[0]->type && updates->type != EVAL_UNDEFINED)
        return evl_fail(x->ctx, EVAL_ERR_TYPE, "the updates are %s, the data %s",
                        evl_type_name(updates->type), evl_type_name(x->use.in[0]->type));
    if (updates->shape.rank < 0 || wanted->rank < 0)
        return EVAL_OK;
    for (int32_t d = 0; fits && d < wanted->rank; d++)
        fits = updates->shape.dim[d] == wanted->dim[d] || updates->shape.dim[d] < 0 ||
               wanted->dim[d] < 0;
    if (fits)
        return EVAL_OK;
    return evl_fail(x->ctx, EVAL_ERR_SHAPE, "the updates have shape %s, the indices need %s",
                    evl_shape_text(&updates->shape, a), evl_shape_text(wanted, b));
}

static EvalStatus infer_scatter_elements(evl_infer *x)
{
    EvalStatus st = evl_lines_infer(x, 1);
    x->out[0].type = x->use.in[0]->type;
    x->out[0].shape = x->use.in[0]->shape;
    return st ? st : check_updates(x, &x->use.in[1]->shape);
}

static void put(const state *s, size_t n, size_t size, const void *update, void *to)
{
    if (s->combine)
        s->combine(n, to, 1, update, 1, to);
    else
        evl_move_bytes(to, update, n * size);
}

static EvalStatus run_scatter_elements(const evl_call *call)
{
    const evl_tensor *data = call->in[0], *indices = call->in[1], *updates = call->in[2];
    size_t size = evl_type_size(data->type);
    char *to = call->out[0]->data;
    const char *from = updates->data;
    evl_lines l;
    EvalStatus st = evl_lines_of(call->ctx, call->node, data, indices, &l);
    if (st)
        return st;
    evl_move_all(call->machine, data, call->out[0]);
    if (evl_shape_count(&indices->shape) == 0)
        return EVAL_OK;
    for (size_t row = 0; row < l.n_rows; row++) {
        size_t start = evl_lines_start(&l, row);
        for (size_t j = 0; j < l.n_columns; j++, from += size)
            put(call->state, 1, size, from, to + evl_lines_offset(&l, start, row, j) * size);
    }
    return EVAL_OK;
}

static EvalStatus infer_scatter_nd(evl_infer *x)
{
    evl_shape blocks;
    EvalStatus st = evl_tuples_infer(x, 0, &blocks);
    x->out[0].type = x->use.in[0]->type;
    x->out[0].shape = x->use.in[0]->shape;
    return st ? st : check_updates(x, &blocks);
}

static EvalStatus run_scatter_nd(const evl_call *call)
{
    const evl_tensor *data = call->in[0];
    size_t size = evl_type_size(data->type);
    char *to = call->out[0]->data;
    const char *from = call->in[2]->data;
    evl_tuples t;
    EvalStatus st = evl_tuples_of(call->ctx, data, call->in[1], 0, &t);
    if (st)
        return st;
    evl_move_all(call->machine, data, call->out[0]);
    if (evl_shape_count(&call->in[2]->shape) == 0)
        return EVAL_OK;
    for (size_t i = 0; i < t.n; i++, from += t.inner * size)
        put(call->state, t.inner, size, from, to + evl_tuples_offset(&t, i) * size);
    return EVAL_OK;
}

static const evl_impl elements_impl = { prepare_scatter, run_scatter_elements };
static const evl_impl nd_impl = { prepare_scatter, run_scatter_nd };

const evl_op evl_op_scatter_elements = { .name = "ScatterElements",
                                         .min_inputs = 3,
                                         .max_inputs = 3,
                                         .min_outputs = 1,
                                         .max_outputs = 1,
                                         .infer = infer_scatter_elements,
                                         .any = &elements_impl };
const evl_op evl_op_scatter_nd = { .name = "ScatterND",
                                   .min_inputs = 3,
                                   .max_inputs = 3,
                                   .min_outputs = 1,
                                   .max_outputs = 1,
                                   .infer = infer_scatter_nd,
                                   .any = &nd_impl };
/* What ScatterElements was called before opset 11. */
static const evl_op scatter = { .name = "Scatter",
                                .min_inputs = 3,
                                .max_inputs = 3,
                                .min_outputs = 1,
                                .max_outputs = 1,
                                .infer = infer_scatter_elements,
                                .any = &elements_impl };

const evl_op *const evl_ops_scatter[] = { &evl_op_scatter_elements, &evl_op_scatter_nd, &scatter,
                                          NULL };
