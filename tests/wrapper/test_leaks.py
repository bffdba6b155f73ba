"""Memory stays flat over ten thousand rounds of everything, also of what fails."""

import gc
import sys

import numpy as np
import pytest

ROUNDS = 10_000
MOST = 512  # KiB


def resident_kib():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def growth(work):
    """KiB by which the process grows over the rounds."""
    gc.collect()
    before = resident_kib()
    for _ in range(ROUNDS):
        work()
    gc.collect()
    return resident_kib() - before


def grows_by(work):
    """As growth, after as many rounds to warm up as a tenth. The heap of a process grows by itself once
    in a while; what leaks grows every time, so the least of three counts."""
    for _ in range(ROUNDS // 10):
        work()
    least = growth(work)
    for _ in range(2):
        least = least if least < MOST else min(least, growth(work))
    return least


def failing(fake, call):
    try:
        call()
    except fake.Error:
        return
    raise AssertionError("should have failed")


LARGE = np.zeros(1000)
WORK = {
    "life": lambda fake, e: fake.ModelD().Init("a=b"),
    "load": lambda fake, e: fake.load("m", outputNodeNames=["a"]).close(),
    "network": lambda fake, e: e.CreateNetwork("modelPath=m"),
    "memory": lambda fake, e: e.LoadMemory(bytearray(9000), ""),
    "failing memory": lambda fake, e: failing(fake, lambda: e.LoadMemory(b"!" * 9000, "")),
    "clone": lambda fake, e: e.Clone(),
    "describe": lambda fake, e: (e.Describe("nodes"), e.Metadata(), e.MemoryUse()),
    "dimensions": lambda fake, e: e.GetNodeDimensions("specified", ["a", "b"]),
    "evaluate": lambda fake, e: e.Evaluate({"x": [1, 2, 3], "z": LARGE}, ["y"]),
    "outputs": lambda fake, e: e.EvaluateOutputs(["p"]),
    "run": lambda fake, e: e.Run({"x": LARGE, "i": [1], "b": True}, ["x", "i", "b", "int4"]),
    "texts": lambda fake, e: e.Run({"s": ["a" * 200, "b"]}, ["s", "words", "map", "sequence"]),
    "sequence": lambda fake, e: e.Run({"q": [LARGE, [1]], "o": None, "n": [[1], [2]],
                                         "m": {"a": 1}}, ["q", "o", "n", "m", "optional"]),
    "failing run": lambda fake, e: failing(fake, lambda: e.Run({"x": LARGE}, ["status=7"])),
    "failing input": lambda fake, e: failing(fake, lambda: e.Run({"x": LARGE, "i": [1.5]})),
    "failing result": lambda fake, e: failing(fake, lambda: e.Run({"x": LARGE}, ["x", "short"])),
    "failing rows": lambda fake, e: failing(fake, lambda: e.Evaluate({"x": [[1], [1, 2]]}, ["y"])),
    "failing network": lambda fake, e: failing(fake, lambda: e.CreateNetwork("status=4")),
    "closed": lambda fake, e: failing(fake, lambda: closed(fake).ResetState()),
}


def closed(fake):
    model = fake.ModelF()
    model.Destroy()
    return model


@pytest.mark.parametrize("name", WORK)
def test_nothing_is_kept(fake, evaluator, name):
    assert grows_by(lambda: WORK[name](fake, evaluator)) < MOST


def test_reference_counts_come_back(evaluator):
    value, name = np.zeros(4, np.float32), "x"
    counts = [sys.getrefcount(o) for o in (value, name, None, evaluator)]
    for _ in range(100):
        evaluator.Run({name: value}, [name])
        evaluator.Evaluate({name: value}, ["y"])
    after = [sys.getrefcount(o) for o in (value, name, None, evaluator)]
    assert after[0] == counts[0] and after[3] == counts[3]
    assert abs(after[1] - counts[1]) < 20 and abs(after[2] - counts[2]) < 100


def test_a_cycle_through_an_object_is_collected(fake):
    class Holder:
        pass
    import weakref
    holder = Holder()
    holder.model, holder.self = fake.ModelF(), holder
    reference = weakref.ref(holder.model)
    del holder
    gc.collect()
    assert reference() is None
