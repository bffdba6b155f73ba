/* FlexAttention, and Attention and MultiHeadAttention of com.microsoft, by ONNX's Attention
** and by what stands around it. */
#include "ops/ops.h"
#include "readers/onnx/compose.h"

static evl_value *with_ints(evl_composing *c, const char *op, evl_value *x, const int64_t *ints,
                            size_t n)
{
    return evl_compose_2(c, op, x, evl_compose_ints(c, ints, n));
}

static evl_value *part(evl_composing *c, evl_value *x, int64_t axis, int64_t from, int64_t to)
{
    evl_value *in[] = { x, evl_compose_ints(c, &from, 1), evl_compose_ints(c, &to, 1),
                        evl_compose_ints(c, &axis, 1) };
    return evl_onnx_put(&c->put, "Slice", in, 4, NULL, 0);
}

static evl_value *joined(evl_composing *c, evl_value *const *in, size_t n)
{
    evl_attribute axis = evl_attribute_int("axis", 0);
    return evl_onnx_put(&c->put, "Concat", in, n, &axis, 1);
}

/* --- FlexAttention --- */

/* Dimensions from .. to-1. */
static evl_value *dims(evl_composing *c, evl_value *x, int64_t from, int64_t to)
{
    const evl_attribute which[] = { evl_attribute_int("start", from), evl_attribute_int("end", to) };
    return evl_onnx_put(&c->put, "Shape", &x, 1, which, 2);
}

/* The body's nodes, in this graph, of x. */
static evl_value *inlined(evl_composing *c, const char *name, evl_value *x)
{
    const evl_attribute *a = evl_compose_attribute(c, name);
    evl_graph *g = c->put.scope->graph, *body = a ? a->u.graph : NULL;
    if (!a || !x || c->put.status != EVAL_OK)
        return x;
    if (a->kind != EVL_ATTRIBUTE_GRAPH || body->n_inputs != 1 || body->n_outputs != 1) {
        c->put.status = evl_fail(c->put.o->ctx, EVAL_ERR_FORMAT,
                                 "onnx: node '%s' (%s): %s is no graph of one input and one output, "
                                 "at byte %zu", c->d->name, c->d->op, name, c->d->where);
        return NULL;
    }
    evl_value *of = body->inputs[0], *result = body->outputs[0];
    of->is_input = false;
    body->n_outputs = 0; /* a function's attribute may come here again */
    bool fits = evl_graph_adopt(g, body);
    for (size_t i = 0; i < body->n_nodes && fits; i++)
        fits = evl_graph_append(g, body->nodes[i]);
    c->put.status = fits ? evl_onnx_identity(c->put.o, g, x, of) : evl_no_memory(c->put.o->ctx);
    return result;
}

/* By the root of the size of a head, or what the file says. */
static evl_value *scaled(evl_composing *c, evl_value *scores, evl_value *q)
{
    evl_attribute to = evl_attribute_int("to", EVAL_FLOAT32);
    double scale = evl_compose_number(c, "scale", 0);
    if (evl_compose_attribute(c, "scale"))
        return evl_compose_2(c, "Mul", scores, evl_compose_constant(c, scale));
    evl_value *size = dims(c, q, 3, 4);
    size = evl_onnx_put(&c->put, "Cast", &size, 1, &to, 1);
    return evl_compose_2(c, "Div", scores, evl_compose_1(c, "Sqrt", size));
}

