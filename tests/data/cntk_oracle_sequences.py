"""Cases of make_cntk_oracle.py: sequences, recurrences, what is said in words."""
import cntk as C
import numpy as np

import cntk_oracle as oracle
from cntk_oracle import CASES, EVALUATED_AS, batch, case, fixed, numbers, seq, weight


def sequence_case(name, f, frames=5, size=3):
    def make():
        x = seq("x", size)
        return f(x), {x: numbers(1, frames, size)}
    CASES[name] = make


sequence_case("past_value", lambda x: C.sequence.past_value(x, fixed([0.5]), 2))
sequence_case("future_value", lambda x: C.sequence.future_value(x, fixed([0.5]), 2))
sequence_case("past_value_from_a_vector", lambda x: C.sequence.past_value(x, weight(3)))
sequence_case("past_value_from_another_sequence", lambda x: C.sequence.past_value(
    x, C.sequence.last(2 * x)))
sequence_case("past_value_longer_than_the_sequence", lambda x: C.sequence.past_value(
    x, fixed([0.5]), 9))
sequence_case("lstm", lambda x: C.layers.Recurrence(C.layers.LSTM(4))(x))
sequence_case("lstm_backwards", lambda x: C.layers.Recurrence(
    C.layers.LSTM(4), go_backwards=True)(x))
sequence_case("lstm_with_everything", lambda x: C.layers.Recurrence(
    C.layers.LSTM(4, use_peepholes=True, enable_self_stabilization=True))(x))
sequence_case("lstm_from_a_state", lambda x: C.layers.Recurrence(
    C.layers.LSTM(4), initial_state=0.3)(x))
sequence_case("gru", lambda x: C.layers.Recurrence(C.layers.GRU(4))(x))
sequence_case("rnn_step", lambda x: C.layers.Recurrence(C.layers.RNNStep(4))(x))
sequence_case("fold", lambda x: C.layers.Fold(C.layers.GRU(4))(x))
sequence_case("both_directions", lambda x: C.splice(
    C.layers.Recurrence(C.layers.LSTM(3))(x),
    C.layers.Recurrence(C.layers.LSTM(3), go_backwards=True)(x)))
sequence_case("two_layers", lambda x: C.layers.Sequential(
    [C.layers.Recurrence(C.layers.LSTM(4)), C.layers.Recurrence(C.layers.GRU(2)),
     C.sequence.last, C.layers.Dense(2)])(x))
sequence_case("delay_of_two_in_a_loop", lambda x: loop_with_delay_two(x))
sequence_case("first_and_last", lambda x: C.combine(
    [C.sequence.first(x).output, C.sequence.last(x).output]))
sequence_case("is_first_and_last", lambda x: C.combine(
    [C.sequence.is_first(x).output, C.sequence.is_last(x).output]))
sequence_case("sequence_slice", lambda x: C.sequence.slice(x, 1, -1))
sequence_case("where_and_gather", lambda x: C.sequence.gather(x, C.greater(C.reduce_sum(x), 0)))
sequence_case("sequence_where", lambda x: C.sequence.where(C.greater(C.reduce_sum(x), 0)))
sequence_case("scatter", lambda x: C.sequence.scatter(
    C.sequence.gather(x, C.greater(C.reduce_sum(x), 0)), C.greater(C.reduce_sum(x), 0)))
sequence_case("reduce_over_the_sequence", lambda x: C.combine(
    [C.sequence.reduce_sum(x).output, C.sequence.reduce_max(x).output]))
sequence_case("softmax_over_the_sequence", lambda x: C.sequence.softmax(x))
sequence_case("broadcast_over_the_sequence", lambda x: C.sequence.broadcast_as(
    C.sequence.last(x), x))
sequence_case("unpack", lambda x: C.sequence.unpack(x, 0, True))
sequence_case("unpack_with_mask", lambda x: C.combine(list(C.sequence.unpack(x, 0).outputs)))
sequence_case("past_value_window", lambda x: C.combine(
    list(C.layers.PastValueWindow(3, -2)(x).outputs)))
sequence_case("sequence_reversed_twice", lambda x: C.layers.Recurrence(
    lambda h, v: h * 0.5 + v, go_backwards=True)(C.layers.Recurrence(lambda h, v: h + v)(x)))


def loop_with_delay_two(x):
    past = C.placeholder()
    h = C.tanh(x + 0.5 * C.sequence.past_value(past, fixed([0.25]), 2))
    return h.replace_placeholders({past: h})


@case
def convolution_over_a_sequence():
    x = seq("x", 3)
    f = C.layers.Convolution((3,), num_filters=4, pad=True, sequential=True)
    return f(x), {x: numbers(1, 6, 3)}


