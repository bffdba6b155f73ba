"""Real networks through the package and the library installed beside it."""

import concurrent.futures
import pickle
import shutil

import numpy as np
import pytest

import evallib
from packages import ROOT

DIGITS = ROOT / "samples" / "digits" / "digits.onnx"


@pytest.fixture(scope="module")
def images():
    shape = [n if isinstance(n, int) else 2 for n in evallib.load(DIGITS).inputs[0].shape]
    return np.random.default_rng(1).random(shape, np.float32)


def test_float_and_double_agree(images):
    single, double = evallib.load(DIGITS)(images), evallib.load(DIGITS, "float64")(images)
    assert (single.dtype, double.dtype) == (np.float32, np.float64)
    assert np.allclose(single, double, atol=1e-4 * np.abs(double).max())


@pytest.mark.parametrize("name", ["with blank", "a#b #c", "a;b,c", "a$b$c", "a'b", 'a"b', "é", "[a]",
                                  "a=b", "back\\slash"])
def test_a_path_may_hold_what_configuration_text_means_something_by(tmp_path, images, name):
    path = tmp_path / name
    shutil.copy(DIGITS, path)
    try:
        model = evallib.load(path)
    except evallib.ArgumentError as error:
        assert "$" in name, error # a variable's sign cannot be said
    else:
        assert np.array_equal(model(images), evallib.load(DIGITS)(images))


def test_an_unknown_setting_is_an_error():
    with pytest.raises(evallib.ArgumentError, match="(?i)nothreads"):
        evallib.load(DIGITS, noThreads=1)
    evallib.load(DIGITS, noThreads=1, strict=False).close()


def test_threads_share_one_model(images):
    model = evallib.load(DIGITS)
    expected = model(images)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for out in pool.map(lambda _: model(images), range(64)):
            assert np.array_equal(out, expected)


def test_a_pickled_model_and_a_clone_give_the_same(images):
    model = evallib.load(DIGITS)
    expected = model(images)
    other, clone = pickle.loads(pickle.dumps(model)), model.clone()
    model.close()
    assert np.array_equal(other(images), expected) and np.array_equal(clone(images), expected)


def test_a_session_gives_declared_types_from_a_path_and_from_bytes(images):
    for source in (DIGITS, str(DIGITS), DIGITS.read_bytes()):
        session = evallib.InferenceSession(source, providers=["CPUExecutionProvider"])
        (out,) = session.run(None, {session.get_inputs()[0].name: images})
        assert session.get_outputs()[0].type == "tensor(float)" and out.dtype == np.float32
        assert np.array_equal(out, evallib.load(DIGITS)(images))


@pytest.mark.parametrize("content, error", [(b"", evallib.FormatError), (b"?" * 99, evallib.FormatError)])
def test_bytes_that_are_no_model(tmp_path, content, error):
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(error):
        evallib.load(tmp_path / "m")


def test_files_that_are_none(tmp_path):
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(OSError):
            evallib.load(path)


def test_wrong_shapes_and_names_leave_the_model_usable(images):
    model = evallib.load(DIGITS)
    with pytest.raises(evallib.ShapeError):
        model(np.zeros((1, 2, 3, 4, 5), np.float32))
    with pytest.raises(evallib.NotFoundError):
        model.run({model.inputs[0].name: images}, ["no such node"])
    assert np.isfinite(model(images)).all()
