"""Writes CNTK v1 model files: enough of the format to make test models of any version.

    model = Model(version=15)
    model.add("InputValue", "features", shape=[4])
    model.parameter("W", array)                       # CNTK shape [rows, cols] = array's own
    model.add("Times", "z", ["W", "features"])
    model.outputs = ["z"]
    model.save("z.model")

Shapes are CNTK's: the first dimension varies fastest. Arrays are indexed in that order too, so
W[i, j] is row i, column j of a parameter of shape [rows, cols].
"""
import struct

import numpy as np

NEWEST = 31


class Writer:
    """The primitives of the format."""

    def __init__(self, version, element):
        self.version = version
        self.element = element  # "float" or "double"
        self.parts = []

    def pack(self, fmt, *values):
        self.parts.append(struct.pack("<" + fmt, *values))

    def text(self, s):
        self.parts.append(s.encode("utf-16-le") + b"\0\0")

    def shape(self, dims):
        self.pack("I%dI" % len(dims), len(dims), *dims)

    def bools(self, values):
        self.pack("Q%d?" % len(values), len(values), *values)

    def real(self, value):
        self.pack("d" if self.element == "double" else "f", value)

    def matrix(self, array):
        array = np.asarray(array)
        cols = int(np.prod(array.shape[1:], dtype=np.int64)) if array.ndim else 1
        rows = array.shape[0] if array.ndim else 1
        kind = "<f8" if self.element == "double" else "<f4"
        self.parts.append(b"d")
        self.text("BMAT")
        self.pack("Q", int(kind[2]))
        self.text("unnamed")
        self.pack("iQQ", 0, rows, cols)
        self.parts.append(array.astype(kind).tobytes(order="F"))
        self.text("EMAT")

    def data(self):
        return b"".join(self.parts)


def nothing(w, f):
    pass


def input_value(w, f):
    shape = list(f["shape"])
    w.pack("QQ", 0 if w.version >= 3 else int(np.prod(shape)), 0)
    w.shape(shape)
    if w.version >= 8:
        axis = f.get("axis")
        w.pack("I", axis is not None)
        if axis is not None:
            w.text(axis)
    if w.version >= 10:
        w.pack("f", 1.0)


def parameter(w, f):
    value = np.asarray(f["value"])
    shape = f.get("shape", value.shape)
    if w.version >= 3:
        w.pack("f", 1.0)
        w.shape(shape)
    else:
        rows = shape[0] if len(shape) else 1
        w.pack("?QQ", True, rows, int(np.prod(shape[1:], dtype=np.int64)))
    w.matrix(value)


def times(w, f):
    if w.version >= 3:
        w.pack("Q", f.get("output_rank", 1))
    if w.version >= 12:
        w.pack("i", -1)


def batch_normalization_old(w, f):
    w.pack("ii??d", 0x10003, 0x10001, True, f.get("spatial", False), 0.0)
    w.pack("iQd?", f.get("layout", 1), 0, f.get("epsilon", 1e-5), False)


def batch_normalization(w, f):
    if w.version < 6:
        batch_normalization_old(w, f)
        return
    w.pack("?ddi", f.get("spatial", False), 0.0, 0.0, f.get("layout", 1))
    if w.version == 19:
        w.pack("?", False)
    else:
        w.pack("Q", 7)
    w.pack("d?", f.get("epsilon", 1e-5), False)


POOLS = {"none": 0, "max": 1, "average": 2}


def window(w, f):
    w.shape(f["kernel"])
    w.shape(f.get("map_count", [1]))
    w.shape(f.get("stride", [1]))
    w.bools(f.get("sharing", [True]))
    w.bools(f.get("auto_pad", [False]))
    w.shape(f.get("lower_pad", [0]))
    w.shape(f.get("upper_pad", [0]))
    w.pack("iiQ", POOLS[f.get("pool", "none")], f.get("layout", 1), 0)
    if w.version >= 9:
        w.pack("?", f.get("transpose", False))
    if w.version >= 20:
        w.shape(f.get("output_shape", [0]))
    if w.version >= 21:
        w.pack("?", f.get("ceil", False))
    if w.version >= 23:
        w.pack("?", f.get("include_pad", False))


