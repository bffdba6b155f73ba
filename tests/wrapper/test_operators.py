"""Operators written in Python, and plug-ins, in models of the real library."""
import concurrent.futures
import subprocess

import numpy as np
import pytest

import evallib
from packages import ROOT

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402

X = np.linspace(-3, 3, 12).reshape(4, 3)
both = pytest.mark.parametrize("precision", ["float32", "float64"])


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    """What a test registers serves that test alone."""
    monkeypatch.setattr(evallib._plugins, "_operators", {})
    monkeypatch.setattr(evallib._plugins, "_plugins", [])


def save(path, *nodes, outputs=("y",), real=TensorProto.FLOAT, opset=17):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", real, ["n", 3])],
                              [helper.make_tensor_value_info(o, real, None) for o in outputs])
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("my.domain", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def node(op, i=("x",), o=("y",), **attributes):
    return helper.make_node(op, list(i), list(o), name=f"the_{op}", domain="my.domain", **attributes)


@both
def test_a_function_is_an_operator(tmp_path, precision):
    @evallib.op("my.domain", "Scale", shape=lambda x, factor, names: x)
    def scale(x, factor, names):
        assert x.dtype == precision and names == ["a", "b"]
        return x * factor

    path = save(tmp_path / "m.onnx", node("Scale", factor=2.5, names=["a", "b"]))
    model = evallib.load(path, precision)
    for n in (4, 1, 0):
        np.testing.assert_allclose(model(X[:n]), 2.5 * X[:n], rtol=1e-6)


@both
def test_without_a_shape_rule_it_runs_once_a_call(tmp_path, precision):
    calls = []

    @evallib.op("my.domain", "Positive")
    def positive(x):
        calls.append(x)
        return x[x > 0]

    path = save(tmp_path / "m.onnx", node("Positive", o=["p"]), helper.make_node("Neg", ["p"], ["y"]))
    model = evallib.load(path, precision)
    for x in (X, X[2:], X[:1]):
        calls.clear()
        np.testing.assert_allclose(model(x), -x[x > 0], rtol=1e-6)
        assert len(calls) == 1


def test_a_profile_shows_bodies_and_who_computes(tmp_path):
    @evallib.op("my.domain", "Twice", shape=lambda x: x)
    def twice(x):
        return 2 * x

    taken = helper.make_graph([node("Twice", o=["t"])], "b", [], [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)])
    other = helper.make_graph([helper.make_node("Identity", ["x"], ["u"])], "b", [],
                              [helper.make_tensor_value_info("u", TensorProto.FLOAT, None)])
    nodes = [helper.make_node("ReduceSum", ["x"], ["s"], keepdims=0), helper.make_node("Cast", ["s"], ["c"], to=TensorProto.BOOL),
             helper.make_node("If", ["c"], ["y"], "which", then_branch=taken, else_branch=other)]
    model = evallib.load(save(tmp_path / "m.onnx", *nodes))
    steps = model.profile({"x": np.ones((4, 3))})
    assert all(isinstance(step, evallib.Step) and step.seconds >= 0 for step in steps)
    inner, outer = steps[-2:]
    assert inner[:5] == ("the_Twice", "Twice", "my.domain", "python", 1)
    assert (outer.name, outer.op, outer.depth) == ("which", "If", 0) and outer.seconds >= inner.seconds
    with pytest.raises(TypeError, match="steps must be a list, not tuple"):
        evallib.ModelF().Run({}, steps=())
    with pytest.raises(evallib.ShapeError):
        model.profile({"x": np.ones((4, 5))})


def test_several_outputs_of_other_types(tmp_path):
    @evallib.op("my.domain", "Split", outputs=2, types=["float32", "int64"],
                shape=lambda x: [x, (x[0],) if x else None])
    def split(x):
        return x + 1, np.argmax(x, axis=1)

    path = save(tmp_path / "m.onnx", node("Split", o=["y", "i"]), outputs=("y",))
    y = evallib.load(path).run({"x": X}, ["y", "i"])
    np.testing.assert_allclose(y["y"], X.astype("f") + 1)
    assert y["i"].dtype == np.int64 and y["i"].tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize("rule", [lambda x: x, None])
