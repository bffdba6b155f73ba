"""Writes CNTK v2 model files: dictionaries as protocol buffers, and functions made of them.

    model = Model()
    x = model.input("x", [4])                          # a sequence; axes=BATCH: a batch
    w = model.parameter("W", array)                    # CNTK shape [rows, cols] = array's own
    model.output(model.add("Times", [w, x], name="z", outputRank=Size(1)))
    model.save("z.model")

Shapes are CNTK's: the first dimension varies fastest. What add() gives is the uid of the
function's (first) output.
"""
import struct

import numpy as np

OPS = """Negate Sigmoid Tanh ReLU Exp Log Sqrt Floor Abs Reciprocal Softmax Hardmax TransposeAxes
Where Slice Dropout Reshape Pooling SumAll Plus Minus ElementTimes Equal NotEqual Less LessEqual
Greater GreaterEqual PackedIndex GatherPacked ScatterPacked Times TransposeTimes Convolution
SquaredError CrossEntropyWithSoftmax ClassificationError PastValue FutureValue ReduceElements
BatchNormalization Clip Select Splice Combine RandomSample RandomSampleInclusionFrequency ROIPooling
Logistic OptimizedRNNStack ReconcileDynamicAxis LogSoftmax LogPlus CosDistance Sin Cos Pass Block
Unpooling LambdaRank NDCG EditDistanceError NoOp LabelsToGraph StopGradient ELU ForwardBackward
CosDistanceWithNegativeSamples OneHot Pow ToSequence ToSequenceLike UnpackSequence Assign Gather
StableSigmoid RandomDistribution Sinh Cosh UnpackBatch ToBatch Asin Acos Pad Crop Atanh Asinh TopK
Squeeze ConstantOp LatticeSequenceWithSoftmax Cast EyeLikeOp CustomProxyOp StraightThrough Tan Atan
ConvolutionSequenceShape""".split()

DYNAMIC = 2**31 - 1
ALL_STATIC, END, ALL = DYNAMIC - 1, DYNAMIC - 3, DYNAMIC - 4


class Size(int):
    """A number of type SizeT: plain ones are Int."""


class Shape(list):
    """A list of dimensions: plain ones are vectors."""


class Axis:
    def __init__(self, index, name=None, is_ordered=False):
        self.index, self.is_ordered = index, is_ordered
        self.name = name or "staticAxisIdx=%d" % index


SEQUENCE = [Axis(DYNAMIC, "defaultDynamicAxis", True), Axis(DYNAMIC, "defaultBatchAxis")]
BATCH = SEQUENCE[1:]


class Array:
    """Values of a parameter; late: behind the dictionary; sparse: the non-zeros that are stored."""

    def __init__(self, values, kind="float", late=False, sparse=None):
        self.values, self.kind, self.late, self.sparse = np.asarray(values), kind, late, sparse


def varint(n):
    n &= 2**64 - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def number(field, n):
    return varint(field << 3) + varint(n)


