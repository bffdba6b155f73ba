"""CNTK's operators one by one, in models written here, against numpy in CNTK's own order of
axes: sample[i, j] of shape [d0, d1], compared frame by frame."""

import numpy as np
import pytest

from cntk_v1 import assert_close, cntk1, evaluate, needs_library

pytestmark = [needs_library, pytest.mark.parametrize("precision", ["f", "d"])]


def samples(*shape, frames=3, low=-2.0, high=2.0, seed=5):
    return list(np.random.default_rng(seed).uniform(low, high, (frames, *shape)).astype("f"))


def even(*arrays):
    """Missing axes are 1 and come last: CNTK broadcasts from the first."""
    rank = max(a.ndim for a in arrays)
    return [a.reshape(a.shape + (1,) * (rank - a.ndim)) for a in arrays]


def check(tmp_path, precision, expected, op, *inputs, version=27, factor=1, **fields):
    """inputs: a list of samples is an input with frames, an array a parameter."""
    m, feeds, names = cntk1.Model(version), {}, []
    for i, x in enumerate(inputs):
        names.append(f"x{i}")
        if isinstance(x, list):
            m.add("InputValue", names[-1], shape=x[0].shape)
            feeds[names[-1]] = x
        else:
            m.parameter(names[-1], x)
    m.add(op, "z", names, **fields)
    y = evaluate(m, tmp_path, precision, feeds)
    n = len(next(iter(feeds.values())))
    frame = [[x[t] if isinstance(x, list) else x for x in inputs] for t in range(n)]
    wanted = np.stack([expected(*(np.asarray(a, np.float64) for a in row)) for row in frame])
    assert_close(y, wanted, precision, factor)


UNARY = {
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)), "StableSigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Tanh": np.tanh, "RectifiedLinear": lambda x: np.maximum(x, 0), "Exp": np.exp, "Abs": np.abs,
    "Negate": np.negative, "Floor": np.floor, "Cosine": np.cos, "Sin": np.sin, "Cosh": np.cosh,
    "Sinh": np.sinh, "Sqrt": lambda x: np.sqrt(np.maximum(x, 0)), "Pass": lambda x: x,
    "StopGradient": lambda x: x, "Dropout": lambda x: x,
    "Softmax": lambda x: np.exp(x) / np.exp(x).sum(),
    "LogSoftmax": lambda x: x - np.log(np.exp(x).sum()),
    "Hardmax": lambda x: (x == x.max()).astype(float),
}


@pytest.mark.parametrize("op", UNARY)
def test_a_function_of_one_operand(tmp_path, precision, op):
    check(tmp_path, precision, UNARY[op], op, samples(3, 2))


@pytest.mark.parametrize("op, function", [("Acos", np.arccos), ("Asin", np.arcsin)])
def test_an_inverse_function(tmp_path, precision, op, function):
    check(tmp_path, precision, function, op, samples(4, low=-0.9, high=0.9))


def test_logarithms_and_reciprocals_stay_finite(tmp_path, precision):
    x = [np.array([0, 1, -1, 4], "f")]
    check(tmp_path, precision, lambda a: np.where(a > 0, np.log(np.maximum(a, 1e-300)),
                                        float(np.float32(-85.1))),
          "Log", x, factor=10)
    check(tmp_path, precision, lambda a: np.where(a == 0, 0, 1 / np.where(a == 0, 1, a)),
          "Reciprocal", x)


BINARY = {
    "Plus": np.add, "Minus": np.subtract, "ElementTimes": np.multiply, "LogPlus": np.logaddexp,
    "Less": np.less, "LessEqual": np.less_equal, "Greater": np.greater,
    "GreaterEqual": np.greater_equal, "Equal": np.equal, "NotEqual": np.not_equal,
}


@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize("left, right", [((3, 2), (3,)), ((3,), (3, 2)), ((3, 2), (1, 2)),
                                         ((2,), (2,))])
def test_operands_broadcast_from_the_first_axis(tmp_path, precision, op, left, right):
    def expected(a, b):
        return BINARY[op](*even(a, b)).astype(float)
    a, b = samples(*left), samples(*right, seed=6)
    if "qual" in op:
        a, b = [np.round(x) for x in a], [np.round(x) for x in b]
    check(tmp_path, precision, expected, op, a, b)
    check(tmp_path, precision, expected, op, a, b[0])
    check(tmp_path, precision, expected, op, a[0], b)