def test_texts_come_and_go(tmp_path, rule):
    evallib.op("my.domain", "Spell", shape=rule, types=["str"])(lambda x: np.vectorize("<{:g}>".format, otypes="O")(x))
    evallib.op("my.domain", "Length", shape=rule, types=["int64"])(lambda x: np.vectorize(len, otypes="l")(x))
    evallib.op("my.domain", "Shout", shape=rule)(lambda x: np.vectorize(lambda t: t.upper().encode(), otypes="O")(x))
    path = save(tmp_path / "m.onnx", node("Spell", o=["s"]), helper.make_node("StringConcat", ["s", "s"], ["t"], domain=""),
                node("Shout", ["t"], ["y"]), node("Length", ["y"], ["n"]), outputs=("y", "n"), opset=20)
    model = evallib.load(path)
    for x in (X, X[:1], X[:0] if rule else X):
        y = model.run({"x": x * 1e30})
        wanted = [[f"<{v:g}>".upper() * 2 for v in row] for row in (x * 1e30).astype("f")]
        assert y["y"].tolist() == wanted and y["n"].tolist() == [[len(t) for t in row] for row in wanted]


def test_a_text_that_is_none_is_told(tmp_path):
    evallib.op("my.domain", "Spell", shape=lambda x: x, types=[object])(lambda x: np.full(x.shape, 1, object))
    with pytest.raises(TypeError, match="str or bytes, not int"):
        evallib.load(save(tmp_path / "m.onnx", node("Spell")))(X)


def test_types_that_cannot_be_are_told_where_it_is_registered():
    for types, outputs, text in ((["float32"], 2, "1 types for 2 outputs"), (["datetime64[s]"], 1, "datetime64")):
        with pytest.raises((TypeError, ValueError), match=text):
            evallib.op("my.domain", "Odd", types=types, outputs=outputs)(lambda x: x)
    assert not evallib._plugins._operators


def test_an_input_that_is_left_out_has_no_shape_and_no_array(tmp_path):
    seen = []

    @evallib.op("my.domain", "Three", shape=lambda x, middle, last: (seen.append(middle), x)[1])
    def three(x, middle, last):
        assert middle is None
        return x + last

    np.testing.assert_allclose(evallib.load(save(tmp_path / "m.onnx", node("Three", ["x", "", "x"])))(X), 2 * X, rtol=1e-6)
    assert seen and set(seen) == {None}


def test_what_it_raises_comes_back_as_it_is_with_the_nodes_name(tmp_path):
    class Mine(Exception):
        pass

    raised = Mine("no luck today")

    @evallib.op("my.domain", "Fail", shape=lambda x: x)
    def fail(x):
        if x.shape[0] == 4:
            raise raised
        return x

    model = evallib.load(save(tmp_path / "m.onnx", node("Fail")))
    for _ in range(2):
        with pytest.raises(Mine) as caught:
            model(X)
        assert caught.value is raised and "in node 'the_Fail' (Fail)" in raised.__notes__
        np.testing.assert_allclose(model(X[:2]), X[:2], rtol=1e-6)   # and the model goes on


@pytest.mark.parametrize("result, text", [(lambda x: x[:1], "another shape"), (lambda x: (x, x), "1 outputs are wanted"),
                                          (lambda x: "text", "could not convert")])
def test_results_that_do_not_fit_are_told(tmp_path, result, text):
    evallib.op("my.domain", "Odd", shape=lambda x: x)(result)
    with pytest.raises(ValueError, match=text):
        evallib.load(save(tmp_path / "m.onnx", node("Odd")))(X)


