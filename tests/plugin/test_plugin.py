"""Plug-ins loaded by path, by name and by settings: what they bring, and what happens to bad ones."""
import concurrent.futures, ctypes, os, pathlib, shutil, subprocess, sys

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper   # noqa: E402

from building import ROOT, compiled   # noqa: E402
from evallib_ctypes import Failure, Model, NAMES, library_path   # noqa: E402

needs_library = pytest.mark.skipif(library_path() is None, reason="no library: set EVALLIB_LIBRARY")
pytestmark = needs_library
both = pytest.mark.parametrize("precision, real", [("f", np.float32), ("d", np.float64)])


def save(path, nodes, inputs=(("x", ["n", 3]),), outputs=("y",), constants=(), real=TensorProto.FLOAT):
    infos = [helper.make_tensor_value_info(name, real if name != "c" else TensorProto.BOOL, shape)
             for name, shape in inputs]
    graph = helper.make_graph(nodes, "g", infos,
                              [helper.make_tensor_value_info(o, real, None) for o in outputs], list(constants))
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my.domain", 1), helper.make_opsetid("odd.domain", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def swish(x, beta=1.0):
    return x / (1 + np.exp(-beta * x))


def node(op="Swish", domain="my.domain", i="x", o="y", **attributes):
    return helper.make_node(op, [i], [o], domain=domain, name="the_" + op, **attributes)


X = np.linspace(-3, 3, 12).reshape(4, 3)


@both
@pytest.mark.parametrize("how", [dict(), dict(compiler="clang"), dict(compiler="g++", language=("-x", "c++", "-std=c++11"))])
def test_an_operator_of_a_plugin_computes(built, tmp_path, precision, real, how):
    path = save(tmp_path / "m.onnx", [node(beta=0.5)])
    with Model(path, precision, f'plugins="{built("swish", **how)}"') as m:
        y = m.run({"x": X.astype(real)}, ["y"])["y"]
    np.testing.assert_allclose(y, swish(X, 0.5), rtol=1e-6 if precision == "f" else 1e-14)


@both
@pytest.mark.parametrize("how", [dict(), dict(compiler="clang"), dict(compiler="g++", language=("-x", "c++", "-std=c++11"))])
def test_a_pass_of_a_plugin_fuses(built, tmp_path, precision, real, how):
    nodes = [helper.make_node("Sigmoid", ["x"], ["s"]), helper.make_node("Mul", ["s", "x"], ["y"])]
    path = save(tmp_path / "m.onnx", nodes)
    fuse, x = built("fuse", **how), X.astype(real)
    with Model(path, precision, f'plugins="{fuse}":"{built("swish")}"') as m:
        np.testing.assert_allclose(m.run({"x": x}, ["y"])["y"], swish(X), rtol=1e-6)
    with Model(path, precision, f'plugins="{fuse}"') as m:   # what it puts there is nobody's
        with pytest.raises(Failure, match="pass 'fuse swish' of plug-in 'fuse'.*operator 'Swish' is not offered"):
            m.run({"x": x}, ["y"])


def test_without_its_plugin_a_model_is_refused_and_names_the_node(tmp_path):
    with pytest.raises(Failure, match="the_Swish.*Swish.*my.domain") as caught:
        Model(save(tmp_path / "m.onnx", [node()]))
    assert NAMES[caught.value.status] == "unsupported"


def test_a_plugin_is_found_by_name_in_the_folders_of_pluginPath(built, tmp_path):
    path = save(tmp_path / "m.onnx", [node()])
    shutil.copy(built("swish"), tmp_path / "libswishy.so")
    for name in ("swishy", "libswishy", "libswishy.so"):
        with Model(path, "f", f'pluginPath=/nowhere:"{tmp_path}"\nplugins={name}') as m:
            np.testing.assert_allclose(m.run({"x": X.astype("f")}, ["y"])["y"], swish(X), rtol=1e-6)
    with pytest.raises(Failure, match="nowhere"):
        Model(path, "f", 'pluginPath=/nowhere\nplugins=swishy')
    with pytest.raises(Failure, match="pluginPath"):
        Model(path, "f", 'plugins=swishy')


