"""Files newer than the library: taken when all that their nodes say is known, else refused with both numbers."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
evallib = pytest.importorskip("evallib")

from onnx import TensorProto, helper  # noqa: E402


def model(op="LeakyRelu", n=1, opset=999, ir=99, **attributes):
    node = helper.make_node(op, ["x"] * n, ["y"], name="the_node", **attributes)
    sides = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    graph = helper.make_graph([node], "g", sides[:1], sides[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir).SerializeToString()


@pytest.mark.parametrize("versions", [{"ir": 10}, {"opset": 22}, {}])
def test_known_operators_are_taken(versions):
    y = evallib.load(model(alpha=0.5, **versions))(np.array([-2.0, 3.0], "f"))
    np.testing.assert_array_equal(y, [-1, 3])


@pytest.mark.parametrize("what, word", [({"slope": 1.0}, "attribute slope"), ({"n": 2}, "input 1"), ({"op": "Novel"}, "Novel")])
def test_what_is_not_known_is_refused_with_both_numbers(what, word):
    with pytest.raises(evallib.UnsupportedError) as failure:
        evallib.load(model(**what))
    text = str(failure.value)
    assert word in text and "IR version 99; the newest that is known is" in text and "opset 999; the newest" in text


def test_an_attribute_that_is_not_known_is_passed_over_in_a_known_opset():
    assert evallib.load(model(opset=22, ir=10, alpha=0.5, slope=1.0))
