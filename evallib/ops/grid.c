/* GridSample and AffineGrid, which makes the points that GridSample looks at. */
#include "ops/grid.h"
#include "ops/axes.h"
#include "ops/lines.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <inttypes.h>
#include <string.h>

/* The place of a text attribute among n names; n: none of them. */
static int choose(const evl_node *node, const char *name, const char *const *names, int n)
{
    const char *text = evl_node_text(node, name, names[0]);
    int i = 0;
    while (i < n && strcmp(text, names[i]) != 0)
        i++;
    return i;
}

/* Opset 20 renames bilinear and bicubic. */
static EvalStatus read_mode(evl_context *ctx, const evl_node *node, evl_grid *g)
{
    static const char *const modes[] = { "linear", "bilinear", "cubic", "bicubic", "nearest" };
    static const evl_grid_mode meant[] = { EVL_GRID_LINEAR, EVL_GRID_LINEAR, EVL_GRID_CUBIC,
                                           EVL_GRID_CUBIC, EVL_GRID_NEAREST };
    static const char *const paddings[] = { "zeros", "border", "reflection" };
    int mode = choose(node, "mode", modes, 5), padding = choose(node, "padding_mode", paddings, 3);
    if (mode == 5)
        return evl_fail(ctx, EVAL_ERR_FORMAT, "mode is '%s', expected linear, nearest or cubic",
                        evl_node_text(node, "mode", ""));
    if (padding == 3)
        return evl_fail(ctx, EVAL_ERR_FORMAT,
                        "padding_mode is '%s', expected zeros, border or reflection",
                        evl_node_text(node, "padding_mode", ""));
    *g = (evl_grid){ .mode = meant[mode],
                     .padding = (evl_grid_padding)padding,
                     .align_corners = evl_node_int(node, "align_corners", 0) != 0 };
    return EVAL_OK;
}

static EvalStatus check_grid(evl_infer *x, int32_t rank)
{
    int64_t length = evl_infer_dim_of(x, 1, rank - 1), batch = evl_infer_dim_of(x, 1, 0);
    EvalStatus st = evl_infer_rank(x, 0, rank, rank);
    if (!st)
        st = evl_infer_rank(x, 1, rank, rank);
    if (!st)
        st = evl_infer_dim(x, "the last dimension of the grid", rank - 2, &length);
    return st ? st : evl_infer_dim(x, "the batch of the grid", evl_infer_dim_of(x, 0, 0), &batch);
}

static EvalStatus infer_sample(evl_infer *x)
{
    const evl_shape *in = &x->use.in[0]->shape, *grid = &x->use.in[1]->shape;
    int32_t rank = in->rank < 0 ? grid->rank : in->rank;
    EvalType type = x->use.in[1]->type;
    evl_grid g;
    EvalStatus st = read_mode(x->ctx, x->use.node, &g);
    x->out[0].type = x->use.in[0]->type;
    if (st || rank < 0)
        return st;
    if (rank < 3 || rank > EVL_GRID_DIMS + 2)
        return evl_fail(x->ctx, rank < 3 ? EVAL_ERR_SHAPE : EVAL_ERR_UNSUPPORTED,
                        "input 0 has rank %d, expected 3 to %d", (int)rank, EVL_GRID_DIMS + 2);
    if (!evl_type_is_float(type) && type != EVAL_UNDEFINED)
        return evl_fail(x->ctx, EVAL_ERR_TYPE, "the grid is %s, it must be floating point",
                        evl_type_name(type));
    if ((st = check_grid(x, rank)))
        return st;
    x->out[0].shape = evl_shape_of_rank(rank);
    x->out[0].shape.dim[0] = evl_infer_dim_of(x, in->rank < 0 ? 1 : 0, 0);
    x->out[0].shape.dim[1] = evl_infer_dim_of(x, 0, 1);
    for (int32_t d = 2; d < rank; d++)
        x->out[0].shape.dim[d] = evl_infer_dim_of(x, 1, d - 1);
    return EVAL_OK;
}

EvalStatus evl_grid_prepare(evl_prepare *p)
{
    const evl_shape *in = &p->use.in[0]->shape, *out = &p->out[0]->shape;
    evl_grid *g = evl_arena_take(p->arena, sizeof *g);
    if (!g)
        return evl_no_memory(p->ctx);
    EvalStatus st = read_mode(p->ctx, p->use.node, g);
    if (st)
        return st;
    if (g->mode != EVL_GRID_NEAREST && !evl_type_is_float(p->use.in[0]->type))
        return evl_fail(p->ctx, EVAL_ERR_TYPE,
                        "of elements of type %s only the nearest are offered",
                        evl_type_name(p->use.in[0]->type));
    g->n_dims = in->rank - 2;
    memcpy(g->dim, &in->dim[2], (size_t)g->n_dims * sizeof g->dim[0]);
    g->batch = (size_t)out->dim[0];
    g->channels = (size_t)out->dim[1];
    g->points = evl_shape_count_part(out, 2, out->rank);
    g->in_plane = evl_shape_count_part(in, 2, in->rank);
    if (p->use.in[0]->type == EVAL_STRING)
        memcpy(g->zero, &(const EvalString){ "", 0 }, sizeof(EvalString));
    p->state = g;
    return EVAL_OK;
}

