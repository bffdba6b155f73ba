"""Run: typed arrays in and out, on the fake library, which gives inputs back as they came."""

import sys

import numpy as np
import pytest


def echo(evaluator, name, value):
    return evaluator.Run({name: value}, [name])[name]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f8", ">f2"])
def test_floating_types_go_in_as_they_are(evaluator, dtype):
    out = echo(evaluator, "x", np.array([[1, 2]], dtype))
    assert out.dtype == np.dtype(dtype).newbyteorder("=") and out.tolist() == [[1, 2]]


def test_long_double_becomes_the_evaluators_type(evaluator):
    assert echo(evaluator, "x", np.array([1], np.longdouble)).dtype == np.float32


@pytest.mark.parametrize("value", [[[1, 2]], np.array([[1, 2]]), np.array([[1, 2]], ">u2"),
                                   np.array([[True, 2]], np.int8)])
def test_integers_for_a_floating_input_become_real(evaluator, value):
    out = echo(evaluator, "x", value)
    assert out.dtype == np.float32 and out.tolist() == [[1, 2]]


def test_integers_for_a_half_input_become_real(evaluator):
    assert echo(evaluator, "h", [1, 2]).dtype == np.float32


@pytest.mark.parametrize("name, value, expected", [
    ("i", [1, -2], np.array([1, -2], np.int32)), ("i", np.array([5], np.uint8), np.array([5], np.int32)),
    ("i", True, np.array(1, np.int32)), ("b", [0, 1], np.array([False, True])),
    ("b", np.array([True]), np.array([True])), ("i", [[]], np.zeros((1, 0), np.int32)), ("b", [], np.zeros(0, bool)),
    ("c", [1, 2j], np.array([1, 2j], np.complex64)), ("c", [1.5], np.array([1.5], np.complex64)),
])
def test_values_that_fit_take_the_declared_type(evaluator, name, value, expected):
    out = echo(evaluator, name, value)
    assert out.dtype == expected.dtype and out.shape == expected.shape
    assert out.tolist() == expected.tolist()


@pytest.mark.parametrize("name, value", [
    ("i", [2 ** 40]), ("i", np.array([2 ** 31], np.uint32)), ("b", [2]), ("i", [1.0]), ("i", "1"),
    ("x", [1j]), ("x", ["a"] and np.array([None])), ("s", [1]), ("s", [None]), ("s", [b"a", 1.5, "x"]),
    ("x", np.array(["2020"], "M8[D]")), ("x", np.array([1], "m8[s]")), ("i", np.array([1], "m8[s]")),
])
def test_values_that_do_not_fit_are_refused_by_name(evaluator, fake, name, value):
    if name == "s" and isinstance(value, list):
        value = np.array(value, object)
    with pytest.raises(fake.TypeMismatchError, match=f"Input '{name}'"):
        echo(evaluator, name, value)


def test_an_unknown_name_goes_in_as_it_is(evaluator):
    assert echo(evaluator, "inner", np.array([1], np.int16)).dtype == np.int16
    assert echo(evaluator, "inner", [1.5]).dtype == np.float64


def test_all_element_types_come_out_as_they_are(evaluator):
    for dtype in "i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 ?".split():
        array = np.ones((2, 3), dtype)
        out = echo(evaluator, "inner", array)
        assert out.dtype == array.dtype and (out == array).all()


@pytest.mark.parametrize("value", [
    np.float32(3), np.zeros((0, 2), np.float32), np.zeros((2, 0, 3), np.float32),
    np.arange(24, dtype=np.float32).reshape(2, 3, 4).transpose(2, 0, 1),
    np.arange(12, dtype=np.float32)[::-2], np.broadcast_to(np.float32(1), (2, 3)),
    np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)), np.zeros((1,) * 16, np.float32),
    np.ma.array([1, 2], mask=[0, 1], dtype=np.float32).data,
])
def test_any_layout_keeps_its_shape(evaluator, value):
    out = echo(evaluator, "x", value)
    assert out.shape == np.shape(value) and np.array_equal(out, value)


def test_too_many_axes(evaluator, fake):
    with pytest.raises(fake.ShapeError, match="17 axes"):
        echo(evaluator, "x", np.zeros((1,) * 17, np.float32))


def test_uneven_rows_are_a_matter_of_shape(evaluator, fake):
    with pytest.raises(fake.ShapeError, match="Input 'x'.*one length") as caught:
        echo(evaluator, "x", [[1, 2], [3]])
    assert caught.value.__cause__ is not None or "object" in str(caught.value)


def test_an_exception_inside_a_value_comes_through(evaluator):
    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise KeyError("broken")
    with pytest.raises(KeyError, match="broken"):
        echo(evaluator, "x", Broken())


def test_texts_go_in_and_out(evaluator):
    for value in (["été", "", "a\0b"], np.array(["été", "", "a\0b"], object)):
        out = echo(evaluator, "s", value)
        assert out.dtype == object and out.tolist() == ["été", "", "a\0b"]
    assert echo(evaluator, "s", np.array([b"ab", b"c"])).tolist() == ["ab", "c"]
    assert evaluator.Run({}, ["words"])["words"].tolist() == ["été", "a\0b"]


def test_texts_that_are_not_utf8_survive(evaluator):
    out = echo(evaluator, "s", np.array([b"\xff"], object))
    assert out.tolist() == ["\udcff"]
    assert echo(evaluator, "s", out).tolist() == ["\udcff"]


