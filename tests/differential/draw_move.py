"""ai.onnx: what moves, picks and measures elements, and makes tensors."""

import numpy as np
from onnx import TensorProto, helper

from draw import TYPES, operator, tensor

INDEX = (np.int32, np.int64)


def ints(values):
    return np.asarray(values, np.int64).reshape(-1)


def signed(d, axis, rank):
    """An axis, sometimes counted from the end."""
    return axis - rank if d.chance(0.3) else axis


def perhaps(d, index):
    """Whether that input stands in the model."""
    return [index] if d.chance() else []


def filled(d, low=0, high=4, most=5, zero=0.05, but=()):
    return d.array(d.type(but=but), d.shape(low, high, most, zero))


@operator("Shape", "Size")
def measure(d):
    d.version()
    x, a = filled(d), {}
    if "start" in d.schema.attributes:
        a = {name: d.int(-5, 5) for name in d.some(("start", "end"))}
    return d.case([x], a)


@operator("Reshape")
def reshape(d):
    d.version(oldest=5)
    x, a = filled(d), {}
    shape, at = list(x.shape), d.int(0, x.ndim)
    d.random.shuffle(shape)
    shape.insert(at, 1)
    if d.chance() and 0 not in shape:
        shape[d.int(0, len(shape) - 1)] = -1
    kept = [i for i, n in enumerate(shape) if i < x.ndim and n == x.shape[i] and n != 0]
    if "allowzero" in d.schema.attributes and d.chance() and 0 in shape:
        a["allowzero"] = 1
    elif kept and d.chance() and 0 not in shape:
        shape[d.choice(kept)] = 0
    if 0 in shape and 0 in x.shape and -1 not in shape and "allowzero" in d.schema.attributes:
        a["allowzero"] = 1
    if 0 in x.shape and not a:
        shape = [0] * x.ndim
    return d.case([x, ints(shape)], a, constants=perhaps(d, 1))


@operator("Flatten")
def flatten(d):
    d.version()
    x = filled(d, low=1)
    return d.case([x], {"axis": d.int(-x.ndim if d.opset >= 11 else 0, x.ndim)} if d.chance(0.8) else {})


@operator("Transpose")
def transpose(d):
    d.version()
    x = filled(d, high=5)
    return d.case([x], {"perm": d.random.permutation(x.ndim).tolist()} if d.chance(0.8) and x.ndim else {})


@operator("Squeeze", "Unsqueeze")
def squeeze(d):
    d.version()
    x = filled(d, high=3)
    n = d.int(1, 2)
    axes = sorted(d.random.choice(x.ndim + n, n, replace=False).tolist())
    if d.op == "Squeeze":
        x = np.expand_dims(x, tuple(axes))
    rank = x.ndim if d.op == "Squeeze" else x.ndim + n
    if d.opset >= 11:
        axes = [signed(d, i, rank) for i in axes]
        d.random.shuffle(axes)
    if d.op == "Squeeze" and d.chance(0.2):
        return d.case([x])
    if "axes" in d.schema.attributes:
        return d.case([x], {"axes": axes})
    return d.case([x, ints(axes)], constants=perhaps(d, 1))


@operator("Expand")
def expand(d):
    d.version(oldest=8)
    shape = d.shape()
    x = d.array(d.type(), d.broadcastable(shape))
    return d.case([x, ints(d.broadcastable(shape) if d.chance(0.3) and x.ndim else shape)], constants=perhaps(d, 1))


@operator("Tile")
def tile(d):
    d.version()
    x = filled(d, low=1)
    return d.case([x, d.ints((x.ndim,), 0 if d.chance(0.1) else 1, 3)], constants=perhaps(d, 1))


@operator("Concat")
def concat(d):
    d.version()
    shape, kind = d.shape(1, 4), d.type()
    axis = d.int(0, len(shape) - 1)
    feeds = [d.array(kind, [d.int(0, 4) if i == axis else n for i, n in enumerate(shape)]) for _ in range(d.int(1, 4))]
    return d.case(feeds, {"axis": signed(d, axis, len(shape)) if d.opset >= 11 else axis})


