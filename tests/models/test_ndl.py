"""Networks described in CNTK's network description language."""

import ctypes

import numpy as np
import pytest

from cntk_v1 import assert_close, evl, needs_library

pytestmark = needs_library


class Described(evl.Model):
    def __init__(self, description, precision="d"):
        self.object = None
        self.library = ctypes.CDLL(evl.library_path())
        self.real = np.dtype(np.float32 if precision == "f" else np.float64)
        pointer = ctypes.POINTER(evl.Object)()
        getattr(self.library, "GetEval" + precision.upper())(ctypes.byref(pointer))
        self.object = pointer
        self.call("CreateNetwork", description.encode())


def ndl(*statements):
    return "run=NDLNetworkBuilder\nNDLNetworkBuilder=[\n%s\n]\n" % "\n".join(statements)


def failure(description):
    with pytest.raises(evl.Failure) as caught:
        Described(description)
    return str(caught.value)


@pytest.mark.parametrize("precision", ["f", "d"])
def test_constants_are_added(precision):
    with Described(ndl("v1 = Constant(1)", "v2 = Constant(2)", 'ol = Plus(v1, v2, tag="output")',
                       "FeatureNodes = (v1)"), precision) as net:
        assert list(net.evaluate({}, ["ol"])["ol"]) == [3]
        assert net.dimensions(1) == {"ol": 1}


@pytest.mark.parametrize("precision", ["f", "d"])
def test_products_with_constants(precision):
    with Described(ndl("i1 = Input(4)", 'o1 = Times(Constant(2, rows=1, cols=4), i1, tag="output")'),
                   precision) as net:
        assert list(net.evaluate({"i1": [1, 2, 3, 4]}, ["o1"])["o1"]) == [20]


def test_statements_stand_in_any_order_and_numbers_have_names():
    with Described(ndl("o = Scale(c, h, tag=output)", "h = RowSlice(first, n, x)", "n = 2", "first=1",
                       "c = Const(3) # a comment", "x = InputValue(4)")) as net:
        assert list(net.evaluate({"x": [1, 2, 3, 4]}, ["o"])["o"]) == [6, 9]


def test_a_macro_is_called_and_its_nodes_have_names():
    with Described(ndl("twice(v, by) = [ k = Constant(by); p = Scale(k, v); out = Plus(p, v) ]",
                       "x = Input(2)", "y = twice(x, 3)", 'z = Tanh(y.p, tag="output")',
                       "OutputNodes = (y)")) as net:
        y = net.evaluate({"x": [1, 2]}, ["y.out", "z", "y.k"])
        assert list(y["y.out"]) == [4, 8]
        assert_close(y["z"], np.tanh([3.0, 6.0]), "d")
        assert list(net.dimensions(1)) == ["z", "y.out"]


def test_a_loop_closes_through_a_delay():
    with Described(ndl("x = Input(1)", "before = PastValue(1, sum, timeStep=1, "
                       "defaultHiddenActivity=0.5)", 'sum = Plus(x, before, tag="output")')) as net:
        assert list(net.evaluate({"x": [1, 2, 3]}, ["sum"])["sum"]) == [1.5, 3.5, 6.5]
        assert list(net.evaluate({"x": [1]}, ["sum"])["sum"]) == [7.5]


LSTM = """Lstm(out, cell, x, cellX2, cellX3, cellX4) = [
    wx = Parameter(cellX4, 0, init = "uniform", initValueScale = 10)
    b = Parameter(cellX4, 1, init = "fixedValue", value = 0.1);
    Wh = Parameter(cellX4, 0, init = "uniform", initValueScale = 10);
    Wci = Parameter(cell, init = "gaussian");
    dh = PastValue(out, output, timeStep = 1);  dc = PastValue(cell, ct, timeStep = 1);
    gates = Plus(Plus(Times(wx, x), b), Times(wh, dh))
    G1 = RowSlice(0, cell, gates); G2 = RowSlice(cell, cell, gates)
    G3 = RowSlice(cellX2, cell, gates);  G4 = RowSlice(cellX3, cell, gates)
    it = Sigmoid(Plus(G1, DiagTimes(Wci, dc)))
    ct = Plus(ElementTimes(Sigmoid(G3), dc), ElementTimes(it, Tanh(G2)))
    mt = ElementTimes(Sigmoid(G4), Tanh(ct));
    Wmr = Parameter(out, cell, init = "uniform", initValueScale = 10);
    output = Times(Wmr, mt);
]"""


@pytest.mark.parametrize("precision", ["f", "d"])
def test_an_lstm_in_a_macro(precision):
    """Names are found whatever their case, as CNTK's own tests ask."""
    x = np.random.default_rng(3).uniform(-1, 1, (5, 4))
    with Described(ndl(LSTM, "i1 = Input(4)", "o1 = Lstm(3, 2, i1, 4, 6, 8)", "FeatureNodes = (i1)",
                       "outputNodes = (o1)"), precision) as net:
        y = net.evaluate({"i1": x}, ["o1.output"])["o1.output"].reshape(5, 3)
        p = {n: v.T.astype(float) for n, v in net.run({}, [
            "o1." + n for n in ("wx", "b", "Wh", "Wci", "Wmr")]).items()}
    h, c, s = np.full(3, 0.1), np.full(2, 0.1), lambda v: 1 / (1 + np.exp(-v))
    for frame, row in zip(x, y):
        gates = p["o1.wx"] @ frame + p["o1.b"].ravel() + p["o1.Wh"] @ h
        i, g, f, o = gates.reshape(4, 2)
        c = s(f) * c + s(i + p["o1.Wci"].ravel() * c) * np.tanh(g)
        h = p["o1.Wmr"] @ (s(o) * np.tanh(c))
        assert_close(row, h, precision)