/* Heads of Q that share one of K are a dimension of their own in the products. */
EvalStatus evl_compose_flex_attention(evl_composing *c)
{
    evl_value *q = evl_compose_in(c, 0), *k = evl_compose_in(c, 1), *v = evl_compose_in(c, 2);
    const evl_attribute scale = evl_attribute_number("scale", evl_compose_number(c, "scale", 0)),
                        to_scores = evl_attribute_text("equation", "bhgqd,bhkd->bhgqk"),
                        to_values = evl_attribute_text("equation", "bhgqk,bhkd->bhgqd"),
                        axis = evl_attribute_int("axis", -1);
    if (!evl_compose_attribute(c, "score_mod") && !evl_compose_attribute(c, "prob_mod"))
        return evl_compose_end(c, "Attention", c->d->inputs, c->d->n_inputs, &scale,
                               evl_compose_attribute(c, "scale") != NULL);
    evl_value *rest = evl_compose_ints(c, (const int64_t[]){ -1 }, 1);
    evl_value *front = dims(c, q, 0, 3), *groups[] = { dims(c, q, 0, 1), dims(c, k, 1, 2), rest };
    evl_value *grouped = joined(c, groups, 3);
    evl_value *q_shape = joined(c, (evl_value *[]){ grouped, dims(c, q, 2, 4) }, 2);
    evl_value *x = evl_onnx_put(&c->put, "Einsum",
                                (evl_value *[]){ evl_compose_2(c, "Reshape", q, q_shape), k }, 2,
                                &to_scores, 1);
    x = evl_compose_2(c, "Reshape", x, joined(c, (evl_value *[]){ front, dims(c, k, 2, 3) }, 2));
    x = inlined(c, "score_mod", scaled(c, x, q));
    x = evl_onnx_put(&c->put, "Softmax", &x, 1, &axis, 1);
    x = inlined(c, "prob_mod", x);
    evl_value *weights[] = { grouped, dims(c, q, 2, 3), dims(c, k, 2, 3) };
    x = evl_compose_2(c, "Reshape", x, joined(c, weights, 3));
    x = evl_onnx_put(&c->put, "Einsum", (evl_value *[]){ x, v }, 2, &to_values, 1);
    evl_value *y_shape = joined(c, (evl_value *[]){ front, dims(c, v, 3, 4) }, 2);
    return evl_compose_end(c, "Reshape", (evl_value *[]){ x, y_shape }, 2, NULL, 0);
}

/* --- com.microsoft --- */

/* Of how many keys each sample has, which ones: [samples, keys]; as many keys as rows of x. */
static evl_value *counted(evl_composing *c, evl_value *count, evl_value *x)
{
    const int64_t zero[] = { 0 }, one[] = { 1 };
    evl_attribute to = evl_attribute_int("to", EVAL_INT64);
    evl_value *range[3] = { evl_compose_ints(c, zero, 1), dims(c, x, 1, 2),
                            evl_compose_ints(c, one, 1) };
    for (size_t i = 0; i < 3; i++)
        range[i] = with_ints(c, "Squeeze", range[i], zero, 1);
    evl_value *keys = evl_onnx_put(&c->put, "Range", range, 3, NULL, 0);
    count = evl_onnx_put(&c->put, "Cast", &count, 1, &to, 1);
    return evl_compose_2(c, "Less", keys, with_ints(c, "Unsqueeze", count, one, 1));
}

/* Which keys a mask of [samples, keys] or [samples, rows, keys] lets through, as what is
** added to scores; and what else is added. */
static evl_value *bias_of(evl_composing *c, evl_value *mask, evl_value *more)
{
    const int64_t axes[] = { 1, 2 };
    evl_attribute to = evl_attribute_int("to", EVAL_BOOL);
    if (!mask)
        return more;
    double filter = evl_compose_number(c, "mask_filter_value", -10000);
    evl_value *in[] = { evl_onnx_put(&c->put, "Cast", &mask, 1, &to, 1), evl_compose_constant(c, 0),
                        evl_compose_constant(c, filter) };
    evl_value *bias = evl_onnx_put(&c->put, "Where", in, 3, NULL, 0);
    bias = with_ints(c, "Unsqueeze", bias, axes, mask->t.shape.rank == 3 ? 1 : 2);
    return evl_compose_added(c, bias, more);
}

static bool is_mask(const evl_value *mask)
{
    int32_t rank = mask ? mask->t.shape.rank : 2;
    return rank == EVL_UNKNOWN_RANK || rank == 2 || rank == 3;
}

typedef struct attention {
    evl_value *q, *k, *v, *bias, *past_k, *past_v;
} attention;

static EvalStatus end(evl_composing *c, const attention *a)
{
    int64_t heads = evl_compose_int(c, "num_heads", 0);
    double scale = evl_compose_number(c, "scale", 0);
    const evl_attribute all[] = {
        evl_attribute_int("q_num_heads", heads),
        evl_attribute_int("kv_num_heads", heads),
        evl_attribute_int("is_causal", evl_compose_int(c, "unidirectional", 0)),
        evl_attribute_number("scale", scale),
    };
    evl_value *in[] = { a->q, a->k, a->v, a->bias, a->past_k, a->past_v };
    return evl_compose_end(c, "Attention", in, 6, all, scale == 0 ? 3 : 4);
}

