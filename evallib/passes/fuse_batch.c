/* BatchNormalization behind a convolution becomes part of its weights: scale * (w x + b) + bias.
**
** For graphs that are saved. A plan has the convolution do it (block.c), which spares it weights of
** its own. What others read too stays as it is: a file is not to grow. */
#include "ops/ops.h"
#include "passes/match.h"
#include "passes/passes.h"

enum { X, W, B, CONV_INPUTS };

static bool is_own_constant(const evl_value *v, EvalType real)
{
    return v->is_constant && v->t.data && v->t.type == real && v->slot == 1;
}

/* The convolution that the BatchNormalization is done with; NULL: it stands for itself. */
static const evl_node *convolved(const evl_node *batch)
{
    EvalType real = batch->graph->real;
    const evl_value *y = batch->n_inputs ? batch->inputs[0] : NULL;
    const evl_node *conv = y ? evl_match_made(y, &evl_op_conv) : NULL;
    if (!conv || y->slot != 1 || conv->graph != batch->graph || conv->n_inputs > CONV_INPUTS ||
        !is_own_constant(conv->inputs[W], real) || conv->inputs[W]->t.shape.rank < 1)
        return NULL;
    const evl_value *bias = conv->n_inputs > B ? conv->inputs[B] : NULL;
    if (bias && !(is_own_constant(bias, real) &&
                  evl_shape_count(&bias->t.shape) == (size_t)conv->inputs[W]->t.shape.dim[0]))
        return NULL;
    return evl_match_batch(batch, (size_t)conv->inputs[W]->t.shape.dim[0]) ? conv : NULL;
}

static evl_value *new_constant(evl_graph *g, const evl_shape *shape)
{
    void *data = evl_arena_take_many(g->arena, evl_shape_count(shape) + 1, evl_type_size(g->real));
    evl_value *v = data ? evl_graph_constant(g, NULL, g->real, shape, data) : NULL;
    if (v)
        v->t.life = EVL_LIFE_PLAN;
    return v;
}

/* One output channel's weights, by way of `room`; its bias. */
static void fuse_channel(const evl_node *conv, const evl_node *batch, size_t channel, double *room,
                         evl_value *w, evl_value *b)
{
    const evl_tensor *given = &conv->inputs[W]->t;
    const evl_value *bias_given = conv->n_inputs > B ? conv->inputs[B] : NULL;
    size_t n = evl_shape_count_part(&given->shape, 1, given->shape.rank), size = evl_type_size(w->t.type),
           at = channel * n * size;
    double scale, bias;
    evl_match_batch_at(batch, channel, &scale, &bias);
    (void)evl_convert(n, given->type, (const char *)given->data + at, EVAL_FLOAT64, room);
    for (size_t i = 0; i < n; i++)
        room[i] *= scale;
    (void)evl_convert(n, EVAL_FLOAT64, room, w->t.type, (char *)w->t.data + at);
    if (bias_given)
        bias += scale * evl_tensor_f64(&bias_given->t, channel);
    (void)evl_convert(1, EVAL_FLOAT64, &bias, b->t.type, (char *)b->t.data + channel * size);
}

static EvalStatus fuse(void *ctx, evl_node *batch)
{
    const evl_node *conv = convolved(batch);
    if (!conv)
        return EVAL_OK;
    const evl_shape *shape = &conv->inputs[W]->t.shape;
    evl_shape channels = evl_shape_of(1, shape->dim);
    evl_value *w = new_constant(batch->graph, shape), *b = new_constant(batch->graph, &channels);
    double *room = evl_arena_take_many(batch->graph->arena, evl_shape_count_part(shape, 1, shape->rank) + 1,
                                       sizeof *room);
    if (!w || !b || !room)
        return evl_no_memory(ctx);
    for (size_t i = 0; i < (size_t)shape->dim[0]; i++)
        fuse_channel(conv, batch, i, room, w, b);
    if (!evl_match_become(batch, &evl_op_conv, (evl_value *[]){ conv->inputs[X], w, b }, CONV_INPUTS,
                          conv->attributes, conv->n_attributes))
        return evl_no_memory(ctx);
    batch->version = conv->version;
    batch->n_outputs = 1;
    return EVAL_OK;
}

EvalStatus evl_pass_fuse_batch(evl_context *ctx, const evl_pass_env *env, evl_graph *graph)
{
    (void)env;
    evl_match_count(graph);
    return evl_match_each(graph, fuse, ctx);
}
