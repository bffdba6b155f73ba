/* Forward passes of CNTK's extended interface: each input a sequence, dense or in columns.
**
** The texts begin as CNTK's do. A pass that fails leaves what is carried as it was, also
** where a sequence was to begin. */
#include "api/perform.h"
#include <string.h>

/* --- checks -------------------------------------------------------------------------- */

static EvalStatus check_counts(evl_context *ctx, const evl_forward *f, const evl_buffer *in,
                               size_t n_in, const evl_buffer *out, size_t n_out)
{
    if (!f->arena)
        return evl_fail(ctx, EVAL_ERR_STATE,
                        "ForwardPass() called before StartForwardEvaluation()");
    if (n_in != f->n_inputs)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "Expected %zu inputs, but got %zu.", f->n_inputs,
                        n_in);
    if (n_out != f->n_outputs)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "Expected %zu outputs, but got %zu.", f->n_outputs,
                        n_out);
    if ((n_in && !in) || (n_out && !out))
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "an array of buffers is NULL");
    return EVAL_OK;
}

static EvalStatus check_dense(evl_context *ctx, const evl_value *v, const evl_buffer *b)
{
    size_t size = evl_sample_size(v);
    if (!b->data)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "Input %s: Buffer is not allocated.", v->name);
    if (b->count == 0)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "Input %s: Expected at least one element.", v->name);
    if (size && b->count % size != 0)
        return evl_fail(ctx, EVAL_ERR_SHAPE,
                        "Input %s: Expected input data to be a multiple of %zu, but it is %zu.",
                        v->name, size, b->count);
    return EVAL_OK;
}

static EvalStatus check_columns(evl_context *ctx, const evl_value *v, const evl_buffer *b)
{
    size_t size = evl_sample_size(v);
    for (size_t j = 1; j < b->n_columns; j++)
        if (b->columns[j] < b->columns[j - 1])
            return evl_fail(ctx, EVAL_ERR_SHAPE, "Input %s: column %zu ends before it begins.",
                            v->name, j - 1);
    for (size_t i = 0; i < b->n_rows; i++)
        if (b->rows[i] < 0 || (size_t)b->rows[i] >= size)
            return evl_fail(ctx, EVAL_ERR_SHAPE, "Input %s: index %d is no row of %zu.", v->name,
                            (int)b->rows[i], size);
    return EVAL_OK;
}

static EvalStatus check_sparse(evl_context *ctx, const evl_value *v, const evl_buffer *b)
{
    if (!b->columns && b->n_columns)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "Input %s: Column indices are nullptr.", v->name);
    if (b->n_columns < 2)
        return evl_fail(ctx, EVAL_ERR_SHAPE,
                        "Input %s: Expected at least one element (2 entries in colIndices array).",
                        v->name);
    if ((!b->rows && b->n_rows) || (!b->data && b->count))
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "Input %s: Indices or values are nullptr.",
                        v->name);
    if (b->columns[0] != 0)
        return evl_fail(ctx, EVAL_ERR_SHAPE,
                        "Input %s: First element of column indices must be 0, and is %d.", v->name,
                        (int)b->columns[0]);
    if (b->columns[b->n_columns - 1] < 0 ||
        (size_t)b->columns[b->n_columns - 1] != b->n_rows || b->count != b->n_rows)
        return evl_fail(ctx, EVAL_ERR_SHAPE,
                        "Input %s: Last element of column indices must be equal to the size of "
                        "indices (%zu) and of values (%zu), but was %d.",
                        v->name, b->n_rows, b->count, (int)b->columns[b->n_columns - 1]);
    return check_columns(ctx, v, b);
}

/* --- columns written out --------------------------------------------------------------- */

/* A row told twice counts twice, as in CNTK. */
static void add(EvalType type, void *to, size_t at, const void *from, size_t i)
{
    if (type == EVAL_FLOAT64)
        ((double *)to)[at] += ((const double *)from)[i];
    else
        ((float *)to)[at] += ((const float *)from)[i];
}

static EvalStatus write_out(evl_context *ctx, evl_evaluator *e, size_t input, const evl_buffer *b,
                            evl_flat *flat)
{
    evl_forward *f = &e->forward;
    size_t rows = evl_sample_size(f->inputs[input]), columns = b->n_columns - 1;
    EvalType real = e->model->machine.real;
    size_t size = evl_type_size(real), bytes;
    if (!evl_size_multiply(rows, columns, &bytes) || !evl_size_multiply(bytes, size, &bytes))
        return evl_fail(ctx, EVAL_ERR_LIMIT, "Input %s: %zu samples of %zu elements",
                        f->inputs[input]->name, columns, rows);
    if (bytes > f->dense_bytes[input]) {
        void *room = evl_allocate(&e->home->memory, bytes);
        if (!room)
            return evl_no_memory(ctx);
        evl_release(&e->home->memory, f->dense[input]);
        f->dense[input] = room;
        f->dense_bytes[input] = bytes;
    }
    void *to = f->dense[input];
    memset(to, 0, bytes);
    for (size_t j = 0; j < columns; j++)
        for (int32_t i = b->columns[j]; i < b->columns[j + 1]; i++)
            add(real, to, j * rows + (size_t)b->rows[i], b->data, (size_t)i);
    flat->in = to;
    flat->count = rows * columns;
    return EVAL_OK;
}

