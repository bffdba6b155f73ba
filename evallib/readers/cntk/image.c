/* image.c - what undoes pooling, and pools regions. */
#include "readers/cntk/window.h"

static evl_value *shape_of(evl_cntk_maker *k, evl_value *x)
{
    evl_value *y = x ? evl_cntk_call(k, "Shape", &x, 1, NULL, 0) : NULL;
    if (y)
        y->has_frames = false;
    return y;
}

/* Operands: x, and what was pooled to the size of x. Each element goes where the largest of its
** window was; the rest is 0. */
evl_value *evl_cntk_unpooling(evl_cntk_maker *k)
{
    evl_cntk_window w;
    evl_attribute attributes[EVL_CNTK_WINDOW_ATTRIBUTES];
    evl_value *pooled = evl_cntk_batched(k, k->in[1]), *x = evl_cntk_batched(k, k->in[0]), *in[3];
    if (k->b.status != EVAL_OK || !evl_cntk_window_of(k, pooled, false, &w))
        return NULL;
    if (w.rank < 2 || evl_cntk_rank(x) != w.rank || w.axis[w.rank - 1].kernel != 1)
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "unpooling of what is no image");
    if (evl_cntk_is_left_over(&w, w.rank))
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED,
                             "unpooling with automatic pads of what only a call tells the size of");
    evl_cntk_window_attributes(k, &w, w.rank - 1, attributes);
    in[0] = x;
    in[1] = evl_cntk_call_output(k, "MaxPool", &pooled, 1, attributes, EVL_CNTK_WINDOW_ATTRIBUTES,
                                 2, 1);
    in[2] = shape_of(k, pooled);
    evl_value *y = evl_cntk_call(k, "MaxUnpool", in, 3, attributes, 3);
    if (y)
        y->t.shape = pooled->t.shape;
    return evl_cntk_unbatched(k, y, k->in[0]);
}

/* The number of its sample, for each region: [T, R, 1]. */
static evl_value *sample_numbers(evl_cntk_maker *k, evl_value *regions)
{
    const int64_t first = 0, column[3] = { -1, 1, 1 };
    evl_value *in[2];
    in[0] = evl_build_number(&k->b, k->node->real, 1);
    in[1] = evl_cntk_frame_count(k, regions);
    in[0] = evl_cntk_call(k, "Expand", in, 2, NULL, 0);
    in[1] = evl_build_ints(&k->b, &first, 1);
    evl_attribute exclusive = evl_attribute_int("exclusive", 1);
    in[1] = in[1] ? evl_build_reshape(&k->b, NULL, in[1], NULL, 0) : NULL;
    evl_value *y = k->b.status == EVAL_OK ? evl_cntk_call(k, "CumSum", in, 2, &exclusive, 1) : NULL;
    y = y ? evl_build_reshape(&k->b, NULL, y, column, 3) : NULL;
    if (!y)
        return NULL;
    int64_t dims[3] = { 1, regions->t.shape.dim[1], 1 };
    in[0] = y;
    in[1] = evl_build_ints(&k->b, dims, 3);
    return evl_cntk_call(k, "Expand", in, 2, NULL, 0);
}

/* Operands: images, and corners of regions, [4, R] of each. */
evl_value *evl_cntk_roi_pooling(evl_cntk_maker *k)
{
    const evl_cntk_fields *f = &k->node->f;
    const evl_cntk_list *out = &f->output_shape;
    evl_value *x = k->in[0], *regions = k->in[1], *in[2];
    if (out->n != 2 || out->at[0] < 1 || out->at[1] < 1 || evl_cntk_rank(x) != 3 ||
        evl_cntk_rank(regions) != 2 || evl_cntk_dim(regions, 0) != 4 || !x->has_frames ||
        !regions->has_frames || f->pool == EVL_CNTK_AVERAGE_POOL)
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED,
                             "it wants images, corners of regions and two sizes, and the largest");
    int64_t flat[2] = { -1, 5 }, size[2] = { out->at[1], out->at[0] };
    int64_t dims[5] = { -1, evl_cntk_dim(regions, 1), evl_cntk_dim(x, 2), size[0], size[1] };
    evl_attribute last = evl_attribute_int("axis", 2);
    in[0] = sample_numbers(k, regions);
    in[1] = regions;
    in[1] = evl_cntk_call(k, "Concat", in, 2, &last, 1);
    in[1] = in[1] ? evl_build_reshape(&k->b, NULL, in[1], flat, 2) : NULL;
    in[0] = x;
    evl_attribute a[2] = { evl_cntk_ints(k, "pooled_shape", size, 2),
                           evl_attribute_number("spatial_scale", f->number) };
    evl_value *y = in[1] ? evl_cntk_call(k, "MaxRoiPool", in, 2, a, 2) : NULL;
    y = y ? evl_build_reshape(&k->b, NULL, y, dims, 5) : NULL;
    if (y)
        y->has_frames = true;
    return y;
}
