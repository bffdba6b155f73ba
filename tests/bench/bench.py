"""Times evallib and ONNX Runtime in turn on the models of models.py and prints a table; see README.md.

Each library runs in a process of its own (time.c), commanded over a pipe, so that rounds interleave: whatever
disturbs the machine disturbs both. A round's figure is the median of its runs, a model's the best of its rounds.
"""
import argparse
import contextlib
import fnmatch
import json
import pathlib
import subprocess
import time

import numpy as np
import onnxruntime

import chart
import models
import where
from peers import OUT, Failed, Ours, Peer, made_case, real_cases

# Against ONNX Runtime: shares of its largest value. In float, this much more in absolute terms, there and against our
# own double object: where every value is tiny, the last bit of a sigmoid is a large share.
PEER_BOUND = {"f": 1e-4, "d": 1e-9}
SLACK = {"f": 1e-6, "d": 0}


# --- right before fast ------------------------------------------------------------------------------------------

def largest(array):
    return float(np.abs(array[np.isfinite(array)]).max(initial=0)) or 1


def distance(got, expected):
    """How far apart, as a share of the largest expected value."""
    if got.shape != expected.shape:
        raise Failed(f"shape {got.shape} instead of {expected.shape}")
    if not np.issubdtype(expected.dtype, np.floating):
        return 0.0 if np.array_equal(got, expected) else np.inf
    finite = np.isfinite(expected)
    if not np.array_equal(got[~finite], expected[~finite].astype(got.dtype), equal_nan=True):
        return np.inf
    return float(np.abs(got[finite].astype(np.float64) - expected[finite]).max(initial=0)) / largest(expected)


def farthest(got, expected, bound, slack, whom):
    """The largest distance of all outputs; Failed when one is too large."""
    far = [distance(*pair) for pair in zip(got, expected)]
    for k, away in enumerate(far):
        if not away <= bound + slack / largest(expected[k]):
            raise Failed(f"WRONG: output {k} is {away:.1e} of the largest value off {whom}")
    return max(far)


def check(case, ours, ort, ours_double):
    precision, far = case.entry.precision, {}
    if ort:
        far["ort"] = farthest(ours, ort, case.entry.peer_bound or PEER_BOUND[precision], SLACK[precision], "ONNX Runtime")
    if ours_double:
        far["double"] = farthest(ours, ours_double, case.entry.own_bound, SLACK[precision], "our own double result")
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


def rounds(case, threads, arguments):
    """Seconds a run of each peer in each round."""
    spinning = {"ours": (kind_of(case), True)}
    if case.entry.has_peer:
        spinning["ort"] = ("ort", True)
    if case.entry.has_peer and threads > 1:
        spinning["ort_no_spin"] = ("ort", False)
    with contextlib.ExitStack() as stack:
        peers = {name: stack.enter_context(Peer(case, kind, threads, spins)) for name, (kind, spins) in spinning.items()}
        times = {name: [] for name in peers}
        for _ in range(arguments.rounds):
            for name, peer in peers.items():
                time.sleep(.01)  # threads of the one before may still spin
                times[name].append(peer.time(arguments.seconds, "busy" if arguments.busy else "time"))
    return times


def measure(case, threads, arguments, peak, start):
    times = rounds(case, threads, arguments)
    best = {name: min(values) for name, values in times.items()}
    row = {"seconds": best, "rounds": times}
    if case.operations:
        row["peak_share"] = case.operations / best["ours"] / peak[case.entry.precision]
    if "ort" in best:
        row["ratio"] = best["ort"] / best["ours"]
    if "ort_no_spin" in best:
        row["ratio_no_spin"] = best["ort_no_spin"] / best["ours"]
    judge(row, case.entry, threads, start)
    return row


def judge(row, entry, threads, start):
    """Adds the bar and whether it is reached: the ratio, or where that is allowed the share of the peak."""
    bar = entry.bars[min(threads, 2) - 1]
    if bar:
        row["bar"] = bar
        row["ok"] = row["ratio"] >= bar or bool(entry.peak_bar and row["peak_share"] >= entry.peak_bar)
    if entry.load_bar and threads == 1:
        row["load_bar"] = entry.load_bar
        row["load_ok"] = start["ort"]["load"] / start["ours"]["load"] >= entry.load_bar


def machine_peak(threads):
    out = subprocess.run([OUT / "peak", str(threads)], capture_output=True, text=True, check=True).stdout
    return dict(zip("fd", map(float, out.split())))


# --- the table --------------------------------------------------------------------------------------------------

COLUMNS = (("model", "<22"), ("T", ">1"), ("ours", ">10"), ("ORT", ">10"), ("ratio", ">6"), ("bar", ">5"), ("", "<3"),
           ("no spin", ">7"), ("peak", ">5"), ("load, ms", ">15"), ("", "<3"), ("first result, ms", ">16"), ("memory, MB", ">11"))