def test_sequences_optionals_and_maps(evaluator, fake):
    keys, words = evaluator.Run({}, ["sequence"])["sequence"]
    assert keys.tolist() == [7, 8] and words.tolist() == ["été", "a\0b"]
    assert evaluator.Run({}, ["optional"])["optional"].tolist() == [7, 8]
    assert evaluator.Run({}, ["nothing"])["nothing"] is None
    assert evaluator.Run({}, ["map"])["map"] == {7: "été", 8: "a\0b"}
    out = echo(evaluator, "q", [np.float32([1]), [[2, 3]], []])
    assert [o.shape for o in out] == [(1,), (1, 2), (0,)]
    assert echo(evaluator, "q", ()) == []
    assert echo(evaluator, "o", None) is None
    assert echo(evaluator, "o", [1]).tolist() == [1]
    with pytest.raises(fake.TypeMismatchError, match="Input 'q'.*list of values"):
        echo(evaluator, "q", np.zeros(3))


def test_values_in_values_are_as_declared(evaluator, fake):
    out = echo(evaluator, "n", [[1, 2], [3]])  # a list of two, not one array of uneven rows
    assert [o.tolist() for o in out] == [[1, 2], [3]] and out[0].dtype == np.int64
    assert echo(evaluator, "n", []) == [] and echo(evaluator, "n", None) is None
    out = echo(evaluator, "m", {"a": 1, "b": 2.5})
    assert out == {"a": 1, "b": 2.5}
    assert echo(evaluator, "m", {}) == {}
    with pytest.raises(fake.TypeMismatchError, match="Input 'm'.*a dict is expected, not list"):
        echo(evaluator, "m", [1])
    with pytest.raises(fake.TypeMismatchError, match="Input 'm'"):
        echo(evaluator, "m", {1: 2.0})
    with pytest.raises(fake.TypeMismatchError, match="Input 'n'"):
        echo(evaluator, "n", [[0.5]])


def test_types_of_values_in_values_have_names(evaluator, fake):
    described = {d[0]: d for d in evaluator.Describe("inputs")}
    infos = {name: fake.NodeInfo.from_core(d).type for name, d in described.items()}
    assert infos["n"] == "optional(seq(int64))" and infos["m"] == "map(str,float32)"
    assert infos["q"] == "seq" and infos["x"] == "float32"
    spelled = {arg.name: arg.type for arg in fake.InferenceSession("fake").get_inputs()}
    assert spelled["n"] == "optional(seq(tensor(int64)))"
    assert spelled["m"] == "map(string,tensor(float))" and spelled["x"] == "tensor(float)"


def test_packed_elements_are_unpacked(evaluator, monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)  # as if it were not installed
    out = evaluator.Run({}, ["int4", "uint2"])
    assert out["int4"].dtype == np.int8 and out["int4"].tolist() == [1, -1, -8]
    assert out["uint2"].dtype == np.uint8 and out["uint2"].tolist() == [0, 1, 2, 3, 3]


@pytest.mark.parametrize("name, values", [
    ("int4", [1, -8, 7]), ("uint4", [15, 0, 8]), ("int2", [-2, 1, 0, -1, 1]), ("uint2", [3]), ("int4", []),
    ("float8_e4m3fn", [448, -0.5]), ("float8_e5m2fnuz", [1.5]), ("float8_e8m0fnu", [0.25]),
    ("float4_e2m1fn", [6, -0.5, 3]), ("bfloat16", [[1.5], [-2]]),
])
def test_types_of_ml_dtypes_come_out_as_they_went_in(evaluator, name, values):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    out = echo(evaluator, "inner", np.array(values, getattr(ml_dtypes, name)))
    assert out.dtype == getattr(ml_dtypes, name) and out.tolist() == values


def test_a_view_with_gaps_is_packed_in_its_order(evaluator):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.array([1, 2, 3, 4, 5, 6], ml_dtypes.int4)[::-2]
    assert echo(evaluator, "inner", array).astype(np.int8).tolist() == [6, 4, 2]


def test_a_tensor_that_contradicts_itself_is_not_read(evaluator, fake):
    with pytest.raises(fake.InternalError, match="short"):
        evaluator.Run({}, ["short"])


def test_types_may_be_asked_for(evaluator, fake):
    assert evaluator.Run({}, ["asked"], [10])["asked"].tolist() == [10]
    assert evaluator.Run({}, ["asked"])["asked"].tolist() == [0]
    with pytest.raises(fake.ArgumentError, match="one number for each"):
        evaluator.Run({}, ["asked"], [1, 2])
    with pytest.raises(TypeError):
        evaluator.Run({}, ["asked"], ["float"])


def test_the_networks_own_outputs_are_the_default(evaluator):
    assert list(evaluator.Run({"x": [[1, 2]]})) == ["y"]
    assert list(evaluator.Run(feeds={"x": [[1, 2]]}, outputs=None)) == ["y"]


def test_outputs_own_their_memory(evaluator):
    out = evaluator.Run({"x": [[1, 2]]})["y"]
    evaluator.Destroy()
    assert out.flags.owndata and out.flags.writeable and out.tolist() == [[1, 2]]


def test_a_mapping_of_any_kind_is_taken(evaluator):
    import collections
    feeds = collections.UserDict(x=[1.0])
    assert evaluator.Run(feeds, ("x",))["x"].tolist() == [1]
