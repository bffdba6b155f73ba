/* Attention (ONNX 23 on): shapes, and what each operand is to the loop in
** attention_real.c. */
#include "ops/attention.h"
#include "ops/operands.h"
#include <math.h>
#include <string.h>

enum { Q, K, V, MASK, PAST_K, PAST_V, VALID };
enum { NONE = -1 };

static const char *const input_names[] = { "Q", "K", "V", "attn_mask", "past_key", "past_value" };

/* An operand's dimensions: samples, heads, rows, columns; unknown ones too. */
typedef struct heads {
    int64_t dim[4];
    bool is_flat; /* heads side by side in each row */
} heads;

static int64_t divided(int64_t n, int64_t by)
{
    return n == EVL_UNKNOWN_DIM || by < 1 || n % by != 0 ? EVL_UNKNOWN_DIM : n / by;
}

static heads heads_of(const evl_shape *s, int64_t n_heads)
{
    if (s->rank == 3)
        return (heads){ { s->dim[0], n_heads, s->dim[1], divided(s->dim[2], n_heads) }, true };
    if (s->rank == 4)
        return (heads){ { s->dim[0], s->dim[1], s->dim[2], s->dim[3] }, false };
    return (heads){ { EVL_UNKNOWN_DIM, EVL_UNKNOWN_DIM, EVL_UNKNOWN_DIM, EVL_UNKNOWN_DIM }, false };
}

static int64_t heads_attribute(const evl_node *node, size_t input)
{
    return evl_node_int(node, input == Q ? "q_num_heads" : "kv_num_heads", 0);
}

/* Q, K and V are of one rank; where that is 3, attributes say how many heads they have. */
static EvalStatus check_ranks(const evl_infer *x)
{
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i <= V && st == EVAL_OK; i++) {
        const evl_shape *s = &x->use.in[i]->shape;
        int64_t n = heads_attribute(x->use.node, i);
        st = evl_infer_rank(x, i, 3, 4);
        if (st != EVAL_OK || s->rank != 3)
            continue;
        if (n < 1)
            return evl_fail(x->ctx, EVAL_ERR_SHAPE, "%s has rank 3, so %s must be given",
                            input_names[i], i == Q ? "q_num_heads" : "kv_num_heads");
        if (s->dim[2] != EVL_UNKNOWN_DIM && s->dim[2] % n != 0)
            return evl_fail(x->ctx, EVAL_ERR_SHAPE, "%s has rows of %lld, not a multiple of %lld heads",
                            input_names[i], (long long)s->dim[2], (long long)n);
    }
    return st;
}

static int64_t added(int64_t a, int64_t b)
{
    return a == EVL_UNKNOWN_DIM || b == EVL_UNKNOWN_DIM ? EVL_UNKNOWN_DIM : a + b;
}

static EvalStatus agree(const evl_infer *x, const char *what, int64_t *a, int64_t *b)
{
    EvalStatus st = evl_infer_dim(x, what, *a, b);
    if (st == EVAL_OK)
        *a = *b;
    return st;
}

/* Dimensions that must be equal, each taken from where it is known. */
static EvalStatus match(const evl_infer *x, heads *q, heads *k, heads *v)
{
    EvalStatus st = agree(x, "the samples of K", &q->dim[0], &k->dim[0]);
    if (st == EVAL_OK)
        st = agree(x, "the samples of V", &k->dim[0], &v->dim[0]);
    if (st == EVAL_OK)
        st = agree(x, "the heads of V", &k->dim[1], &v->dim[1]);
    if (st == EVAL_OK)
        st = agree(x, "the rows of V", &k->dim[2], &v->dim[2]);
    if (st == EVAL_OK)
        st = agree(x, "the head size of K", &q->dim[3], &k->dim[3]);
    if (st != EVAL_OK || q->dim[1] == EVL_UNKNOWN_DIM || k->dim[1] == EVL_UNKNOWN_DIM)
        return st;
    if (k->dim[1] < 1 ? q->dim[1] != k->dim[1] : q->dim[1] % k->dim[1] != 0)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "%lld heads of Q do not divide among %lld of K",
                        (long long)q->dim[1], (long long)k->dim[1]);
    return EVAL_OK;
}

