"""ai.onnx: windows over images, normalizations, recurrences, attention."""

import numpy as np

from draw import operator

LENGTHS = (1, 2, 3, 5, 7, 8, 12)


def window(d, rank, pads_most=2, dilated=True):
    """kernel_shape, strides, dilations, pads or auto_pad."""
    kernel = [d.int(1, 3) for _ in range(rank)]
    a = {}
    if d.chance(0.6):
        a["strides"] = [d.int(1, 3) for _ in range(rank)]
    if dilated and d.chance(0.4):
        a["dilations"] = [d.int(1, 2) for _ in range(rank)]
    if d.chance(0.6):
        a["pads"] = [d.int(0, min(pads_most, kernel[i % rank] - 1)) for i in range(2 * rank)]
    elif d.chance(0.4):
        a["auto_pad"] = d.choice(("SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"))
        if a["auto_pad"].startswith("SAME"):
            a.pop("dilations", None)
    return kernel, a


def image(d, rank, channels, kind=np.float32, batch=None):
    shape = [d.int(1, 3) if batch is None else batch, channels, *(d.int(5, 9) for _ in range(rank))]
    return d.floats(shape, 1, kind)


@operator("Conv")
def conv(d):
    d.version()
    rank, group = d.choice((1, 2, 2, 2, 3)), d.choice((1, 1, 1, 2, 3, 8))
    kernel, a = window(d, rank)
    ins, outs = group * d.choice((1, 1, 2, 3, 4, 8)), group * d.choice((1, 2, 3, 8))
    kind = d.type()
    feeds = [image(d, rank, ins, kind), d.floats((outs, ins // group, *kernel), 1, kind)]
    feeds += [d.floats((outs,), 1, kind)] if d.chance() else []
    if group > 1 or d.chance(0.3):
        a["group"] = group
    if d.chance():
        a["kernel_shape"] = kernel
    return d.case(feeds, a, constants=d.some((1, 2)), tolerance=3e-5)


@operator("ConvTranspose")
def conv_transpose(d):
    d.version()
    rank, group = d.choice((1, 2, 2, 3)), d.choice((1, 1, 2, 3))
    kernel, a = window(d, rank)
    ins, outs, kind = group * d.int(1, 4), d.int(1, 4), d.type()
    feeds = [image(d, rank, ins, kind), d.floats((ins, outs, *kernel), 1, kind)]
    feeds += [d.floats((outs * group,), 1, kind)] if d.chance() else []
    a["group"] = group
    strides = a.get("strides", [1] * rank)
    if d.chance(0.3) and min(strides) > 1:
        a["output_padding"] = [d.int(0, s - 1) for s in strides]
    elif d.chance(0.2) and "auto_pad" not in a:
        dilations = a.get("dilations", [1] * rank)
        a.pop("pads", None)
        a["output_shape"] = [s * (n - 1) + (k - 1) * g + 1 - d.int(0, 2 if k > 1 else 0)
                             for s, n, k, g in zip(strides, feeds[0].shape[2:], kernel, dilations)]
        a["output_shape"] = [max(1, n) for n in a["output_shape"]]
        if d.chance(0.4):
            a["auto_pad"] = d.choice(("SAME_UPPER", "SAME_LOWER"))
    return d.case(feeds, a, constants=d.some((1, 2)), tolerance=3e-5)


@operator("ConvInteger")
def conv_integer(d):
    d.version()
    rank, group = d.choice((1, 2, 2, 3)), d.choice((1, 1, 2))
    kernel, a = window(d, rank)
    ins, outs = group * d.int(1, 4), group * d.int(1, 4)
    x, w = d.type("T1"), d.type("T2")
    shape = [d.int(1, 2), ins, *(d.int(4, 7) for _ in range(rank))]
    feeds = [bytes_of(d, shape, x), bytes_of(d, (outs, ins // group, *kernel), w, 7)]
    feeds += [zero_of(d, x), zero_of(d, w)][:d.int(0, 2)]
    return d.case(feeds, {**a, "group": group}, constants=d.some((1, 2, 3)))


def bytes_of(d, shape, kind, bits=8):
    """`bits` of 7: sums of two products fit 16 bits, where ONNX Runtime saturates on some processors."""
    i, less = np.iinfo(kind), 8 - bits
    return d.ints(shape, i.min >> less, i.max >> less, kind)


def zero_of(d, kind, shape=()):
    return np.asarray(d.ints(shape, np.iinfo(kind).min // 2, np.iinfo(kind).max // 2, kind))


def scale_of(d, shape=(), kind=np.float32):
    return np.asarray(2.0 ** d.ints(shape, -6, 0) * d.choice((1.0, 1.25)), kind)


@operator("QLinearConv")
def qlinear_conv(d):
    d.version()
    rank, group = d.choice((1, 2, 2)), d.choice((1, 1, 2, 4))
    kernel, a = window(d, rank)
    ins, outs = group * d.int(1, 4), group * d.int(1, 4)
    x, w = d.choice(((np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8)))
    each = (outs,) if d.chance() else ()
    shape = [d.int(1, 2), ins, *(d.int(4, 7) for _ in range(rank))]
    zero = np.zeros(each, w) if w == np.int8 else zero_of(d, w)
    if w == np.uint8 and each:
        zero = np.full(each, zero, w)
    feeds = [bytes_of(d, shape, x), scale_of(d), zero_of(d, x), bytes_of(d, (outs, ins // group, *kernel), w, 7), scale_of(d, each),
             zero, np.asarray(d.choice((0.5, 2.0, 8.0)), np.float32), zero_of(d, x)]
    feeds += [d.ints((outs,), -2000, 2000, np.int32)] if d.chance() else []
    return d.case(feeds, {**a, "group": group}, constants=[3, 4, 5, 8] if d.chance(0.7) else range(1, 9), steps=1)


@operator("MatMulInteger", "QLinearMatMul")
def matmul_integer(d):
    d.version()
    m, k, n, batch = d.int(1, 6), d.choice((1, 3, 4, 16, 33)), d.int(1, 9), d.shape(0, 2, most=2)
    integer = d.op == "MatMulInteger"
    a, b = (d.type("T1"), d.type("T2")) if integer else d.choice(((np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8)))
    left = bytes_of(d, [*batch, m, k], a)
    right = bytes_of(d, [*(batch if d.chance() else []), k, n], b, 7)
    zero_b = zero_of(d, b, (n,) if d.chance() and right.ndim == 2 else ())
    if integer:
        zeros = [zero_of(d, a), zero_b][:d.int(0, 2)]
        return d.case([left, right, *zeros], constants=d.some((1, 2, 3)))
    scale = scale_of(d, zero_b.shape)
    return d.case([left, scale_of(d), zero_of(d, a), right, scale, zero_b, np.asarray(4.0, np.float32), zero_of(d, a)],
                  constants=range(1, 8) if d.chance() else [3, 4, 5], steps=1)


@operator("MaxPool", "AveragePool", "LpPool")
def pool(d):
    d.version()
    rank = d.choice((1, 2, 2, 3))
    kernel, a = window(d, rank, 1, "dilations" in d.schema.attributes)
    kind = d.type()
    shape = [d.int(1, 3), d.choice((1, 3, 8)), *(d.int(5, 9) for _ in range(rank))]
    a["kernel_shape"] = kernel
    if "ceil_mode" in d.schema.attributes and d.chance(0.4):
        a["ceil_mode"] = 1
        if d.chance(0.3):
            reach = [(k - 1) * g + 1 for k, g in zip(kernel, a.get("dilations", [1] * rank))]
            shape[2:] = [max(1, n - d.int(0, s - 1)) for n, s in zip(reach, a.get("strides", [1] * rank))]      # a part of one counts
    if "count_include_pad" in d.schema.attributes and d.chance():
        a["count_include_pad"] = d.int(0, 1)
    if "p" in d.schema.attributes and d.chance():
        a["p"] = d.int(1, 3)
    outputs = d.int(1, 2) if d.op == "MaxPool" and d.opset >= 8 else 1
    if outputs == 2 and d.chance(0.3):
        a["storage_order"] = 1
    return d.case([d.array(kind, shape, 1)], a, outputs)


@operator("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(d):
    d.version()
    x = d.floats([d.int(1, 3), d.choice((1, 3, 9)), *d.shape(1, 3, zero=0)], 1, d.type())
    return d.case([x], {"p": d.int(1, 3)} if d.op == "GlobalLpPool" and d.chance() else {})


@operator("MaxUnpool")
def max_unpool(d):
    d.version()
    n, c, h, w = d.int(1, 2), d.int(1, 3), d.int(1, 3), d.int(1, 3)
    y = n * c * 4 * h * w
    at = d.random.choice(y, n * c * h * w, replace=False).reshape(n, c, h, w)
    return d.case([d.floats((n, c, h, w)), at], {"kernel_shape": [2, 2], "strides": [2, 2]})


@operator("LRN")
def lrn(d):
    d.version()
    a = {"size": d.choice((1, 3, 5))}
    for name, most in (("alpha", 0.5), ("beta", 1.0), ("bias", 2.0)):
        if d.chance(0.7):
            a[name] = float(np.float32(most * (0.1 + d.random.random())))
    return d.case([d.floats([d.int(1, 2), d.int(1, 7), d.int(1, 4), d.int(1, 4)], 1, d.type())], a)


@operator("BatchNormalization")
def batch_normalization(d):
    d.version()
    kind = d.type()
    x = d.floats([d.int(1, 3), d.int(1, 9), *d.shape(0, 3, zero=0)], 1, kind)
    c = x.shape[1]
    feeds = [x, d.floats((c,), 1, kind), d.floats((c,), 1, kind), d.floats((c,), 1, kind), np.abs(d.floats((c,), 1, kind)) + kind.type(0.1)]
    a = {"epsilon": 1e-3} if d.chance() else {}
    return d.case(feeds, a, constants=[1, 2, 3, 4] if d.chance() else [])


@operator("InstanceNormalization")
def instance_normalization(d):
    d.version()
    x = d.floats([d.int(1, 3), d.int(1, 5), *d.shape(1, 3, zero=0)], 1, d.type())
    c, a = (x.shape[1],), {"epsilon": 1e-3} if d.chance() else {}
    return d.case([x, d.floats(c, 1, x.dtype), d.floats(c, 1, x.dtype)], a, constants=d.some((1, 2)), tolerance=1e-4)


@operator("GroupNormalization")
def group_normalization(d):
    d.version(oldest=18)
    groups = d.int(1, 3)
    x = d.floats([d.int(1, 3), groups * d.int(1, 4), *d.shape(1, 2, zero=0)], 1, d.type())
    c = (x.shape[1],) if d.opset >= 21 else (groups,)
    return d.case([x, d.floats(c, 1, x.dtype), d.floats(c, 1, x.dtype)], {"num_groups": groups}, constants=d.some((1, 2)), tolerance=1e-4)


@operator("LayerNormalization", "RMSNormalization")
def layer_normalization(d):
    d.version()
    kind = d.type()
    x = d.floats(d.shape(1, 4, zero=0), 1, kind)
    axis = d.int(0, x.ndim - 1)
    shape, a = x.shape[axis:], {"axis": axis - x.ndim if d.chance() else axis} if axis != x.ndim - 1 or d.chance() else {}
    if d.chance(0.3):
        a["epsilon"] = 1e-3
    feeds = [x, d.floats(shape, 1, kind)]
    if d.op[0] == "R":
        return d.case(feeds, a, constants=d.some((1,)), tolerance=1e-4)
    feeds += [d.floats(shape, 1, kind)] if d.chance(0.7) else []
    return d.case(feeds, a, d.int(1, 3), constants=d.some((1, 2)) if len(feeds) > 2 else [], tolerance=1e-4)


@operator("MeanVarianceNormalization")
def mvn(d):
    d.version(oldest=9)
    x = d.floats([d.int(1, 3) for _ in range(4)], 1, d.type())
    return d.case([x], {"axes": sorted(d.random.choice(4, d.int(1, 4), replace=False).tolist())} if d.chance() else {}, tolerance=1e-3)


ACTIVATIONS = ("Tanh", "Sigmoid", "Relu", "Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu", "Softsign",
               "Softplus")


def activations(d, n, a):
    chosen = [d.choice(ACTIVATIONS if d.chance() else ACTIVATIONS[:3]) for _ in range(n)]
    a["activations"] = chosen
    if set(chosen) - {"Tanh", "Sigmoid", "Relu", "Softsign", "Softplus"}:
        a["activation_alpha"] = [0.5] * n
        a["activation_beta"] = [0.25] * n


@operator("RNN", "GRU", "LSTM")
def recurrent(d):
    d.version()
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[d.op]
    time, batch, size, hidden = d.int(1, 5), d.int(1, 3), d.int(1, 4), d.choice((1, 2, 3, 5, 8))
    direction = d.choice(("forward", "reverse", "bidirectional"))
    n = 2 if direction == "bidirectional" else 1
    a = {"hidden_size": hidden, **({} if direction == "forward" and d.chance() else {"direction": direction})}
    if d.chance(0.4):
        activations(d, n * {"RNN": 1, "GRU": 2, "LSTM": 3}[d.op], a)
    if d.chance(0.2):
        a["clip"] = 0.7
    if d.op == "GRU" and d.chance():
        a["linear_before_reset"] = 1
    if d.op == "LSTM" and d.chance(0.15):
        a["input_forget"] = 1
    front = [n, batch]
    feeds = [d.floats((time, batch, size)), d.floats((n, gates * hidden, size), 0.5), d.floats((n, gates * hidden, hidden), 0.5),
             d.floats((n, 2 * gates * hidden), 0.5), d.ints((batch,), 0 if d.chance(0.2) else 1, time, np.int32), d.floats((*front, hidden))]
    if d.op == "LSTM":
        feeds += [d.floats((*front, hidden)), d.floats((n, 3 * hidden), 0.5)]
    feeds = [f if i < 3 or d.chance(0.6) else None for i, f in enumerate(feeds)]
    while feeds[-1] is None:
        feeds.pop()
    outputs = 3 if d.op == "LSTM" else 2
    given = [i for i in (1, 2, 3, 7) if i < len(feeds) and feeds[i] is not None]
    return d.case(feeds, a, outputs, constants=given if d.chance(0.7) else [], tolerance=5e-5,
                  unwanted=d.choice(((), (), (0,), (1,))))


@operator("Attention")
def attention(d):
    d.version()
    batch, rows, keys, size, vsize = d.int(1, 2), d.int(1, 4), d.int(1, 5), 2 * d.int(1, 4), 2 * d.int(1, 4)
    kv = d.int(1, 2)
    heads = kv * d.choice((1, 1, 2, 3))
    a, flat = {}, d.chance(0.4)
    q, k, v = ([batch, n, length, each] for n, length, each in ((heads, rows, size), (kv, keys, size), (kv, keys, vsize)))
    past = d.int(1, 3) if d.chance(0.3) else 0
    if flat:
        q, k, v = ([s[0], s[2], s[1] * s[3]] for s in (q, k, v))
        a.update(q_num_heads=heads, kv_num_heads=kv)
    feeds = [d.floats(s) for s in (q, k, v)]
    for name, value in (("is_causal", 1), ("scale", 0.3), ("softcap", 2.0)):
        if d.chance(0.3):
            a[name] = value
    mask = d.choice((None, [rows, keys + past], [batch, 1, rows, keys + past], [batch, heads, rows, keys + past]))
    if mask:
        feeds.append(d.bools(mask) | (np.arange(mask[-1]) == 0) if d.chance() else d.floats(mask))
    if past:
        feeds = feeds + [None] * (4 - len(feeds)) + [d.floats((batch, kv, past, size)), d.floats((batch, kv, past, vsize))]
    return d.case(feeds, a, 3 if past else 1, tolerance=5e-5)


@operator("RotaryEmbedding")
def rotary(d):
    d.version()
    batch, heads, length, size, most = d.int(1, 2), d.int(1, 3), d.int(1, 4), 4 * d.int(1, 3), 8
    a, flat = {"interleaved": d.int(0, 1)} if d.chance(0.7) else {}, d.chance()
    part = size if d.chance(0.6) else size // 2
    if part != size:
        a["rotary_embedding_dim"] = part
    if flat:
        a["num_heads"] = heads
    positions = d.chance(0.6)
    shape = (most, part // 2) if positions else (batch, length, part // 2)
    x = d.floats((batch, length, heads * size) if flat else (batch, heads, length, size))
    feeds = [x, d.floats(shape), d.floats(shape), *([d.ints((batch, length), 0, most - 1)] if positions else [])]
    return d.case(feeds, a)


@operator("Swish", "SwiGLU")
def gated(d):
    d.version()
    shape, kind = d.shape(1, 3), d.type()
    feeds = [d.floats(shape, 1, kind) for _ in range(len(d.schema.inputs))]
    return d.case(feeds, {"alpha": 0.7} if d.chance() and "alpha" in d.schema.attributes else {})
