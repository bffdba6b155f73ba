/* Gather, GatherElements, GatherND: elements and blocks picked by indices. */
#include "ops/axes.h"
#include "ops/indices.h"
#include "ops/ops.h"
#include <inttypes.h>

enum { TILE = 65536 }; /* elements */

/* Blocks of n elements that one tile moves; depends on the sizes alone. */
static size_t blocks_a_tile(size_t n)
{
    return n >= TILE ? 1 : TILE / (n > 0 ? n : 1);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void run_tiles(const evl_call *call, size_t n_blocks, size_t each, evl_tile_work *work,
                      void *job)
{
    if (n_blocks > 0)
        evl_parallel_for(call->machine->pool, (n_blocks - 1) / each + 1, work, job);
}

static EvalStatus infer_gather(evl_infer *x)
{
    const evl_shape *data = &x->use.in[0]->shape, *indices = &x->use.in[1]->shape;
    evl_shape *out = &x->out[0].shape;
    int32_t axis;
    EvalStatus st = evl_index_type_check(x->ctx, &x->use, 1);
    x->out[0].type = x->use.in[0]->type;
    if (st || data->rank < 0)
        return st;
    if ((st = evl_axis(x->ctx, "axis", evl_node_int(x->use.node, "axis", 0), data->rank, &axis)))
        return st;
    if (indices->rank < 0)
        return EVAL_OK;
    if ((st = evl_rank_check(x->ctx, (size_t)data->rank - 1 + (size_t)indices->rank)))
        return st;
    *out = evl_shape_of((size_t)axis, data->dim);
    for (int32_t d = 0; d < indices->rank; d++)
        out->dim[out->rank++] = indices->dim[d];
    for (int32_t d = axis + 1; d < data->rank; d++)
        out->dim[out->rank++] = data->dim[d];
    return EVAL_OK;
}

typedef struct gather {
    const char *from;
    char *to;
    const evl_tensor *indices;
    int64_t axis_size;
    size_t n_indices, n_blocks, each; /* blocks in all, blocks a tile */
    size_t bytes;                     /* of a block */
} gather;

static void gather_blocks(void *arg, size_t tile, size_t lane)
{
    const gather *g = arg;
    size_t block = tile * g->each, end = least(block + g->each, g->n_blocks);
    size_t outer = block / g->n_indices, i = block % g->n_indices;
    (void)lane;
    for (; block < end; block++) {
        size_t place = evl_place_at(g->indices, i, g->axis_size);
        const char *from = g->from + (outer * (size_t)g->axis_size + place) * g->bytes;
        evl_move_bytes(g->to + block * g->bytes, from, g->bytes);
        if (++i == g->n_indices) {
            i = 0;
            outer++;
        }
    }
}

static EvalStatus run_gather(const evl_call *call)
{
    const evl_tensor *data = call->in[0];
    int64_t given = evl_node_int(call->node, "axis", 0);
    size_t inner;
    int32_t axis;
    gather g = { .from = data->data, .to = call->out[0]->data, .indices = call->in[1] };
    EvalStatus st = evl_axis(call->ctx, "axis", given, data->shape.rank, &axis);
    if (st)
        return st;
    g.axis_size = data->shape.dim[axis];
    if ((st = evl_indices_check(call->ctx, g.indices, axis, g.axis_size)))
        return st;
    inner = evl_shape_count_part(&data->shape, axis + 1, data->shape.rank);
    g.bytes = inner * evl_type_size(data->type);
    g.n_indices = evl_shape_count(&g.indices->shape);
    g.n_blocks = inner ? evl_shape_count_part(&data->shape, 0, axis) * g.n_indices : 0;
    g.each = blocks_a_tile(inner);
    run_tiles(call, g.n_blocks, g.each, gather_blocks, &g);
    return EVAL_OK;
}

static EvalStatus infer_gather_elements(evl_infer *x)
{
    x->out[0].type = x->use.in[0]->type;
    x->out[0].shape = x->use.in[1]->shape;
    return evl_lines_infer(x, 1);
}

typedef struct gather_lines {
    const char *from;
    char *to;
    size_t size, each;
    evl_lines lines;
} gather_lines;

static void gather_rows(void *arg, size_t tile, size_t lane)
{
    const gather_lines *g = arg;
    const evl_lines *l = &g->lines;
    size_t row = tile * g->each, end = least(row + g->each, l->n_rows);
    (void)lane;
    for (; row < end; row++) {
        size_t start = evl_lines_start(l, row);
        char *to = g->to + row * l->n_columns * g->size;
        for (size_t j = 0; j < l->n_columns; j++)
            evl_move_bytes(to + j * g->size, g->from + evl_lines_offset(l, start, row, j) * g->size,
                           g->size);
    }
}

static EvalStatus run_gather_elements(const evl_call *call)
{
    gather_lines g = { .from = call->in[0]->data,
                       .to = call->out[0]->data,
                       .size = evl_type_size(call->in[0]->type) };
    EvalStatus st = evl_lines_of(call->ctx, call->node, call->in[0], call->in[1], &g.lines);
    if (st || evl_shape_count(&call->in[1]->shape) == 0)
        return st;
    g.each = blocks_a_tile(g.lines.n_columns);
    run_tiles(call, g.lines.n_rows, g.each, gather_rows, &g);
    return EVAL_OK;
}

/* Opset 12 brought batch_dims. */
static int32_t batch_dims_of(const evl_node *node)
{
    int64_t given = evl_node_int(node, "batch_dims", 0);
    return given < 0 || given > EVAL_MAX_RANK ? -1 : (int32_t)given;
}

static EvalStatus infer_gather_nd(evl_infer *x)
{
    x->out[0].type = x->use.in[0]->type;
    return evl_tuples_infer(x, batch_dims_of(x->use.node), &x->out[0].shape);
}

typedef struct gather_tuples {
    const char *from;
    char *to;
    size_t size, each;
    evl_tuples tuples;
} gather_tuples;

static void gather_named(void *arg, size_t tile, size_t lane)
{
    const gather_tuples *g = arg;
    size_t tuple = tile * g->each, end = least(tuple + g->each, g->tuples.n);
    size_t bytes = g->tuples.inner * g->size;
    (void)lane;
    for (; tuple < end; tuple++)
        evl_move_bytes(g->to + tuple * bytes,
                       g->from + evl_tuples_offset(&g->tuples, tuple) * g->size, bytes);
}

static EvalStatus run_gather_nd(const evl_call *call)
{
    gather_tuples g = { .from = call->in[0]->data,
                        .to = call->out[0]->data,
                        .size = evl_type_size(call->in[0]->type) };
    EvalStatus st =
        evl_tuples_of(call->ctx, call->in[0], call->in[1], batch_dims_of(call->node), &g.tuples);
    if (st || evl_shape_count(&call->out[0]->shape) == 0)
        return st;
    g.each = blocks_a_tile(g.tuples.inner);
    run_tiles(call, g.tuples.n, g.each, gather_named, &g);
    return EVAL_OK;
}

static const evl_impl gather_impl = { NULL, run_gather };
static const evl_impl gather_elements_impl = { NULL, run_gather_elements };
static const evl_impl gather_nd_impl = { NULL, run_gather_nd };

const evl_op evl_op_gather = { .name = "Gather",
                               .min_inputs = 2,
                               .max_inputs = 2,
                               .min_outputs = 1,
                               .max_outputs = 1,
                               .infer = infer_gather,
                               .any = &gather_impl };
const evl_op evl_op_gather_elements = { .name = "GatherElements",
                                        .min_inputs = 2,
                                        .max_inputs = 2,
                                        .min_outputs = 1,
                                        .max_outputs = 1,
                                        .infer = infer_gather_elements,
                                        .any = &gather_elements_impl };
const evl_op evl_op_gather_nd = { .name = "GatherND",
                                  .min_inputs = 2,
                                  .max_inputs = 2,
                                  .min_outputs = 1,
                                  .max_outputs = 1,
                                  .infer = infer_gather_nd,
                                  .any = &gather_nd_impl };

const evl_op *const evl_ops_indexing[] = { &evl_op_gather, &evl_op_gather_elements,
                                           &evl_op_gather_nd, NULL };
