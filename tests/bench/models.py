"""The models of the benchmark: known architectures with random weights from a fixed seed, in the operators that
exporters write (batch norms apart, layer norm and GELU in single operators, ReLU6 as Clip), some of them quantized by
ONNX Runtime's own tool.

    python models.py FOLDER [name ...]      writes FOLDER/name.onnx
"""
import heapq
import logging
import pathlib
import statistics
import sys
import tempfile
from dataclasses import dataclass
from typing import Callable, Optional, Tuple

import numpy as np
import onnx
from onnx import TensorProto as T, helper, numpy_helper, shape_inference

TYPES = {"f": (T.FLOAT, np.float32), "d": (T.DOUBLE, np.float64)}


class Builder:
    """A graph that grows by one node a call; each method gives the name of the new value."""

    def __init__(self, precision="f", opset=13):
        self.type, self.dtype = TYPES[precision]
        self.opsets = {"": opset}
        self.random = np.random.RandomState(1234)
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []

    def input(self, name, *shape, type=None):
        self.inputs.append(helper.make_tensor_value_info(name, type or self.type, shape))
        return name

    def output(self, value, type=None):
        self.outputs.append(helper.make_tensor_value_info(value, type or self.type, None))
        return self

    def constant(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def weight(self, *shape, scale=1.0):
        return self.constant((self.random.standard_normal(shape) * scale).astype(self.dtype))

    def number(self, value):
        return self.constant(np.asarray(value, self.dtype))

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def op(self, kind, *inputs, n=1, **attributes):
        first = sum(len(node.output) for node in self.nodes)
        outputs = [f"t{first + k}" for k in range(n)]
        self.nodes.append(helper.make_node(kind, inputs, outputs, name=f"{kind}_{len(self.nodes)}", **attributes))
        return outputs[0]

    def conv(self, x, n_in, n_out, kernel, stride=1, pad=None, group=1, bias=True):
        fan_in = n_in // group * int(np.prod(kernel))
        weights = [self.weight(n_out, n_in // group, *kernel, scale=(2 / fan_in) ** .5)]
        if bias:
            weights.append(self.weight(n_out, scale=.05))
        pads = [k // 2 for k in kernel] * 2 if pad is None else [pad] * 2 * len(kernel)
        return self.op("Conv", x, *weights, kernel_shape=kernel, strides=[stride] * len(kernel), pads=pads, group=group)

    def batch_norm(self, x, n):
        positive = (1 + .2 * self.random.random_sample(n)).astype(self.dtype)
        return self.op("BatchNormalization", x, self.constant((1 + .1 * self.random.standard_normal(n)).astype(self.dtype)),
                       self.weight(n, scale=.05), self.weight(n, scale=.05), self.constant(positive))

    def relu(self, x):
        return self.op("Relu", x)

    def relu6(self, x):
        return self.op("Clip", x, self.number(0), self.number(6))

    def conv_bn(self, x, n_in, n_out, kernel, stride=1, group=1, activation="relu"):
        y = self.batch_norm(self.conv(x, n_in, n_out, kernel, stride, group=group, bias=False), n_out)
        return getattr(self, activation)(y) if activation else y

    def max_pool(self, x, size, stride, pad=0, **attributes):
        return self.op("MaxPool", x, kernel_shape=[size] * 2, strides=[stride] * 2, pads=[pad] * 4, **attributes)

    def gemm(self, x, n_in, n_out):
        return self.op("Gemm", x, self.weight(n_out, n_in, scale=(2 / n_in) ** .5), self.weight(n_out, scale=.05), transB=1)

    def linear(self, x, n_in, n_out):
        product = self.op("MatMul", x, self.weight(n_in, n_out, scale=n_in ** -.5))
        return self.op("Add", product, self.weight(n_out, scale=.05))

    def layer_norm(self, x, n):
        centred = self.op("Sub", x, self.op("ReduceMean", x, axes=[-1]))
        variance = self.op("ReduceMean", self.op("Pow", centred, self.number(2)), axes=[-1])
        y = self.op("Div", centred, self.op("Sqrt", self.op("Add", variance, self.number(1e-12))))
        return self.op("Add", self.op("Mul", y, self.constant(np.ones(n, self.dtype))), self.weight(n, scale=.02))

    def gelu(self, x):
        y = self.op("Add", self.op("Erf", self.op("Div", x, self.number(2 ** .5))), self.number(1))
        return self.op("Mul", self.op("Mul", x, y), self.number(.5))

    def heads(self, x, length, n, width, order):
        split = self.op("Reshape", self.linear(x, n * width, n * width), self.ints(1, length, n, width))
        return self.op("Transpose", split, perm=order)

    def encoder_layer(self, x, length, width, n_heads, hidden, mask):
        per_head = width // n_heads
        q, k, v = (self.heads(x, length, n_heads, per_head, order) for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
        scores = self.op("Div", self.op("MatMul", q, k), self.number(per_head ** .5))
        if mask:
            scores = self.op("Add", scores, mask)
        mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), v)
        mixed = self.op("Reshape", self.op("Transpose", mixed, perm=[0, 2, 1, 3]), self.ints(1, length, width))
        x = self.layer_norm(self.op("Add", self.linear(mixed, width, width), x), width)
        inner = self.linear(self.gelu(self.linear(x, width, hidden)), hidden, width)
        return self.layer_norm(self.op("Add", inner, x), width)

    def model(self, name):
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.weights)
        opsets = [helper.make_opsetid(domain, version) for domain, version in self.opsets.items()]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="evallib bench")
        model.ir_version = 8
        model = shape_inference.infer_shapes(model)
        del model.graph.value_info[:]
        return model


# --- networks ---------------------------------------------------------------------------------------------------

def mlp(batch, precision="f"):
    g = Builder(precision)
    return g.output(g.gemm(g.relu(g.gemm(g.input("x", batch, 784), 784, 200)), 200, 10))


def lenet(batch):
    g = Builder()
    x = g.max_pool(g.relu(g.conv(g.input("x", batch, 1, 28, 28), 1, 6, [5, 5])), 2, 2)
    x = g.max_pool(g.relu(g.conv(x, 6, 16, [5, 5], pad=0)), 2, 2)
    x = g.op("Flatten", x, axis=1)
    for n_in, n_out in ((400, 120), (120, 84)):
        x = g.relu(g.gemm(x, n_in, n_out))
    return g.output(g.gemm(x, 84, 10))


def squeezenet(batch=1):
    g = Builder()

    def fire(x, n_in, squeezed, expanded):
        x = g.relu(g.conv(x, n_in, squeezed, [1, 1]))
        return g.op("Concat", *(g.relu(g.conv(x, squeezed, expanded, [k, k])) for k in (1, 3)), axis=1)

    x = g.relu(g.conv(g.input("x", batch, 3, 224, 224), 3, 64, [3, 3], 2, pad=0))
    n = 64
    for squeezed, expanded, pool_first in ((16, 64, 1), (16, 64, 0), (32, 128, 1), (32, 128, 0), (48, 192, 1), (48, 192, 0),
                                           (64, 256, 0), (64, 256, 0)):
        x = fire(g.max_pool(x, 3, 2, ceil_mode=1) if pool_first else x, n, squeezed, expanded)
        n = 2 * expanded
    x = g.op("GlobalAveragePool", g.relu(g.conv(x, 512, 1000, [1, 1])))
    return g.output(g.op("Flatten", x, axis=1))


def mobilenet_v2(batch=1):
    g = Builder()
    x, n = g.conv_bn(g.input("x", batch, 3, 224, 224), 3, 32, [3, 3], 2, activation="relu6"), 32
    for expansion, n_out, repeats, first_stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                                    (6, 160, 3, 2), (6, 320, 1, 1)):
        for k in range(repeats):
            stride, wide = first_stride if k == 0 else 1, n * expansion
            y = g.conv_bn(x, n, wide, [1, 1], activation="relu6") if expansion > 1 else x
            y = g.conv_bn(y, wide, wide, [3, 3], stride, group=wide, activation="relu6")
            y = g.conv_bn(y, wide, n_out, [1, 1], activation=None)
            x = g.op("Add", x, y) if stride == 1 and n == n_out else y
            n = n_out
    x = g.op("GlobalAveragePool", g.conv_bn(x, n, 1280, [1, 1], activation="relu6"))
    return g.output(g.gemm(g.op("Flatten", x, axis=1), 1280, 1000))


