/* Attention by tiles: some rows of Q against a block of keys at a time, whose scores become
** weights and then a part of Y while they are in the second cache. The whole matrix of
** scores is never there; where it is asked for, a tile has all its keys in one block.
**
** Tiles and blocks depend on the shapes alone, so results do not depend on threads. */
#include "kernels/kernels.h"
#include "base/memory.h"
#include "ops/attention.h"

enum {
    ROWS = 192,       /* of a tile: K and V are packed again for each */
    KEYS = 256,       /* of a block */
    FEW_ROWS = 32,    /* fewer are not split for threads */
    TILES_WANTED = 8,
    GAP = 16          /* behind each row of scores: rows must not meet in the first cache */
};

typedef struct plan {
    evl_attention shape;
    size_t rows, n_tiles; /* of a tile; tiles a head */
    size_t keys, row;     /* of a block; from one row of scores to the next */
    size_t groups;        /* rows of Q that are multiplied together */
    size_t panels_k, panels_v, scores; /* elements of one lane's scratch */
    size_t scratch, joined_k, joined_v;
    bool wants_scores;
} plan;

typedef struct running {
    const plan *x;
    const evl_kernels *kernels;
    const real *q, *k, *v, *bias;
    const evl_tensor *mask, *valid;
    real *y, *scores, *scratch;
} running;

/* --- prepare --- */

static size_t parts(size_t n, size_t most)
{
    return n / most + (n % most != 0);
}

static size_t even(size_t n, size_t most)
{
    return n ? parts(n, parts(n, most)) : 1;
}

static void cut(const evl_prepare *p, plan *x)
{
    const evl_attention *s = &x->shape;
    const evl_gemm_kernels *g = p->machine->k->gemm;
    size_t heads = s->samples * s->heads;
    x->wants_scores = p->n_out > EVL_ATTENTION_SCORES && p->out[EVL_ATTENTION_SCORES];
    x->rows = even(s->n_q, ROWS);
    while (x->rows > FEW_ROWS && heads * parts(s->n_q, x->rows) < TILES_WANTED)
        x->rows = even(s->n_q, x->rows / 2);
    x->n_tiles = parts(s->n_q, x->rows);
    x->keys = x->wants_scores ? s->n_k : even(s->n_k, KEYS);
    x->row = x->keys + GAP;
    x->groups = even(x->rows, g->rows);
}

/* Sizes of scratch memory, in elements. */
static EvalStatus measure(evl_prepare *p, plan *x)
{
    const evl_attention *s = &x->shape;
    const evl_product_kernels *k = p->machine->k->product;
    size_t heads = s->samples * (s->group ? s->heads / s->group : 0), n = 0, joined = 0, bytes;
    bool has_past = s->in.past_k != SIZE_MAX, fits = true;
    x->panels_k = k->panels_size(s->size, x->keys);
    x->panels_v = k->panels_size(x->keys, s->size_v);
    fits = evl_size_multiply(x->rows, x->row, &x->scores);
    fits = fits && evl_size_add(x->scores, x->panels_k, &n) && evl_size_add(n, x->panels_v, &n);
    x->scratch = n + 2 * x->rows + GAP;
    if (has_past && (p->n_out < 2 || !p->out[EVL_ATTENTION_PRESENT_K]))
        x->joined_k = heads * s->n_k * s->size;
    if (has_past && (p->n_out < 3 || !p->out[EVL_ATTENTION_PRESENT_V]))
        x->joined_v = heads * s->n_k * s->size_v;
    fits = fits && evl_size_add(x->joined_k, x->joined_v, &joined) &&
           evl_size_multiply(x->scratch, evl_pool_threads(p->machine->pool), &n) &&
           evl_size_add(n, joined, &n) && evl_size_multiply(n, sizeof(real), &bytes);
    if (!fits)
        return evl_no_memory(p->ctx);
    p->scratch_bytes = bytes;
    return EVAL_OK;
}

