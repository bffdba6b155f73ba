/* LSTM, GRU and RNN, run step by step (ONNX's equations, with the names used there).
**
** The input's part of all gates is one product over all steps; a step then adds the
** product of the hidden state with R, and applies the gates row by row. */
#include "kernels/kernels.h"
#include "ops/recurrent.h"
#include <string.h>

/* A matrix that multiplies from the right, transposed as ONNX has it: [n][k]. */
typedef struct factor {
    size_t k, n;
    const real *panels; /* of all directions; NULL: packed as needed */
    size_t direction_panels;
    evl_product_cut cut;
} factor;

/* Of GRU, the part of R that makes the gates and the part that makes the candidate are
** two products; of the others, one. */
enum { MOST_PARTS = 2 };

typedef struct plan {
    evl_rnn rnn;
    factor w, r[MOST_PARTS];
    size_t n_parts;
    size_t lane; /* scratch elements of a lane */
} plan;

/* --- prepare --- */

typedef struct packing {
    const evl_kernels *k;
    const factor *f;
    size_t n_directions, first_row, rows_each; /* of the source, in a direction */
} packing;

static void pack(void *block, const evl_tensor *source, const void *arg)
{
    const packing *p = arg;
    const factor *f = p->f;
    for (size_t d = 0; d < p->n_directions; d++) {
        const real *rows = (const real *)source->data + (d * p->rows_each + p->first_row) * f->k;
        evl_gemm_matrix matrix = { rows, 1, f->k };
        p->k->gemm->pack_panels(f->k, f->n, matrix, f->k * p->k->gemm->columns,
                                (real *)block + d * f->direction_panels);
    }
}

static EvalStatus start_factor(evl_prepare *p, const evl_rnn *rnn, size_t input, size_t m,
                               size_t first_row, factor *f)
{
    const evl_kernels *k = p->machine->k;
    bool is_constant = p->use.in[input]->data != NULL;
    packing how = { k, f, rnn->n_directions, first_row, rnn->n_gates * rnn->n_hidden };
    size_t n, bytes;
    const void *block;
    f->cut = k->product->cut(m, f->n, f->k, 1, is_constant);
    if (!is_constant)
        return EVAL_OK;
    f->direction_panels = k->product->panels_size(f->k, f->n);
    if (!evl_size_multiply(f->direction_panels, rnn->n_directions, &n) ||
        !evl_size_multiply(n, sizeof(real), &bytes))
        return evl_no_memory(p->ctx);
    uint64_t variant = (uint64_t)f->n << 32 | (uint64_t)first_row << 1 | (rnn->n_directions - 1);
    EvalStatus st = evl_prepare_block(p, input, "recurrent panels", variant, bytes + 1, pack, &how,
                                      &block);
    if (st == EVAL_OK)
        f->panels = block;
    return st;
}

static EvalStatus start_factors(evl_prepare *p, plan *x)
{
    const evl_rnn *rnn = &x->rnn;
    size_t h = rnn->n_hidden, all = rnn->n_gates * h;
    x->n_parts = rnn->n_gates == 3 ? 2 : 1;
    x->w = (factor){ .k = rnn->n_input, .n = all };
    x->r[0] = (factor){ .k = h, .n = x->n_parts == 2 ? 2 * h : all };
    x->r[1] = (factor){ .k = h, .n = h };
    EvalStatus st =
        start_factor(p, rnn, EVL_RNN_W, rnn->n_steps * rnn->n_batch, 0, &x->w);
    for (size_t i = 0; i < x->n_parts && st == EVAL_OK; i++)
        st = start_factor(p, rnn, EVL_RNN_R, rnn->n_batch, i * 2 * h, &x->r[i]);
    return st;
}

