"""Operators that left the standard, and NhwcMaxPool, against what their old texts say."""
import pathlib, sys

import numpy as np
import pytest

h = pytest.importorskip("onnx.helper")
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from evallib_ctypes import Failure, Model   # noqa: E402

X = np.random.default_rng(5).integers(-9, 9, (2, 3, 6, 5)).astype(np.float32)
BYTES = np.arange(2 * 5 * 4 * 3, dtype=np.uint8).reshape(2, 5, 4, 3) * 37
GIVEN = {"values": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}


def normal(x, axes, divides=True):
    x = x - x.astype(float).mean(axes, keepdims=True)
    return x / x.std(axes, keepdims=True) if divides else x


def pooled(x):
    return np.stack([x[:, i:i + 2, j:j + 3].max((1, 2)) for i in range(4) for j in range(2)],
                    1).reshape(2, 4, 2, 3)


CASES = {
    "Affine": ([X], {"alpha": 2.0, "beta": -3.0}, 2 * X - 3),
    "Scale": ([X], {"scale": 0.5}, X / 2),
    "ImageScaler": ([X], {"scale": 2.0, "bias": [1.0, 2.0, 3.0]}, 2 * X + [[[1]], [[2]], [[3]]]),
    "ScaledTanh": ([X], {"alpha": 2.0, "beta": 0.25}, 2 * np.tanh(0.25 * X.astype(float))),
    "ParametricSoftplus": ([X], {"alpha": 2.0, "beta": 0.5}, 2 * np.log1p(np.exp(0.5 * X.astype(float)))),
    "MeanVarianceNormalization": ([X], {}, normal(X, (0, 2, 3))),
    "MeanVarianceNormalization of samples": ([X], {"across_channels": 1}, normal(X, (0, 1, 2, 3))),
    "MeanVarianceNormalization of means": ([X], {"normalize_variance": 0}, normal(X, (0, 2, 3), False)),
    "Crop": ([X], {"border": [1, 2, 0, 3]}, X[:, :, 2:3, 1:]),
    "Crop to a size": ([X], {"border": [1, 2, 0, 0], "scale": [3, 2]}, X[:, :, 2:5, 1:3]),
    "DynamicSlice": ([X, np.array([1, 0]), np.array([4, 2]), np.array([3, 1])], {}, X[:, :2, :, 1:4]),
    "GivenTensorFill": ([], {"shape": [2, 3], **GIVEN}, np.array([[1, 2, 3], [4, 5, 6]])),
    "GivenTensorFill by a shape": ([np.array([3])], {"input_as_shape": 1, "extra_shape": [2], **GIVEN},
                                   np.array([[1, 2], [3, 4], [5, 6]])),
    "ConstantFill": ([X], {"value": 2.0, "extra_shape": [2]}, np.full((*X.shape, 2), 2)),
    "com.microsoft.NhwcMaxPool": ([BYTES], {"kernel_shape": [2, 3]}, pooled(BYTES)),
}


def load(folder, name, inputs, attributes, precision):
    domain, op = name.split()[0].rpartition(".")[::2]
    names = [f"x{i}" for i in range(len(inputs))]
    node = h.make_node(op, names, ["y"], domain=domain, **attributes)
    given = [h.make_tensor_value_info(n, h.np_dtype_to_tensor_dtype(x.dtype), x.shape)
             for n, x in zip(names, inputs)]
    graph = h.make_graph([node], "tested", given, [h.make_empty_tensor_value_info("y")])
    opsets = [h.make_opsetid("", 1 if not domain else 13), h.make_opsetid("com.microsoft", 1)]
    (folder / "m.onnx").write_bytes(h.make_model(graph, opset_imports=opsets).SerializeToString())
    return Model(folder / "m.onnx", precision=precision), dict(zip(names, inputs))


@pytest.mark.parametrize("precision", "fd")
@pytest.mark.parametrize("name", CASES)
def test_is_what_it_was(tmp_path, name, precision):
    inputs, attributes, expected = CASES[name]
    model, given = load(tmp_path, name, inputs, attributes, precision)
    with model:
        got = model.run(given, ["y"])["y"]
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, *((2e-6, 1e-6) if precision == "f" else (1e-9, 1e-12)))


@pytest.mark.parametrize("attributes", [{}, {"border": [1, 2]}, {"border": [-1, 0, 0, 0]},
                                        {"border": [0, 0, 0, 0], "scale": [1 << 40, 1]}])
def test_a_crop_of_no_sizes_is_refused(tmp_path, attributes):
    with pytest.raises(Failure, match="border"):
        load(tmp_path, "Crop", [X], attributes, "f")


def test_an_operand_that_is_left_out_is_named(tmp_path):
    with pytest.raises(Failure, match="input 0 is left out"):
        load(tmp_path, "Affine", [], {}, "f")
