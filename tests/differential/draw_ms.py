"""com.microsoft."""

import numpy as np

from draw import Case, operator
from draw_nn import bytes_of, image, scale_of, window, zero_of

MS = "com.microsoft."


def ms(*names):
    return operator(*(MS + name for name in names))


@ms("Gelu", "QuickGelu", "FastGelu", "BiasGelu")
def gelu(d):
    shape, name = d.shape(1, 3), d.op[len(MS):]
    bias = [d.floats(shape[-1:])] if name == "BiasGelu" or (name == "FastGelu" and d.chance()) else []
    return Case(d.op, [d.floats(shape), *bias], {"alpha": 0.9} if name == "QuickGelu" and d.chance() else {}, tolerance=2e-5)


@ms("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")
def skip_normalization(d):
    simple, shape = "Simplified" in d.op, [d.int(1, 3), d.int(1, 4), d.int(1, 9)]
    if d.chance(0.2):
        shape = shape[1:]
    row = shape[-1:]
    skip = shape if d.chance(0.7) or len(shape) < 3 else d.choice((shape[1:], [1, *shape[1:]]))
    feeds = [d.floats(shape), d.floats(skip), d.floats(row)]
    feeds += [] if simple else [d.floats(row) if d.chance() else None]
    feeds += [d.floats(row) if d.chance() else None]
    while feeds[-1] is None:
        feeds.pop()
    summed = d.chance()
    return Case(d.op, feeds, {"epsilon": 1e-3} if d.chance() else {}, 4 if summed else 1, unwanted=(1, 2), tolerance=1e-4)


@operator("SimplifiedLayerNormalization")
def simplified(d):
    shape = d.shape(2, 3, zero=0)
    return Case(d.op, [d.floats(shape), d.floats(shape[-1:])], {"axis": -1, "epsilon": 1e-4}, tolerance=1e-4)


@ms("EmbedLayerNormalization")
def embed(d):
    batch, length, size = d.int(1, 2), d.int(1, 4), d.int(1, 8)
    segments = d.chance(0.7)
    ids = [d.ints((batch, length), 0, 4, np.int32), d.ints((batch, length), 0, 1, np.int32) if segments else None]
    tables = [d.floats((5, size)), d.floats((6, size)), d.floats((2, size)) if segments else None, d.floats((size,)), d.floats((size,))]
    mask = d.ints((batch, length), 0, 1, np.int32) if d.chance() else None
    if mask is not None:
        mask = np.sort(mask, 1)[:, ::-1].copy()
    places = d.ints((batch, length), 0, 5, np.int32) if d.chance(0.3) else None
    feeds = [*ids, *tables, mask, places]
    while feeds[-1] is None:
        feeds.pop()
    return Case(d.op, feeds, {"epsilon": 1e-4}, 3 if d.chance(0.3) else 2, tolerance=1e-4)


