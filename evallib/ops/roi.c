/* RoiAlign, MaxRoiPool, and CropAndResize of com.microsoft: their shapes. */
#include "ops/roi.h"
#include "ops/axes.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <inttypes.h>
#include <string.h>

static const evl_op op_roi_align, op_crop_and_resize;

/* Rows of the regions: four corners; MaxRoiPool has the batch's number before them. */
static bool is_align(const evl_node *node)
{
    return node->op == &op_roi_align;
}

static bool is_crop(const evl_node *node)
{
    return node->op == &op_crop_and_resize;
}

/* CropAndResize has them as an input, perhaps known in the run only. */
static EvalStatus out_sizes(evl_context *ctx, const evl_use *use, int64_t size[2])
{
    const evl_node *node = use->node;
    bool is_input = is_crop(node);
    size_t n = 0;
    evl_known known;
    EvalStatus st = evl_use_ints(ctx, use, is_input ? "" : "pooled_shape", is_input ? 3 : SIZE_MAX,
                                 2, size, &n, &known);
    if (st)
        return st;
    if (is_align(node)) {
        size[0] = evl_node_int(node, "output_height", 1);
        size[1] = evl_node_int(node, "output_width", 1);
    } else if (known == EVL_UNKNOWN) {
        size[0] = size[1] = EVL_UNKNOWN_DIM;
        return EVAL_OK;
    } else if (n != 2)
        return evl_fail(ctx, EVAL_ERR_FORMAT, "%s must have two values",
                        is_input ? "crop_size" : "pooled_shape");
    if (size[0] > 0 && size[1] > 0 && size[0] <= INT32_MAX && size[1] <= INT32_MAX)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE,
                    "the output is to have %" PRId64 " by %" PRId64 " elements", size[0], size[1]);
}

static EvalStatus infer(evl_infer *x)
{
    int64_t size[2], columns = evl_infer_dim_of(x, 1, 1), n = evl_infer_dim_of(x, 1, 0);
    EvalStatus st = out_sizes(x->ctx, &x->use, size);
    if (st || (st = evl_infer_one_type(x, 2)) || (st = evl_infer_rank(x, 0, 4, 4)) ||
        (st = evl_infer_rank(x, 1, 2, 2)) || (st = evl_infer_rank(x, 2, 1, 1)) ||
        (st = evl_infer_dim(x, "the columns of the regions",
                            is_align(x->use.node) || is_crop(x->use.node) ? 4 : 5, &columns)) ||
        (st = evl_infer_dim(x, "the number of regions", evl_infer_dim_of(x, 2, 0), &n)) ||
        (st = evl_index_type_check(x->ctx, &x->use, 2)))
        return st;
    x->out[0].type = x->use.in[0]->type;
    x->out[0].shape =
        evl_shape_of(4, (const int64_t[4]){ n, evl_infer_dim_of(x, 0, 1), size[0], size[1] });
    return EVAL_OK;
}

static EvalStatus read_mode(evl_context *ctx, const evl_node *node, evl_roi *r)
{
    const char *mode = evl_node_text(node, "mode", "avg");
    r->is_max = strcmp(mode, "max") == 0;
    if (!r->is_max && strcmp(mode, "avg") != 0)
        return evl_fail(ctx, EVAL_ERR_FORMAT, "mode is '%s', expected avg or max", mode);
    /* Opset 16 moved regions by half an element, and has an attribute for how it was before. */
    const char *fallback = node->version < 16 ? "output_half_pixel" : "half_pixel";
    const char *place = evl_node_text(node, "coordinate_transformation_mode", fallback);
    r->is_half_pixel = strcmp(place, "half_pixel") == 0;
    if (!r->is_half_pixel && strcmp(place, "output_half_pixel") != 0)
        return evl_fail(ctx, EVAL_ERR_FORMAT,
                        "coordinate_transformation_mode is '%s', expected "
                        "half_pixel or output_half_pixel",
                        place);
    r->samples = evl_node_int(node, "sampling_ratio", 0);
    if (r->samples >= 0 && r->samples <= INT16_MAX)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE, "sampling_ratio is %" PRId64, r->samples);
}

static EvalStatus read_crop(evl_context *ctx, const evl_node *node, evl_roi *r)
{
    const char *mode = evl_node_text(node, "mode", "bilinear");
    r->outside = evl_node_number(node, "extrapolation_value", 0);
    r->is_nearest = strcmp(mode, "nearest") == 0;
    if (r->is_nearest || strcmp(mode, "bilinear") == 0)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_FORMAT, "mode is '%s', expected bilinear or nearest", mode);
}

EvalStatus evl_roi_prepare(evl_prepare *p)
{
    const evl_shape *in = &p->use.in[0]->shape, *out = &p->out[0]->shape;
    evl_roi *r = evl_arena_take(p->arena, sizeof *r);
    if (!r)
        return evl_no_memory(p->ctx);
    *r = (evl_roi){ .n = (size_t)out->dim[0],
                    .batch = (size_t)in->dim[0],
                    .channels = (size_t)in->dim[1],
                    .height = in->dim[2],
                    .width = in->dim[3],
                    .out_height = out->dim[2],
                    .out_width = out->dim[3],
                    .scale = evl_node_number(p->use.node, "spatial_scale", 1) };
    p->state = r;
    if (is_crop(p->use.node))
        return read_crop(p->ctx, p->use.node, r);
    return is_align(p->use.node) ? read_mode(p->ctx, p->use.node, r) : EVAL_OK;
}

extern const evl_impl evl_roi_align_f, evl_roi_align_d, evl_max_roi_pool_f, evl_max_roi_pool_d,
    evl_crop_and_resize_f, evl_crop_and_resize_d;

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
static const evl_op op_roi_align = {
    "RoiAlign", NULL, 3, 3, 1, 1, 0, 0, infer,
    { &evl_roi_align_f, &evl_roi_align_d }, NULL, NULL, 0
};
static const evl_op op_max_roi_pool = {
    "MaxRoiPool", NULL, 2, 2, 1, 1, 0, 0, infer,
    { &evl_max_roi_pool_f, &evl_max_roi_pool_d }, NULL, NULL, 0
};
static const evl_op op_crop_and_resize = {
    "CropAndResize", "com.microsoft", 4, 4, 1, 1, 0, 0, infer,
    { &evl_crop_and_resize_f, &evl_crop_and_resize_d }, NULL, NULL, 0
};
/* clang-format on */

const evl_op *const evl_ops_roi[] = { &op_crop_and_resize, &op_max_roi_pool, &op_roi_align, NULL };
