"""What CNTK v2 files hold besides functions: arrays of every kind, more than 2 GB, placeholders that
nobody bound."""

import struct

import numpy as np
import pytest

from cntk_v1 import assert_close, evl, needs_library
from cntk2 import BATCH, Array, Axis, Model, dictionary

pytestmark = needs_library


def opened(tmp_path, m, precision="f"):
    m.save(tmp_path / "net.model")
    return evl.Model(tmp_path / "net.model", precision)


def scaled(value):
    """z = x * the array, which is of 2 x 3."""
    m = Model(value.late)
    uid = m.parameter("w", value.values, value.kind)
    m.inputs[-1]["value"] = value
    m.output(m.add("ElementTimes", [m.input("x", [2, 3], BATCH), uid], name="z"))
    return m


@pytest.mark.parametrize("precision", ["f", "d"])
@pytest.mark.parametrize("kind", ["float", "double", "half"])
@pytest.mark.parametrize("late", [False, True])
def test_arrays_of_reals(tmp_path, precision, kind, late):
    w = np.array([[1, -2, 0.5], [6.103515625e-05, 65504, -0.0]])
    with opened(tmp_path, scaled(Array(w, kind, late)), precision) as net:
        found = net.run({"x": np.ones((4, 3, 2), net.real)}, ["z"])["z"]
    assert_close(found, np.broadcast_to(w.T, found.shape), precision)


def test_an_array_called_sparse_that_has_all_its_values(tmp_path):
    w = np.arange(1.0, 7).reshape(2, 3)
    with opened(tmp_path, scaled(Array(w, sparse=w.ravel(order="F")))) as net:
        found = net.run({"x": np.ones((1, 3, 2), "f")}, ["z"])["z"]
    assert_close(found[0], w.T, "f")


@pytest.mark.parametrize("kind", ["float", "double", "half"])
@pytest.mark.parametrize("late", [False, True])
def test_a_sparse_array_is_refused(tmp_path, kind, late):
    m = scaled(Array(np.zeros((2, 3)), kind, late, sparse=[1.0, 2.0]))
    with pytest.raises(evl.Failure, match="the array at byte .* is sparse, which CNTK saves none of"):
        opened(tmp_path, m)


# --- more than 2 GB --------------------------------------------------------------------------------

ROWS, COLUMNS = 4000, 160000


def write_large(path, last_column):
    """A table of which only the last column is on the disk, and which lies where floats may: else the
    library copies all of it. False: the disk would have to hold it."""
    class Huge:
        shape = (ROWS, COLUMNS)

        def ravel(self, order):
            return np.zeros(0)
    table, record = Array(0, late=True), b"?"
    table.values = Huge()
    for name in ("t", "ta", "tab", "tabl"):
        if len(record) % 4:
            m = Model(late=True)
            w = m.variable("Parameter", "W", name, Huge.shape, [], value=table)
            m.output(m.add("Gather", [m.input("i", [1], BATCH), w], name="z"))
            record = dictionary(m.record())
    with open(path, "wb") as file:
        file.write(b"ktnc" + struct.pack("<I", len(record)) + record)
        end = file.tell() + 4 * ROWS * COLUMNS
        file.seek(end - 4 * ROWS)
        file.write(last_column.astype("<f4").tobytes())
    return path.stat().st_size == end and path.stat().st_blocks * 512 < 1 << 20


def test_a_file_of_more_than_2_gb(tmp_path):
    path, last = tmp_path / "large.model", np.arange(ROWS)
    try:
        if not write_large(path, last):
            pytest.skip("the file system keeps no holes")
        with evl.Model(path) as net:
            found = net.run({"i": np.array([[COLUMNS - 1], [0]], "f")}, ["z"])["z"].reshape(2, ROWS)
        assert (found[0] == last).all() and (found[1] == 0).all()
        with open(path, "r+b") as file:
            file.truncate(path.stat().st_size - 1)
        with pytest.raises(evl.Failure, match="no values behind the dictionary: the file is cut short"):
            evl.Model(path)
    finally:
        path.unlink(missing_ok=True)


# --- placeholders ----------------------------------------------------------------------------------

@pytest.mark.parametrize("name", ["left", ""])
def test_an_unbound_placeholder_is_asked_for_by_its_name(tmp_path, name):
    """Its shape and axes are not known: it may be what it is added to."""
    m = Model()
    p = m.placeholder(name, [-2], [Axis(2**31 - 3, "UnknownAxes")])
    m.output(m.add("Plus", [m.input("x", [3], BATCH), p], name="z"))
    with opened(tmp_path, m) as net:
        x = np.ones((2, 3), "f")
        with pytest.raises(evl.Failure, match="inputs that are needed and were not given:\n%s$"
                           % (name or p)):
            net.run({"x": x}, ["z"])
        assert (net.run({"x": x, name or p: 2 * x}, ["z"])["z"] == 3).all()
