"""Functions of CNTK v2 one by one, in models written here, against numpy in CNTK's own order
of axes: sample[i, j] of shape [d0, d1], compared frame by frame."""

import numpy as np
import pytest

from cntk_v1 import assert_close, evl, needs_library, to_tensor
from cntk2 import (ALL, ALL_STATIC, BATCH, DYNAMIC, END, Axis, Model, Shape, Size)

pytestmark = [needs_library, pytest.mark.parametrize("precision", ["f", "d"])]


def samples(*shape, frames=3, low=-2.0, high=2.0, seed=5):
    return list(np.random.default_rng(seed).uniform(low, high, (frames, *shape)).astype("f"))


def numbers(*shape, seed=7):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype("f")


def evaluate(tmp_path, precision, m, feeds, output="z"):
    m.save(tmp_path / "net.model")
    with evl.Model(tmp_path / "net.model", precision) as net:
        return net.run({name: to_tensor(x, precision) for name, x in feeds.items()}, [output])[output]


def build(op, inputs, axes=None, **attributes):
    """Lists of samples are inputs, arrays parameters."""
    m, feeds, uids = Model(), {}, []
    for i, x in enumerate(inputs):
        if isinstance(x, list):
            uids.append(m.input(f"x{i}", x[0].shape, axes))
            feeds[f"x{i}"] = x
        else:
            uids.append(m.parameter(f"x{i}", x))
    m.output(m.add(op, uids, name="z", **attributes))
    return m, feeds


def check(tmp_path, precision, expected, op, *inputs, factor=1, **attributes):
    m, feeds = build(op, inputs, **attributes)
    y = np.stack([s.T for s in evaluate(tmp_path, precision, m, feeds)])
    n = len(next(iter(feeds.values())))
    frame = [[x[t] if isinstance(x, list) else x for x in inputs] for t in range(n)]
    wanted = np.stack([expected(*(np.asarray(a, np.float64) for a in row)) for row in frame])
    assert_close(y.reshape(wanted.shape), wanted, precision, factor)


UNARY = {
    "Negate": np.negative, "Sigmoid": lambda x: 1 / (1 + np.exp(-x)), "Tanh": np.tanh,
    "ReLU": lambda x: np.maximum(x, 0), "Exp": np.exp, "Floor": np.floor, "Abs": np.abs,
    "Sin": np.sin, "Cos": np.cos, "Sinh": np.sinh, "Cosh": np.cosh, "Asinh": np.arcsinh,
    "Tan": np.tan, "Atan": np.arctan, "StableSigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Sqrt": lambda x: np.sqrt(np.maximum(x, 0)), "Reciprocal": lambda x: 1 / x,
    "Softmax": lambda x: np.exp(x) / np.exp(x).sum(),
    "LogSoftmax": lambda x: x - np.log(np.exp(x).sum()),
    "Hardmax": lambda x: (x == x.max()).astype(float), "Pass": lambda x: x, "NoOp": lambda x: x,
    "StopGradient": lambda x: x, "Dropout": lambda x: x, "LabelsToGraph": lambda x: x,
    "StraightThrough": np.sign,
}


@pytest.mark.parametrize("op", UNARY)
def test_a_function_of_one_operand(tmp_path, precision, op):
    check(tmp_path, precision, UNARY[op], op, samples(3, 2), factor=5)


@pytest.mark.parametrize("op, function", [("Asin", np.arcsin), ("Acos", np.arccos),
                                          ("Atanh", np.arctanh)])
def test_an_inverse_function(tmp_path, precision, op, function):
    check(tmp_path, precision, function, op, samples(4, low=-0.9, high=0.9))


BINARY = {
    "Plus": np.add, "Minus": np.subtract, "ElementTimes": np.multiply, "LogPlus": np.logaddexp,
    "Equal": np.equal, "NotEqual": np.not_equal, "Less": np.less, "LessEqual": np.less_equal,
    "Greater": np.greater, "GreaterEqual": np.greater_equal,
}


@pytest.mark.parametrize("op", BINARY)
def test_a_function_of_two_operands(tmp_path, precision, op):
    check(tmp_path, precision, lambda a, b: BINARY[op](a, b[:, None]).astype(float), op,
          samples(3, 2), samples(3, seed=6))
    check(tmp_path, precision, lambda a, b: BINARY[op](a, b).astype(float), op, samples(3, 2),
          samples(3, 2)[0])


