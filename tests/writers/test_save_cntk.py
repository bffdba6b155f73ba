"""CNTK's models saved as ONNX: ONNX Runtime gives what we give, and so do we with the file read back.

What CNTK itself gave for the models of tests/data/cntk_oracle.zip, tests/models/test_cntk_oracle.py
compares with ours."""
import json
import pathlib
import zipfile

import numpy as np
import pytest

import evallib

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "cntk"
ARCHIVE = zipfile.ZipFile(ROOT / "tests" / "data" / "cntk_oracle.zip")
CASES = json.loads(ARCHIVE.read("cases.json"))
MADE = sorted(name for name in ARCHIVE.namelist() if name != "cases.json")
TRAINED = sorted(str(p.relative_to(SHARED)) for p in SHARED.glob("v[12]/*"))

TOLERANCE = {"float32": 1e-5, "float64": 1e-9}   # of the largest value

# CNTK's v1 files of these hold a node that CNTK itself cannot read
NO_V1 = {"asinh", "assign", "atan", "atanh", "attention", "batch_as_an_axis", "elu", "elu_alpha",
         "eye_like", "gather", "one_hot", "one_hot_along_another_axis", "ones_like", "pads", "pow", "reduce_over_the_sequence", "selu",
         "softmax_over_the_sequence", "tan", "to_sequence", "to_sequence_like", "top_k", "unpack",
         "unpack_with_mask", "zeros_like"}
# which are not read, and what of the text says why
NOT_READ = {f"{name}.v1": "the operator '.*' is not known" for name in NO_V1} | {
    "v2/future.dictionary.proto.bin": "a dictionary, and no model",
    "v2/past.dictionary.proto.bin": "a dictionary, and no model",
    "v2/v2.0.beta1.0.dictionary.proto.bin": "a dictionary, and no model",
    "v2/learner.checkpoint.backcompat.bin": "the state of a learner, and no model",
}
# which are read and not saved: judgements of training that search or sort, of which ONNX has no operators
NOT_SAVED = {f"{name}.{kind}": f"no operator for:\n.*: {operator}" for kind in ("model", "v1") for name, operator in
             (("edit_distance", "EditDistance"), ("forward_backward", "Alignment"), ("lambda_rank", "Ranking"),
              ("ndcg_at_1", "Ranking"))}
# in double ours is better than the file, whose attributes are in float: epsilon
IN_FLOAT = {("v2/batch.norm.no.sample.count.v2.bin", "float64")}
NO_FLOAT = {("corners_of_elements.model", "float32"), ("corners_of_elements.v1", "float32")}


def check(found, wanted, tolerance):
    for name, y in wanted.items():
        assert found[name].shape == y.shape, name
        largest = max(np.abs(y).max(initial=0), 1e-2)   # ONNX Runtime's Sigmoid is 2e-8 off near 0
        np.testing.assert_allclose(found[name], y, rtol=0, atol=tolerance * largest, err_msg=name)


def compare(path, target, precision, given, tolerance):
    model = evallib.load(path, precision)
    model.save(target)
    onnx.checker.check_model(str(target), full_check=True)
    again = evallib.load(target, precision)
    needed, names = {info.name for info in again.inputs}, [info.name for info in model.outputs]
    assert [info.name for info in again.outputs] == names
    feeds = {name: x.astype(precision) for name, x in given(model).items() if name in needed}
    ours = model.run(feeds, names)
    check(again.run(feeds, names), ours, tolerance)
    if precision == "float32":   # ONNX Runtime lacks half of its operators in double
        session = ort.InferenceSession(str(target), providers=["CPUExecutionProvider"])
        check(dict(zip(names, session.run(names, feeds))), ours, tolerance)


def of_case(name):
    inputs = CASES[name.rsplit(".", 1)[0]]["inputs"]
    return lambda model: {info.name: np.array(x) for info in model.inputs for key, x in inputs.items()
                          if info.name == key or info.name.endswith("__v2libname__" + key)}


def any_numbers(model):
    rng = np.random.default_rng(7)
    return {info.name: rng.uniform(-1, 1, [size if isinstance(size, int) else 5 for size in info.shape])
            for info in model.inputs}


def refused(path, name, target):
    """Whether one of the tables says so; then it is."""
    if name in NOT_READ:
        with pytest.raises(evallib.Error, match=NOT_READ[name]):
            evallib.load(path)
    if name in NOT_SAVED:
        with pytest.raises(evallib.UnsupportedError, match=NOT_SAVED[name]):
            evallib.load(path).save(target)
    return name in NOT_READ or name in NOT_SAVED


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("name", MADE)
def test_models_that_cntk_made_compute_the_same(tmp_path, name, precision):
    path = ARCHIVE.extract(name, tmp_path)
    if (name, precision) in NO_FLOAT:
        pytest.skip("numbers that float does not hold")
    if not refused(path, name, tmp_path / "saved.onnx"):
        compare(path, tmp_path / "saved.onnx", precision, of_case(name), TOLERANCE[precision])


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("name", TRAINED)
def test_trained_models_compute_the_same(tmp_path, name, precision):
    if not refused(SHARED / name, name, tmp_path / "saved.onnx"):
        compare(SHARED / name, tmp_path / "saved.onnx", precision, any_numbers,
                1e-7 if (name, precision) in IN_FLOAT else TOLERANCE[precision])


def test_the_shared_models_are_there():
    if not TRAINED:
        pytest.skip("there is no folder of shared models")
    assert {name for name in NOT_READ if name.startswith("v")} <= set(TRAINED)


@pytest.mark.parametrize("name, inputs, output", [
    ("encoder_and_decoder.model", {"a": ("sequence_1", 3), "b": ("sequence", 2)}, ("sequence", 2)),
    ("where_and_gather.model", {"x": ("sequence", 3)}, ("sequence:Where14051", 3)), ("abs.model", {"x": ("batch", 3, 2)}, ("batch", 3, 2))])
def test_axes_of_frames_that_have_as_many_have_one_name(tmp_path, name, inputs, output):
    model = evallib.load(ARCHIVE.extract(name, tmp_path))
    model.save(tmp_path / "saved.onnx")
    for m in (model, evallib.load(tmp_path / "saved.onnx")):
        assert {info.name: info.shape for info in m.inputs} == inputs
        assert m.outputs[0].shape == output
