/* Resize and Upsample: what each position of the output is made of, axis by axis. All modes
** are separable, so an axis is a list of taps; nearest has one tap of weight 1. */
#include "ops/resize.h"
#include "ops/axes.h"
#include "ops/ops.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MOST_ROI = 2 * EVAL_MAX_RANK };

typedef struct wanted {
    evl_known known;
    int64_t size[EVAL_MAX_RANK];
    double scale[EVAL_MAX_RANK], scaled[EVAL_MAX_RANK]; /* scale * size, not cut to a whole one */
    double roi[MOST_ROI];                               /* starts, then ends, of all axes */
} wanted;

static bool is_old(const evl_node *node)
{
    return node->version < 11 || strcmp(node->op->name, "Upsample") == 0;
}

static EvalStatus check_length(evl_context *ctx, const char *name, size_t n, size_t wanted_n)
{
    if (n == wanted_n)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE, "%s has %zu entries, it needs %zu", name, n, wanted_n);
}

static EvalStatus use_scales(evl_context *ctx, const evl_shape *in, const evl_axes *axes,
                             const double *scales, wanted *w)
{
    for (size_t i = 0; i < axes->n; i++) {
        int32_t d = axes->axis[i];
        if (!(scales[i] > 0) || !(scales[i] < 1e9))
            return evl_fail(ctx, EVAL_ERR_SHAPE, "the scale of axis %" PRId32 " is not positive",
                            d);
        /* Scales are float32: their product is too, so that 10 * 0.7 is 7. */
        w->scaled[d] = (double)((float)scales[i] * (float)in->dim[d]);
        if (w->scaled[d] > 1e15)
            return evl_fail(ctx, EVAL_ERR_LIMIT, "axis %" PRId32 " would be too large", d);
        w->scale[d] = scales[i];
        w->size[d] = in->dim[d] < 0 ? EVL_UNKNOWN_DIM : (int64_t)w->scaled[d];
    }
    return EVAL_OK;
}

/* Since opset 18 one scale can be kept for all axes: the least or the largest. */
static void keep_ratio(const evl_node *node, const evl_shape *in, const evl_axes *axes, wanted *w)
{
    const char *policy = evl_node_text(node, "keep_aspect_ratio_policy", "stretch");
    bool is_least = strcmp(policy, "not_larger") == 0;
    double scale = axes->n ? w->scale[axes->axis[0]] : 1;
    if (!is_least && strcmp(policy, "not_smaller") != 0)
        return;
    for (size_t i = 1; i < axes->n; i++) {
        double other = w->scale[axes->axis[i]];
        scale = (is_least ? other < scale : other > scale) ? other : scale;
    }
    for (size_t i = 0; i < axes->n; i++) {
        int32_t d = axes->axis[i];
        w->scale[d] = scale;
        w->scaled[d] = scale * (double)in->dim[d];
        w->size[d] = (int64_t)floor(w->scaled[d] + 0.5);
    }
}

static EvalStatus use_sizes(evl_context *ctx, const evl_use *use, const evl_axes *axes,
                            const int64_t *sizes, wanted *w)
{
    const evl_shape *in = &use->in[0]->shape;
    bool is_known = true;
    for (size_t i = 0; i < axes->n; i++) {
        int32_t d = axes->axis[i];
        if (sizes[i] < 0 || sizes[i] > INT64_MAX / 4096 || (in->dim[d] == 0 && sizes[i] > 0))
            return evl_fail(ctx, EVAL_ERR_SHAPE,
                            "size %" PRId64 " of axis %" PRId32 " cannot be reached", sizes[i], d);
        w->size[d] = sizes[i];
        w->scaled[d] = (double)sizes[i];
        w->scale[d] = in->dim[d] > 0 ? (double)sizes[i] / (double)in->dim[d] : 1;
        is_known = is_known && in->dim[d] >= 0;
    }
    if (is_known)
        keep_ratio(use->node, in, axes, w);
    return EVAL_OK;
}