static EvalStatus prepare(evl_prepare *p)
{
    plan *x = evl_arena_take(p->arena, sizeof *x);
    if (!x)
        return evl_no_memory(p->ctx);
    p->state = x;
    EvalStatus st = evl_attention_of(p->ctx, &p->use, &x->shape);
    if (st != EVAL_OK)
        return st;
    cut(p, x);
    return measure(p, x);
}

/* --- run: a tile --- */

typedef struct tile {
    size_t sample, head, from, n; /* rows from .. from+n-1 */
    const real *q, *k, *v;
    real *y;
    real *scores, *panels_k, *panels_v;
    evl_softmax_row *state;       /* a row */
} tile;

static size_t place(const evl_attention_steps *s, size_t sample, size_t head, size_t row)
{
    return s->at + sample * s->sample + head * s->head + row * s->row;
}

static tile tile_of(const running *r, size_t index, size_t lane)
{
    const plan *x = r->x;
    const evl_attention *s = &x->shape;
    size_t which = index / x->n_tiles;
    tile t = { .sample = which / s->heads, .head = which % s->heads,
               .from = index % x->n_tiles * x->rows };
    t.n = s->n_q - t.from < x->rows ? s->n_q - t.from : x->rows;
    t.q = r->q + place(&s->q, t.sample, t.head, t.from);
    t.k = r->k + place(&s->k, t.sample, t.head / s->group, 0);
    t.v = r->v + place(&s->v, t.sample, t.head / s->group, 0);
    t.y = r->y + place(&s->y, t.sample, t.head, t.from);
    t.scores = r->scratch + lane * x->scratch;
    t.panels_k = t.scores + x->scores;
    t.panels_v = t.panels_k + x->panels_k;
    t.state = (evl_softmax_row *)(t.panels_v + x->panels_v);
    for (size_t i = 0; i < t.n; i++)
        t.state[i] = (evl_softmax_row){ -(real)INFINITY, 0 };
    return t;
}

/* scale * Q K' of n keys, and the bias when nothing comes between. */
static void multiply_keys(const running *r, const tile *t, size_t j, size_t n, bool with_bias)
{
    const plan *x = r->x;
    const evl_attention *s = &x->shape;
    const evl_gemm_kernels *k = r->kernels->gemm;
    size_t panel = s->size * k->columns;
    evl_gemm_block g = { .m = t->n, .n = n, .k = s->size, .rows = x->groups,
                         .a = t->q, .a_row = s->q.row, .a_step = s->q.column,
                         .a_group = x->groups * s->q.row,
                         .b = t->panels_k, .b_panel = panel,
                         .c = t->scores, .c_row = x->row,
                         .epilogue = { .alpha = (real)s->scale } };
    if (with_bias)
        g.epilogue.add[0] = (evl_addend){
            r->bias + place(&s->bias, t->sample, t->head, t->from) + j * s->bias.column,
            s->bias.row, s->bias.column };
    k->pack_panels(s->size, n, (evl_gemm_matrix){ t->k + j * s->k.row, s->k.column, s->k.row },
                   panel, t->panels_k);
    k->block(&g);
}

/* Y += weights V, the first block: Y = .. */
static void multiply_values(const running *r, const tile *t, size_t j, size_t n, bool is_first)
{
    const plan *x = r->x;
    const evl_attention *s = &x->shape;
    const evl_gemm_kernels *k = r->kernels->gemm;
    size_t panel = n * k->columns;
    evl_gemm_block g = { .m = t->n, .n = s->size_v, .k = n, .rows = x->groups,
                         .a = t->scores, .a_row = x->row, .a_step = 1,
                         .a_group = x->groups * x->row,
                         .b = t->panels_v, .b_panel = panel,
                         .c = t->y, .c_row = s->y.row,
                         .epilogue = { .alpha = 1 } };
    if (!is_first)
        g.epilogue.add[0] = (evl_addend){ t->y, s->y.row, 1 };
    k->pack_panels(n, s->size_v, (evl_gemm_matrix){ t->v + j * s->v.row, s->v.row, s->v.column },
                   panel, t->panels_v);
    k->block(&g);
}