static EvalStatus take_input(evl_context *ctx, evl_evaluator *e, size_t i, const evl_buffer *b,
                             evl_flat *flat)
{
    const evl_value *v = e->forward.inputs[i];
    *flat = (evl_flat){ .name = v->name, .in = b->data, .count = b->count };
    if (!v->is_sparse)
        return check_dense(ctx, v, b);
    EvalStatus st = check_sparse(ctx, v, b);
    return st == EVAL_OK ? write_out(ctx, e, i, b, flat) : st;
}

/* --- passes ---------------------------------------------------------------------------- */

typedef struct pass {
    evl_evaluator *e;
    const evl_buffer *in;
    evl_buffer *out;
    evl_flat *flat_in, *flat_out, *part; /* part: of the sequence that runs */
    const evl_sequences *sequences;      /* NULL: one, with the object's own states */
    bool reset;
} pass;

static void tell(const pass *p, EvalStatus st)
{
    for (size_t i = 0; i < p->e->forward.n_outputs && (st == EVAL_OK || st == EVAL_ERR_LIMIT); i++) {
        p->out[i].count = p->flat_out[i].count;
        if (st == EVAL_OK)
            p->out[i].data = p->flat_out[i].out;
    }
}

static EvalStatus no_space(evl_context *ctx, const pass *p, EvalStatus st)
{
    if (st == EVAL_ERR_LIMIT)
        for (size_t i = 0; i < p->e->forward.n_outputs; i++)
            if (p->flat_out[i].count > p->flat_out[i].capacity && p->flat_out[i].out)
                return evl_fail(ctx, st, "Not enough space in output buffer for output '%s'.",
                                p->flat_out[i].name);
    return st;
}

static EvalStatus run_one(evl_context *ctx, pass *p)
{
    evl_forward *f = &p->e->forward;
    evl_states *states = &p->e->states;
    if (!p->reset && !f->has_sequence)
        return evl_fail(ctx, EVAL_ERR_STATE,
                        "there is no matching previous sequence that could go on: reset");
    states->is_anew = p->reset;
    EvalStatus st = evl_evaluate_with(ctx, p->e, states, p->flat_in, f->n_inputs, p->flat_out,
                                      f->n_outputs);
    tell(p, st);
    if (st != EVAL_OK) {
        states->is_anew = false;
        return no_space(ctx, p, st);
    }
    evl_states_swap(states);
    f->has_sequence = true;
    return EVAL_OK;
}

/* Each call writes behind the outputs of the one before. */
static EvalStatus prepare_sequences(evl_context *ctx, pass *p)
{
    evl_forward *f = &p->e->forward;
    const evl_sequences *all = p->sequences;
    if (!all->lengths || all->n == 0)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "no sequence, or their lengths are NULL");
    for (size_t i = 0; all->begins && i < all->n; i++)
        if (!all->begins[i] && i >= f->n_sequences)
            return evl_fail(ctx, EVAL_ERR_STATE,
                            "sequence %zu cannot go on: the call before had %zu", i,
                            f->n_sequences);
    if (all->n <= f->n_rooms)
        return EVAL_OK;
    evl_states *more = evl_allocate_zeroed(ctx->memory, all->n * sizeof *more);
    if (!more)
        return evl_no_memory(ctx);
    if (f->n_rooms)
        memcpy(more, f->sequences, f->n_rooms * sizeof *more);
    evl_release(ctx->memory, f->sequences);
    f->sequences = more;
    while (f->n_rooms < all->n) {
        EvalStatus st = evl_states_new(ctx, p->e->model->graph->n_states, &more[f->n_rooms]);
        if (st != EVAL_OK)
            return st;
        f->n_rooms++;
    }
    return EVAL_OK;
}

/* The part of an input that belongs to a sequence; at: its first element. */
static EvalStatus cut(evl_context *ctx, const pass *p, size_t input, size_t sequence, size_t *at)
{
    const evl_value *v = p->e->forward.inputs[input];
    bool is_single = !v->has_frames || v->frames_axis == EVL_FRAMES_SINGLE;
    const evl_flat *whole = &p->flat_in[input];
    size_t length = is_single ? 1 : p->sequences->lengths[sequence];
    size_t n = length * evl_sample_size(v);
    if (n > whole->count - *at || (sequence + 1 == p->sequences->n && n != whole->count - *at))
        return evl_fail(ctx, EVAL_ERR_SHAPE,
                        "Input %s: %zu elements are no %zu sequences of the given lengths",
                        v->name, whole->count, p->sequences->n);
    p->part[input] = *whole;
    p->part[input].in =
        (const char *)whole->in + *at * evl_type_size(p->e->model->machine.real);
    p->part[input].count = n;
    *at += n;
    return EVAL_OK;
}

