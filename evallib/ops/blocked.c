/* Blocked operators: shapes, and what can be turned into them. */
#include "ops/blocked.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <math.h>

enum { DIMS = EVL_STENCIL_DIMS };

static int64_t lanes_of(const evl_use *use)
{
    return evl_node_int(use->node, "lanes", 1);
}

static EvalStatus infer_block(evl_infer *infer)
{
    const evl_tensor *x = infer->use.in[0];
    evl_shape *y = &infer->out[0].shape;
    int64_t lanes = lanes_of(&infer->use);
    if (x->shape.rank < 2 || x->shape.rank >= EVAL_MAX_RANK)
        return evl_fail(infer->ctx, EVAL_ERR_INTERNAL, "blocks of rank %d", (int)x->shape.rank);
    infer->out[0].type = x->type;
    *y = x->shape;
    y->dim[1] = (x->shape.dim[1] + lanes - 1) / lanes;
    y->dim[y->rank++] = lanes;
    return EVAL_OK;
}

static EvalStatus infer_unblock(evl_infer *infer)
{
    const evl_tensor *x = infer->use.in[0];
    evl_shape *y = &infer->out[0].shape;
    infer->out[0].type = x->type;
    *y = x->shape;
    y->dim[1] = evl_node_int(infer->use.node, "channels", 0);
    y->rank--;
    return EVAL_OK;
}

/* The shape that x would have if it were not blocked. */
static evl_shape plain_shape(const evl_use *use, int64_t channels, bool is_blocked)
{
    evl_shape shape = use->in[0]->shape;
    shape.rank -= is_blocked;
    shape.dim[1] = channels;
    return shape;
}

static void kernel_of(const evl_shape *w, int64_t *kernel)
{
    for (int i = 0; i < DIMS; i++)
        kernel[i] = i + 2 < w->rank ? w->dim[i + 2] : EVL_UNKNOWN_DIM;
}

EvalStatus evl_blocked_conv_of(evl_context *ctx, const evl_use *use, evl_blocked_conv *c)
{
    int64_t kernel[DIMS];
    const evl_shape *w = &use->in[1]->shape;
    *c = (evl_blocked_conv){ .groups = (size_t)evl_node_int(use->node, "group", 1),
                             .lanes = (size_t)lanes_of(use),
                             .batch = (size_t)use->in[0]->shape.dim[0],
                             .in_channels = (size_t)w->dim[1],
                             .least = evl_node_number(use->node, "least", -INFINITY),
                             .most = evl_node_number(use->node, "most", INFINITY) };
    c->clips = c->least > -INFINITY || c->most < INFINITY;
    c->out_channels = (size_t)w->dim[0] / c->groups;
    c->is_thin = use->in[0]->shape.rank == w->rank;
    evl_shape x = plain_shape(use, w->dim[1] * (int64_t)c->groups, !c->is_thin);
    kernel_of(w, kernel);
    return evl_stencil_of(ctx, use, &x, kernel, EVL_STENCIL_FLOOR, &c->window);
}

/* [N, channels, ...] in blocks. */
static void set_blocked(evl_infer *infer, const evl_stencil *w, int64_t channels)
{
    int64_t lanes = lanes_of(&infer->use);
    evl_shape *y = &infer->out[0].shape;
    infer->out[0].type = infer->use.in[0]->type;
    *y = evl_stencil_shape(w, infer->use.in[0]->shape.dim[0], (channels + lanes - 1) / lanes);
    y->dim[y->rank++] = lanes;
}

static EvalStatus infer_conv(evl_infer *infer)
{
    evl_blocked_conv c;
    EvalStatus st = evl_blocked_conv_of(infer->ctx, &infer->use, &c);
    if (st == EVAL_OK)
        set_blocked(infer, &c.window, infer->use.in[1]->shape.dim[0]);
    return st;
}

static EvalStatus pool_window(evl_context *ctx, const evl_use *use, bool is_blocked, evl_stencil *w)
{
    bool is_ceil = evl_node_int(use->node, "ceil_mode", 0) != 0;
    evl_shape x = plain_shape(use, use->in[0]->shape.dim[1], is_blocked);
    return evl_stencil_of(ctx, use, &x, NULL, is_ceil ? EVL_STENCIL_CEIL : EVL_STENCIL_FLOOR, w);
}

