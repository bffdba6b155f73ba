/* FlexAttention, and Attention, GroupQueryAttention and MultiHeadAttention of com.microsoft, by
** ONNX's Attention and by what stands around it. */
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

static evl_value *cast(evl_composing *c, evl_value *x, EvalType type)
{
    evl_attribute to = evl_attribute_int("to", type);
    return evl_onnx_put(&c->put, "Cast", &x, 1, &to, 1);
}

/* 0 .. n-1, n in a tensor of rank 1. */
static evl_value *counting(evl_composing *c, evl_value *n)
{
    const int64_t zero[] = { 0 }, one[] = { 1 };
    evl_value *range[3] = { evl_compose_ints(c, zero, 1), n, evl_compose_ints(c, one, 1) };
    for (size_t i = 0; i < 3; i++)
        range[i] = with_ints(c, "Squeeze", range[i], zero, 1);
    return evl_onnx_put(&c->put, "Range", range, 3, NULL, 0);
}

/* What of n keys a mask lets through, as what is added to scores; and what else is added. Its
** shape is [samples], how many there are, [samples, keys] or [samples, rows, keys]. */
static evl_value *bias_of(evl_composing *c, evl_value *mask, evl_value *n, evl_value *more)
{
    const int64_t axes[] = { 1, 2 };
    if (!mask)
        return more;
    int32_t rank = mask->t.shape.rank;
    if (rank == 1) {
        mask = with_ints(c, "Unsqueeze", cast(c, mask, EVAL_INT64), axes, 1);
        mask = evl_compose_2(c, "Less", counting(c, n), mask);
    }
    double filter = evl_compose_number(c, "mask_filter_value", -10000);
    evl_value *in[] = { cast(c, mask, EVAL_BOOL), evl_compose_constant(c, 0),
                        evl_compose_constant(c, filter) };
    evl_value *bias = evl_onnx_put(&c->put, "Where", in, 3, NULL, 0);
    bias = with_ints(c, "Unsqueeze", bias, axes, rank == 3 ? 1 : 2);
    return evl_compose_added(c, bias, more);
}

/* As many keys as x has of that axis, and past ones. */
static evl_value *keys_of(evl_composing *c, evl_value *x, int64_t axis, evl_value *past)
{
    return evl_compose_added(c, dims(c, x, axis, axis + 1), past ? dims(c, past, 2, 3) : NULL);
}

static evl_value *turned(evl_composing *c, evl_value *x)
{
    static const int64_t order[] = { 0, 2, 1, 3 };
    const evl_attribute perm = evl_attribute_ints("perm", order, 4);
    return evl_onnx_put(&c->put, "Transpose", &x, 1, &perm, 1);
}

/* [samples, rows, width] as [samples, heads, rows, size]. */
static evl_value *with_heads(evl_composing *c, evl_value *x, int64_t heads)
{
    return turned(c, with_ints(c, "Reshape", x, (const int64_t[]){ 0, 0, heads, -1 }, 4));
}

/* [samples, heads, rows, size] ends as [samples, rows, width]. */
static EvalStatus end_flat(evl_composing *c, evl_value *y)
{
    evl_value *in[] = { turned(c, y), evl_compose_ints(c, (const int64_t[]){ 0, 0, -1 }, 3) };
    c->d->n_outputs = 1;
    return evl_compose_end(c, "Reshape", in, 2, NULL, 0);
}

typedef struct attention {
    evl_value *q, *k, *v, *bias, *past_k, *past_v;
    bool has_heads; /* q, k and v have rank 4 */
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
    evl_value *outputs[] = { NULL, evl_compose_out(c, 1), evl_compose_out(c, 2) };
    size_t n = scale == 0 ? 3 : 4;
    if (!a->has_heads)
        return evl_compose_end(c, "Attention", in, 6, all, n);
    evl_onnx_put_many(&c->put, outputs, outputs[2] ? 3 : outputs[1] ? 2 : 1, "Attention", in, 6, all, n);
    return end_flat(c, outputs[0]);
}