def test_operators_of_three(tmp_path, precision):
    low, high = np.array([-1, -0.5, 0], "f"), np.array([1, 0.5, 0.25], "f")
    check(tmp_path, precision, lambda lo, hi, x: np.clip(x, *even(lo, hi, x)[:2]), "Clip", low, high,
          samples(3, 2))
    condition = [np.array([0, 1, 2], "f"), np.array([1, 0, 0], "f")]
    check(tmp_path, precision, lambda c, a, b: np.where(c != 0, a, b), "If", condition,
          samples(3, frames=2), samples(3, frames=2, seed=7))


def test_normalisation_by_stored_means(tmp_path, precision):
    x, mean, scale = samples(3, 2), samples(3, 2, seed=1)[0], samples(3, 2, low=1, seed=2)[0]
    check(tmp_path, precision, lambda a, m, s: (a - m) * s, "PerDimMeanVarNormalization", x, mean,
          scale)
    check(tmp_path, precision, lambda a, m, s: a / s + m, "PerDimMeanVarDeNormalization", x, mean,
          scale)


@pytest.mark.parametrize("w, x, rank", [((4, 3), (3,), 1), ((4, 3), (3, 2), 1), ((5, 3, 2), (3, 2), 1),
                                        ((2, 5, 3), (3,), 2), ((2, 5, 3), (3, 4), 2)])
def test_products(tmp_path, precision, w, x, rank):
    def expected(a, b):
        k = int(np.prod(a.shape[rank:]))
        flat = a.reshape(-1, k, order="F") @ b.reshape(k, -1, order="F")
        return flat.reshape(a.shape[:rank] + b.shape[len(w) - rank:], order="F")
    check(tmp_path, precision, expected, "Times", samples(*w)[0], samples(*x), output_rank=rank)
    check(tmp_path, precision, expected, "Times", samples(*w), samples(*x), output_rank=rank)


def test_other_products(tmp_path, precision):
    x = samples(3)
    check(tmp_path, precision, lambda w, a: w.T @ a, "TransposeTimes", samples(3, 4)[0], x)
    check(tmp_path, precision, lambda d, a: d.reshape(-1, 1) * a, "DiagTimes", samples(3, 1)[0],
          samples(3, 2))
    check(tmp_path, precision, lambda a, b: np.outer(a, b).reshape(-1, order="F"),
          "KhatriRaoProduct", x, samples(2))
    check(tmp_path, precision,
          lambda a, b: np.array([a @ b / np.sqrt((a @ a) * (b @ b))]), "CosDistance", x,
          samples(3, seed=9))
    words = [np.eye(4)[[i, (i + 1) % 4]].reshape(-1).astype("f") for i in range(3)]
    check(tmp_path, precision, lambda w, a: (w @ a.reshape(2, 4).T).reshape(-1, order="F"),
          "LookupTable", samples(2, 4)[0], words)


@pytest.mark.parametrize("version", [5, 10, 15, 19, 31])
@pytest.mark.parametrize("shape, spatial", [((5,), False), ((4, 3, 2), False), ((4, 3, 2), True)])
def test_batch_normalisation(tmp_path, precision, version, shape, spatial):
    n = shape[-1] if spatial else int(np.prod(shape))
    scale, bias, mean, spread = (samples(n, low=0.5, seed=i)[0] for i in range(4))

    def expected(x, s, b, m, v):
        s, b, m, v = (a.reshape(-1, order="F") for a in (s, b, m, v))
        if spatial:
            to = (1,) * (x.ndim - 1) + (n,)
        else:
            to = x.shape
        s, b, m, v = (a.reshape(to, order="F") for a in (s, b, m, v))
        v = v if version >= 13 else 1 / v ** 2 + 1e-4
        return s * (x - m) / np.sqrt(v + 1e-4) + b
    check(tmp_path, precision, expected, "BatchNormalization", samples(*shape), scale, bias, mean,
          spread, version=version, spatial=spatial, epsilon=1e-4, factor=3)