def resnet(depth, batch=1, precision="f"):
    g = Builder(precision)
    x, n = g.max_pool(g.conv_bn(g.input("x", batch, 3, 224, 224), 3, 64, [7, 7], 2), 3, 2, pad=1), 64
    wider = 1 if depth == 18 else 4
    for level, repeats in enumerate({18: (2, 2, 2, 2), 50: (3, 4, 6, 3)}[depth]):
        inner = 64 << level
        for k in range(repeats):
            stride = 2 if k == 0 and level else 1
            shortcut = x if stride == 1 and n == inner * wider else g.conv_bn(x, n, inner * wider, [1, 1], stride, activation=None)
            if depth == 18:
                y = g.conv_bn(g.conv_bn(x, n, inner, [3, 3], stride), inner, inner, [3, 3], activation=None)
            else:
                y = g.conv_bn(g.conv_bn(x, n, inner, [1, 1]), inner, inner, [3, 3], stride)
                y = g.conv_bn(y, inner, inner * wider, [1, 1], activation=None)
            x, n = g.relu(g.op("Add", y, shortcut)), inner * wider
    return g.output(g.gemm(g.op("Flatten", g.op("GlobalAveragePool", x), axis=1), n, 1000))


def bert(layers=2, length=128, precision="f"):
    g = Builder(precision)
    x = g.input("x", 1, length, 768)
    for _ in range(layers):
        x = g.encoder_layer(x, length, 768, 12, 3072, None)
    return g.output(x)


