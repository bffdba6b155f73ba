"""What the tests of CNTK v1 models share: where things are, frames in and out."""

import os
import pathlib
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent
SHARED = pathlib.Path(os.environ.get("EVL_TEST_SHARED", ROOT.parent / "shared"))
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "tests" / "data")]

import cntk1  # noqa: E402
import evallib_ctypes as evl  # noqa: E402

TOLERANCE = {"f": 1e-5, "d": 1e-9}  # of the largest value of an output

needs_library = pytest.mark.skipif(evl.library_path() is None, reason="no library to test")
needs_shared = pytest.mark.skipif(not (SHARED / "cntk" / "v1").is_dir(), reason="no shared files")


def assert_close(found, expected, precision, factor=1):
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    assert found.shape == expected.shape
    scale = max(np.abs(expected).max(), 1e-30) if expected.size else 1
    assert np.abs(found - expected).max() <= factor * TOLERANCE[precision] * scale


def to_tensor(frames, precision):
    """Samples in CNTK's order of axes, one a frame, as the library wants them."""
    kind = np.float32 if precision == "f" else np.float64
    return np.stack([np.asarray(x).T for x in frames]).astype(kind)


def evaluate(model, tmp_path, precision, feeds, output="z", frames=True):
    """The output's samples in CNTK's order of axes; without frames, its one value."""
    path = tmp_path / "net.model"
    model.outputs = model.outputs or [output]
    model.save(path)
    given = {name: to_tensor(x, precision) for name, x in feeds.items()}
    with evl.Model(path, precision) as net:
        y = net.run(given, [output])[output]
    return np.stack([sample.T for sample in y]) if frames else y.T
