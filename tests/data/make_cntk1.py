"""Makes the small CNTK v1 models in cntk1/: run it in this folder after changing it.

Weights come from a fixed seed, so the files come out the same each time.
"""
import pathlib

import numpy as np

from cntk1 import NEWEST, Model

FOLDER = pathlib.Path(__file__).parent / "cntk1"
random = np.random.default_rng(1)


def weights(*shape):
    return random.uniform(-1, 1, shape).astype(np.float32)


def mlp(version, element="float"):
    """Two layers, batch normalisation between, and a criterion with labels."""
    m = Model(version, element)
    m.add("InputValue", "features", shape=[4])
    m.add("InputValue", "labels", shape=[3])
    m.parameter("W1", weights(5, 4))
    m.parameter("b1", weights(5))
    for name in ("scale", "bias", "mean", "variance"):
        m.parameter(name, 1 + np.abs(weights(5)))
    m.parameter("W2", weights(3, 5))
    m.add("Times", "h.t", ["W1", "features"])
    m.add("Plus", "h.p", ["h.t", "b1"])
    m.add("BatchNormalization", "h.bn", ["h.p", "scale", "bias", "mean", "variance"])
    m.add("Sigmoid", "h", ["h.bn"])
    m.add("Times", "z", ["W2", "h"])
    m.add("CrossEntropyWithSoftmax", "ce", ["labels", "z"])
    m.add("ErrorPrediction", "err", ["labels", "z"])
    m.features, m.labels, m.outputs = ["features"], ["labels"], ["z"]
    m.criteria, m.evals = ["ce"], ["err"]
    return m


def image(version, layout):
    """Convolution, pooling and a dense layer over an image of 6 x 6 x 2."""
    m = Model(version)
    m.add("InputValue", "features", shape=[6, 6, 2] if layout else [2, 6, 6])
    m.parameter("K", weights(3, 3 * 3 * 2) if not layout else weights(3, 3, 2, 3))
    m.add("Convolution", "c", ["K", "features"], kernel=[3, 3, 2], map_count=[3], stride=[1, 1, 2],
          auto_pad=[True, True, False], layout=layout)
    m.add("RectifiedLinear", "r", ["c"])
    m.add("MaxPooling", "p", ["r"], kernel=[2, 2], stride=[2, 2], layout=layout)
    m.parameter("W", weights(4, *([3, 3, 3])))
    m.add("Times", "z", ["W", "p"])
    m.features, m.outputs = ["features"], ["z"]
    return m


def recurrent(version, op="PastValue", stored=True):
    """h(t) = tanh(W x(t) + R h(t-1)), and a delay outside the loop."""
    m = Model(version)
    m.add("InputValue", "x", shape=[2])
    m.parameter("W", weights(3, 2))
    m.parameter("R", weights(3, 3))
    m.add("Times", "wx", ["W", "x"])
    m.add(op, "h1", ["h"], shape=[3] if stored else [0], initial=0.5)
    m.add("Times", "rh", ["R", "h1"])
    m.add("Plus", "s", ["wx", "rh"])
    m.add("Tanh", "h", ["s"])
    m.add("PastValue", "before", ["h"], shape=[3], step=2, initial=-1.0)
    m.add("Plus", "z", ["h", "before"])
    m.features, m.outputs = ["x"], ["z"]
    return m


def sparse(version):
    """z = the sum of x, which is 2 x of each of three sparse elements."""
    m = Model(version)
    m.add("SparseInputValue", "x", shape=[3])
    m.parameter("W", np.full((1, 3), 2, np.float32))
    m.add("Times", "z", ["W", "x"])
    m.features, m.outputs = ["x"], ["z"]
    return m


def everything(version):
    """A node of every kind of payload; most are not offered, and no output needs them."""
    m = Model(version)
    m.add("InputValue", "x", shape=[4], axis="sequences")
    m.add("SparseInputValue", "y", shape=[4])
    m.parameter("W", weights(4, 4))
    m.add("Times", "z", ["W", "x"])
    m.add("DynamicAxis", "sequences")
    names = ["QuantizedTimes", "RowSlice", "RowStack", "Reshape", "LegacyReshape", "ReduceElements",
             "TransposeDimensions", "Dropout", "Where", "OptimizedRNNStack", "ROIPooling",
             "MaxUnpooling", "RandomSample", "RandomSampleInclusionFrequency", "Crop",
             "EnvironmentInput", "EpochAccumulator", "EditDistanceError",
             "NCEBasedCrossEntropyWithSoftmax", "ForwardBackward", "LatticeSequenceWithSoftmax",
             "Trace", "Mean", "RowRepeat"]
    fields = {"ranges": [(0, 2, 1)], "shape": [4], "kernel": [1], "value": weights(4, 1),
              "repeats": 2, "permutation": [0]}
    for name in names:
        m.add(name, "n." + name, ["W", "x"], **fields)
    m.features, m.outputs = ["x"], ["z"]
    return m


def broken(change):
    m = recurrent(14)
    change(m)
    return m


def cycle(m):
    m.nodes = [n for n in m.nodes if n[1] != "h1"]
    m.add("Pass", "h1", ["h"])


def both_ways(m):
    m.add("FutureValue", "ahead", ["h"], shape=[3])
    m.nodes = [n for n in m.nodes if n[1] != "s"]
    m.add("Plus", "s0", ["wx", "rh"])
    m.add("Plus", "s", ["s0", "ahead"])


def unknown_child(m):
    m.nodes[-1][2][1] = "nobody"


def same_name(m):
    m.add("Pass", "H", ["x"])


def unknown_operator(m):
    m.add("Mystery", "puzzle", ["x"])


def not_offered(m):
    m.add("SequenceDecoderNode", "o1", ["z", "x", "R"])
    m.add("GMMLogLikelihood", "o2", ["z", "x", "R", "x"])
    m.outputs = ["o1", "o2"]


def no_sequence(m):
    m.nodes = [n for n in m.nodes if n[1] != "wx"]
    m.add("Times", "wx", ["R", "b"])
    m.parameter("b", weights(3))


def misshapen(m):
    m.nodes = [n for n in m.nodes if n[1] != "R"]
    m.parameter("R", weights(3, 4))


MODELS = {
    "mlp_v1": mlp(1), "mlp_v2": mlp(2), "mlp_v5_double": mlp(5, "double"), "mlp_v12": mlp(12),
    "mlp_v19": mlp(19), "mlp_v31": mlp(NEWEST), "image_hwc_v4": image(4, 0),
    "image_hwc_v15": image(15, 0), "image_chw_v23": image(23, 1), "recurrent_v3": recurrent(3),
    "recurrent_v14": recurrent(14), "shapeless_v14": recurrent(14, stored=False),
    "backward_v27": recurrent(27, "FutureValue"), "everything_v14": everything(14),
    "sparse_v14": sparse(14), "everything_v16": everything(16), "everything_v31": everything(NEWEST),
    "bad_cycle": broken(cycle), "bad_both_ways": broken(both_ways),
    "bad_unknown_child": broken(unknown_child), "bad_same_name": broken(same_name),
    "bad_unknown_operator": broken(unknown_operator), "bad_not_offered": broken(not_offered),
    "bad_no_sequence": broken(no_sequence), "bad_misshapen": broken(misshapen),
    "bad_version": recurrent(32),
}

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, model in MODELS.items():
        model.save(FOLDER / (name + ".model"))
