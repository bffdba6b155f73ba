"""CNTK v2 samples whose sizes only a call tells (FreeDimension), in models written here."""

import numpy as np
import pytest

from cntk_v1 import evl, needs_library
from cntk2 import Model

pytestmark = needs_library
FREE = -3


def numbers(*shape, seed=7):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype("f")


def net_of(op, dims, weights=None, axes=None, **attributes):
    """One function, of weights and an input x of CNTK's dimensions."""
    m = Model()
    x = m.input("x", dims, axes)
    inputs = [x] if weights is None else [m.parameter("w", weights), x]
    m.output(m.add(op, inputs, name="z", **attributes))
    return m


def opened(tmp_path, m, precision="f"):
    m.save(tmp_path / "net.model")
    return evl.Model(tmp_path / "net.model", precision)


@pytest.mark.parametrize("shape", [(2, 3, 4), (5, 1, 1), (2, 3, 4, 5)])
def test_a_call_tells_the_sizes(tmp_path, shape):
    x = numbers(*shape)
    with opened(tmp_path, net_of("Negate", [FREE, FREE])) as net:
        found = net.run({"x": x}, ["z"])["z"]
        assert found.shape == shape and (found == -x).all()


def test_sizes_may_change_from_call_to_call(tmp_path):
    with opened(tmp_path, net_of("Negate", [FREE, 3])) as net:
        for n in (4, 1, 7):
            x = numbers(2, 3, n)
            assert (net.run({"x": x}, ["z"])["z"] == -x).all()


@pytest.mark.parametrize("shape", [(6,), (2, 6), (1, 2, 4, 3), (2, 2, 1, 1, 3)])
def test_a_sample_without_its_sizes_is_refused(tmp_path, shape):
    with opened(tmp_path, net_of("Negate", [FREE, 3])) as net:
        with pytest.raises(evl.Failure, match=r"'x': shape .*, expected \[\?,3,\?\]"):
            net.run({"x": numbers(*shape)}, ["z"])
