"""Models that CNTK 2.7 itself wrote and evaluated: run this with CNTK's own Python package.

    python make_cntk_oracle.py FOLDER [name ...]

For each case FOLDER gets name.model (v2), perhaps name.v1 (the same saved as CNTK v1) and a
line in cases.json: inputs, what CNTK gave, and what it has no v1 form for. Everything is in
double, but for what CNTK's layers can do in float alone.
A case is one minibatch of one sequence, or of some samples where no axis is a sequence.
"""
import json
import os
import sys

import cntk as C
import numpy as np

REAL = np.float64
rng = np.random.RandomState(11)


def numbers(*shape, low=-2.0, high=2.0):
    return np.round(rng.uniform(low, high, shape), 3).astype(REAL)


def weight(*shape):
    return C.parameter(shape, init=numbers(*shape, low=-1, high=1), dtype=REAL)


def fixed(values):
    return C.constant(np.asarray(values, REAL), dtype=REAL)


def seq(name, *shape):
    return C.sequence.input_variable(shape, dtype=REAL, name=name)


def batch(name, *shape):
    return C.input_variable(shape, dtype=REAL, name=name)


CASES = {}
IN_FLOAT = {"attention", "generation_until_done", "linear_layers", "lstm_with_everything",
            "past_value_window", "convolution_over_a_sequence"}


def case(function):
    CASES[function.__name__.rstrip("_")] = function
    return function


def one_operand(name, f, **limits):
    def make():
        x = batch("x", 3, 2)
        return f(x), {x: numbers(4, 3, 2, **limits)}
    CASES[name] = make


def two_operands(name, f, low=-2.0):
    def make():
        a, b = batch("a", 3, 2), batch("b", 2)
        x, y = numbers(4, 3, 2, low=low), numbers(4, 2)
        x[0, 1] = y[0]
        return f(a, b), {a: x, b: y}
    CASES[name] = make


for _name in """abs ceil cos cosh elu exp floor hardmax leaky_relu log log_softmax negate
        reciprocal relu round selu sigmoid sin sinh softmax softplus softsign sqrt square tan tanh
        atan asinh stop_gradient ones_like zeros_like flatten reduce_l1
        reduce_l2 reduce_sum_square alias dropout""".split():
    one_operand(_name, getattr(C, _name))
one_operand("hard_sigmoid", lambda x: C.hard_sigmoid(x, 0.2, 0.5))
one_operand("straight_through", C.straight_through_impl)
one_operand("elu_alpha", lambda x: C.elu(x, 0.5))
one_operand("acos", C.acos, low=-0.99, high=0.99)
one_operand("asin", C.asin, low=-0.99, high=0.99)
one_operand("atanh", C.atanh, low=-0.99, high=0.99)
for _name in """plus minus element_times element_divide equal not_equal less less_equal greater
        greater_equal log_add_exp element_max element_min""".split():
    two_operands(_name, getattr(C, _name))
two_operands("pow", C.pow, low=0.1)
for _name in "element_and element_or element_xor".split():
    two_operands(_name, lambda a, b, f=getattr(C, _name): f(C.greater(a, 0), C.greater(b, 0)))


@case
def corners_of_elements():
    x = batch("x", 1)
    values = np.array([[0], [-0.0], [1e-40], [-1e-40], [-3], [1e-38], [5]], REAL)
    f = C.splice(C.log(x), C.sqrt(x), C.reciprocal(x), C.element_divide(fixed([1]), x),
                 C.floor(x), C.hardmax(C.splice(x, x)), axis=0)
    return f, {x: values}


@case
def clip():
    x = batch("x", 4)
    return C.clip(x, -0.5, 1.25), {x: numbers(5, 4)}


@case
def select():
    c, a, b = batch("c", 3), batch("a", 3), batch("b", 3)
    return C.element_select(c, a, b), {c: np.array([[0, 1, 2], [-1, 0, 0.5]], REAL),
                                       a: numbers(2, 3), b: numbers(2, 3)}


@case
def prelu():
    x = batch("x", 3, 2)
    return C.param_relu(weight(3, 2), x), {x: numbers(4, 3, 2)}


# --- layout ------------------------------------------------------------------------------------