/* Elements, in this order: the inputs' part of all gates, gates of a step, candidate of a
** step, bias, h, c, scratch of the lanes. */
static bool scratch_elements(const plan *x, size_t lanes, size_t *n)
{
    const evl_rnn *rnn = &x->rnn;
    size_t rows, gates = rnn->n_gates * rnn->n_hidden, states, lane_part;
    return evl_size_add(rnn->n_steps * rnn->n_batch, rnn->n_batch + 2, &rows) &&
           evl_size_multiply(rows, gates, n) &&
           evl_size_multiply(rnn->n_hidden, 4 * rnn->n_batch + 2, &states) &&
           evl_size_add(*n, states, n) && evl_size_multiply(x->lane, lanes, &lane_part) &&
           evl_size_add(*n, lane_part, n);
}

static EvalStatus prepare(evl_prepare *p)
{
    plan *x = evl_arena_take(p->arena, sizeof *x);
    size_t n;
    if (!x)
        return evl_no_memory(p->ctx);
    EvalStatus st = evl_rnn_of(p->ctx, &p->use, &x->rnn);
    if (st == EVAL_OK)
        st = start_factors(p, x);
    if (st != EVAL_OK)
        return st;
    x->lane = x->w.cut.scratch;
    for (size_t i = 0; i < x->n_parts; i++)
        x->lane = x->r[i].cut.scratch > x->lane ? x->r[i].cut.scratch : x->lane;
    if (!scratch_elements(x, evl_pool_threads(p->machine->pool), &n) ||
        !evl_size_multiply(n, sizeof(real), &p->scratch_bytes))
        return evl_no_memory(p->ctx);
    p->state = x;
    p->strategy = x->w.panels ? "packed" : "packing";
    return EVAL_OK;
}

/* --- run --- */

typedef struct running {
    const evl_call *call;
    const plan *x;
    const evl_kernels *k;
    const int32_t *lengths; /* NULL: all are whole */
    real *inputs_part, *gates, *candidate, *bias, *h, *c, *lanes;
} running;

typedef struct tiles {
    const evl_kernels *k;
    evl_product product;
    const evl_product_cut *cut;
    real *lanes;
    size_t lane, n;
    bool is_backward;
} tiles;

static void work(void *arg, size_t tile, size_t lane)
{
    const tiles *t = arg;
    size_t index = t->is_backward ? t->n - 1 - tile : tile;
    t->k->product->tile(&t->product, t->cut, index, t->lanes + lane * t->lane);
}

/* Where in an input a factor begins. */
typedef struct place {
    size_t input, first_row, direction;
} place;

/* What is multiplied: c = a * f + add; a of m rows, c's are c_row apart. */
typedef struct operands {
    size_t m;
    const real *a;
    evl_addend add;
    real *c;
    size_t c_row;
} operands;

/* R is read in every step, and is larger than the second cache: `is_backward`, in every
** other step, begins with what the step before left there (LSTM of 256: 5 to 8 %). */
static void multiply(const running *r, const factor *f, const place *at, const operands *o,
                     bool is_backward)
{
    const evl_rnn *rnn = &r->x->rnn;
    size_t rows_each = rnn->n_gates * rnn->n_hidden;
    const real *b = r->call->in[at->input]->data;
    tiles t = { .k = r->k, .cut = &f->cut, .lanes = r->lanes, .lane = r->x->lane };
    t.n = f->cut.n_down * f->cut.n_across;
    t.is_backward = is_backward;
    t.product = (evl_product){ .m = o->m, .n = f->n, .k = f->k, .a = { o->a, f->k, 1 }, .c = o->c,
                               .c_row = o->c_row, .epilogue = { 1, { o->add }, { 0 } } };
    if (f->panels)
        t.product.panels = f->panels + at->direction * f->direction_panels;
    else
        t.product.b = (evl_gemm_matrix){
            b + (at->direction * rows_each + at->first_row) * f->k, 1, f->k
        };
    evl_pool *pool = f->cut.work < EVL_PRODUCT_SMALL ? NULL : r->call->machine->pool;
    evl_parallel_for(pool, t.n, work, &t);
}

static void apply(const running *r, const evl_rnn_activation *a, size_t n, real *x)
{
    real before = (real)a->before, after = (real)a->after;
    for (size_t i = 0; i < n && before != 1; i++)
        x[i] *= before;
    r->k->loops->unary[a->kind](n, x, x, a->p);
    for (size_t i = 0; i < n && after != 1; i++)
        x[i] *= after;
}

