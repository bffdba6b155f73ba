"""ai.onnx: functions of numbers, element by element and along axes, and products."""

import numpy as np

from draw import operator

ODD = np.array([np.nan, np.inf, -np.inf, -0.0, 0.5, -2.5, 1e-30, 3e4], np.float32)


def numbers(d, shape, dtype, odd=0.25):
    """Small values; among floats, sometimes what is special."""
    x = np.asarray(d.array(dtype, shape))
    if x.dtype.kind == "f" and d.chance(odd):
        chosen = d.random.random(x.shape) < 0.3
        odd = np.clip(ODD, -50, 50) if x.dtype == np.float16 else ODD
        x = np.where(chosen, d.random.choice(odd.astype(x.dtype), x.shape), x)
    return x


UNARY = ("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Ceil", "Celu", "Cos", "Cosh", "Elu", "Erf", "Exp",
         "Floor", "Gelu", "HardSigmoid", "HardSwish", "Identity", "IsInf", "IsNaN", "LeakyRelu", "Log", "Mish", "Neg", "Not",
         "Reciprocal", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt",
         "Swish", "Tan", "Tanh", "ThresholdedRelu")
HUGE = {"Acosh", "Cosh", "Sinh", "Exp", "Tan"}


@operator(*UNARY)
def unary(d):
    d.version()
    of = d.schema.inputs[0].type_str
    dtype = np.dtype(bool) if of == "tensor(bool)" else d.type(of)
    a = {}
    for name, what in d.schema.attributes.items():
        if what.type.name == "FLOAT" and d.chance(0.6):
            a[name] = float(np.float32(abs(d.random.standard_normal()) + 0.05))
        elif what.type.name == "INT" and d.chance(0.6):
            a[name] = d.int(0, 1)
        elif what.type.name == "STRING" and d.chance():
            a[name] = d.choice(("none", "tanh"))
    x = numbers(d, d.shape(), dtype)
    if d.op == "Acosh":
        x = np.abs(x) + x.dtype.type(1)
    return d.case([x], a, tolerance=1e-4 if d.op in HUGE else 2e-5)


BINARY = ("Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual",
          "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Mod", "BitShift", "PRelu")


@operator(*BINARY)
def binary(d):
    d.version()
    of, other = (i.type_str for i in d.schema.inputs)
    kind = np.dtype(bool) if of == "tensor(bool)" else d.type(of)
    shape = d.shape()
    x = numbers(d, shape, kind)
    y = numbers(d, d.broadcastable(shape), kind if other == of else d.type(other))
    if d.op != "PRelu" and d.chance(0.4):
        x, y = (y, x) if other == of else (x, y)
    a = {}
    if d.op in ("Div", "Mod") and y.dtype.kind in "iu":
        y = np.where(y == 0, y.dtype.type(3), y)
    if d.op == "Mod":
        a["fmod"] = 1 if x.dtype.kind == "f" else d.int(0, 1)
    if d.op == "Pow":
        whole = x.dtype.kind in "iu"
        y = np.clip(np.nan_to_num(y), 0, 3) if whole or y.dtype.kind in "iu" else y
    if d.op == "BitShift":
        a["direction"] = d.choice(("LEFT", "RIGHT"))
        y = y % (8 * x.dtype.itemsize)
    return d.case([x, y], a, tolerance=1e-4 if d.op == "Pow" else 1e-5)


@operator("Max", "Min", "Sum", "Mean")
def variadic(d):
    d.version(oldest=8)
    kind, shape = d.type(), d.shape()
    feeds = [numbers(d, d.broadcastable(shape) if i else shape, kind) for i in range(d.int(1, 4))]
    return d.case(feeds)


@operator("Where")
def where(d):
    d.version()
    shape, kind = d.shape(), d.type()
    shapes = [d.broadcastable(shape) for _ in range(2)] + [shape]
    d.random.shuffle(shapes)
    return d.case([d.bools(shapes[0]), numbers(d, shapes[1], kind), numbers(d, shapes[2], kind)])


@operator("Clip")
def clip(d):
    d.version(oldest=6)
    kind = d.type()
    x = numbers(d, d.shape(), kind, 0)
    low, high = np.sort(numbers(d, (2,), kind, 0))
    if d.opset < 11:
        a = {name: float(v) for name, v in (("min", low), ("max", high)) if d.chance(0.7)}
        return d.case([x], a)
    bounds = [np.asarray(v, kind) if d.chance(0.7) else None for v in (low, high)]
    return d.case([x, *bounds], constants=d.some((1, 2)))