def message(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def shape(dims):
    return message(1, b"".join(varint(d) for d in dims))


def array(a):
    flat = a.values.ravel(order="F") if a.sparse is None else np.asarray(a.sparse)
    storage = b"" if a.sparse is None else number(2, 1)
    kinds = {"float": (1, 4, "<f4"), "double": (2, 5, "<f8"), "half": (4, 4, "<f4")}
    if a.kind in kinds:
        kind, field, dtype = kinds[a.kind]
        values = message(field, message(1, flat.astype(dtype).tobytes()))
    elif a.kind == "int8":
        kind, values = 5, message(6, message(1, flat.astype("i1").tobytes()))
    else:
        zigzag = b"".join(varint(int(v) << 1 ^ int(v) >> 63) for v in flat)
        kind, values = 6, message(7, message(1, zigzag))
    return number(1, kind) + storage + message(3, shape(a.values.shape)) + (
        b"" if a.late else values)


def value(v):
    """A DictionaryValue."""
    if isinstance(v, bool):
        kind, data = 1, number(3, v)
    elif isinstance(v, Size):
        kind, data = 3, number(5, v)
    elif isinstance(v, int):
        kind, data = 2, number(4, v)
    elif isinstance(v, float):
        kind, data = 5, b"\x39" + struct.pack("<d", v)
    elif isinstance(v, str):
        kind, data = 6, message(8, v.encode())
    elif isinstance(v, Shape):
        kind, data = 7, message(9, shape(v))
    elif isinstance(v, Axis):
        kind, data = 8, message(10, number(1, v.index) + message(2, v.name.encode()) +
                                number(3, v.is_ordered))
    elif isinstance(v, list):
        kind, data = 9, message(11, b"".join(message(1, value(item)) for item in v))
    elif isinstance(v, dict):
        kind, data = 10, message(12, dictionary(v))
    else:
        kind, data = 11, message(13, array(v))
    return number(1, 1) + number(2, kind) + data


def dictionary(entries):
    return number(1, 2) + b"".join(message(2, message(1, key.encode()) + message(2, value(v)))
                                   for key, v in entries.items())


class Model:
    def __init__(self, late=False):
        self.inputs, self.functions, self.outputs, self.n = [], [], [], 0
        self.late = late  # the form of files over 2 GB
        self.name = ""

    def uid(self, kind):
        self.n += 1
        return "%s%d" % (kind, self.n)

    def variable(self, kind, uid, name, dims, axes, **more):
        kinds = ["Input", "Output", "Parameter", "Constant", "Placeholder"]
        record = {"version": Size(1), "type": "Variable", "uid": uid,
                  "kind": Size(kinds.index(kind)), "data_type": Size(1), "dynamic_axis": axes,
                  "is_sparse": False, "needs_gradient": False, "shape": Shape(dims)}
        record.update({"name": name} if name else {}, **more)
        self.inputs.append(record)
        return uid

    def input(self, name, dims, axes=None, **more):
        axes = SEQUENCE if axes is None else axes
        return self.variable("Input", self.uid("Input"), name, dims, axes, **more)

    def parameter(self, name, values, kind="float", constant=False):
        what = "Constant" if constant else "Parameter"
        values = np.asarray(values)
        types = {"double": Size(2), "half": Size(4)}
        return self.variable(what, self.uid(what), name, values.shape, [],
                             value=Array(values, kind, self.late),
                             data_type=types.get(kind, Size(1)))

    def constant(self, values):
        return self.parameter("", values, constant=True)

    def placeholder(self, name="", dims=(), axes=None, uid=None):
        """With the uid of a function's output: where a cycle is cut."""
        return self.variable("Placeholder", uid or self.uid("Placeholder"), name, dims,
                             SEQUENCE if axes is None else axes)

    def add(self, op, inputs, name="", uid=None, more=None, **attributes):
        uid = uid or self.uid(op)
        record = {"version": Size(24), "type": "PrimitiveFunction", "uid": uid,
                  "inputs": list(inputs), "op": Size(OPS.index(op)), "attributes": attributes}
        record.update({"name": name} if name else {}, **(more or {}))
        self.functions.append(record)
        return uid + "_Output_0"

    def block(self, kind, root, bound, name=""):
        """A Block round the function of an output; bound: its placeholders' meanings."""
        composite = {"version": Size(3), "type": "CompositeFunction",
                     "uid": self.uid("CompositeFunction"), "root": root.rsplit("_Output_", 1)[0]}
        more = {"block_function_composite": composite, "block_function_op_name": kind,
                "block_function_composite_arguments_map_keys": list(bound),
                "block_function_composite_arguments_map_values": list(bound.values())}
        return self.add("Block", list(bound.values()), name, more=more)

    def output(self, *uids):
        self.outputs = list(uids)

    def record(self):
        root = self.outputs[0]
        if len(self.outputs) > 1:
            root = self.add("Combine", self.outputs, uid="Root")
        whole = {"version": Size(3), "type": "CompositeFunction",
                 "root": root.rsplit("_Output_", 1)[0], "uid": self.uid("CompositeFunction"),
                 "inputs": self.inputs, "primitive_functions": self.functions}
        return dict(whole, name=self.name) if self.name else whole

    def bytes(self):
        data = dictionary(self.record())
        if not self.late:
            return data
        kinds = {"float": "<f4", "half": "<f4", "double": "<f8"}
        arrays = [v["value"] for v in self.inputs if "value" in v]
        return b"ktnc" + struct.pack("<I", len(data)) + data + b"".join(
            a.values.ravel(order="F").astype(kinds[a.kind]).tobytes() for a in arrays)

    def save(self, path):
        with open(path, "wb") as file:
            file.write(self.bytes())
