"""ai.onnx: sampling, regions, and numbers in few bits."""

import numpy as np

from draw import operator
from draw_nn import bytes_of, scale_of, zero_of

COORDINATES = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "tf_crop_and_resize", "half_pixel_symmetric")
NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


@operator("Resize")
def resize(d):
    d.version(oldest=10)
    mode = d.choice(("nearest", "linear", "cubic") if d.opset >= 11 else ("nearest", "linear"))
    rank = 4 if mode == "cubic" else d.choice((1, 2, 3, 4, 4, 5)) if mode == "nearest" else d.choice((2, 4, 4, 5))
    shape = [d.int(1, 2), d.int(1, 2)][:rank] + [d.int(1, 6) for _ in range(rank - 2)]
    kind = np.dtype(np.float32) if mode == "cubic" else d.choice((np.float32, np.float32, np.uint8, np.int8, np.int32))
    x, steps = d.array(kind, shape), int(mode == "linear")            # a sum close to a whole number is cut to either side
    factors = [1.0 if i < 2 and rank > 2 else float(d.choice((0.4, 0.5, 0.8, 1.0, 1.5, 2.0, 2.6, 3.0))) for i in range(rank)]
    factors = [f if int(f * n) else 1.0 for f, n in zip(factors, shape)]
    if d.opset < 11:
        return d.case([x, np.asarray(factors, np.float32)], {"mode": mode}, constants=[1] if d.chance() else [], tolerance=2e-5, steps=steps)
    a = {"mode": mode, "coordinate_transformation_mode": d.choice(COORDINATES if d.opset >= 19 else COORDINATES[:-1])}
    if mode == "nearest":
        a["nearest_mode"] = d.choice(NEAREST)
    if mode == "cubic":
        a.update(cubic_coeff_a=d.choice((-0.5, -0.75)), exclude_outside=d.int(0, 1))
    if d.opset >= 18 and mode != "nearest" and d.chance(0.3):
        a["antialias"] = 1
        x = x.astype(np.float32)
    roi = np.asarray([0.1] * rank + [0.9] * rank, np.float32) if a["coordinate_transformation_mode"].startswith("tf") else None
    if roi is not None:
        a["extrapolation_value"] = d.choice((0.0, 2.0))
        if rank > 2:
            roi[:2], roi[rank:rank + 2] = 0, 1
    empty = np.zeros(0, np.float32)
    roi = roi if roi is not None else None if d.opset >= 13 else empty
    if d.chance():
        return d.case([x, roi, np.asarray(factors, np.float32)], a, constants=[2] if d.chance() else [], tolerance=3e-5, steps=steps)
    sizes = [max(1, int(f * n)) for f, n in zip(factors, shape)]
    given = [x, roi, None if d.opset >= 13 else empty, np.asarray(sizes, np.int64)]
    if d.opset >= 18 and rank == 4 and d.chance(0.4):
        a["axes"] = [2, 3]
        given[3] = given[3][2:]
        a["keep_aspect_ratio_policy"] = d.choice(("stretch", "not_larger", "not_smaller"))
        if roi is not None:
            given[1] = roi[[2, 3, 6, 7]]
    return d.case(given, a, constants=[3] if d.chance() else [], tolerance=3e-5, steps=steps)


@operator("Upsample")
def upsample(d):
    d.version(newest=9)
    x = d.floats([d.int(1, 2), d.int(1, 2), d.int(1, 5), d.int(1, 5)])
    factors, mode = [1.0, 1.0, d.choice((1.0, 2.0, 2.5)), d.choice((1.0, 2.0, 3.0))], d.choice(("nearest", "linear"))
    if d.opset < 9:
        return d.case([x], {"mode": mode, "scales": factors})
    return d.case([x, np.asarray(factors, np.float32)], {"mode": mode}, constants=[1] if d.chance() else [])


