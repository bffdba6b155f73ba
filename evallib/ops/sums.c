#include "ops/sums.h"
#include "ops/quantize.h"
#include <math.h>
#include <string.h>

evl_sums evl_sums_of(const evl_machine *m, const evl_use *use, size_t scale, EvalType out)
{
    evl_sums s = { .type = out, .real = m->real };
    if (out != EVAL_INT32 && !evl_type_is_float(out)) {
        s.real = evl_use_in(use, scale) ? evl_quantize_type(m, use, scale) : m->real;
        s.of = evl_quantized_of(out);
        s.of.least = fmax(s.of.least, evl_node_number(use->node, EVL_LEAST, s.of.least));
        s.of.most = fmin(s.of.most, evl_node_number(use->node, EVL_MOST, s.of.most));
    } else {
        s.of.type = EVAL_INT32;
    }
    s.loops = m->loops[s.real];
    return s;
}

static void add_to(size_t n, const int32_t *add, size_t step, int32_t *c)
{
    for (size_t i = 0; i < n; i++)
        c[i] = (int32_t)((uint32_t)c[i] + (uint32_t)add[i * step]);
}

void evl_sums_finish(const evl_sums *s, size_t n, int32_t *c, const int32_t *add, const void *scale,
                     const void *zero, size_t step, void *y)
{
    evl_quantized how = s->of;
    how.scale = scale;
    how.zero = zero;
    how.step = step;
    if (evl_is_byte(s->type) && s->real == EVAL_FLOAT32) {
        const evl_requantized fast = { scale, add, step, *(const float *)zero, (float)how.least, (float)how.most };
        s->loops->integers->requantize(&fast, n, c, y);
        return;
    }
    if (add)
        add_to(n, add, step, c);
    if (s->type == EVAL_INT32)
        memcpy(y, c, n * sizeof *c);
    else if (evl_type_is_float(s->type))
        s->loops->quantized->dequantize(&how, n, c, y);
    else
        s->loops->quantized->requantize(&how, n, c, y);
}

evl_number evl_sums_scale(const evl_sums *s, evl_number a, evl_number b, evl_number y)
{
    return evl_real_of(s->real, evl_real_of(s->real, a * b) / y);
}

evl_number evl_parameter(const evl_tensor *t, size_t index, evl_number fallback)
{
    size_t n = t ? evl_shape_count(&t->shape) : 0;
    return n ? evl_tensor_f64(t, index % n) : fallback;
}

void evl_parameters(const evl_tensor *t, size_t index, size_t n, evl_number fallback, evl_number *to)
{
    size_t count = t ? evl_shape_count(&t->shape) : 0;
    bool is_one = count < 2, is_run = count > 1 && n <= count - index % count;
    evl_number one = is_one ? evl_parameter(t, 0, fallback) : 0;
    if (is_run)
        (void)evl_convert(n, t->type, (const char *)t->data + index % count * evl_type_size(t->type), EVAL_FLOAT64, to);
    for (size_t i = 0; !is_run && i < n; i++)
        to[i] = is_one ? one : evl_parameter(t, index + i, fallback);
}

bool evl_is_byte(EvalType type)
{
    return type == EVAL_INT8 || type == EVAL_UINT8;
}

EvalStatus evl_infer_bytes(const evl_infer *infer, size_t input)
{
    const evl_tensor *t = evl_use_in(&infer->use, input);
    if (!t || t->type == EVAL_UNDEFINED || evl_is_byte(t->type))
        return EVAL_OK;
    return evl_fail(infer->ctx, EVAL_ERR_TYPE, "input %zu is %s, expected int8 or uint8", input,
                    evl_type_name(t->type));
}
