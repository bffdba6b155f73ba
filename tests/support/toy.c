#include "support/toy.h"
#include "support/support.h"
#include <string.h>

size_t toy_runs;

static EvalStatus run_sum(const evl_call *call)
{
    int64_t *y = call->out[0]->data;
    size_t n = evl_shape_count(&call->out[0]->shape);
    toy_runs++;
    for (size_t i = 0; i < n; i++) {
        int64_t sum = 0;
        for (size_t j = 0; j < call->n_in; j++)
            sum += ((const int64_t *)call->in[j]->data)[i];
        y[i] = sum;
    }
    return EVAL_OK;
}

static EvalStatus infer_flat(evl_infer *infer)
{
    const evl_shape *s = &infer->use.in[0]->shape;
    infer->out[0].type = infer->use.in[0]->type;
    if (evl_shape_is_known(s))
        infer->out[0].shape = evl_shape_of(1, (int64_t[]){ (int64_t)evl_shape_count(s) });
    return EVAL_OK;
}

static EvalStatus run_copy(const evl_call *call)
{
    memcpy(call->out[0]->data, call->in[0]->data,
           evl_shape_count(&call->out[0]->shape) * sizeof(int64_t));
    return EVAL_OK;
}

static EvalStatus infer_range(evl_infer *infer)
{
    infer->out[0].type = EVAL_INT64;
    infer->out[0].shape = evl_shape_of(1, (int64_t[]){ EVL_UNKNOWN_DIM });
    if (infer->use.in[0]->data)
        infer->out[0].shape.dim[0] = evl_tensor_i64(infer->use.in[0], 0);
    return EVAL_OK;
}

static EvalStatus run_range(const evl_call *call)
{
    for (size_t i = 0; i < evl_shape_count(&call->out[0]->shape); i++)
        ((int64_t *)call->out[0]->data)[i] = (int64_t)i;
    return EVAL_OK;
}

static EvalStatus run_fail(const evl_call *call)
{
    return evl_fail(call->ctx, EVAL_ERR_SHAPE, "as it was told to");
}

static const evl_impl sum = { NULL, run_sum }, copy = { NULL, run_copy },
                      range = { NULL, run_range }, fail_always = { NULL, run_fail };

const evl_op toy_sum = { .name = "Sum", .min_inputs = 1, .max_inputs = EVL_ANY_NUMBER,
                         .min_outputs = 1, .max_outputs = 1, .traits = EVL_OP_IN_PLACE,
                         .infer = evl_infer_same, .any = &sum };
const evl_op toy_view = { .name = "View", .min_inputs = 1, .max_inputs = 1, .min_outputs = 1,
                          .max_outputs = 1, .traits = EVL_OP_ALIAS, .infer = infer_flat,
                          .any = &copy };
const evl_op toy_range = { .name = "Range", .min_inputs = 1, .max_inputs = 1, .min_outputs = 1,
                           .max_outputs = 1, .infer = infer_range, .any = &range };
const evl_op toy_fail = { .name = "Fail", .min_inputs = 1, .max_inputs = 1, .min_outputs = 1,
                          .max_outputs = 1, .infer = evl_infer_same, .any = &fail_always };

evl_value *toy_input(evl_graph *g, const char *name, int64_t n)
{
    evl_value *v = evl_graph_value(g, name);
    assert_non_null(v);
    v->t.type = EVAL_INT64;
    v->t.shape = evl_shape_of(1, &n);
    assert_true(evl_graph_add_input(g, v));
    return v;
}

evl_value *toy_constant(evl_graph *g, const char *name, const int64_t *data, int64_t n)
{
    evl_shape shape = evl_shape_of(1, &n);
    void *copied = evl_arena_take(g->arena, (size_t)n * sizeof *data + 1);
    assert_non_null(copied);
    memcpy(copied, data, (size_t)n * sizeof *data);
    evl_value *v = evl_graph_constant(g, name, EVAL_INT64, &shape, copied);
    assert_non_null(v);
    return v;
}

evl_value *toy_node(evl_graph *g, const evl_op *op, const char *name, evl_value *a, evl_value *b)
{
    evl_node *node = evl_graph_node(g, op, name, b ? 2 : 1, 1);
    evl_value *y = evl_graph_value(g, name);
    assert_true(node && y);
    node->inputs[0] = a;
    if (b)
        node->inputs[1] = b;
    evl_node_output(node, 0, y);
    return y;
}
