/* source.c - where values come from: the caller, parameters, means computed in training. */
#include "readers/cntk/maker.h"
#include <string.h>

/* CNTK's dimensions the other way round, after `frames` axes that are left alone; false
** when one is impossible. A shape of no dimension is one element: in v1, where nothing has
** rank 0, a dimension of 1. */
static bool shape_of(const evl_cntk_maker *k, const evl_cntk_list *dims, size_t frames,
                     evl_shape *shape)
{
    bool may_be_open = k->model->has_free_dims;
    shape->rank = (int32_t)(dims->n + frames);
    for (size_t i = 0; i < dims->n; i++) {
        shape->dim[frames + dims->n - 1 - i] = dims->at[i];
        if (dims->at[i] < 1 && !(may_be_open && dims->at[i] == EVL_UNKNOWN_DIM))
            return false;
    }
    if (dims->n == 0 && !may_be_open) {
        shape->rank = (int32_t)frames + 1;
        shape->dim[frames] = 1;
    }
    return true;
}

static evl_value *checked(evl_cntk_maker *k, evl_value *v)
{
    if (!v)
        k->b.status = evl_no_memory(k->b.ctx);
    else
        k->b.status = evl_shape_check(k->b.ctx, &v->t.shape, evl_type_size(v->t.type));
    return k->b.status == EVAL_OK ? v : NULL;
}

evl_value *evl_cntk_input(evl_cntk_maker *k)
{
    evl_shape shape = { .rank = 0 };
    bool has_frames = !k->node->f.is_static;
    if (!shape_of(k, &k->node->f.shape, has_frames, &shape))
        return evl_cntk_fail(k, EVAL_ERR_FORMAT, "an input with a dimension of 0");
    if (has_frames)
        shape.dim[0] = EVL_UNKNOWN_DIM;
    evl_value *v = evl_graph_value(k->b.graph, k->node->name);
    if (v) {
        v->t.type = k->node->real;
        v->t.shape = shape;
        v->has_frames = has_frames;
        v->is_sparse = k->node->f.is_sparse || k->node->op->operator;
        v->frames_axis = (uint8_t)k->node->f.frames_axis;
    }
    return checked(k, v);
}

static evl_value *constant(evl_cntk_maker *k, const evl_shape *shape)
{
    const evl_cntk_matrix *m = &k->node->f.matrix;
    void *data;
    memcpy(&data, &m->data, sizeof data); /* constants are only read */
    EvalStatus st = evl_shape_check(k->b.ctx, shape, evl_type_size(m->type));
    if (st != EVAL_OK) {
        k->b.status = st;
        return NULL;
    }
    if (evl_shape_count(shape) != m->rows * m->cols)
        return evl_cntk_fail(k, EVAL_ERR_FORMAT, "a shape of %zu elements, and %llu x %llu values",
                             evl_shape_count(shape), (unsigned long long)m->rows,
                             (unsigned long long)m->cols);
    return checked(k, evl_graph_constant(k->b.graph, k->node->name, m->type, shape, data));
}

evl_value *evl_cntk_parameter(evl_cntk_maker *k)
{
    evl_shape shape = { .rank = 0 };
    if (!shape_of(k, &k->node->f.shape, 0, &shape))
        return evl_cntk_fail(k, EVAL_ERR_FORMAT, "a parameter with a dimension of 0");
    return constant(k, &shape);
}

/* Mean and InvStdDev of their operand, computed when the network was trained. */
evl_value *evl_cntk_computed(evl_cntk_maker *k)
{
    int64_t size = (int64_t)(k->node->f.matrix.rows * k->node->f.matrix.cols);
    evl_cntk_list flat = { 1, &size };
    evl_shape shape = { .rank = 0 };
    if (!shape_of(k, &flat, 0, &shape))
        return evl_cntk_fail(k, EVAL_ERR_FORMAT, "it holds no value");
    const evl_value *of = k->node->n_inputs > 0 ? k->in[0] : NULL;
    if (of && evl_cntk_sample_size(of) == size && evl_cntk_rank(of) > 0) {
        shape.rank = (int32_t)evl_cntk_rank(of);
        memcpy(shape.dim, of->t.shape.dim + of->has_frames, (size_t)shape.rank * sizeof *shape.dim);
    }
    return constant(k, &shape);
}

/* What the surroundings say, of which CNTK knows one thing: whether the network is being trained. */
evl_value *evl_cntk_environment(evl_cntk_maker *k)
{
    static const evl_shape one = { .rank = 1, .dim = { 1 } };
    if (strcmp(k->node->f.word, "isTraining") != 0)
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "the surroundings have no \"%s\"",
                             k->node->f.word);
    void *zero = evl_arena_take(k->b.graph->arena, sizeof(double));
    return checked(k, zero ? evl_graph_constant(k->b.graph, k->node->name, EVAL_FLOAT64, &one, zero)
                           : NULL);
}
