/* layout.c - operators that move elements: cut, stack, reshape, transpose, repeat. */
#include "readers/cntk/maker.h"

bool evl_cntk_slice_range(const evl_cntk_fields *f, size_t i, int64_t size, int64_t *begin,
                          int64_t *end)
{
    *begin = f->begins.at[i] < 0 ? f->begins.at[i] + size : f->begins.at[i];
    *end = f->ends.at[i] <= 0 ? f->ends.at[i] + size : f->ends.at[i];
    return *begin >= 0 && *begin < *end && *end <= size;
}

/* As Slice wants them: a range that runs backward begins at its last element. */
static bool bounds(const evl_cntk_fields *f, size_t i, int64_t size, int64_t *start, int64_t *end)
{
    if (f->steps.at[i] == 0)
        return false;
    if (size < 0) { /* not known yet: from the end, both count as they do there */
        *start = f->begins.at[i];
        *end = f->ends.at[i] == 0 ? INT64_MAX : f->ends.at[i];
    } else if (!evl_cntk_slice_range(f, i, size, start, end)) {
        return false;
    }
    if (f->steps.at[i] > 0)
        return true;
    int64_t first = *start;
    *start = *end == INT64_MAX ? -1 : *end - 1;
    *end = first == 0 ? INT64_MIN + 1 : first - 1;
    return true;
}

evl_value *evl_cntk_slice(evl_cntk_maker *k)
{
    const evl_cntk_fields *f = &k->node->f;
    int64_t starts[EVAL_MAX_RANK], ends[EVAL_MAX_RANK], axes[EVAL_MAX_RANK];
    evl_value *x = k->in[0];
    for (size_t i = 0; i < f->axes.n; i++) {
        int64_t axis = f->axes.at[i] - 1;
        if (axis < 0 || axis >= (int64_t)evl_cntk_rank(x))
            return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "a slice of axis %lld, samples have %zu",
                                 (long long)axis + 1, evl_cntk_rank(x));
        int64_t size = evl_cntk_dim(x, (size_t)axis);
        if (!bounds(f, i, size, &starts[i], &ends[i]))
            return evl_cntk_fail(k, EVAL_ERR_SHAPE, "elements %lld to %lld of %lld",
                                 (long long)f->begins.at[i], (long long)f->ends.at[i],
                                 (long long)size);
        axes[i] = x->t.shape.rank - 1 - axis;
    }
    evl_attribute a[4] = { evl_cntk_ints(k, "starts", starts, f->axes.n),
                           evl_cntk_ints(k, "ends", ends, f->axes.n),
                           evl_cntk_ints(k, "axes", axes, f->axes.n),
                           evl_cntk_ints(k, "steps", f->steps.at, f->axes.n) };
    return evl_cntk_call(k, "Slice", &x, 1, a, 4);
}

/* --- RowStack --------------------------------------------------------------------------- */

typedef struct stack {
    size_t n, rank, axis;
    evl_value *framed;           /* an operand with frames; NULL: none has */
    int64_t dims[EVAL_MAX_RANK]; /* of the result, but for the axis */
} stack;

/* Of two that broadcast; one that only a call tells is more than 1. */
static int64_t wider(int64_t a, int64_t b)
{
    int64_t most = a > b ? a : b;
    return most > 1 || (a >= 0 && b >= 0) ? most : EVL_UNKNOWN_DIM;
}

static bool measure_stack(evl_cntk_maker *k, stack *s)
{
    int64_t axis = k->node->f.axis;
    *s = (stack){ .n = k->node->n_inputs, .axis = (size_t)axis - 1, .rank = (size_t)axis };
    if (axis < 1 || axis > EVL_CNTK_MAX_RANK) {
        evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "stacked on axis %lld", (long long)axis);
        return false;
    }
    for (size_t i = 0; i < s->n; i++) {
        if (!k->in[i]) {
            evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "operand %zu has no value", i);
            return false;
        }
        if (evl_cntk_rank(k->in[i]) > s->rank)
            s->rank = evl_cntk_rank(k->in[i]);
        if (k->in[i]->has_frames)
            s->framed = k->in[i];
    }
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->rank; j++)
            s->dims[j] = wider(s->dims[j], evl_cntk_dim(k->in[i], j));
    return true;
}