def minilm(layers=6, length=128):
    g = Builder()
    ids, mask, kinds = (g.input(name, 1, length, type=T.INT64) for name in ("input_ids", "attention_mask", "token_type_ids"))
    x = g.op("Add", g.op("Gather", g.weight(30522, 384, scale=.05), ids), g.op("Gather", g.weight(2, 384, scale=.05), kinds))
    x = g.layer_norm(g.op("Add", x, g.weight(1, length, 384, scale=.05)), 384)
    mask = g.op("Cast", g.op("Unsqueeze", mask, g.ints(1, 2)), to=T.FLOAT)
    mask = g.op("Mul", g.op("Sub", g.number(1), mask), g.number(-10000))
    for _ in range(layers):
        x = g.encoder_layer(x, length, 384, 12, 1536, mask)
    return g.output(x)


def recurrent(kind, steps=100, batch=1, n_in=64, hidden=256, layers=2):
    g = Builder(opset=14)
    x, gates = g.input("x", steps, batch, n_in), 4 if kind == "LSTM" else 3
    attributes = {"linear_before_reset": 1} if kind == "GRU" else {}
    for _ in range(layers):
        weights = (g.weight(1, gates * hidden, n, scale=.06) for n in (n_in, hidden))
        y = g.op(kind, x, *weights, g.weight(1, 2 * gates * hidden, scale=.06), hidden_size=hidden, **attributes)
        x, n_in = g.op("Squeeze", y, g.ints(1)), hidden
    return g.output(x)


def audio(frames=400):
    g = Builder()
    x, n = g.conv_bn(g.input("x", 1, 64, frames), 64, 256, [33], 2), 256
    for n_out, kernel in ((256, 33), (256, 39), (512, 51), (512, 63), (512, 75)):
        shortcut, y = g.conv_bn(x, n, n_out, [1], activation=None), x
        for k in range(3):
            y = g.conv_bn(y, n, n, [kernel], group=n, activation=None)
            y = g.conv_bn(y, n, n_out, [1], activation="relu" if k < 2 else None)
            n = n_out
        x = g.relu(g.op("Add", y, shortcut))
    x = g.conv(g.conv_bn(x, n, 1024, [1]), 1024, 29, [1])
    return g.output(g.op("LogSoftmax", g.op("Transpose", x, perm=[0, 2, 1]), axis=-1))