static EvalStatus read_roi(evl_context *ctx, const evl_use *use, const evl_axes *axes, wanted *w)
{
    double roi[MOST_ROI];
    evl_known known;
    size_t n = 0;
    EvalStatus st = evl_use_numbers(ctx, use, "roi", 1, MOST_ROI, roi, &n, &known);
    if (st || known != EVL_KNOWN || n == 0)
        return st;
    if ((st = check_length(ctx, "roi", n, 2 * axes->n)))
        return st;
    for (size_t i = 0; i < axes->n; i++) {
        w->roi[axes->axis[i]] = roi[i];
        w->roi[EVAL_MAX_RANK + axes->axis[i]] = roi[axes->n + i];
    }
    return EVAL_OK;
}

/* Opset 10 and Upsample: scales as input 1, or attribute. Later: roi, scales, sizes. */
static EvalStatus read_wanted(evl_context *ctx, const evl_use *use, wanted *w)
{
    const evl_shape *in = &use->in[0]->shape;
    bool old = is_old(use->node);
    double scales[EVAL_MAX_RANK];
    int64_t sizes[EVAL_MAX_RANK];
    evl_known scales_known, sizes_known = EVL_ABSENT;
    size_t n_scales = 0, n_sizes = 0;
    evl_axes axes;
    EvalStatus st = evl_axes_or_all(ctx, use, in->rank, &axes);
    *w = (wanted){ .known = EVL_UNKNOWN };
    for (int32_t d = 0; d < in->rank; d++) {
        w->size[d] = in->dim[d];
        w->scaled[d] = (double)in->dim[d];
        w->scale[d] = w->roi[EVAL_MAX_RANK + d] = 1;
    }
    if (st || (st = evl_use_numbers(ctx, use, "scales", old ? 1 : 2, EVAL_MAX_RANK, scales,
                                    &n_scales, &scales_known)))
        return st;
    if (!old &&
        (st = evl_use_ints(ctx, use, "sizes", 3, EVAL_MAX_RANK, sizes, &n_sizes, &sizes_known)))
        return st;
    if (!old && (st = read_roi(ctx, use, &axes, w)))
        return st;
    if (scales_known == EVL_UNKNOWN || sizes_known == EVL_UNKNOWN)
        return EVAL_OK;
    w->known = EVL_KNOWN;
    if (n_sizes > 0)
        return (st = check_length(ctx, "sizes", n_sizes, axes.n))
                   ? st
                   : use_sizes(ctx, use, &axes, sizes, w);
    return (st = check_length(ctx, "scales", n_scales, axes.n))
               ? st
               : use_scales(ctx, in, &axes, scales, w);
}

static bool is_hidden(const evl_tensor *t)
{
    return t && !t->data && !(evl_shape_is_known(&t->shape) && evl_shape_count(&t->shape) == 0);
}

/* What a region is, the plan must know where it counts. */
static bool is_region_hidden(const evl_use *use)
{
    const char *name = evl_node_text(use->node, "coordinate_transformation_mode", "half_pixel");
    return !is_old(use->node) && strcmp(name, "tf_crop_and_resize") == 0 && is_hidden(evl_use_in(use, 1));
}

static EvalStatus infer_resize(evl_infer *x)
{
    int32_t rank = x->use.in[0]->shape.rank;
    wanted w;
    EvalStatus st;
    x->out[0].type = x->use.in[0]->type;
    x->out[0].shape = evl_shape_of_rank(rank);
    if (rank < 0)
        return EVAL_OK;
    if ((st = read_wanted(x->ctx, &x->use, &w)) || w.known != EVL_KNOWN)
        return st;
    if (is_region_hidden(&x->use) && rank > 0)
        w.size[0] = EVL_UNKNOWN_DIM; /* so that it is prepared in the run */
    x->out[0].shape = evl_shape_of((size_t)rank, w.size);
    return EVAL_OK;
}

/* One axis, as the coordinate rules see it. */
typedef struct line {
    double n_in, n_out, scaled, scale, roi_start, roi_end;
} line;

typedef double coordinate(double i, const line *l);

static double half_pixel(double i, const line *l)
{
    return (i + 0.5) / l->scale - 0.5;
}

static double half_pixel_symmetric(double i, const line *l)
{
    return l->n_in / 2 * (1 - l->n_out / l->scaled) + (i + 0.5) / l->scale - 0.5;
}

static double pytorch_half_pixel(double i, const line *l)
{
    return l->n_out > 1 ? half_pixel(i, l) : 0;
}

