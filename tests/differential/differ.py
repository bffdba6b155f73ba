"""The library against ONNX Runtime on random small models: `python differ.py --seed 7 --minutes 10 [OPERATOR ...]`
draws until time is up, and prints each case that differs with the seed that draws it again."""

import argparse
import os
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "conformance"))

import compare
import draw
import draw_body  # noqa: F401: these register
import draw_image  # noqa: F401
import draw_math  # noqa: F401
import draw_ml  # noqa: F401
import draw_move  # noqa: F401
import draw_ms  # noqa: F401
import draw_nn  # noqa: F401

SAME, REFUSED = "same", "refused by ONNX Runtime"


def make(op, seed):
    d = draw.Draw(op, seed)
    case = draw.GENERATORS[op](d)
    case.unknown = d.chance(0.3)
    return case


def of_runtime(model, feeds):
    """ONNX Runtime's outputs, or None where it refuses the model or the values."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, feeds)
    except Exception:  # noqa: BLE001: what it raises is many things
        return None


def of_reference(model, feeds):
    """Those of onnx's own evaluator, which is slow, and not always right."""
    import onnx.reference
    try:
        with np.errstate(all="ignore"):
            return onnx.reference.ReferenceEvaluator(model).run(None, feeds)
    except Exception:  # noqa: BLE001: it is no more careful
        return None


def of_library(model, feeds, precision):
    import evallib
    names = [o.name for o in model.graph.output]
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(model.SerializeToString())
        file.flush()
        found = evallib.load(file.name, precision=precision).run(feeds, names)
    return [found[name] for name in names]


def table(maps, dtype):
    """A row for each map, ordered by keys, which must be the first one's."""
    keys = sorted(maps[0])
    return np.array([[row[key] for key in keys] for row in maps if sorted(row) == keys], dtype)


def difference(case, precision, expected, model, feeds):
    try:
        got = of_library(model, feeds, precision)
    except Exception as error:  # noqa: BLE001: every failure is a finding
        return f"{type(error).__name__}: {error}"[:600]
    for i, (a, b) in enumerate(zip(got, expected)):
        if isinstance(b, list) and b and isinstance(b[0], dict):
            a, b = table(a, precision), table(b, "float32")
        b = np.asarray(b)
        if b.dtype.kind == "f":
            b = b.astype(precision)
        finite = np.abs(b[np.isfinite(b)]).max(initial=0) if b.dtype.kind == "f" else 0
        relative, absolute = case.tolerance, case.tolerance * (finite + 1e-3)
        if b.dtype.kind != "f":
            relative, absolute = 0, case.steps
        with np.errstate(all="ignore"):
            fault = compare.fault(a, b, precision if b.dtype.kind == "f" else "float32", relative, absolute, relative)
        if fault:
            return f"output {i}: {fault}"
    return None


def verdict(case, precision="float32", reference=False):
    """SAME, REFUSED, or what differs; with `reference` onnx's evaluator is asked where ONNX Runtime refuses."""
    model, feeds = case.model()
    expected = of_runtime(model, feeds)
    if expected is None and reference:
        expected = of_reference(model, feeds)
    if expected is None:
        return REFUSED
    return difference(case, precision, expected, model, feeds) or SAME


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("operators", nargs="*", help="those to draw; all when none is named")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--most", type=int, default=3, help="differences shown of one operator")
    parser.add_argument("--reference", action="store_true", help="ask onnx's evaluator where ONNX Runtime refuses")
    asked = parser.parse_args()
    names = [n for n in draw.GENERATORS if not asked.operators or {n, n.rpartition(".")[2]} & set(asked.operators)]
    counts = {name: {SAME: 0, REFUSED: 0, "differs": 0} for name in names}
    end, seed = time.monotonic() + 60 * asked.minutes, asked.seed
    while time.monotonic() < end:
        for name in names:
            precision = ("float32", "float64")[seed % 2]
            found = verdict(make(name, seed), precision, asked.reference)
            counts[name][found if found in (SAME, REFUSED) else "differs"] += 1
            if found not in (SAME, REFUSED) and counts[name]["differs"] <= asked.most:
                print(f"{name} --seed {seed} ({precision}): {make(name, seed)}\n    {found}", flush=True)
        seed += 1
    for name, count in counts.items():
        print(name, ", ".join(f"{n} {what}" for what, n in count.items()))
    return any(count["differs"] for count in counts.values())


if __name__ == "__main__":
    sys.exit(main())