/* Bias of Q, K or V, side by side: `which` of them. The first two are as wide as Q. */
static evl_value *added_part(evl_composing *c, evl_value *x, evl_value *bias, evl_value *width, int64_t which)
{
    const int64_t whole[] = { INT64_MAX };
    evl_value *edge[3] = { with_ints(c, "Mul", width, &which, 1), NULL, evl_compose_ints(c, whole, 1) };
    edge[1] = which == 2 ? edge[2] : evl_compose_2(c, "Add", edge[0], width);
    evl_value *in[] = { bias, edge[0], edge[1] };
    return evl_compose_2(c, "Add", x, evl_onnx_put(&c->put, "Slice", in, 3, NULL, 0));
}

/* One of those packed side by side in [samples, rows, heads, n, size]. */
static evl_value *unpacked(evl_composing *c, evl_value *x, int64_t which)
{
    const evl_attribute axis = evl_attribute_int("axis", 3);
    evl_value *at = with_ints(c, "Squeeze", evl_compose_ints(c, &which, 1), (const int64_t[]){ 0 }, 1);
    return turned(c, evl_onnx_put(&c->put, "Gather", (evl_value *[]){ x, at }, 2, &axis, 1));
}

/* Forms of a mask that say the same of each run; there are those of sums over samples, too. */
static bool is_mask(const evl_value *mask, const evl_value *x)
{
    const evl_shape *s = mask ? &mask->t.shape : NULL;
    int64_t n = x->t.shape.rank > 0 ? x->t.shape.dim[0] : EVL_UNKNOWN_DIM;
    if (!s || s->rank != 1)
        return !s || s->rank == EVL_UNKNOWN_RANK || s->rank == 2 || s->rank == 3;
    return s->dim[0] == n || s->dim[0] == EVL_UNKNOWN_DIM || n == EVL_UNKNOWN_DIM;
}

/* Q, K and V are three inputs, or packed in one or two, or K and V have heads already. */
EvalStatus evl_compose_multi_head_attention(evl_composing *c)
{
    enum { QUERY, KEY, VALUE, BIAS, MASK, ADDED, PAST_K, PAST_V, PAST_LENGTH };
    evl_value *in[] = { evl_compose_in(c, QUERY), evl_compose_in(c, KEY), evl_compose_in(c, VALUE) },
              *bias = evl_compose_in(c, BIAS), *past = evl_compose_in(c, PAST_K),
              *mask = evl_compose_in(c, MASK), *packed = in[VALUE] ? NULL : in[KEY] ? in[KEY] : in[QUERY];
    bool is_cache = in[VALUE] && in[KEY] && in[KEY]->t.shape.rank == 4, has_heads = packed || is_cache;
    int64_t first = packed == in[QUERY] ? QUERY : KEY, heads = evl_compose_int(c, "num_heads", 0);
    if (c->d->n_outputs > 3 || evl_compose_in(c, PAST_LENGTH) || (packed && bias) ||
        (in[VALUE] && !in[KEY]) || !in[QUERY] || !is_mask(mask, in[QUERY]))
        return EVAL_OK; /* is missed */
    evl_value *width = bias ? dims(c, in[QUERY], 2, 3) : NULL;
    for (int64_t i = QUERY; i <= VALUE; i++) {
        if (packed && i >= first)
            in[i] = unpacked(c, packed, i - first);
        else if (bias && (i == QUERY || !is_cache))
            in[i] = added_part(c, in[i], bias, width, i);
        if (has_heads && i == QUERY && first != QUERY)
            in[i] = with_heads(c, in[i], heads);
    }
    evl_value *n = mask ? keys_of(c, in[KEY], has_heads ? 2 : 1, past) : NULL;
    attention a = { in[QUERY], in[KEY], in[VALUE], bias_of(c, mask, n, evl_compose_in(c, ADDED)),
                    past, evl_compose_in(c, PAST_V), has_heads };
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
    if (!w || w->t.shape.rank != 2 || w->t.shape.dim[1] == EVL_UNKNOWN_DIM || !is_mask(mask, x) ||
        evl_compose_int(c, "do_rotary", 0) || evl_compose_int(c, "past_present_share_buffer", 0))
        return EVAL_OK;
    int64_t each = w->t.shape.dim[1] / 3, from = 0;
    for (size_t i = 0; i < 3; i++) {
        bool is_given = sizes && sizes->kind == EVL_ATTRIBUTE_INTS && sizes->n == 3;
        int64_t to = from + (is_given ? sizes->u.ints[i] : each);
        projected[i] = evl_compose_2(c, "MatMul", x, part(c, w, 1, from, to));
        if (bias)
            projected[i] = evl_compose_2(c, "Add", projected[i], part(c, bias, 0, from, to));
        from = to;
    }
    evl_value *past_k = of_pair(c, past, 0), *n = mask ? keys_of(c, x, 1, past_k) : NULL;
    attention a = { projected[0], projected[1], projected[2],
                    bias_of(c, mask, n, evl_compose_in(c, ADDED)), past_k, of_pair(c, past, 1), false };
    evl_value *present = evl_compose_out(c, 1);
    EvalStatus st = present ? pair_of(c, present) : EVAL_OK;
    return st == EVAL_OK ? end(c, &a) : st;
}