def super_resolution(size=224):
    g = Builder()
    x = g.input("x", 1, 1, size, size)
    for n_in, n_out, kernel in ((1, 64, 5), (64, 64, 3), (64, 32, 3)):
        x = g.relu(g.conv(x, n_in, n_out, [kernel] * 2))
    return g.output(g.op("DepthToSpace", g.conv(x, 32, 9, [3, 3]), blocksize=3, mode="CRD"))


def one_node(kind, shape, *constants, type=None, **attributes):
    """constants are arrays, or shapes (tuples) of weights; None is an input that is left out."""
    g = Builder(opset=17)
    x = g.input("x", *shape)
    weights = ["" if c is None else g.weight(*c) if isinstance(c, tuple) else g.constant(c) for c in constants]
    return g.output(g.op(kind, x, *weights, **attributes), type)


# --- in bytes ---------------------------------------------------------------------------------------------------

def calibration(path):
    """A reader of two random inputs, as the quantizer wants it."""
    from onnxruntime.quantization import CalibrationDataReader
    inputs = onnx.load(path).graph.input

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.seeds = iter(range(2))

        def get_next(self):
            seed = next(self.seeds, None)
            random = np.random.RandomState(seed)
            return None if seed is None else {
                x.name: random.standard_normal([d.dim_value for d in x.type.tensor_type.shape.dim]).astype(np.float32) for x in inputs}

    return Reader()


def quantize(form, given, to):
    """Writes the model at `given` in bytes: form "QDQ" or "QOperator" with scales from random inputs, "dynamic" with those of
    the run. Weights of channels have scales of their own and seven bits, with which nobody's sums saturate."""
    import onnxruntime
    from onnxruntime import quantization as q
    logging.getLogger().setLevel(logging.ERROR)  # it asks for what is done below
    onnxruntime.set_default_logger_severity(3)
    if form == "dynamic":
        return q.quantize_dynamic(given, to, weight_type=q.QuantType.QInt8, reduce_range=True)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC  # folds batch norms
    options.optimized_model_filepath = f"{given}.folded.onnx"
    onnxruntime.InferenceSession(given, options)
    q.quantize_static(f"{given}.folded.onnx", to, calibration(given), quant_format=q.QuantFormat[form], per_channel=True,
                      reduce_range=True, activation_type=q.QuantType.QUInt8, weight_type=q.QuantType.QInt8)


# --- trees ------------------------------------------------------------------------------------------------------

def grown_tree(random, n_leaves, n_features, is_level):
    """Splits of normally distributed features, each of which divides what comes to it: (feature, threshold, yes, no)
    by node, None for a leaf. By levels, or a random heavy leaf next: those trees are ragged."""
    nodes, quantile = [None], statistics.NormalDist().inv_cdf
    waiting = [(0, 0, 1.0, {})]                              # order, node, share of the rows, box in quantiles
    while len(nodes) < 2 * n_leaves - 1:
        _, at, share, box = heapq.heappop(waiting)
        feature = int(random.randint(n_features))
        low, high = box.get(feature, (0, 1))
        part = random.uniform(.3, .7)
        middle = low + part * (high - low)
        nodes[at] = (feature, float(np.float32(quantile(min(max(middle, 1e-9), 1 - 1e-9)))), len(nodes), len(nodes) + 1)
        for weight, side in ((part, (low, middle)), (1 - part, (middle, high))):
            order = len(nodes) if is_level else -share * weight * random.exponential()
            heapq.heappush(waiting, (order, len(nodes), share * weight, {**box, feature: side}))
            nodes.append(None)
    return nodes