/* Past keys or values: as many samples, heads and columns as the new ones. */
static EvalStatus match_past(const evl_infer *x, size_t input, const heads *with, int64_t *rows)
{
    static const char *const what[] = { "the samples of past_key", "the heads of past_key", NULL,
                                        "the head size of past_key" };
    const evl_tensor *past = evl_use_in(&x->use, input);
    *rows = 0;
    if (!past)
        return EVAL_OK;
    EvalStatus st = evl_infer_rank(x, input, 4, 4);
    *rows = evl_infer_dim_of(x, input, 2);
    for (int32_t i = 0; i < 4 && st == EVAL_OK; i++) {
        int64_t dim = evl_infer_dim_of(x, input, i);
        if (what[i])
            st = evl_infer_dim(x, what[i], with->dim[i], &dim);
    }
    return st;
}

static evl_shape shape_of(const heads *h)
{
    if (!h->is_flat)
        return evl_shape_of(4, h->dim);
    bool is_known = h->dim[1] != EVL_UNKNOWN_DIM && h->dim[3] != EVL_UNKNOWN_DIM;
    return evl_shape_of(3, (const int64_t[]){ h->dim[0], h->dim[2],
                                              is_known ? h->dim[1] * h->dim[3] : EVL_UNKNOWN_DIM });
}

static void set_output(evl_infer *x, size_t output, evl_shape shape)
{
    if (output >= x->n_out)
        return;
    x->out[output].type = x->use.in[output == EVL_ATTENTION_PRESENT_V ? V : Q]->type;
    x->out[output].shape = shape;
}

static EvalStatus infer(evl_infer *x)
{
    const evl_node *node = x->use.node;
    heads h[3];
    int64_t past_k, past_v;
    EvalStatus st = evl_infer_one_type(x, V + 1);
    if (st == EVAL_OK)
        st = check_ranks(x);
    if (st != EVAL_OK)
        return st;
    for (size_t i = 0; i <= V; i++)
        h[i] = heads_of(&x->use.in[i]->shape, heads_attribute(node, i));
    st = match(x, &h[Q], &h[K], &h[V]);
    if (st == EVAL_OK)
        st = match_past(x, PAST_K, &h[K], &past_k);
    if (st == EVAL_OK)
        st = match_past(x, PAST_V, &h[V], &past_v);
    if (st == EVAL_OK)
        st = agree(x, "the rows of past_value", &past_k, &past_v);
    if (st != EVAL_OK)
        return st;
    int64_t total = added(past_k, h[K].dim[2]);
    heads y = { { h[Q].dim[0], h[Q].dim[1], h[Q].dim[2], h[V].dim[3] }, h[Q].is_flat };
    bool is_known = x->use.in[Q]->shape.rank != EVL_UNKNOWN_RANK;
    set_output(x, EVL_ATTENTION_Y, is_known ? shape_of(&y) : evl_shape_unknown());
    for (size_t i = K; i <= V; i++)
        set_output(x, i, evl_shape_of(4, (const int64_t[]){ h[i].dim[0], h[i].dim[1], total,
                                                            h[i].dim[3] }));
    set_output(x, EVL_ATTENTION_SCORES,
               evl_shape_of(4, (const int64_t[]){ y.dim[0], y.dim[1], y.dim[2], total }));
    return EVAL_OK;
}

/* --- known shapes --- */

static evl_attention_steps steps_of(const heads *h)
{
    size_t n_heads = (size_t)h->dim[1], rows = (size_t)h->dim[2], size = (size_t)h->dim[3];
    if (h->is_flat)
        return (evl_attention_steps){ 0, rows * n_heads * size, size, n_heads * size, 1 };
    return (evl_attention_steps){ 0, n_heads * rows * size, rows * size, size, 1 };
}