/* An operand as wide as the result on every other axis. */
static evl_value *widened(evl_cntk_maker *k, const stack *s, evl_value *x)
{
    int64_t dims[EVAL_MAX_RANK] = { 0 };
    bool is_wide = true;
    if (s->framed)
        x = evl_cntk_with_frames(k, x, s->framed);
    x = evl_cntk_with_rank(k, x, s->rank);
    if (k->b.status != EVAL_OK)
        return NULL;
    size_t rank = (size_t)x->t.shape.rank;
    dims[0] = 1; /* against the frames: they stay */
    for (size_t i = 0; i < s->rank; i++) {
        int64_t own = evl_cntk_dim(x, i);
        int64_t wanted = i == s->axis || own < 0 ? own : s->dims[i];
        if (wanted < 0 && own >= 0)
            return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED,
                                 "stacked on what only a call tells the size of");
        is_wide = is_wide && wanted == own;
        dims[rank - 1 - i] = wanted < 0 ? 1 : wanted; /* against an unknown one: it stays */
    }
    evl_value *in[2] = { x, is_wide ? NULL : evl_build_ints(&k->b, dims, rank) };
    return is_wide ? x : evl_cntk_call(k, "Expand", in, 2, NULL, 0);
}

evl_value *evl_cntk_row_stack(evl_cntk_maker *k)
{
    stack s;
    if (!measure_stack(k, &s))
        return NULL;
    evl_value **in = evl_arena_take_many(k->b.graph->arena, s.n, sizeof *in);
    if (!in) {
        k->b.status = evl_no_memory(k->b.ctx);
        return NULL;
    }
    for (size_t i = 0; i < s.n; i++)
        in[i] = widened(k, &s, k->in[i]);
    if (k->b.status != EVAL_OK)
        return NULL;
    evl_attribute axis = evl_attribute_int("axis", in[0]->t.shape.rank - 1 - (int64_t)s.axis);
    return evl_cntk_call(k, "Concat", in, s.n, &axis, 1);
}

/* --- shapes ------------------------------------------------------------------------------ */

/* The dimension given as 0 is what the others leave of `size` elements, -1 where only a call
** tells them; all are known to be small. */
static bool complete(evl_cntk_maker *k, int64_t *dims, size_t n, int64_t size)
{
    int64_t *open = NULL, product = 1;
    bool fits = true, is_known = size >= 0;
    for (size_t i = 0; i < n && fits; i++) {
        if (dims[i] == 0) {
            fits = !open;
            open = &dims[i];
        } else {
            fits = dims[i] > 0 && (!is_known || product <= size / dims[i]);
            product *= fits && is_known ? dims[i] : 1;
        }
    }
    if (fits && open)
        *open = is_known ? size / product : -1; /* the run will tell */
    fits = fits && (!is_known || product * (open ? *open : 1) == size);
    if (!fits)
        evl_cntk_fail(k, EVAL_ERR_SHAPE, "%lld elements do not fit the new shape", (long long)size);
    return fits;
}

/* Axes first_axis .. end_axis-1 (from 1; 0: to the last) give way to the shape. */
evl_value *evl_cntk_reshape_op(evl_cntk_maker *k)
{
    const evl_cntk_fields *f = &k->node->f;
    int64_t dims[EVAL_MAX_RANK], rank = (int64_t)evl_cntk_rank(k->in[0]), size = 1;
    int64_t first = f->first_axis > 0 ? f->first_axis - 1 : 0;
    int64_t end = f->end_axis > 0 ? f->end_axis - 1 : rank;
    if (first > end || end > rank)
        return evl_cntk_fail(k, EVAL_ERR_SHAPE, "axes %lld to %lld of %lld", (long long)first + 1,
                             (long long)end + 1, (long long)rank);
    for (int64_t i = first; i < end && size >= 0; i++) {
        int64_t dim = evl_cntk_dim(k->in[0], (size_t)i);
        size = dim < 0 ? -1 : size * dim;
    }
    for (size_t i = 0; i < f->shape.n; i++)
        dims[i] = f->shape.at[i];
    if (!complete(k, dims, f->shape.n, size))
        return NULL;
    return evl_cntk_replace(k, k->in[0], (size_t)first, (size_t)end, dims, f->shape.n);
}