@case
def slices():
    x = batch("x", 5, 4)
    return C.slice(x, [0, 1], [1, 0], [5, 4], [2, -1]), {x: numbers(3, 5, 4)}


@case
def slice_from_the_end():
    x = batch("x", 5, 4)
    return C.slice(x, 0, -3, -1), {x: numbers(3, 5, 4)}


@case
def splice():
    a, b = batch("a", 2, 3), batch("b", 1, 3)
    return C.splice(a, b, fixed(numbers(2, 3)), axis=0), {a: numbers(2, 2, 3), b: numbers(2, 1, 3)}


@case
def splice_along_a_new_axis():
    a, b = batch("a", 2, 3), batch("b", 2, 3)
    return C.splice(a, b, axis=-3), {a: numbers(2, 2, 3), b: numbers(2, 2, 3)}


@case
def reshape():
    x = batch("x", 2, 3, 4)
    return C.reshape(x, (C.InferredDimension, 2), 0, 2), {x: numbers(2, 2, 3, 4)}


@case
def transpose():
    x = batch("x", 2, 3, 4)
    return C.transpose(x, (2, 0, 1)), {x: numbers(2, 2, 3, 4)}


@case
def swapaxes():
    x = batch("x", 2, 3, 4)
    return C.swapaxes(x, 0, 2), {x: numbers(2, 2, 3, 4)}


@case
def squeeze_and_expand():
    x = batch("x", 1, 3, 1)
    return C.expand_dims(C.squeeze(x), 0), {x: numbers(2, 1, 3, 1)}


@case
def pads():
    x = batch("x", 3, 4)
    modes = [C.pad(x, [(1, 1), (2, 0)], mode, 0.5) for mode in (0, 1, 2)]
    return C.combine(modes), {x: numbers(2, 3, 4)}


@case
def gather():
    i = batch("i", 2)
    return C.gather(weight(5, 3), i), {i: np.array([[0, 4], [2, 2]], REAL)}


@case
def one_hot():
    i = batch("i", 2)
    return C.one_hot(i, 4), {i: np.array([[0, 3], [2, 1]], REAL)}


@case
def one_hot_along_another_axis():
    i = batch("i", 2)
    return C.one_hot(i, 4, axis=0), {i: np.array([[0, 3], [2, 1]], REAL)}


@case
def top_k():
    x = batch("x", 2, 6)
    return C.combine(list(C.top_k(x, 3).outputs)), {x: numbers(3, 2, 6)}


@case
def depth_and_space():
    x = batch("x", 8, 2, 3)
    d = C.depth_to_space(x, 2)
    return C.combine([d.output, C.space_to_depth(d, 2).output]), {x: numbers(2, 8, 2, 3)}


@case
def eye_like():
    x = batch("x", 3)
    return C.times(x, C.eye_like(weight(3, 3), False)), {x: numbers(4, 3)}


@case
def crop():
    x, y = batch("x", 2, 6, 6), batch("y", 2, 3, 4)
    return C.crop_manual(x, y, 2, 1), {x: numbers(2, 2, 6, 6), y: numbers(2, 2, 3, 4)}


@case
def crop_found_from_the_network():
    x = batch("x", 1, 6, 6)
    low = C.pooling(x, C.MAX_POOLING, (2, 2), (2, 2))
    up = C.convolution_transpose(weight(1, 1, 3, 3), low, strides=(2, 2), auto_padding=[False])
    return C.crop_automatic(up, x), {x: numbers(2, 1, 6, 6)}


@case
def casts():
    x = C.input_variable(3, dtype=np.float32, name="x")
    return C.cast(C.cast(x * 2, REAL) + fixed([0.1]), np.float32), {x: numbers(2, 3).astype("f")}


# --- sums --------------------------------------------------------------------------------------

for _op in "sum mean max min prod log_sum_exp".split():
    def _make(op=_op):
        x, f = batch("x", 3, 4, 2), getattr(C, "reduce_" + op)
        return C.combine([f(x, 1), f(x, [0, 2]), f(x, 0, keepdims=False),
                          f(x, C.Axis.all_static_axes())]), {x: numbers(3, 3, 4, 2)}
    CASES["reduce_" + _op] = _make


@case
def argmax_and_argmin():
    x = batch("x", 3, 4)
    return C.combine([C.argmax(x, 0), C.argmin(x, 1)]), {x: numbers(3, 3, 4)}