REDUCTIONS = tuple("Reduce" + name for name in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"))


def drawn_axes(d, rank):
    axes = [i for i in range(rank) if d.chance()]
    return [i - rank if d.chance(0.3) else i for i in axes]


@operator(*REDUCTIONS)
def reduction(d):
    d.version()
    kind = d.type()
    x = numbers(d, d.shape(3 if kind.kind in "iu" else 0, most=4), kind, 0)      # means of integers, of axes apart
    if d.op == "ReduceLogSum":
        x = np.abs(x)
    a = {"keepdims": d.int(0, 1)} if d.chance(0.8) else {}
    axes = drawn_axes(d, x.ndim) if d.chance(0.85) else None
    if d.opset < 11 and axes:
        axes = [i % x.ndim for i in axes]
    if "axes" in d.schema.attributes:
        if axes:
            a["axes"] = axes
        return d.case([x], a, tolerance=1e-4)
    if d.chance(0.4):
        a["noop_with_empty_axes"] = d.int(0, 1)
    given = [] if axes is None else [np.array(axes, np.int64)]
    return d.case([x, *given], a, constants=[1] if given and d.chance() else [], tolerance=1e-4)


@operator("ArgMax", "ArgMin")
def arg(d):
    d.version()
    x = numbers(d, d.shape(1, 4, zero=0), d.type(), 0)
    if d.chance(0.4):
        x = np.round(x)                       # ties
    a = {"axis": d.axis(x.ndim) if d.opset >= 11 else d.int(0, x.ndim - 1)} if d.chance(0.8) else {}
    if d.chance(0.8):
        a["keepdims"] = d.int(0, 1)
    if d.opset >= 12 and d.chance():
        a["select_last_index"] = d.int(0, 1)
    return d.case([x], a)


@operator("CumSum", "CumProd")
def cumulated(d):
    d.version()
    x = numbers(d, d.shape(1, 4), d.type(), 0)
    a = {name: d.int(0, 1) for name in d.some(("exclusive", "reverse"))}
    kind = d.choice((np.int32, np.int64))
    axis = np.asarray(d.axis(x.ndim), kind)
    return d.case([x, axis if d.chance(0.8) else axis.reshape(1)], a, constants=[1] if d.chance() else [], tolerance=1e-4)


@operator("Softmax", "LogSoftmax", "Hardmax")
def softmax(d):
    d.version()
    x = d.floats(d.shape(1, 4), 3, d.type())
    a = {"axis": d.axis(x.ndim) if d.opset >= 11 else d.int(0, x.ndim - 1)} if d.chance(0.8) else {}
    if not a and d.opset < 13 and x.ndim < 2:
        a["axis"] = 0
    return d.case([x], a)


@operator("LpNormalization")
def lp_normalization(d):
    d.version()
    x = d.floats(d.shape(1, 4), 2, d.type())
    return d.case([x], {"axis": d.axis(x.ndim), "p": d.int(1, 2)} if d.chance(0.8) else {})


@operator("MatMul")
def matmul(d):
    d.version()
    m, k, n = d.int(1, 9), d.choice((0, 1, 2, 3, 8, 17)) if d.chance(0.9) else 64, d.int(1, 9)
    kind, batch = d.type(), d.shape(0, 3, most=3)
    left, right = [*d.broadcastable(batch), m, k], [*d.broadcastable(batch), k, n]
    if d.chance(0.5):
        left = [*batch, m, k]
    if d.chance(0.15):
        left = [k]
    elif d.chance(0.15):
        right = [k]
    return d.case([d.array(kind, left), d.array(kind, right)], constants=d.some((1,)))


@operator("Gemm")
def gemm(d):
    d.version()
    m, k, n = d.int(1, 9), d.choice((0, 1, 2, 3, 8, 17)), d.int(1, 9)
    kind = d.type()
    a = {name: d.int(0, 1) for name in d.some(("transA", "transB"))}
    whole = np.dtype(kind).kind in "iu"
    for name in d.some(("alpha", "beta")):
        a[name] = float(d.int(0, 3)) if whole else float(np.float32(d.random.standard_normal()))
    feeds = [d.array(kind, (k, m) if a.get("transA") else (m, k)), d.array(kind, (n, k) if a.get("transB") else (k, n))]
    if d.opset < 11 or d.chance(0.8):
        feeds.append(d.array(kind, d.choice(((m, n), (n,), (1, n), (m, 1), (1,), (), (1, 1)))))
    return d.case(feeds, a, constants=d.some((1, 2)) if len(feeds) > 2 else [])


EQUATIONS = ("ij,jk->ik", "ij,jk", "bij,bjk->bik", "ij->ji", "ii->i", "ii", "ii->", "i,i", "i,j->ij", "ij,j->i", "ij,ij->", "ij->",
             "...ij,...jk->...ik", "...i,...i->...", "bhqd,bhkd->bhqk", "ijk,jil->kl", "abc,cd,de->abe", "i,ij,j->",
             "ij,kj->ik", "ij -> j", "...->...", "iij->j", "ij,jj->i", "b...i,i...b->...i", "abij,ij->ab", "a,b,c->cab", "ijk,ijk->k")


@operator("Einsum")
def einsum(d):
    d.version()
    equation, kind = d.choice(EQUATIONS), d.type()
    sizes = {letter: d.int(1, 4) for letter in "abcdehijklmpq"}
    more, feeds = d.shape(0, 2, most=3, zero=0), []
    for term in equation.replace(" ", "").partition("->")[0].split(","):
        shape = []
        for part in term.replace("...", "."):
            shape += d.broadcastable(more) if part == "." and d.chance(0.3) else more if part == "." else [sizes[part]]
        feeds.append(d.array(kind, shape))
    return d.case(feeds, {"equation": equation}, tolerance=1e-4)


@operator("Det")
def det(d):
    d.version()
    n = d.int(1, 5)
    return d.case([d.floats([*d.shape(0, 2), n, n], 1, d.type())], tolerance=1e-4)


@operator("Range")
def numbered(d):
    d.version()
    kind = d.type()
    first, step = d.int(-5, 5), d.choice((-3, -2, -1, 1, 2, 3))
    values = [first, first + step * d.int(-1, 6) + d.int(-1, 1), step]
    if kind.kind == "f":
        values = [v + 0.25 * d.int(0, 2) for v in values]
    return d.case([np.asarray(v, kind) for v in values], constants=range(3) if d.chance() else [])


@operator("DFT")
def dft(d):
    d.version(oldest=17)
    shape = [*d.shape(1, 3, zero=0), d.choice((1, 2))]
    x, rank = d.floats(shape, 1, np.float32), len(shape)
    axis = d.int(0, rank - 2)
    axis = axis - rank if d.chance(0.3) else axis
    one = d.int(0, 1)
    a = {"onesided": one, "inverse": 0 if one and shape[-1] == 2 else d.int(0, 1)}
    if one and a["inverse"]:
        a["onesided"] = 0
    if a["onesided"] and shape[-1] == 2:
        a["onesided"] = 0
    length = np.asarray(d.int(1, 7), np.int64) if d.chance(0.4) else None
    if d.opset < 20:
        a["axis"] = axis
        return d.case([x, length] if length is not None else [x], a, tolerance=1e-4)
    given = [x, length, np.asarray(axis, np.int64)] if d.chance(0.7) else [x, length] if length is not None else [x]
    return d.case(given, a, constants=[2] if len(given) > 2 else [], tolerance=1e-4)


@operator("BlackmanWindow", "HammingWindow", "HannWindow")
def window(d):
    d.version()
    a = {"periodic": d.int(0, 1)} if d.chance(0.7) else {}
    if d.chance():
        a["output_datatype"] = d.choice((1, 11, 6, 7))
    return d.case([np.asarray(d.int(2, 12), d.choice((np.int32, np.int64)))], a, constants=d.some((0,)), tolerance=1e-4)


@operator("STFT")
def stft(d):
    d.version()
    length, frame, step = d.int(12, 40), d.choice((4, 5, 8)), d.int(1, 4)
    one = d.int(0, 1)
    x = d.floats((d.int(1, 2), length, 1), 1)
    window = d.floats((frame,), 1) if d.chance(0.7) else None
    frame = np.asarray(frame, np.int64) if window is None or d.chance() else None
    return d.case([x, np.asarray(step, np.int64), window, frame], {"onesided": one}, constants=[1, 3], tolerance=1e-4)


@operator("MelWeightMatrix")
def mel(d):
    d.version()
    values = [(d.int(1, 8), np.int64), (d.choice((16, 31, 64)), np.int64), (8000, np.int64), (float(d.int(0, 50)), np.float32),
              (float(d.int(2000, 4000)), np.float32)]
    return d.case([np.asarray(v, kind) for v, kind in values], tolerance=1e-4)


@operator("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(d):
    d.version()
    classes, rest = d.int(2, 5), d.shape(0, 2, zero=0)
    shape, kind = [d.int(1, 4), classes, *rest], d.type()
    target = d.ints([shape[0], *rest], 0, classes - 1, d.choice((np.int32, np.int64)))
    a = {"reduction": d.choice(("mean", "sum", "none"))} if d.chance(0.8) else {}
    if d.chance(0.4):
        a["ignore_index"] = d.choice((0, 1, -1, 100))
        target = np.where(d.random.random(target.shape) < 0.2, target.dtype.type(a["ignore_index"]), target)
    weights = [np.abs(d.floats((classes,), 1, kind))] if d.chance() else []
    outputs = d.int(1, 2) if d.op.startswith("Softmax") else 1
    return d.case([d.floats(shape, 1, kind), target, *weights], a, outputs, tolerance=1e-4)
