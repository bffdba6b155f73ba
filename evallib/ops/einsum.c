/* Einsum of one or two operands. Two that share a summed axis are products of matrices,
** whose axes may lie anywhere; what is left is done row by row with the loops of its type:
** diagonals, sums, products without a sum. */
#include "ops/einsum.h"
#include "ops/elementwise.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <string.h>

enum { CHUNK = 1024, MOST_IN = 2 };

/* --- the text --- */

bool evl_einsum_has(const evl_einsum_term *t, uint8_t label)
{
    return memchr(t->label, label, t->n) != NULL;
}

static bool label_of(char c, uint8_t *label)
{
    bool is_upper = c >= 'A' && c <= 'Z', is_lower = c >= 'a' && c <= 'z';
    *label = (uint8_t)(is_upper ? c - 'A' : 26 + c - 'a');
    return is_upper || is_lower;
}

/* Up to a comma, an arrow or the end; NULL when it went well. */
static const char *read_term(const char **text, evl_einsum_term *t)
{
    uint8_t label;
    for (t->n = 0; **text && **text != ',' && **text != '-'; ++*text) {
        if (**text == ' ')
            continue;
        if (t->n == EVL_EINSUM_AXES)
            return "a term has too many letters";
        if (strncmp(*text, "...", 3) == 0) {
            if (evl_einsum_has(t, EVL_EINSUM_REST))
                return "a term has two ellipses";
            label = EVL_EINSUM_REST;
            *text += 2;
        } else if (!label_of(**text, &label)) {
            return "it has a character that is no letter, comma, '...' or '->'";
        }
        t->label[t->n++] = label;
    }
    return NULL;
}

/* The ellipsis, then every letter that stands once, in the order of the alphabet. */
static const char *make_output(evl_equation *e)
{
    size_t count[EVL_EINSUM_REST + 1] = { 0 };
    for (size_t i = 0; i < e->n_in; i++)
        for (size_t j = 0; j < e->in[i].n; j++)
            count[e->in[i].label[j]]++;
    e->out.n = 0;
    if (count[EVL_EINSUM_REST])
        e->out.label[e->out.n++] = EVL_EINSUM_REST;
    for (int label = 0; label < EVL_EINSUM_REST; label++) {
        if (count[label] != 1)
            continue;
        if (e->out.n == EVL_EINSUM_AXES)
            return "the output has too many letters";
        e->out.label[e->out.n++] = (uint8_t)label;
    }
    return NULL;
}

static const char *check_output(const evl_equation *e)
{
    for (size_t i = 0; i < e->out.n; i++) {
        bool is_there = false;
        for (size_t j = 0; j < e->n_in; j++)
            is_there = is_there || evl_einsum_has(&e->in[j], e->out.label[i]);
        if (!is_there)
            return "the output has a letter that no operand has";
        if (memchr(e->out.label, e->out.label[i], i))
            return "the output has a letter twice";
    }
    return NULL;
}

const char *evl_equation_read(const char *text, evl_equation *e)
{
    for (e->n_in = 0;; text++) {
        if (e->n_in == EVL_EINSUM_TERMS)
            return "it has too many operands";
        const char *wrong = read_term(&text, &e->in[e->n_in++]);
        if (wrong)
            return wrong;
        if (*text != ',')
            break;
    }
    if (!*text)
        return make_output(e);
    if (text[1] != '>')
        return "it has a '-' without a '>'";
    text += 2;
    const char *wrong = read_term(&text, &e->out);
    return wrong ? wrong : *text ? "something follows its output" : check_output(e);
}

/* --- shapes --- */

/* A term with the axes of its ellipsis, for a tensor of that rank. */
static bool spread(const evl_einsum_term *t, int32_t rank, evl_einsum_term *axes)
{
    bool has_rest = evl_einsum_has(t, EVL_EINSUM_REST);
    size_t letters = t->n - has_rest, rest = (size_t)rank - letters;
    if (rank < 0 || (size_t)rank < letters || (!has_rest && rest) || (size_t)rank > EVAL_MAX_RANK)
        return false;
    axes->n = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->label[i] != EVL_EINSUM_REST)
            axes->label[axes->n++] = t->label[i];
        else
            for (size_t j = rest; j-- > 0;)
                axes->label[axes->n++] = (uint8_t)(EVL_EINSUM_REST + j);
    return true;
}

