/* rnn.c - OptimizedRNNStack: the stacks of layers that cuDNN runs, in its order of weights.
**
** The weights are one flat list. First, for each layer and in it for each direction, the
** matrix over what comes in, then that over the state before; then, in the same order, two
** biases for each gate. A layer is an LSTM, GRU or RNN with a batch of one sequence. */
#include "readers/cntk/maker.h"
#include "base/text.h"
#include <string.h>

typedef struct cell {
    const char *name, *operator, * activation;
    int64_t n_gates;
    int64_t order[4]; /* the operator's gate i is cuDNN's order[i] */
} cell;

static const cell cells[] = {
    { "lstm", "LSTM", NULL, 4, { 0, 3, 1, 2 } }, /* i f c o; wanted i o f c */
    { "gru", "GRU", NULL, 3, { 1, 0, 2 } },      /* r z h; wanted z r h */
    { "rnnTanh", "RNN", "Tanh", 1, { 0 } },      { "rnnReLU", "RNN", "Relu", 1, { 0 } },
    { "RNN_TANH", "RNN", "Tanh", 1, { 0 } },     { "RNN_RELU", "RNN", "Relu", 1, { 0 } },
};

static const cell *find_cell(const char *name)
{
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        if (evl_text_equal_no_case(cells[i].name, strlen(cells[i].name), name, strlen(name)))
            return &cells[i];
    return NULL;
}

typedef struct stack {
    const cell *cell;
    evl_value *weights; /* flat */
    int64_t n_layers, n_directions, n_hidden, n_input;
    int64_t at, biases_at, size;
} stack;

enum { MOST_HIDDEN = 1 << 20, MOST_LAYERS = 1 << 10 };

static int64_t count_weights(stack *s)
{
    int64_t h = s->n_hidden, gates = s->cell->n_gates * h, d = s->n_directions;
    int64_t layers = s->n_layers - 1;
    s->biases_at = d * gates * (s->n_input + h) + layers * d * gates * (d * h + h);
    return s->biases_at + s->n_layers * d * gates * 2;
}

static bool measure(evl_cntk_maker *k, stack *s)
{
    const evl_cntk_fields *f = &k->node->f;
    *s = (stack){ .cell = find_cell(f->word),
                  .n_layers = f->layers,
                  .n_directions = f->is_bidirectional ? 2 : 1,
                  .n_hidden = f->size,
                  .n_input = evl_cntk_sample_size(k->in[1]),
                  .size = evl_cntk_sample_size(k->in[0]) };
    if (!s->cell)
        evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "cells '%s'", f->word);
    else if (f->size < 1 || f->size > MOST_HIDDEN || f->layers < 1 || f->layers > MOST_LAYERS ||
             s->n_input < 1 || s->n_input > MOST_HIDDEN)
        evl_cntk_fail(k, EVAL_ERR_FORMAT, "%lld layers of %lld cells over %lld values",
                      (long long)f->layers, (long long)f->size, (long long)s->n_input);
    else if (count_weights(s) != s->size)
        evl_cntk_fail(k, EVAL_ERR_SHAPE, "%lld weights, expected %lld", (long long)s->size,
                      (long long)count_weights(s));
    else if (!k->in[1]->has_frames || k->in[0]->has_frames)
        evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "it wants a sequence and constant weights");
    return k->b.status == EVAL_OK;
}

/* Gates of the flat weights, each of n values, in the operator's order: row-major as they
** are. */
static evl_value *gates(evl_cntk_maker *k, const stack *s, int64_t at, int64_t n)
{
    int64_t end = at + s->cell->n_gates * n, axis = 0, dims[2] = { s->cell->n_gates, n };
    evl_attribute part[3] = { evl_cntk_ints(k, "starts", &at, 1), evl_cntk_ints(k, "ends", &end, 1),
                              evl_cntk_ints(k, "axes", &axis, 1) };
    evl_value *flat = s->weights, *in[2];
    evl_value *cut = evl_cntk_call(k, "Slice", &flat, 1, part, 3);
    in[0] = cut ? evl_build_reshape(&k->b, NULL, cut, dims, 2) : NULL;
    in[1] = evl_build_ints(&k->b, s->cell->order, (size_t)s->cell->n_gates);
    evl_attribute first = evl_attribute_int("axis", 0);
    return evl_cntk_call(k, "Gather", in, 2, &first, 1);
}

