"""Times evallib and ONNX Runtime in turn on the models of models.py and prints a table; see README.md.

Each library runs in a process of its own (time.c), commanded over a pipe, so that rounds interleave: whatever
disturbs the machine disturbs both. A round's figure is the median of its runs, a model's the best of its rounds.
"""
import argparse
import json
import pathlib
import subprocess
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T, helper

import models

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OUT = ROOT / "build" / "bench"
SHARED_MODELS = ROOT.parent / "shared" / "models"
ORT = next((pathlib.Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so*"))

# Against ONNX Runtime, and against our own double object, as shares of the largest value.
PEER_BOUND = {"f": 1e-4, "d": 1e-9}
OWN_BOUND, OWN_SLACK = 1e-5, 1e-6


class Failed(Exception):
    """A library cannot load or run the model; says why."""


class Peer:
    """A process of time.c."""

    def __init__(self, case, kind, threads=1, spins=True, profile=""):
        library = ORT if kind == "ort" else case.library
        command = [OUT / "time", kind, library, case.path, case.values, str(threads), str(int(spins)), profile]
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

    def time(self, seconds):
        self.ask(f"time {seconds}")
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

    def __init__(self, name, entry, path, arguments, inputs=None):
        self.name, self.entry, self.path, self.library = name, entry, path, arguments.library
        model = onnx.load(path)
        self.operations = models.operations(model)
        self.megabytes = path.stat().st_size / 1e6
        self.n_out = len(model.graph.output)
        self.values = OUT / "values" / f"{name}.txt"
        self.values.parent.mkdir(parents=True, exist_ok=True)
        inputs = inputs or dict(made_inputs(model))
        with open(self.values, "w") as text:
            for k, (name, array) in enumerate(inputs.items()):
                data = OUT / "values" / f"{self.name}_{k}.bin"
                array.tofile(data)
                kind = helper.np_dtype_to_tensor_dtype(array.dtype)
                print("in", kind, array.ndim, *array.shape, data, name, file=text)
            for value in model.graph.output:
                print("out", value.name, file=text)


def made_inputs(model):
    """Numbers from a fixed seed; a mask lets everything through, and identifiers are those of a small vocabulary."""
    random = np.random.RandomState(99)
    for value in model.graph.input:
        kind = value.type.tensor_type
        shape = [d.dim_value for d in kind.shape.dim]
        if kind.elem_type == T.INT64:
            least, past = (1, 2) if "mask" in value.name else (0, 1) if "type" in value.name else (0, 1000)
            yield value.name, random.randint(least, past, shape).astype(np.int64)
        else:
            yield value.name, random.standard_normal(shape).astype(helper.tensor_dtype_to_np_dtype(kind.elem_type))


# --- right before fast ------------------------------------------------------------------------------------------

def distance(got, expected):
    """How far apart, as a share of the largest expected value."""
    if got.shape != expected.shape:
        raise Failed(f"shape {got.shape} instead of {expected.shape}")
    if not np.issubdtype(expected.dtype, np.floating):
        return 0.0 if np.array_equal(got, expected) else np.inf
    if np.isnan(got).any() != np.isnan(expected).any():
        return np.inf
    most = np.abs(expected).max(initial=0) or 1
    return float(np.abs(got.astype(np.float64) - expected).max(initial=0) / most)


def check(case, ours, ort, ours_double):
    """The two distances; Failed when one is too large."""
    precision = case.entry.precision
    far = {}
    if ort:
        far["peer"] = max(map(distance, ours, ort))
        if not far["peer"] <= PEER_BOUND[precision]:
            raise Failed(f"WRONG: {far['peer']:.1e} off ONNX Runtime's largest value")
    if precision == "f":
        far["double"] = max(map(distance, ours, ours_double))
        slack = max(OWN_SLACK / (np.abs(array).max(initial=0) or 1) for array in ours_double)
        if not far["double"] <= OWN_BOUND + slack:
            raise Failed(f"WRONG: {far['double']:.1e} off our own double result")
    return far


def kind_of(case):
    return f"ours_{case.entry.precision}"


def verify(case):
    with Peer(case, kind_of(case)) as peer:
        ours = peer.outputs(case)
    ort = None
    if case.entry.has_peer:
        with Peer(case, "ort") as peer:
            ort = peer.outputs(case)
    double = None
    if case.entry.precision == "f":
        with Peer(case, "ours_d") as peer:
            double = peer.outputs(case)
    return check(case, ours, ort, double)


# --- measuring --------------------------------------------------------------------------------------------------

def starts(case, n):
    """Best of n fresh processes each, in turn: load, and from nothing to the first result."""
    best = {}
    for _ in range(n):
        for kind in [kind_of(case)] + ["ort"] * case.entry.has_peer:
            with Peer(case, kind) as peer:
                steady = peer.time(0)
                # What the first run takes longer than later ones is preparation put off.
                ready = peer.load + max(0, peer.first - steady)
                now = {"load": ready, "first": peer.open + peer.load + peer.first, "memory": peer.peak_memory()}
            best[kind] = {k: min(v, best.get(kind, now)[k]) for k, v in now.items()}
    return {"ours": best[kind_of(case)], "ort": best.get("ort")}


def rounds(case, threads, n, seconds):
    """Seconds a run of each peer: the best of n rounds."""
    peers = {"ours": Peer(case, kind_of(case), threads)}
    try:
        if case.entry.has_peer:
            peers["ort"] = Peer(case, "ort", threads)
            if threads > 1:
                peers["ort_no_spin"] = Peer(case, "ort", threads, spins=False)
        times = {name: [] for name in peers}
        for _ in range(n):
            for name, peer in peers.items():
                time.sleep(.01)  # the other's threads still spin
                times[name].append(peer.time(seconds))
    finally:
        for peer in peers.values():
            peer.__exit__()
    return times


def measure(case, threads, arguments, peak):
    times = rounds(case, threads, arguments.rounds, arguments.seconds)
    best = {name: min(values) for name, values in times.items()}
    row = {"seconds": best, "rounds": times}
    if case.operations:
        row["gflops"] = case.operations / best["ours"] / 1e9
        row["peak_share"] = row["gflops"] * 1e9 / peak[case.entry.precision]
    if "ort" in best:
        row["ratio"] = best["ort"] / best["ours"]
    if "ort_no_spin" in best:
        row["ratio_no_spin"] = best["ort_no_spin"] / best["ours"]
    bar = case.entry.bars[min(threads, 2) - 1]
    if bar:
        row["bar"] = bar
        enough = case.entry.peak_bar
        row["ok"] = row["ratio"] >= bar or bool(enough and row["peak_share"] >= enough)
    return row


def machine_peak(threads):
    out = subprocess.run([OUT / "peak", str(threads)], capture_output=True, text=True, check=True).stdout
    return dict(zip("fd", map(float, out.split())))


# --- the table --------------------------------------------------------------------------------------------------

HEAD = (f"{'model':20s} T {'ours':>10s} {'ORT':>10s} {'ratio':>6s} {'bar':>5s}     {'no spin':>7s} {'peak':>5s} "
        f"{'load':>15s} {'first result':>17s} {'memory':>11s}")


def micros(seconds):
    return f"{seconds * 1e6:8.1f}us" if seconds < 1e-3 else f"{seconds * 1e3:8.2f}ms"


def line(name, threads, row, start):
    def number(key, form):
        return form.format(row[key]) if key in row else ""

    def both(key, form):
        a, b = start["ours"], start["ort"]
        return form.format(a[key]) + " /" + (form.format(b[key]) if b else " -")

    seconds = row["seconds"]
    text = f"{name:20s} {threads} {micros(seconds['ours'])} {micros(seconds['ort']) if 'ort' in seconds else '-':>10s} "
    text += f"{number('ratio', '{:.2f}'):>6s} {number('bar', '{:g}'):>5s} {'' if 'ok' not in row else 'ok' if row['ok'] else 'LOW':3s} "
    text += f"{number('ratio_no_spin', '{:.2f}'):>7s} {number('peak_share', '{:.0%}'):>5s}"
    if threads == 1:
        ms = {k: {key: v * 1e3 for key, v in s.items()} for k, s in start.items() if s}
        load = " /".join(f"{ms[k]['load']:6.1f}" for k in ms)
        first = " /".join(f"{ms[k]['first']:6.1f}" for k in ms)
        text += f" {load + 'ms':>16s} {first + 'ms':>17s} {both('memory', '{:4.0f}') + 'MB':>13s}"
    return text


# --- all of it --------------------------------------------------------------------------------------------------

def made_case(name, arguments):
    path = OUT / "models" / f"{name}.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.stat().st_mtime < (HERE / "models.py").stat().st_mtime:
        models.write(path.parent, name)
    return Case(name, models.MODELS[name], path, arguments)


def run(case, arguments, peaks):
    """The model's results, printed as they come."""
    result = {}
    try:
        result["distance"] = verify(case)
        result["start"] = starts(case, arguments.starts)
        for threads in arguments.threads:
            row = measure(case, threads, arguments, peaks[threads])
            result[threads] = row
            print(line(case.name, threads, row, result["start"]), flush=True)
    except Failed as failure:
        result["failed"] = str(failure)
        print(f"{case.name:20s} {failure}", flush=True)
    return result


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--library", type=lambda text: pathlib.Path(text).resolve(), required=True)
    parser.add_argument("--only", type=lambda text: text.split(","), help="names of models, with commas")
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=.2, help="of each round")
    parser.add_argument("--starts", type=int, default=3, help="fresh processes for load and first result")
    return parser.parse_args()


def main():
    arguments = parse()
    names = arguments.only or list(models.MODELS)
    peaks = {threads: machine_peak(threads) for threads in arguments.threads}
    print(f"ONNX Runtime {onnxruntime.__version__}; peak " + "; ".join(
        f"{n} thread{'s' * (n > 1)} {p['f'] / 1e9:.0f} GFLOP/s float, {p['d'] / 1e9:.0f} double" for n, p in peaks.items()))
    print(HEAD)
    results = {name: run(made_case(name, arguments), arguments, peaks) for name in names}
    report = {"onnxruntime": onnxruntime.__version__, "peak": peaks, "models": results}
    (OUT / "results.json").write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
