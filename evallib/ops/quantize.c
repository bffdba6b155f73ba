/* QuantizeLinear and DequantizeLinear, of ONNX and of com.microsoft, and
** DynamicQuantizeLinear.
**
** One scale for the whole tensor, one for each index of an axis, or one for each block of
** an axis (and each place beside it): in every case the tensor is rows, and a row has
** either one scale or one for each of its elements. */
#include "ops/quantize.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <math.h>
#include <string.h>

enum { TILE = 1 << 14, PART = 64 };

typedef struct layout {
    size_t n, n_rows, row;      /* elements; a row's elements, at most */
    size_t per_row;             /* blocks along one line of the axis; 0: rows have no end before */
    size_t line;                /* elements of that line, the last block of which may be short */
    size_t scales, cycle, each; /* scales; row i's begin at i / each % cycle * (step ? row : 1) */
    size_t step;
} layout;

bool evl_quantized_range(EvalType type, evl_number *least, evl_number *most)
{
    int bits = evl_type_packed_bits(type) ? evl_type_packed_bits(type)
                                          : 8 * (int)evl_type_size(type);
    bool is_signed = type == EVAL_INT8 || type == EVAL_INT16 || type == EVAL_INT32 ||
                     type == EVAL_INT4 || type == EVAL_INT2;
    bool is_unsigned = type == EVAL_UINT8 || type == EVAL_UINT16 || type == EVAL_UINT4 ||
                       type == EVAL_UINT2;
    *least = is_signed ? -ldexp(1, bits - 1) : 0;
    *most = ldexp(1, is_signed ? bits - 1 : bits) - 1;
    return is_signed || is_unsigned;
}

evl_quantized evl_quantized_of(EvalType type)
{
    evl_quantized q = { .type = type };
    (void)evl_quantized_range(type, &q.least, &q.most);
    if (evl_type_packed_bits(type)) /* stored in bytes */
        q.type = q.least < 0 ? EVAL_INT8 : EVAL_UINT8;
    return q;
}

EvalType evl_quantize_type(const evl_machine *m, const evl_use *use, size_t input)
{
    return evl_use_declared(use, input) == EVAL_FLOAT64 ? m->real : EVAL_FLOAT32;
}

void evl_reals_of(const evl_tensor *t, size_t n, EvalType real, void *room)
{
    if (t)
        (void)evl_convert(n, t->type, t->data, real, room);
    else if (n)
        memset(room, 0, n * evl_type_size(real));
}

evl_number evl_real_of(EvalType real, evl_number x)
{
    return real == EVAL_FLOAT32 ? (evl_number)(float)x : x;
}

/* --- shapes --- */

static bool is_one(const evl_shape *s)
{
    return s->rank == 0 || (s->rank == 1 && s->dim[0] == 1);
}

/* Opset 10 knew no axis, and its scales are single numbers. A vector has one axis only. */
static EvalStatus axis_of(evl_context *ctx, const evl_use *use, int32_t *axis)
{
    const evl_shape *x = &use->in[0]->shape;
    int64_t wanted = evl_node_int(use->node, "axis", 1);
    return evl_axis(ctx, "axis", x->rank == 1 ? 0 : wanted, x->rank, axis);
}

static EvalStatus wrong_scale(evl_context *ctx, const evl_shape *scale, const evl_shape *x)
{
    char text[EVL_SHAPE_TEXT], of[EVL_SHAPE_TEXT];
    return evl_fail(ctx, EVAL_ERR_SHAPE,
                    "the scale has shape %s, expected one number, one for each index of the axis, "
                    "or one for each block of %s",
                    evl_shape_text(scale, text), evl_shape_text(x, of));
}

