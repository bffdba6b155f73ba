"""A fixed set of random models against ONNX Runtime, in float and in double."""

import os

import pytest

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

import differ  # noqa: E402
import draw  # noqa: E402

SEEDS = int(os.environ.get("DIFFERENTIAL_SEEDS", "12"))


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("name", sorted(draw.GENERATORS))
def test_operator(name, precision):
    faults, compared = [], 0
    for seed in range(SEEDS):
        case = differ.make(name, seed)
        found = differ.verdict(case, precision)
        compared += found != differ.REFUSED
        if found not in (differ.SAME, differ.REFUSED):
            faults.append(f"seed {seed}: {case}: {found}")
    assert not faults, "\n".join(faults)
    assert compared, "ONNX Runtime refused all of them"


def test_a_wrong_value_is_seen():
    """The comparison itself: another attribute is another model."""
    case = differ.make("ai.onnx.ml.Binarizer", 1)
    model, feeds = case.model()
    expected = differ.of_runtime(model, feeds)
    case.attributes["threshold"] += 100.0
    other, feeds = case.model()
    assert differ.difference(case, "float32", [1 - expected[0]], other, feeds)