def test_parameters_come_from_values_and_files(tmp_path):
    (tmp_path / "w.txt").write_text("1 2 3\n4 5 6\n")
    with Described(ndl("x = Input(3)", 'w = Parameter(2, 3, init="fromFile", initFromFilePath="%s")'
                       % (tmp_path / "w.txt"), "b = Parameter(2, init=fixedValue, value=0.5)",
                       'z = Plus(Times(w, x), b, tag="output")')) as net:
        assert list(net.evaluate({"x": [1, 0, 2]}, ["z"])["z"]) == [7.5, 16.5]
    (tmp_path / "w.txt").write_text("1 2 3\n4 5\n")
    assert "does not hold 2 x 3" in failure(ndl(
        "x = Input(3)", 'w = Parameter(2, 3, init="fromFile", initFromFilePath="%s")'
        % (tmp_path / "w.txt"), 'z = Times(w, x, tag="output")'))


def test_uniform_parameters_are_those_of_cntk():
    """A cell of CNTK's own tests (EvalExtendedTests.cpp), whose results are there to the fifth place."""
    with Described(ndl(LSTM.replace("initValueScale = 10", "initValueScale = 1")
                       .replace("value = 0.1", "value = 0")
                       .replace('Wci = Parameter(cell, init = "gaussian")',
                                "Wci = Parameter(cell); Wcf = Parameter(cell); Wco = Parameter(cell)")
                       .replace("ElementTimes(Sigmoid(G3), dc)",
                                "ElementTimes(Sigmoid(Plus(G3, DiagTimes(Wcf, dc))), dc)")
                       .replace("Sigmoid(G4)", "Sigmoid(Plus(G4, DiagTimes(Wco, ct)))"),
                       "i1 = Input(4)", "o1 = Lstm(4, 1, i1, 2, 3, 4)", "outputNodes = (o1)"),
                   "f") as net:
        for expected in ([50, 10, 54, 55], [13, 2, 14, 14], [-4, 0, -4, -4]):
            y = net.evaluate({"i1": [0, 1, 2, 3]}, ["o1.output"])["o1.output"]
            assert [int(v * 100000) for v in y] == expected


def test_images_of_both_layouts_and_windows_of_any_rank():
    x = np.random.default_rng(1).uniform(-1, 1, (2, 4, 6)).round(2)  # channels, height, width
    w = np.random.default_rng(2).uniform(-1, 1, (3, 2, 3, 3)).round(2)
    with Described(ndl("x = ImageInput(6, 4, 2, imageLayout=CHW)", "W = Parameter(3, 18)",
                       "c = Convolution(W, x, {3, 3, 2}, mapCount=3, stride={1, 1, 2}, "
                       "autoPadding={true, true, false})", 'y = Pooling(c, "max", {2, 2}, '
                       'stride={2, 2}, autoPadding=false, tag="output")')) as net:
        weights = np.asfortranarray(w.reshape(3, 18)).ravel()
        y = net.run({"x": x[None], "W": weights.reshape(18, 3)}, ["y"])["y"][0]
        padded = np.pad(x, ((0, 0), (1, 1), (1, 1)))
        kernel = weights.reshape(3, 2, 3, 3)
        c = np.array([[[np.sum(k * padded[:, i:i + 3, j:j + 3]) for j in range(6)] for i in range(4)]
                      for k in kernel])
        assert_close(y, c.reshape(3, 2, 2, 3, 2).max((2, 4)), "d")
    with Described(ndl("x = ImageInput(6, 4, 2)", "y = MaxPooling(x, 2, 2, 2, 2, tag=output)")) as net:
        y = net.run({"x": x.transpose(1, 2, 0)[None]}, ["y"])["y"][0]  # height, width, channels
        assert_close(y.transpose(2, 0, 1), x.reshape(2, 2, 2, 3, 2).max((2, 4)), "d")


def test_images_are_cut_where_it_is_told_or_found():
    """Pooled by 2 and doubled again: what was at x is at 2 (x / 2) + 1 then."""
    x = np.arange(36.0).reshape(1, 1, 6, 6)
    with Described(ndl("x = ImageInput(6, 6, 1, imageLayout=CHW)", "W = Parameter(3, 3, 1, 1, "
                       "init=bilinear)", "low = Pooling(x, max, {2, 2}, stride={2, 2}, "
                       "autoPadding=false)", "up = Convolution(W, low, {3, 3, 1}, mapCount=1, "
                       "stride={2, 2, 1}, autoPadding=false, transpose=true)",
                       "found = Crop(up, x, tag=output)", "told = Crop(x, low, 2, 1, tag=output)")) as net:
        y = net.run({"x": x}, ["up", "found", "told"])
        assert y["up"].shape == (1, 1, 7, 7)
        assert np.array_equal(y["found"], y["up"][..., 1:, 1:])
        assert np.array_equal(y["told"], x[..., 1:4, 2:5])
    assert "no common image" in failure(ndl("a = ImageInput(4, 4, 1)", "b = ImageInput(2, 2, 1)",
                                            "y = Crop(a, b, tag=output)"))


