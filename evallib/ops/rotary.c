/* RotaryEmbedding, of ONNX 23 and of com.microsoft, which has the positions before the
** tables. */
#include "ops/rotary.h"
#include "ops/axes.h"
#include "ops/operands.h"
#include "ops/ops.h"

static bool is_microsoft(const evl_node *node)
{
    return node->op->domain != NULL;
}

/* A head's elements follow from the tables when no attribute says them. */
static int64_t heads_of(const evl_use *use, const evl_shape *table)
{
    int64_t n = evl_node_int(use->node, "num_heads", 0), width = table->dim[table->rank - 1] * 2;
    int64_t hidden = use->in[0]->shape.dim[2];
    if (n > 0 || evl_node_int(use->node, "rotary_embedding_dim", 0) != 0 || width < 1)
        return n;
    return hidden / width;
}

static EvalStatus take_shape(evl_context *ctx, const evl_use *use, evl_rotary *x)
{
    const evl_shape *s = &use->in[0]->shape, *table = &use->in[x->cos]->shape;
    if (s->rank == 4) {
        x->heads = (size_t)s->dim[1];
        x->rows = (size_t)s->dim[2];
        x->size = (size_t)s->dim[3];
        x->row = x->size;
        x->head = x->rows * x->size;
    } else {
        int64_t n = heads_of(use, table);
        if (n < 1 || s->dim[2] % n != 0)
            return evl_fail(ctx, EVAL_ERR_SHAPE, "rows of %lld do not divide into %lld heads",
                            (long long)s->dim[2], (long long)n);
        x->heads = (size_t)n;
        x->rows = (size_t)s->dim[1];
        x->size = (size_t)(s->dim[2] / n);
        x->row = (size_t)s->dim[2];
        x->head = x->size;
    }
    x->samples = (size_t)s->dim[0];
    x->sample = x->rows * x->heads * x->size;
    int64_t turned = evl_node_int(use->node, "rotary_embedding_dim", 0);
    x->turned = turned > 0 ? (size_t)turned : x->size;
    if (x->turned <= x->size && x->turned % 2 == 0)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE, "%zu of %zu elements of a head cannot be turned in pairs",
                    x->turned, x->size);
}

/* Tables of [positions, pairs] looked up, or of [samples, rows, pairs]. */
static EvalStatus take_tables(evl_context *ctx, const evl_use *use, evl_rotary *x)
{
    const evl_tensor *position = evl_use_in(use, x->position);
    size_t rows = x->samples * x->rows, half = x->turned / 2;
    for (size_t i = 0; i < 2; i++) {
        const evl_shape *s = &use->in[i ? x->sin : x->cos]->shape;
        bool fits = s->rank == (position ? 2 : 3) && (size_t)s->dim[s->rank - 1] == half &&
                    (position || evl_shape_count(s) == rows * half);
        char text[EVL_SHAPE_TEXT];
        if (!fits)
            return evl_fail(ctx, EVAL_ERR_SHAPE, "a table has shape %s, expected rows of %zu",
                            evl_shape_text(s, text), half);
    }
    if (!position)
        return EVAL_OK;
    x->n_positions = (size_t)use->in[x->cos]->shape.dim[0];
    if (use->in[x->sin]->shape.dim[0] != use->in[x->cos]->shape.dim[0])
        return evl_fail(ctx, EVAL_ERR_SHAPE, "the tables have different numbers of positions");
    size_t n = evl_shape_count(&position->shape);
    x->is_offset = is_microsoft(use->node) && n == 1;
    if (n == rows || x->is_offset)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE, "position_ids has %zu elements, expected %zu", n, rows);
}

EvalStatus evl_rotary_of(evl_context *ctx, const evl_use *use, evl_rotary *x)
{
    size_t first = is_microsoft(use->node) ? 2 : 1, position = is_microsoft(use->node) ? 1 : 3;
    *x = (evl_rotary){ .cos = first, .sin = first + 1,
                       .position = evl_use_in(use, position) ? position : SIZE_MAX,
                       .interleaved = evl_node_int(use->node, "interleaved", 0) != 0 };
    EvalStatus st = take_shape(ctx, use, x);
    return st == EVAL_OK ? take_tables(ctx, use, x) : st;
}

static EvalStatus infer(evl_infer *x)
{
    size_t first = is_microsoft(x->use.node) ? 2 : 1;
    EvalStatus st = evl_infer_rank(x, 0, 3, 4);
    for (size_t i = 0; i < 2 && st == EVAL_OK; i++)
        st = evl_infer_rank(x, first + i, 2, 3);
    if (st == EVAL_OK)
        st = evl_index_type_check(x->ctx, &x->use, is_microsoft(x->use.node) ? 1 : 3);
    return st == EVAL_OK ? evl_infer_same(x) : st;
}

extern const evl_impl evl_rotary_f, evl_rotary_d;

static const evl_op op_rotary = {
    .name = "RotaryEmbedding",
    .min_inputs = 3,
    .max_inputs = 4,
    .min_outputs = 1,
    .max_outputs = 1,
    .infer = infer,
    .real = { [EVL_FLOAT] = &evl_rotary_f, [EVL_DOUBLE] = &evl_rotary_d },
};
static const evl_op op_microsoft = {
    .name = "RotaryEmbedding",
    .domain = "com.microsoft",
    .min_inputs = 4,
    .max_inputs = 4,
    .min_outputs = 1,
    .max_outputs = 1,
    .infer = infer,
    .real = { [EVL_FLOAT] = &evl_rotary_f, [EVL_DOUBLE] = &evl_rotary_d },
};

const evl_op *const evl_ops_rotary[] = { &op_rotary, &op_microsoft, NULL };
