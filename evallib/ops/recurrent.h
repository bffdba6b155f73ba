/* recurrent.h - what LSTM, GRU and RNN have in common: sizes and activations. */
#ifndef EVL_OPS_RECURRENT_H
#define EVL_OPS_RECURRENT_H
#include "kernels/loops.h"
#include "ir/op.h"

/* y = after * f(before * x), f with parameters p. */
typedef struct evl_rnn_activation {
    evl_unary_kind kind;
    evl_number p[3];
    evl_number before, after;
} evl_rnn_activation;

enum { EVL_RNN_FORWARD, EVL_RNN_REVERSE, EVL_RNN_BIDIRECTIONAL };
enum { EVL_RNN_MOST_ACTIVATIONS = 3 };

typedef struct evl_rnn {
    size_t n_gates; /* 4: LSTM (i o f c), 3: GRU (z r h), 1: RNN */
    size_t n_directions, n_steps, n_batch, n_input, n_hidden;
    int direction;
    bool is_batch_first;   /* layout 1 */
    bool is_coupled;       /* LSTM input_forget: f = 1 - i */
    bool is_reset_after;   /* GRU linear_before_reset */
    bool has_clip;
    evl_number clip;
    evl_rnn_activation activations[2][EVL_RNN_MOST_ACTIVATIONS];
} evl_rnn;

enum { EVL_RNN_X, EVL_RNN_W, EVL_RNN_R, EVL_RNN_B, EVL_RNN_LENGTHS, EVL_RNN_H, EVL_RNN_C, EVL_RNN_P };

/* Sizes from shapes that are known and were checked by the shape rule; attributes. */
EVL_MUST_USE EvalStatus evl_rnn_of(evl_context *, const evl_use *, evl_rnn *);
#endif