static void cap(const running *r, size_t n, real *x)
{
    const evl_number by = (evl_number)r->x->shape.cap, before[] = { 0, 1 / by, 0 },
                     after[] = { 0, by, 0 };
    evl_unary_loop *const *unary = r->kernels->loops->unary;
    unary[EVL_AFFINE](n, x, x, before);
    unary[EVL_TANH](n, x, x, NULL);
    unary[EVL_AFFINE](n, x, x, after);
}

static void mask(const running *r, size_t at, size_t n, real *x)
{
    const evl_attention *s = &r->x->shape;
    size_t step = s->mask.column;
    if (r->mask->type == EVAL_BOOL) {
        const uint8_t *m = (const uint8_t *)r->mask->data + at;
        for (size_t i = 0; i < n; i++)
            x[i] = m[i * step] ? x[i] : (real)s->excluded;
        return;
    }
    const int32_t *m = (const int32_t *)r->mask->data + at;
    for (size_t i = 0; i < n; i++)
        x[i] += m[i * step] ? 0 : (real)s->excluded;
}

static void copy(size_t n, const real *x, real *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i];
}

static void exclude(real *x, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++)
        x[i] = -(real)INFINITY;
}

/* Row i of the tile, keys j .. j+n-1: whatever comes between the product and softmax. */
static void finish_scores(const running *r, const tile *t, size_t i, size_t j, size_t n)
{
    const evl_attention *s = &r->x->shape;
    size_t row = t->from + i, has = s->n_mask < j ? 0 : s->n_mask - j < n ? s->n_mask - j : n;
    real *x = t->scores + i * r->x->row;
    real *out = r->scores ? r->scores + place(&s->scores, t->sample, t->head, row) + j : NULL;
    evl_attention_range range = evl_attention_range_of(s, r->valid, t->sample, row);
    size_t first = range.first < j ? 0 : range.first - j < n ? range.first - j : n;
    size_t end = range.end < j ? 0 : range.end - j < n ? range.end - j : n;
    if (out && s->which == EVL_SCORES_PLAIN)
        copy(n, x, out);
    if (s->cap > 0)
        cap(r, n, x);
    if (out && s->which == EVL_SCORES_CAPPED)
        copy(n, x, out);
    if (r->bias && (s->cap > 0 || out || has < n)) {
        const real *b = r->bias + place(&s->bias, t->sample, t->head, row) + j * s->bias.column;
        r->kernels->loops->binary[EVL_ADD](has, x, 1, b, s->bias.column, x);
    }
    if (r->mask)
        mask(r, place(&s->mask, t->sample, t->head, row) + j * s->mask.column, has, x);
    exclude(x, 0, first);
    exclude(x, end, n);
    if (out && s->which == EVL_SCORES_BIASED)
        copy(n, x, out);
}

static void weigh_rows(const running *r, const tile *t, size_t j, size_t n, bool is_first)
{
    const evl_attention *s = &r->x->shape;
    const evl_attention_kernels *k = r->kernels->attention;
    for (size_t i = 0; i < t->n; i++) {
        real *x = t->scores + i * r->x->row, factor;
        finish_scores(r, t, i, j, n);
        factor = k->weigh(n, x, &t->state[i]);
        if (!is_first && factor != 1)
            k->scale(s->size_v, t->y + i * s->y.row, factor);
        if (r->scores && s->which == EVL_SCORES_WEIGHTS) {
            real sum = t->state[i].sum, by = sum == 0 ? 0 : 1 / sum;
            real *out = r->scores + place(&s->scores, t->sample, t->head, t->from + i) + j;
            copy(n, x, out);
            k->scale(n, out, by);
        }
    }
}

