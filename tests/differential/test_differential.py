"""A fixed set of random models against ONNX Runtime, in float and in double."""

import os

import pytest

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

import differ  # noqa: E402
import draw  # noqa: E402

SEEDS = int(os.environ.get("DIFFERENTIAL_SEEDS", "10"))


# What the library does not offer yet, or not in all its forms.
MS = "com.microsoft."
OPEN = {}
UNKNOWN_THERE = {"SequenceMap", "SwiGLU"}      # to ONNX Runtime: for onnx's own evaluator, see differ.py


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.xfail(strict=True, reason=OPEN[n])) if n in OPEN else n
                                  for n in sorted(set(draw.GENERATORS) - UNKNOWN_THERE)])
def test_operator(name):
    faults, compared = [], 0
    for seed in range(SEEDS):
        case = differ.make(name, seed)
        model, feeds = case.model()
        expected = differ.of_runtime(model, feeds)
        compared += expected is not None
        for precision in ("float32", "float64") if expected is not None else ():
            found = differ.difference(case, precision, expected, model, feeds)
            if found:
                faults.append(f"seed {seed}, {precision}: {case}: {found}")
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
