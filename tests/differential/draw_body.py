"""ai.onnx: bodies that are run, and values that are no tensors."""

import numpy as np
from onnx import TensorProto, helper

from draw import onnx_type, operator

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name, kind=FLOAT, shape=None):
    return helper.make_tensor_value_info(name, kind, shape)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split() if isinstance(inputs, str) else inputs, outputs.split(), **attributes)


@operator("If")
def branch(d):
    d.version(oldest=11)
    kind, shape = np.dtype(d.choice((np.float32, np.int64, bool, np.int8, np.float64))), d.shape()
    x, n = d.array(kind, shape), d.int(1, 2)

    def body(which):
        nodes = []
        for i in range(n):
            op = d.choice(("Identity", "Shape", "Flatten" if shape else "Identity"))
            nodes += [node(op, "x1", f"{which}{i}"), node("Cast", f"{which}{i}", f"{which}c{i}", to=FLOAT)]
        return helper.make_graph(nodes, which, [], [helper.make_empty_tensor_value_info(f"{which}c{i}") for i in range(n)])

    condition = np.asarray(d.chance())
    return d.case([condition.reshape(d.choice(((), (1,)))), x], outputs=n, constants=d.some((0,)),
                  nodes=[node("If", "x0", " ".join(f"y{i}" for i in range(n)), then_branch=body("then"), else_branch=body("else"))])


@operator("Loop")
def loop(d):
    """One value carried, or that and one that grows; what the body gives each time is gathered."""
    d.version(oldest=11)
    shape, trips, last = d.shape(0, 2), d.int(1, 5), d.int(-1, 6)
    x, outer = d.floats(shape), d.floats(shape)
    grows, scans = d.chance(0.3), d.int(0, 2)
    rank = len(shape)
    nodes = [node("Add", "v x3", "w"), node("Constant", "", "last", value=helper.make_tensor("", INT64, [], [last])),
             node("Less", "i last", "go_on") if d.chance() else node("Identity", "going", "go_on")]
    ins = [value("i", INT64, []), value("going", BOOL, []), value("v", FLOAT, [None] * rank)]
    outs = [value("go_on", BOOL, []), value("w", FLOAT, [None] * rank)]
    # Of a loop that never begins, ONNX Runtime gathers nothing in a shape of its own; without a condition outside,
    # onnx says that the body's does not count, and ONNX Runtime that it does.
    feeds = [np.asarray(trips, np.int64) if d.chance(0.8) else None, np.asarray(scans == 0 and d.chance(0.85) or scans > 0), x, outer]
    if feeds[0] is None:
        nodes[2] = node("Less", "i last", "go_on")
    if grows:
        nodes += [node("Unsqueeze", "v zero", "row"), node("Constant", "", "zero", value=helper.make_tensor("", INT64, [1], [0])),
                  node("Concat", "g row", "longer", axis=0)]
        ins.append(value("g", FLOAT, [None] * (rank + 1)))
        outs.append(value("longer", FLOAT, [None] * (rank + 1)))
        feeds.append(d.floats([d.int(0, 2), *shape]))
    for k in range(scans):
        nodes.append(node("Identity", "i", f"s{k}") if k else node("Mul", "v x3", f"s{k}"))
        outs.append(value(f"s{k}", INT64 if k else FLOAT, [] if k else [None] * rank))
    body = helper.make_graph(nodes, "body", ins, outs)
    names = [f"x{i}" if f is not None else "" for i, f in enumerate(feeds) if i != 3]
    n = 1 + grows + scans
    return d.case(feeds, outputs=n, constants=d.some((0, 1)), tolerance=1e-4,
                  nodes=[node("Loop", names, " ".join(f"y{i}" for i in range(n)), body=body)])


@operator("Scan")
def scan(d):
    d.version(oldest=9)
    states, ins, length = d.int(0, 2), d.int(1, 2), d.int(0 if d.chance(0.1) else 1, 4)
    axes = [d.int(0, 2) for _ in range(ins)]
    back, place = [d.int(0, 1) for _ in range(ins)], d.int(0, 1)
    shape = [d.int(1, 3) for _ in range(2)]
    feeds = [d.floats(shape) for _ in range(states)]
    feeds += [d.floats([*shape[:a], length, *shape[a:]]) for a in axes]
    nodes = [node("Add", f"v{k} e{min(k, ins - 1)}", f"w{k}") for k in range(states)]
    nodes += [node("Mul", f"e0 e{ins - 1}", "m"), node("Sub", "m v0", "s") if states else node("Neg", "m", "s")]
    given = [value(f"v{k}", FLOAT, shape) for k in range(states)] + [value(f"e{k}", FLOAT, shape) for k in range(ins)]
    made = [value(f"w{k}", FLOAT, shape) for k in range(states)] + [value("s", FLOAT, shape)]
    a = {"num_scan_inputs": ins, "body": helper.make_graph(nodes, "body", given, made)}
    if d.chance(0.7) or any(axes):
        a["scan_input_axes"] = [x - 3 if d.opset >= 11 and d.chance(0.3) else x for x in axes]
    if d.chance():
        a["scan_input_directions"] = back
    if d.chance():
        a["scan_output_directions"] = [place]
    if d.chance():
        a["scan_output_axes"] = [d.int(-3 if d.opset >= 11 else 0, 2)]
    return d.case(feeds, a, outputs=states + 1)