/* The old Reshape could also change how many frames there are; that is not offered. */
evl_value *evl_cntk_legacy_reshape(evl_cntk_maker *k)
{
    const evl_cntk_fields *f = &k->node->f;
    int64_t size = evl_cntk_sample_size(k->in[0]), product = 1;
    if (f->rows != size && f->rows != 0)
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "%lld rows made of %lld changes the frames",
                             (long long)f->rows, (long long)size);
    for (size_t i = 0; i < f->shape.n && product > 0; i++)
        product = f->shape.at[i] > size / product ? 0 : product * f->shape.at[i];
    if (product != size || f->shape.n == 0)
        return evl_cntk_flatten(k, k->in[0]);
    return evl_cntk_reshape(k, k->in[0], f->shape.at, f->shape.n);
}

static bool is_permutation(const size_t *axes, size_t n)
{
    unsigned seen = 0;
    for (size_t i = 0; i < n; i++)
        seen |= axes[i] < n ? 1u << axes[i] : 0;
    return seen == (1u << n) - 1;
}

/* Two axes swapped, or all of them in a new order. */
evl_value *evl_cntk_transpose(evl_cntk_maker *k)
{
    const evl_cntk_fields *f = &k->node->f;
    size_t axes[EVAL_MAX_RANK], rank = evl_cntk_rank(k->in[0]);
    int64_t a = f->axes.at[0], b = f->axes.at[1];
    if (f->permutation.n == 0) {
        if (a < 1 || b < 1 || a > EVL_CNTK_MAX_RANK || b > EVL_CNTK_MAX_RANK)
            return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "axes %lld and %lld swapped",
                                 (long long)a, (long long)b);
        rank = rank < (size_t)a ? (size_t)a : rank;
        rank = rank < (size_t)b ? (size_t)b : rank;
    } else if (rank < f->permutation.n) {
        rank = f->permutation.n;
    }
    for (size_t i = 0; i < rank; i++)
        axes[i] = i < f->permutation.n ? (size_t)f->permutation.at[i] : i;
    if (f->permutation.n == 0) {
        axes[a - 1] = (size_t)b - 1;
        axes[b - 1] = (size_t)a - 1;
    }
    if (!is_permutation(axes, rank))
        return evl_cntk_fail(k, EVAL_ERR_FORMAT, "no permutation of %zu axes", rank);
    return evl_cntk_permute(k, evl_cntk_with_rank(k, k->in[0], rank), axes, rank);
}

/* The first axis, repeated as a whole. */
evl_value *evl_cntk_row_repeat(evl_cntk_maker *k)
{
    int64_t repeats[EVAL_MAX_RANK], n = k->node->f.repeats;
    evl_value *x = k->in[0];
    if (n < 1 || x->t.shape.rank < 1)
        return evl_cntk_fail(k, EVAL_ERR_FORMAT, "%lld repetitions", (long long)n);
    for (int32_t i = 0; i < x->t.shape.rank; i++)
        repeats[i] = i == x->t.shape.rank - 1 ? n : 1;
    evl_value *in[2] = { x, evl_build_ints(&k->b, repeats, (size_t)x->t.shape.rank) };
    return evl_cntk_call(k, "Tile", in, 2, NULL, 0);
}

/* A square matrix's diagonal, as a row: every (n + 1)th element. */
evl_value *evl_cntk_diagonal(evl_cntk_maker *k)
{
    int64_t n = evl_cntk_dim(k->in[0], 0), row[2] = { 1, n };
    if (evl_cntk_rank(k->in[0]) != 2 || evl_cntk_dim(k->in[0], 1) != n)
        return evl_cntk_fail(k, EVAL_ERR_SHAPE, "the diagonal of what is no square matrix");
    evl_value *flat = evl_cntk_flatten(k, k->in[0]);
    if (!flat)
        return NULL;
    int64_t start = 0, end = n * n, axis = flat->t.shape.rank - 1, step = n + 1;
    evl_attribute a[4] = { evl_cntk_ints(k, "starts", &start, 1), evl_cntk_ints(k, "ends", &end, 1),
                           evl_cntk_ints(k, "axes", &axis, 1),
                           evl_cntk_ints(k, "steps", &step, 1) };
    return evl_cntk_reshape(k, evl_cntk_call(k, "Slice", &flat, 1, a, 4), row, 2);
}