@operator("GridSample")
def grid_sample(d):
    d.version()
    rank = 2 if d.opset < 20 or d.chance(0.7) else 3
    n, out = d.int(1, 2), [d.int(1, 4) for _ in range(rank)]
    x = d.floats([n, d.int(1, 3), *(d.int(1, 5) for _ in range(rank))])
    modes = ("bilinear", "nearest", "bicubic") if d.opset < 20 else ("linear", "nearest", "cubic")[:3 if rank == 2 else 2]
    a = {"mode": d.choice(modes), "padding_mode": d.choice(("zeros", "border", "reflection")), "align_corners": d.int(0, 1)}
    return d.case([x, d.floats([n, *out, rank], 0.8)], a, tolerance=1e-4)


@operator("AffineGrid")
def affine_grid(d):
    d.version()
    rank, n = d.int(2, 3), d.int(1, 2)
    corners = d.int(0, 1)                  # where a single point of a side is, nobody says
    size = np.asarray([n, d.int(1, 3), *(d.int(1 + corners, 4) for _ in range(rank))], np.int64)
    return d.case([d.floats((n, rank, rank + 1)), size], {"align_corners": corners}, constants=[1] if d.chance() else [])


def boxes(d, n, size):
    corners = np.sort(d.random.random((n, 2, 2)) * (size + 2) - 1, axis=1)
    return corners.reshape(n, 4).astype(np.float32)              # x0 y0 x1 y1


@operator("RoiAlign")
def roi_align(d):
    d.version()
    n, rois = d.int(1, 2), d.int(1, 4)
    a = {"output_height": d.int(1, 3), "output_width": d.int(1, 3), "sampling_ratio": d.int(0, 2), "spatial_scale": d.choice((1.0, 0.5)),
         "mode": d.choice(("avg", "max"))}
    if d.opset >= 16 and d.chance():
        a["coordinate_transformation_mode"] = d.choice(("half_pixel", "output_half_pixel"))
    return d.case([d.floats((n, d.int(1, 3), 6, 7)), boxes(d, rois, 6), d.ints((rois,), 0, n - 1)], a, tolerance=1e-4)


@operator("MaxRoiPool")
def max_roi_pool(d):
    d.version()
    n, rois = d.int(1, 2), d.int(1, 4)
    at = np.concatenate([d.ints((rois, 1), 0, n - 1).astype(np.float32), np.floor(np.abs(boxes(d, rois, 5)))], 1)
    return d.case([d.floats((n, d.int(1, 3), 6, 7)), at], {"pooled_shape": [d.int(1, 3), d.int(1, 3)], "spatial_scale": d.choice((1.0, 0.5))})


@operator("NonMaxSuppression")
def suppression(d):
    d.version(oldest=10)
    n, count, classes, center = d.int(1, 2), d.int(1, 8), d.int(1, 3), d.int(0, 1)
    box = boxes(d, n * count, 4).reshape(n, count, 4)
    if center:
        box = np.abs(box) + 0.1
    more = [np.asarray(d.int(0, 5), np.int64), np.asarray(d.choice((0.0, 0.3, 0.5)), np.float32), np.asarray(d.choice((-1.0, 0.0, 0.5)), np.float32)]
    more = [m.reshape(d.choice(((), (1,)))) for m in more]
    feeds = [box, np.abs(d.floats((n, classes, count)))] + more[:d.int(0, 3)]
    return d.case(feeds, {"center_point_box": center} if center or d.chance() else {}, constants=d.some((2, 3, 4)))