/* ONNX's own cases do not cut what a scale gives to a whole size here. */
static double align_corners(double i, const line *l)
{
    return l->n_out > 1 ? i * (l->n_in - 1) / (l->scaled - 1) : 0;
}

static double asymmetric(double i, const line *l)
{
    return i / l->scale;
}

static double half_pixel_for_nn(double i, const line *l)
{
    return (i + 0.5) / l->scale;
}

static double crop(double i, const line *l)
{
    double width = (l->roi_end - l->roi_start) * (l->n_in - 1);
    return l->roi_start * (l->n_in - 1) + (l->n_out > 1 ? i * width / (l->n_out - 1) : width / 2);
}

static const struct {
    const char *name;
    coordinate *of;
} coordinates[] = { { "half_pixel", half_pixel },
                    { "half_pixel_symmetric", half_pixel_symmetric },
                    { "pytorch_half_pixel", pytorch_half_pixel },
                    { "align_corners", align_corners },
                    { "asymmetric", asymmetric },
                    { "tf_half_pixel_for_nn", half_pixel_for_nn },
                    { "tf_crop_and_resize", crop } };

enum { NEAREST, LINEAR, CUBIC };

typedef struct settings {
    coordinate *of;
    int mode;
    const char *nearest;
    double a;
    bool antialias, exclude_outside, is_old;
} settings;

static EvalStatus read_settings(evl_context *ctx, const evl_node *node, settings *s)
{
    const char *mode = evl_node_text(node, "mode", "nearest");
    const char *name = evl_node_text(node, "coordinate_transformation_mode", "half_pixel");
    *s = (settings){ .a = evl_node_number(node, "cubic_coeff_a", -0.75) };
    s->nearest = evl_node_text(node, "nearest_mode", "round_prefer_floor");
    s->antialias = evl_node_int(node, "antialias", 0) != 0;
    s->exclude_outside = evl_node_int(node, "exclude_outside", 0) != 0;
    s->mode = strcmp(mode, "cubic") == 0 ? CUBIC : strcmp(mode, "nearest") == 0 ? NEAREST : LINEAR;
    if (s->mode == LINEAR && strcmp(mode, "linear") != 0 && strcmp(mode, "bilinear") != 0)
        return evl_fail(ctx, EVAL_ERR_UNSUPPORTED, "mode '%s' is none of nearest, linear, cubic",
                        mode);
    s->is_old = is_old(node);
    if (s->is_old) {
        name = "asymmetric";
        s->nearest = "floor";
    }
    for (size_t i = 0; i < sizeof coordinates / sizeof coordinates[0]; i++)
        if (strcmp(name, coordinates[i].name) == 0)
            s->of = coordinates[i].of;
    if (s->of)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_UNSUPPORTED, "coordinate_transformation_mode '%s' is unknown",
                    name);
}

static double nearest_place(const char *mode, double x)
{
    if (strcmp(mode, "floor") == 0)
        return floor(x);
    if (strcmp(mode, "ceil") == 0)
        return ceil(x);
    return strcmp(mode, "round_prefer_ceil") == 0 ? floor(x + 0.5) : ceil(x - 0.5);
}

/* The weight of an element at distance x: a triangle, or Keys' cubic. */
static double kernel(const settings *s, double x)
{
    x = fabs(x);
    if (s->mode == LINEAR)
        return x < 1 ? 1 - x : 0;
    if (x <= 1)
        return ((s->a + 2) * x - (s->a + 3)) * x * x + 1;
    return x < 2 ? ((s->a * x - 5 * s->a) * x + 8 * s->a) * x - 4 * s->a : 0;
}

static size_t clamped(double i, size_t n)
{
    return i < 0 ? 0 : i > (double)n - 1 ? n - 1 : (size_t)i;
}

/* The taps of one position; shrink < 1 widens the kernel (antialias). */
static void fill_position(const settings *s, double x, double shrink, double first, evl_taps *t,
                          size_t position)
{
    size_t *index = t->index + position * t->n;
    double *weight = t->weight + position * t->n, base = floor(x), sum = 0;
    if (s->mode == NEAREST) {
        index[0] = clamped(nearest_place(s->nearest, x), t->n_in);
        weight[0] = 1;
        return;
    }
    for (size_t k = 0; k < t->n; k++) {
        double at = base + first + (double)k;
        bool is_inside = at >= 0 && at < (double)t->n_in;
        weight[k] = s->exclude_outside && !is_inside ? 0 : kernel(s, (at - x) * shrink);
        index[k] = clamped(at, t->n_in);
        sum += weight[k];
    }
    for (size_t k = 0; k < t->n && (s->antialias || s->exclude_outside) && sum != 0; k++)
        weight[k] /= sum;
}