def windows(x, kernel, stride, auto, lower, upper):
    """For each output position the part of x under the kernel, and where it lies in it."""
    starts = []
    for size, k, s, a, lo, hi in zip(x.shape, kernel, stride, auto, lower, upper):
        if a:
            out = (size - 1) // s + 1
            first = (size - ((out - 1) * s + 1)) // 2 - (k - 1) // 2
        else:
            out, first = (size + lo + hi - k) // s + 1, -lo
        starts.append([first + i * s for i in range(out)])
    for at in np.ndindex(*(len(s) for s in starts)):
        begin = [s[i] for s, i in zip(starts, at)]
        cells = [slice(max(b, 0), min(b + k, size)) for b, k, size in zip(begin, kernel, x.shape)]
        inside = [slice(c.start - b, c.stop - b) for c, b in zip(cells, begin)]
        yield at, tuple(cells), tuple(inside), tuple(len(s) for s in starts)


GEOMETRIES = [
    ((6, 5, 2), (3, 3, 2), (1, 1, 2), (True, True, False)),
    ((6, 5, 2), (3, 2, 2), (2, 1, 2), (False, False, False)),
    ((7, 6, 3), (1, 1, 3), (3, 2, 3), (True, True, False)),  # starts within the input
    ((6, 5, 4), (2, 3, 2), (2, 2, 2), (True, False, False)),  # moves along the channels too
    ((9, 2), (4, 2), (2, 2), (True, False)),
]


@pytest.mark.parametrize("shape, kernel, stride, auto", GEOMETRIES)
@pytest.mark.parametrize("version", [5, 15, 23, 31])
def test_convolution(tmp_path, precision, version, shape, kernel, stride, auto):
    maps = 3

    def expected(w, x):
        out = None
        for at, cells, inside, counts in windows(x, kernel, stride, auto, (0,) * 3, (0,) * 3):
            if out is None:
                out = np.zeros(counts + (maps,))
            for m in range(maps):
                out[at + (m,)] = (x[cells] * w[inside + (m,)]).sum()
        return out.reshape(out.shape[:-2] + (-1,), order="F")
    check(tmp_path, precision, expected, "Convolution", samples(*kernel, maps)[0], samples(*shape),
          version=version, kernel=kernel, stride=stride, auto_pad=auto, map_count=[maps])


@pytest.mark.parametrize("version", [4, 15])
def test_convolution_in_the_old_layout(tmp_path, precision, version):
    """[C, W, H] and weights [maps, K]: k = p1 + n * p2 + n * n * channel."""
    n, maps, channels = 3, 2, 2

    def expected(w, x):
        out = np.zeros((maps, 4, 4))
        for i, j in np.ndindex(4, 4):
            patch = x[:, i:i + n, j:j + n].transpose(1, 2, 0).reshape(-1, order="F")
            out[:, i, j] = w @ patch
        return out
    check(tmp_path, precision, expected, "Convolution", samples(maps, n * n * channels)[0],
          samples(channels, 6, 6), version=version, kernel=[n, n, channels],
          stride=[1, 1, channels], map_count=[maps], layout=0)


@pytest.mark.parametrize("kind, function", [("max", np.max), ("average", np.mean)])
@pytest.mark.parametrize("shape, kernel, stride, auto", [
    ((6, 5, 2), (2, 2), (2, 2), (False, False)), ((6, 5, 2), (3, 3, 1), (2, 1, 1), (True, True, False)),
    ((6, 4, 4), (2, 2, 2), (2, 2, 2), (False,) * 3)])
def test_pooling(tmp_path, precision, kind, function, shape, kernel, stride, auto):
    full = [tuple(v) + (f,) * (3 - len(v)) for v, f in ((kernel, 1), (stride, 1), (auto, False))]

    def expected(x):
        out = None
        for at, cells, _, counts in windows(x, *full, (0,) * 3, (0,) * 3):
            out = np.zeros(counts) if out is None else out
            out[at] = function(x[cells])
        return out
    check(tmp_path, precision, expected, "Pooling", samples(*shape), version=15, kernel=kernel,
          stride=stride, auto_pad=auto, pool=kind)


@pytest.mark.parametrize("op, function", [("MaxPooling", np.max), ("AveragePooling", np.mean)])
@pytest.mark.parametrize("layout", [0, 1])
def test_old_pooling(tmp_path, precision, op, function, layout):
    def expected(x):
        image = x if layout else x.transpose(1, 2, 0)
        out = np.zeros((3, 2, 2))
        for at in np.ndindex(3, 2, 2):
            out[at] = function(image[at[0] * 2:at[0] * 2 + 2, at[1] * 3:at[1] * 3 + 3, at[2]])
        return out if layout else out.transpose(2, 0, 1)
    check(tmp_path, precision, expected, op, samples(*((6, 6, 2) if layout else (2, 6, 6))),
          version=10, kernel=(2, 3), stride=(2, 3), layout=layout)


