"""Models and values on disk, and the processes of time.c that run them."""
import json
import pathlib
import subprocess
import typing

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T, helper

import models

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "bench"
ORT = next((pathlib.Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so*"))


class Failed(Exception):
    """A library cannot load or run the model; says why."""


class Ours(typing.NamedTuple):
    """evallib as it is measured."""
    library: pathlib.Path
    settings: str = ""  # of its configuration, a line each


class Peer:
    """A process of time.c."""

    def __init__(self, case, kind, threads=1, spins=True, profile=""):
        library = ORT if kind == "ort" else case.ours.library
        settings = "" if kind == "ort" else case.ours.settings
        command = [OUT / "time", kind, library, case.path, case.values, str(threads), str(int(spins)), profile, settings]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.open, self.load, self.first = map(float, self.answer("ready"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def answer(self, word):
        line = self.process.stdout.readline().split(" ", 1)
        if line[0].strip() != word:
            self.process.stdin.close()
            raise Failed(line[1].strip() if line[0] == "failed" else f"ended with status {self.process.wait()}")
        return line[1].split() if len(line) > 1 else []

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def time(self, seconds, clock="time"):
        """Seconds of a run, the median; clock "busy" counts the calling thread's processor time."""
        self.ask(f"{clock} {seconds}")
        return float(self.answer("took")[0])

    def peak_memory(self):
        self.ask("memory")
        return int(self.answer("memory")[0]) / 1024

    def outputs(self, case):
        prefix = OUT / "values" / f"{case.name}_result"
        self.ask(f"save {prefix}")
        arrays = []
        for k in range(case.n_out):
            kind, _, *dims = map(int, self.answer("out"))
            array = np.fromfile(f"{prefix}_{k}.bin", helper.tensor_dtype_to_np_dtype(kind))
            arrays.append(array.reshape(dims))
        self.answer("saved")
        return arrays


class Case:
    """A model on disk, its input values on disk, and what is asked of it."""

    def __init__(self, name, entry, path, ours, inputs=None):
        self.name, self.entry, self.path, self.ours = name, entry, path, ours
        model = onnx.load(path)
        inputs = inputs or dict(made_inputs(model, entry.is_positive))
        fix_shapes(model, inputs)
        self.operations = models.operations(model)
        self.megabytes = path.stat().st_size / 1e6
        self.n_out = len(model.graph.output)
        self.values = OUT / "values" / f"{name}.txt"
        self.values.parent.mkdir(parents=True, exist_ok=True)
        with open(self.values, "w") as text:
            for k, (name, array) in enumerate(inputs.items()):
                data = OUT / "values" / f"{self.name}_{k}.bin"
                array.tofile(data)
                kind = helper.np_dtype_to_tensor_dtype(array.dtype)
                print("in", kind, array.ndim, *array.shape, data, name, file=text)
            for value in model.graph.output:
                print("out", value.name, file=text)


def fix_shapes(model, inputs):
    """Gives the inputs of a model that takes any size the shapes of these."""
    for value in model.graph.input:
        if value.name in inputs:
            kind = value.type.tensor_type.elem_type
            value.CopyFrom(helper.make_tensor_value_info(value.name, kind, inputs[value.name].shape))


def made_inputs(model, is_positive):
    """Numbers from a fixed seed; a mask lets everything through, and identifiers are those of a small vocabulary."""
    random = np.random.RandomState(99)
    for value in model.graph.input:
        kind = value.type.tensor_type
        shape = [d.dim_value for d in kind.shape.dim]
        if kind.elem_type == T.INT64:
            least, past = (1, 2) if "mask" in value.name else (0, 1) if "type" in value.name else (0, 1000)
            yield value.name, random.randint(least, past, shape).astype(np.int64)
        else:
            numbers = random.standard_normal(shape)
            numbers = np.abs(numbers) if is_positive else numbers
            yield value.name, numbers.astype(helper.tensor_dtype_to_np_dtype(kind.elem_type))


def made_case(name, entry, ours):
    """A model of models.py, made when it is not there or older than its description."""
    path = OUT / "models" / f"{name}.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.stat().st_mtime < pathlib.Path(models.__file__).stat().st_mtime:
        models.write(path.parent, name)
    return Case(name, entry, path, ours)


# --- models of others, when their folder is there ---------------------------------------------------------------

REAL = ROOT.parent / "shared" / "models"
# Float evaluations themselves are this far from double there.
LOOSER = {"basic_pitch": 5e-4, "ppocr_v4_det": 5e-5}


def is_network(model):
    """Not of ai.onnx.ml, which is not this comparison's business."""
    return all(node.domain == "" for node in model.graph.node)


def computes_in_bytes(model):
    return any(word in node.op_type for node in model.graph.node for word in ("Quantize", "Integer", "QLinear"))


def real_cases(ours):
    """Name and maker of each, with the first of its data sets as input."""
    for folder in sorted(REAL.glob("*/")):
        path, data = folder / "model.onnx", folder / "data_0"
        model = onnx.load(path) if path.is_file() else None
        if not model or not is_network(model):
            continue
        inputs = {entry["name"]: np.load(data / entry["file"])
                  for entry in json.loads((data / "reference.json").read_text())["inputs"]}
        precision = "d" if any(array.dtype == np.float64 for array in inputs.values()) else "f"
        entry = models.Entry(None, (1.0, None), precision=precision, own_bound=LOOSER.get(folder.name, 1e-5))
        if computes_in_bytes(model):
            entry = models.in_bytes(None, None)
        yield f"real_{folder.name}", lambda name, a=(entry, path, ours, inputs): Case(name, *a)