static EvalStatus blocks_of(evl_context *ctx, const evl_use *use, int32_t axis, layout *l)
{
    const evl_shape *x = &use->in[0]->shape, *scale = &use->in[1]->shape;
    int64_t size = x->dim[axis], n = scale->dim[axis];
    int64_t block = evl_node_int(use->node, "block_size", 0);
    for (int32_t i = 0; i < x->rank; i++)
        if (i != axis && x->dim[i] != scale->dim[i])
            return wrong_scale(ctx, scale, x);
    if (n < 1 && size > 0)
        return wrong_scale(ctx, scale, x);
    if (block <= 0)
        block = n > 0 ? (size + n - 1) / n : 1;
    if (block < 1 || (size + block - 1) / block != n)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "blocks of %lld along axis %d of %lld, and %lld scales",
                        (long long)block, (int)axis, (long long)size, (long long)n);
    size_t inner = evl_shape_count_part(x, axis + 1, x->rank);
    l->scales = evl_shape_count(scale);
    if (inner == 1) { /* a row is a block */
        l->per_row = (size_t)n;
        l->line = (size_t)size;
        l->row = (size_t)block;
        l->n_rows = l->scales;
        l->each = 1;
        l->cycle = l->scales;
        return EVAL_OK;
    }
    l->step = 1;
    l->row = inner;
    l->n_rows = inner ? l->n / inner : 0;
    l->per_row = (size_t)size; /* rows of a line */
    l->line = (size_t)n;       /* and their blocks */
    l->each = (size_t)block;
    return EVAL_OK;
}

static EvalStatus layout_of(evl_context *ctx, const evl_use *use, layout *l)
{
    const evl_shape *x = &use->in[0]->shape, *scale = &use->in[1]->shape;
    int32_t axis = 0;
    *l = (layout){ .n = evl_shape_count(x), .scales = 1, .cycle = 1, .each = 1 };
    l->row = TILE;
    l->n_rows = (l->n + TILE - 1) / TILE;
    if (is_one(scale) && evl_node_int(use->node, "block_size", 0) == 0)
        return EVAL_OK;
    EvalStatus st = axis_of(ctx, use, &axis);
    if (st != EVAL_OK)
        return st;
    if (scale->rank == x->rank && (x->rank > 1 || evl_node_int(use->node, "block_size", 0) > 0))
        return blocks_of(ctx, use, axis, l);
    if (scale->rank != 1 || scale->dim[0] != x->dim[axis])
        return wrong_scale(ctx, scale, x);
    size_t inner = evl_shape_count_part(x, axis + 1, x->rank);
    l->scales = l->cycle = (size_t)scale->dim[0];
    l->row = inner;
    l->n_rows = inner ? l->n / inner : 0;
    if (inner == 1) {
        l->step = 1;
        l->row = l->scales;
        l->n_rows = l->row ? l->n / l->row : 0;
        l->cycle = 1;
    }
    return EVAL_OK;
}

typedef struct row {
    size_t at, n, scale;
} row;

static row row_of(const layout *l, size_t i)
{
    row r = { i * l->row, l->row, i / l->each % l->cycle * (l->step ? l->row : 1) };
    if (l->step && l->per_row) /* blocks of rows: line, then block of the row in it */
        r.scale = (i / l->per_row * l->line + i % l->per_row / l->each) * l->row;
    else if (l->per_row) /* blocks in a row: the last of a line may be short */
        r.at = i / l->per_row * l->line + i % l->per_row * l->row;
    size_t end = !l->step && l->per_row ? (i / l->per_row + 1) * l->line : l->n;
    r.n = end - r.at < r.n ? end - r.at : r.n;
    return r;
}

static EvalStatus check_zero(const evl_infer *x)
{
    const evl_tensor *scale = x->use.in[1], *zero = evl_use_in(&x->use, 2);
    char text[EVL_SHAPE_TEXT], wanted[EVL_SHAPE_TEXT];
    if (!zero || !evl_shape_is_known(&zero->shape) || !evl_shape_is_known(&scale->shape) ||
        evl_shape_equal(&zero->shape, &scale->shape) ||
        (is_one(&zero->shape) && is_one(&scale->shape)))
        return EVAL_OK;
    return evl_fail(x->ctx, EVAL_ERR_SHAPE, "the zero point has shape %s, expected the scale's, %s",
                    evl_shape_text(&zero->shape, text), evl_shape_text(&scale->shape, wanted));
}