def convolution(w, f):
    if w.version < 5:
        kw, kh = f["kernel"][:2]
        sw, sh = (list(f.get("stride", [1])) * 2)[:2]
        w.pack("QQQQII?Q", kw, kh, sw, sh, int(np.prod(f["map_count"])), f.get("layout", 0),
               f.get("auto_pad", [False])[0], 0)
        return
    window(w, f)
    w.pack("?", f.get("is_2d", False))
    if w.version >= 18:
        w.shape(f.get("dilation", [1]))


def pooling_old(w, f):
    width, height = f["kernel"]
    across, down = f["stride"]
    w.pack("IIQQQ", width, f.get("layout", 1), height, across, down)


def dropout(w, f):
    if w.version >= 16:
        w.pack("QQ", 1, 0)


def delay(w, f):
    w.pack("i", f.get("step", 1))
    shape = f.get("shape", [0])
    if w.version > 3:
        w.shape(shape)
    else:
        w.pack("QQ", int(np.prod(shape)), 1)
    if w.version >= 2:
        w.real(f.get("initial", 0.1))


def slices(w, f):
    ranges = f["ranges"]  # (begin, end, axis from 1)
    if w.version >= 22:
        w.pack("i", len(ranges))
    for begin, end, axis in ranges:
        w.pack("qq", begin, end - begin)
        if w.version >= 3:
            w.pack("i", axis)
        if w.version >= 27:
            w.pack("i", 1)


def row_stack(w, f):
    if w.version >= 3:
        w.pack("i", f.get("axis", 1))


def reshape(w, f):
    w.pack("ii", f.get("begin", 0), f.get("end", 0))
    w.shape(f["shape"])


def legacy_reshape(w, f):
    w.pack("Q", int(np.prod(f["shape"])))
    w.shape(f["shape"])


def reduce_elements(w, f):
    axes = f.get("axes", [1])
    if w.version >= 27:
        w.pack("i", len(axes))
    for axis in axes:
        w.pack("i", axis)
    w.text(f.get("reduce", "Sum"))
    if w.version >= 24:
        w.pack("?", f.get("keep", True))


def transpose(w, f):
    axes = f.get("axes", (1, 2))
    permutation = f.get("permutation")
    if permutation is not None:
        axes = (0, 0)
    if w.version >= 3:
        w.pack("ii", *axes)
    if w.version >= 25 and permutation is not None:
        w.pack("Q%dQ" % len(permutation), len(permutation), *permutation)


def computed(w, f):
    w.pack("?", True)
    w.matrix(f["value"])


def row_repeat(w, f):
    w.pack("Q", f["repeats"])


def quantized_times(w, f):
    times(w, f)
    w.pack("QQ", 1, 1)


def rnn(w, f):
    w.pack("QQQ", False, 1, 4)
    w.text("lstm")
    if w.version >= 14:
        w.pack("i", -1)


def roi_pooling(w, f):
    w.shape([2, 2])
    if w.version >= 26:
        w.pack("id", 1, 0.0625)


def random_sample(w, f):
    w.pack("?Q", False, f.get("size", 5))
    dropout(w, f)


def crop(w, f):
    w.pack("dd", 1.0, 1.0)


def environment(w, f):
    w.text(f.get("property", "property"))


def edit_distance(w, f):
    w.pack("fff?", 1, 1, 1, False)
    w.pack("QQQ", 2, 3, 4)


def noise_contrastive(w, f):
    if f.get("mode") is not None:
        w.pack("i", f["mode"])


def forward_backward(w, f):
    w.pack("iQ", -1, 10)


def lattice(w, f):
    for _ in range(5):
        w.text("path")
    w.pack("dddddd??", 0, 0, 0, 0, 0, 0, False, False)