def test_slices(tmp_path, precision):
    x = samples(6, 4)
    check(tmp_path, precision, lambda a: a[1:3], "Slice", x, version=14, ranges=[(1, 3, 1)])
    check(tmp_path, precision, lambda a: a[-2:], "Slice", x, version=14, ranges=[(-2, 0, 1)])
    check(tmp_path, precision, lambda a: a[:, :-1], "Slice", x, version=21, ranges=[(0, -1, 2)])
    check(tmp_path, precision, lambda a: a[2:, 1:3], "Slice", x, ranges=[(2, 0, 1), (1, 3, 2)])


def test_stacks(tmp_path, precision):
    a, b = samples(2, 3), samples(4, 3, seed=8)
    check(tmp_path, precision, lambda x, y: np.concatenate([x, y]), "RowStack", a, b)
    check(tmp_path, precision, lambda x, y: np.concatenate([x, np.tile(y, (1, 3))]), "RowStack", a,
          samples(4, 1))
    check(tmp_path, precision, lambda x, y: np.stack([x, y], axis=2), "RowStack", a,
          samples(2, 3, seed=9), axis=3)
    check(tmp_path, precision, lambda x, y: np.concatenate([x, y]), "RowStack", a, b[0])


def test_shapes(tmp_path, precision):
    x = samples(2, 3, 4)
    check(tmp_path, precision, lambda a: a.reshape(6, 4, order="F"), "Reshape", x, shape=[6, 0])
    check(tmp_path, precision, lambda a: a.reshape(2, 6, 2, order="F"), "Reshape", x, begin=2, end=0,
          shape=[6, 2])
    check(tmp_path, precision, lambda a: a.reshape(3, 2, 4, order="F"), "Reshape", x, begin=1, end=3,
          shape=[3, 2])
    check(tmp_path, precision, lambda a: a.reshape(24, order="F"), "LegacyReshape", x, shape=[24])
    check(tmp_path, precision, lambda a: a.swapaxes(0, 2), "TransposeDimensions", x, axes=(1, 3))
    check(tmp_path, precision, lambda a: a.transpose(1, 2, 0), "TransposeDimensions", x,
          permutation=[1, 2, 0])
    check(tmp_path, precision, lambda a: np.tile(a, 3), "RowRepeat", samples(2), repeats=3)
    check(tmp_path, precision, lambda a: np.diag(a)[None], "Diagonal", samples(3, 3))


REDUCTIONS = {"Sum": np.sum, "Mean": np.mean, "Max": np.max, "Min": np.min, "Prod": np.prod}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("version", [14, 24, 31])
def test_reductions(tmp_path, precision, name, version):
    x, function = samples(3, 2), REDUCTIONS[name]
    check(tmp_path, precision, lambda a: function(a, axis=1, keepdims=True), "ReduceElements", x,
          version=version, axes=[2], reduce=name)
    check(tmp_path, precision, lambda a: function(a).reshape(1), "ReduceElements", x,
          version=version, axes=[0], reduce=name)


def test_further_reductions(tmp_path, precision):
    x = samples(3, 2)
    check(tmp_path, precision, lambda a: np.argmax(a, axis=0, keepdims=True), "ReduceElements", x,
          reduce="Argmax", axes=[1])
    check(tmp_path, precision, lambda a: np.log(np.exp(a).sum(axis=0)), "ReduceElements", x,
          reduce="LogSum", axes=[1], keep=False)
    zeros = [np.array([0, 2, 0], "f"), np.array([1, 1, 3], "f")]
    check(tmp_path, precision, lambda a: a.any().reshape(1), "ReduceElements", zeros, reduce="Any")
    check(tmp_path, precision, lambda a: a.all().reshape(1), "ReduceElements", zeros, reduce="All")
    check(tmp_path, precision, lambda a: a.sum().reshape(1), "SumColumnElements", x)


@pytest.mark.parametrize("op, function", [
    ("SumElements", lambda x: x.sum()), ("MatrixL1Reg", lambda x: np.abs(x).sum()),
    ("MatrixL2Reg", lambda x: np.sqrt((x * x).sum()))])