@case
def reduction_over_the_batch():
    x = batch("x", 3)
    return C.combine([C.reduce_sum(x, C.Axis.default_batch_axis()),
                      C.reduce_mean(x, C.Axis.default_batch_axis()),
                      C.reduce_sum(x, C.Axis.all_axes())]), {x: numbers(4, 3)}


@case
def a_mean_over_everything():
    x = seq("x", 3)
    return C.combine([C.reduce_mean(x, C.Axis.all_axes()), C.reduce_sum(x, C.Axis.all_axes())]), {
        x: numbers(1, 4, 3)}


@case
def softmax_along_an_axis():
    x = batch("x", 3, 4)
    return C.combine([C.softmax(x, 0), C.softmax(x, 1), C.log_softmax(x, 0)]), {x: numbers(2, 3, 4)}


# --- products ----------------------------------------------------------------------------------

@case
def times():
    x = batch("x", 2, 4)
    return C.combine([C.times(x, weight(4, 3)), C.times(x, weight(2, 4, 3, 2), output_rank=2)]), {
        x: numbers(3, 2, 4)}


@case
def times_transpose():
    x = batch("x", 4)
    return C.times_transpose(x, weight(3, 4)), {x: numbers(3, 4)}


@case
def times_of_two_inputs():
    a, b = batch("a", 2, 3), batch("b", 3, 4)
    return C.times(a, b), {a: numbers(2, 2, 3), b: numbers(2, 3, 4)}


@case
def times_over_a_sequence():
    a, b = seq("a", 3, 2), seq("b", 2)
    return C.times(a, C.transpose(a, (1, 0))), {a: numbers(1, 4, 3, 2)}


@case
def linear_layers():
    x = batch("x", 4)
    f = C.layers.Sequential([C.layers.Dense(5, C.relu), C.layers.LayerNormalization(),
                             C.layers.Stabilizer(), C.layers.Dense(3, C.sigmoid)])
    return f(x), {x: numbers(3, 4)}


@case
def embedding():
    x = batch("x", 6)
    return C.layers.Embedding(3)(x), {x: np.eye(6, dtype=REAL)[[0, 5, 2]]}


@case
def cosine_distance():
    a, b = batch("a", 4), batch("b", 4)
    return C.cosine_distance(a, b), {a: numbers(3, 4), b: numbers(3, 4)}


# --- windows -----------------------------------------------------------------------------------

def image_case(name, f, shape=(4, 7, 6)):
    def make():
        x = batch("x", *shape)
        return f(x), {x: numbers(2, *shape)}
    CASES[name] = make


image_case("convolution", lambda x: C.convolution(
    weight(5, 4, 3, 3), x, auto_padding=[False, True, True]))
image_case("convolution_strided", lambda x: C.convolution(
    weight(5, 4, 3, 2), x, strides=(2, 2), auto_padding=[False]))
image_case("convolution_padded_evenly", lambda x: C.convolution(
    weight(2, 4, 2, 4), x, strides=(1, 2), auto_padding=[False, True, True]))
image_case("convolution_in_groups", lambda x: C.convolution(
    weight(6, 2, 3, 3), x, groups=2, auto_padding=[False, True, True]))
image_case("convolution_of_one_axis", lambda x: C.convolution(
    weight(3, 4, 3), x, auto_padding=[False, True]), (4, 9))
image_case("convolution_of_three_axes", lambda x: C.convolution(
    weight(3, 2, 2, 3, 3), x, auto_padding=[False, True, True, True]), (2, 3, 4, 5))
image_case("convolution_transposed", lambda x: C.convolution_transpose(
    weight(4, 3, 3, 3), x, strides=(2, 2), auto_padding=[False]))
image_case("convolution_transposed_padded", lambda x: C.convolution_transpose(
    weight(4, 3, 4, 4), x, strides=(2, 2), auto_padding=[False, True, True]))
image_case("convolution_transposed_to_a_shape", lambda x: C.convolution_transpose(
    weight(4, 3, 3, 3), x, strides=(2, 2), auto_padding=[False, True, True],
    output_shape=(3, 14, 12)))