/* Dimensions from the last on are keys, rows, heads, samples: 1 is stretched. */
static bool take_steps(const evl_shape *s, bool may_be_short, evl_attention *x,
                       evl_attention_steps *steps)
{
    size_t *const to[4] = { &steps->sample, &steps->head, &steps->row, &steps->column };
    const size_t dims[4] = { x->samples, x->heads, x->n_q, x->n_k };
    size_t step = 1;
    bool fits = s->rank >= 1 && s->rank <= 4;
    for (int32_t i = s->rank - 1, j = 3; fits && i >= 0; i--, j--) {
        size_t n = (size_t)s->dim[i];
        bool is_short = j == 3 && n <= dims[j] && may_be_short;
        *to[j] = n == 1 && !(is_short && dims[j] != 1) ? 0 : step;
        fits = n == dims[j] || n == 1 || is_short;
        step *= n;
        if (is_short)
            x->n_mask = n;
    }
    return fits;
}

EvalStatus evl_attention_mask(evl_context *ctx, const evl_use *use, size_t input, bool may_be_short,
                              evl_attention *x)
{
    const evl_tensor *mask = evl_use_in(use, input);
    char text[EVL_SHAPE_TEXT];
    x->n_mask = x->n_k;
    if (!mask)
        return EVAL_OK;
    bool is_bias = evl_type_is_float(mask->type);
    if (!is_bias && mask->type != EVAL_BOOL)
        return evl_fail(ctx, EVAL_ERR_TYPE, "the mask is %s, expected bool or as Q",
                        evl_type_name(mask->type));
    *(is_bias ? &x->in.bias : &x->in.mask) = input;
    if (take_steps(&mask->shape, may_be_short, x, is_bias ? &x->bias : &x->mask))
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE, "the mask has shape %s, expected one for [%zu,%zu,%zu,%zu]",
                    evl_shape_text(&mask->shape, text), x->samples, x->heads, x->n_q, x->n_k);
}

/* Opset 24 lets a mask have fewer keys. */
static EvalStatus take_masks(evl_context *ctx, const evl_use *use, evl_attention *x)
{
    const evl_tensor *valid = evl_use_in(use, VALID);
    if (valid && evl_shape_count(&valid->shape) != x->samples)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "nonpad_kv_seqlen has %zu elements, expected %zu",
                        evl_shape_count(&valid->shape), x->samples);
    return evl_attention_mask(ctx, use, MASK, use->node->version >= 24, x);
}

static size_t input_of(const evl_use *use, size_t input)
{
    return evl_use_in(use, input) ? input : SIZE_MAX;
}

static void take_sizes(const evl_use *use, evl_attention *x)
{
    heads q = heads_of(&use->in[Q]->shape, heads_attribute(use->node, Q));
    heads k = heads_of(&use->in[K]->shape, heads_attribute(use->node, K));
    heads v = heads_of(&use->in[V]->shape, heads_attribute(use->node, V));
    heads y = { { q.dim[0], q.dim[1], q.dim[2], v.dim[3] }, q.is_flat };
    x->samples = (size_t)q.dim[0];
    x->heads = (size_t)q.dim[1];
    x->group = k.dim[1] ? (size_t)(q.dim[1] / k.dim[1]) : 1;
    x->n_q = (size_t)q.dim[2];
    x->size = (size_t)q.dim[3];
    x->size_v = (size_t)v.dim[3];
    x->n_past = evl_use_in(use, PAST_K) ? (size_t)use->in[PAST_K]->shape.dim[2] : 0;
    x->n_k = x->n_past + (size_t)k.dim[2];
    x->q = steps_of(&q);
    x->new_k = x->k = steps_of(&k);
    x->new_v = x->v = steps_of(&v);
    x->y = steps_of(&y);
    x->scores = steps_of(&(heads){ { q.dim[0], q.dim[1], q.dim[2], (int64_t)x->n_k }, false });
    if (x->in.past_k == SIZE_MAX)
        return;
    k.dim[2] = v.dim[2] = (int64_t)x->n_k;
    k.is_flat = v.is_flat = false;
    x->k = steps_of(&k);
    x->v = steps_of(&v);
}