/* --- GroupQueryAttention --- */

enum { QUERY, KEY, VALUE, PAST_K, PAST_V, LAST, TOTAL, COS, SIN, POSITIONS, ADDED, SINK, K_SCALE, V_SCALE,
       Q_NORM, K_NORM, NEW };

/* Q, K and V with their heads; they may stand side by side in one input. */
static void take_heads(evl_composing *c, evl_value **x)
{
    const int64_t n = evl_compose_int(c, "num_heads", 0), few = evl_compose_int(c, "kv_num_heads", 0),
                  edge[] = { 0, n, n + few, n + 2 * few };
    bool is_packed = !evl_compose_in(c, KEY);
    evl_value *all = is_packed ? with_heads(c, evl_compose_in(c, QUERY), edge[3]) : NULL;
    for (size_t i = QUERY; i <= VALUE; i++)
        x[i] = is_packed ? part(c, all, 1, edge[i], edge[i + 1])
                         : with_heads(c, evl_compose_in(c, i), edge[i + 1] - edge[i]);
}

/* Q or K normalized, and turned by where its rows are. */
static evl_value *placed(evl_composing *c, evl_value *x, size_t which, evl_value *positions)
{
    evl_value *norm = evl_compose_in(c, Q_NORM + which), *cos = evl_compose_in(c, COS);
    double epsilon = evl_compose_number(c, "qk_norm_epsilon", 1e-6);
    epsilon = evl_compose_number(c, which == QUERY ? "q_norm_epsilon" : "k_norm_epsilon", epsilon);
    const evl_attribute how = evl_attribute_number("epsilon", epsilon);
    if (norm)
        x = evl_onnx_put(&c->put, "RMSNormalization", (evl_value *[]){ x, norm }, 2, &how, 1);
    if (!cos || !evl_compose_int(c, "do_rotary", 0))
        return x;
    const evl_shape *s = &cos->t.shape;
    const evl_attribute turn[] = {
        evl_attribute_int("interleaved", evl_compose_int(c, "rotary_interleaved", 0)),
        evl_attribute_int("rotary_embedding_dim", s->rank == 2 && s->dim[1] != EVL_UNKNOWN_DIM ? 2 * s->dim[1] : 0),
    };
    evl_value *in[] = { x, cos, evl_compose_in(c, SIN), positions };
    return evl_onnx_put(&c->put, "RotaryEmbedding", in, 4, turn, 2);
}

/* New keys or values where each sample's place is among what was before; 0 behind its end. */
static evl_value *stored(evl_composing *c, evl_value *x, size_t which, evl_value *place, evl_value *end_of)
{
    evl_value *past = evl_compose_in(c, PAST_K + which - KEY), *out = evl_compose_out(c, which);
    const evl_attribute axis = evl_attribute_int("axis", 2);
    const int64_t zero[] = { 0 }, two[] = { 2 }, rest[] = { -1 }, others[] = { 1, 2, 3 };
    if (!past && out)
        evl_onnx_put_to(&c->put, out, "Identity", &x, 1, NULL, 0);
    if (!past)
        return x;
    evl_value *total = with_ints(c, "Reshape", evl_compose_in(c, TOTAL), rest, 1);
    total = evl_compose_2(c, "Max", cast(c, total, EVAL_INT64), dims(c, past, 2, 3));
    evl_value *cut[] = { evl_onnx_put(&c->put, "Concat", (evl_value *[]){ past, x }, 2, &axis, 1),
                         evl_compose_ints(c, zero, 1), total, evl_compose_ints(c, two, 1) };
    evl_value *in[] = { evl_onnx_put(&c->put, "Slice", cut, 4, NULL, 0), x, place };
    in[1] = evl_onnx_put(&c->put, "TensorScatter", in, 3, NULL, 0);
    in[0] = evl_compose_2(c, "Less", with_ints(c, "Unsqueeze", counting(c, total), rest, 1),
                          with_ints(c, "Unsqueeze", end_of, others, 3));
    in[2] = evl_compose_constant(c, 0);
    evl_onnx_put_many(&c->put, &out, 1, "Where", in, 3, NULL, 0);
    return out;
}

