/* elementwise.c - operators that work on each element, with CNTK's corners: it keeps
** logarithms, roots and reciprocals finite. */
#include "readers/cntk/maker.h"

evl_value *evl_cntk_unary(evl_cntk_maker *k)
{
    return evl_cntk_call_1(k, k->node->op->operator, k->in[0]);
}

evl_value *evl_cntk_binary(evl_cntk_maker *k)
{
    return evl_cntk_call_2(k, k->node->op->operator, k->in[0], k->in[1]);
}

/* What has an effect in training only, and what keeps records of dynamic axes. */
evl_value *evl_cntk_identity(evl_cntk_maker *k)
{
    return k->in[0];
}

evl_value *evl_cntk_compare(evl_cntk_maker *k)
{
    return evl_cntk_to_real(k, evl_cntk_binary(k));
}

evl_value *evl_cntk_not_equal(evl_cntk_maker *k)
{
    evl_value *same = evl_cntk_call_2(k, "Equal", k->in[0], k->in[1]);
    return evl_cntk_to_real(k, evl_cntk_call_1(k, "Not", same));
}

/* Not below -85.1, whatever x is. */
evl_value *evl_cntk_safe_log(evl_cntk_maker *k, evl_value *x)
{
    static const double least = 1.1003738290472001e-37; /* the exponential of -85.1f */
    return evl_cntk_call_1(k, "Log", evl_cntk_call_number(k, "Max", x, least));
}

evl_value *evl_cntk_log(evl_cntk_maker *k)
{
    return evl_cntk_safe_log(k, k->in[0]);
}

/* 0 for negative x. */
evl_value *evl_cntk_sqrt(evl_cntk_maker *k)
{
    return evl_cntk_call_1(k, "Sqrt", evl_cntk_call_number(k, "Max", k->in[0], 0));
}

/* 0 for 0. */
evl_value *evl_cntk_reciprocal(evl_cntk_maker *k)
{
    evl_value *in[3];
    in[0] = evl_cntk_call_number(k, "Equal", k->in[0], 0);
    in[1] = evl_build_number(&k->b, k->node->real, 0);
    in[2] = evl_cntk_call_1(k, "Reciprocal", k->in[0]);
    return evl_cntk_call(k, "Where", in, 3, NULL, 0);
}

/* Operands: the least, the most, x. */
evl_value *evl_cntk_clip(evl_cntk_maker *k)
{
    return evl_cntk_call_2(k, "Max", evl_cntk_call_2(k, "Min", k->in[2], k->in[1]), k->in[0]);
}

evl_value *evl_cntk_if(evl_cntk_maker *k)
{
    evl_value *is_zero = evl_cntk_call_number(k, "Equal", k->in[0], 0);
    return evl_cntk_call_3(k, "Where", is_zero, k->in[2], k->in[1]);
}

/* log(e^a + e^b) = max(a, b) + log(1 + e^-|a - b|), which does not overflow. */
evl_value *evl_cntk_log_plus(evl_cntk_maker *k)
{
    evl_value *gap = evl_cntk_call_1(k, "Abs", evl_cntk_call_2(k, "Sub", k->in[0], k->in[1]));
    evl_value *small = evl_cntk_call_1(k, "Exp", evl_cntk_call_1(k, "Neg", gap));
    evl_value *more = evl_cntk_call_1(k, "Log", evl_cntk_call_number(k, "Add", small, 1));
    return evl_cntk_call_2(k, "Add", evl_cntk_call_2(k, "Max", k->in[0], k->in[1]), more);
}

evl_value *evl_cntk_straight_through(evl_cntk_maker *k)
{
    evl_value *in[3];
    in[0] = evl_cntk_call_number(k, "GreaterOrEqual", k->in[0], 0);
    in[1] = evl_build_number(&k->b, k->node->real, 1);
    in[2] = evl_build_number(&k->b, k->node->real, -1);
    return evl_cntk_call(k, "Where", in, 3, NULL, 0);
}

/* A diagonal matrix, kept as a column, times x. */
evl_value *evl_cntk_diag_times(evl_cntk_maker *k)
{
    return evl_cntk_call_2(k, "Mul", evl_cntk_flatten(k, k->in[0]), k->in[1]);
}

/* A mean or deviation may be stored as a column for samples of any shape. */
static evl_value *fitted(evl_cntk_maker *k, evl_value *v, const evl_value *x)
{
    bool is_same = evl_cntk_sample_size(v) == evl_cntk_sample_size(x);
    return is_same ? evl_cntk_like(k, v, x) : v;
}

evl_value *evl_cntk_normalize(evl_cntk_maker *k)
{
    evl_value *x = k->in[0];
    evl_value *centred = evl_cntk_call_2(k, "Sub", x, fitted(k, k->in[1], x));
    return evl_cntk_call_2(k, "Mul", centred, fitted(k, k->in[2], x));
}

evl_value *evl_cntk_denormalize(evl_cntk_maker *k)
{
    evl_value *x = k->in[0];
    evl_value *scaled = evl_cntk_call_2(k, "Div", x, fitted(k, k->in[2], x));
    return evl_cntk_call_2(k, "Add", scaled, fitted(k, k->in[1], x));
}