/* Keys that no row of the tile may see are not looked at. */
static evl_attention_range range_of(const running *r, const tile *t)
{
    const evl_attention *s = &r->x->shape;
    evl_attention_range all = { 0, s->n_k };
    if (r->x->wants_scores || t->n == 0)
        return all;
    all.first = evl_attention_range_of(s, r->valid, t->sample, t->from).first;
    all.end = evl_attention_range_of(s, r->valid, t->sample, t->from + t->n - 1).end;
    return all;
}

static void work(void *arg, size_t index, size_t lane)
{
    const running *r = arg;
    const plan *x = r->x;
    const evl_attention *s = &x->shape;
    tile t = tile_of(r, index, lane);
    evl_attention_range range = range_of(r, &t);
    size_t first = range.first / x->keys * x->keys;
    bool with_bias = r->bias && !r->scores && s->cap <= 0 && s->n_mask == s->n_k;
    for (size_t j = first; j < range.end; j += x->keys) {
        size_t n = s->n_k - j < x->keys ? s->n_k - j : x->keys;
        multiply_keys(r, &t, j, n, with_bias);
        weigh_rows(r, &t, j, n, j == first);
        multiply_values(r, &t, j, n, j == first);
    }
    for (size_t i = 0; i < t.n; i++) {
        real sum = first < range.end ? t.state[i].sum : 0, *y = t.y + i * s->y.row;
        if (sum == 0)
            for (size_t c = 0; c < s->size_v; c++)
                y[c] = (real)s->of_none;
        else
            r->kernels->attention->scale(s->size_v, y, 1 / sum);
    }
}

static const void *data_of(const evl_call *call, size_t input)
{
    return input < call->n_in && call->in[input] ? call->in[input]->data : NULL;
}

static void *out_of(const evl_call *call, size_t output)
{
    return output < call->n_out && call->out[output] ? call->out[output]->data : NULL;
}

/* What the heads read: the input, or past rows joined with it. */
static const real *joined(const evl_call *call, size_t input, size_t past, size_t output,
                          real *room)
{
    const evl_attention *s = &((const plan *)call->state)->shape;
    bool is_k = output == EVL_ATTENTION_PRESENT_K;
    const void *from = data_of(call, input);
    void *to = out_of(call, output);
    bool has_past = past != SIZE_MAX;
    if (!to && !has_past)
        return from;
    to = to ? to : room;
    evl_attention_join(s, is_k ? &s->new_k : &s->new_v, is_k ? s->size : s->size_v, sizeof(real),
                       data_of(call, past), from, to);
    return has_past ? to : from;
}

static EvalStatus run(const evl_call *call)
{
    const plan *x = call->state;
    const evl_attention_inputs *in = &x->shape.in;
    real *scratch = call->scratch;
    running r = { .x = x,
                  .kernels = call->machine->k,
                  .q = data_of(call, in->q),
                  .bias = data_of(call, in->bias),
                  .mask = in->mask < call->n_in ? call->in[in->mask] : NULL,
                  .valid = in->valid < call->n_in ? call->in[in->valid] : NULL,
                  .y = out_of(call, EVL_ATTENTION_Y),
                  .scores = out_of(call, EVL_ATTENTION_SCORES),
                  .scratch = scratch + x->joined_k + x->joined_v };
    r.k = joined(call, in->k, in->past_k, EVL_ATTENTION_PRESENT_K, scratch);
    r.v = joined(call, in->v, in->past_v, EVL_ATTENTION_PRESENT_V, scratch + x->joined_k);
    evl_parallel_for(call->machine->pool, x->shape.samples * x->shape.heads * x->n_tiles, work, &r);
    return EVAL_OK;
}

extern const evl_impl TWIN(evl_attention);
const evl_impl TWIN(evl_attention) = { .prepare = prepare, .run = run };
