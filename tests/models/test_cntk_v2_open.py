"""CNTK v2 samples whose sizes only a call tells (FreeDimension), in models written here. What CNTK
itself gave for such windows and layouts: test_cntk_oracle.py."""

import numpy as np
import pytest

from cntk_v1 import assert_close, evl, needs_library
from cntk2 import END, Axis, Model, Shape, Size

pytestmark = needs_library
FREE = -3
CONVOLUTION = {"sharing": [True], "lowerPad": Shape([0]), "upperPad": Shape([0]), "transpose": False,
               "maxTempMemSizeInSamples": Size(0)}
POOLING = {"lowerPad": Shape([0]), "upperPad": Shape([0])}


def numbers(*shape, seed=7):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype("f")


def net_of(op, dims, weights=None, axes=None, **attributes):
    """One function, of weights and an input x of CNTK's dimensions."""
    m = Model()
    x = m.input("x", dims, axes)
    inputs = [x] if weights is None else [m.parameter("w", weights), x]
    m.output(m.add(op, inputs, name="z", **attributes))
    return m


def opened(tmp_path, m, precision="f"):
    m.save(tmp_path / "net.model")
    return evl.Model(tmp_path / "net.model", precision)


def refusal(tmp_path, *net, **attributes):
    with pytest.raises(evl.Failure) as error:
        opened(tmp_path, net_of(*net, **attributes)).close()
    return str(error.value)


@pytest.mark.parametrize("shape", [(2, 3, 4), (5, 1, 1), (2, 3, 4, 5)])
def test_a_call_tells_the_sizes(tmp_path, shape):
    x = numbers(*shape)
    with opened(tmp_path, net_of("Negate", [FREE, FREE])) as net:
        found = net.run({"x": x}, ["z"])["z"]
        assert found.shape == shape and (found == -x).all()


def test_sizes_may_change_from_call_to_call(tmp_path):
    with opened(tmp_path, net_of("Negate", [FREE, 3])) as net:
        for n in (4, 1, 7):
            x = numbers(2, 3, n)
            assert (net.run({"x": x}, ["z"])["z"] == -x).all()


@pytest.mark.parametrize("shape", [(6,), (2, 6), (1, 2, 4, 3), (2, 2, 1, 1, 3)])
def test_a_sample_without_its_sizes_is_refused(tmp_path, shape):
    with opened(tmp_path, net_of("Negate", [FREE, 3])) as net:
        with pytest.raises(evl.Failure, match=r"'x': shape .*, expected \[\?,3,\?\]"):
            net.run({"x": numbers(*shape)}, ["z"])


# --- what needs sizes ----------------------------------------------------------------------------

@pytest.mark.parametrize("precision", ["f", "d"])
@pytest.mark.parametrize("kind, f", [(0, np.max), (1, np.mean)])
def test_a_pooling_of_all_places(tmp_path, precision, kind, f):
    """CNTK itself does not offer it."""
    m = net_of("Pooling", [FREE, FREE, 2], poolingType=Size(kind), poolingWindowShape=Shape([-2]),
               strides=Shape([1]), autoPadding=[False], **POOLING)
    with opened(tmp_path, m, precision) as net:
        for size in ((3, 4), (1, 5)):
            x = numbers(3, 2, *size).astype(net.real)
            assert_close(net.run({"x": x}, ["z"])["z"], f(x, (2, 3), keepdims=True), precision)


def test_a_convolution_of_an_input_without_frames(tmp_path):
    m = net_of("Convolution", [FREE, FREE, 1], np.ones((2, 2, 1, 1), "f"), [], strides=Shape([2]),
               autoPadding=[True], **CONVOLUTION)
    with opened(tmp_path, m) as net:
        found = net.run({"x": np.ones((1, 3, 5), "f")}, ["z"])["z"]
    assert_close(found, [[[4, 4, 2], [2, 2, 1]]], "f")


def test_a_convolution_of_an_unknown_number_of_channels_is_refused(tmp_path):
    text = refusal(tmp_path, "Convolution", [4, 4, FREE], numbers(2, 2, 3, 1), strides=Shape([1]),
                   autoPadding=[False], **CONVOLUTION)
    assert "'z' (Convolution)" in text and "a number of channels that is not told" in text


def test_a_shape_told_for_what_a_transposed_convolution_cannot_know_is_refused(tmp_path):
    text = refusal(tmp_path, "Convolution", [FREE, 4, 5], numbers(3, 3, 2, 5), strides=Shape([2]),
                   autoPadding=[False], outputShape=Shape([9, 9, 2]),
                   **dict(CONVOLUTION, transpose=True))
    assert "a size told for what only a call tells the size of" in text


@pytest.mark.parametrize("window, stride", [(0, 1), (3, 0), (1 << 40, 1)])
def test_windows_of_impossible_size_are_refused(tmp_path, window, stride):
    text = refusal(tmp_path, "Pooling", [FREE, 4, 2], poolingType=Size(0), autoPadding=[True],
                   poolingWindowShape=Shape([window, 1]), strides=Shape([stride or 1 << 40]),
                   **POOLING)
    assert "a kernel, stride, pad or input of impossible size" in text


