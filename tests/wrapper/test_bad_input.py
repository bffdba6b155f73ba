"""What a user may do wrong, with the real library: the status, a text that says what to do, and
an object that is as it was."""

import ctypes
import locale

import numpy as np
import pytest

import CNTKPythonWrapper
import evallib
from packages import DATA, ROOT

DIGITS = ROOT / "samples" / "digits"
FILES = {"dnn": DIGITS / "digits.dnn", "onnx": DIGITS / "digits.onnx", "v2": DATA / "cntk2" / "recurrent.model"}
IMAGE = np.arange(784) * 37 % 256


class Used:
    """An object with a network; `fails` shows that it gives the same numbers after each failure."""

    def __init__(self, kind):
        self.model = kind()
        self.model.CreateNetwork(f'modelPath="{FILES["dnn"]}"')
        self.expected = self.scores()

    def scores(self):
        return self.model.Evaluate({"features": IMAGE}, ["ol.z"])["ol.z"].tolist()

    def fails(self, error, *words):
        used = self

        class Expecting:
            def __enter__(self):
                pass

            def __exit__(self, kind, caught, _):
                assert kind is error, caught
                assert not [word for word in words if word not in str(caught)], str(caught)
                assert used.scores() == used.expected
                return True
        return Expecting()


@pytest.fixture(params=[evallib.ModelF, evallib.ModelD])
def used(request):
    return Used(request.param)


def test_files_that_are_no_models(used, tmp_path):
    cases = {"missing": (None, evallib.FileError, "no such file"), "empty": (b"", evallib.FormatError, "empty"),
             "text": (b"this is text\n" * 9, evallib.FormatError, "ONNX and CNTK models are read"),
             "bytes": (bytes(range(1, 200)), evallib.FormatError, "ONNX and CNTK models are read"),
             "archive": (b"PK\x03\x04" + bytes(99), evallib.UnsupportedError, "zip archive")}
    for name, (content, error, words) in cases.items():
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with used.fails(error, name, words):
            used.model.CreateNetwork(f'modelPath="{tmp_path / name}"')
    with used.fails(evallib.FileError, str(tmp_path), "is a directory; a regular file is needed"):
        used.model.CreateNetwork(f'modelPath="{tmp_path}"')


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_cut_anywhere(used, tmp_path, name):
    whole = FILES[name].read_bytes()
    for share in (0.01, 0.1, 0.5, 0.9, 0.999):
        (tmp_path / "cut").write_bytes(whole[:int(len(whole) * share)])
        with used.fails(evallib.FormatError, "cut"):
            used.model.CreateNetwork(f'modelPath="{tmp_path / "cut"}"')


def test_all_operators_that_are_not_offered_are_listed(used, tmp_path):
    onnx = pytest.importorskip("onnx")
    helper, float32 = onnx.helper, onnx.TensorProto.FLOAT
    value = helper.make_tensor_value_info
    inner = helper.make_graph([helper.make_node("Third", ["x"], ["t"], name="inside")], "then", [],
                              [value("t", float32, [2])])
    other = helper.make_graph([helper.make_node("Abs", ["x"], ["e"])], "else", [], [value("e", float32, [2])])
    nodes = [helper.make_node("First", ["x"], ["a"], name="one"),
             helper.make_node("Second", ["a"], ["b"], name="two", domain="some.domain"),
             helper.make_node("If", ["c"], ["d"], then_branch=inner, else_branch=other),
             helper.make_node("First", ["d"], ["y"])]
    graph = helper.make_graph(nodes, "g", [value("x", float32, [2]), value("c", onnx.TensorProto.BOOL, [])],
                              [value("y", float32, [2])])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("some.domain", 3)])
    (tmp_path / "unknown").write_bytes(made.SerializeToString())
    with used.fails(evallib.UnsupportedError, "node 'one': operator First (ai.onnx, opset 21)",
                    "node 'two': operator Second (some.domain, opset 3)", "node 'inside': operator Third",
                    "node 'y': operator First"):
        used.model.CreateNetwork(f'modelPath="{tmp_path / "unknown"}"')


@pytest.mark.parametrize("text, error, words", [
    ("deviceId=-1", evallib.ArgumentError, 'modelPath="..."'),
    ('modelPath="no end', evallib.ArgumentError, "line 1"),
    (f'modelPath="{FILES["dnn"]}"\n\nnumCPUThreads=many', evallib.ArgumentError, "line 3: numCPUThreads='many'"),
    (f'modelPath="{FILES["dnn"]}"\nstrict=true\nnoKey=1', evallib.ArgumentError, "'noKey'"),
    (f'modelPath="{FILES["dnn"]}"\noutputNodeNames="ol.zz"', evallib.NotFoundError, "near names:\nol.z"),
    (f'modelPath="{FILES["dnn"]}"\nmaxMemory=1000', evallib.OutOfMemoryError, "maxMemory allows 1000"),
    (f'modelPath="{FILES["dnn"]}"\nmaxNodes=3', evallib.LimitError, "maxNodes")])
def test_settings_that_cannot_be(used, text, error, words):
    with used.fails(error, words):
        used.model.CreateNetwork(text)