def table_line(cells):
    return " ".join(f"{cell:{form}}" for cell, (_, form) in zip(cells, COLUMNS)).rstrip()


def duration(seconds):
    return "-" if seconds is None else f"{seconds * 1e6:.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def verdict(row, key):
    return {True: "ok", False: "LOW", None: ""}[row.get(key)]


def of_start(start, key, scale, form):
    """Ours and theirs of one figure of a start."""
    return " / ".join(f"{start[who][key] * scale:{form}}" if start[who] else "-" for who in ("ours", "ort"))


def cells(name, threads, row, start):
    def number(key, form):
        return f"{row[key]:{form}}" if key in row else ""

    figures = [name, threads, duration(row["seconds"]["ours"]), duration(row["seconds"].get("ort")), number("ratio", ".2f"),
               number("bar", "g"), verdict(row, "ok"), number("ratio_no_spin", ".2f"), number("peak_share", ".0%")]
    if threads > 1:
        return figures
    return figures + [of_start(start, "load", 1e3, ".1f"), verdict(row, "load_ok"), of_start(start, "first", 1e3, ".1f"),
                      of_start(start, "memory", 1, ".0f")]


# --- all of it --------------------------------------------------------------------------------------------------

def run(case, arguments, peaks):
    """The model's results, printed as they come."""
    result = {"threads": {}}
    try:
        result["distance"] = verify(case)
        result["start"] = starts(case, arguments.starts)
        for threads in arguments.threads:
            row = measure(case, threads, arguments, peaks[threads], result["start"])
            result["threads"][threads] = row
            print(table_line(cells(case.name, threads, row, result["start"])), flush=True)
        if arguments.profile:
            print(where.time_goes(case, kind_of(case)), flush=True)
    except Failed as failure:
        result["failed"] = str(failure)
        print(f"{case.name:22s} {failure}", flush=True)
    return result


def numbers(text):
    return [int(n) for n in text.split(",")]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--library", type=lambda text: pathlib.Path(text).resolve(), required=True)
    parser.add_argument("--settings", type=lambda text: text.replace(",", "\n"), default="", metavar="KEY=VALUE",
                        help="of our configuration, with commas: kernels=avx2,accuracy=exact")
    parser.add_argument("--only", type=lambda text: text.split(","), default=["*"], metavar="NAMES",
                        help="these models, with commas; patterns like conv_* too")
    parser.add_argument("--scaling", action="store_true", help="instead: sizes of batch and sequence")
    parser.add_argument("--threads", type=numbers, default=[1, 2], help="1,2")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=.2, help="of each round")
    parser.add_argument("--starts", type=int, default=3, help="fresh processes for load and first result")
    parser.add_argument("--busy", action="store_true", help="the machine is busy: one thread, by its processor time")
    parser.add_argument("--profile", action="store_true", help="and where the time goes, at one thread")
    arguments = parser.parse_args()
    if arguments.busy:
        arguments.threads = [1]
    return arguments


def chosen(arguments):
    """{name: maker of its case}"""
    ours = Ours(arguments.library, arguments.settings)
    entries = models.SCALING if arguments.scaling else models.MODELS
    makers = {name: lambda name, entry=entry: made_case(name, entry, ours) for name, entry in entries.items()}
    if not arguments.scaling:
        makers.update(real_cases(ours))
    names = [name for name in makers if any(fnmatch.fnmatchcase(name, pattern) for pattern in arguments.only)]
    for pattern in arguments.only:
        if not fnmatch.filter(makers, pattern):
            raise SystemExit(f"no model is called {pattern}; there are: {', '.join(makers)}")
    return {name: makers[name] for name in names}


def main():
    arguments = parse()
    makers = chosen(arguments)
    peaks = {threads: machine_peak(threads) for threads in arguments.threads}
    for threads, peak in peaks.items():
        print(f"peak of {threads} thread{'s' * (threads > 1)}: {peak['f'] / 1e9:.0f} GFLOP/s in float, {peak['d'] / 1e9:.0f} in double")
    print(f"ONNX Runtime {onnxruntime.__version__}\n\n{table_line([title for title, _ in COLUMNS])}", flush=True)
    results = {name: run(make(name), arguments, peaks) for name, make in makers.items()}
    report = {"onnxruntime": onnxruntime.__version__, "peak": peaks, "models": results}
    (OUT / "results.json").write_text(json.dumps(report, indent=1))
    chart.draw(results, f"evallib and ONNX Runtime {onnxruntime.__version__}", OUT / "chart.svg")
    print(f"\n{OUT / 'results.json'}\n{OUT / 'chart.svg'}")


if __name__ == "__main__":
    main()
