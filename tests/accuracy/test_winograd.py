"""What Winograd's way loses over whole networks: the setting `accuracy` may be `normal` only as long as this holds.

A network's error is the largest distance of its float outputs from those of a double object that sums plainly, over the
largest output. With `normal` it may be four times that with `exact`, or 2e-6, whichever is more.

    python tests/accuracy/test_winograd.py        prints the table that tests/README.md shows
"""
import json, pathlib, sys

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests" / "support"), str(ROOT / "tests" / "bench")]
import models   # noqa: E402
from evallib_ctypes import Model, library_path   # noqa: E402

SHARED = ROOT.parent / "shared" / "models"
TIMES, SHARE = 4, 2e-6
RUNS = 3
OWN = ["lenet_b1", "squeezenet11", "resnet18", "resnet50", "mobilenetv2", "superres"]


def deep(channels, size, layers=12):
    """3 x 3 convolutions alone, of a number of channels where each form of the method is in use."""
    g = models.Builder()
    x = g.input("x", 1, channels, size, size)
    for _ in range(layers):
        x = g.relu(g.conv(x, channels, channels, [3, 3]))
    return g.output(x)


BUILDERS = {**{name: models.NETWORKS[name].build for name in OWN},
            "deep4": lambda: deep(4, 32), "deep8": lambda: deep(8, 32), "deep16": lambda: deep(16, 40), "deep64": lambda: deep(64, 56),
            "deep256": lambda: deep(256, 14)}


def has_square_kernel(path):
    model = onnx.load(path, load_external_data=False)
    return any(node.op_type == "Conv" and list(a.ints) == [3, 3] for node in model.graph.node
               for a in node.attribute if a.name == "kernel_shape")


def shared_networks():
    if not SHARED.is_dir():
        return []
    files = sorted(SHARED.glob("*/model.onnx"))
    return [f.parent.name for f in files if "qdq" not in f.parent.name and "int8" not in f.parent.name and has_square_kernel(f)]


def inputs_of_shared(folder):
    for data in sorted(folder.glob("data_*")):
        reference = json.loads((data / "reference.json").read_text())
        yield {entry["name"]: np.load(data / entry["file"]) for entry in reference["inputs"]}


def random_inputs(model):
    random = np.random.RandomState(7)
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in model.graph.input}
    for _ in range(RUNS):
        yield {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def network(name, folder):
    """The file of a network, its output names, inputs for it."""
    if name not in BUILDERS:
        path = SHARED / name / "model.onnx"
        return path, [o.name for o in onnx.load(path).graph.output], list(inputs_of_shared(SHARED / name))
    model, path = BUILDERS[name]().model(name), pathlib.Path(folder) / f"{name}.onnx"
    onnx.save(model, path)
    return path, [o.name for o in model.graph.output], list(random_inputs(model))


def worst(got, exact):
    """Over the largest value of each output; integers apart, which are decisions about numbers."""
    shares = [np.abs(got[k] - exact[k]).max(initial=0) / max(np.abs(exact[k]).max(initial=0), 1e-30)
              for k in exact if np.issubdtype(exact[k].dtype, np.floating)]
    return max(shares, default=0.0)


def errors(path, outputs, inputs):
    """Of plain sums, of `normal`, of `fast`: the worst of all inputs."""
    with Model(path, "d", "accuracy=exact") as truth:
        exact = [truth.run(x, outputs) for x in inputs]
    found = []
    for accuracy in ("exact", "normal", "fast"):
        with Model(path, "f", f"accuracy={accuracy}") as model:
            found.append(max(worst(model.run(x, outputs), y) for x, y in zip(inputs, exact)))
    return found


@pytest.mark.skipif(library_path() is None, reason="no library: set EVALLIB_LIBRARY")
@pytest.mark.parametrize("name", [*BUILDERS, *shared_networks()])
def test_loss(name, tmp_path):
    plain, normal, _ = errors(*network(name, tmp_path))
    assert plain <= 1e-3
    assert normal <= max(TIMES * plain, SHARE)


if __name__ == "__main__":
    import tempfile

    print("| network | exact | normal | fast | normal / exact |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in [*BUILDERS, *shared_networks()]:
            plain, normal, fast = errors(*network(name, folder))
            print(f"| {name} | {plain:.1e} | {normal:.1e} | {fast:.1e} | {normal / plain:.1f} |", flush=True)