def test_names_and_lengths(used):
    model, near = used.model, "near names:\nfeatures"
    with used.fails(evallib.NotFoundError, "'featurs'", near):
        model.Evaluate({"featurs": IMAGE}, ["ol.z"])
    with used.fails(evallib.NotFoundError, "'ol.y'", "ol.z"):
        model.Evaluate({"features": IMAGE}, ["ol.y"])
    with used.fails(evallib.NotFoundError, "'ol.y'", "ol.z"):
        model.StartEvaluateMinibatchLoop("ol.y")
    with used.fails(evallib.NotFoundError, "'featurs'", near):
        model.GetNodeDimensions("specified", ["features", "featurs"])
    with used.fails(evallib.NotFoundError, "'nobody'", "its inputs:\nfeatures", "its outputs:\nol.z"):
        model.Run({"nobody": IMAGE}, ["ol.z"])
    for n in (1, 783, 785, 2 * 784 - 1):
        with used.fails(evallib.ShapeError, "'features'", str(n), "784"):
            model.Evaluate({"features": np.resize(IMAGE, n)}, ["ol.z"])
    with used.fails(evallib.ShapeError, "shape [2,28,28], expected [?,1,28,28]"):
        model.Run({"features": np.zeros((2, 28, 28), np.float32)}, ["ol.z"])
    with used.fails(evallib.ArgumentError, "not given:\nfeatures"):
        model.Evaluate({}, ["ol.z"])
    with used.fails(evallib.ArgumentError, "outputs"):
        model.Evaluate({"features": IMAGE}, [])


@pytest.mark.parametrize("sizes, error", [([1 << 40, 1 << 40], evallib.LimitError), ([1 << 62, 4], evallib.LimitError),
                                          ([-5, 2], evallib.ShapeError), ([1 << 36, 1], evallib.OutOfMemoryError)])
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_absurd_sizes(tmp_path, precision, sizes, error):
    onnx = pytest.importorskip("onnx")
    helper, value = onnx.helper, onnx.helper.make_tensor_value_info
    graph = helper.make_graph([helper.make_node("Expand", ["x", "sizes"], ["y"], name="large")], "g",
                              [value("x", onnx.TensorProto.FLOAT, [1]), value("sizes", onnx.TensorProto.INT64, [2])],
                              [value("y", onnx.TensorProto.FLOAT, None)])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    (tmp_path / "m").write_bytes(made.SerializeToString())
    with evallib.load(tmp_path / "m", precision, maxMemory=1 << 30) as model:
        x = np.ones(1, np.float32)
        with pytest.raises(error, match="node 'large'"):
            model.run({"x": x, "sizes": np.array(sizes)})
        assert model.run({"x": x, "sizes": np.array([3, 2])})["y"].tolist() == [[1, 1]] * 3


@pytest.mark.parametrize("kind", [evallib.ModelF, evallib.ModelD])
def test_calls_in_the_wrong_order(kind):
    model = kind()
    calls = [lambda: model.Evaluate({"features": IMAGE}, ["ol.z"]), lambda: model.GetNodeDimensions("input"),
             lambda: model.StartEvaluateMinibatchLoop("ol.z"), lambda: model.ResetState(),
             lambda: model.Run({"features": IMAGE}, ["ol.z"]), lambda: model.Evaluate({}, ["ol.z"])]
    for call in calls:
        with pytest.raises(evallib.StateError, match="CreateNetwork first"):
            call()
    model.CreateNetwork(f'modelPath="{FILES["dnn"]}"')
    assert len(calls[0]()["ol.z"]) == 10
    model.Destroy()
    model.Destroy()
    for call in calls + [lambda: model.Init(""), lambda: model.CreateNetwork(""), lambda: model.Clone()]:
        with pytest.raises(evallib.StateError, match=r"^Object has been disposed\.$"):
            call()


@pytest.mark.parametrize("name", ["IPythonEvaluateModelF", "IPythonEvaluateModelD"])
def test_outputs_without_inputs_are_the_parameters_numbers(name):
    model = getattr(CNTKPythonWrapper, name)()
    model.CreateNetwork(f'modelPath="{FILES["dnn"]}"')
    with evallib.load(FILES["dnn"], "float64") as exact:
        expected = exact.run({}, ["ol.b"])["ol.b"]
    assert expected.size == 10 and np.abs(expected).max() > 0
    assert model.Evaluate("ol.b", 10) == expected.ravel().astype(np.float32).tolist()
    with pytest.raises(evallib.ArgumentError, match="not given:\nfeatures"):
        model.Evaluate("ol.z", 10)


@pytest.fixture
def german():
    before = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
    except locale.Error:
        pytest.skip("there is no German locale")
    yield "de_DE.UTF-8"
    locale.setlocale(locale.LC_ALL, before)


def test_a_german_locale_changes_nothing_and_stays(used, german):
    assert locale.localeconv()["decimal_point"] == ","
    assert used.scores() == used.expected
    other = Used(type(used.model))
    assert other.expected == used.expected
    assert locale.setlocale(locale.LC_ALL) == german or "LC_NUMERIC=de_DE.UTF-8" in locale.setlocale(locale.LC_ALL)


@pytest.mark.parametrize("mode", ["upward", "downward", "to zero"])
def test_another_rounding_mode_changes_nothing_and_stays(used, mode):
    libm = ctypes.CDLL("libm.so.6")
    nearest = libm.fegetround()
    wanted = {"upward": 0x800, "downward": 0x400, "to zero": 0xC00}[mode]
    if libm.fesetround(wanted):
        pytest.skip("this processor calls its modes otherwise")
    try:
        scores, after = used.scores(), libm.fegetround()
    finally:
        libm.fesetround(nearest)
    assert scores == used.expected and after == wanted
