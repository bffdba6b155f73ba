"""Delays and loops of CNTK v1 models, against plain loops in numpy."""

import numpy as np
import pytest

from cntk_v1 import assert_close, cntk1, evl, needs_library

pytestmark = [needs_library, pytest.mark.parametrize("precision", ["f", "d"])]
T = 7


def numbers(*shape, seed=1):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype("f")


def opened(model, tmp_path, precision):
    model.save(tmp_path / "net.model")
    return evl.Model(tmp_path / "net.model", precision)


def layer(op="PastValue", step=1, shape=(3,), version=14):
    """h(t) = tanh(W x(t) + R h(t -+ step))."""
    m = cntk1.Model(version)
    w, r = numbers(3, 2, seed=2), numbers(3, 3, seed=3)
    m.add("InputValue", "x", shape=[2])
    m.parameter("W", w)
    m.parameter("R", r)
    m.add("Times", "wx", ["W", "x"])
    m.add(op, "before", ["h"], shape=list(shape), step=step, initial=0.5)
    m.add("Times", "rh", ["R", "before"])
    m.add("Plus", "sum", ["wx", "rh"])
    m.add("Tanh", "h", ["sum"])
    m.outputs = ["h"]
    return m, w.astype(float), r.astype(float)


def reference(x, w, r, step=1, ahead=False):
    h = np.zeros((len(x), 3))
    for t in reversed(range(len(x))) if ahead else range(len(x)):
        other = t + step if ahead else t - step
        before = h[other] if 0 <= other < len(x) else np.full(3, 0.5)
        h[t] = np.tanh(w @ x[t] + r @ before)
    return h


@pytest.mark.parametrize("op, ahead", [("PastValue", False), ("FutureValue", True), ("Delay", False)])
@pytest.mark.parametrize("step", [1, 2, 9])
@pytest.mark.parametrize("shape", [(3,), (0,), ()], ids=["stored", "zero", "empty"])
def test_a_loop(tmp_path, precision, op, ahead, step, shape):
    m, w, r = layer(op, step, shape)
    x = numbers(T, 2)
    with opened(m, tmp_path, precision) as net:
        y = net.run({"x": x.astype(net.real)}, ["h"])["h"]
    assert_close(y, reference(x, w, r, step, ahead), precision)


@pytest.mark.parametrize("op, offset", [("PastValue", 2), ("FutureValue", -2)])
def test_a_delay_outside_a_loop(tmp_path, precision, op, offset):
    m = cntk1.Model(15)
    m.add("InputValue", "x", shape=[2])
    m.add(op, "z", ["x"], shape=[2], step=2, initial=-1)
    m.outputs = ["z"]
    x = numbers(T, 2)
    with opened(m, tmp_path, precision) as net:
        y = net.run({"x": x.astype(net.real)}, ["z"])["z"]
    padded = np.concatenate([np.full((2, 2), -1), x, np.full((2, 2), -1)])
    assert_close(y, padded[2 - offset:2 - offset + T], precision)


@pytest.mark.parametrize("step", [1, 3])
def test_state_carries_over_until_it_is_reset(tmp_path, precision, step):
    m, w, r = layer(step=step)
    m.add("PastValue", "late", ["h"], shape=[3], step=2, initial=0)
    m.outputs = ["h", "late"]
    x = numbers(T, 2)
    h = reference(x, w, r, step)
    late = np.concatenate([np.zeros((2, 3)), h])[:T]
    with opened(m, tmp_path, precision) as net:
        for _ in range(2):
            at = 0
            for n in (1, 3, 2, 1):
                y = net.evaluate({"x": x[at:at + n]}, ["h", "late"])
                assert_close(y["h"], h[at:at + n].reshape(-1), precision, 3)
                found = y["late"].reshape(n, 3)
                assert np.abs(found - late[at:at + n]).max() <= 1e-5
                at += n
            net.reset()


def test_an_lstm_with_stacked_gates(tmp_path, precision):
    """Slices of one product, two delays, and a projection that only the loop reads."""
    n = 3
    w, r, b = numbers(4 * n, 2, seed=4), numbers(4 * n, n, seed=5), numbers(4 * n, seed=6)
    m = cntk1.Model(14)
    m.add("InputValue", "x", shape=[2])
    for name, value in (("W", w), ("R", r), ("b", b)):
        m.parameter(name, value)
    m.add("Times", "wx", ["W", "x"])
    m.add("Plus", "wxb", ["wx", "b"])
    m.add("PastValue", "h1", ["h"], shape=[0], initial=0)
    m.add("PastValue", "c1", ["c"], shape=[0], initial=0)
    m.add("Times", "rh", ["R", "h1"])
    m.add("Plus", "gates", ["wxb", "rh"])
    for i, gate in enumerate("ifog"):
        m.add("Slice", "s" + gate, ["gates"], ranges=[(i * n, (i + 1) * n, 1)])
        m.add("Tanh" if gate == "g" else "Sigmoid", gate, ["s" + gate])
    m.add("ElementTimes", "kept", ["f", "c1"])
    m.add("ElementTimes", "new", ["i", "g"])
    m.add("Plus", "c", ["kept", "new"])
    m.add("Tanh", "tc", ["c"])
    m.add("ElementTimes", "h", ["o", "tc"])
    m.outputs = ["h", "c"]
    x = numbers(T, 2)
    w, r, b = (a.astype(float) for a in (w, r, b))
    h, c, hs, cs = np.zeros(n), np.zeros(n), [], []
    for row in x.astype(float):
        i, f, o, g = (w @ row + b + r @ h).reshape(4, n)
        c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        h = np.tanh(c) / (1 + np.exp(-o))
        hs.append(h)
        cs.append(c)
    with opened(m, tmp_path, precision) as net:
        y = net.run({"x": x.astype(net.real)}, ["h", "c", "o"])
    assert_close(y["h"], hs, precision)
    assert_close(y["c"], cs, precision)
    assert y["o"].shape == (T, n)


def test_loops_of_both_directions_beside_each_other(tmp_path, precision):
    m, w, r = layer()
    m.add("FutureValue", "after", ["back"], shape=[3], initial=0.5)
    m.add("Times", "rb", ["R", "after"])
    m.add("Plus", "sum2", ["wx", "rb"])
    m.add("Tanh", "back", ["sum2"])
    m.add("RowStack", "z", ["h", "back"])
    m.outputs = ["z"]
    x = numbers(T, 2)
    with opened(m, tmp_path, precision) as net:
        y = net.run({"x": x.astype(net.real)}, ["z"])["z"]
    expected = np.concatenate([reference(x, w, r), reference(x, w, r, ahead=True)], axis=1)
    assert_close(y, expected, precision)