static EvalStatus fill_axis(evl_prepare *p, const settings *s, const line *l, evl_taps *t)
{
    double shrink = s->antialias && l->scale < 1 ? l->scale : 1;
    double first = floor(-(s->mode == CUBIC ? 2 : 1) / shrink) + 1;
    settings own = *s;
    if (s->is_old && l->scale < 1)
        own.nearest = "ceil"; /* as ONNX's own cases of opset 10 have it */
    t->is_used = true;
    t->n = s->mode == NEAREST ? 1 : (size_t)(2 - 2 * first);
    size_t n;
    if (!evl_size_multiply(t->n_out, t->n, &n))
        return evl_no_memory(p->ctx);
    t->index = evl_arena_take_many(p->arena, n, sizeof *t->index);
    t->weight = evl_arena_take_many(p->arena, n, sizeof *t->weight);
    t->is_outside = evl_arena_take_many(p->arena, t->n_out, sizeof *t->is_outside);
    if (!t->index || !t->weight || !t->is_outside)
        return evl_no_memory(p->ctx);
    for (size_t i = 0; i < t->n_out; i++) {
        double x = s->of((double)i, l);
        if (!(x > -1e15 && x < 1e15))
            return evl_fail(p->ctx, EVAL_ERR_SHAPE, "a coordinate is not finite");
        t->is_outside[i] = s->of == crop && (x < 0 || x > l->n_in - 1);
        fill_position(&own, x, shrink, first, t, i);
    }
    return EVAL_OK;
}

static EvalStatus fill_axes(evl_prepare *p, const settings *s, const wanted *w, evl_resize *r)
{
    const evl_shape *in = &p->use.in[0]->shape, *out = &p->out[0]->shape;
    EvalStatus st = EVAL_OK;
    for (int32_t d = 0; d < in->rank && !st; d++) {
        double n_in = (double)in->dim[d];
        line l = { n_in,        (double)out->dim[d], w->scaled[d],
                   w->scale[d], w->roi[d],           w->roi[EVAL_MAX_RANK + d] };
        r->axis[d].n_in = (size_t)in->dim[d];
        r->axis[d].n_out = (size_t)out->dim[d];
        bool is_cropped = s->of == crop && (l.roi_start != 0 || l.roi_end != 1);
        bool is_changed = in->dim[d] != out->dim[d] || w->scale[d] != 1 || is_cropped;
        if (is_changed && out->dim[d] > 0)
            st = fill_axis(p, s, &l, &r->axis[d]);
        for (size_t i = 0; !st && r->axis[d].is_used && i < r->axis[d].n_out; i++)
            r->has_outside = r->has_outside || r->axis[d].is_outside[i];
    }
    return st;
}

size_t evl_resize_count(const evl_resize *r, int32_t from, int32_t to, bool is_out)
{
    size_t n = 1;
    for (int32_t d = from; d < to; d++)
        n *= is_out ? r->axis[d].n_out : r->axis[d].n_in;
    return n;
}

static EvalStatus make_real_weights(evl_prepare *p, evl_resize *r)
{
    for (int32_t d = 0; d < r->rank; d++) {
        evl_taps *t = &r->axis[d];
        size_t n = t->is_used ? t->n_out * t->n : 0;
        t->real_weight = evl_arena_take_many(p->arena, n, evl_type_size(p->machine->real));
        if (n && !t->real_weight)
            return evl_no_memory(p->ctx);
        (void)evl_convert(n, EVAL_FLOAT64, t->weight, p->machine->real, t->real_weight);
    }
    return EVAL_OK;
}

static size_t aligned(size_t n)
{
    return (n + EVL_ALIGNMENT - 1) / EVL_ALIGNMENT * EVL_ALIGNMENT;
}