static EvalStatus infer_quantize(evl_infer *x)
{
    const evl_tensor *zero = evl_use_in(&x->use, 2);
    evl_number least, most;
    int64_t asked = evl_node_int(x->use.node, "output_dtype", 0);
    EvalType type = zero && zero->type != EVAL_UNDEFINED ? zero->type
                    : asked                             ? (EvalType)asked
                                                        : EVAL_UINT8;
    if (!evl_quantized_range(type, &least, &most) && !evl_type_is_small_float(type))
        return evl_fail(x->ctx, EVAL_ERR_TYPE, "numbers cannot be quantized to %s",
                        evl_type_name(type));
    x->out[0].type = type;
    x->out[0].shape = x->use.in[0]->shape;
    EvalStatus st = evl_infer_takes(x, 0, EVL_TAKES_INTEGERS | EVL_TAKES_REALS);
    return st == EVAL_OK ? check_zero(x) : st;
}

static EvalStatus infer_dequantize(evl_infer *x)
{
    int64_t asked = evl_node_int(x->use.node, "output_dtype", 0);
    EvalType type = x->use.in[0]->type;
    evl_number least, most;
    if (type != EVAL_UNDEFINED && !evl_quantized_range(type, &least, &most) &&
        !evl_type_is_small_float(type))
        return evl_fail(x->ctx, EVAL_ERR_TYPE, "%s stands for no quantized numbers",
                        evl_type_name(type));
    x->out[0].type = asked ? (EvalType)asked : x->use.in[1]->type;
    if (evl_type_is_small_float(x->out[0].type)) /* a scale that is a power of two */
        x->out[0].type = EVAL_FLOAT32;
    x->out[0].shape = x->use.in[0]->shape;
    return check_zero(x);
}

/* --- running --- */

typedef struct plan {
    layout layout;
    evl_quantized of;
    const evl_quantize_loops *loops;
    EvalType real;  /* what they read or write */
    EvalType small; /* a small floating-point type instead */
    bool saturates, to_real;
    size_t rows; /* for a thread at once */
} plan;

static EvalStatus prepare(evl_prepare *p)
{
    plan *s = evl_arena_take(p->arena, sizeof *s);
    if (!s)
        return evl_no_memory(p->ctx);
    EvalStatus st = layout_of(p->ctx, &p->use, &s->layout);
    s->to_real = evl_type_is_float(p->out[0]->type);
    EvalType type = s->to_real ? p->use.in[0]->type : p->out[0]->type;
    s->real = s->to_real ? p->machine->real : evl_quantize_type(p->machine, &p->use, 1);
    s->loops = p->machine->loops[s->real]->quantized;
    s->small = evl_type_is_small_float(type) ? type : EVAL_UNDEFINED;
    s->of = evl_quantized_of(type);
    s->of.step = s->layout.step;
    s->saturates = evl_node_int(p->use.node, "saturate", 1) != 0;
    s->rows = TILE / (s->layout.row + 1) + 1;
    p->scratch_bytes = 2 * s->layout.scales * evl_type_size(s->real);
    p->state = s;
    return st;
}

typedef struct running {
    const evl_call *call;
    const plan *s;
    evl_tensor scale, zero; /* reals */
} running;

static void small_row(const running *r, const row *at)
{
    const plan *s = r->s;
    const evl_tensor *x = r->call->in[0];
    uint8_t *codes = r->call->out[0]->data;
    for (size_t i = 0; i < at->n; i++) {
        size_t k = at->scale + i * s->of.step;
        evl_number scale = evl_tensor_f64(&r->scale, k), zero = evl_tensor_f64(&r->zero, k);
        evl_number y = evl_real_of(s->real, evl_tensor_f64(x, at->at + i));
        y = evl_real_of(s->real, s->to_real ? (y - zero) * scale : y / scale);
        if (s->to_real)
            (void)evl_convert(1, EVAL_FLOAT64, &y, s->real,
                              (char *)r->call->out[0]->data + (at->at + i) * evl_type_size(s->real));
        else
            codes[at->at + i] = evl_small_from_double(s->small, y + zero, s->saturates, EVL_SMALL_UP);
    }
}