static void activate(const running *r, const evl_rnn_activation *a, size_t n, real *x)
{
    const evl_rnn *rnn = &r->x->rnn;
    real clip = (real)rnn->clip;
    for (size_t i = 0; i < n && rnn->has_clip; i++)
        x[i] = x[i] > clip ? clip : x[i] < -clip ? -clip : x[i];
    apply(r, a, n, x);
}

/* y = a * b, element by element. */
static void times(const running *r, size_t n, const real *a, const real *b, real *y)
{
    r->k->loops->binary[EVL_MUL](n, a, 1, b, 1, y);
}

/* Wb + Rb for each gate; GRU's candidate, when reset comes after, adds Rb by itself. */
static void add_biases(const running *r, size_t direction)
{
    const evl_rnn *rnn = &r->x->rnn;
    size_t n = rnn->n_gates * rnn->n_hidden, own = n;
    const evl_tensor *b = r->call->n_in > EVL_RNN_B ? r->call->in[EVL_RNN_B] : NULL;
    if (!b) {
        memset(r->bias, 0, n * sizeof(real));
        return;
    }
    const real *w = (const real *)b->data + direction * 2 * n;
    if (rnn->n_gates == 3 && rnn->is_reset_after)
        own = 2 * rnn->n_hidden;
    for (size_t i = 0; i < n; i++)
        r->bias[i] = i < own ? w[i] + w[n + i] : w[i];
}

/* Rows of gates for all steps: X W + bias. */
static void make_inputs_part(const running *r, size_t direction)
{
    const evl_rnn *rnn = &r->x->rnn;
    size_t n = rnn->n_gates * rnn->n_hidden, m = rnn->n_steps * rnn->n_batch;
    add_biases(r, direction);
    const place at = { EVL_RNN_W, 0, direction };
    const operands o = { m, r->call->in[EVL_RNN_X]->data, { r->bias, 0, 1 }, r->inputs_part, n };
    multiply(r, &r->x->w, &at, &o, false);
}

static const real *optional(const evl_call *call, size_t input)
{
    return input < call->n_in && call->in[input] ? call->in[input]->data : NULL;
}

/* Row (direction, batch) of a state tensor. */
static size_t state_row(const evl_rnn *rnn, size_t direction, size_t batch)
{
    return (rnn->is_batch_first ? batch * rnn->n_directions + direction
                                : direction * rnn->n_batch + batch) *
           rnn->n_hidden;
}

static void load_state(const running *r, size_t input, size_t direction, real *state)
{
    const evl_rnn *rnn = &r->x->rnn;
    const real *from = optional(r->call, input);
    for (size_t b = 0; b < rnn->n_batch; b++)
        if (from)
            memcpy(state + b * rnn->n_hidden, from + state_row(rnn, direction, b),
                   rnn->n_hidden * sizeof(real));
        else
            memset(state + b * rnn->n_hidden, 0, rnn->n_hidden * sizeof(real));
}

static size_t length_of(const running *r, size_t batch)
{
    size_t n = r->x->rnn.n_steps;
    if (!r->lengths || r->lengths[batch] >= (int64_t)n)
        return n;
    return r->lengths[batch] < 0 ? 0 : (size_t)r->lengths[batch];
}

/* ONNX does not say what the last state of no steps is: 0, as ONNX Runtime has it. */
static void store_state(const running *r, size_t output, size_t direction, const real *state)
{
    const evl_rnn *rnn = &r->x->rnn;
    size_t h = rnn->n_hidden;
    if (output >= r->call->n_out || !r->call->out[output])
        return;
    for (size_t b = 0; b < rnn->n_batch; b++, state += h) {
        real *to = (real *)r->call->out[output]->data + state_row(rnn, direction, b);
        if (length_of(r, b) > 0)
            memcpy(to, state, h * sizeof *to);
        else
            memset(to, 0, h * sizeof *to);
    }
}