@operator("Col2Im")
def col2im(d):
    d.version()
    rank = d.int(1, 3)
    block = [d.int(1, 2) for _ in range(rank)]
    # Of other dilations ONNX Runtime reads elsewhere in the blocks.
    strides, dilations, pads = [d.int(1, 2) for _ in block], [d.int(1, 2) if rank == 2 else 1 for _ in block], [d.int(0, 1) for _ in range(2 * rank)]
    image = [d.int(3, 6) for _ in block]
    windows = [(image[i] + pads[i] + pads[i + rank] - dilations[i] * (block[i] - 1) - 1) // strides[i] + 1 for i in range(rank)]
    x = d.floats((d.int(1, 2), d.int(1, 3) * int(np.prod(block)), int(np.prod(windows))))
    return d.case([x, np.asarray(image, np.int64), np.asarray(block, np.int64)], {"strides": strides, "dilations": dilations, "pads": pads})


@operator("DeformConv")
def deform_conv(d):
    d.version()
    group, offsets = d.choice((1, 1, 2)), d.choice((1, 1, 2))
    c, m, k, pad, stride = 2 * d.int(1, 2), group * d.int(1, 3), d.int(1, 3), d.int(0, 1), d.int(1, 2)
    n, h, w = d.int(1, 2), d.int(4, 6), d.int(4, 6)
    out = [(s + 2 * pad - k) // stride + 1 for s in (h, w)]
    feeds = [d.floats((n, c, h, w)), d.floats((m, c // group, k, k)), d.floats((n, offsets * 2 * k * k, *out), 0.7),
             d.floats((m,)) if d.chance() else None, d.floats((n, offsets * k * k, *out)) if d.chance() else None]
    while feeds[-1] is None:
        feeds.pop()
    a = {"group": group, "offset_group": offsets, "pads": [pad] * 4, "strides": [stride] * 2, "kernel_shape": [k, k]}
    return d.case(feeds, a, tolerance=1e-4)


@operator("QuantizeLinear")
def quantize(d):
    d.version(oldest=10)
    shape = d.shape(1, 4, zero=0)
    axis = d.int(0, len(shape) - 1)
    kinds = [t for t in d.types("T2" if d.opset < 23 else "T3") if t.kind in "iu"]
    to, a = d.choice(kinds), {}
    each = (shape[axis],) if d.opset >= 13 and d.chance() else ()
    if d.opset >= 21 and d.chance(0.3):
        a["block_size"] = d.int(1, shape[axis])
        each = [-(-n // a["block_size"]) if i == axis else n for i, n in enumerate(shape)]
    if each != () or (d.opset >= 13 and d.chance()):
        a["axis"] = axis - len(shape) if d.chance() else axis
    scale = np.asarray(2.0 ** d.ints(each, -4, 1), np.float32)
    x = (d.ints(shape, -300, 300) * 0.25).astype(np.float32)
    zero = [zero_of(d, to, each)] if to != np.uint8 or d.chance() else []
    return d.case([x, scale, *zero], a, constants=d.some((1, 2)) if zero else [])


@operator("DequantizeLinear")
def dequantize(d):
    d.version(oldest=10)
    shape = d.shape(1, 4, zero=0)
    axis = d.int(0, len(shape) - 1)
    kind, a = d.choice([t for t in d.types("T" if d.opset < 19 else "T1") if t.kind in "iu"]), {}
    each = (shape[axis],) if d.opset >= 13 and d.chance() else ()
    if d.opset >= 21 and d.chance(0.3):
        a["block_size"] = d.int(1, shape[axis])
        each = [-(-n // a["block_size"]) if i == axis else n for i, n in enumerate(shape)]
    if each != () or (d.opset >= 13 and d.chance()):
        a["axis"] = axis - len(shape) if d.chance() else axis
    zero = [] if kind == np.int32 or d.chance(0.3) else [zero_of(d, kind, each)]
    return d.case([bytes_of(d, shape, kind), scale_of(d, each), *zero], a, constants=d.some((1, 2)) if zero else d.some((1,)))


@operator("DynamicQuantizeLinear")
def dynamic_quantize(d):
    d.version()
    return d.case([d.floats(d.shape(0, 3, zero=0), 3) + np.float32(d.choice((0, 5, -9)))], {}, 3, tolerance=1e-5)
