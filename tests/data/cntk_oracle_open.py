"""Cases of make_cntk_oracle.py: samples whose sizes only a call tells, windows over a sequence."""
import cntk as C

from cntk_oracle import CASES, fixed, numbers, seq, weight
import cntk_oracle as oracle

F = C.FreeDimension


def open_case(name, f, shape=(4, F, F), given=(4, 7, 6)):
    def make():
        x = C.input_variable(shape, dtype=oracle.REAL, name="x")
        return f(x), {x: numbers(2, *given)}
    CASES["open_" + name] = make


def both(f):
    return lambda x: C.combine([f(x, C.MAX_POOLING), f(x, C.AVG_POOLING)])


open_case("convolution", lambda x: C.convolution(
    weight(5, 4, 3, 2), x, auto_padding=[False, True, True]))
open_case("convolution_strided", lambda x: C.convolution(
    weight(5, 4, 3, 2), x, strides=(2, 2), auto_padding=[False]))
open_case("convolution_strided_and_padded", lambda x: C.combine([C.convolution(
    weight(5, 4, *k), x, strides=s, auto_padding=[False, True, True])
    for k, s in (((2, 4), (3, 2)), ((3, 3), (2, 4)), ((1, 2), (3, 3)), ((3, 5), (2, 1)))]),
    given=(4, 8, 6))
open_case("convolution_of_one_size", lambda x: C.convolution(
    weight(5, 4, 3, 3), x, strides=(2, 2), auto_padding=[False, True, True]), (4, F, 6))
open_case("convolution_in_groups", lambda x: C.convolution(
    weight(6, 2, 3, 3), x, groups=2, auto_padding=[False, True, True]))
open_case("convolution_of_one_axis", lambda x: C.convolution(
    weight(5, 4, 3), x, auto_padding=[False, True]), (4, F), (4, 9))
open_case("convolution_of_three_axes", lambda x: C.convolution(
    weight(3, 2, 2, 3, 3), x, strides=(1, 2, 2), auto_padding=[False, True, True, True]),
    (2, F, F, F), (2, 3, 4, 5))
open_case("convolution_transposed", lambda x: C.convolution_transpose(
    weight(4, 3, 3, 3), x, strides=(2, 2), auto_padding=[False]))
open_case("convolution_transposed_padded", lambda x: C.convolution_transpose(
    weight(4, 3, 4, 4), x, strides=(2, 2), auto_padding=[False, True, True]))
open_case("pooling", both(lambda x, kind: C.pooling(x, kind, (2, 3), (2, 2))))
open_case("pooling_padded", both(lambda x, kind: C.pooling(
    x, kind, (3, 2), (2, 3), auto_padding=[True])), given=(4, 8, 6))
open_case("pooling_rounding_up", both(lambda x, kind: C.pooling(
    x, kind, (3, 3), (2, 2), ceil_out_dim=True)), given=(4, 8, 6))
open_case("pooling_counting_pads", lambda x: C.combine([C.pooling(
    x, C.AVG_POOLING, (3, 3), (s, s), auto_padding=[True], include_pad=True) for s in (1, 2)]))
open_case("unpooling", lambda x: C.unpooling(
    C.pooling(x, C.MAX_POOLING, (2, 2), (2, 2)), x, C.MAX_UNPOOLING, (2, 2), (2, 2)),
    given=(4, 6, 6))
open_case("lrn", lambda x: C.local_response_normalization(x, 1, 2.0, 0.5, 0.75))
open_case("normalization", lambda x: C.batch_normalization(
    x, weight(4), weight(4), weight(4), fixed(numbers(4, low=0.2)), True,
    running_count=fixed([5])))
open_case("sums", lambda x: C.combine(
    [C.reduce_mean(x, 1), C.reduce_max(x, 0, keepdims=False),
     C.reduce_sum(x, C.Axis.all_static_axes())]), (4, F), (4, 7))
open_case("layout", lambda x: C.combine(
    [C.plus(x, weight(4, 1, 1)), C.slice(x, 1, 1, 0), C.splice(x, 2 * x, axis=0),
     C.splice(x, 2 * x, axis=2), C.transpose(x, (2, 0, 1))]))
open_case("softmax", C.softmax)


def sequence_case(name, f, shape, frames=7):
    def make():
        x = seq("x", *shape)
        return f(x), {x: numbers(1, frames, *shape)}
    CASES["window_over_a_sequence" + name] = make


def with_length(y):
    return C.combine([y.output, y.find_by_name("_sequence_shape").output])


for _name, _options in (("", {"auto_padding": [False, False]}),
                        ("_padded", {"auto_padding": [False, True]}),
                        ("_strided", {"strides": (2,), "auto_padding": [False, True]}),
                        ("_strided_unpadded", {"strides": (3,), "auto_padding": [False, False]})):
    sequence_case(_name, lambda x, o=_options: with_length(C.convolution(
        weight(5, 4, 3), x, sequential=True, **o)), (4,))
sequence_case("_of_rows", lambda x: C.convolution(
    weight(5, 4, 3, 2), x, strides=(2, 1), auto_padding=[False, True, True], sequential=True),
    (4, 6))
sequence_case("_of_single_numbers", lambda x: C.layers.SequentialConvolution(
    (3, 2), 5, pad=True, reduction_rank=0)(x), (4,))
sequence_case("_by_layers", lambda x: C.layers.Sequential([
    C.layers.SequentialConvolution((3, 4), 5, strides=(2, 3), pad=True, activation=C.relu),
    C.layers.SequentialConvolution((2, 2), 3), C.layers.Recurrence(C.layers.GRU(3)),
    C.sequence.last])(x), (4, 6), 9)