def test_sums_over_everything(tmp_path, precision, op, function):
    x = samples(3, 2)
    m = cntk1.Model(15)
    m.add("InputValue", "x", shape=[3, 2])
    m.add(op, "z", ["x"])
    y = evaluate(m, tmp_path, precision, {"x": x}, frames=False)
    assert_close(y.reshape(()), function(np.stack(x).astype(np.float64)), precision)


def criterion(tmp_path, precision, op, label, value, *more):
    m = cntk1.Model(15)
    m.add("InputValue", "label", shape=label[0].shape)
    m.add("InputValue", "value", shape=value[0].shape)
    for i, x in enumerate(more):
        m.parameter(f"p{i}", x)
    m.add(op, "z", ["label", "value"] + [f"p{i}" for i in range(len(more))])
    y = evaluate(m, tmp_path, precision, {"label": label, "value": value}, frames=False)
    return float(y.reshape(()))


def test_criteria(tmp_path, precision):
    label, z = list(np.eye(4, dtype="f")[[2, 0, 3]]), samples(4)
    lab, val = np.stack(label).astype(float), np.stack(z).astype(float)
    p = np.exp(val) / np.exp(val).sum(axis=1, keepdims=True)
    given = [row.astype("f") for row in p]
    p = np.stack(given).astype(float)
    binary, q = [np.array([1], "f"), np.array([0], "f")], [np.array([0.25], "f")] * 2
    above = (val > (lab * val).sum(axis=1, keepdims=True)).sum(axis=1)
    wanted = {
        ("CrossEntropyWithSoftmax", 0): (label, z, (), -(lab * np.log(p)).sum()),
        ("CrossEntropy", 0): (label, given, (), -(lab * np.log(p)).sum()),
        ("SquareError", 0): (label, z, (), ((lab - val) ** 2).sum()),
        ("Logistic", 0): (binary, q, (), -np.log(0.25) - np.log(0.75)),
        ("ClassificationError", 0): (label, z, (), (val.argmax(1) != lab.argmax(1)).sum()),
        ("ErrorPrediction", 2): (label, z, (np.array([2], "f"),), (above >= 2).sum()),
    }
    for (op, _), (a, b, more, expected) in wanted.items():
        found = criterion(tmp_path, precision, op, a, b, *more)
        assert abs(found - expected) <= 2e-6 * max(1, abs(expected)), op


def test_words_in_classes(tmp_path, precision):
    """Of a label [word, class, begin, end]: how likely the class is, and in it the word."""
    label = [np.array(row, "f") for row in ([1, 0, 0, 2], [5, 1, 2, 6], [2, 1, 2, 6])]
    x, words, classes = samples(3), samples(3, 6, seed=1)[0], samples(2, seed=2)

    def log_softmax(z):
        return z - np.log(np.exp(z).sum())
    expected = 0
    for lab, row, z in zip(label, x, classes):
        word, group, begin, end = lab.astype(int)
        of_class = row.astype(float) @ words[:, begin:end].astype(float)
        expected -= log_softmax(of_class)[word - begin] + log_softmax(z.astype(float))[group]
    m = cntk1.Model(15)
    for name, shape in (("label", [4]), ("x", [3]), ("z", [2])):
        m.add("InputValue", name, shape=shape)
    m.parameter("words", words)
    m.add("ClassBasedCrossEntropyWithSoftmax", "loss", ["label", "x", "words", "z"])
    feeds = {"label": label, "x": x, "z": classes}
    found = evaluate(m, tmp_path, precision, feeds, "loss", frames=False)
    assert abs(float(found.reshape(())) - expected) <= 1e-6 * expected


def test_what_training_alone_changes(tmp_path, precision):
    """isTraining is 0; a criterion that was computed elsewhere is summed up."""
    x = samples(1)
    m = cntk1.Model(15)
    m.add("InputValue", "x", shape=[1])
    m.add("EnvironmentInput", "training", property="isTraining")
    m.add("Plus", "y", ["x", "training"])
    m.add("DummyCriterion", "z", ["x", "y", "y"])
    m.outputs = ["y", "z"]
    assert_close(evaluate(m, tmp_path, precision, {"x": x}, "y"), np.stack(x), precision)
    found = evaluate(m, tmp_path, precision, {"x": x}, "z", frames=False)
    assert_close(found.reshape(()), np.stack(x).astype(np.float64).sum(), precision)
