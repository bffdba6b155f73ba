"""Small files that ask for much: a status and a text under the settings that limit memory, the size of a value
and trips, and never more memory than they allow; and what is taken out of values that are given back in time."""
import numpy as np
import pytest

import evallib

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper   # noqa: E402

LIMITS = {"maxMemory": 64 << 20, "maxTensorBytes": 64 << 20, "maxTrips": 10_000}
HUGE = 2 ** 33


def value(name, kind=TensorProto.FLOAT, shape=None):
    return helper.make_tensor_value_info(name, kind, shape)


def scalar(name, number, kind=TensorProto.INT64):
    return helper.make_tensor(name, kind, [], [number])


def ints(name, *numbers):
    return helper.make_tensor(name, TensorProto.INT64, [len(numbers)], numbers)


ONE = helper.make_tensor("c", TensorProto.FLOAT, [1], [1.0])
TRUE = scalar("t", 1, TensorProto.BOOL)


def model(nodes, constants=(), inputs=(), kind=TensorProto.FLOAT, functions=()):
    graph = helper.make_graph(nodes, "greedy", list(inputs), [value("y", kind)], list(constants))
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("local", 1)]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=10)


def one(op, *constants, **attributes):
    names = [constant.name for constant in constants]
    return model([helper.make_node(op, names, ["y"], **attributes)], constants)


def row(op, first, second, n, last="y", **attributes):
    """Each takes the one before it, and `second` or itself."""
    names = [first, *(f"v{i}" for i in range(n - 1)), last]
    return [helper.make_node(op, [x, second or x], [y], **attributes) for x, y in zip(names, names[1:])]


def loop(trips, nodes, carried=(), result=()):
    """The body takes i and go and gives go; `carried` are pairs of names, `result` names, of values."""
    body = helper.make_graph([helper.make_node("Identity", ["go"], ["on"]), *nodes], "body",
                             [value("i", TensorProto.INT64, []), value("go", TensorProto.BOOL, []),
                              *(value(x) for x, _ in carried)],
                             [value("on", TensorProto.BOOL, []), *(value(y) for _, y in carried), *map(value, result)])
    node = helper.make_node("Loop", ["n", "t", *(["c"] if carried else [])], ["y"], body=body)
    return model([node], [scalar("n", trips), TRUE, ONE])


def doubling_functions(n):
    def call(i, x, y):
        return helper.make_node(f"f{i}" if i >= 0 else "Identity", [x], [y], domain="local" if i >= 0 else "")
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("local", 1)]
    functions = [helper.make_function("local", f"f{i}", ["x"], ["y"], [call(i - 1, "x", "a"), call(i - 1, "a", "y")],
                                      opsets) for i in range(n)]
    return model([call(n - 1, "c", "y")], [ONE], functions=functions)


GREEDY = {
    "zeros": (one("ConstantOfShape", ints("s", HUGE)), "maxTensorBytes"),
    "zeros of which only the shape is used":
        (model([helper.make_node("ConstantOfShape", ["s"], ["a"]), helper.make_node("Shape", ["a"], ["y"])],
               [ints("s", HUGE)], kind=TensorProto.INT64), "maxTensorBytes"),
    "an expansion": (one("Expand", ONE, ints("s", HUGE)), "maxTensorBytes"),
    "more elements than are counted": (one("Expand", ONE, ints("s", 2 ** 62, 2 ** 62)), "maxTensorBytes"),
    "tiles of tiles": (model(row("Tile", "c", "s", 40), [ONE, ints("s", 2)]), "maxTensorBytes"),
    "twice what was twice": (model(row("Concat", "c", None, 40, axis=0), [ONE]), "maxTensorBytes"),
    "a range": (model([helper.make_node("Range", ["a", "b", "d"], ["y"])],
                      [scalar("a", 0), scalar("b", 2 ** 40), scalar("d", 1)], kind=TensorProto.INT64),
                "maxTensorBytes"),
    "pads": (one("Pad", ONE, ints("p", 0, HUGE)), "maxTensorBytes"),
    "pads of a convolution": (one("Conv", helper.make_tensor("x", TensorProto.FLOAT, [1, 1, 1, 1], [1.0]),
                                  helper.make_tensor("w", TensorProto.FLOAT, [1, 1, 1, 1], [1.0]),
                                  pads=[2 ** 30] * 4), "maxTensorBytes"),
    "places": (one("OneHot", ints("i", 1), scalar("d", HUGE),
                   helper.make_tensor("v", TensorProto.FLOAT, [2], [0.0, 1.0])), "maxTensorBytes"),
    "a larger image": (model([helper.make_node("Resize", ["x", "", "f"], ["y"])],
                             [helper.make_tensor("x", TensorProto.FLOAT, [1, 1, 2, 2], [1.0] * 4),
                              helper.make_tensor("f", TensorProto.FLOAT, [4], [1.0, 1.0, 3e4, 6e4])]),
                       "maxTensorBytes"),
    "a window": (one("HannWindow", scalar("n", HUGE)), "maxTensorBytes"),
    "chance": (one("RandomNormal", shape=[HUGE]), "maxTensorBytes"),
    "trips": (loop(2 ** 40, [helper.make_node("Identity", ["c"], ["r"])], result=["r"]), "maxTrips"),
    "trips that grow": (loop(60, [helper.make_node("Concat", ["v", "v"], ["w"], axis=0)], [("v", "w")]),
                        "maxMemory|maxTensorBytes"),
    "calls of calls": (doubling_functions(40), "functions multiply"),
    "a pattern": (model([helper.make_node("RegexFullMatch", ["s"], ["y"], pattern="(a{1000}){1000}")],
                        [helper.make_tensor("s", TensorProto.STRING, [1], [b"a"])], kind=TensorProto.BOOL), "pattern"),
}