for _kind, _name in ((C.MAX_POOLING, "max"), (C.AVG_POOLING, "average")):
    image_case("pooling_" + _name, lambda x, k=_kind: C.pooling(x, k, (2, 3), (2, 2)))
    image_case("pooling_%s_padded" % _name, lambda x, k=_kind: C.pooling(
        x, k, (3, 3), (2, 2), auto_padding=[True]))
    image_case("pooling_%s_rounding_up" % _name, lambda x, k=_kind: C.pooling(
        x, k, (3, 3), (2, 2), ceil_out_dim=True))
image_case("pooling_average_counting_pads", lambda x: C.pooling(
    x, C.AVG_POOLING, (3, 3), (2, 2), auto_padding=[True], include_pad=True))
image_case("pooling_global", lambda x: C.combine(
    [C.layers.GlobalAveragePooling()(x), C.layers.GlobalMaxPooling()(x)]))
image_case("unpooling", lambda x: C.unpooling(
    C.pooling(x, C.MAX_POOLING, (2, 2), (2, 2)), x, C.MAX_UNPOOLING, (2, 2), (2, 2)), (4, 6, 6))
image_case("lrn", lambda x: C.local_response_normalization(x, 1, 2.0, 0.5, 0.75))
image_case("image_scaler", lambda x: C.image_scaler(x, 0.5, [1, 2, 3, 4]))
image_case("mean_variance_normalization", C.mean_variance_normalization)


@case
def roi_pooling():
    x, r = batch("x", 2, 8, 8), batch("r", 3, 4)
    rois = np.array([[[0, 0, 7, 7], [2, 1, 5, 6], [3, 3, 4, 4]]], REAL)
    return C.roipooling(x, r, C.MAX_POOLING, (3, 2), 1.0), {x: numbers(1, 2, 8, 8), r: rois}


@case
def batch_normalization():
    x = batch("x", 3, 4, 2)
    return C.batch_normalization(x, weight(3), weight(3), weight(3), fixed(numbers(3, low=0.2)),
                                 True, running_count=fixed([5]), epsilon=1e-3), {
                                     x: numbers(2, 3, 4, 2)}


@case
def batch_normalization_of_elements():
    x = batch("x", 3)
    return C.batch_normalization(x, weight(3), weight(3), weight(3), fixed(numbers(3, low=0.2)),
                                 False, running_count=fixed([5])), {x: numbers(4, 3)}


# --- sequences ---------------------------------------------------------------------------------

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
    a = C.sequence.input_variable(3, sequence_axis=C.Axis("a"), dtype=REAL, name="a")
    b = C.sequence.input_variable(2, sequence_axis=C.Axis("b"), dtype=REAL, name="b")
    last = C.sequence.last(C.layers.Recurrence(C.layers.GRU(4))(a))
    return C.layers.Dense(2)(C.splice(C.sequence.broadcast_as(last, b), b)), {
        a: numbers(1, 4, 3), b: numbers(1, 6, 2)}


@case
def encoder_and_decoder():
    a = C.sequence.input_variable(3, sequence_axis=C.Axis("a"), dtype=REAL, name="a")
    b = C.sequence.input_variable(2, sequence_axis=C.Axis("b"), dtype=REAL, name="b")
    encoded = C.layers.Fold(C.layers.LSTM(4), return_full_state=True)(a)
    decoded = C.layers.RecurrenceFrom(C.layers.LSTM(4))(*(encoded.outputs + (b,)))
    return C.layers.Dense(2)(decoded), {a: numbers(1, 4, 3), b: numbers(1, 6, 2)}


@case
def attention():
    a = C.sequence.input_variable(3, sequence_axis=C.Axis("a"), dtype=REAL, name="a")
    b = C.sequence.input_variable(3, sequence_axis=C.Axis("b"), dtype=REAL, name="b")
    model = C.layers.AttentionModel(4, name="attend")
    return model(a, b), {a: numbers(1, 4, 3), b: numbers(1, 6, 3)}


@case
def generation_until_done():
    x = seq("x", 3)
    start = C.sequence.last(x)
    f = C.layers.UnfoldFrom(lambda h: C.tanh(h * 1.5 + 0.1), length_increase=2)
    return f(start, C.sequence.broadcast_as(0, x) + C.reduce_sum(x) * 0), {x: numbers(1, 4, 3)}


# --- criteria ----------------------------------------------------------------------------------