/* Where in X and Y a row is: (step, batch) in the order of the layout. */
static size_t row_of(const evl_rnn *rnn, size_t step, size_t batch)
{
    return rnn->is_batch_first ? batch * rnn->n_steps + step : step * rnn->n_batch + batch;
}

static size_t output_row(const evl_rnn *rnn, size_t direction, size_t step, size_t batch)
{
    size_t row = rnn->is_batch_first
                     ? (batch * rnn->n_steps + step) * rnn->n_directions + direction
                     : (step * rnn->n_directions + direction) * rnn->n_batch + batch;
    return row * rnn->n_hidden;
}

static void lstm_row(const running *r, const evl_rnn_activation *f, const real *holes, real *gates,
                     real *h, real *c)
{
    size_t n = r->x->rnn.n_hidden;
    real *i = gates, *o = gates + n, *forget = gates + 2 * n, *cell = gates + 3 * n;
    for (size_t j = 0; j < n && holes; j++) {
        i[j] += holes[j] * c[j];
        forget[j] += holes[2 * n + j] * c[j];
    }
    bool is_whole = !holes && !r->x->rnn.is_coupled; /* then i, o and forget side by side */
    activate(r, &f[0], is_whole ? 3 * n : n, i);
    if (!is_whole && !r->x->rnn.is_coupled)
        activate(r, &f[0], n, forget);
    activate(r, &f[1], n, cell);
    for (size_t j = 0; j < n && r->x->rnn.is_coupled; j++)
        forget[j] = 1 - i[j];
    times(r, n, forget, c, c);
    times(r, n, i, cell, cell);
    r->k->loops->binary[EVL_ADD](n, c, 1, cell, 1, c);
    for (size_t j = 0; j < n && holes; j++)
        o[j] += holes[n + j] * c[j];
    if (!is_whole)
        activate(r, &f[0], n, o);
    memcpy(h, c, n * sizeof(real));
    apply(r, &f[2], n, h); /* h(Ct): not clipped */
    times(r, n, o, h, h);
}

/* zr: activated gates; candidate: before its activation. */
static void gru_row(const running *r, const evl_rnn_activation *f, const real *gates,
                    real *candidate, real *h)
{
    size_t n = r->x->rnn.n_hidden;
    activate(r, &f[1], n, candidate);
    for (size_t j = 0; j < n; j++)
        h[j] = (1 - gates[j]) * candidate[j] + gates[j] * h[j];
}

/* The candidate's own product: of r . h, or of h with r applied to the product. */
static void make_candidate(const running *r, size_t direction, bool is_backward)
{
    const evl_rnn *rnn = &r->x->rnn;
    size_t h = rnn->n_hidden, n = 3 * h;
    const real *b = optional(r->call, EVL_RNN_B);
    real *a = r->c; /* GRU has no cell: its room holds r . h */
    for (size_t i = 0; i < rnn->n_batch; i++) {
        real *gates = r->gates + i * n, *candidate = r->candidate + i * h;
        for (size_t j = 0; j < h; j++)
            a[i * h + j] = rnn->is_reset_after ? r->h[i * h + j] : gates[h + j] * r->h[i * h + j];
        if (!rnn->is_reset_after)
            memcpy(candidate, gates + 2 * h, h * sizeof(real));
        else if (b)
            memcpy(candidate, b + direction * 2 * n + n + 2 * h, h * sizeof(real));
        else
            memset(candidate, 0, h * sizeof(real));
    }
    const place at = { EVL_RNN_R, 2 * h, direction };
    const operands o = { rnn->n_batch, a, { r->candidate, h, 1 }, r->candidate, h };
    multiply(r, &r->x->r[1], &at, &o, is_backward);
    for (size_t i = 0; i < rnn->n_batch && rnn->is_reset_after; i++)
        for (size_t j = 0; j < h; j++)
            r->candidate[i * h + j] = r->gates[i * n + 2 * h + j] +
                                      r->gates[i * n + h + j] * r->candidate[i * h + j];
}