@both
def test_in_the_bodies_of_an_if(built, tmp_path, precision, real):
    def branch(name, nodes):
        return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info("r_" + name, TensorProto.FLOAT, None)])
    made = helper.make_node("If", ["c"], ["y"], then_branch=branch("a", [node(o="r_a")]),
                            else_branch=branch("b", [helper.make_node("Neg", ["x"], ["r_b"])]))
    path = save(tmp_path / "m.onnx", [made], [("x", ["n", 3]), ("c", [])])
    with Model(path, precision, f'plugins="{built("swish")}"') as m:
        for c, wanted in ((True, swish(X)), (False, -X)):
            y = m.run({"x": X.astype(real), "c": np.array(c)}, ["y"])["y"]
            np.testing.assert_allclose(y, wanted, rtol=1e-6)


def value(name, shape=None, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


@both
def test_in_the_body_of_a_loop(built, tmp_path, precision, real):
    """y = swish of swish of swish of x, and what it was after each trip."""
    body = helper.make_graph(
        [node(i="before", o="after"), helper.make_node("Identity", ["go"], ["on"]),
         helper.make_node("Identity", ["after"], ["shown"])], "body",
        [value("trip", [], TensorProto.INT64), value("go", [], TensorProto.BOOL), value("before")],
        [value("on", [], TensorProto.BOOL), value("after"), value("shown")])
    three = onnx.numpy_helper.from_array(np.array(3, np.int64), "three")
    made = helper.make_node("Loop", ["three", "", "x"], ["y", "all"], body=body)
    path = save(tmp_path / "m.onnx", [made], outputs=("y", "all"), constants=[three])
    wanted = [swish(X), swish(swish(X)), swish(swish(swish(X)))]
    with Model(path, precision, f'plugins="{built("swish")}"') as m:
        got = m.run({"x": X.astype(real)}, ["y", "all"])
    np.testing.assert_allclose(got["y"], wanted[-1], rtol=1e-5)
    np.testing.assert_allclose(got["all"], wanted, rtol=1e-5)


@both
def test_in_the_body_of_a_scan(built, tmp_path, precision, real):
    """s = swish(s + row), row by row."""
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "row"], ["sum"]), node(i="sum", o="next"),
         helper.make_node("Identity", ["next"], ["shown"])], "body",
        [value("s"), value("row")], [value("next"), value("shown")])
    zeros = onnx.numpy_helper.from_array(np.zeros(3, "f"), "zeros")
    made = helper.make_node("Scan", ["zeros", "x"], ["last", "y"], body=body, num_scan_inputs=1)
    path = save(tmp_path / "m.onnx", [made], outputs=("last", "y"), constants=[zeros])
    s, wanted = np.zeros(3), []
    for row in X:
        s = swish(s + row)
        wanted.append(s)
    with Model(path, precision, f'plugins="{built("swish")}"') as m:
        got = m.run({"x": X.astype(real)}, ["last", "y"])
    np.testing.assert_allclose(got["y"], wanted, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(got["last"], wanted[-1], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("kind", ["Loop", "Scan", "If"])
def test_what_fails_in_a_body_names_the_node(built, tmp_path, kind):
    odd = node("Odd", "odd.domain", i="before", o="after")
    carried = [value("go", [], TensorProto.BOOL)] if kind == "Loop" else []
    ins = [value("trip", [], TensorProto.INT64), *carried, value("before")] if kind == "Loop" else [value("before")]
    if kind == "If":
        odd.input[0], ins = "x", []
    nodes = [odd] + ([helper.make_node("Identity", ["go"], ["on"])] if kind == "Loop" else [])
    outs = ([value("on", [], TensorProto.BOOL)] if kind == "Loop" else []) + [value("after")]
    body = helper.make_graph(nodes, "body", ins, outs)
    two = onnx.numpy_helper.from_array(np.array(2, np.int64), "two")
    made = {"Loop": lambda: helper.make_node("Loop", ["two", "", "x"], ["y"], body=body),
            "Scan": lambda: helper.make_node("Scan", ["x"], ["y"], body=body, num_scan_inputs=1),
            "If": lambda: helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body)}[kind]()
    inputs = [("x", ["n", 3])] + ([("c", [])] if kind == "If" else [])
    path = save(tmp_path / "m.onnx", [made], inputs, constants=[two])
    given = {"x": X.astype("f"), **({"c": np.array(True)} if kind == "If" else {})}
    with Model(path, "f", f'plugins="{built("odd", 10)}"') as m:
        for _ in range(2):
            with pytest.raises(Failure, match="the_Odd.*Odd.*plug-in 'odd': it broke"):
                m.run(given, ["y"])


def test_eight_threads_share_one_model_and_four_compute_each_call(built, tmp_path):
    path, x = save(tmp_path / "m.onnx", [node()]), np.random.default_rng(1).normal(size=(20000, 3))
    with Model(path, "d", f'plugins="{built("swish")}"\nnumCPUThreads=4') as m, \
            concurrent.futures.ThreadPoolExecutor(8) as pool:
        for y in pool.map(lambda _: m.run({"x": x}, ["y"])["y"], range(40)):
            np.testing.assert_allclose(y, swish(x), rtol=1e-13)


@both
def test_it_replaces_a_built_in_operator(built, tmp_path, precision, real):
    path = save(tmp_path / "m.onnx", [helper.make_node("Relu", ["x"], ["y"])])
    with Model(path, precision, f'plugins="{built("odd", 0)}"') as m:
        np.testing.assert_array_equal(m.run({"x": X.astype(real)}, ["y"])["y"], 2 * X.astype(real))
    with Model(path, precision) as m:
        np.testing.assert_array_equal(m.run({"x": X.astype(real)}, ["y"])["y"], np.maximum(X, 0).astype(real))


@both
def test_it_computes_in_a_recurrent_cntk_network(built, tmp_path, precision, real):
    sys.path.insert(0, str(ROOT / "tests" / "models"))
    from cntk_v1 import cntk1
    m = cntk1.Model(14)
    m.add("InputValue", "x", shape=[2])
    m.add("PastValue", "before", ["h"], shape=[2], step=1, initial=0.5)
    m.add("Plus", "sum", ["x", "before"])
    m.add("RectifiedLinear", "h", ["sum"])
    m.outputs = ["h"]
    m.save(tmp_path / "net.model")
    x, h, wanted = np.linspace(-1, 1, 14).reshape(7, 2), np.full(2, 0.5), []
    for row in x:
        h = 2 * (row + h)
        wanted.append(h)
    with Model(tmp_path / "net.model", precision, f'plugins="{built("odd", 0)}"') as net:
        first = net.evaluate({"x": x[:3]}, ["h"])["h"]
        rest = net.evaluate({"x": x[3:]}, ["h"])["h"]
    np.testing.assert_allclose(np.concatenate([first, rest]).reshape(7, 2), wanted, rtol=1e-5)


@both
def test_a_reader_of_a_plugin_reads_its_format(built, tmp_path, precision, real):
    (tmp_path / "m.csv").write_text("linear-csv,3,2\n0.5,1\n-1,2\n0.25,3\n10,20\n")
    with Model(tmp_path / "m.csv", precision, f'plugins="{built("linear")}"') as m:
        w = np.array([[0.5, 1], [-1, 2], [0.25, 3]])
        np.testing.assert_allclose(m.run({"x": X.astype(real)}, ["y"])["y"], X @ w + [10, 20], rtol=1e-5)
        assert m.dimensions(0) == {"x": 3}
    (tmp_path / "bad.csv").write_text("linear-csv,3,2\n0.5,1\n-1,two\n")
    with pytest.raises(Failure, match="plug-in 'linear'.*missing or broken at byte") as caught:
        Model(tmp_path / "bad.csv", precision, f'plugins="{built("linear")}"')
    assert NAMES[caught.value.status] == "format"
    with pytest.raises(Failure, match="text, and no model"):
        Model(tmp_path / "m.csv", precision)


@both
def test_a_kernel_of_a_plugin_multiplies(built, tmp_path, precision, real):
    rng = np.random.default_rng(3)
    x, w = rng.normal(size=(3, 70, 90)).astype(real), rng.normal(size=(90, 50)).astype("f")
    constant = onnx.numpy_helper.from_array(w, "w")
    path = save(tmp_path / "m.onnx", [helper.make_node("MatMul", ["x", "w"], ["y"])],
                [("x", [3, "n", 90])], constants=[constant])
    (tmp_path / "wrong.c").write_text((ROOT / "samples/plugin/gemm.c").read_text().replace(
        '"strips", 10', '"wrong", 5').replace("= sum[q]", "= 1"))
    wrong = compiled(tmp_path / "wrong.c", tmp_path / "wrong.so")
    for plugins, wanted in ((f'"{wrong}"', np.ones((3, 70, 50))), (f'"{wrong}":"{built("gemm")}"', x.astype(float) @ w)):
        with Model(path, precision, f"plugins={plugins}\nnumCPUThreads=2") as m:   # the higher score wins
            np.testing.assert_allclose(m.run({"x": x}, ["y"])["y"], wanted, rtol=1e-4, atol=1e-4)


# Which build of odd.c, where it fails, how, and what the text names.
LOADING = [(1, "plugin", "gives no table"), (2, "plugin", "interface 7.*has 1"), (3, "plugin", "newer library"),
           (4, "state", "odd.*the moon is not full, day 12"), (14, "plugin", "no Run"), (15, "plugin", "without a name")]
RUNNING = [(5, "plugin", "the_Odd.*Infer gives output 0 the rank 99"), (6, "plugin", "dimension of -5"),
           (7, "plugin", "element type that there is not, 77"), (10, "plugin", "the_Odd.*Odd.*it broke"),
           (11, "shape", "the_Odd.*gives no reason"), (12, "shape", "only on Sundays"), (13, "limit", "scratch"),
           (16, "plugin", "4711"), (8, "plugin", "leaves the shape of output 0 open")]


@pytest.mark.parametrize("odd, status, text", LOADING)
def test_a_plugin_that_cannot_be_loaded_is_told(built, tmp_path, odd, status, text):
    path = save(tmp_path / "m.onnx", [node("Odd", "odd.domain")])
    with pytest.raises(Failure, match=text) as caught:
        Model(path, "f", f'plugins="{built("odd", odd)}"')
    assert NAMES[caught.value.status] == status


@both
@pytest.mark.parametrize("odd, status, text", RUNNING)
def test_a_plugin_that_fails_is_told_and_the_rest_goes_on(built, tmp_path, precision, real, odd, status, text):
    nodes = [node("Odd", "odd.domain"), helper.make_node("Neg", ["x"], ["z"])]
    path = save(tmp_path / "m.onnx", nodes, outputs=("y", "z"))
    try:
        m = Model(path, precision, f'plugins="{built("odd", odd)}"')
    except Failure as failure:   # a shape rule is asked when the model is loaded
        assert NAMES[failure.status] == status and __import__("re").search(text, failure.text, __import__("re").S)
        return
    with m:
        for _ in range(2):
            with pytest.raises(Failure, match="(?s)" + text) as caught:
                m.run({"x": X.astype(real)}, ["y"])
            assert NAMES[caught.value.status] == status
            np.testing.assert_array_equal(m.run({"x": X.astype(real)}, ["z"])["z"], -X.astype(real))


@both
def test_what_is_not_written_is_zero(built, tmp_path, precision, real):
    nodes = [helper.make_node("Exp", ["x"], ["e"]), node("Odd", "odd.domain", i="e")]
    with Model(save(tmp_path / "m.onnx", nodes), precision, f'plugins="{built("odd", 9)}"') as m:
        for _ in range(3):
            assert not m.run({"x": X.astype(real)}, ["y"])["y"].any()


def test_files_that_are_no_plugin_are_told(tmp_path, built):
    path = save(tmp_path / "m.onnx", [node()])
    (tmp_path / "text.so").write_text("I am no library")
    (tmp_path / "plain.c").write_text("int nothing(void); int nothing(void) { return 1; }")
    plain = compiled(tmp_path / "plain.c", tmp_path / "plain.so")
    for name, text, status in (("text.so", "cannot be opened", "plugin"), ("none.so", "no such file", "io"),
                               (plain.name, "no function EvalPluginEntry", "plugin"), (".", "cannot be opened", "plugin")):
        with pytest.raises(Failure, match=text) as caught:
            Model(path, "f", f'plugins="{tmp_path}/{name}"')
        assert NAMES[caught.value.status] == status


def test_a_plugin_that_is_unlinked_while_in_use_works_on(built, tmp_path):
    path = save(tmp_path / "m.onnx", [node()])
    copy = shutil.copy(built("swish"), tmp_path / "gone.so")
    with Model(path, "d", f'plugins="{copy}"') as m:
        os.unlink(copy)
        np.testing.assert_allclose(m.run({"x": X}, ["y"])["y"], swish(X), rtol=1e-13)


def test_an_older_plugin_whose_table_is_shorter_works(built, tmp_path):
    with Model(save(tmp_path / "m.onnx", [node("Odd", "odd.domain")]), "d", f'plugins="{built("odd", 17)}"') as m:
        np.testing.assert_array_equal(m.run({"x": X}, ["y"])["y"], 2 * X)


CYCLES = int(os.environ.get("EVL_CYCLES", "300"))


def test_the_library_and_a_plugin_come_and_go_without_a_trace(built, tmp_path):
    """dlopen, load, run, dlclose in a process of its own: no memory, descriptor or thread stays."""
    path = save(tmp_path / "m.onnx", [node()])
    answer = subprocess.run([sys.executable, "-B", str(ROOT / "tests/plugin/cycles.py"), str(path),
                             str(built("swish")), str(CYCLES)], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout + answer.stderr


HOST = """
import os, pathlib, sys, threading
import numpy as np
sys.path.insert(0, sys.argv[1])
from evallib_ctypes import Model, library_path
rng = np.random.default_rng(1)
a, x, w = rng.normal(size=(300, 300)), rng.normal(size=(64, 96)), rng.normal(size=(96, 80))
before, threads = a @ a, len(os.listdir("/proc/self/task"))
with Model(sys.argv[2], "d", "numCPUThreads=2") as m:
    for _ in range(3):
        assert (a @ a == before).all()
        np.testing.assert_allclose(m.run({"x": x}, ["y"])["y"], x @ w.astype("f"), rtol=1e-9, atol=1e-9)
    made = []
    def make():
        made.append(Model(sys.argv[2], "d"))
        made[0].run({"x": x}, ["y"])
    worker = threading.Thread(target=make)
    worker.start(); worker.join()          # the thread is gone, its object lives
    np.testing.assert_allclose(made[0].run({"x": x}, ["y"])["y"], x @ w.astype("f"), rtol=1e-9, atol=1e-9)
    made[0].close()
assert (a @ a == before).all()
assert len(os.listdir("/proc/self/task")) == threads
"""


def test_it_lives_beside_numpy_and_the_openblas_of_numpy(tmp_path):
    """The library comes by RTLD_LOCAL, with an OpenBLAS of its own where there is one."""
    w = np.random.default_rng(1)
    w.normal(size=(300, 300)), w.normal(size=(64, 96))
    constant = onnx.numpy_helper.from_array(w.normal(size=(96, 80)).astype("f"), "w")
    path = save(tmp_path / "m.onnx", [helper.make_node("MatMul", ["x", "w"], ["y"])], [("x", ["n", 96])],
                constants=[constant])
    answer = subprocess.run([sys.executable, "-B", "-c", HOST, str(ROOT / "tests/support"), str(path)],
                            capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_two_copies_of_the_library_live_in_one_process(built, tmp_path):
    path, other = save(tmp_path / "m.onnx", [node()]), shutil.copy(os.path.realpath(library_path()), tmp_path / "other.so")
    with Model(path, "f", f'plugins="{built("swish")}"') as a, \
            Model(path, "d", f'plugins="{built("swish")}"', library=str(other)) as b:
        assert a.library._handle != b.library._handle
        ya, yb = a.run({"x": X.astype("f")}, ["y"])["y"], b.run({"x": X}, ["y"])["y"]
        np.testing.assert_allclose(ya, yb, rtol=1e-6)


def test_a_forked_child_runs_what_its_parent_loaded(built, tmp_path):
    x = np.random.default_rng(1).normal(size=(20000, 3))
    with Model(save(tmp_path / "m.onnx", [node()]), "d", f'plugins="{built("swish")}"\nnumCPUThreads=2') as m:
        m.run({"x": x}, ["y"])
        child = os.fork()
        if child == 0:
            os._exit(0 if np.allclose(m.run({"x": x}, ["y"])["y"], swish(x)) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        np.testing.assert_allclose(m.run({"x": x}, ["y"])["y"], swish(x), rtol=1e-13)