def criterion(name, f, labels=None):
    def make():
        z, y = batch("z", 4), batch("y", 4)
        return f(z, y), {z: numbers(3, 4), y: np.eye(4)[[1, 0, 3]] if labels is None else labels}
    CASES[name] = make


criterion("cross_entropy_with_softmax", C.cross_entropy_with_softmax)
criterion("classification_error", C.classification_error)
criterion("classification_error_of_two", lambda z, y: C.classification_error(z, y, topN=2))
criterion("squared_error", C.squared_error)
criterion("binary_cross_entropy", lambda z, y: C.binary_cross_entropy(C.sigmoid(z), y))


@case
def cosine_distance_with_negative_samples():
    a, b = batch("a", 4), batch("b", 4)
    return C.cosine_distance_with_negative_samples(a, b, 1, 2), {a: numbers(4, 4), b: numbers(4, 4)}


@case
def lambda_rank():
    s, n, g = batch("s", 1), batch("n", 1), batch("g", 1)
    given = {s: numbers(5, 1), n: np.array([[3], [1], [0], [2], [1]], REAL),
             g: np.array([[7], [7], [7], [8], [8]], REAL)}
    return C.lambda_rank(s, n, g), given


@case
def ndcg_at_1():
    s, n, g = batch("s", 1), batch("n", 1), batch("g", 1)
    given = {s: numbers(5, 1), n: np.array([[3], [1], [0], [2], [1]], REAL),
             g: np.array([[7], [7], [7], [8], [8]], REAL)}
    return C.ndcg_at_1(s, n, g), given


@case
def edit_distance():
    a, b = seq("a", 4), seq("b", 4)
    return C.edit_distance_error(a, b, 1, 1, 1, True, [2]), {
        a: np.eye(4)[None, [0, 0, 1, 2, 3, 3]], b: np.eye(4)[None, [0, 1, 1, 1, 2, 3]]}


@case
def forward_backward():
    y, z = seq("y", 4), seq("z", 4)
    labels = np.array([[[2, 0, 0, 0], [0, 2, 0, 0], [0, 2, 0, 0], [0, 0, 1, 0], [0, 0, 2, 0]]], REAL)
    return C.forward_backward(C.labels_to_graph(y), z, 3), {y: labels, z: numbers(1, 5, 4)}


# --- the whole ---------------------------------------------------------------------------------

def listed(values):
    return np.asarray(values, np.float64).tolist()


def evaluate(f, feeds):
    got = f.eval({v: (x if x.ndim == len(v.shape) + 1 else [s for s in x])
                  for v, x in feeds.items()})
    got = got if isinstance(got, dict) else {f.outputs[0]: got}
    found = {}
    for v, y in got.items():
        y = y[0] if isinstance(y, list) and len(y) == 1 else y
        found[v.uid] = {"values": listed(y), "axes": len(v.dynamic_axes),
                        "shape": list(v.shape)}
    return found


def make(folder, name):
    global REAL
    REAL = np.float32 if name in IN_FLOAT else np.float64
    C.cntk_py.set_fixed_random_seed(7)
    rng.seed(sum(name.encode()))
    with C.default_options(dtype=REAL):
        f, feeds = CASES[name]()
    record = {"inputs": {v.name: listed(x if x.ndim == len(v.shape) + 1 else x[0])
                         for v, x in feeds.items()},
              "outputs": evaluate(f, feeds)}
    f.save(os.path.join(folder, name + ".model"))
    try:
        C.cntk_py.save_as_legacy_model(f, os.path.join(
            folder, name + ".v1"))
    except Exception as e:
        record["no_v1"] = str(e).split("\n")[0][:120]
    return record


def main():
    folder, names = sys.argv[1], sys.argv[2:] or sorted(CASES)
    path = os.path.join(folder, "cases.json")
    records = json.load(open(path)) if os.path.exists(path) else {}
    for name in names:
        try:
            records[name] = make(folder, name)
        except Exception as e:
            print("%s: %s" % (name, str(e).strip().split("\n")[0][:200]))
    with open(path, "w") as out:
        out.write("{\n" + ",\n".join('"%s": %s' % (n, json.dumps(records[n], sort_keys=True))
                                    for n in sorted(records)) + "\n}\n")


if __name__ == "__main__":
    main()
