"""ONNX's own test cases: vectors packed in the shared folder, and those that the package onnx makes.

A case is a model, its data sets (values by the name of an input, expected outputs in order) and
onnx's tolerances. Sequences are lists, optionals a value or None.
"""

import dataclasses
import os
import pathlib
import tarfile
import warnings
from typing import Callable, List, Tuple

import numpy as np
import onnx
from onnx import numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("EVL_TEST_SHARED", ROOT.parent / "shared"))
VECTORS = SHARED / "onnx-conformance-opset28.tar.xz"
DATA = "onnx/backend/test/data/"

_PROTOS = {"tensor_type": (onnx.TensorProto, numpy_helper.to_array),
           "sequence_type": (onnx.SequenceProto, numpy_helper.to_list),
           "optional_type": (onnx.OptionalProto, numpy_helper.to_optional),
           "map_type": (onnx.MapProto, numpy_helper.to_dict)}


@dataclasses.dataclass
class Case:
    source: str                         # "vectors" or "generated"
    name: str
    model: Callable[[], onnx.ModelProto]
    sets: Callable[[onnx.ModelProto], List[Tuple[dict, list]]]
    rtol: float = 1e-3
    atol: float = 1e-7

    @property
    def id(self):
        return f"{self.source}-{self.name.removeprefix('test_')}"


def fed_inputs(model):
    """What has to be given: an input with an initializer has a default."""
    defaults = {tensor.name for tensor in model.graph.initializer}
    return [value for value in model.graph.input if value.name not in defaults]


def read_value(data, info):
    proto, to_python = _PROTOS[info.type.WhichOneof("value")]
    return to_python(proto.FromString(data))


# --- files: NAME/model.onnx and NAME/test_data_set_0/input_0.pb ... ----------------------------

def numbered(files, stem):
    """What stem0.pb, stem1.pb ... hold."""
    n = 0
    while f"{stem}{n}.pb" in files:
        yield files[f"{stem}{n}.pb"]
        n += 1


def sets_of_files(files, place, model):
    folders = sorted({name[:name.index("/", len(place))] + "/" for name in files
                      if name.startswith(place + "test_data_set_")})
    for folder in folders:
        inputs = {info.name: read_value(data, info)
                  for info, data in zip(model.graph.input, numbered(files, folder + "input_"))}
        outputs = [read_value(data, info)
                   for info, data in zip(model.graph.output, numbered(files, folder + "output_"))]
        yield inputs, outputs


def light_set(files, stem, model):
    """Light models bring no inputs: element i of n is i / n."""
    inputs = {}
    for info in fed_inputs(model):
        shape = [axis.dim_value or 1 for axis in info.type.tensor_type.shape.dim]
        n = int(np.prod(shape))
        inputs[info.name] = (np.arange(n).reshape(shape) / n).astype(np.float32)
    outputs = [read_value(data, info)
               for info, data in zip(model.graph.output, numbered(files, stem + "_output_"))]
    return [(inputs, outputs)]


def cases_of_files(source, files):
    """files: {path below DATA: bytes}."""
    def model_of(path):
        return lambda: onnx.ModelProto.FromString(files[path])

    for path in sorted(files):
        if path.endswith("/model.onnx"):
            place = path.removesuffix("model.onnx")
            yield Case(source, place.split("/")[-2], model_of(path),
                       lambda model, place=place: list(sets_of_files(files, place, model)))
        elif path.startswith("light/") and path.endswith(".onnx"):
            stem = path.removesuffix(".onnx")
            yield Case(source, "test_" + stem.removeprefix("light/"), model_of(path),
                       lambda model, stem=stem: light_set(files, stem, model))


def packed_files():
    """Nothing when the archive is absent."""
    if not VECTORS.is_file():
        return {}
    with tarfile.open(VECTORS) as archive:
        return {member.name.removeprefix(DATA): archive.extractfile(member).read()
                for member in archive if member.isfile()}


# --- the package -------------------------------------------------------------------------------

def plain(value):
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def node_case(test):
    def sets(model):
        names = [info.name for info in model.graph.input]
        return [(dict(zip(names, map(plain, inputs))), list(map(plain, outputs)))
                for inputs, outputs in test.data_sets]
    return Case("generated", test.name, lambda: test.model, sets, test.rtol, test.atol)


def generated_cases():
    """The node cases, which the package computes when they are imported."""
    from onnx.backend.test import loader
    np.random.seed(1)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        nodes = loader.load_model_tests(kind="node")
    return list(map(node_case, nodes))


def all_cases():
    """The package brings the cases that are no nodes as files; most are the packed ones."""
    from onnx.backend.test import loader
    packed = packed_files()
    data = pathlib.Path(loader.DATA_DIR)
    brought = {path.relative_to(data).as_posix(): path.read_bytes()
               for path in data.rglob("*") if path.suffix in (".onnx", ".pb")}
    if all(packed.get(name) == contents for name, contents in brought.items()):
        brought = {}
    return [*cases_of_files("vectors", packed), *cases_of_files("generated", brought),
            *generated_cases()]


def save(model, folder):
    path = pathlib.Path(folder) / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path