static EvalStatus read_equation(evl_context *ctx, const evl_use *use, evl_equation *e)
{
    const char *text = evl_node_text(use->node, "equation", "");
    const char *wrong = evl_equation_read(text, e);
    if (wrong)
        return evl_fail(ctx, EVAL_ERR_FORMAT, "the equation '%.80s' is no equation: %s", text, wrong);
    if (e->n_in == use->n_in)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_FORMAT, "the equation '%.80s' has %zu operands, the node %zu", text,
                    e->n_in, use->n_in);
}

/* An axis that an operand has once may be stretched from 1. */
static bool meet(int64_t dim, int64_t *known)
{
    if (*known == EVL_UNKNOWN_DIM || *known == 1)
        *known = dim == EVL_UNKNOWN_DIM ? *known : dim;
    return dim == EVL_UNKNOWN_DIM || dim == 1 || *known == dim;
}

/* Sizes of labels, unknown ones too, and the axes of each operand. rest: of the output. */
typedef struct sizes {
    int64_t dim[EVL_EINSUM_LABELS];
    evl_einsum_term in[MOST_IN], out;
} sizes;

static EvalStatus measure(evl_context *ctx, const evl_use *use, const evl_equation *e, sizes *s)
{
    size_t rest = 0;
    for (size_t i = 0; i < EVL_EINSUM_LABELS; i++)
        s->dim[i] = 1;
    for (size_t i = 0; i < use->n_in; i++) {
        const evl_shape *shape = &use->in[i]->shape;
        if (!spread(&e->in[i], shape->rank, &s->in[i]))
            return evl_fail(ctx, EVAL_ERR_SHAPE, "input %zu has rank %d, which is not the equation's",
                            i, (int)shape->rank);
        size_t own = s->in[i].n + 1 - e->in[i].n;
        if (evl_einsum_has(&e->in[i], EVL_EINSUM_REST) && own > rest)
            rest = own;
        for (size_t j = 0; j < s->in[i].n; j++)
            if (!meet(shape->dim[j], &s->dim[s->in[i].label[j]]))
                return evl_fail(ctx, EVAL_ERR_SHAPE, "dimension %zu of input %zu is %lld, expected %lld",
                                j, i, (long long)shape->dim[j],
                                (long long)s->dim[s->in[i].label[j]]);
    }
    size_t has_rest = evl_einsum_has(&e->out, EVL_EINSUM_REST);
    if (spread(&e->out, (int32_t)(e->out.n - has_rest + has_rest * rest), &s->out))
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE, "the output has more dimensions than %d", EVAL_MAX_RANK);
}

static EvalStatus infer(evl_infer *x)
{
    evl_equation e;
    sizes s;
    EvalStatus st = read_equation(x->ctx, &x->use, &e);
    if (st == EVAL_OK)
        st = evl_infer_one_type(x, x->use.n_in);
    if (st == EVAL_OK)
        st = evl_infer_takes(x, 0, EVL_TAKES_BOOL | EVL_TAKES_INTEGERS | EVL_TAKES_REALS);
    if (st != EVAL_OK)
        return st;
    x->out[0].type = x->use.in[0]->type;
    for (size_t i = 0; i < x->use.n_in; i++)
        if (x->use.in[i]->shape.rank == EVL_UNKNOWN_RANK)
            return EVAL_OK;
    st = measure(x->ctx, &x->use, &e, &s);
    if (st != EVAL_OK)
        return st;
    int64_t dims[EVAL_MAX_RANK];
    for (size_t i = 0; i < s.out.n; i++)
        dims[i] = s.dim[s.out.label[i]];
    x->out[0].shape = evl_shape_of(s.out.n, dims);
    return EVAL_OK;
}

/* --- axes: what a label is to the operands --- */

typedef struct axis {
    size_t n, in[MOST_IN], y; /* size, and steps */
} axis;

typedef struct axes {
    size_t n_out, n_sum, count; /* of `of`: the output's in its order, then what is summed */
    axis of[EVL_EINSUM_LABELS];
} axes;

/* An axis of size 1 stands still; one that is there twice is a diagonal. */
static size_t step_of(const evl_shape *shape, const evl_einsum_term *t, uint8_t label)
{
    size_t sum = 0, step = 1;
    for (size_t i = t->n; i-- > 0; step *= (size_t)shape->dim[i])
        if (t->label[i] == label && shape->dim[i] != 1)
            sum += step;
    return sum;
}