static EvalStatus run_sequence(evl_context *ctx, pass *p, size_t s, evl_flat *to)
{
    evl_forward *f = &p->e->forward;
    size_t size = evl_type_size(p->e->model->machine.real);
    evl_states *states = &f->sequences[s];
    states->is_anew = !p->sequences->begins || p->sequences->begins[s];
    for (size_t i = 0; i < f->n_outputs; i++) {
        to[i] = p->flat_out[i];
        to[i].out = (char *)to[i].out + to[i].count * size;
        to[i].capacity -= to[i].count;
    }
    EvalStatus st = evl_evaluate_with(ctx, p->e, states, p->part, f->n_inputs, to, f->n_outputs);
    for (size_t i = 0; i < f->n_outputs && (st == EVAL_OK || st == EVAL_ERR_LIMIT); i++)
        p->flat_out[i].count += to[i].count;
    return st;
}

static EvalStatus run_many(evl_context *ctx, pass *p)
{
    evl_forward *f = &p->e->forward;
    EvalStatus st = prepare_sequences(ctx, p);
    if (st != EVAL_OK)
        return st;
    size_t *at = evl_allocate_zeroed(ctx->memory, (f->n_inputs + 1) * sizeof *at);
    evl_flat *to = evl_allocate_zeroed(ctx->memory, (f->n_outputs + 1) * sizeof *to);
    if (!at || !to)
        st = evl_no_memory(ctx);
    for (size_t i = 0; i < f->n_outputs && st == EVAL_OK; i++)
        if (!p->flat_out[i].out)
            st = evl_fail(ctx, EVAL_ERR_ARGUMENT, "Output %s: Buffer is not allocated.",
                          p->flat_out[i].name);
    for (size_t s = 0; s < p->sequences->n && st == EVAL_OK; s++) {
        for (size_t i = 0; i < f->n_inputs && st == EVAL_OK; i++)
            st = cut(ctx, p, i, s, &at[i]);
        if (st == EVAL_OK)
            st = run_sequence(ctx, p, s, to);
    }
    evl_release(ctx->memory, at);
    evl_release(ctx->memory, to);
    tell(p, st);
    if (st != EVAL_OK)
        return no_space(ctx, p, st);
    for (size_t s = 0; s < p->sequences->n; s++)
        evl_states_swap(&f->sequences[s]);
    f->n_sequences = p->sequences->n;
    return EVAL_OK;
}

static EvalStatus run_pass(evl_context *ctx, pass *p)
{
    evl_forward *f = &p->e->forward;
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < f->n_inputs && st == EVAL_OK; i++)
        st = take_input(ctx, p->e, i, &p->in[i], &p->flat_in[i]);
    for (size_t i = 0; i < f->n_outputs; i++)
        p->flat_out[i] = (evl_flat){ .name = f->outputs[i]->name, .out = p->out[i].data,
                                     .capacity = p->out[i].capacity };
    if (st != EVAL_OK)
        return st;
    evl_made_free_all(p->e, &p->e->evaluated);
    return p->sequences ? run_many(ctx, p) : run_one(ctx, p);
}

static EvalStatus with_room(evl_context *ctx, pass *p, size_t n_in, size_t n_out)
{
    EvalStatus st = check_counts(ctx, &p->e->forward, p->in, n_in, p->out, n_out);
    if (st != EVAL_OK)
        return st;
    evl_flat few[3 * EVL_FEW] = { { 0 } }, *flat = few;
    bool is_few = n_in <= EVL_FEW && n_out <= EVL_FEW;
    if (!is_few)
        flat = evl_allocate_zeroed(ctx->memory, (2 * n_in + n_out) * sizeof *flat);
    if (!flat)
        return evl_no_memory(ctx);
    p->flat_in = flat;
    p->part = flat + n_in;
    p->flat_out = flat + 2 * n_in;
    st = run_pass(ctx, p);
    p->flat_in = p->part = p->flat_out = NULL;
    if (!is_few)
        evl_release(ctx->memory, flat);
    return st;
}

EvalStatus evl_forward_pass(evl_context *ctx, evl_evaluator *e, const evl_buffer *in, size_t n_in,
                            evl_buffer *out, size_t n_out, bool reset)
{
    pass p = { .e = e, .in = in, .out = out, .reset = reset };
    return with_room(ctx, &p, n_in, n_out);
}

EvalStatus evl_forward_sequences(evl_context *ctx, evl_evaluator *e, const evl_buffer *in,
                                 size_t n_in, evl_buffer *out, size_t n_out,
                                 const evl_sequences *sequences)
{
    pass p = { .e = e, .in = in, .out = out, .sequences = sequences };
    return with_room(ctx, &p, n_in, n_out);
}