@pytest.mark.parametrize("name", GREEDY)
def test_what_asks_for_too_much_is_told_so(name):
    proto, text = GREEDY[name]
    with pytest.raises(evallib.Error, match=text):
        loaded = evallib.load(proto.SerializeToString(), **LIMITS)
        try:
            loaded.run({})
        finally:
            assert loaded.memory_use()["peakBytes"] <= LIMITS["maxMemory"]


def test_a_pattern_that_others_need_ages_for_is_matched_at_once():
    proto = model([helper.make_node("RegexFullMatch", ["s"], ["y"], pattern="(a*)*b")],
                  [helper.make_tensor("s", TensorProto.STRING, [1], [b"a" * 50_000])], kind=TensorProto.BOOL)
    assert not evallib.load(proto.SerializeToString(), **LIMITS).run({})["y"].any()


def test_of_a_row_of_sequences_two_are_there_at_a_time():
    n = 600
    nodes = [helper.make_node("SequenceEmpty", [], ["s"]), *row("SequenceInsert", "s", "x", n, "all"),
             helper.make_node("SequenceLength", ["all"], ["y"])]
    proto = model(nodes, inputs=[value("x", shape=[8])], kind=TensorProto.INT64)
    with evallib.load(proto.SerializeToString()) as loaded:
        for _ in range(2):
            assert loaded.run({"x": np.ones(8, "float32")})["y"] == n
        assert loaded.memory_use()["peakBytes"] < 5_000_000   # and 55 MB for all of them


# --- what is taken out of a value that has been given back ----------------------------------

STRING, FLOAT = TensorProto.STRING, TensorProto.FLOAT
WORDS = np.array(["a text that is too long to be kept in place", "another, of a length of its own"], object)


def sequence_of(kind, name="s"):
    return helper.make_sequence_type_proto(helper.make_tensor_type_proto(kind, None)), name


def graph_of(nodes, inputs, outputs, name="body"):
    return helper.make_graph(nodes, name, inputs, outputs)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def sequence_value(name, kind):
    return helper.make_value_info(name, helper.make_sequence_type_proto(helper.make_tensor_type_proto(kind, None)))


def branches(then, other, kind, make=value):
    return {"then_branch": graph_of(then, [], [make("b", kind)]), "else_branch": graph_of(other, [], [make("b", kind)])}


# Further values, of the size of those that are given back and freshly made, which would take their place.
AFTER = [node("SequenceConstruct", "z z", "s1"), node("SequenceInsert", "s1 z", "s2"), node("SequenceErase", "s2", "s3"),
         node("SequenceLength", "s3", "after")]