static void add_axis(const evl_use *use, const sizes *s, uint8_t label, axes *a)
{
    axis *to = &a->of[a->count++];
    *to = (axis){ .n = (size_t)s->dim[label] };
    for (size_t i = 0; i < use->n_in; i++)
        to->in[i] = step_of(&use->in[i]->shape, &s->in[i], label);
}

static EvalStatus axes_of(evl_context *ctx, const evl_use *use, axes *a)
{
    evl_equation e;
    sizes s;
    size_t step = 1;
    EvalStatus st = read_equation(ctx, use, &e);
    if (st == EVAL_OK)
        st = measure(ctx, use, &e, &s);
    if (st != EVAL_OK)
        return st;
    *a = (axes){ 0 };
    for (size_t i = 0; i < s.out.n; i++)
        if (s.dim[s.out.label[i]] != 1)
            add_axis(use, &s, s.out.label[i], a);
    for (size_t i = a->n_out = a->count; i-- > 0; step *= a->of[i].n)
        a->of[i].y = step;
    for (int label = 0; label < EVL_EINSUM_LABELS; label++)
        if (!evl_einsum_has(&s.out, (uint8_t)label) && s.dim[label] != 1)
            add_axis(use, &s, (uint8_t)label, a);
    a->n_sum = a->count - a->n_out;
    return EVAL_OK;
}

/* --- products of matrices --- */

enum { A, B };

/* Of a use that infer let pass. */
static bool known_axes(const evl_use *use, axes *a)
{
    evl_context quiet;
    evl_context_init(&quiet, NULL, &evl_default_limits);
    EvalStatus st = axes_of(&quiet, use, a);
    evl_context_end(&quiet);
    return st == EVAL_OK;
}

static bool runs_on(const axis *whole, const axis *next)
{
    return next->in[A] == whole->in[A] * whole->n && next->in[B] == whole->in[B] * whole->n &&
           next->y == whole->y * whole->n;
}

/* `from` with all others that run on behind it, which are then done. */
static axis grown(const axes *a, size_t from, bool *done)
{
    axis whole = a->of[from];
    done[from] = true;
    for (size_t i = 0; i < a->count; i++)
        if (!done[i] && runs_on(&whole, &a->of[i])) {
            whole.n *= a->of[i].n;
            done[i] = true;
            i = SIZE_MAX; /* again from the first */
        }
    return whole;
}

/* The axis that is summed: of several the innermost, which the others must run on from. */
static bool sum_axis(const axes *a, bool *done, axis *k)
{
    size_t first = a->n_out;
    for (size_t i = a->n_out; i < a->count; i++)
        first = a->of[i].in[A] < a->of[first].in[A] ? i : first;
    if (a->n_sum == 0)
        return false;
    *k = grown(a, first, done);
    for (size_t i = a->n_out; i < a->count; i++)
        if (!done[i])
            return false;
    return k->in[A] && k->in[B];
}

/* Rows: the longest run of axes that A alone has; none: one row. */
static axis row_axis(const axes *a, bool *done)
{
    axis best = { .n = 1 };
    bool best_done[EVL_EINSUM_LABELS], now[EVL_EINSUM_LABELS];
    memcpy(best_done, done, a->count);
    for (size_t i = 0; i < a->n_out; i++) {
        if (done[i] || a->of[i].in[B])
            continue;
        memcpy(now, done, a->count);
        axis whole = grown(a, i, now);
        if (whole.n > best.n) {
            best = whole;
            memcpy(best_done, now, a->count);
        }
    }
    memcpy(done, best_done, a->count);
    return best;
}