EvalStatus evl_blocked_pool_of(evl_context *ctx, const evl_use *use, evl_stencil *w)
{
    return pool_window(ctx, use, true, w);
}

static EvalStatus infer_pool(evl_infer *infer)
{
    evl_stencil w;
    EvalStatus st = evl_blocked_pool_of(infer->ctx, &infer->use, &w);
    if (st == EVAL_OK)
        set_blocked(infer, &w, infer->use.in[0]->shape.dim[1] * lanes_of(&infer->use));
    return st;
}

/* --- what can be turned --- */

static bool is_turnable(const evl_use *use)
{
    const evl_shape *x = &use->in[0]->shape;
    return evl_shape_is_known(x) && x->rank >= 3 && x->rank < EVAL_MAX_RANK &&
           evl_type_is_float(use->in[0]->type) && evl_shape_count(x) > 0;
}

static bool is_constant(const evl_use *use, size_t input)
{
    return use->n_in <= input || !use->in[input] ||
           (use->in[input]->data && use->in[input]->life != EVL_LIFE_RUN);
}

/* Groups of which each, or so many together, fill whole blocks; or one group. */
static bool groups_fit(size_t groups, size_t in, size_t out, size_t lanes)
{
    return groups == 1 || (in % lanes == 0 && out % lanes == 0) || (lanes % out == 0 && out % in == 0);
}

bool evl_can_block_conv(evl_context *ctx, const evl_use *use, size_t lanes)
{
    int64_t kernel[DIMS];
    evl_stencil window;
    if (!is_turnable(use) || !is_constant(use, 1) || !is_constant(use, 2))
        return false;
    const evl_shape *x = &use->in[0]->shape, *w = &use->in[1]->shape;
    size_t groups = (size_t)evl_node_int(use->node, "group", 1);
    kernel_of(w, kernel);
    if (evl_shape_count(w) == 0 ||
        !groups_fit(groups, (size_t)w->dim[1], (size_t)w->dim[0] / groups, lanes))
        return false;
    return evl_stencil_of(ctx, use, x, kernel, EVL_STENCIL_FLOOR, &window) == EVAL_OK &&
           evl_bands_fit(&window);
}

bool evl_can_block_pool(evl_context *ctx, const evl_use *use)
{
    evl_stencil window;
    return is_turnable(use) && pool_window(ctx, use, false, &window) == EVAL_OK &&
           evl_stencil_out(&window) > 0 && evl_bands_fit(&window);
}

/* --- descriptors --- */

extern const evl_impl evl_block_f, evl_block_d, evl_unblock_f, evl_unblock_d, evl_blocked_conv_f,
    evl_blocked_conv_d, evl_blocked_pool_f, evl_blocked_pool_d;

const evl_op evl_op_block = { .name = "Block", .min_inputs = 1, .max_inputs = 1, .min_outputs = 1,
                              .max_outputs = 1, .infer = infer_block,
                              .real = { &evl_block_f, &evl_block_d } };
const evl_op evl_op_unblock = { .name = "Unblock", .min_inputs = 1, .max_inputs = 1,
                                .min_outputs = 1, .max_outputs = 1, .infer = infer_unblock,
                                .real = { &evl_unblock_f, &evl_unblock_d } };
const evl_op evl_op_blocked_conv = { .name = "BlockedConv", .min_inputs = 2, .max_inputs = 5,
                                     .min_outputs = 1, .max_outputs = 1, .infer = infer_conv,
                                     .real = { &evl_blocked_conv_f, &evl_blocked_conv_d },
                                     .traits = EVL_OP_PACKS };
const evl_op evl_op_blocked_max_pool = { .name = "BlockedMaxPool", .min_inputs = 1,
                                         .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
                                         .infer = infer_pool,
                                         .real = { &evl_blocked_pool_f, &evl_blocked_pool_d } };
const evl_op evl_op_blocked_average_pool = {
    .name = "BlockedAveragePool", .min_inputs = 1, .max_inputs = 1, .min_outputs = 1,
    .max_outputs = 1, .infer = infer_pool, .real = { &evl_blocked_pool_f, &evl_blocked_pool_d }
};
