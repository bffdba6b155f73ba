"""Every broken model ends in a status and a text that names the file and what is wrong in it."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
evallib = pytest.importorskip("evallib")

from onnx import helper  # noqa: E402

import broken  # noqa: E402

MODELS = broken.all_models()


def feed(value):
    kind = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
    shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
    return np.full(shape, "a", object) if kind == np.dtype(object) or kind.kind == "S" else np.zeros(shape, kind)


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("name", MODELS)
def test_it_is_refused(tmp_path, name, precision):
    model, words = MODELS[name]
    path = tmp_path / "broken.onnx"
    path.write_bytes(model.SerializeToString())
    (tmp_path / "data.bin").write_bytes(b"\0" * 64)
    loaded = None
    with pytest.raises(evallib.Error) as failure:
        loaded = evallib.load(str(path), precision=precision)
        loaded.run({v.name: feed(v) for v in model.graph.input})
    text = str(failure.value)
    assert loaded or "broken.onnx" in text
    assert not [word for word in words if word not in text], text


def test_there_are_two_hundred():
    assert len(MODELS) >= 200
