/* RoiAlign: a bin is what is interpolated at points spread over it. MaxRoiPool: a bin is the
** largest of its elements. CropAndResize: a point. A bin at a time, in all channels. */
#include "ops/lines.h"
#include "ops/roi.h"
#include "real.h"
#include <inttypes.h>

/* Where a bin is, and what it becomes in each channel. */
typedef struct bin {
    const evl_roi *r;
    const real *x; /* planes of the region's sample */
    real *y;
    size_t y_step;
    int64_t row, column; /* in the output */
} bin;

static bin bin_at(const evl_call *call, size_t index, size_t sample)
{
    const evl_roi *r = call->state;
    size_t each = (size_t)(r->out_height * r->out_width), region = index / each;
    return (bin){ .r = r,
                  .x = (const real *)call->in[0]->data +
                       sample * r->channels * (size_t)(r->height * r->width),
                  .y = (real *)call->out[0]->data + region * r->channels * each + index % each,
                  .y_step = each,
                  .row = (int64_t)(index % each) / r->out_width,
                  .column = (int64_t)(index % each) % r->out_width };
}

/* Between two elements along a dimension: the weight of the second is `part`. */
typedef struct between {
    int64_t first, second;
    real part;
    bool is_inside;
} between;

static between between_of(real at, int64_t n)
{
    between b = { .is_inside = n > 0 && at >= -1 && at <= (real)n };
    if (!b.is_inside)
        return b;
    at = at > 0 ? at : 0;
    b.first = (int64_t)at;
    if (b.first >= n - 1) {
        b.first = b.second = n - 1;
        return b;
    }
    b.second = b.first + 1;
    b.part = at - (real)b.first;
    return b;
}

/* One side of a bin: where it begins, how long it is, how many points are on it. */
typedef struct side {
    real from, length;
    int64_t n;
} side;

static side side_of(const evl_roi *r, real from, real to, int64_t bins, int64_t i)
{
    real shift = r->is_half_pixel ? (real)0.5 : 0, scale = (real)r->scale;
    from = from * scale - shift;
    real size = to * scale - shift - from, length;
    if (!r->is_half_pixel && !(size > 1))
        size = 1;
    length = size / (real)bins;
    side s = { from + (real)i * length, length, r->samples };
    if (s.n == 0 && length > 0)
        s.n = length < INT16_MAX ? (int64_t)ceil(length) : INT16_MAX;
    return s;
}

static real side_at(const side *s, int64_t i)
{
    return s->from + ((real)i + (real)0.5) * s->length / (real)s->n;
}

/* What a point adds. Of a maximum, as the operator was first written, the largest of the
** four weighed elements counts. */
static real point(const bin *b, const real *x, const between *row, const between *column)
{
    real hy = 1 - row->part, hx = 1 - column->part;
    const real *top = x + row->first * b->r->width, *bottom = x + row->second * b->r->width;
    real four[4] = { hy * hx * top[column->first], hy * column->part * top[column->second],
                     row->part * hx * bottom[column->first],
                     row->part * column->part * bottom[column->second] };
    if (!b->r->is_max)
        return four[0] + four[1] + four[2] + four[3];
    real most = four[0];
    for (int i = 1; i < 4; i++)
        most = four[i] > most ? four[i] : most;
    return most;
}

/* A point outside is 0. */
static real align(const bin *b, const real *x, const side *down, const side *across)
{
    real sum = 0, most = 0;
    for (int64_t i = 0; i < down->n; i++) {
        between row = between_of(side_at(down, i), b->r->height);
        if (!row.is_inside) { /* all its points are; there may be very many of them */
            most = i == 0 || 0 > most ? 0 : most;
            continue;
        }
        for (int64_t j = 0; j < across->n; j++) {
            between column = between_of(side_at(across, j), b->r->width);
            real v = row.is_inside && column.is_inside ? point(b, x, &row, &column) : 0;
            sum += v;
            most = (i == 0 && j == 0) || v > most ? v : most;
        }
    }
    int64_t n = down->n * across->n;
    return b->r->is_max ? most : sum / (real)(n > 1 ? n : 1);
}

static void align_bin(void *arg, size_t index)
{
    const evl_call *call = arg;
    const evl_roi *r = call->state;
    size_t region = index / (size_t)(r->out_height * r->out_width);
    const real *corner = (const real *)call->in[1]->data + region * 4;
    bin b = bin_at(call, index, (size_t)evl_tensor_i64(call->in[2], region));
    side across = side_of(r, corner[0], corner[2], r->out_width, b.column);
    side down = side_of(r, corner[1], corner[3], r->out_height, b.row);
    for (size_t c = 0; c < r->channels; c++)
        b.y[c * b.y_step] = align(&b, b.x + c * (size_t)(r->height * r->width), &down, &across);
}