static EvalStatus scratch_for(evl_prepare *p, const evl_resize *r)
{
    size_t most = 1, n;
    for (int32_t d = -1; d < r->rank; d++) {
        n = evl_type_size(p->machine->real);
        for (int32_t e = 0; e < r->rank; e++)
            if (!evl_size_multiply(n, e > d ? r->axis[e].n_out : r->axis[e].n_in, &n))
                return evl_fail(p->ctx, EVAL_ERR_LIMIT, "a step between is too large");
        most = n > most ? n : most;
    }
    most = aligned(most);
    if (!evl_size_multiply(most, 2, &p->scratch_bytes) || most > p->ctx->limits->max_tensor_bytes)
        return evl_fail(p->ctx, EVAL_ERR_LIMIT, "a step between is too large");
    return EVAL_OK;
}

/* Integers are made real and cut to whole ones again, in scratch memory of their own: behind
** that of the sums, which is even. */
static EvalStatus run_integers(const evl_call *call)
{
    const evl_resize *r = call->state;
    evl_tensor in = *call->in[0], out = *call->out[0];
    EvalType real = call->machine->real;
    size_t n_in = evl_shape_count(&in.shape), n_out = evl_shape_count(&out.shape);
    evl_call sums = *call;
    in.type = out.type = real;
    in.data = (char *)call->scratch + r->sums;
    out.data = (char *)in.data + aligned(n_in * evl_type_size(real));
    sums.in = (const evl_tensor *[]){ &in };
    sums.out = (evl_tensor *[]){ &out };
    (void)evl_convert(n_in, call->in[0]->type, call->in[0]->data, real, in.data);
    EvalStatus st = call->machine->precision == EVL_DOUBLE ? evl_resize_d(&sums) : evl_resize_f(&sums);
    if (st == EVAL_OK)
        (void)evl_convert(n_out, real, out.data, call->out[0]->type, call->out[0]->data);
    return st;
}

/* Each is no larger than what the sums were checked for. */
static void hold_integers(evl_prepare *p, evl_resize *r)
{
    size_t size = evl_type_size(p->machine->real);
    r->sums = p->scratch_bytes;
    p->scratch_bytes += aligned(evl_shape_count(&p->use.in[0]->shape) * size) +
                        aligned(evl_shape_count(&p->out[0]->shape) * size);
    p->run = run_integers;
}

static EvalStatus prepare_resize(evl_prepare *p)
{
    evl_resize *r = evl_arena_take(p->arena, sizeof *r);
    settings s;
    wanted w;
    EvalStatus st;
    if (!r)
        return evl_no_memory(p->ctx);
    if ((st = read_settings(p->ctx, p->use.node, &s)) || (st = read_wanted(p->ctx, &p->use, &w)))
        return st;
    if (w.known != EVL_KNOWN || is_region_hidden(&p->use))
        return evl_fail(p->ctx, EVAL_ERR_UNSUPPORTED,
                        "roi, scales and sizes must be known to the plan");
    r->rank = p->out[0]->shape.rank;
    r->extrapolation = evl_node_number(p->use.node, "extrapolation_value", 0);
    p->state = r;
    p->run = evl_resize_nearest;
    if ((st = fill_axes(p, &s, &w, r)) || s.mode == NEAREST)
        return st;
    EvalType type = p->out[0]->type;
    if (!evl_type_is_float(type) && !evl_type_is_integer(type))
        return evl_fail(p->ctx, EVAL_ERR_TYPE, "mode linear and cubic need numbers, not %s", evl_type_name(type));
    p->run = p->machine->precision == EVL_DOUBLE ? evl_resize_d : evl_resize_f;
    if ((st = make_real_weights(p, r)) || (st = scratch_for(p, r)))
        return st;
    if (!evl_type_is_float(type))
        hold_integers(p, r);
    return EVAL_OK;
}

static const evl_impl resize_impl = { prepare_resize, evl_resize_nearest };

const evl_op evl_op_resize = { .name = "Resize",
                               .min_inputs = 1,
                               .max_inputs = 4,
                               .min_outputs = 1,
                               .max_outputs = 1,
                               .infer = infer_resize,
                               .any = &resize_impl };
static const evl_op upsample = { .name = "Upsample",
                                 .min_inputs = 1,
                                 .max_inputs = 2,
                                 .min_outputs = 1,
                                 .max_outputs = 1,
                                 .infer = infer_resize,
                                 .any = &resize_impl };

const evl_op *const evl_ops_resize[] = { &evl_op_resize, &upsample, NULL };