def forest(batch, n_trees, n_leaves, n_classes=1, is_level=False, precision="f", n_features=30):
    """One class: a regressor, as boosting makes them; more: a leaf has a share of each, most often of one alone."""
    g = Builder(precision)
    g.opsets["ai.onnx.ml"] = 3
    kind, votes = ("TreeEnsembleClassifier", "class") if n_classes > 1 else ("TreeEnsembleRegressor", "target")
    a = {}

    def add(prefix, **values):
        for name, value in values.items():
            a.setdefault(f"{prefix}_{name}", []).append(value)

    for tree in range(n_trees):
        for number, split in enumerate(grown_tree(g.random, n_leaves, n_features, is_level)):
            feature, threshold, yes, no = split or (0, 0.0, 0, 0)
            add("nodes", treeids=tree, nodeids=number, featureids=feature, values=threshold, truenodeids=yes, falsenodeids=no,
                modes="BRANCH_LEQ" if split else "LEAF")
            shares = g.random.dirichlet([.1] * n_classes) if n_classes > 1 else g.random.standard_normal(1)
            for target, share in enumerate([] if split else shares):
                add(votes, treeids=tree, nodeids=number, ids=target, weights=float(np.float32(round(share, 3) / n_trees)))
    a.update({"classlabels_int64s": list(range(n_classes))} if n_classes > 1 else {"n_targets": 1})
    y = g.op(kind, g.input("x", batch, n_features), n=1 + (n_classes > 1), domain="ai.onnx.ml", **a)
    if n_classes > 1:
        return g.output(y, T.INT64).output(f"t{int(y[1:]) + 1}")
    return g.output(y)


# --- the list ---------------------------------------------------------------------------------------------------

@dataclass
class Entry:
    """A model and what is asked of it: ratios at one thread and at more; a share of the peak that does instead."""
    build: Callable[[], Builder]
    bars: Tuple[Optional[float], Optional[float]] = (None, None)
    peak_bar: Optional[float] = None
    load_bar: Optional[float] = None
    precision: str = "f"
    has_peer: bool = True
    is_positive: bool = False     # its inputs
    own_bound: float = 1e-5       # how far float may be from double, as a share of the largest value
    peer_bound: Optional[float] = None  # how far from ONNX Runtime, where steps of rounding are coarse
    form: Optional[str] = None    # of a quantized model


NETWORKS = {
    "mlp_b1": Entry(lambda: mlp(1), (1.15, 1.2)),
    "mlp_b64": Entry(lambda: mlp(64), (1.0, 1.0)),
    "mlp_b1024": Entry(lambda: mlp(1024), (1.0, 1.0)),
    "lenet_b1": Entry(lambda: lenet(1), (1.5, 1.5)),
    "lenet_b64": Entry(lambda: lenet(64), (1.5, 1.5)),
    "squeezenet11": Entry(squeezenet, (1.1, 1.05)),
    "resnet18": Entry(lambda: resnet(18), (1.3, 1.25), load_bar=3),
    "resnet50": Entry(lambda: resnet(50), (1.05, 1.05), load_bar=3),
    "mobilenetv2": Entry(mobilenet_v2, (1.1, 1.15)),
    "superres": Entry(super_resolution, (1.4, 1.3)),
    "bert2": Entry(bert, (1.0, 1.1), load_bar=3),
    "minilm6": Entry(minilm, (1.1, 1.15), load_bar=3),
    "lstm": Entry(lambda: recurrent("LSTM"), (1.0, 1.1)),
    "gru": Entry(lambda: recurrent("GRU"), (1.0, 1.1)),
    "audio1d": Entry(audio, (1.35, 1.5)),
    "mlp_f64_b1": Entry(lambda: mlp(1, "d"), (2.0, 2.0), precision="d"),
    "mlp_f64_b64": Entry(lambda: mlp(64, "d"), (1.0, 1.0), precision="d"),
    # ONNX Runtime has no double kernels for these.
    "resnet18_f64": Entry(lambda: resnet(18, precision="d"), precision="d", has_peer=False),
    "bert2_f64": Entry(lambda: bert(precision="d"), precision="d", has_peer=False),
    "call": Entry(lambda: one_node("Add", [4], (4,)), (5, 5)),
}



def in_bytes(build, form):
    return Entry(build, (1.0, 1.0), form=form, own_bound=.1, peer_bound=.1)