/* One more score in the sum of weights, for which there is no value: each row shrinks. */
static evl_value *drained(evl_composing *c, evl_value *y, evl_value *scores)
{
    const int64_t last[] = { -1 }, heads[] = { -1, 1, 1 };
    evl_value *sink = evl_compose_in(c, SINK);
    evl_value *sum = with_ints(c, "ReduceLogSumExp", scores, last, 1);
    if (sink)
        sum = evl_compose_2(c, "Sub", sum, with_ints(c, "Reshape", sink, heads, 3));
    return evl_compose_2(c, "Mul", y, evl_compose_1(c, "Sigmoid", sum));
}

static EvalStatus attend(evl_composing *c, evl_value *const *x, evl_value *valid)
{
    int64_t window = evl_compose_int(c, "local_window_size", -1);
    bool is_drained = evl_compose_in(c, SINK) || evl_compose_int(c, "smooth_softmax", 0) > 0;
    double scale = evl_compose_number(c, "scale", 0);
    evl_attribute all[5] = {
        evl_attribute_int("is_causal", evl_compose_int(c, "causal", 1)),
        evl_attribute_number("softcap", evl_compose_number(c, "softcap", 0)),
        evl_attribute_int("qk_matmul_output_mode", 2),
    };
    size_t n = 3;
    if (scale != 0)
        all[n++] = evl_attribute_number("scale", scale);
    if (window > 0)
        all[n++] = evl_attribute_int("left_window_size", window - 1);
    evl_value *in[] = { x[QUERY], x[KEY], x[VALUE], evl_compose_in(c, ADDED), NULL, NULL, valid };
    evl_value *y[4] = { NULL };
    evl_onnx_put_many(&c->put, y, is_drained ? 4 : 1, "Attention", in, 7, all, n);
    return end_flat(c, is_drained ? drained(c, y[0], y[3]) : y[0]);
}

/* Rows of a sample end at its last key, or, padded, begin at key 0. What is of no sample's is
** whatever comes of it. */
EvalStatus evl_compose_group_query_attention(evl_composing *c)
{
    const int64_t rest[] = { -1 }, one[] = { 1 }, zero[] = { 0 };
    evl_value *x[3], *new = evl_compose_in(c, NEW), *positions = evl_compose_in(c, POSITIONS);
    if (!evl_compose_in(c, LAST) || !evl_compose_in(c, TOTAL) || evl_compose_in(c, K_SCALE) ||
        !evl_compose_in(c, KEY) != !evl_compose_in(c, VALUE) || c->d->n_outputs > 3 ||
        evl_compose_int(c, "sliding_window_cache", 0))
        return EVAL_OK; /* is missed */
    take_heads(c, x);
    evl_value *rows = dims(c, x[QUERY], 2, 3), *end_of = with_ints(c, "Reshape", evl_compose_in(c, LAST), rest, 1);
    end_of = with_ints(c, "Add", cast(c, end_of, EVAL_INT64), one, 1);
    evl_value *place = evl_compose_2(c, "Sub", end_of, new ? cast(c, new, EVAL_INT64) : rows);
    place = evl_compose_2(c, "Max", place, evl_compose_ints(c, zero, 1));
    if (!positions)
        positions = evl_compose_2(c, "Add", with_ints(c, "Unsqueeze", place, one, 1), counting(c, rows));
    x[QUERY] = placed(c, x[QUERY], QUERY, positions);
    x[KEY] = stored(c, placed(c, x[KEY], KEY, positions), KEY, place, end_of);
    x[VALUE] = stored(c, x[VALUE], VALUE, place, end_of);
    bool is_causal = evl_compose_int(c, "causal", 1) != 0;
    return attend(c, x, is_causal ? evl_compose_2(c, "Add", place, rows) : end_of);
}