@operator("SequenceMap")
def mapped(d):
    d.version(oldest=17)
    n, kind = d.int(0 if d.chance(0.1) else 1, 3), np.float32
    feeds = [d.floats(d.shape(1, 2)) for _ in range(max(n, 1))]
    single = d.floats(())
    names = [f"x{i}" for i in range(len(feeds))]
    body = helper.make_graph([node("Mul", "e t", "m"), node("Shape", "e", "l")], "body", [value("e"), value("t", FLOAT, [])],
                             [value("m"), value("l", INT64, [None])])
    nodes = [node("SequenceConstruct", names, "s"), node("SequenceMap", f"s x{len(feeds)}", "r q", body=body),
             node("Constant", "", "at", value=helper.make_tensor("", INT64, [], [-1])),
             node("SequenceAt", "r at", "y0"), node("SequenceAt", "q at", "y1")]
    return d.case([*feeds, single.astype(kind)], outputs=2, nodes=nodes)


@operator("SequenceInsert", "SequenceErase", "SequenceAt", "SequenceLength", "ConcatFromSequence")
def sequence(d):
    d.version(oldest=11)
    n, kind = d.int(1, 4), np.dtype(d.choice((np.float32, np.int64, np.float64, object, bool)))
    shape, stacks, op = d.shape(1, 2), d.int(0, 1), d.op
    feeds = [d.array(kind, shape) for _ in range(n + 1)]
    at = np.asarray(d.int(-n, n - 1), np.int64)
    feeds.append(at)
    names = [f"x{i}" for i in range(n)]
    nodes = [node("SequenceConstruct", names, "s")]
    given = f" x{n + 1}" if d.chance(0.8) else ""
    result = "s"
    if op == "SequenceInsert":
        nodes.append(node(op, f"s x{n}{given}", "t"))
        result = "t"
    elif op == "SequenceErase" and n > 1:
        nodes.append(node(op, f"s{given}", "t"))
        result = "t"
    axis = d.int(-len(shape), len(shape) - 1)
    nodes += [node("SequenceLength", result, "y0"), node("ConcatFromSequence", result, "y1", axis=axis, new_axis=stacks),
              node("SequenceAt", f"s x{n + 1}", "y2")]
    return d.case(feeds, outputs=3, nodes=nodes)


@operator("SplitToSequence")
def to_sequence(d):
    d.version(oldest=11)
    shape = d.shape(1, 3, zero=0)
    axis = d.int(0, len(shape) - 1)
    kind = np.dtype(d.choice((np.float32, np.int64, np.int32, np.float64, object)))
    feeds, form = [d.array(kind, shape)], d.choice(("none", "each", "parts"))
    keep = d.int(0, 1) if form == "none" else 1        # onnx says that it counts then alone
    if form == "each":
        feeds.append(np.asarray(d.int(1, shape[axis]), np.int64))
    elif form == "parts":
        first = d.int(0, shape[axis])
        feeds.append(np.asarray([first, shape[axis] - first], np.int64))
    names = [f"x{i}" for i in range(len(feeds))]
    nodes = [node("SplitToSequence", names, "s", axis=axis - len(shape) if d.chance() else axis, keepdims=keep),
             node("SequenceLength", "s", "y0"), node("Constant", "", "at", value=helper.make_tensor("", INT64, [], [0])),
             node("SequenceAt", "s at", "y1")]
    return d.case(feeds, outputs=2, nodes=nodes, constants=[1] if len(feeds) > 1 and d.chance() else [])


@operator("Optional", "OptionalHasElement", "OptionalGetElement")
def optional(d):
    d.version(oldest=15, newest=18)
    x = d.array(np.dtype(d.choice((np.float32, np.int64, object))), d.shape())
    nodes = [node("Optional", "x0", "o"), node("OptionalHasElement", "o", "y0"), node("OptionalGetElement", "o", "y1")]
    if d.chance(0.3):
        kind = helper.make_tensor_type_proto(onnx_type(x), None)
        nodes = [node("Optional", "", "o", type=kind), node("OptionalHasElement", "o", "y0"), node("Identity", "x0", "y1")]
    return d.case([x], outputs=2, nodes=nodes)