EvalStatus evl_attention_of(evl_context *ctx, const evl_use *use, evl_attention *x)
{
    const evl_node *node = use->node;
    int64_t which = evl_node_int(node, "qk_matmul_output_mode", 0);
    if (node->op == &evl_op_fused_attention)
        return evl_attention_of_fused(ctx, use, x);
    *x = (evl_attention){ .in = { Q, K, V, input_of(use, PAST_K), input_of(use, PAST_V), SIZE_MAX,
                                  SIZE_MAX, input_of(use, VALID) },
                          .cap = evl_node_number(node, "softcap", 0),
                          .left = evl_node_int(node, "left_window_size", NONE),
                          .right = evl_node_int(node, "right_window_size", NONE),
                          .is_causal = evl_node_int(node, "is_causal", 0) != 0,
                          .which = (evl_attention_scores)which,
                          .excluded = -INFINITY };
    if (which < EVL_SCORES_PLAIN || which > EVL_SCORES_WEIGHTS)
        return evl_fail(ctx, EVAL_ERR_UNSUPPORTED, "qk_matmul_output_mode is %lld, expected 0 to 3",
                        (long long)which);
    if ((x->in.past_k == SIZE_MAX) != (x->in.past_v == SIZE_MAX))
        return evl_fail(ctx, EVAL_ERR_FORMAT, "one of past_key and past_value is left out");
    take_sizes(use, x);
    x->scale = evl_node_number(node, "scale", x->size ? 1 / sqrt((double)x->size) : 1);
    return take_masks(ctx, use, x);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Sums of what a file may say saturate: all of it is as far away as any key. */
static int64_t reached(int64_t from, int64_t by)
{
    const int64_t far = INT64_MAX / 4;
    return from + least(by, far);
}

evl_attention_range evl_attention_range_of(const evl_attention *x, const evl_tensor *valid,
                                           size_t sample, size_t i)
{
    int64_t n = (int64_t)x->n_k, n_valid = valid ? evl_tensor_i64(valid, sample) : n;
    n_valid = n_valid < 0 ? 0 : least(n_valid, n);
    bool is_cache = valid && x->in.past_k == SIZE_MAX;
    int64_t offset = is_cache ? n_valid - (int64_t)x->n_q : (int64_t)x->n_past;
    int64_t place = offset + (int64_t)i, first = 0, end = least(n_valid, (int64_t)x->n_mask);
    if (x->is_causal)
        end = least(end, place + 1);
    if (x->right >= 0)
        end = least(end, reached(place, x->right) + 1);
    if (x->left >= 0 && place > x->left)
        first = place - x->left;
    first = least(first, n);
    end = end < first ? first : end;
    return (evl_attention_range){ (size_t)first, (size_t)end };
}

void evl_attention_join(const evl_attention *x, const evl_attention_steps *of, size_t size,
                        size_t element, const void *past, const void *from, void *to)
{
    size_t n_heads = x->group ? x->heads / x->group : 0, bytes = size * element;
    char *y = to;
    for (size_t i = 0; i < x->samples * n_heads && bytes; i++) {
        size_t at = of->at + i / n_heads * of->sample + i % n_heads * of->head;
        if (past && x->n_past)
            memcpy(y, (const char *)past + i * x->n_past * bytes, x->n_past * bytes);
        y += x->n_past * bytes;
        for (size_t row = x->n_past; row < x->n_k; row++, at += of->row, y += bytes)
            memcpy(y, (const char *)from + at * element, bytes);
    }
}

extern const evl_impl evl_attention_f, evl_attention_d;

const evl_op evl_op_attention = {
    .name = "Attention",
    .min_inputs = 3,
    .max_inputs = 7,
    .min_outputs = 1,
    .max_outputs = 4,
    .infer = infer,
    .real = { [EVL_FLOAT] = &evl_attention_f, [EVL_DOUBLE] = &evl_attention_d },
};

const evl_op *const evl_ops_attention[] = { &evl_op_attention, NULL };
