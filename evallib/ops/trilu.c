/* Trilu: the upper or lower triangle of each matrix, zeros elsewhere. */
#include "ops/axes.h"
#include "ops/ops.h"
#include <inttypes.h>
#include <string.h>

enum { TILE = 65536 };

static EvalStatus infer_trilu(evl_infer *x)
{
    int32_t rank = x->use.in[0]->shape.rank;
    const evl_tensor *k = evl_use_in(&x->use, 1);
    if (rank >= 0 && rank < 2)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "the input has rank %" PRId32 ", it needs 2", rank);
    if (k && evl_shape_is_known(&k->shape) && evl_shape_count(&k->shape) != 1)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "k must be one number");
    return evl_infer_same(x);
}

typedef struct job {
    const char *from;
    char *to;
    size_t size;
    int64_t n_rows, rows, columns; /* in all; of a matrix */
    int64_t k;
    bool is_upper;
} job;

static int64_t clamp(int64_t i, int64_t least, int64_t most)
{
    return i < least ? least : i > most ? most : i;
}

static int64_t rows_a_tile(const job *j)
{
    return j->columns >= TILE ? 1 : TILE / (j->columns > 0 ? j->columns : 1);
}

/* Row i keeps columns from i + k on (upper), or up to i + k (lower). */
static void copy_row(const job *j, int64_t row)
{
    size_t bytes = (size_t)j->columns * j->size, start = (size_t)row * bytes;
    int64_t i = row % j->rows;
    int64_t from = j->is_upper ? clamp(i + j->k, 0, j->columns) : 0;
    int64_t end = j->is_upper ? j->columns : clamp(i + j->k + 1, 0, j->columns);
    size_t first = (size_t)from * j->size, n = (size_t)(end - from) * j->size;
    memset(j->to + start, 0, first);
    memcpy(j->to + start + first, j->from + start + first, n);
    memset(j->to + start + first + n, 0, bytes - first - n);
}

static void copy_rows(void *arg, size_t tile, size_t lane)
{
    const job *j = arg;
    int64_t each = rows_a_tile(j), row = (int64_t)tile * each;
    int64_t end = j->n_rows - row < each ? j->n_rows : row + each;
    (void)lane;
    for (; row < end; row++)
        copy_row(j, row);
}

static EvalStatus run_trilu(const evl_call *call)
{
    const evl_tensor *in = call->in[0];
    const evl_use use = { call->node, call->in, call->n_in };
    int32_t rank = in->shape.rank;
    int64_t k = 0;
    job j = { .from = in->data,
              .to = call->out[0]->data,
              .size = evl_type_size(in->type),
              .rows = in->shape.dim[rank - 2],
              .columns = in->shape.dim[rank - 1],
              .is_upper = evl_node_int(call->node, "upper", 1) != 0 };
    if (evl_shape_count(&in->shape) == 0)
        return EVAL_OK;
    evl_use_int(&use, "k", 1, &k);
    j.k = clamp(k, -j.rows - 1, j.columns + 1);
    j.n_rows = (int64_t)evl_shape_count(&in->shape) / j.columns;
    evl_parallel_for(call->machine->pool, (size_t)((j.n_rows - 1) / rows_a_tile(&j) + 1), copy_rows,
                     &j);
    return EVAL_OK;
}

static const evl_impl trilu_impl = { NULL, run_trilu };

static const evl_op trilu = { .name = "Trilu",
                              .min_inputs = 1,
                              .max_inputs = 2,
                              .min_outputs = 1,
                              .max_outputs = 1,
                              .infer = infer_trilu,
                              .any = &trilu_impl };

const evl_op *const evl_ops_trilu[] = { &trilu, NULL };