def test_a_bilinear_kernel_interpolates():
    with Described(ndl("x = ImageInput(2, 2, 1, imageLayout=CHW)",
                       "W = Parameter(3, 3, 2, 2, init=bilinear, kernelWidth=3, kernelHeight=3)",
                       "y = Pass(W, tag=output)")) as net:
        w = net.run({}, ["y"])["y"]
        hat = np.outer([0.5, 1, 0.5], [0.5, 1, 0.5])
        assert_close(w, np.array([[hat, 0 * hat], [0 * hat, hat]]), "d")


def test_a_criterion_that_is_not_offered_is_left_out():
    with Described(ndl("x = Input(2)", "z = Negate(x, tag=output)",
                       "c = SEWithSM(x, z, x, tag=criterion)")) as net:
        assert list(net.evaluate({"x": [2, 3]}, ["z"])["z"]) == [-2, -3]
    assert "SequenceWithSoftmax" in failure(ndl(
        "x = Input(2)", "c = SEWithSM(x, x, x, tag=output)"))


def test_sequences_are_compared():
    with Described(ndl("a = Input(3)", "b = Input(3)", "d = EditDistanceError(a, b, squashInputs=true, "
                       "tag=eval)", "OutputNodes = (d)")) as net:
        given = {"a": np.eye(3)[[0, 0, 1, 2]], "b": np.eye(3)[[0, 1, 1, 1]]}
        assert_close(net.evaluate(given, ["d"])["d"], [1 * 4 / 3], "d")


def test_columns_are_told_by_the_product():
    with Described(ndl("x = Input(3)", "w = Parameter(2, 0, init=uniform)",
                       'z = Times(w, x, tag="output")')) as net:
        w = net.run({}, ["w"])["w"].T
        assert w.shape == (2, 3) and np.abs(w).max() <= 0.05 and len(np.unique(w)) == 6
        assert_close(net.evaluate({"x": [1, 2, 3]}, ["z"])["z"], w @ [1, 2, 3], "d")


def test_sections_and_files_hold_the_network(tmp_path):
    (tmp_path / "macros.ndl").write_text("M=[ half(v) = Scale(Constant(0.5), v) ]\n")
    (tmp_path / "net.ndl").write_text("load=M\nrun=Net\nNet=[\nx = Input(2)\nz = half(x)\n"
                                      "OutputNodes=(z)\n]\n")
    with Described('NDLNetworkBuilder=[\nnetworkDescription="%s"\nndlMacros="%s"\n]'
                   % (tmp_path / "net.ndl", tmp_path / "macros.ndl")) as net:
        (name,) = net.dimensions(1)
        assert list(net.evaluate({"x": [2, 4]}, [name])[name]) == [1, 2]
    with Described("run=Net\nNet=[ x = Input(1)\n z = Negate(x, tag=output) ]\n"
                   "NDLNetworkBuilder=[ n=1 ]") as net:
        assert list(net.evaluate({"x": [2]}, ["z"])["z"]) == [-2]


@pytest.mark.parametrize("statements, text", [
    (["z = Mystery(x)", "x = Input(1)"], "no function or macro 'Mystery'"),
    (["z = Plus(x, y)", "x = Input(1)"], "no statement 'y'"),
    (["z = z"], "made of itself"), (["z = Plus(z, z, tag=output)"], "cycle without a delay"),
    (["z = Plus(x, 1)", "x = Input(1)"], "Constant(1)"),
    (["x = Input(n)"], "'n' is no number"), (["w = Parameter(1000000, 1000000)"], "a dimension of"),
    (["m(a, b) = Plus(a, b)", "x = Input(1)", "z = m(x)"], "too few"),
    (["x = Input(1)", "w = Parameter(1, init=magic)"], "offered are fixedValue"),
    (["x = Input(1)", "w = Parameter(1, init=bilinear)"], "k, k, channels, channels"),
    (["x = Input(1)", "m = Mean(x)"], "computed from training data"),
    (["x = Input(1)", "p = Pooling(x, least, {2, 2})"], "max or average"),
    (["z = m(Input(1))", "m(a) = m(a)"], "names within each other"),
])
def test_what_is_wrong_is_told(statements, text):
    assert text in failure(ndl(*statements))


@pytest.mark.parametrize("key", ["SimpleNetworkBuilder", "BrainScriptNetworkBuilder",
                                 "ExperimentalNetworkBuilder", "createNetwork"])
def test_other_descriptions_are_refused_with_the_reason(key):
    assert "training is still to fill" in failure(key + "=[ layerSizes=2:1 ]")