def test_a_shape_rule_that_raises_fails_the_load(tmp_path):
    @evallib.op("my.domain", "Bad", shape=lambda x: 1 / 0)
    def bad(x):
        return x

    with pytest.raises(ZeroDivisionError):
        evallib.load(save(tmp_path / "m.onnx", node("Bad")))


def test_the_first_of_two_rules_that_raise_comes_back(tmp_path):
    def branch(name):
        return helper.make_graph([node(name, o=[name])], name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)])

    def raising(text):
        def rule(x):
            raise ZeroDivisionError(text)
        return rule

    for name in ("First", "Second"):
        evallib.op("my.domain", name, shape=raising(name))(lambda x: x)
    c = onnx.numpy_helper.from_array(np.array(True), "c")
    made = helper.make_node("If", ["c"], ["y"], then_branch=branch("First"), else_branch=branch("Second"))
    with pytest.raises(ZeroDivisionError) as caught:
        evallib.load(save(tmp_path / "m.onnx", helper.make_node("Constant", [], ["c"], value=c), made))(X)
    name = str(caught.value)
    assert name in ("First", "Second") and caught.value.__notes__ == [f"in node 'the_{name}' ({name})"]


def test_it_takes_the_place_of_a_standard_operator(tmp_path):
    path = save(tmp_path / "m.onnx", helper.make_node("Relu", ["x"], ["y"]))
    evallib.op("", "Relu", shape=lambda x: x)(lambda x: x * 0 + 7)
    changed = evallib.load(path)
    evallib._plugins._operators.clear()
    np.testing.assert_array_equal(changed(X), np.full((4, 3), 7))
    np.testing.assert_array_equal(evallib.load(path)(X), np.maximum(X, 0).astype("f"))


def test_eight_threads_and_a_clone(tmp_path):
    evallib.op("my.domain", "Twice")(lambda x: 2 * x)
    model = evallib.load(save(tmp_path / "m.onnx", node("Twice")), "float64", threads=2)
    copy = model.clone()
    model.close()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for k, y in enumerate(pool.map(lambda k: copy(X + k), range(200))):
            np.testing.assert_array_equal(y, 2 * (X + k))


def built(folder, sample):
    plugin = folder / f"{sample}.so"
    subprocess.run(["cc", "-std=c11", "-O2", "-shared", "-fPIC", "-I", str(ROOT / "include"),
                    str(ROOT / "samples/plugin" / f"{sample}.c"), "-o", str(plugin), "-lm"], check=True)
    return plugin


def test_a_profile_names_the_kernels_of_a_plugin(tmp_path):
    path = save(tmp_path / "m.onnx", helper.make_node("Transpose", ["x"], ["t"]),
                helper.make_node("MatMul", ["x", "t"], ["y"], "product"))
    for plugins, method in (([built(tmp_path, "gemm")], "strips"), ([], "packing")):
        step = evallib.load(path, plugins=plugins).profile({"x": np.ones((40, 3))})[-1]
        assert (step.name, step.method) == ("product", method)


def test_a_plugin_is_loaded_for_one_model_or_for_all(tmp_path):
    plugin = built(tmp_path, "swish")
    path = save(tmp_path / "m.onnx", node("Swish"))
    wanted = X / (1 + np.exp(-X))
    np.testing.assert_allclose(evallib.load(path, "float64", plugins=[plugin])(X), wanted)
    with pytest.raises(evallib.UnsupportedError, match="Swish"):
        evallib.load(path)
    evallib.load_plugin(plugin)
    np.testing.assert_allclose(evallib.load(path, "float64")(X), wanted)
    session = evallib.InferenceSession(path)
    np.testing.assert_allclose(session.run(None, {"x": X.astype("f")})[0], wanted, rtol=1e-5)
    with pytest.raises(evallib.FileError, match="none.so"):
        evallib.load_plugin(tmp_path / "none.so")
