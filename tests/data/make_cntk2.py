"""Makes the small CNTK v2 models in cntk2/: run it in this folder after changing it.

Weights come from a fixed seed, so the files come out the same each time.
"""
import pathlib

import numpy as np

from cntk2 import ALL, BATCH, DYNAMIC, Array, Axis, Model, Shape, Size, dictionary

FOLDER = pathlib.Path(__file__).parent / "cntk2"
random = np.random.default_rng(1)
START = random.bit_generator.state


def weights(*shape):
    return random.uniform(-1, 1, shape).round(3)


def dense(m, x, n_in, n_out, name):
    """A layer in a Block, as CNTK's layers library makes it."""
    p = m.placeholder(dims=[n_in])
    w, b = m.parameter("W", weights(n_out, n_in)), m.parameter("b", weights(n_out))
    times = m.add("Times", [w, p], outputRank=Size(1), inferInputRankToMap=-1)
    return m.block("Dense", m.add("Plus", [times, b]), {p: x}, name)


def mlp(kind="float", late=False):
    random.bit_generator.state = START  # the same weights in each form
    m = Model(late)
    x = m.input("features", [4])
    hidden = m.add("ReLU", [dense(m, x, 4, 5, "hidden")])
    for v in m.inputs:
        if "value" in v:
            v["value"].kind = kind
    m.output(dense(m, hidden, 5, 3, "z"))
    return m


def image():
    m = Model()
    x = m.input("image", [6, 5, 2], BATCH)
    y = m.add("Convolution", [m.parameter("K", weights(3, 3, 2, 4)), x], strides=Shape([2, 2]),
              sharing=[True], autoPadding=[True, True, False], lowerPad=Shape([0]),
              upperPad=Shape([0]), transpose=False, dilation=Shape([1]))
    y = m.add("Pooling", [y], name="p", poolingType=Size(0), poolingWindowShape=Shape([2, 2]),
              strides=Shape([1, 1]), autoPadding=[False], lowerPad=Shape([0]), upperPad=Shape([0]))
    y = m.add("Reshape", [y], newShape=Shape([-1]), beginAxis=Axis(0), endAxis=Axis(2**31 - 4))
    m.output(dense(m, y, 16, 3, "z"))
    return m


def last(m, x, size):
    """Sequence.last, as CNTK writes it."""
    p = m.placeholder(dims=[size])
    zero = m.add("ReconcileDynamicAxis", [m.constant(0.0), p])
    flag = m.add("FutureValue", [zero, m.constant(1.0)], offset=Size(1))
    where = m.add("Where", [flag], newDynamicAxes=BATCH)
    index = m.add("PackedIndex", [p, where])
    return m.block("Sequence::Slice", m.add("GatherPacked", [p, index]), {p: x})


def recurrent(initial=0.5):
    """h(t) = tanh(W x(t) + R h(t - 1)); z is its last value."""
    m = Model()
    x = m.input("x", [2])
    wx = m.add("Times", [m.parameter("W", weights(3, 2)), x], outputRank=Size(1))
    cut = m.placeholder(dims=[3], uid="h_Output_0")
    before = m.add("PastValue", [cut, m.constant(initial)], offset=Size(1))
    rh = m.add("Times", [m.parameter("R", weights(3, 3)), before], outputRank=Size(1))
    h = m.add("Tanh", [m.add("Plus", [wx, rh])], uid="h")
    m.output(h, m.add("NoOp", [last(m, h, 3)], name="z"))
    return m


def stack(op="lstm", both=False):
    m = Model()
    gates, d = {"lstm": 4, "gru": 3, "rnnTanh": 1, "rnnReLU": 1}[op], 2 if both else 1
    n = d * gates * 3 * (2 + 3) + d * gates * 3 * (d * 3 + 3) + 2 * d * gates * 3 * 2
    m.output(m.add("OptimizedRNNStack", [m.input("x", [2]), m.parameter("W", weights(n))],
                   name="z", bidirectional=both, numLayers=Size(2), hiddenSize=Size(3),
                   recurrentOp=op))
    return m


def placeholder():
    m = Model()
    m.output(m.add("Abs", [m.placeholder("x", [2])], name="z"))
    return m


def two_axes():
    """q and the frames of b that it chooses are on another axis than p."""
    m = Model()
    a, b = (m.input(name, [2], [Axis(DYNAMIC, name, True), BATCH[0]]) for name in "ab")
    flags = m.add("Greater", [m.add("Slice", [b], axis=Axis(0), beginIndex=0, endIndex=1),
                              m.constant(np.float32(0))])
    places = m.add("PackedIndex", [b, m.add("Where", [flags], name="places")])
    m.output(m.add("Abs", [a], name="p"), m.add("Negate", [b], name="q"),
             m.add("GatherPacked", [b, places], name="chosen"),
             m.add("ReduceElements", [b], name="sum", axis=Axis(ALL), reductionOpName="Sum"))
    return m


def types():
    m, x = Model(), 0
    for kind in ("float", "half", "int8", "int16", "double"):
        p = m.parameter(kind, [1, -2, 100], kind)
        x = m.add("Plus", [x, p]) if x else p
    m.output(m.add("Plus", [m.input("x", [3]), x], name="z"))
    return m


def broken(change):
    m = mlp()
    change(m)
    return m


def bad_user(m):
    m.output(m.add("Plus", [m.outputs[0], m.outputs[0]], more={"type": "UserDefinedFunction"},
                   name="mine"))


def bad_operator(m):
    m.output(m.add("Plus", [m.outputs[0], m.outputs[0]], more={"op": Size(1000)}))


def bad_reference(m):
    m.output(m.add("Plus", [m.outputs[0], "Nobody_Output_0"]))


def bad_circle(m):
    p, q = m.placeholder(uid="p"), m.placeholder(uid="q")
    m.output(m.block("Round", m.add("Plus", [p, q]), {p: q, q: p}))


def bad_cycle(m):
    cut = m.placeholder(dims=[3], uid="loop_Output_0")
    m.output(m.add("Plus", [m.outputs[0], cut], uid="loop"))


def bad_count(m):
    values = next(v for v in m.inputs if "value" in v)
    values["value"] = Array(np.zeros(7))
    values["value"].values = type("", (), {"shape": (5, 4), "ravel": lambda *a, **k: np.zeros(7)})()


def bad_root(m):
    m.output("Nobody_Output_0")


class Plain:
    """A dictionary that is no model."""

    def __init__(self, **entries):
        self.entries = entries

    def save(self, path):
        path.write_bytes(dictionary(self.entries))


MODELS = {
    "mlp": mlp(), "mlp_double": mlp("double"), "mlp_large": mlp(late=True), "image": image(),
    "recurrent": recurrent(), "recurrent_vector": recurrent([0.5, -1.0, 2.0]), "lstm": stack(),
    "gru": stack("gru"), "tanh_both": stack("rnnTanh", True), "placeholder": placeholder(),
    "types": types(), "two_axes": two_axes(),
    "bad_user": broken(bad_user), "bad_operator": broken(bad_operator),
    "bad_reference": broken(bad_reference), "bad_circle": broken(bad_circle),
    "bad_cycle": broken(bad_cycle), "bad_count": broken(bad_count), "bad_root": broken(bad_root),
    "bad_checkpoint": Plain(Version=Size(1), Learners=[], ExternalState={}),
    "bad_learner": Plain(version=Size(3), type="Learner", sample_count=Size(10)),
    "bad_dictionary": Plain(version=Size(1), Int=7),
}

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, model in MODELS.items():
        model.save(FOLDER / (name + ".model"))
