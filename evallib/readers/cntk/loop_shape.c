/* loop_shape.c - the shapes of delays that a file does not store.
**
** A delay looks like its operand, which is computed from the delay. So shapes are handed
** round the loop, by rules that make do with what is known, until each delay has one;
** where a guess was wrong, building the body finds out and tries again. */
#include "readers/cntk/build.h"

typedef struct guess {
    evl_cntk_loop *loop;
    evl_cntk_list *dims; /* by place in the loop; at NULL: not known */
} guess;

enum { MOST_SWEEPS = 64 };

static bool is_stored(const evl_cntk_list *shape)
{
    for (size_t i = 0; i < shape->n; i++)
        if (shape->at[i] < 1)
            return false;
    return shape->n > 0;
}

/* The sample's shape of an operand; false: not known yet. Room for EVAL_MAX_RANK. */
static bool find(const guess *g, const evl_cntk_node *node, int64_t *dims, size_t *n)
{
    const evl_value *outer = g->loop->net->values[node->index];
    if (outer) {
        *n = evl_cntk_rank(outer);
        evl_cntk_dims(outer, *n, dims);
        return true;
    }
    size_t at = g->loop->net->places[node->index];
    if (at == 0 || !g->dims[at - 1].at)
        return false;
    *n = g->dims[at - 1].n;
    for (size_t i = 0; i < *n; i++)
        dims[i] = g->dims[at - 1].at[i];
    return true;
}

static bool widest(const guess *g, const evl_cntk_node *node, int64_t *dims, size_t *n)
{
    int64_t other[EVAL_MAX_RANK];
    size_t n_other, n_known = 0;
    *n = 0;
    for (size_t i = 0; i < node->n_inputs; i++) {
        if (!find(g, node->inputs[i], other, &n_other))
            continue;
        n_known++;
        for (; *n < n_other; (*n)++)
            dims[*n] = 1;
        for (size_t j = 0; j < n_other; j++)
            dims[j] = other[j] > dims[j] ? other[j] : dims[j];
    }
    return n_known > 0;
}

/* The weights' first axes, then what the other operand has beyond the summed ones. */
static bool product(const guess *g, const evl_cntk_node *node, int64_t *dims, size_t *n)
{
    int64_t other[EVAL_MAX_RANK];
    size_t n_weights, n_other = 0, n_output = (size_t)node->f.output_rank;
    if (!find(g, node->inputs[0], dims, &n_weights) || n_output > n_weights)
        return false;
    find(g, node->inputs[1], other, &n_other);
    *n = n_output;
    for (size_t i = n_weights - n_output; i < n_other && *n < EVAL_MAX_RANK; i++)
        dims[(*n)++] = other[i];
    return true;
}

static bool cut(const guess *g, const evl_cntk_node *node, int64_t *dims, size_t *n)
{
    int64_t begin, end;
    if (!find(g, node->inputs[0], dims, n))
        return false;
    for (size_t i = 0; i < node->f.axes.n; i++) {
        int64_t axis = node->f.axes.at[i] - 1;
        if (axis < 0 || axis >= (int64_t)*n ||
            !evl_cntk_slice_range(&node->f, i, dims[axis], &begin, &end))
            return false;
        dims[axis] = end - begin;
    }
    return true;
}

static bool follow(const guess *g, const evl_cntk_node *node, int64_t *dims, size_t *n)
{
    switch (node->op->rule) {
    case EVL_CNTK_PAST:
    case EVL_CNTK_FUTURE:
    case EVL_CNTK_FIRST: return find(g, node->inputs[0], dims, n);
    case EVL_CNTK_WIDEST: return widest(g, node, dims, n);
    case EVL_CNTK_PRODUCT: return product(g, node, dims, n);
    case EVL_CNTK_CUT: return cut(g, node, dims, n);
    default: return false;
    }
}

static bool set(const guess *g, size_t i, const int64_t *dims, size_t n)
{
    g->dims[i].at = evl_arena_take_many(g->loop->net->graph->arena, n + 1, sizeof *dims);
    g->dims[i].n = n;
    for (size_t j = 0; g->dims[i].at && j < n; j++)
        g->dims[i].at[j] = dims[j];
    return g->dims[i].at != NULL;
}

/* Once round the loop; whether anything became known. */
static EvalStatus sweep(const guess *g, bool *is_changed)
{
    int64_t dims[EVAL_MAX_RANK];
    size_t n = 0;
    *is_changed = false;
    for (size_t i = 0; i < g->loop->n; i++) {
        if (g->dims[i].at || !follow(g, g->loop->nodes[i], dims, &n))
            continue;
        *is_changed = true;
        if (!set(g, i, dims, n))
            return evl_no_memory(g->loop->net->ctx);
    }
    return EVAL_OK;
}

static EvalStatus finish(const guess *g)
{
    for (size_t i = 0; i < g->loop->n; i++) {
        const evl_cntk_node *node = g->loop->nodes[i];
        if (evl_cntk_is_delay(node) && !g->dims[i].at)
            return evl_fail(g->loop->net->ctx, EVAL_ERR_UNSUPPORTED,
                            "node '%s' (%s) at byte %zu: the file does not store its shape, and it "
                            "cannot be told from its loop",
                            node->name, node->op->name, node->where);
    }
    return EVAL_OK;
}

EvalStatus evl_cntk_shape_delays(evl_cntk_loop *loop)
{
    const evl_cntk_network *net = loop->net;
    guess g = { loop, loop->shapes };
    bool is_changed = true;
    for (size_t i = 0; i < loop->n; i++) {
        const evl_cntk_node *node = loop->nodes[i];
        if (evl_cntk_is_delay(node) && is_stored(&node->f.shape) &&
            !set(&g, i, node->f.shape.at, node->f.shape.n))
            return evl_no_memory(net->ctx);
    }
    EvalStatus st = EVAL_OK;
    for (int i = 0; i < MOST_SWEEPS && st == EVAL_OK && is_changed; i++)
        st = sweep(&g, &is_changed);
    return st == EVAL_OK ? finish(&g) : st;
}
