/* crop.c - images cut to the size of others, from an offset that is told or follows from the
** network: both come from one image through convolutions, pooling and what undoes them, and what
** lies over the same place of that one lies over each other. */
#include "readers/cntk/maker.h"
#include <string.h>

/* Place x of one image lies at scale * x + shift of the other; the axis across is first. */
typedef struct place {
    double scale[2], shift[2];
} place;

typedef struct search {
    evl_cntk_maker *k;
    place *of;     /* by value: where it lies in what is cut, or in what it is cut to */
    bool *is_seen; /* by value */
    size_t *rest;  /* values still to be looked at */
    size_t n_rest;
} search;

static const place same = { { 1, 1 }, { 0, 0 } };

static place compose(const place *outer, const place *inner)
{
    place p;
    for (int i = 0; i < 2; i++) {
        p.scale[i] = outer->scale[i] * inner->scale[i];
        p.shift[i] = outer->scale[i] * inner->shift[i] + outer->shift[i];
    }
    return p;
}

static place inverse(const place *p)
{
    place q;
    for (int i = 0; i < 2; i++) {
        q.scale[i] = 1 / p->scale[i];
        q.shift[i] = -p->shift[i] / p->scale[i];
    }
    return q;
}

static bool is_op(const evl_node *node, const char *name)
{
    return strcmp(node->op->name, name) == 0;
}

/* Where the output of a window lies in its input: the middle of the kernel counts. */
static bool window_place(const evl_node *node, place *p)
{
    size_t n = 0, n_kernel = 0, n_pads = 0;
    const int64_t *stride = evl_node_ints(node, "strides", &n);
    const int64_t *kernel = evl_node_ints(node, "kernel_shape", &n_kernel);
    const int64_t *pads = evl_node_ints(node, "pads", &n_pads);
    *p = same;
    for (size_t i = 0; i < 2 && i < n && n_kernel == n && n_pads == 2 * n; i++) {
        p->scale[i] = (double)stride[n - 1 - i];
        int64_t middle = (kernel[n - 1 - i] - 1) / 2;
        p->shift[i] = (double)(middle - pads[n - 1 - i]);
    }
    return n > 0 && n_kernel == n && n_pads == 2 * n;
}

static place slice_place(const evl_node *node)
{
    place p = same;
    size_t n = 0, n_axes = 0;
    const int64_t *starts = evl_node_ints(node, "starts", &n);
    const int64_t *axes = evl_node_ints(node, "axes", &n_axes);
    int64_t last = node->outputs[0]->t.shape.rank - 1;
    for (size_t i = 0; i < n && i < n_axes; i++)
        if (last - axes[i] >= 0 && last - axes[i] < 2)
            p.shift[last - axes[i]] = -(double)starts[i];
    return p;
}

static bool is_as_large(const evl_value *a, const evl_value *b)
{
    return evl_cntk_rank(a) >= 2 && evl_cntk_rank(b) >= 2 && evl_cntk_dim(a, 0) == evl_cntk_dim(b, 0) &&
           evl_cntk_dim(a, 1) == evl_cntk_dim(b, 1);
}

/* Where operand i of a node lies in its output; false: one cannot say. */
static bool operand_place(const evl_node *node, size_t i, place *p)
{
    bool is_up = is_op(node, "ConvTranspose") || is_op(node, "MaxUnpool");
    bool is_down = is_op(node, "Conv") || is_op(node, "MaxPool") || is_op(node, "AveragePool");
    *p = same;
    if (is_up || is_down) {
        bool is_good = i == 0 && window_place(node, p);
        *p = is_down ? inverse(p) : *p;
        return is_good;
    }
    if (!is_op(node, "Slice"))
        return is_as_large(node->inputs[i], node->outputs[0]);
    *p = slice_place(node);
    return i == 0;
}

static void look_at(search *s, const evl_value *v, const place *p)
{
    if (v->is_constant || s->is_seen[v->index])
        return;
    s->is_seen[v->index] = true;
    s->of[v->index] = *p;
    s->rest[s->n_rest++] = v->index;
}

/* The next value, whose operands are then looked at; NULL: there is none left. */
static const evl_value *next(search *s)
{
    place p;
    if (s->n_rest == 0)
        return NULL;
    const evl_value *v = s->k->b.graph->values[s->rest[--s->n_rest]];
    const evl_node *node = v->producer;
    for (size_t i = 0; node && i < node->n_inputs; i++)
        if (node->inputs[i] && node->inputs[i]->graph == v->graph && operand_place(node, i, &p)) {
            p = compose(&s->of[v->index], &p);
            look_at(s, node->inputs[i], &p);
        }
    return v;
}

static bool begin(search *s, evl_cntk_maker *k, const evl_value *from)
{
    evl_arena *arena = k->b.graph->arena;
    size_t n = k->b.graph->n_values;
    *s = (search){ .k = k,
                   .of = evl_arena_take_many(arena, n, sizeof *s->of),
                   .is_seen = evl_arena_take_many(arena, n, sizeof *s->is_seen),
                   .rest = evl_arena_take_many(arena, n, sizeof *s->rest) };
    if (!s->of || !s->is_seen || !s->rest) {
        k->b.status = evl_no_memory(k->b.ctx);
        return false;
    }
    look_at(s, from, &same);
    return true;
}

/* Operands 2 and 3, if there are any, stand for each other. */
static bool find_offsets(evl_cntk_maker *k, int64_t *offsets)
{
    search cut, like;
    const evl_value *v, *of_cut = k->node->n_inputs > 3 ? k->in[2] : NULL;
    if (!begin(&cut, k, k->in[0]) || !begin(&like, k, k->in[1]))
        return false;
    while (next(&cut))
        ;
    while ((v = next(&like))) {
        const evl_value *same_as = of_cut && v == k->in[3] ? of_cut : v;
        if (!cut.is_seen[same_as->index])
            continue;
        place back = inverse(&cut.of[same_as->index]);
        place p = compose(&like.of[v->index], &back);
        for (int i = 0; i < 2; i++)
            offsets[i] = p.shift[i] <= 0 && p.shift[i] > -1e9 ? (int64_t)-p.shift[i] : -1;
        return p.scale[0] == 1 && p.scale[1] == 1;
    }
    return false;
}

/* Operands: images, and one whose width and height they are cut to. */
evl_value *evl_cntk_crop(evl_cntk_maker *k)
{
    const evl_cntk_list *from = &k->node->f.begins;
    evl_value *x = k->in[0], *like = k->in[1];
    int64_t starts[2], ends[2], axes[2], last = x->t.shape.rank - 1;
    bool is_told = from->n == 2;
    if (!is_told && !find_offsets(k, starts))
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED,
                             "its operands come from no common image at the same scale");
    for (size_t i = 0; i < 2; i++) {
        starts[i] = is_told ? from->at[i] : starts[i];
        ends[i] = starts[i] + evl_cntk_dim(like, i);
        axes[i] = last - (int64_t)i;
        if (starts[i] < 0 || ends[i] > evl_cntk_dim(x, i) || starts[i] > ends[i])
            return evl_cntk_fail(k, EVAL_ERR_SHAPE, "elements %lld to %lld of %lld",
                                 (long long)starts[i], (long long)ends[i],
                                 (long long)evl_cntk_dim(x, i));
    }
    evl_attribute a[3] = { evl_cntk_ints(k, "starts", starts, 2), evl_cntk_ints(k, "ends", ends, 2),
                           evl_cntk_ints(k, "axes", axes, 2) };
    return evl_cntk_call(k, "Slice", &x, 1, a, 3);
}