QUANTIZED = {
    "resnet18_qdq": in_bytes(lambda: resnet(18), "QDQ"),
    "resnet18_qop": in_bytes(lambda: resnet(18), "QOperator"),
    "mobilenetv2_qdq": in_bytes(mobilenet_v2, "QDQ"),
    "mobilenetv2_qop": in_bytes(mobilenet_v2, "QOperator"),
    "squeezenet11_qdq": in_bytes(squeezenet, "QDQ"),
    "bert2_dyn": in_bytes(bert, "dynamic"),
}

IMAGE, TOKENS = [1, 64, 112, 112], [1, 128, 768]


def op(kind, shape, *constants, is_positive=False, **attributes):
    return Entry(lambda: one_node(kind, shape, *constants, **attributes), (2, 2), is_positive=is_positive)


def product(kind, shape, *constants, **attributes):
    return Entry(lambda: one_node(kind, shape, *constants, **attributes), (2, 2), peak_bar=.85)


def numbers(*values, dtype=np.float32):
    return np.array(values, dtype)


OPERATORS = {
    "lrn": op("LRN", IMAGE, size=5),
    "softplus": op("Softplus", IMAGE),
    "softmax_axis1": op("Softmax", [1, 21, 112, 112], axis=1),
    "pow": op("Pow", IMAGE, np.float32(1.7), is_positive=True),
    "prelu": op("PRelu", IMAGE, (64, 1, 1)),
    "cumsum": op("CumSum", TOKENS, np.int64(2)),
    "depth_to_space": op("DepthToSpace", IMAGE, blocksize=2),
    "sin": op("Sin", IMAGE),
    "elu": op("Elu", IMAGE),
    "log": op("Log", IMAGE, is_positive=True),
    "resize_linear": op("Resize", [1, 32, 56, 56], None, numbers(1, 1, 2, 2), mode="linear",
                        coordinate_transformation_mode="half_pixel"),
    "resize_cubic": op("Resize", [1, 32, 56, 56], None, numbers(1, 1, 2, 2), mode="cubic"),
    "resize_nearest": op("Resize", [1, 32, 56, 56], None, numbers(1, 1, 2, 2), mode="nearest"),
    "sigmoid": op("Sigmoid", IMAGE),
    "tanh": op("Tanh", IMAGE),
    "exp": op("Exp", IMAGE),
    "erf": op("Erf", IMAGE),
    "hardmax": op("Hardmax", TOKENS, axis=-1),
    "instance_norm": op("InstanceNormalization", IMAGE, (64,), (64,)),
    "argmax_last": op("ArgMax", TOKENS, axis=2, type=T.INT64),
    "argmax_axis1": op("ArgMax", [1, 21, 112, 112], axis=1, type=T.INT64),
    "reduce_max_axis1": op("ReduceMax", IMAGE, axes=[1]),
    "reduce_max_last": op("ReduceMax", TOKENS, axes=[2]),
    "reduce_mean_axis1": op("ReduceMean", IMAGE, axes=[1]),
    "reduce_mean_last": op("ReduceMean", TOKENS, axes=[2]),
    "transpose_2d": op("Transpose", [1024, 1024], perm=[1, 0]),
    "average_pool_3x3": op("AveragePool", IMAGE, kernel_shape=[3, 3], pads=[1] * 4),
    "max_pool_2x2": op("MaxPool", IMAGE, kernel_shape=[2, 2], strides=[2, 2]),
    "max_pool_3x3": op("MaxPool", IMAGE, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4),
    "global_average_pool": op("GlobalAveragePool", IMAGE),
    "einsum_matmul": product("Einsum", [128, 768], (768, 768), equation="ij,jk->ik"),
    "einsum_heads": product("Einsum", [1, 12, 128, 64], (1, 12, 128, 64), equation="bhid,bhjd->bhij"),
    "conv_group8": product("Conv", [1, 64, 56, 56], (64, 8, 3, 3), group=8, pads=[1] * 4),
    "conv_group32": product("Conv", [1, 128, 56, 56], (128, 4, 3, 3), group=32, pads=[1] * 4),
    "conv_3d": product("Conv", [1, 16, 16, 28, 28], (16, 16, 3, 3, 3), pads=[1] * 6),
    "conv_1d_dilated": product("Conv", [1, 64, 8000], (64, 64, 3), dilations=[4], pads=[4, 4]),
    "conv_transpose_2x2": product("ConvTranspose", [1, 64, 56, 56], (64, 32, 2, 2), strides=[2, 2]),
    "conv_transpose_4x4": product("ConvTranspose", [1, 64, 56, 56], (64, 32, 4, 4), strides=[2, 2], pads=[1] * 4),
}