def trace(w, f):
    w.text("message")
    w.pack("QQ??", 1, 1, False, False)
    w.text("labels")
    w.pack("??", False, False)
    for text in (b"<", b">", b"", b"", b"", b" ", b";", b"%g"):
        w.parts.append(text + b"\0")
    w.pack("QQ", 3, 3)


def where(w, f):
    if w.version >= 11:
        w.text(f.get("axis", "axis"))


PAYLOADS = {
    "InputValue": input_value, "SparseInputValue": input_value, "LearnableParameter": parameter,
    "Times": times, "TransposeTimes": times, "BatchNormalization": batch_normalization,
    "Convolution": convolution, "Pooling": window, "MaxUnpooling": window,
    "MaxPooling": pooling_old, "AveragePooling": pooling_old, "Dropout": dropout,
    "PastValue": delay, "FutureValue": delay, "Delay": delay, "Slice": slices, "RowSlice": slices,
    "RowStack": row_stack, "Reshape": reshape, "LegacyReshape": legacy_reshape,
    "ReduceElements": reduce_elements, "TransposeDimensions": transpose, "Transpose": transpose,
    "Mean": computed, "InvStdDev": computed, "RowRepeat": row_repeat, "Where": where,
    "QuantizedTimes": quantized_times, "OptimizedRNNStack": rnn, "RNN": rnn,
    "ROIPooling": roi_pooling, "RandomSample": random_sample,
    "RandomSampleInclusionFrequency": random_sample, "Crop": crop,
    "EnvironmentInput": environment, "EpochAccumulator": computed,
    "EditDistanceError": edit_distance, "NCEBasedCrossEntropyWithSoftmax": noise_contrastive,
    "ForwardBackward": forward_backward, "LatticeSequenceWithSoftmax": lattice, "Trace": trace,
}


class Model:
    def __init__(self, version=15, element="float"):
        self.version = version
        self.element = element
        self.nodes = []  # op, name, inputs, fields
        self.features, self.labels, self.criteria, self.evals, self.outputs = [], [], [], [], []

    def add(self, op, name, inputs=(), **fields):
        self.nodes.append((op, name, list(inputs), fields))
        return name

    def parameter(self, name, value, shape=None):
        """shape: when it is not the array's own, as older files have it."""
        fields = {} if shape is None else {"shape": shape}
        return self.add("LearnableParameter", name, value=value, **fields)

    def bytes(self):
        w = Writer(self.version, self.element)
        w.text("BCN")
        if self.version > 1:
            w.text("BVersion")
            w.pack("Q", self.version)
            w.text("EVersion")
        w.pack("Q", len(self.nodes))
        self._nodes(w)
        self._relations(w)
        self._roots(w)
        w.text("ECN")
        return w.data()

    def _nodes(self, w):
        w.text("BNodeList")
        for op, name, _, fields in sorted(self.nodes, key=lambda node: node[1].lower()):
            if self.version >= 7:
                w.text(fields.get("precision", self.element))
            w.text(op)
            w.text(name)
            PAYLOADS.get(op, nothing)(w, fields)
        w.text("ENodeList")

    def _relations(self, w):
        w.text("BRelation")
        for _, name, inputs, _ in self.nodes:
            w.text(name)
            w.pack("Q", len(inputs))
            for child in inputs:
                w.text(child)
        w.text("ERelation")

    def _roots(self, w):
        w.text("BRootNodes")
        groups = [("Feature", self.features), ("Label", self.labels),
                  ("Criterion" if self.version > 2 else "Criteria", self.criteria),
                  ("Eval", self.evals), ("Output", self.outputs)]
        for group, names in groups:
            w.text("B%sNodes" % group)
            w.pack("Q", len(names))
            for name in names:
                w.text(name)
            w.text("E%sNodes" % group)
        w.text("ERootNodes")

    def save(self, path):
        with open(path, "wb") as file:
            file.write(self.bytes())