/* Q, K and V in three inputs; other forms are missed. */
EvalStatus evl_compose_multi_head_attention(evl_composing *c)
{
    enum { QUERY, KEY, VALUE, BIAS, MASK, ADDED, PAST_K, PAST_V };
    evl_value *in[3], *bias = evl_compose_in(c, BIAS);
    int64_t n = bias ? bias->t.shape.rank == 1 ? bias->t.shape.dim[0] : EVL_UNKNOWN_DIM : 0, size = n / 3;
    for (size_t i = QUERY; i <= VALUE; i++) {
        in[i] = evl_compose_in(c, i);
        if (!in[i] || in[i]->t.shape.rank > 3)
            return EVAL_OK;
    }
    const evl_shape *q = &in[QUERY]->t.shape;
    if (n == EVL_UNKNOWN_DIM || !is_mask(evl_compose_in(c, MASK)) || c->d->n_outputs > 3)
        return EVAL_OK;
    if (q->rank == 3 && q->dim[2] != EVL_UNKNOWN_DIM && 2 * q->dim[2] <= n)
        size = q->dim[2];
    for (size_t i = QUERY; i <= VALUE && bias; i++)
        in[i] = evl_compose_2(c, "Add", in[i], part(c, bias, 0, (int64_t)i * size,
                                                    i == VALUE ? n : (int64_t)(i + 1) * size));
    attention a = { in[QUERY], in[KEY], in[VALUE],
                    bias_of(c, evl_compose_in(c, MASK), evl_compose_in(c, ADDED)),
                    evl_compose_in(c, PAST_K), evl_compose_in(c, PAST_V) };
    return end(c, &a);
}

/* Keys, then values, side by side in one tensor: the one at `index`. */
static evl_value *of_pair(evl_composing *c, evl_value *pair, int64_t index)
{
    return pair ? with_ints(c, "Squeeze", part(c, pair, 0, index, index + 1), (const int64_t[]){ 0 }, 1)
                : NULL;
}

/* The output of both, made of what the Attention that is to come gives. */
static EvalStatus pair_of(evl_composing *c, evl_value *pair)
{
    evl_graph *g = c->put.scope->graph;
    evl_value **outputs = evl_arena_take_many(c->put.o->scratch, 3, sizeof *outputs), *both[2];
    evl_attribute axis = evl_attribute_int("axis", 0);
    if (!outputs)
        return evl_no_memory(c->put.o->ctx);
    outputs[0] = c->d->outputs[0];
    for (size_t i = 0; i < 2; i++) {
        outputs[i + 1] = evl_graph_value(g, NULL);
        if (!outputs[i + 1])
            return evl_no_memory(c->put.o->ctx);
        both[i] = with_ints(c, "Unsqueeze", outputs[i + 1], (const int64_t[]){ 0 }, 1);
    }
    evl_onnx_put_to(&c->put, pair, "Concat", both, 2, &axis, 1);
    c->d->outputs = outputs;
    c->d->n_outputs = 3;
    return EVAL_OK;
}

/* The weights are cut, so that each projection is a product of its own. */
EvalStatus evl_compose_attention(evl_composing *c)
{
    enum { X, WEIGHTS, BIAS, MASK, PAST, ADDED };
    const evl_attribute *sizes = evl_compose_attribute(c, "qkv_hidden_sizes");
    evl_value *x = evl_compose_in(c, X), *w = evl_compose_in(c, WEIGHTS), *projected[3],
              *bias = evl_compose_in(c, BIAS), *past = evl_compose_in(c, PAST),
              *mask = evl_compose_in(c, MASK);
    bool is_count = mask && mask->t.shape.rank == 1 && !past && x->t.shape.rank == 3 &&
                    mask->t.shape.dim[0] == x->t.shape.dim[0];
    if (!w || w->t.shape.rank != 2 || w->t.shape.dim[1] == EVL_UNKNOWN_DIM ||
        (!is_mask(mask) && !is_count) || evl_compose_int(c, "do_rotary", 0) ||
        evl_compose_int(c, "past_present_share_buffer", 0))
        return EVAL_OK;
    int64_t each = w->t.shape.dim[1] / 3, from = 0;
    if (is_count)
        mask = counted(c, mask, x);
    for (size_t i = 0; i < 3; i++) {
        bool is_given = sizes && sizes->kind == EVL_ATTRIBUTE_INTS && sizes->n == 3;
        int64_t to = from + (is_given ? sizes->u.ints[i] : each);
        projected[i] = evl_compose_2(c, "MatMul", x, part(c, w, 1, from, to));
        if (bias)
            projected[i] = evl_compose_2(c, "Add", projected[i], part(c, bias, 0, from, to));
        from = to;
    }
    attention a = { projected[0], projected[1], projected[2],
                    bias_of(c, mask, evl_compose_in(c, ADDED)),
                    of_pair(c, past, 0), of_pair(c, past, 1) };
    evl_value *present = evl_compose_out(c, 1);
    EvalStatus st = present ? pair_of(c, present) : EVAL_OK;
    return st == EVAL_OK ? end(c, &a) : st;
}