/* By way of reals of the type to quantize in. */
static void quantize_converted(const running *r, const evl_quantized *how, const row *at)
{
    const EvalType real = r->s->real;
    const evl_tensor *x = r->call->in[0], *y = r->call->out[0];
    double part[PART];
    for (size_t i = 0; i < at->n; i += PART) {
        size_t n = at->n - i < PART ? at->n - i : PART, size = evl_type_size(real);
        evl_quantized some = *how;
        some.scale = (const char *)how->scale + i * how->step * size;
        some.zero = (const char *)how->zero + i * how->step * size;
        (void)evl_convert(n, x->type, (char *)x->data + (at->at + i) * evl_type_size(x->type),
                          real, part);
        r->s->loops->quantize(&some, n, part,
                              (char *)y->data + (at->at + i) * evl_type_size(y->type));
    }
}

static void one_row(const running *r, size_t index)
{
    const plan *s = r->s;
    const evl_tensor *x = r->call->in[0], *y = r->call->out[0];
    size_t size = evl_type_size(s->real);
    row at = row_of(&s->layout, index);
    evl_quantized how = s->of;
    how.scale = (const char *)r->scale.data + at.scale * size;
    how.zero = (const char *)r->zero.data + at.scale * size;
    if (s->small != EVAL_UNDEFINED)
        small_row(r, &at);
    else if (!s->to_real && x->type != s->real)
        quantize_converted(r, &how, &at);
    else
        (s->to_real ? s->loops->dequantize : s->loops->quantize)(
            &how, at.n, (const char *)x->data + at.at * evl_type_size(x->type),
            (char *)y->data + at.at * evl_type_size(y->type));
}

static void rows_work(void *arg, size_t tile, size_t lane)
{
    const running *r = arg;
    size_t from = tile * r->s->rows, to = from + r->s->rows;
    (void)lane;
    for (size_t i = from; i < to && i < r->s->layout.n_rows; i++)
        one_row(r, i);
}

static EvalStatus run(const evl_call *call)
{
    const plan *s = call->state;
    const evl_use use = { call->node, call->in, call->n_in };
    size_t bytes = evl_type_size(s->real) * s->layout.scales;
    running r = { .call = call, .s = s };
    r.scale = (evl_tensor){ .type = s->real, .data = call->scratch };
    r.zero = (evl_tensor){ .type = s->real, .data = (char *)call->scratch + bytes };
    evl_reals_of(call->in[1], s->layout.scales, s->real, r.scale.data);
    evl_reals_of(evl_use_in(&use, 2), s->layout.scales, s->real, r.zero.data);
    if (s->layout.n)
        evl_parallel_for(call->machine->pool, (s->layout.n_rows + s->rows - 1) / s->rows, rows_work, &r);
    return EVAL_OK;
}

/* --- dynamic --- */

static EvalStatus infer_dynamic(evl_infer *x)
{
    x->out[0].type = EVAL_UINT8;
    x->out[0].shape = x->use.in[0]->shape;
    for (size_t i = 1; i < x->n_out; i++)
        x->out[i].shape = evl_shape_scalar();
    if (x->n_out > 1)
        x->out[1].type = x->use.in[0]->type;
    if (x->n_out > 2)
        x->out[2].type = EVAL_UINT8;
    return EVAL_OK;
}

typedef struct dynamic_plan {
    EvalType real;
    const evl_quantize_loops *loops;
    size_t n;
} dynamic_plan;