/* Point i of `n` from corner to corner, which are shares of a plane of `size`. */
static between crop_point(const evl_roi *r, real from, real to, int64_t size, int64_t n, int64_t i)
{
    real last = (real)(size - 1);
    real at = n > 1 ? from * last + (real)i * ((to - from) * last / (real)(n - 1))
                    : (from + to) * last / 2;
    between b = { .is_inside = at >= 0 && at <= last };
    if (!b.is_inside)
        return b;
    b.first = (int64_t)(r->is_nearest ? round(at) : floor(at));
    b.second = b.first + (b.first < size - 1);
    b.part = r->is_nearest ? 0 : at - (real)b.first;
    return b;
}

static void crop_bin(void *arg, size_t index)
{
    const evl_call *call = arg;
    const evl_roi *r = call->state;
    size_t region = index / (size_t)(r->out_height * r->out_width);
    const real *corner = (const real *)call->in[1]->data + region * 4;
    bin b = bin_at(call, index, (size_t)evl_tensor_i64(call->in[2], region));
    between row = crop_point(r, corner[0], corner[2], r->height, r->out_height, b.row);
    between column = crop_point(r, corner[1], corner[3], r->width, r->out_width, b.column);
    for (size_t c = 0; c < r->channels; c++)
        b.y[c * b.y_step] = row.is_inside && column.is_inside
                                ? point(&b, b.x + c * (size_t)(r->height * r->width), &row, &column)
                                : (real)r->outside;
}

static EvalStatus check_sample(const evl_call *call, size_t region, bool is_there)
{
    const evl_roi *r = call->state;
    return is_there ? EVAL_OK
                    : evl_fail(call->ctx, EVAL_ERR_SHAPE,
                               "region %zu is of a sample that is not in 0 .. %" PRId64, region,
                               (int64_t)r->batch - 1);
}

static void all_bins(const evl_call *call, evl_each_work *work)
{
    const evl_roi *r = call->state;
    enum { WORK = 64 }; /* of a bin in a channel, in elements */
    evl_call own = *call;
    evl_each_for(r->n * (size_t)(r->out_height * r->out_width), r->channels * WORK,
                 call->machine->pool, work, &own);
}

static EvalStatus run_samples(const evl_call *call, evl_each_work *work)
{
    const evl_roi *r = call->state;
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < r->n && !st; i++) {
        int64_t sample = evl_tensor_i64(call->in[2], i);
        st = check_sample(call, i, sample >= 0 && sample < (int64_t)r->batch);
    }
    if (!st)
        all_bins(call, work);
    return st;
}

static EvalStatus run_align(const evl_call *call)
{
    return run_samples(call, align_bin);
}

static EvalStatus run_crop(const evl_call *call)
{
    return run_samples(call, crop_bin);
}

/* Elements of a bin: whole ones, from the rounded corners on, as far as they are there. */
typedef struct span {
    int64_t from, to;
} span;

static int64_t bounded(real x, int64_t n)
{
    return x > 0 ? (x < (real)n ? (int64_t)x : n) : 0;
}

static span span_of(const evl_roi *r, real from, real to, int64_t n, int64_t bins, int64_t i)
{
    real start = round(from * (real)r->scale), size = round(to * (real)r->scale) - start + 1;
    real length = (size > 1 ? size : 1) / (real)bins;
    return (span){ bounded(floor((real)i * length) + start, n),
                   bounded(ceil((real)(i + 1) * length) + start, n) };
}

static void pool_bin(void *arg, size_t index)
{
    const evl_call *call = arg;
    const evl_roi *r = call->state;
    size_t region = index / (size_t)(r->out_height * r->out_width);
    const real *corner = (const real *)call->in[1]->data + region * 5;
    bin b = bin_at(call, index, (size_t)corner[0]);
    span across = span_of(r, corner[1], corner[3], r->width, r->out_width, b.column);
    span down = span_of(r, corner[2], corner[4], r->height, r->out_height, b.row);
    bool is_empty = across.from >= across.to || down.from >= down.to;
    for (size_t c = 0; c < r->channels; c++) {
        const real *x = b.x + c * (size_t)(r->height * r->width);
        real most = is_empty ? 0 : -(real)INFINITY;
        for (int64_t i = down.from; i < down.to; i++)
            for (int64_t j = across.from; j < across.to; j++)
                most = x[i * r->width + j] > most ? x[i * r->width + j] : most;
        b.y[c * b.y_step] = most;
    }
}

static EvalStatus run_pool(const evl_call *call)
{
    const evl_roi *r = call->state;
    const real *corner = call->in[1]->data;
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < r->n && !st; i++)
        st = check_sample(call, i, corner[i * 5] >= 0 && corner[i * 5] < (real)r->batch);
    if (!st)
        all_bins(call, pool_bin);
    return st;
}

extern const evl_impl TWIN(evl_crop_and_resize), TWIN(evl_roi_align), TWIN(evl_max_roi_pool);
const evl_impl TWIN(evl_crop_and_resize) = { evl_roi_prepare, run_crop };
const evl_impl TWIN(evl_roi_align) = { evl_roi_prepare, run_align };
const evl_impl TWIN(evl_max_roi_pool) = { evl_roi_prepare, run_pool };
