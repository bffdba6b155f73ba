"""The module in the shape of cntk, and the article's third Evaluate."""

import pathlib

import numpy as np
import pytest

import CNTKPythonWrapper
import evallib
import evallib.cntk as C
from evallib import ArgumentError, NotFoundError, ShapeError

DATA = pathlib.Path(__file__).parent.parent / "data"


@pytest.fixture
def recurrent():
    return C.load_model(DATA / "cntk2" / "recurrent.model")


def test_a_model_tells_its_variables():
    model = C.load_model(DATA / "cntk2" / "mlp.model")
    (x,) = model.arguments
    (z,) = model.outputs
    assert x.shape and x.has_frames and model.output.name == z.name == model.name
    assert z.name in repr(model)


def test_an_array_of_samples_gives_one():
    model = C.load_model(DATA / "cntk1" / "mlp_v12.model")
    (x, *_) = [v for v in model.arguments if v.name == "features"]
    sentence = np.random.default_rng(1).uniform(-1, 1, (3, 4)).astype("f")
    y = model.eval({x: [sentence]})
    assert len(y) == 1 and y[0].shape == (3, 3)
    again = model.eval({"features": [sentence[:1], sentence[1:]]})
    assert [s.shape for s in again] == [(1, 3), (2, 3)]
    assert np.allclose(np.concatenate(again), y[0])


def test_sequences_are_alone_with_themselves(recurrent):
    (x,) = recurrent.arguments
    rng = np.random.default_rng(2)
    a, b = (rng.uniform(-1, 1, (n, *x.shape)).astype("f") for n in (4, 2))
    both = recurrent.eval({x: [a, b]}, [recurrent.outputs[0]])
    alone = recurrent.eval({x: [b]}, [recurrent.outputs[0]])
    assert len(both) == 2 and np.array_equal(both[1], alone[0])
    assert set(recurrent.eval({0: [a]})) != set() and isinstance(recurrent.eval({0: [a]}), dict)


@pytest.fixture
def two_axes():
    return C.load_model(DATA / "cntk2" / "two_axes.model")


def test_sequences_of_several_axes(two_axes):
    """The frames that a node chooses are an axis, too."""
    rng = np.random.default_rng(3)
    a, b = ([rng.uniform(-1, 1, (n, 2)).astype("f") for n in lengths] for lengths in ((2, 5), (4, 1)))
    assert [v.is_sequence for v in two_axes.arguments] == [True, True]
    assert [v.is_sequence for v in two_axes.outputs] == [True, True, True, False]
    assert [v.shape for v in two_axes.outputs] == [(2,), (2,), (2,), (1,)]
    found = two_axes.eval({"a": a, "b": b}, two_axes.outputs[:3])
    p, q, chosen = found.values()
    for i in range(2):
        assert np.array_equal(p[i], np.abs(a[i])) and np.array_equal(q[i], -b[i])
        assert np.array_equal(chosen[i], b[i][b[i][:, 0] > 0])
    with pytest.raises(ShapeError, match="different numbers of samples"):
        two_axes.eval({"a": a, "b": b[:1]})


def test_what_is_no_value_of_each_sequence_is_refused(two_axes):
    a = np.ones((2, 3, 2), "f")
    assert two_axes.eval({"a": a[:1], "b": a[:1]}, ["sum"]) == [6]
    with pytest.raises(ShapeError, match="'sum' is no value of each sequence alone"):
        two_axes.eval({"a": a, "b": a}, [two_axes.outputs[3]])
    net = evallib.load(DATA / "cntk2" / "two_axes.model")
    assert net.run({"b": a[:1]}, ["sum"])["sum"] == [6]
    with pytest.raises(evallib.UnsupportedError, match="'sum' is no value of each sequence alone"):
        net.run({"b": a}, ["sum"])


def test_nodes_are_found_by_name_and_shared(recurrent):
    name = recurrent.outputs[0].name
    assert recurrent.find_by_name("nobody at all") is None
    inner = recurrent.find_by_name(name)
    (x,) = recurrent.arguments
    a = np.ones((3, *x.shape), "f")
    copy = inner.clone("share")
    assert np.array_equal(inner.eval([a])[0], copy.eval([a])[0])
    with pytest.raises(ArgumentError):
        inner.clone("steal")


def test_wrong_inputs_are_told(recurrent):
    (x,) = recurrent.arguments
    with pytest.raises(NotFoundError):
        recurrent.eval({"nobody": [np.ones((1, 2), "f")]})
    model = C.load_model(DATA / "cntk1" / "mlp_v12.model")
    if len(model.arguments) > 1:
        with pytest.raises((ShapeError, ArgumentError)):
            model.eval(np.ones((1, 4), "f"))


def test_the_third_evaluate_fills_a_dict():
    model = CNTKPythonWrapper.IPythonEvaluateModelF()
    model.CreateNetwork('modelPath="%s"' % (DATA / "cntk1" / "mlp_v12.model"))
    kept = [0.0]
    outputs = {"z": kept, "h": None}
    assert model.Evaluate3({"features": [1, 2, 3, 4]}, outputs) is outputs
    assert outputs["z"] is kept and len(kept) == 3 and len(outputs["h"]) == 5
    assert kept == model.Evaluate2({"features": [1, 2, 3, 4]}, "z", 3)