def test_powers(tmp_path, precision):
    check(tmp_path, precision, np.power, "Pow", samples(3, low=0.1), samples(3, seed=6))


def test_elu(tmp_path, precision):
    def elu(a):
        return lambda x: np.where(x >= 0, x, a * np.expm1(x))
    check(tmp_path, precision, elu(1), "ELU", samples(3))
    check(tmp_path, precision, elu(0.5), "ELU", samples(3), alpha=0.5)


def test_clip_and_select(tmp_path, precision):
    check(tmp_path, precision, lambda x, a, b: np.clip(x, a, b), "Clip", samples(5),
          np.float32(-0.5), np.float32(0.25))
    flags = [np.array([0, 1, 2], "f")] * 3
    check(tmp_path, precision, lambda c, a, b: np.where(c != 0, a, b), "Select", flags, samples(3),
          samples(3, seed=8))


# --- shapes ------------------------------------------------------------------------------------

@pytest.mark.parametrize("axis", [1, -1])
def test_slices(tmp_path, precision, axis):
    x = samples(3, 5)
    check(tmp_path, precision, lambda x: x[:, 1:4], "Slice", x, axis=Axis(axis), beginIndex=1,
          endIndex=4)
    check(tmp_path, precision, lambda x: x[:, 2:], "Slice", x, axis=Axis(axis), beginIndex=-3,
          endIndex=0, sliceStrides=1)
    check(tmp_path, precision, lambda x: x[:, ::-2], "Slice", x, axis=Axis(axis), beginIndex=0,
          endIndex=0, sliceStrides=-2)
    check(tmp_path, precision, lambda x: x[1:, 0:4:2], "Slice", x, axisVec=[Axis(0), Axis(axis)],
          beginIndexVec=[1, 0], endIndexVec=[3, 4], sliceStridesVec=[1, 2])


def test_splice(tmp_path, precision):
    check(tmp_path, precision, lambda a, b: np.concatenate([a, b], 1), "Splice", samples(3, 2),
          samples(3, 4, seed=3), axis=Axis(1))
    check(tmp_path, precision, lambda a, b: np.concatenate([a, b], 0), "Splice", samples(3, 2),
          samples(1, 2)[0], axis=Axis(-2))


def test_transpositions(tmp_path, precision):
    x = samples(2, 3, 4)
    check(tmp_path, precision, lambda x: x.swapaxes(0, 2), "TransposeAxes", x, axis1=Axis(0),
          axis2=Axis(-1))
    check(tmp_path, precision, lambda x: x.transpose(1, 2, 0), "TransposeAxes", x,
          axisVec=[Axis(1), Axis(2), Axis(0)])


def test_reshapes(tmp_path, precision):
    x = samples(2, 3, 4)
    check(tmp_path, precision, lambda x: x.reshape(6, 4, order="F"), "Reshape", x,
          newShape=Shape([6, 4]))
    check(tmp_path, precision, lambda x: x.reshape(2, 12, order="F"), "Reshape", x,
          newShape=Shape([-1]), beginAxis=Axis(1), endAxis=Axis(END))
    check(tmp_path, precision, lambda x: x.reshape(6, 4, order="F"), "Reshape", x,
          newShape=Shape([-1]), beginAxis=Axis(0), endAxis=Axis(2))


def test_squeezes(tmp_path, precision):
    x = samples(1, 3, 1)
    check(tmp_path, precision, lambda x: x.reshape(3), "Squeeze", x)
    check(tmp_path, precision, lambda x: x.reshape(1, 3), "Squeeze", x, axisVec=[Axis(-1)])


@pytest.mark.parametrize("mode, name", list(enumerate(["constant", "reflect", "symmetric"])))
def test_pads(tmp_path, precision, mode, name):
    more = {"constant_values": 0.5} if mode == 0 else {}
    check(tmp_path, precision, lambda x: np.pad(x, [(2, 1), (0, 3)], name, **more), "Pad",
          samples(3, 4), paddingHead=[Size(2), Size(0)], paddingFoot=[Size(1), Size(3)],
          paddingMode=Size(mode), paddingConstantValue=0.5)


REDUCTIONS = {
    "Sum": np.sum, "Mean": np.mean, "Max": np.max, "Min": np.min, "Prod": np.prod,
    "LogSum": lambda x, axis, keepdims: np.log(np.exp(x).sum(axis, keepdims=keepdims)),
}


