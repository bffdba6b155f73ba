"""Models that CNTK 2.7 itself wrote and evaluated: run this with CNTK's own Python package.

    python make_cntk_oracle.py FOLDER [name ...]

For each case FOLDER gets name.model (v2), perhaps name.v1 (the same saved as CNTK v1) and a
line in cases.json: inputs, what CNTK gave, and what it has no v1 form for. Everything is in
double, but for what CNTK's layers can do in float alone.
A case is one minibatch of one sequence, or of some samples where no axis is a sequence.
"""
import json
import os
import shutil
import sys

import cntk as C
import numpy as np

import cntk_oracle_criteria  # noqa: F401
import cntk_oracle_open  # noqa: F401
import cntk_oracle_sequences  # noqa: F401
import cntk_oracle as oracle
from cntk_oracle import CASES, EVALUATED_AS, OLD_FILES, batch, case, fixed, numbers, rng, seq, weight

IN_FLOAT = {"rnn_stack_lstm", "rnn_stack_lstm_both", "rnn_stack_tanh", "rnn_stack_relu_both",
            "generation_until_told", "attention", "generation_until_done", "linear_layers", "lstm_with_everything",
            "past_value_window", "convolution_over_a_sequence"}


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
    values = np.array([[0], [-0.0], [1e-40], [-1e-40], [-3], [1e-38], [5]], oracle.REAL)
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
    return C.element_select(c, a, b), {c: np.array([[0, 1, 2], [-1, 0, 0.5]], oracle.REAL),
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
    return C.gather(weight(5, 3), i), {i: np.array([[0, 4], [2, 2]], oracle.REAL)}


@case
def one_hot():
    i = batch("i", 2)
    return C.one_hot(i, 4), {i: np.array([[0, 3], [2, 1]], oracle.REAL)}


@case
def one_hot_along_another_axis():
    i = batch("i", 2)
    return C.one_hot(i, 4, axis=0), {i: np.array([[0, 3], [2, 1]], oracle.REAL)}


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
    return C.cast(C.cast(x * 2, oracle.REAL) + fixed([0.1]), np.float32), {x: numbers(2, 3).astype("f")}


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
    return C.layers.Embedding(3)(x), {x: np.eye(6, dtype=oracle.REAL)[[0, 5, 2]]}


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
    rois = np.array([[[0, 0, 7, 7], [2, 1, 5, 6], [3, 3, 4, 4]]], oracle.REAL)
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


# --- the whole ---------------------------------------------------------------------------------

def listed(values):
    return np.asarray(values, np.float64).tolist()


def evaluate(f, feeds, evaluated):
    got = evaluated.eval({v: (x if x.ndim == len(v.shape) + 1 else [s for s in x])
                  for v, x in feeds.items()})
    got = got if isinstance(got, dict) and evaluated is f else {f.outputs[0]: got}
    found = {}
    for v, y in got.items():
        y = y[0] if isinstance(y, list) and len(y) == 1 else y
        found[v.uid] = {"values": listed(y), "axes": len(v.dynamic_axes),
                        "shape": list(v.shape)}
    return found


def make(folder, name):
    oracle.REAL = np.float32 if name in IN_FLOAT else np.float64
    C.cntk_py.set_fixed_random_seed(7)
    rng.seed(sum(name.encode()))
    with C.default_options(dtype=oracle.REAL):
        f, feeds = CASES[name]()
    record = {"inputs": {v.name: listed(x if x.ndim == len(v.shape) + 1 else x[0])
                         for v, x in feeds.items()},
              "outputs": evaluate(f, feeds, EVALUATED_AS.get(name, f))}
    f.save(os.path.join(folder, name + ".model"))
    try:
        if name in OLD_FILES:
            shutil.copy(OLD_FILES[name], os.path.join(folder, name + ".v1"))
        else:
            C.cntk_py.save_as_legacy_model(f, os.path.join(folder, name + ".v1"))
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