extern const evl_impl evl_grid_sample_f, evl_grid_sample_d;

/* Of integers, text and bool: places are computed as for floating point. */
static EvalStatus run_any(const evl_call *call)
{
    bool is_double = call->machine->precision == EVL_DOUBLE;
    return (is_double ? &evl_grid_sample_d : &evl_grid_sample_f)->run(call);
}

static const evl_impl any_impl = { evl_grid_prepare, run_any };

/* --- AffineGrid: theta [N, n, n + 1] and size [N, C, ...] of n dimensions --- */

static EvalStatus read_size(evl_infer *x, const int64_t *size, size_t n)
{
    int64_t batch = evl_infer_dim_of(x, 0, 0), rows = evl_infer_dim_of(x, 0, 1);
    int64_t columns = evl_infer_dim_of(x, 0, 2);
    if (n != 4 && n != 5)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "size has %zu values, expected 4 or 5", n);
    for (size_t i = 0; i < n; i++)
        if (size[i] < 0)
            return evl_fail(x->ctx, EVAL_ERR_SHAPE, "size has the negative value %" PRId64,
                            size[i]);
    EvalStatus st = evl_infer_dim(x, "the batch of theta", size[0], &batch);
    if (!st)
        st = evl_infer_dim(x, "the rows of theta", (int64_t)n - 2, &rows);
    if (!st)
        st = evl_infer_dim(x, "the columns of theta", (int64_t)n - 1, &columns);
    if (st)
        return st;
    x->out[0].shape = evl_shape_of(n, size);
    for (size_t d = 1; d + 1 < n; d++)
        x->out[0].shape.dim[d] = size[d + 1];
    x->out[0].shape.dim[n - 1] = (int64_t)n - 2;
    return EVAL_OK;
}

static EvalStatus infer_affine(evl_infer *x)
{
    int64_t size[EVAL_MAX_RANK];
    evl_known known = EVL_UNKNOWN;
    size_t n = 0;
    EvalStatus st = evl_infer_rank(x, 0, 3, 3);
    if (!st)
        st = evl_use_ints(x->ctx, &x->use, "size", 1, EVAL_MAX_RANK, size, &n, &known);
    x->out[0].type = x->use.in[0]->type;
    if (st || known == EVL_KNOWN)
        return st ? st : read_size(x, size, n);
    x->out[0].shape = evl_shape_of_rank(evl_list_length(x->use.in[1]));
    return EVAL_OK;
}

/* Place i of n from -1 to 1: the middles of n equal parts, or from end to end. */
static evl_number place(int64_t i, int64_t n, bool align_corners)
{
    if (align_corners)
        return n > 1 ? 2 * (evl_number)i / (evl_number)(n - 1) - 1 : 0;
    return (2 * (evl_number)i + 1) / (evl_number)n - 1;
}

typedef struct affine {
    const evl_call *call;
    bool align_corners;
} affine;

/* Point `index` of all samples: theta times the place, whose innermost coordinate is first. */
static void affine_point(void *arg, size_t index)
{
    const affine *a = arg;
    const evl_tensor *theta = a->call->in[0], *out = a->call->out[0];
    int32_t n = out->shape.rank - 2;
    evl_number at[EVL_GRID_DIMS + 1], y[EVL_GRID_DIMS];
    size_t rest = index;
    for (int32_t d = 0; d < n; d++) {
        int64_t size = out->shape.dim[n - d];
        at[d] = place((int64_t)(rest % (size_t)size), size, a->align_corners);
        rest /= (size_t)size;
    }
    at[n] = 1;
    for (int32_t i = 0; i < n; i++) {
        y[i] = 0;
        for (int32_t j = 0; j <= n; j++)
            y[i] += at[j] * evl_tensor_f64(theta, (rest * (size_t)n + (size_t)i) * (size_t)(n + 1) +
                                                      (size_t)j);
    }
    evl_convert((size_t)n, EVAL_FLOAT64, y, out->type,
                (char *)out->data + index * (size_t)n * evl_type_size(out->type));
}

static EvalStatus run_affine(const evl_call *call)
{
    affine a = { call, evl_node_int(call->node, "align_corners", 0) != 0 };
    const evl_shape *out = &call->out[0]->shape;
    enum { WORK = 32 }; /* of a point, in elements */
    evl_each_for(evl_shape_count_part(out, 0, out->rank - 1), WORK, call->machine->pool,
                 affine_point, &a);
    return EVAL_OK;
}

static const evl_impl affine_impl = { NULL, run_affine };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
static const evl_op op_affine_grid = {
    "AffineGrid", NULL, 2, 2, 1, 1, 0, 0, infer_affine,
    { &affine_impl, &affine_impl }, NULL, NULL, 0
};
static const evl_op op_grid_sample = {
    "GridSample", NULL, 2, 2, 1, 1, 0, 0, infer_sample,
    { &evl_grid_sample_f, &evl_grid_sample_d }, NULL, &any_impl, 0
};
/* clang-format on */

const evl_op *const evl_ops_grid[] = { &op_affine_grid, &op_grid_sample, NULL };