def aliases(kind):
    """Name to nodes that make y from x, and its type's maker. y is read when all between has been given back."""
    made = [node("SequenceConstruct", "x x", "s")]
    again = [node("SequenceConstruct", "v v", "q")]
    carry = [node("Identity", "go", "on"), node("SequenceAt", "c i", "e"), node("SequenceInsert", "c e", "d"),
             node("Identity", "e", "g")]
    looped = graph_of(carry, [value("i", TensorProto.INT64, []), value("go", TensorProto.BOOL, []), sequence_value("c", kind)],
                      [value("on", TensorProto.BOOL, []), sequence_value("d", kind), value("g", kind)])
    kept = graph_of([node("Identity", "go", "on"), node("SequenceAt", "s k", "d")],
                    [value("i", TensorProto.INT64, []), value("go", TensorProto.BOOL, []), value("c", kind)],
                    [value("on", TensorProto.BOOL, []), value("d", kind)])
    scanned = graph_of([node("SequenceConstruct", "p h", "o"), node("SequenceAt", "o k", "h2"), node("Identity", "p", "g")],
                       [value("h", kind), value("p", kind)], [value("h2", kind), value("g", kind)])
    mapped = graph_of([node("SequenceConstruct", "m x", "o"), node("SequenceAt", "o k", "r")], [value("m", kind)],
                      [value("r", kind)])
    taken = [node("SequenceAt", "s k", "y")]
    return {
        "SequenceAt": (made + taken, value),
        "SequenceAt of what was inserted": (made + [node("SequenceInsert", "s x", "s0"), node("SequenceErase", "s0", "s9"),
                                                    node("SequenceAt", "s9 k", "y")], value),
        "OptionalGetElement": ([node("Optional", "x", "o"), node("OptionalGetElement", "o", "y")], value),
        "OptionalGetElement of a sequence": (made + [node("Optional", "s", "o"), node("OptionalGetElement", "o", "y")],
                                             sequence_value),
        "SequenceAt of a sequence from an optional": (made + [node("Optional", "s", "o"), node("OptionalGetElement", "o", "t9"),
                                                              node("SequenceAt", "t9 k", "y")], value),
        "Identity of an element": (made + [node("SequenceAt", "s k", "v"), node("Identity", "v", "u"),
                                           node("Reshape", "u w", "r"), node("Concat", "r r", "y", axis=0)], value),
        "Identity of a sequence": (made + [node("Identity", "s", "y")], sequence_value),
        "ConcatFromSequence": (made + [node("ConcatFromSequence", "s", "y", axis=0)], value),
        "a sequence of what came from one": (made + [node("SequenceAt", "s k", "v")] + again + [node("Identity", "q", "y")],
                                             sequence_value),
        "If that captures": (made + [node("If", "c0", "y", **branches([node("SequenceAt", "s k", "b")],
                                                                      [node("Identity", "x", "b")], kind))], value),
        "If that makes": ([node("If", "c0", "y", **branches(
            [node("SequenceConstruct", "x x", "l"), node("SequenceAt", "l k", "a"), node("Identity", "a", "b")],
            [node("Identity", "x", "b")], kind))], value),
        "If that gives a sequence": (made + [node("If", "c0", "y", **branches(
            [node("Identity", "s", "b")], [node("SequenceEmpty", "", "b", dtype=kind)], kind, sequence_value))],
            sequence_value),
        "Loop that carries a sequence": (made + [node("Loop", "n  s", "y g9", body=looped)], sequence_value),
        "Loop that gathers": (made + [node("Loop", "n  s", "d9 y", body=looped)], value),
        "Loop that captures": (made + [node("Loop", "n  x", "y", body=kept)], value),
        "Scan": (made + [node("SequenceAt", "s k", "v"), node("SequenceAt", "s k", "v2"),
                         node("Gather", "v k", "v0"), node("Scan", "v0 v2", "f y", body=scanned, num_scan_inputs=1)], value),
        "SequenceMap": (made + [node("SequenceMap", "s", "m9", body=mapped), node("SequenceAt", "m9 k", "y")], value),
        "a sequence as an output": (made + [node("SequenceInsert", "s x", "y")], sequence_value),
    }


@pytest.mark.parametrize("kind", [STRING, FLOAT], ids=["texts", "numbers"])
@pytest.mark.parametrize("name", aliases(STRING))
def test_what_is_taken_out_of_a_value_outlives_it(name, kind):
    nodes, make = aliases(kind)[name]
    constants = [scalar("k", 0), scalar("n", 2), ints("w", -1)]
    for n in nodes:                                   # a name that is left out stands between two blanks
        if n.op_type == "Loop":
            n.input.insert(1, "")
    graph = helper.make_graph(nodes + AFTER, "taken", [value("x", kind, ["N"]), value("z", kind, ["N"]),
                                                       value("c0", TensorProto.BOOL, [])],
                              [make("y", kind), value("after", TensorProto.INT64, [])], constants)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    x = WORDS if kind == STRING else np.array([1, 2], "float32")
    z = np.array([w[::-1].upper() for w in WORDS], object) if kind == STRING else -x
    expected = {"If that gives a sequence": [x, x], "Identity of a sequence": [x, x], "a sequence of what came from one": [x, x],
                "OptionalGetElement of a sequence": [x, x], "Loop that carries a sequence": [x] * 4,
                "a sequence as an output": [x] * 3, "Identity of an element": np.concatenate([x, x]),
                "ConcatFromSequence": np.concatenate([x, x]), "Loop that gathers": np.stack([x, x])}.get(name, x)
    with evallib.load(proto.SerializeToString()) as loaded:
        for _ in range(2):
            y = loaded.run({"x": x, "z": z, "c0": np.array(True)})["y"]
            assert isinstance(y, list) == isinstance(expected, list) and len(y) == len(expected)
            assert all(np.array_equal(a, b) for a, b in zip(y, expected))