@case
def to_sequence():
    x = batch("x", 5, 3)
    return C.to_sequence(x) * 2, {x: numbers(1, 5, 3)}


@case
def to_sequence_like():
    x, y = batch("x", 5, 3), seq("y", 2)
    return C.to_sequence_like(x, y), {x: numbers(1, 5, 3), y: numbers(1, 5, 2)}


@case
def two_axes():
    a = C.sequence.input_variable(3, sequence_axis=C.Axis("a"), dtype=oracle.REAL, name="a")
    b = C.sequence.input_variable(2, sequence_axis=C.Axis("b"), dtype=oracle.REAL, name="b")
    last = C.sequence.last(C.layers.Recurrence(C.layers.GRU(4))(a))
    return C.layers.Dense(2)(C.splice(C.sequence.broadcast_as(last, b), b)), {
        a: numbers(1, 4, 3), b: numbers(1, 6, 2)}


@case
def encoder_and_decoder():
    a = C.sequence.input_variable(3, sequence_axis=C.Axis("a"), dtype=oracle.REAL, name="a")
    b = C.sequence.input_variable(2, sequence_axis=C.Axis("b"), dtype=oracle.REAL, name="b")
    encoded = C.layers.Fold(C.layers.LSTM(4), return_full_state=True)(a)
    decoded = C.layers.RecurrenceFrom(C.layers.LSTM(4))(*(encoded.outputs + (b,)))
    return C.layers.Dense(2)(decoded), {a: numbers(1, 4, 3), b: numbers(1, 6, 2)}


@case
def attention():
    a = C.sequence.input_variable(3, sequence_axis=C.Axis("a"), dtype=oracle.REAL, name="a")
    b = C.sequence.input_variable(3, sequence_axis=C.Axis("b"), dtype=oracle.REAL, name="b")
    model = C.layers.AttentionModel(4, name="attend")
    return model(a, b), {a: numbers(1, 4, 3), b: numbers(1, 6, 3)}


@case
def generation_until_done():
    x = seq("x", 3)
    start = C.sequence.last(x)
    f = C.layers.UnfoldFrom(lambda h: C.tanh(h * 1.5 + 0.1), length_increase=2)
    return f(start, C.sequence.broadcast_as(0, x) + C.reduce_sum(x) * 0), {x: numbers(1, 4, 3)}


@case
def generation_until_told():
    """At most half as long again, and no longer than the predicate says."""
    x = seq("x", 3)
    f = C.layers.UnfoldFrom(lambda h: C.tanh(h * 1.5 + 0.1), length_increase=1.5,
                            until_predicate=lambda h: C.greater(C.reduce_sum(h, 0), 2.55))
    return f(C.sequence.last(x), C.reduce_sum(x)), {x: numbers(1, 5, 3)}


def stack_case(name, op, layers, both, size=3, hidden=4):
    gates, ways = {"lstm": 4}.get(op, 1), 1 + both
    n = sum(ways * gates * hidden * ((size if i == 0 else ways * hidden) + hidden + 2)
            for i in range(layers))

    def make():
        from cntk.misc.optimized_rnnstack_converter import _from_optimized_rnnstack
        x = seq("x", size)
        f = C.optimized_rnnstack(x, weight(n), hidden, layers, both, op)
        EVALUATED_AS[name] = _from_optimized_rnnstack(f)
        return f, {x: numbers(1, 5, size)}
    CASES[name] = make


stack_case("rnn_stack_lstm", "lstm", 2, False)
stack_case("rnn_stack_lstm_both", "lstm", 2, True)
stack_case("rnn_stack_tanh", "rnnTanh", 3, False)
stack_case("rnn_stack_relu_both", "rnnReLU", 2, True)


@case
def batch_as_an_axis():
    x = batch("x", 3)
    return C.to_batch(C.unpack_batch(x) * 2), {x: numbers(4, 3)}


@case
def assign():
    x = batch("x", 3)
    return x + C.assign(weight(3), fixed([1, 2, 3])), {x: numbers(2, 3)}


@case
def classes_drawn():
    """All but one, and that one's weight is next to nothing."""
    x = batch("x", 3)
    drawn = C.random_sample(fixed([1, 1e-300, 5, 3]), 3, False, seed=1)
    return C.times(fixed([1, 1, 1]), drawn) * C.reduce_sum(x), {x: numbers(2, 3)}


@case
def how_often_classes_are_drawn():
    x = batch("x", 5)
    w = fixed([1, 2, 5, 3, 1])
    return x + C.random_sample_inclusion_frequency(w, 3, True, seed=1), {x: numbers(2, 5)}