/* One direction's parameter of a layer: [1, gates * rows, columns], or biases [1, n]. */
static evl_value *parameter(evl_cntk_maker *k, const stack *s, int64_t at, int64_t columns)
{
    int64_t dims[3] = { 1, s->cell->n_gates * s->n_hidden, columns };
    evl_value *y = gates(k, s, at, s->n_hidden * (columns > 0 ? columns : 1));
    return y ? evl_build_reshape(&k->b, NULL, y, dims, columns > 0 ? 3 : 2) : NULL;
}

static evl_value *joined(evl_cntk_maker *k, evl_value **parts, size_t n, int64_t axis)
{
    evl_attribute a = evl_attribute_int("axis", axis);
    return n == 1 ? parts[0] : evl_cntk_call(k, "Concat", parts, n, &a, 1);
}

/* W, R and B of the layer at s->at, for all directions; steps to the next. */
static void take_layer(evl_cntk_maker *k, stack *s, int64_t n_input, evl_value *in[4])
{
    int64_t rows = s->cell->n_gates * s->n_hidden;
    size_t n = (size_t)s->n_directions;
    evl_value *w[2], *r[2], *b[2], *both[2];
    for (size_t i = 0; i < n; i++) {
        w[i] = parameter(k, s, s->at, n_input);
        r[i] = parameter(k, s, s->at + rows * n_input, s->n_hidden);
        both[0] = parameter(k, s, s->biases_at, 0);
        both[1] = parameter(k, s, s->biases_at + rows, 0);
        b[i] = joined(k, both, 2, 1);
        s->at += rows * (n_input + s->n_hidden);
        s->biases_at += 2 * rows;
    }
    in[1] = joined(k, w, n, 0);
    in[2] = joined(k, r, n, 0);
    in[3] = joined(k, b, n, 0);
}

static evl_attribute activations(const stack *s)
{
    static const EvalString tanh[2] = { { "Tanh", 4 }, { "Tanh", 4 } };
    static const EvalString relu[2] = { { "Relu", 4 }, { "Relu", 4 } };
    evl_attribute a = { "activations", EVL_ATTRIBUTE_TEXTS, (size_t)s->n_directions, { 0 } };
    a.u.texts = *s->cell->activation == 'T' ? tanh : relu;
    return a;
}

/* x, [T, input], becomes [T, directions * hidden]. */
static evl_value *layer(evl_cntk_maker *k, stack *s, evl_value *x, int64_t n_input)
{
    const int64_t batch[3] = { 0, 1, n_input }, flat[2] = { 0, s->n_directions * s->n_hidden };
    evl_value *in[4];
    evl_attribute a[4] = { evl_attribute_int("hidden_size", s->n_hidden),
                           evl_attribute_text("direction",
                                              s->n_directions == 2 ? "bidirectional" : "forward") };
    size_t n = 2;
    if (strcmp(s->cell->operator, "GRU") == 0)
        a[n++] = evl_attribute_int("linear_before_reset", 1);
    if (s->cell->activation)
        a[n++] = activations(s);
    in[0] = x ? evl_build_reshape(&k->b, NULL, x, batch, 3) : NULL;
    take_layer(k, s, n_input, in);
    evl_value *y = evl_cntk_call(k, s->cell->operator, in, 4, a, n);
    y = y ? evl_build_reshape(&k->b, NULL, y, flat, 2) : NULL;
    if (y)
        y->has_frames = true;
    return y;
}

/* Operands: the weights, x. */
evl_value *evl_cntk_rnn_stack(evl_cntk_maker *k)
{
    stack s;
    if (!measure(k, &s))
        return NULL;
    s.weights = evl_cntk_flatten(k, k->in[0]);
    evl_value *x = evl_cntk_flatten(k, k->in[1]);
    for (int64_t i = 0; i < s.n_layers; i++)
        x = layer(k, &s, x, i == 0 ? s.n_input : s.n_directions * s.n_hidden);
    return x;
}