def test_unpooling_with_automatic_pads_is_refused(tmp_path):
    m = Model()
    x, y = m.input("x", [FREE, FREE, 2]), m.input("y", [FREE, FREE, 2])
    m.output(m.add("Unpooling", [x, y], name="z", unpoolingWindowShape=Shape([2, 2]),
                   strides=Shape([2]), autoPadding=[True], poolingType=Size(0), **POOLING))
    with pytest.raises(evl.Failure, match="unpooling with automatic pads"):
        opened(tmp_path, m)


def spliced(*dims):
    m = Model()
    m.output(m.add("Splice", [m.input("x%d" % i, d) for i, d in enumerate(dims)], name="z",
                   axis=Axis(0)))
    return m


def test_splicing_what_is_as_wide_as_a_call_tells(tmp_path):
    a, b = numbers(2, 3, 4), numbers(2, 3, 1, seed=8)
    with opened(tmp_path, spliced([FREE, FREE], [1, 3])) as net:
        found = net.run({"x0": a, "x1": b}, ["z"])["z"]
    assert (found == np.concatenate([a, b], 2)).all()
    with pytest.raises(evl.Failure, match="stacked on what only a call tells the size of"):
        opened(tmp_path, spliced([2, FREE], [2, 1]))


@pytest.mark.parametrize("first, end, new, shape", [
    (0, 2, [2, -1], (5, 4, 2, 6)), (1, 2, [3, 1], (5, 4, 1, 3, 4)), (2, 2, [1, 1], (5, 4, 1, 1, 3, 4)),
    (1, 3, [-1], (5, 12, 4)), (1, END, [12], (5, 12, 4))])
def test_reshapes(tmp_path, first, end, new, shape):
    x = numbers(5, 4, 3, 4)
    if first == 0:
        shape = (5, 4, 6, 2)
    m = net_of("Reshape", [FREE, 3, FREE], newShape=Shape(new), beginAxis=Axis(first),
               endAxis=Axis(end))
    with opened(tmp_path, m) as net:
        found = net.run({"x": x}, ["z"])["z"]
    assert found.shape == shape and (found.reshape(-1) == x.reshape(-1)).all()


# --- windows over a sequence ---------------------------------------------------------------------

def along_a_sequence(weights, stride, pads_itself):
    """What CNTK makes of a convolution over a sequence of samples [channels]."""
    m = Model()
    x, w = m.input("x", [weights.shape[1]]), m.parameter("w", weights)
    window = dict(CONVOLUTION, strides=Shape([stride, stride]), autoPadding=[pads_itself, False])
    length = m.add("ConvolutionSequenceShape", [w, x], name="length", **window)
    length = m.add("StopGradient", [length])
    y = m.add("UnpackSequence", [x], sequenceUnpackPaddingValue=0.0,
              sequenceUnpackSuppressMaskOutput=True)
    y = m.add("TransposeAxes", [y], axis1=Axis(1), axis2=Axis(0))
    y = m.add("Convolution", [w, y], **window)
    y = m.add("TransposeAxes", [y], axis1=Axis(1), axis2=Axis(0))
    m.output(m.add("ToSequence", [y, length], name="z", newDynamicAxes=[]))
    return m


def convolved(x, w, stride, pads_itself):
    """x [T, channels], w [k, channels, maps]; centres of the first and last kernel lie evenly."""
    k, t = w.shape[0], x.shape[0]
    n = (t - 1) // stride + 1 if pads_itself else (t - k) // stride + 1
    first = (t - ((n - 1) * stride + 1)) // 2 - (k - 1) // 2 if pads_itself else 0
    y = np.zeros((n, w.shape[2]))
    for i in range(n):
        for j in range(k):
            at = first + i * stride + j
            if 0 <= at < t:
                y[i] += x[at].astype(float) @ w[j].astype(float)
    return y


@pytest.mark.parametrize("precision", ["f", "d"])
@pytest.mark.parametrize("kernel, stride", [(1, 1), (3, 1), (2, 2), (3, 4), (1, 3), (4, 3)])
@pytest.mark.parametrize("pads_itself", [True, False])
def test_a_convolution_along_a_sequence(tmp_path, precision, kernel, stride, pads_itself):
    w = numbers(kernel, 3, 2)
    with opened(tmp_path, along_a_sequence(w, stride, pads_itself), precision) as net:
        for n in (4, 9, 5):
            x = numbers(n, 3, seed=n).astype(net.real)
            found = net.run({"x": x}, ["z", "length"])
            wanted = convolved(x, w, stride, pads_itself)
            assert_close(found["z"], wanted, precision)
            assert found["length"].reshape(-1) == [len(wanted)]
        x = numbers(2, 6, 3).astype(net.real)
        for y, part in zip(net.run({"x": x}, ["z"])["z"], x):
            assert_close(y, convolved(part, w, stride, pads_itself), precision)


def test_a_kernel_longer_than_the_sequence_is_refused(tmp_path):
    with opened(tmp_path, along_a_sequence(numbers(5, 3, 2), 1, False)) as net:
        with pytest.raises(evl.Failure, match="the kernel reaches over 5 elements"):
            net.run({"x": numbers(4, 3)}, ["z"])


def test_weights_of_too_few_dimensions_are_refused(tmp_path):
    text = refusal(tmp_path, "ConvolutionSequenceShape", [3], numbers(2), strides=Shape([1]),
                   autoPadding=[False], **CONVOLUTION)
    assert "it wants weights over a sequence's frames" in text