static EvalStatus prepare_dynamic(evl_prepare *p)
{
    dynamic_plan *s = evl_arena_take(p->arena, sizeof *s);
    if (!s)
        return evl_no_memory(p->ctx);
    s->n = evl_shape_count(&p->use.in[0]->shape);
    s->real = evl_quantize_type(p->machine, &p->use, 0);
    s->loops = p->machine->loops[s->real]->quantized;
    p->state = s;
    if (s->real != p->machine->real)
        p->scratch_bytes = s->n * evl_type_size(s->real);
    return p->out[0] ? EVAL_OK
                     : evl_fail(p->ctx, EVAL_ERR_FORMAT, "output 0 is left out, and needed");
}

/* The range, which 0 belongs to, over 255; of zeros alone 1, as in ONNX Runtime. */
static void scale_of(const evl_loops *loops, const dynamic_plan *s, const void *x, evl_number *scale,
                     evl_number *zero)
{
    evl_axis_lines all = { s->n, 1, 1 };
    double room;
    evl_tensor end = { .type = s->real, .data = &room };
    evl_number least = 0, most = 0;
    if (all.n) {
        loops->reduce[EVL_REDUCE_MIN](all, x, &room);
        least = fmin(0, evl_tensor_f64(&end, 0));
        loops->reduce[EVL_REDUCE_MAX](all, x, &room);
        most = fmax(0, evl_tensor_f64(&end, 0));
    }
    *scale = most == least ? 1 : evl_real_of(s->real, evl_real_of(s->real, most - least) / 255);
    *zero = nearbyint(fmin(255, fmax(0, evl_real_of(s->real, -least / *scale))));
}

static EvalStatus run_dynamic(const evl_call *call)
{
    const evl_machine *m = call->machine;
    const dynamic_plan *s = call->state;
    const void *x = call->in[0]->data;
    evl_quantized how = evl_quantized_of(EVAL_UINT8);
    evl_number scale, zero;
    double reals[2];
    if (s->real != m->real) {
        (void)evl_convert(s->n, m->real, x, s->real, call->scratch);
        x = call->scratch;
    }
    scale_of(m->loops[s->real], s, x, &scale, &zero);
    (void)evl_convert(1, EVAL_FLOAT64, &scale, s->real, &reals[0]);
    (void)evl_convert(1, EVAL_FLOAT64, &zero, s->real, &reals[1]);
    how.scale = &reals[0];
    how.zero = &reals[1];
    s->loops->quantize(&how, s->n, x, call->out[0]->data);
    for (size_t i = 1; i < call->n_out; i++)
        if (call->out[i])
            (void)evl_convert(1, EVAL_FLOAT64, i == 1 ? &scale : &zero, call->out[i]->type,
                              call->out[i]->data);
    return EVAL_OK;
}

static const evl_impl linear = { prepare, run };
static const evl_impl dynamic = { prepare_dynamic, run_dynamic };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
const evl_op evl_op_quantize_linear = {
    "QuantizeLinear", NULL, 2, 3, 1, 1, 0, 0, infer_quantize, { NULL, NULL }, NULL, &linear, 0
};
const evl_op evl_op_dequantize_linear = {
    "DequantizeLinear", NULL, 2, 3, 1, 1, 0, 0, infer_dequantize, { NULL, NULL }, NULL, &linear, 0
};
static const evl_op op_quantize_microsoft = {
    "QuantizeLinear", "com.microsoft", 2, 3, 1, 1, 0, 0, infer_quantize, { NULL, NULL }, NULL, &linear, 0
};
static const evl_op op_dequantize_microsoft = {
    "DequantizeLinear", "com.microsoft", 2, 3, 1, 1, 0, 0, infer_dequantize, { NULL, NULL }, NULL, &linear, 0
};
static const evl_op op_dynamic = {
    "DynamicQuantizeLinear", NULL, 1, 1, 1, 3, 0, 0, infer_dynamic, { &dynamic, &dynamic }, NULL, NULL, 0
};
/* clang-format on */

const evl_op *const evl_ops_quantize[] = { &evl_op_quantize_linear,  &evl_op_dequantize_linear,
                                           &op_quantize_microsoft,   &op_dequantize_microsoft,
                                           &op_dynamic,              NULL };