@ms("FusedConv")
def fused_conv(d):
    rank = 2
    kernel, a = window(d, rank)
    ins, outs = d.int(1, 4), d.int(1, 9)
    a["activation"] = d.choice(("Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "HardSigmoid"))
    if a["activation"] in ("LeakyRelu", "Clip", "HardSigmoid"):
        a["activation_params"] = [0.2, 0.6][:1 if a["activation"] == "LeakyRelu" else 2]
    feeds = [image(d, rank, ins), d.floats((outs, ins, *kernel)), *([d.floats((outs,))] if d.chance() else [])]
    return Case(d.op, feeds, a, constants=d.some((1, 2)) if len(feeds) > 2 else [], tolerance=3e-5)


@ms("FusedGemm")
def fused_gemm(d):
    m, k, n = d.int(1, 5), d.int(1, 9), d.int(1, 9)
    a = {"activation": d.choice(("Relu", "Tanh", "Sigmoid", "LeakyRelu")), "transB": d.int(0, 1), "transA": d.int(0, 1)}
    if a["activation"] == "LeakyRelu":
        a["activation_alpha"] = 0.3
    for name in d.some(("alpha", "beta")):
        a[name] = 0.7
    return Case(d.op, [d.floats((k, m) if a["transA"] else (m, k)), d.floats((n, k) if a["transB"] else (k, n)),
                       d.floats(d.choice(((n,), (m, n), (1, n))))], a)


@ms("FusedMatMul")
def fused_matmul(d):
    batch, m, k, n = d.shape(0, 2, most=3, zero=0), d.int(1, 5), d.int(1, 9), d.int(1, 5)
    a = {name: 1 for name in d.some(("transA", "transB"))}
    if d.chance():
        a["alpha"] = 0.4
    left = [k, m] if "transA" in a else [m, k]
    right = [n, k] if "transB" in a else [k, n]
    left, right = [*batch, *left], [*batch, *right]
    for name, shape in (("transBatchA", left), ("transBatchB", right)):
        if batch and d.chance(0.2):
            a[name] = 1
            shape.insert(0, shape.pop(len(shape) - 2))
    if "transBatchA" not in a and "transBatchB" not in a and d.chance(0.3):
        right = right[len(batch):]
    return Case(d.op, [d.floats(left), d.floats(right)], a)


def heads_of(d):
    heads = d.int(1, 3)
    return d.int(1, 2), d.int(1, 4), heads, 4 * d.int(1, 2)


@ms("Attention")
def attention(d):
    batch, rows, heads, size = heads_of(d)
    width, ins, a = heads * size, d.int(2, 6), {"num_heads": heads}
    feeds = [d.floats((batch, rows, ins)), d.floats((ins, 3 * width), 0.5), d.floats((3 * width,)) if d.chance(0.8) else None]
    past = d.int(1, 3) if d.chance(0.3) else 0
    if d.chance(0.3):
        a["unidirectional"] = 1
    if d.chance(0.2):
        a["scale"] = 0.3
    mask = d.choice((None, (batch,), (batch, rows + past), (batch, rows, rows + past)))
    if mask and len(mask) > 1:
        mask = (d.bools(mask) | (np.arange(mask[-1]) == 0)).astype(np.int32)
    elif mask:
        mask = d.ints(mask, 1, rows + past, np.int32)
    more = d.floats((d.choice((1, batch)), d.choice((1, heads)), rows, rows + past)) if d.chance(0.3) else None
    feeds += [mask, d.floats((2, batch, heads, past, size)) if past else None, more]
    while feeds[-1] is None:
        feeds.pop()
    return Case(d.op, feeds, a, 2 if past or d.chance(0.3) else 1, constants=[1, 2], tolerance=1e-4)


@ms("MultiHeadAttention")
def multi_head(d):
    batch, rows, heads, size = heads_of(d)
    keys, vsize, a = d.int(1, 5), size, {"num_heads": heads}
    form = d.choice(("three", "three", "heads", "packed kv", "packed qkv"))
    if form == "packed qkv":
        keys = rows
    q, bias = d.floats((batch, rows, heads * size)), None
    k, v = d.floats((batch, keys, heads * size)), d.floats((batch, keys, heads * vsize))
    if form == "heads":
        k, v = d.floats((batch, heads, keys, size)), d.floats((batch, heads, keys, vsize))
    elif form == "packed kv":
        k, v = d.floats((batch, keys, heads, 2, size)), None
    elif form == "packed qkv":
        q, k, v = d.floats((batch, rows, heads, 3, size)), None, None
    elif d.chance():
        bias = d.floats((2 * heads * size + heads * vsize,))
    past = d.int(1, 3) if form == "three" and d.chance(0.4) else 0
    mask = d.choice((None, None, (batch, keys + past), (batch, rows, keys + past), (batch,)))
    if mask:
        mask = (d.bools(mask) | (np.arange(mask[-1]) == 0)).astype(np.int32) if len(mask) > 1 else d.ints(mask, 1, keys + past, np.int32)
    more = d.floats((d.choice((1, batch)), d.choice((1, heads)), rows, keys + past)) if d.chance(0.3) else None
    feeds = [q, k, v, bias, mask, more, *([d.floats((batch, heads, past, n)) for n in (size, vsize)] if past else [])]
    for name, value in (("scale", 0.3), ("unidirectional", 1)):
        if d.chance(0.2) and (name == "scale" or keys == rows):      # the last row sees all keys in ONNX Runtime
            a[name] = value
    while feeds[-1] is None:
        feeds.pop()
    return Case(d.op, feeds, a, 3 if past or (form == "three" and d.chance(0.3)) else 1, tolerance=1e-4)


@ms("GroupQueryAttention")
def group_query(d):
    batch, kv, size = d.int(1, 2), d.int(1, 2), d.choice((8, 16))
    heads = kv * d.int(1, 3)
    a = {"num_heads": heads, "kv_num_heads": kv}
    if d.chance(0.3):                                               # the next of each sample
        rows, room = 1, d.int(3, 6)
        ends = d.ints((batch,), 0, room - 1, np.int32)
        total, past = int(ends.max()) + 1, room
    else:
        rows, past = d.int(1, 5), d.int(1, 3) if batch == 1 and d.chance(0.4) else 0
        total = rows + past
        ends = np.full((batch,), total - 1, np.int32)                # rows behind a sample's end are anybody's
    packed = d.chance(0.3)
    q = d.floats((batch, rows, (heads + 2 * kv if packed else heads) * size))
    k, v = (None, None) if packed else (d.floats((batch, rows, kv * size)) for _ in range(2))
    stored = [d.floats((batch, kv, past, size)) for _ in range(2)] if past else [None, None]
    feeds = [q, k, v, *stored, ends, np.asarray(total, np.int32)]
    if d.chance(0.5):
        a.update(do_rotary=1, rotary_interleaved=d.int(0, 1))
        feeds += [d.floats((16, size // 2)) for _ in range(2)]
    for name, value in (("scale", 0.3), ("local_window_size", d.int(1, 4)), ("softcap", 2.0), ("smooth_softmax", 1)):
        if d.chance(0.2):
            a[name] = value
    return Case(d.op, feeds, a, 3, tolerance=1e-4)


@ms("RotaryEmbedding")
def rotary(d):
    batch, rows, heads, size = heads_of(d)
    whole, four = d.chance(0.7), d.chance(0.4)
    part = size if whole else size // 2
    a = {"interleaved": d.int(0, 1)}
    if not whole:
        a.update(rotary_embedding_dim=part, num_heads=heads)
    if d.chance(0.3):
        a["num_heads"] = heads
    x = d.floats((batch, heads, rows, size) if four else (batch, rows, heads * size))
    if not four and whole and "num_heads" not in a:
        part = size                                                # of the cache's width
    places = np.asarray([d.int(0, 3)], np.int64) if d.chance(0.4) else d.ints((batch, rows), 0, 7)
    return Case(d.op, [x, places, d.floats((8, part // 2)), d.floats((8, part // 2))], a)


@ms("MatMulNBits")
def few_bits(d):
    bits, block, k, n = d.choice((4, 4, 8, 2)), d.choice((16, 32)), d.choice((16, 32, 40, 70)), d.int(1, 9)
    per_row = -(-k // block)
    packed = per_row * bits
    packed = -(-packed // 8)
    feeds = [d.floats((*d.shape(0, 1, most=2, zero=0), d.int(1, 3), k)), d.ints((n, per_row, block * bits // 8), 0, 255, np.uint8),
             np.abs(d.floats((n * per_row,), 0.1)).astype(np.float32)]
    zero = d.choice((None, d.ints((n * packed,), 0, 255, np.uint8), d.ints((n * per_row,), 0, 15).astype(np.float32)))
    groups = d.ints((per_row * block,), 0, per_row - 1, np.int32) if d.chance(0.2) and bits == 4 else None
    if groups is not None and zero is not None and zero.dtype == np.uint8:
        zero = None                                                # ONNX Runtime takes 8 for all of them
    feeds += [zero, groups, d.floats((n,)) if d.chance(0.4) else None]
    while feeds[-1] is None:
        feeds.pop()
    fixed = [i for i in range(1, len(feeds)) if feeds[i] is not None] if d.chance(0.7) else []
    return Case(d.op, feeds, {"K": k, "N": n, "bits": bits, "block_size": block}, constants=fixed, tolerance=1e-4)


@ms("DynamicQuantizeMatMul")
def dynamic_product(d):
    m, k, n, each = d.int(1, 4), d.int(1, 20), d.int(1, 9), d.chance()
    kind = d.choice((np.int8, np.uint8))
    shape = (n,) if each else (1,) if d.chance() else ()
    zero = zero_of(d, kind, shape) if d.chance() else None
    feeds = [d.floats((*d.shape(0, 2, most=2, zero=0), m, k)), bytes_of(d, (k, n), kind, 7), scale_of(d, shape), zero,
             d.floats((n,)) if d.chance() else None]
    while feeds[-1] is None:
        feeds.pop()
    return Case(d.op, feeds, {}, constants=[1] if d.chance() else [], tolerance=1e-4)


@ms("MatMulIntegerToFloat")
def to_float(d):
    m, k, n = d.int(1, 4), d.int(1, 20), d.int(1, 9)
    x, w = d.choice((np.int8, np.uint8)), d.choice((np.int8, np.uint8))
    each = (n,) if d.chance() else ()
    feeds = [bytes_of(d, (m, k), x), bytes_of(d, (k, n), w, 7), scale_of(d), scale_of(d, each), zero_of(d, x) if d.chance() else None,
             zero_of(d, w, each) if d.chance() else None, d.floats((n,)) if d.chance() else None]
    while feeds[-1] is None:
        feeds.pop()
    return Case(d.op, feeds, {}, constants=[1], tolerance=1e-4)


@ms("GatherBlockQuantized")
def gather_blocks(d):
    rows, block = d.int(2, 6), d.choice((16, 32))
    width = d.choice((16, 32, 48, 64))
    blocks = -(-width // block)
    kind = d.choice(("uint8", "uint8", 8))
    at = d.ints(d.shape(0, 2, zero=0), -rows, rows - 1, d.choice((np.int32, np.int64)))
    bits = 8 if kind == 8 else 4
    data = d.ints((rows, width * bits // 8), 0, 255, np.uint8)
    feeds = [data, at, np.abs(d.floats((rows, blocks))).astype(np.float32)]
    if d.chance():
        feeds.append(d.ints((rows, -(-blocks * bits // 8)), 0, 255, np.uint8))
    return Case(d.op, feeds, {"bits": bits, "block_size": block, "gather_axis": 0, "quantize_axis": 1}, constants=[0] if d.chance() else [])


@ms("QGemm")
def quantized_gemm(d):
    m, k, n = d.int(1, 5), d.int(1, 20), d.int(1, 9)
    kind, each = d.choice(((np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8))), (n,) if d.chance() else ()
    n_each = (n,) if each else ()
    a = {"transA": d.int(0, 1), "transB": d.int(0, 1), "alpha": d.choice((1.0, 0.5))}
    feeds = [bytes_of(d, (k, m) if a["transA"] else (m, k), kind[0]), scale_of(d), zero_of(d, kind[0]),
             bytes_of(d, (n, k) if a["transB"] else (k, n), kind[1], 7), scale_of(d, n_each), zero_of(d, kind[1], n_each),
             d.ints(d.choice(((n,), (1, n), (m, n))), -999, 999, np.int32) if d.chance() else None]
    if d.chance():
        feeds += [np.asarray(4.0, np.float32), zero_of(d, kind[0])]
    while feeds[-1] is None:
        feeds.pop()
    return Case(d.op, feeds, a, constants=[1, 2, 3, 4, 5], steps=1)


def eight_bits(d):
    return np.dtype(d.choice((np.uint8, np.int8)))


@ms("QLinearAdd", "QLinearMul")
def quantized_binary(d):
    kind, shape = eight_bits(d), d.shape(1, 4)
    feeds = []
    for each in (shape, d.broadcastable(shape)):
        feeds += [bytes_of(d, each, kind), scale_of(d), zero_of(d, kind)]
    return Case(d.op, [*feeds, np.asarray(d.choice((0.5, 2.0)), np.float32), zero_of(d, kind)], {}, constants=[1, 2, 4, 5, 6, 7], steps=1)


@ms("QLinearConcat")
def quantized_concat(d):
    kind, shape = eight_bits(d), d.shape(1, 3, zero=0)
    axis, feeds = d.int(0, len(shape) - 1), [scale_of(d), zero_of(d, kind)]
    for _ in range(d.int(1, 3)):
        feeds += [bytes_of(d, [d.int(1, 4) if i == axis else n for i, n in enumerate(shape)], kind), scale_of(d), zero_of(d, kind)]
    return Case(d.op, feeds, {"axis": axis}, constants=[i for i in range(len(feeds)) if i < 2 or i % 3 != 2], steps=1)


@ms("QLinearLeakyRelu", "QLinearSigmoid", "QLinearSoftmax", "QLinearGlobalAveragePool", "QLinearAveragePool")
def quantized_unary(d):
    kind, name = eight_bits(d), d.op[len(MS) + len("QLinear"):]
    pools = "Pool" in name
    shape = [d.int(1, 2), d.int(1, 9), d.int(4, 6), d.int(4, 6)] if pools else d.shape(1, 3, zero=0)
    a = {"LeakyRelu": {"alpha": 0.2}, "Softmax": {"axis": d.axis(len(shape)), "opset": d.choice((13, 13, 11))}}.get(name, {})
    if pools:
        a = {"channels_last": d.int(0, 1)}
    if name == "AveragePool":
        kernel, more = window(d, 2, 1, False)
        a.update(more, kernel_shape=kernel, count_include_pad=d.int(0, 1), ceil_mode=d.int(0, 1))
    y = [np.asarray(1 / 256, np.float32), np.asarray(np.iinfo(kind).min, kind)] if name in ("Sigmoid", "Softmax") else [scale_of(d), zero_of(d, kind)]
    feeds = [bytes_of(d, shape, kind), scale_of(d), zero_of(d, kind), *y]
    if name == "AveragePool" and d.chance(0.3):
        feeds.pop()                            # then 0, of the input's type
    return Case(d.op, feeds, a, constants=[1, 2, 3, 4], steps=1)


@ms("NhwcMaxPool")
def channels_last(d):
    kernel, a = window(d, 2, 1)
    a.update(kernel_shape=kernel, ceil_mode=d.int(0, 1))
    return Case(d.op, [bytes_of(d, (d.int(1, 2), d.int(5, 8), d.int(5, 8), d.int(1, 9)), eight_bits(d))], a)


@ms("CropAndResize")
def crop_and_resize(d):
    n, rois = d.int(1, 2), d.int(1, 4)
    boxes = d.random.random((rois, 4)).astype(np.float32) * 1.3 - np.float32(0.1)
    a = {"mode": d.choice(("bilinear", "nearest")), "extrapolation_value": d.choice((0.0, 3.0))}
    return Case(d.op, [d.floats((n, d.int(1, 3), d.int(3, 6), d.int(3, 6))), boxes, d.ints((rois,), 0, n - 1, np.int32),
                       d.ints((2,), 1, 4, np.int32)], a, tolerance=1e-4)


@ms("Inverse")
def inverse(d):
    n = d.int(1, 4)
    return Case(d.op, [d.floats((*d.shape(0, 2, zero=0), n, n)) + 4 * np.eye(n, dtype=np.float32)], {}, tolerance=1e-4)


@ms("QuantizeLinear", "DequantizeLinear")
def quantize(d):
    shape, kind = d.shape(1, 3, zero=0), np.dtype(d.choice((np.uint8, np.int8)))
    axis = d.int(0, len(shape) - 1)
    each = (shape[axis],) if d.chance() else ()
    a, scale, zero = {"axis": axis} if each or d.chance() else {}, scale_of(d, each), zero_of(d, kind, each)
    x = (d.ints(shape, -300, 300) * 0.25).astype(np.float32) if d.op[len(MS)] == "Q" else bytes_of(d, shape, kind)
    return Case(d.op, [x, scale, zero], a)