@operator("Split")
def split(d):
    d.version()
    shape, n = d.shape(1, 3), d.int(1, 4)
    axis = d.int(0, len(shape) - 1)
    parts = d.ints((n,), 0, 3).tolist() if d.chance() else None
    each = d.int(1, 3)
    shape[axis] = sum(parts) if parts else each * n
    a = {"axis": signed(d, axis, len(shape)) if d.opset >= 11 else axis}
    given = []
    if "num_outputs" in d.schema.attributes and not parts:
        a["num_outputs"] = n
        if n > 1 and d.chance():
            shape[axis] = max(each * n - d.int(0, each - 1), 1)       # the last may be smaller
            while shape[axis] <= -(-shape[axis] // n) * (n - 1):
                shape[axis] += 1
    if parts and "split" in d.schema.attributes:
        a["split"] = parts
    elif parts:
        given = [ints(parts)]
    return d.case([d.array(d.type(), shape), *given], a, n, constants=perhaps(d, 1) if given else [])


@operator("Slice")
def cut(d):
    d.version()
    x = filled(d, low=1, most=7)
    axes = [i for i in range(x.ndim) if d.chance(0.7)] or [0]
    bounds = [(d.choice((-1000, -9, -3, -1, 0, 1, 2, 3, 9)), d.choice((-1000, -4, -2, -1, 0, 1, 3, 4, 1 << 40))) for _ in axes]
    starts, ends = [b[0] for b in bounds], [b[1] for b in bounds]
    whole = axes == list(range(len(axes))) and d.chance()
    if d.opset < 10:
        return d.case([x], {"starts": starts, "ends": ends, **({} if whole else {"axes": axes})})
    steps = [d.choice((1, 1, 2, 3, -1, -2) if d.chance(0.5) else (1,)) for _ in axes]
    kind = d.choice(INDEX)
    at = [signed(d, i, x.ndim) if d.opset >= 11 else i for i in axes]
    ends = [min(e, 2 ** 31 - 1) for e in ends]
    given = [np.asarray(v, kind) for v in (starts, ends, at, steps)]
    if d.chance(0.4):
        given = given[:3]
        if whole:
            given = given[:2]
    elif whole:
        given[2] = None
    return d.case([x, *given], constants=[i for i in range(1, len(given) + 1)] if d.chance() else d.some((1, 2, 3, 4)))


@operator("Pad")
def pad(d):
    d.version()
    mode = d.choice(("constant", "constant", "reflect", "edge") + (("wrap",) if d.opset >= 19 else ()))
    x = filled(d, low=1, most=5, zero=0.05 if mode == "constant" else 0)
    low = {"constant": -2, "edge": -1, "reflect": 0, "wrap": 0}[mode]
    pads = [[d.int(max(low, -(n // 2)), min(3, n - 1 if mode == "reflect" else n if mode == "wrap" else 3)) for n in x.shape]
            for _ in range(2)]
    a = {"mode": mode} if mode != "constant" or d.chance() else {}
    if d.opset < 11:
        if d.chance() and mode == "constant":
            a["value"] = 1.5
        return d.case([x], {**a, "pads": pads[0] + pads[1]})
    value = np.asarray(d.array(x.dtype, ())) if d.chance() and mode == "constant" else None
    given = [x, ints(pads[0] + pads[1]), value]
    if d.opset >= 18 and d.chance(0.4):
        some = [i for i in range(x.ndim) if d.chance(0.7)] or [0]
        given[1] = ints([p[i] for p in pads for i in some])
        given.append(np.asarray([signed(d, i, x.ndim) for i in some], d.choice(INDEX)))
    while given[-1] is None:
        given.pop()
    return d.case(given, a, constants=d.some((1, 2, 3)))


def index(d, shape, size):
    return d.ints(shape, -size, size - 1, d.choice(INDEX))


@operator("Gather")
def gather(d):
    d.version()
    x = filled(d, low=1, zero=0)
    axis = d.int(0, x.ndim - 1)
    at = index(d, d.shape(0, 3), x.shape[axis])
    if d.opset < 11:
        at = np.abs(at) % x.shape[axis]
    return d.case([x, at], {"axis": signed(d, axis, x.ndim)} if axis or d.chance() else {}, constants=perhaps(d, 1))


@operator("GatherElements")
def gather_elements(d):
    d.version()
    x = filled(d, low=1, zero=0)
    axis = d.int(0, x.ndim - 1)
    shape = [d.int(0, 6) if i == axis else d.int(1, n) for i, n in enumerate(x.shape)]
    return d.case([x, index(d, shape, x.shape[axis])], {"axis": signed(d, axis, x.ndim)} if axis or d.chance() else {})


@operator("GatherND")
def gather_nd(d):
    d.version()
    x = filled(d, low=1, zero=0)
    batch = d.int(0, min(2, x.ndim - 1)) if d.opset >= 12 else 0
    depth = d.int(1, x.ndim - batch)
    front = [*x.shape[:batch], *d.shape(0, 2)]
    at = np.stack([d.ints(front, -x.shape[batch + i], x.shape[batch + i] - 1) for i in range(depth)], -1)
    return d.case([x, at], {"batch_dims": batch} if batch or (d.opset >= 12 and d.chance()) else {})


REDUCTION = {16: ("none", "add", "mul"), 18: ("none", "add", "mul", "max", "min")}


def reduction(d, kind):
    choices = next((c for since, c in sorted(REDUCTION.items(), reverse=True) if d.opset >= since), ())
    usable = kind.kind in "fiu"
    return {"reduction": d.choice(choices)} if choices and usable and d.chance(0.7) else {}


@operator("ScatterElements", "Scatter")
def scatter_elements(d):
    d.version(oldest=9, newest=10 if d.op == "Scatter" else 99)
    x = filled(d, low=1, zero=0)
    axis = d.int(0, x.ndim - 1)
    a = reduction(d, x.dtype)
    shape = [d.int(0 if d.chance(0.1) else 1, n) for n in x.shape]
    at = index(d, shape, x.shape[axis])
    if a.get("reduction", "none") == "none":
        order = np.argsort(d.random.random(shape[:axis] + [x.shape[axis]] + shape[axis + 1:]), axis=axis)
        at = np.take(order, range(shape[axis]), axis).astype(at.dtype)
    return d.case([x, at, d.array(x.dtype, shape)], {**a, "axis": signed(d, axis, x.ndim)})


@operator("ScatterND")
def scatter_nd(d):
    d.version()
    x = filled(d, low=1, zero=0)
    depth = d.int(1, x.ndim)
    a = reduction(d, x.dtype)
    places = np.array(list(np.ndindex(*x.shape[:depth])), np.int64)
    n = d.int(0, min(len(places), 6))
    at = places[d.random.choice(len(places), n, replace=a.get("reduction", "none") != "none")].reshape(n, depth)
    at = np.where(d.random.random(at.shape) < 0.3, at - np.array(x.shape[:depth]), at)
    return d.case([x, at, d.array(x.dtype, [n, *x.shape[depth:]])], a)


@operator("TensorScatter")
def tensor_scatter(d):
    d.version()
    batch, length, rest = d.int(1, 3), d.int(2, 6), d.shape(1, 2, zero=0)
    new, mode = d.int(1, length), d.choice(("linear", "circular"))
    axis = 1 if d.chance() and len(rest) == 1 else -2 if len(rest) == 1 else 1
    kind = d.type()
    at = d.ints((batch,), 0, length - new if mode == "linear" else length - 1)
    feeds = [d.array(kind, [batch, length, *rest]), d.array(kind, [batch, new, *rest]), *([at] if d.chance(0.8) else [])]
    return d.case(feeds, {"mode": mode, "axis": axis})


@operator("Compress")
def compress(d):
    d.version()
    x = filled(d, low=1)
    axis = d.int(0, x.ndim - 1)
    if d.chance(0.3):
        return d.case([x, d.bools((d.int(0, x.size),))])
    return d.case([x, d.bools((d.int(0, x.shape[axis]),))], {"axis": signed(d, axis, x.ndim) if d.opset >= 11 else axis})


# What ONNX Runtime has of indices, depth and values.
ONE_HOT = ((np.int64, np.int64, np.float32), (np.int64, np.int64, np.int64), (np.int64, np.int32, np.float32),
           (np.float32, np.float32, np.float32), (np.int32, np.int32, np.float32), (np.int64, np.int64, object))


@operator("OneHot")
def one_hot(d):
    d.version()
    kind, of_depth, of_values = d.choice(ONE_HOT)
    at = np.round(d.array(kind, d.shape(0, 3, zero=0)))
    depth = np.asarray(d.int(1, 12), of_depth)
    values = d.array(of_values, (2,))
    if d.chance():
        depth = depth.reshape(1)
    return d.case([at, depth, values], {"axis": d.int(-at.ndim - 1, at.ndim)} if d.chance() else {}, constants=d.some((1, 2)))


@operator("NonZero")
def non_zero(d):
    d.version()
    x = filled(d, low=1, but=(object,))      # of a scalar onnx says [0, n], ONNX Runtime [1, n]
    return d.case([np.where(d.random.random(x.shape) < 0.4, x.dtype.type(0), x)])


@operator("Unique")
def unique(d):
    d.version()
    x = filled(d, low=1)
    x = np.round(x) if x.dtype.kind == "f" else x
    a = {"axis": d.axis(x.ndim)} if d.chance() and 0 not in x.shape else {}
    return d.case([x], {**a, **({"sorted": d.int(0, 1)} if d.chance(0.7) else {})}, d.int(1, 4))


@operator("TopK")
def top_k(d):
    d.version()
    x = filled(d, low=1, zero=0)
    axis, a = d.int(0, x.ndim - 1), {}
    k = d.int(0, x.shape[axis]) if d.opset >= 10 else d.int(1, x.shape[axis])
    if d.opset >= 11:
        a = {name: d.int(0, 1) for name in d.some(("largest", "sorted"))}
        a.pop("sorted", None)
    if axis != x.ndim - 1 or d.chance():
        a["axis"] = signed(d, axis, x.ndim)
    if d.opset < 10:
        return d.case([x], {**a, "axis": axis, "k": k}, 2)
    return d.case([x, ints(k)], a, 2, constants=perhaps(d, 1))


@operator("Trilu")
def trilu(d):
    d.version()
    x = d.array(d.type(), [*d.shape(0, 2), d.int(0, 5), d.int(1, 5)])
    given = [np.asarray(d.int(-6, 6), np.int64)] if d.chance(0.7) else []
    return d.case([x, *given], {"upper": d.int(0, 1)} if d.chance(0.7) else {}, constants=perhaps(d, 1) if given else [])


@operator("EyeLike")
def eye_like(d):
    d.version()
    x = d.array(d.type("T1"), (d.int(1, 5), d.int(1, 5)))
    a = {"k": d.int(-5, 5)} if d.chance(0.7) else {}
    return d.case([x], {**a, **({"dtype": d.choice((1, 11, 7, 6, 9))} if d.chance() else {})})


@operator("ReverseSequence")
def reverse_sequence(d):
    d.version()
    x, time = filled(d, low=2, zero=0), d.int(0, 1)
    lengths = d.ints((x.shape[1 - time],), 1, x.shape[time])
    return d.case([x, lengths], {"time_axis": time, "batch_axis": 1 - time})


@operator("DepthToSpace", "SpaceToDepth")
def blocks(d):
    d.version()
    block = d.int(1, 3)
    n, c, h, w = d.int(0 if d.chance(0.05) else 1, 2), d.int(1, 3), d.int(1, 3), d.int(1, 3)
    a = {"blocksize": block}
    if d.op == "DepthToSpace" and d.opset >= 11:
        a["mode"] = d.choice(("DCR", "CRD"))
    shape = (n, c * block * block, h, w) if d.op == "DepthToSpace" else (n, c, h * block, w * block)
    return d.case([d.array(d.type(), shape)], a)


@operator("CenterCropPad")
def center_crop_pad(d):
    d.version()
    x = filled(d, low=1, zero=0)
    axes = [i for i in range(x.ndim) if d.chance(0.6)] or [0]
    shape = d.ints((len(axes),), 1, 8, d.choice(INDEX))
    if axes == list(range(x.ndim)) and d.chance():
        return d.case([x, shape])
    return d.case([x, shape], {"axes": [signed(d, i, x.ndim) for i in axes]}, constants=perhaps(d, 1))


NUMBERS = {n: helper.np_dtype_to_tensor_dtype(np.dtype(t)) for n, t in TYPES.items() if t is not object}


@operator("Cast", "CastLike")
def cast(d):
    d.version(oldest=9)
    kind = d.type("T1")
    to = d.choice([t for t in d.types("T2") if t.kind != "O" or kind.kind != "f"])   # each has its own digits
    x = d.array(kind, d.shape(), 5)
    if kind.kind == "O":
        whole = to.kind not in "fb"
        words = ("1", "-7", "12", "0") if whole else ("1.5", "-2e3", "0", "inf", "-inf", "nan", "7")
        x = d.texts(x.shape, [w.replace("-", "") for w in words] if to.kind == "u" else words)
    elif kind.kind == "f" and to.kind in "u":
        x = np.abs(x)
    elif kind.kind == "f" and to.kind != "i" and x.size and d.chance():
        x = np.where(d.random.random(x.shape) < 0.3, d.choice((np.nan, np.inf, -np.inf, -0.0, 0.3)), x).astype(kind)
    if kind.kind in "iu" and to.kind == "u":
        x = np.abs(x)
    tolerance = 4e-3 if np.float16 in (kind, to) else 1e-5
    if d.op == "CastLike":
        return d.case([x, d.array(to, d.shape())], tolerance=tolerance)
    number = TensorProto.STRING if to.kind == "O" else helper.np_dtype_to_tensor_dtype(to)
    return d.case([x], {"to": number}, tolerance=tolerance)


@operator("ConstantOfShape")
def constant_of_shape(d):
    d.version()
    a = {"value": tensor("", np.asarray(d.array(d.type("T2"), (1,))))} if d.chance(0.8) else {}
    return d.case([ints(d.shape())], a, constants=perhaps(d, 0))


@operator("Dropout")
def dropout(d):
    d.version()
    x = d.floats(d.shape(), 1, d.type())
    if d.opset < 12:
        return d.case([x], {"ratio": 0.3} if d.chance() else {})
    given = [np.asarray(0.3, np.float32) if d.chance() else None, np.asarray(False) if d.chance() else None]
    while given and given[-1] is None:
        given.pop()
    return d.case([x, *given], {}, d.int(1, 2), constants=d.some((1, 2)))


@operator("StringConcat")
def string_concat(d):
    d.version()
    shape = d.shape()
    return d.case([d.texts(shape), d.texts(d.broadcastable(shape))])


@operator("StringSplit")
def string_split(d):
    d.version()
    words = ("a,b", "x", " a  b ", "a,,b", "über,,", "  ")     # of "" ONNX Runtime makes no part, onnx makes one
    a = {"delimiter": d.choice((",", " ", "", ",,"))} if d.chance(0.8) else {}
    return d.case([d.texts(d.shape(1, 3), words)], {**a, **({"maxsplit": d.int(0, 3)} if d.chance() else {})}, 2)


@operator("StringNormalizer")
def string_normalizer(d):
    d.version(oldest=10)
    a = {"case_change_action": d.choice(("LOWER", "UPPER", "NONE")), "is_case_sensitive": d.int(0, 1)}
    if d.chance():
        a["stopwords"] = ["a", "AB", "xyz"]
    shape = [d.int(1, 5)] if d.chance() else [1, d.int(1, 5)]
    return d.case([d.texts(shape, ("a", "b", "Ab", "xyz", "10", "a b"))], a)


@operator("TfIdfVectorizer")
def tf_idf(d):
    d.version(oldest=9)
    texts = d.chance(0.3)
    pool = [2, 3, 5, 4, 5, 6, 7, 8, 6, 7]                   # four of one, three of two
    low, high = sorted((d.int(1, 2), d.int(1, 2)))
    a = {"min_gram_length": low, "max_gram_length": high, "max_skip_count": d.int(0, 3), "mode": d.choice(("TF", "IDF", "TFIDF")),
         "ngram_counts": [0, 4], "ngram_indexes": d.random.permutation(7).tolist()}
    if d.chance():
        a["weights"] = d.floats(7).tolist()
    a["pool_strings" if texts else "pool_int64s"] = [str(p) for p in pool] if texts else pool
    shape = [d.int(1, 9)] if d.chance() else [d.int(1, 3), d.int(1, 9)]
    x = d.ints(shape, 2, 8, d.choice(INDEX))
    return d.case([x.astype(str).astype(object) if texts else x], a)