@pytest.mark.parametrize("op", REDUCTIONS)
def test_reductions(tmp_path, precision, op):
    x, f = samples(3, 2), REDUCTIONS[op]
    check(tmp_path, precision, lambda x: f(x, axis=1, keepdims=True), "ReduceElements", x,
          axis=Axis(-1), reductionOpName=op)
    check(tmp_path, precision, lambda x: f(x, axis=0, keepdims=False), "ReduceElements", x,
          axisVec=[Axis(0)], reductionOpName=op, reductionKeepDimensions=False)
    check(tmp_path, precision, lambda x: f(x, axis=(0, 1), keepdims=True).reshape(1),
          "ReduceElements", x, axis=Axis(ALL_STATIC), reductionOpName=op)
    m, feeds = build("ReduceElements", [x], axis=Axis(ALL), reductionOpName=op)
    y = evaluate(tmp_path, precision, m, feeds)
    assert_close(y.reshape(1), f(np.stack(x).astype(float), axis=(0, 1, 2), keepdims=False)[None],
                 precision)


@pytest.mark.parametrize("op, function", [("Argmax", np.argmax), ("Argmin", np.argmin)])
def test_the_place_of_an_extreme(tmp_path, precision, op, function):
    check(tmp_path, precision, lambda x: function(x, 0)[None].astype(float), "ReduceElements",
          samples(5, 2), axis=Axis(0), reductionOpName=op)


def test_a_reduction_over_the_batch(tmp_path, precision):
    x = samples(3, 2)
    m, feeds = build("ReduceElements", [x], BATCH, reductionOpName="Sum",
                     axis=Axis(DYNAMIC, "defaultBatchAxis"))
    y = evaluate(tmp_path, precision, m, feeds)
    assert_close(y.T, np.stack(x).astype(float).sum(0), precision)


# --- by index ------------------------------------------------------------------------------------

def test_one_hot(tmp_path, precision):
    x = [np.array([0, 3], "f"), np.array([2, 1], "f")]
    eye = np.eye(4)
    check(tmp_path, precision, lambda x: eye[x.astype(int)].T, "OneHot", x, numClass=Size(4),
          oneHotOutputSparse=False, onehotAxis=Axis(0))
    check(tmp_path, precision, lambda x: eye[x.astype(int)], "OneHot", x, numClass=Size(4),
          oneHotOutputSparse=False, onehotAxis=Axis(-1))


def test_gather(tmp_path, precision):
    table, x = numbers(3, 5), [np.array([4, 0], "f"), np.array([1, 1], "f")]
    check(tmp_path, precision, lambda i, t: t[:, i.astype(int)], "Gather", x, table)


def test_top_k(tmp_path, precision):
    x = samples(6, 2)
    check(tmp_path, precision, lambda x: -np.sort(-x, 0)[:3], "TopK", x, axis=Axis(0),
          numItems=Size(3))
    m, feeds = build("TopK", [x], axis=Axis(0), numItems=Size(3))
    m.output(m.add("NoOp", [m.outputs[0].replace("_0", "_1")], name="places"))
    y = evaluate(tmp_path, precision, m, feeds, "places")
    assert_close(np.stack([s.T for s in y]), np.stack([np.argsort(-s, 0)[:3] for s in x]), precision)


def test_fill_and_unit(tmp_path, precision):
    check(tmp_path, precision, lambda x: np.full(x.shape, 2.5), "ConstantOp", samples(3),
          fillValue=2.5)


# --- products --------------------------------------------------------------------------------------

def test_times(tmp_path, precision):
    x, w = samples(4, 2), numbers(3, 4)
    check(tmp_path, precision, lambda w, x: w @ x, "Times", w, x, outputRank=Size(1),
          inferInputRankToMap=-1)
    w = numbers(2, 3, 4)
    check(tmp_path, precision, lambda w, x: np.einsum("abi,ij->abj", w, x), "Times", w, x,
          outputRank=Size(2))
    check(tmp_path, precision, lambda w, x: w.T @ x, "TransposeTimes", numbers(4, 3), x,
          outputRank=Size(1))


def test_times_over_a_sequence(tmp_path, precision):
    a, b = samples(3, 4), samples(4, 2, seed=9)
    m, feeds = build("Times", [a, b], outputRank=Size(1), inferInputRankToMap=-3)
    y = evaluate(tmp_path, precision, m, feeds)
    wanted = sum(x.astype(float) @ z for x, z in zip(a, b))
    assert_close(y[0].T, wanted, precision)