bool evl_einsum_product(const evl_use *use, evl_matmul *x)
{
    axes a;
    axis k, m, n;
    bool done[EVL_EINSUM_LABELS] = { false };
    if (use->n_in != 2 || !known_axes(use, &a) || a.n_out == 0 || a.of[a.n_out - 1].in[A] ||
        !a.of[a.n_out - 1].in[B] || !sum_axis(&a, done, &k))
        return false;
    n = grown(&a, a.n_out - 1, done);
    m = row_axis(&a, done);
    *x = (evl_matmul){ .m = m.n, .n = n.n, .k = k.n, .batch = 1 };
    x->of[EVL_MATMUL_A] = (evl_matrices){ .row = m.in[A], .column = k.in[A] };
    x->of[EVL_MATMUL_B] = (evl_matrices){ .row = k.in[B], .column = n.in[B] };
    x->of[EVL_MATMUL_Y] = (evl_matrices){ .row = m.y, .column = 1 };
    for (size_t i = 0; i < a.n_out; i++) {
        if (done[i])
            continue;
        x->of[EVL_MATMUL_A].step[x->rank] = a.of[i].in[A];
        x->of[EVL_MATMUL_B].step[x->rank] = a.of[i].in[B];
        x->of[EVL_MATMUL_Y].step[x->rank] = a.of[i].y;
        x->dim[x->rank++] = a.of[i].n;
        x->batch *= a.of[i].n;
    }
    return true;
}

/* --- what is none: rows of the last axis --- */

typedef struct plan {
    axes a;
    axis inner;
    size_t n_in, size, outer, terms, chunks; /* rows; what is summed up to one; parts of a row */
    const evl_loops *loops;
    bool inner_is_sum;
} plan;

typedef struct running {
    const plan *x;
    const char *in[MOST_IN];
    char *y, *scratch;
} running;

/* Where the index-th combination of the axes from .. to-1 lies. */
static void locate(const plan *x, size_t from, size_t to, size_t index, size_t in[MOST_IN], size_t *y)
{
    for (size_t i = to; i-- > from;) {
        const axis *a = &x->a.of[i];
        size_t at = index % a->n;
        index /= a->n;
        in[A] += at * a->in[A];
        in[B] += at * a->in[B];
        *y += at * a->y;
    }
}

static void gather(size_t n, size_t size, const char *from, size_t step, char *to)
{
    if (size == 4)
        for (size_t i = 0; i < n; i++)
            memcpy(to + i * 4, from + i * step * 4, 4);
    else if (size == 8)
        for (size_t i = 0; i < n; i++)
            memcpy(to + i * 8, from + i * step * 8, 8);
    else
        for (size_t i = 0; i < n; i++)
            memcpy(to + i * size, from + i * step * size, size);
}

/* An operand's part of a row as loops read it: where it is, or copied together. */
static const char *row_of(const running *r, size_t which, size_t at, size_t n, char *room)
{
    const plan *x = r->x;
    const char *from = r->in[which] + at * x->size;
    if (x->inner.in[which] <= 1)
        return from;
    gather(n, x->size, from, x->inner.in[which], room);
    return room;
}

/* The product of one term, to `to`: n elements. */
static void multiply(const running *r, const size_t at[MOST_IN], size_t n, char *room, char *to)
{
    const plan *x = r->x;
    const char *a = row_of(r, A, at[A], n, room);
    if (x->n_in == 1) {
        gather(n, x->size, a, x->inner.in[A] != 0, to);
        return;
    }
    const char *b = row_of(r, B, at[B], n, room + CHUNK * x->size);
    x->loops->binary[EVL_MUL](n, a, x->inner.in[A] != 0, b, x->inner.in[B] != 0, to);
}

/* Elements from .. from+n-1 of the inner axis, of one row of the output. */
static void do_part(const running *r, size_t row, size_t from, size_t n, char *room)
{
    const plan *x = r->x;
    size_t start[MOST_IN] = { from * x->inner.in[A], from * x->inner.in[B] }, y = from * x->inner.y;
    size_t outer = x->a.n_out - !x->inner_is_sum, sums = x->a.count - x->inner_is_sum, none = 0;
    char *term = room + MOST_IN * x->size * CHUNK, *sum = term + CHUNK * x->size;
    locate(x, 0, outer, row, start, &y);
    char *to = r->y + y * x->size;
    size_t n_to = x->inner_is_sum ? 1 : n;
    for (size_t i = 0; i < x->terms; i++) {
        size_t at[MOST_IN] = { start[A], start[B] };
        bool is_first = i == 0 && !(x->inner_is_sum && from);
        char *result = is_first && !x->inner_is_sum ? to : term;
        locate(x, x->a.n_out, sums, i, at, &none);
        multiply(r, at, n, room, result);
        if (x->inner_is_sum) {
            result = is_first ? to : sum;
            x->loops->reduce[EVL_REDUCE_SUM]((evl_axis_lines){ n, 1, 1 }, term, result);
        }
        if (!is_first)
            x->loops->binary[EVL_ADD](n_to, to, 1, result, 1, to);
    }
}

