/* elementwise.c - operators that work on each element, with CNTK's corners: it keeps
** logarithms, roots and reciprocals finite. */
#include "readers/cntk1/ops.h"

evl_value *evl_cntk1_unary(evl_cntk1_maker *k)
{
    return evl_cntk1_call_1(k, k->node->op->operator, k->in[0]);
}

evl_value *evl_cntk1_binary(evl_cntk1_maker *k)
{
    return evl_cntk1_call_2(k, k->node->op->operator, k->in[0], k->in[1]);
}

/* What has an effect in training only, and what keeps records of dynamic axes. */
evl_value *evl_cntk1_identity(evl_cntk1_maker *k)
{
    return k->in[0];
}

evl_value *evl_cntk1_compare(evl_cntk1_maker *k)
{
    return evl_cntk1_to_real(k, evl_cntk1_binary(k));
}

evl_value *evl_cntk1_not_equal(evl_cntk1_maker *k)
{
    evl_value *same = evl_cntk1_call_2(k, "Equal", k->in[0], k->in[1]);
    return evl_cntk1_to_real(k, evl_cntk1_call_1(k, "Not", same));
}

/* Not below -85.1, whatever x is. */
evl_value *evl_cntk1_safe_log(evl_cntk1_maker *k, evl_value *x)
{
    static const double least = 1.1003721500112727e-37; /* exp(-85.1) */
    return evl_cntk1_call_1(k, "Log", evl_cntk1_call_number(k, "Max", x, least));
}

evl_value *evl_cntk1_log(evl_cntk1_maker *k)
{
    return evl_cntk1_safe_log(k, k->in[0]);
}

/* 0 for negative x. */
evl_value *evl_cntk1_sqrt(evl_cntk1_maker *k)
{
    return evl_cntk1_call_1(k, "Sqrt", evl_cntk1_call_number(k, "Max", k->in[0], 0));
}

/* 0 for 0. */
evl_value *evl_cntk1_reciprocal(evl_cntk1_maker *k)
{
    evl_value *in[3];
    in[0] = evl_cntk1_call_number(k, "Equal", k->in[0], 0);
    in[1] = evl_build_number(&k->b, k->node->real, 0);
    in[2] = evl_cntk1_call_1(k, "Reciprocal", k->in[0]);
    return evl_cntk1_call(k, "Where", in, 3, NULL, 0);
}

/* Operands: the least, the most, x. */
evl_value *evl_cntk1_clip(evl_cntk1_maker *k)
{
    return evl_cntk1_call_2(k, "Max", evl_cntk1_call_2(k, "Min", k->in[2], k->in[1]), k->in[0]);
}

evl_value *evl_cntk1_if(evl_cntk1_maker *k)
{
    evl_value *is_zero = evl_cntk1_call_number(k, "Equal", k->in[0], 0);
    return evl_cntk1_call_3(k, "Where", is_zero, k->in[2], k->in[1]);
}

/* log(e^a + e^b) = max(a, b) + log(1 + e^-|a - b|), which does not overflow. */
evl_value *evl_cntk1_log_plus(evl_cntk1_maker *k)
{
    evl_value *gap = evl_cntk1_call_1(k, "Abs", evl_cntk1_call_2(k, "Sub", k->in[0], k->in[1]));
    evl_value *small = evl_cntk1_call_1(k, "Exp", evl_cntk1_call_1(k, "Neg", gap));
    evl_value *more = evl_cntk1_call_1(k, "Log", evl_cntk1_call_number(k, "Add", small, 1));
    return evl_cntk1_call_2(k, "Add", evl_cntk1_call_2(k, "Max", k->in[0], k->in[1]), more);
}

/* A diagonal matrix, kept as a column, times x. */
evl_value *evl_cntk1_diag_times(evl_cntk1_maker *k)
{
    return evl_cntk1_call_2(k, "Mul", evl_cntk1_flatten(k, k->in[0]), k->in[1]);
}

/* A mean or deviation may be stored as a column for samples of any shape. */
static evl_value *fitted(evl_cntk1_maker *k, evl_value *v, const evl_value *x)
{
    bool is_same = evl_cntk1_sample_size(v) == evl_cntk1_sample_size(x);
    return is_same ? evl_cntk1_like(k, v, x) : v;
}

evl_value *evl_cntk1_normalize(evl_cntk1_maker *k)
{
    evl_value *x = k->in[0];
    evl_value *centred = evl_cntk1_call_2(k, "Sub", x, fitted(k, k->in[1], x));
    return evl_cntk1_call_2(k, "Mul", centred, fitted(k, k->in[2], x));
}

evl_value *evl_cntk1_denormalize(evl_cntk1_maker *k)
{
    evl_value *x = k->in[0];
    evl_value *scaled = evl_cntk1_call_2(k, "Div", x, fitted(k, k->in[2], x));
    return evl_cntk1_call_2(k, "Add", scaled, fitted(k, k->in[1], x));
}