FORESTS = {
    f"{name}_b{batch}": Entry(lambda batch=batch, kind=kind: forest(batch, *kind), (bar, bar))
    for batch, bar in ((1, 2), (1000, 3))
    for name, kind in {"forest": (100, 256, 3, True), "boosted": (500, 31), "deep": (50, 1500, 10), "stumps": (1000, 4)}.items()
}

MODELS = {**NETWORKS, **QUANTIZED, **OPERATORS, **FORESTS}

# How time grows with what is asked; no bars.
SCALING = {
    **{f"mlp_batch{n}": Entry(lambda n=n: mlp(n)) for n in (1, 2, 4, 8, 16, 32, 64, 128, 256)},
    **{f"lenet_batch{n}": Entry(lambda n=n: lenet(n)) for n in (1, 4, 16, 64, 256)},
    **{f"resnet18_batch{n}": Entry(lambda n=n: resnet(18, n)) for n in (1, 2, 4, 8, 16)},
    **{f"bert1_length{n}": Entry(lambda n=n: bert(1, n)) for n in (16, 32, 64, 128, 256, 512, 1024, 2048)},
    **{f"lstm_steps{n}": Entry(lambda n=n: recurrent("LSTM", n)) for n in (16, 64, 256, 1024, 2048)},
    **{f"lstm_batch{n}": Entry(lambda n=n: recurrent("LSTM", 100, n)) for n in (1, 4, 16, 64, 256)},
}


# --- arithmetic -------------------------------------------------------------------------------------------------

def known_shapes(model):
    values = [*model.graph.value_info, *model.graph.input, *model.graph.output]
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in values}
    shapes.update((w.name, list(w.dims)) for w in model.graph.initializer)
    return {name: shape for name, shape in shapes.items() if shape and all(n > 0 for n in shape)}


def operations(model):
    """Multiplications and additions of its products, 0 when shapes are not known; what else there is costs memory traffic."""
    shapes, total = known_shapes(shape_inference.infer_shapes(model)), 0
    for node in model.graph.node:
        if node.op_type in PRODUCTS:
            x, w, y = (shapes.get(name) for name in (*node.input[:2], node.output[0] or node.output[1]))
            if not (x and w and y):
                return 0
            total += 2 * PRODUCTS[node.op_type](x, w, y, {a.name: helper.get_attribute_value(a) for a in node.attribute})
    return total


def size(shape):
    return int(np.prod(shape, dtype=np.int64))


PRODUCTS = {
    "Conv": lambda x, w, y, a: size(y) * size(w[1:]),
    "ConvTranspose": lambda x, w, y, a: size(x) * size(w[1:]),
    "MatMul": lambda x, w, y, a: size(y) * x[-1],
    "Gemm": lambda x, w, y, a: size(y) * x[0 if a.get("transA") else 1],
    "Einsum": lambda x, w, y, a: size(y) * x[-1],
    "LSTM": lambda x, w, y, a: size(x[:2]) * size(w[:2]) * (x[2] + w[1] // 4),
    "GRU": lambda x, w, y, a: size(x[:2]) * size(w[:2]) * (x[2] + w[1] // 3),
}


def write(folder, name):
    path = pathlib.Path(folder) / f"{name}.onnx"
    entry = {**MODELS, **SCALING}[name]
    model = entry.build().model(name)
    if not entry.form:
        onnx.save(model, path)
        return path
    with tempfile.TemporaryDirectory() as place:
        onnx.save(model, f"{place}/float.onnx")
        quantize(entry.form, f"{place}/float.onnx", path)
    return path


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or MODELS:
        print(write(sys.argv[1], name))