static void work(void *arg, size_t index, size_t lane)
{
    const running *r = arg;
    const plan *x = r->x;
    size_t rows = CHUNK / (x->inner.n * x->terms + 1) + 1, from = index * rows;
    char *room = r->scratch + lane * 4 * CHUNK * x->size;
    for (size_t i = from; i < from + rows && i < x->outer; i++)
        for (size_t j = 0; j < x->inner.n; j += CHUNK)
            do_part(r, i, j, x->inner.n - j < CHUNK ? x->inner.n - j : CHUNK, room);
}

static EvalStatus run(const evl_call *call)
{
    const plan *x = call->state;
    size_t rows = CHUNK / (x->inner.n * x->terms + 1) + 1;
    running r = { .x = x, .y = call->out[0]->data, .scratch = call->scratch };
    for (size_t i = 0; i < x->n_in; i++)
        r.in[i] = call->in[i]->data;
    if (x->inner.n == 0 || x->terms == 0)
        memset(r.y, 0, evl_shape_count(&call->out[0]->shape) * x->size);
    else
        evl_parallel_for(call->machine->pool, x->outer / rows + (x->outer % rows != 0), work, &r);
    return EVAL_OK;
}

static bool is_side_by_side(const axis *a)
{
    return a->in[A] <= 1 && a->in[B] <= 1;
}

/* The inner axis is the output's last; or one that is summed, then put last, when only that
** lies side by side or the output has none. */
static void choose_inner(plan *x)
{
    axes *a = &x->a;
    x->inner_is_sum = a->n_out == 0;
    for (size_t i = a->n_out; i < a->count; i++)
        if (is_side_by_side(&a->of[i]) && (a->n_out == 0 || !is_side_by_side(&a->of[a->n_out - 1]))) {
            axis last = a->of[a->count - 1];
            a->of[a->count - 1] = a->of[i];
            a->of[i] = last;
            x->inner_is_sum = true;
        }
    x->inner = a->of[x->inner_is_sum ? a->count - 1 : a->n_out - 1];
    x->outer = x->terms = 1;
    for (size_t i = 0; i < a->n_out - !x->inner_is_sum; i++)
        x->outer *= a->of[i].n;
    for (size_t i = a->n_out; i < a->count - x->inner_is_sum; i++)
        x->terms *= a->of[i].n;
}

static EvalStatus prepare_rows(evl_prepare *p)
{
    plan *x = evl_arena_take(p->arena, sizeof *x);
    if (!x)
        return evl_no_memory(p->ctx);
    EvalStatus st = axes_of(p->ctx, &p->use, &x->a);
    if (st != EVAL_OK)
        return st;
    if (x->a.count == 0) { /* scalars: a row of one */
        x->a.of[0].n = 1;
        x->a.n_out = x->a.count = 1;
    }
    choose_inner(x);
    x->n_in = p->use.n_in;
    x->size = evl_type_size(p->use.in[0]->type);
    x->loops = evl_loops_of(p, 0);
    p->state = x;
    p->scratch_bytes = evl_pool_threads(p->machine->pool) * 4 * CHUNK * x->size;
    p->strategy = "rows";
    return x->loops->binary[EVL_MUL] && x->loops->reduce[EVL_REDUCE_SUM]
               ? EVAL_OK
               : evl_no_arithmetic(p->ctx, p->use.in[0]->type);
}

extern const evl_impl evl_matmul_f, evl_matmul_d;

static EvalStatus prepare(evl_prepare *p)
{
    const evl_impl *product = p->machine->precision == EVL_DOUBLE ? &evl_matmul_d : &evl_matmul_f;
    evl_matmul x;
    if (p->use.in[0]->type != p->machine->real || !evl_einsum_product(&p->use, &x))
        return prepare_rows(p);
    p->run = product->run;
    return product->prepare(p);
}

static const evl_impl einsum = { prepare, run };

const evl_op evl_op_einsum = {
    .name = "Einsum",
    .min_inputs = 1,
    .max_inputs = MOST_IN,
    .min_outputs = 1,
    .max_outputs = 1,
    .infer = infer,
    .real = { [EVL_FLOAT] = &einsum, [EVL_DOUBLE] = &einsum },
    .integer = &einsum,
};

const evl_op *const evl_ops_einsum[] = { &evl_op_einsum, NULL };