# --- windows -----------------------------------------------------------------------------------------

def convolve(x, w, stride, pads, dilation=1, groups=1):
    """x [W, H, C], w [kW, kH, C / groups, M]; pads: (lower, upper) of each axis."""
    x = np.pad(x, [*pads, (0, 0)])
    k, m = (np.array(w.shape[:2]) - 1) * dilation + 1, w.shape[3]
    out = [(x.shape[i] - k[i]) // stride + 1 for i in range(2)]
    y, c = np.zeros((*out, m)), w.shape[2]
    for i in range(out[0]):
        for j in range(out[1]):
            for o in range(m):
                g = o // (m // groups)
                part = x[i * stride:i * stride + k[0]:dilation, j * stride:j * stride + k[1]:dilation,
                         g * c:(g + 1) * c]
                y[i, j, o] = (part * w[..., o]).sum()
    return y


CONVOLUTION = {"sharing": [True], "lowerPad": Shape([0]), "upperPad": Shape([0]),
               "transpose": False, "maxTempMemSizeInSamples": Size(0)}


@pytest.mark.parametrize("strides", [[2, 2], [2, 2, 4], [2, 2, -1]])
def test_a_convolution(tmp_path, precision, strides):
    x, w = samples(7, 6, 4), numbers(3, 3, 4, 5)
    check(tmp_path, precision, lambda w, x: convolve(x, w, 2, [(0, 0), (0, 0)]), "Convolution", w, x,
          strides=Shape(strides), autoPadding=[False], **CONVOLUTION)


def test_a_convolution_padded_by_itself(tmp_path, precision):
    x, w = samples(7, 6, 4), numbers(3, 3, 4, 5)
    check(tmp_path, precision, lambda w, x: convolve(x, w, 1, [(1, 1), (1, 1)]), "Convolution", w, x,
          strides=Shape([1]), autoPadding=[True], **CONVOLUTION)


def test_a_dilated_convolution_in_groups(tmp_path, precision):
    x, w = samples(7, 6, 4), numbers(3, 2, 2, 6)
    check(tmp_path, precision, lambda w, x: convolve(x, w, 1, [(0, 0), (0, 0)], 2, 2), "Convolution",
          w, x, strides=Shape([1]), autoPadding=[False], dilation=Shape([2, 2, 1]), groups=Size(2),
          **CONVOLUTION)


def test_a_transposed_convolution(tmp_path, precision):
    def expected(w, x):
        y = np.zeros((2 * 3 + 3, 2 * 2 + 3, 2))
        for i in range(4):
            for j in range(3):
                y[2 * i:2 * i + 3, 2 * j:2 * j + 3] += np.einsum("abcm,m->abc", w, x[i, j])
        return y
    check(tmp_path, precision, expected, "Convolution", numbers(3, 3, 2, 5), samples(4, 3, 5),
          strides=Shape([2, 2, 1]), autoPadding=[False], outputShape=Shape([0]),
          **dict(CONVOLUTION, transpose=True))


def test_poolings(tmp_path, precision):
    def pool(x, f):
        return np.stack([[f(x[2 * i:2 * i + 2, 2 * j:2 * j + 2], (0, 1)) for j in range(2)]
                         for i in range(3)])
    common = {"poolingWindowShape": Shape([2, 2]), "strides": Shape([2, 2]), "autoPadding": [False],
              "lowerPad": Shape([0]), "upperPad": Shape([0])}
    check(tmp_path, precision, lambda x: pool(x, np.max), "Pooling", samples(6, 5, 2),
          poolingType=Size(0), **common)
    check(tmp_path, precision, lambda x: pool(x, np.mean), "Pooling", samples(6, 5, 2),
          poolingType=Size(1), **common)


def test_a_pooling_of_all_places(tmp_path, precision):
    check(tmp_path, precision, lambda x: x.mean((0, 1), keepdims=True), "Pooling", samples(6, 5, 2),
          poolingType=Size(1), poolingWindowShape=Shape([-2]), strides=Shape([1]),
          autoPadding=[False], lowerPad=Shape([0]), upperPad=Shape([0]))


def test_batch_normalization(tmp_path, precision):
    x, p = samples(4, 3, 2), [np.abs(numbers(2, seed=s)) + 0.1 for s in range(4)]
    check(tmp_path, precision, lambda x, s, b, m, v: s * (x - m) / np.sqrt(v + 1e-3) + b,
          "BatchNormalization", x, *p, spatial=True, epsilon=1e-3, normalizationTimeConstant=0.0,
          blendTimeConstant=0.0, useCuDNNEngine=False, factor=3)
    p = [np.abs(numbers(4, 3, 2, seed=s)) + 0.1 for s in range(4)]
    check(tmp_path, precision, lambda x, s, b, m, v: s * (x - m) / np.sqrt(v + 1e-3) + b,
          "BatchNormalization", x, *p, spatial=False, epsilon=1e-3, factor=3)


# --- criteria ----------------------------------------------------------------------------------------

def test_criteria_take_the_prediction_first(tmp_path, precision):
    z, label = samples(4), [np.eye(4, dtype="f")[i] for i in (1, 0, 3)]
    wide = np.stack(z).astype(float)
    log = wide - np.log(np.exp(wide).sum(1, keepdims=True))
    expected = {"CrossEntropyWithSoftmax": -sum(log[i, k] for i, k in enumerate((1, 0, 3))),
                "ClassificationError": sum(wide[i].argmax() != k for i, k in enumerate((1, 0, 3))),
                "SquaredError": ((wide - np.stack(label)) ** 2).sum()}
    for op, value in expected.items():
        m, feeds = build(op, [z, label])
        y = evaluate(tmp_path, precision, m, feeds)
        assert_close(y.reshape(1), np.array([value]), precision)


# --- random numbers ----------------------------------------------------------------------------------

@pytest.mark.parametrize("kind, arguments, mean, deviation", [
    ("uniform", [2.0, 6.0], 4, 4 / 12**0.5), ("normal", [1.0, 2.0], 1, 2),
    ("gumbel", [0.5, 2.0], 0.5 + 2 * 0.5772, 2 * np.pi / 6**0.5), ("bernoulli", [0.3], 0.3, 0.21**0.5)])
def test_numbers_are_drawn_from_a_distribution(tmp_path, precision, kind, arguments, mean, deviation):
    m = Model()
    told = {"randomDistributionType": kind, "randomDistributionArgs": arguments}
    m.output(m.add("RandomDistribution", [], name="z", newShape=Shape([50, 40]), **told))
    m.output(m.add("RandomDistribution", [m.input("x", [500])], name="like", **told))
    y = evaluate(tmp_path, precision, m, {})
    like = evaluate(tmp_path, precision, m, {"x": samples(500)}, "like")
    assert y.shape == (40, 50) and like.shape == (3, 500)
    for drawn in (y, like):
        assert abs(drawn.mean() - mean) < 0.2 * deviation
        assert abs(drawn.std() - deviation) < 0.15 * deviation


def test_classes_are_drawn_by_weight(tmp_path, precision):
    w, n = np.array([1, 0, 5, 3, 1], "f"), 4
    m, _ = build("RandomSample", [w], numSamples=Size(n), allowDuplicates=False)
    for _ in range(3):
        y = evaluate(tmp_path, precision, m, {})
        assert sorted(y.argmax(1)) == [0, 2, 3, 4] and np.array_equal(y.sum(1), np.ones(n))
    m, _ = build("RandomSample", [w], numSamples=Size(4000), allowDuplicates=True)
    share = evaluate(tmp_path, precision, m, {}).mean(0)
    assert np.abs(share - w / w.sum()).max() < 0.04
    assert share[1] == 0


def test_how_often_a_class_is_drawn(tmp_path, precision):
    w = np.array([1, 2, 5, 3, 1], "f")
    m, _ = build("RandomSampleInclusionFrequency", [w], numSamples=Size(3), allowDuplicates=True)
    assert_close(evaluate(tmp_path, precision, m, {}), 3 * w.astype(float) / 12, precision)
    m, _ = build("RandomSampleInclusionFrequency", [w], numSamples=Size(3), allowDuplicates=False)
    y = evaluate(tmp_path, precision, m, {}).astype(float)
    assert_close(y.sum(), np.array(3.0), precision)
    m, _ = build("RandomSample", [w], numSamples=Size(3), allowDuplicates=False)
    m.save(tmp_path / "net.model")
    with evl.Model(tmp_path / "net.model", precision) as net:
        seen = np.mean([net.run({}, ["z"])["z"].sum(0) for _ in range(2000)], axis=0)
    assert np.abs(seen - y).max() < 0.08