static void update_row(const running *r, size_t direction, size_t batch)
{
    const evl_rnn *rnn = &r->x->rnn;
    const evl_rnn_activation *f = rnn->activations[direction];
    size_t n = rnn->n_hidden;
    real *gates = r->gates + batch * rnn->n_gates * n, *h = r->h + batch * n;
    const real *holes = optional(r->call, EVL_RNN_P);
    if (rnn->n_gates == 4)
        lstm_row(r, f, holes ? holes + direction * 3 * n : NULL, gates, h, r->c + batch * n);
    else if (rnn->n_gates == 3)
        gru_row(r, f, gates, r->candidate + batch * n, h);
    else {
        activate(r, &f[0], n, gates);
        memcpy(h, gates, n * sizeof(real));
    }
}

/* Step number `index` of each row's own sequence, which a reverse direction begins at its end. */
static void step(const running *r, size_t direction, bool is_reverse, size_t index)
{
    const evl_rnn *rnn = &r->x->rnn;
    size_t h = rnn->n_hidden, n = rnn->n_gates * h;
    real *y = r->call->n_out && r->call->out[0] ? r->call->out[0]->data : NULL;
    for (size_t b = 0; b < rnn->n_batch; b++) {
        size_t length = length_of(r, b), at = is_reverse && index < length ? length - 1 - index : index;
        memcpy(r->gates + b * n, r->inputs_part + row_of(rnn, at, b) * n, n * sizeof(real));
    }
    const place from = { EVL_RNN_R, 0, direction };
    const operands o = { rnn->n_batch, r->h, { r->gates, n, 1 }, r->gates, n };
    multiply(r, &r->x->r[0], &from, &o, index % 2);
    for (size_t b = 0; b < rnn->n_batch && rnn->n_gates == 3; b++)
        activate(r, &rnn->activations[direction][0], 2 * h, r->gates + b * n);
    if (rnn->n_gates == 3)
        make_candidate(r, direction, index % 2);
    for (size_t b = 0; b < rnn->n_batch; b++) {
        size_t length = length_of(r, b), at = is_reverse && index < length ? length - 1 - index : index;
        if (index < length)
            update_row(r, direction, b);
        if (y && index < length)
            memcpy(y + output_row(rnn, direction, at, b), r->h + b * h, h * sizeof(real));
        else if (y) /* past the end of its sequence */
            memset(y + output_row(rnn, direction, at, b), 0, h * sizeof(real));
    }
}

static void run_direction(const running *r, size_t direction)
{
    const evl_rnn *rnn = &r->x->rnn;
    bool is_reverse = rnn->direction == EVL_RNN_REVERSE || direction == 1;
    make_inputs_part(r, direction);
    load_state(r, EVL_RNN_H, direction, r->h);
    if (rnn->n_gates == 4)
        load_state(r, EVL_RNN_C, direction, r->c);
    for (size_t i = 0; i < rnn->n_steps; i++)
        step(r, direction, is_reverse, i);
    store_state(r, 1, direction, r->h);
    if (rnn->n_gates == 4)
        store_state(r, 2, direction, r->c);
}

static EvalStatus run(const evl_call *call)
{
    const plan *x = call->state;
    const evl_rnn *rnn = &x->rnn;
    size_t h = rnn->n_hidden, n = rnn->n_gates * h, rows = rnn->n_batch;
    running r = { .call = call, .x = x, .k = call->machine->k, .inputs_part = call->scratch };
    if (call->n_in > EVL_RNN_LENGTHS && call->in[EVL_RNN_LENGTHS])
        r.lengths = call->in[EVL_RNN_LENGTHS]->data;
    r.gates = r.inputs_part + rnn->n_steps * rows * n;
    r.bias = r.gates + rows * n;
    r.candidate = r.bias + n;
    r.h = r.candidate + rows * h;
    r.c = r.h + rows * h;
    r.lanes = r.c + rows * h;
    for (size_t d = 0; d < rnn->n_directions; d++)
        run_direction(&r, d);
    return EVAL_OK;
}

extern const evl_impl TWIN(evl_recurrent);
const evl_impl TWIN(evl_recurrent) = { prepare, run };
