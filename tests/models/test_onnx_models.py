"""Real ONNX models against float64 results of an independent evaluator (../shared/models)."""
import json, pathlib, sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from evallib_ctypes import Model, library_path   # noqa: E402

MODELS = ROOT.parent / "shared" / "models"

# Float32 evaluations themselves are this many times the usual bound off there (README of the models).
WIDER = {"basic_pitch": 50, "ppocr_v4_det": 5}

# A tie that is rounded the other way moves a value by a step; so far is ONNX Runtime from itself.
STEPS = {"digits_cnn_qdq": 0.074}


def cases():
    if not MODELS.is_dir():
        return
    for folder in sorted(MODELS.iterdir()):
        if (folder / "model.onnx").is_file():
            for data in sorted(folder.glob("data_*")):
                name = f"{folder.name}-{data.name}"
                yield pytest.param(folder, data, id=name)


def load(data, entry):
    if entry["file"].endswith(".json"):           # texts
        texts = json.loads((data / entry["file"]).read_text())
        return np.array(texts["data"], object).reshape(texts["shape"])
    return np.load(data / entry["file"])


def check(name, got, data, entry, precision):
    exact = data / entry["file"].replace(".npy", "_f64.npy")
    expected = np.load(exact) if exact.is_file() and exact.suffix == ".npy" else load(data, entry)
    assert got.shape == expected.shape
    if not np.issubdtype(expected.dtype, np.floating):
        assert np.array_equal(got, expected)
        return
    most = np.abs(expected).max(initial=0)
    bound = 1e-5 * most * WIDER.get(name, 1) + 1e-6
    if precision == "d" and exact.is_file():
        bound = 1e-9 * most + 1e-12
    if name in STEPS:
        bound = STEPS[name]
        assert np.array_equal(got.argmax(axis=1), expected.argmax(axis=1))
    assert np.abs(got - expected).max(initial=0) <= bound


absent = pytest.mark.skipif(not MODELS.is_dir(), reason="../shared is absent")
no_library = pytest.mark.skipif(library_path() is None, reason="no library: set EVALLIB_LIBRARY")


@absent
@no_library
@pytest.mark.parametrize("precision", "fd")
@pytest.mark.parametrize("folder, data", list(cases()))
def test_model(folder, data, precision):
    reference = json.loads((data / "reference.json").read_text())
    inputs = {entry["name"]: load(data, entry) for entry in reference["inputs"]}
    names = [entry["name"] for entry in reference["outputs"]]
    with Model(folder / "model.onnx", precision) as model:
        outputs = model.run(inputs, names)
    for entry in reference["outputs"]:
        check(folder.name, outputs[entry["name"]], data, entry, precision)


@absent
@no_library
@pytest.mark.parametrize("precision", "fd")
def test_probabilities_come_as_maps(precision):
    """What the reference of this one leaves out: the ZipMap at its end."""
    data = MODELS / "voting_classifier" / "data_0"
    with Model(data.parent / "model.onnx", precision) as model:
        got = model.run({"input": np.load(data / "in_0.npy")}, ["output_probability"])["output_probability"]
    assert [list(row) for row in got] == [["A", "B"]] * len(got)
    np.testing.assert_allclose([list(row.values()) for row in got], np.load(data / "out_1.npy"), rtol=1e-5)
