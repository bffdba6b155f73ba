"""The benchmark's parts work: models are valid, their arithmetic is counted right, and the program that times runs them."""
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "support")]
import models   # noqa: E402
from evallib_ctypes import library_path   # noqa: E402

FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-O1", "-DVECTOR_BYTES=16",
         f"-I{ROOT}/include", f"-I{ROOT}/evallib"]


def compile_twins(folder, program, twin, *others):
    objects = []
    for is_double in (0, 1):
        objects.append(folder / f"{twin}_{is_double}.o")
        subprocess.run(["cc", *FLAGS, f"-DEVL_REAL_IS_DOUBLE={is_double}", "-c", HERE / f"{twin}.c", "-o", objects[-1]], check=True)
    sources = [HERE / f"{name}.c" for name in (program, *others)]
    subprocess.run(["cc", *FLAGS, *sources, *objects, "-ldl", "-pthread", "-o", folder / program], check=True)
    return folder / program


@pytest.mark.parametrize("name", [*models.OPERATORS, "mlp_b1", "lenet_b1", "mobilenetv2", "lstm", "gru", "mlp_f64_b1"])
def test_a_model_is_valid(name):
    onnx.checker.check_model(models.MODELS[name].build().model(name), full_check=True)


def test_the_same_model_is_made_each_time():
    once, again = (models.lenet(1).model("lenet").SerializeToString() for _ in range(2))
    assert once == again


@pytest.mark.parametrize("builder, operations", [
    (models.mlp(64), 2 * 64 * (784 * 200 + 200 * 10)),
    (models.one_node("Conv", [1, 8, 6, 6], (4, 2, 3, 3), group=4), 2 * 4 * 4 * 4 * 2 * 3 * 3),
    (models.one_node("Einsum", [3, 4], (4, 5), equation="ij,jk->ik"), 2 * 3 * 5 * 4),
    (models.recurrent("LSTM", steps=7, n_in=2, hidden=3, layers=1), 2 * 7 * 4 * 3 * (2 + 3)),
    (models.one_node("Relu", [5]), 0)])
def test_operations_are_counted(builder, operations):
    assert models.operations(builder.model("counted")) == operations


@pytest.mark.skipif(not shutil.which("cc"), reason="no compiler")
def test_the_peak_is_measured(tmp_path):
    peak = subprocess.run([compile_twins(tmp_path, "peak", "peak_real"), "1"], check=True, capture_output=True, text=True)
    single, double = map(float, peak.stdout.split())
    assert single > 1e6 and double > 1e6


@pytest.mark.skipif(not shutil.which("cc"), reason="no compiler")
@pytest.mark.skipif(library_path() is None, reason="no library: set EVALLIB_LIBRARY")
@pytest.mark.parametrize("kind, dtype", [("ours_f", np.float32), ("ours_d", np.float64)])
def test_a_library_is_timed(tmp_path, kind, dtype):
    program = compile_twins(tmp_path, "time", "ours_real", "ort")
    onnx.save(models.one_node("Relu", [2, 3]).model("relu"), tmp_path / "relu.onnx")
    np.array([[-1, 2, -3], [4, -5, 6]], np.float32).tofile(tmp_path / "x")
    (tmp_path / "values").write_text(f"in 1 2 2 3 {tmp_path}/x x\nout t0\n")
    command = [program, kind, library_path(), tmp_path / "relu.onnx", tmp_path / "values", "1", "1"]
    answer = subprocess.run(command, input=f"time 0\nbusy 0\nmemory\nsave {tmp_path}/y\n", check=True, capture_output=True, text=True)
    words = [line.split()[0] for line in answer.stdout.splitlines()]
    assert words == ["ready", "took", "took", "memory", "out", "saved"]
    assert np.fromfile(tmp_path / "y_0.bin", dtype).tolist() == [0, 2, 0, 4, 0, 6]


@pytest.mark.skipif(not shutil.which("cc"), reason="no compiler")
def test_a_failure_is_one_line(tmp_path):
    program = compile_twins(tmp_path, "time", "ours_real", "ort")
    (tmp_path / "values").write_text("out t0\n")
    answer = subprocess.run([program, "ours_f", "/none.so", "none.onnx", tmp_path / "values", "1", "1"],
                            input="", capture_output=True, text=True)
    assert answer.returncode == 1 and answer.stdout.startswith("failed ") and answer.stdout.count("\n") == 1
