"""Writes the small ONNX models that the reader is tested with: tests/data/onnx/.

    python3 tests/data/make_onnx.py          (needs the package `onnx`)

The files are in the tree; this shows what is in them. Those in broken/ must be refused.
"""
import pathlib
import struct

from onnx import AttributeProto, TensorProto as T, helper as h

HERE = pathlib.Path(__file__).resolve().parent / "onnx"


def save(name, model):
    path = HERE / (name + ".onnx")
    path.write_bytes(model if isinstance(model, bytes) else model.SerializeToString(deterministic=True))


def model(graph, ir=8, opset=13, functions=(), **more):
    opsets = [h.make_opsetid("", opset)] + [h.make_opsetid(d, 1) for d in more.pop("domains", ())]
    return h.make_model(graph, ir_version=ir, opset_imports=opsets, functions=list(functions),
                        producer_name="make_onnx.py", **more)


def value(name, kind=T.FLOAT, shape=(2,)):
    return h.make_tensor_value_info(name, kind, None if shape is None else list(shape))


def graph(nodes, inputs, outputs, constants=(), name="tested", **more):
    return h.make_graph(nodes, name, inputs, outputs, list(constants), **more)


def floats(name, values, dims=None):
    return h.make_tensor(name, T.FLOAT, [len(values)] if dims is None else dims, values)


def ints(name, values):
    return h.make_tensor(name, T.INT64, [len(values)], values)


# --- bytes by hand -------------------------------------------------------------------------------

def varint(v):
    return (bytes([v & 127 | 128]) + varint(v >> 7)) if v > 127 else bytes([v])


def tag(number, wire):
    return varint(number << 3 | wire)


def message(number, body):
    return tag(number, 2) + varint(len(body)) + body


# --- every element type, in each of its encodings -----------------------------------------------

WIDE = {  # type: struct code, the field that is not raw, five values
    T.FLOAT: ("f", "float_data", [0, 1.5, -2.25, 3e38, -0.0]),
    T.DOUBLE: ("d", "double_data", [0, 1.5, -2.25, 1e300, -0.0]),
    T.UINT8: ("B", "int32_data", [0, 1, 2, 128, 255]),
    T.INT8: ("b", "int32_data", [0, 1, -1, -128, 127]),
    T.UINT16: ("H", "int32_data", [0, 1, 256, 32768, 65535]),
    T.INT16: ("h", "int32_data", [0, 1, -1, -32768, 32767]),
    T.INT32: ("i", "int32_data", [0, 1, -1, -2**31, 2**31 - 1]),
    T.INT64: ("q", "int64_data", [0, 1, -1, -2**63, 2**63 - 1]),
    T.UINT32: ("I", "uint64_data", [0, 1, 256, 2**31, 2**32 - 1]),
    T.UINT64: ("Q", "uint64_data", [0, 1, 256, 2**63, 2**64 - 1]),
    T.BOOL: ("B", "int32_data", [0, 1, 1, 0, 1]),
    T.FLOAT16: ("H", "int32_data", [0, 0x3e00, 0xc080, 0x7bff, 0x8000]),  # bits
    T.BFLOAT16: ("H", "int32_data", [0, 0x3fc0, 0xc010, 0x7f7f, 0x8000]),
    T.FLOAT8E4M3FN: ("B", "int32_data", [0, 0x3c, 0xc1, 0x7e, 0x80]),
    T.FLOAT8E4M3FNUZ: ("B", "int32_data", [0, 0x44, 0xc9, 0x7f, 0x80]),
    T.FLOAT8E5M2: ("B", "int32_data", [0, 0x3e, 0xc0, 0x7b, 0x80]),
    T.FLOAT8E5M2FNUZ: ("B", "int32_data", [0, 0x42, 0xc4, 0x7f, 0x80]),
    T.FLOAT8E8M0: ("B", "int32_data", [0, 1, 127, 128, 254]),
}
NARROW = {  # type: bits, five values; the low bits first
    T.UINT4: (4, [0, 1, 2, 8, 15]),
    T.INT4: (4, [0, 1, -1, -8, 7]),
    T.FLOAT4E2M1: (4, [0, 1, 7, 8, 15]),
    T.UINT2: (2, [0, 1, 2, 3, 1]),
    T.INT2: (2, [0, 1, -1, -2, 1]),
}


def packed(bits, values):
    each, mask = 8 // bits, (1 << bits) - 1
    groups = [values[i:i + each] for i in range(0, len(values), each)]
    return bytes(sum((v & mask) << i * bits for i, v in enumerate(g)) for g in groups)


def encoded(kind, how):
    """A tensor of five elements in raw_data, in its field, or in its field one by one."""
    t = T(name=T.DataType.Name(kind).lower(), data_type=kind, dims=[5])
    if kind in NARROW:
        raw, field = packed(*NARROW[kind]), "int32_data"
        numbers = list(raw)
    else:
        code, field, numbers = WIDE[kind]
        raw = struct.pack("<5" + code, *numbers)
    if how == "raw":
        t.raw_data = raw
    else:
        getattr(t, field).extend(numbers)
    return t


def pairs(kind, how):
    code, field = ("f", "float_data") if kind == T.COMPLEX64 else ("d", "double_data")
    t = T(name=T.DataType.Name(kind).lower(), data_type=kind, dims=[2])
    if how == "raw":
        t.raw_data = struct.pack("<4" + code, 1, -2, 3, -4)
    else:
        getattr(t, field).extend([1, -2, 3, -4])
    return t


def encodings():
    kinds = [*WIDE, *NARROW]
    texts = T(name="string", data_type=T.STRING, dims=[3], string_data=[b"", b"one", "zwölf".encode()])
    empty = T(name="empty", data_type=T.FLOAT, dims=[2, 0, 3])
    for how in ("raw", "field"):
        tensors = [encoded(k, how) for k in kinds] + [pairs(T.COMPLEX64, how), pairs(T.COMPLEX128, how)]
        tensors += [texts, empty]
        outs = [value(t.name, t.data_type, t.dims) for t in tensors]
        save("encodings_" + how, model(graph([], [], outs, tensors), ir=13))
    # Repeated numbers that are not packed, as old writers have them, and in two packed runs.
    single = (tag(1, 0) + b"\x04" + tag(2, 0) + b"\x01" + message(8, b"f") +
              b"".join(tag(4, 5) + struct.pack("<f", v) for v in (1, 2, 3, 4)))
    runs = (message(1, b"\x02\x02") + tag(2, 0) + b"\x07" + message(8, b"i") +
            message(7, b"\x01\x02") + tag(7, 0) + b"\x03" + message(7, b"\x04"))
    outs = b"".join(message(12, value(n, k, None).SerializeToString())
                    for n, k in (("f", T.FLOAT), ("i", T.INT64)))
    body = message(5, single) + message(5, runs) + outs
    save("encodings_unpacked", message(8, b"\x10\x0d") + message(7, body) + b"\x08\x08")


def sparse():
    linear = h.make_sparse_tensor(floats("linear", [1, 2]), h.make_tensor("", T.INT64, [2], [1, 5]), [2, 3])
    table = h.make_sparse_tensor(floats("table", [7, 8]), h.make_tensor("", T.INT64, [2, 2], [0, 2, 1, 0]), [2, 3])
    outs = [value("linear", shape=(2, 3)), value("table", shape=(2, 3))]
    save("sparse", model(graph([], [], outs, sparse_initializer=[linear, table])))


# --- graphs --------------------------------------------------------------------------------------

def graphs():
    add = h.make_node("Add", ["x", "w"], ["y"], name="plus")
    save("old_inputs", model(graph([add], [value("w"), value("x")], [value("y")], [floats("w", [1, 2])]), ir=3, opset=8))

    nodes = [h.make_node("Identity", ["b"], ["y"], name="last"), h.make_node("Add", ["a", "a"], ["b"]),
             h.make_node("Identity", ["x"], ["a"], name="first")]
    infos = [value("a", shape=("batch", 3)), value("gone", shape=(1,))]
    reversed_graph = graph(nodes, [value("x", shape=("batch", None, 3))], [value("y", shape=None)], value_info=infos)
    reversed_model = model(reversed_graph, model_version=7)
    h.set_model_props(reversed_model, {"author": "nobody", "task": "test"})
    save("reversed", reversed_model)

    def branch(name, nodes, out, constants=()):
        return h.make_graph(nodes, name, [], [value(out, shape=None)], list(constants))
    inner_then = branch("inner_then", [h.make_node("Add", ["late", "k"], ["it"])], "it", [floats("k", [5, 6])])
    inner_else = branch("inner_else", [], "late")
    then = branch("then", [h.make_node("If", ["c"], ["t"], then_branch=inner_then, else_branch=inner_else, name="inner")], "t")
    otherwise = branch("else", [h.make_node("Constant", [], ["e"], value=floats("", [9, 9]))], "e")
    nodes = [h.make_node("If", ["c"], ["y"], then_branch=then, else_branch=otherwise, name="outer"),
             h.make_node("Add", ["x", "x"], ["late"])]
    save("nested_if", model(graph(nodes, [value("c", T.BOOL, ()), value("x")], [value("y", shape=None)])))

    forms = {"value": floats("", [1, 2]), "value_float": 0.1, "value_floats": [0.5, 0.25], "value_int": -3,
             "value_ints": [4, -5, 6], "value_string": "text", "value_strings": ["a", ""]}
    nodes = [h.make_node("Constant", [], [k], **{k: v}) for k, v in forms.items()]
    sparse_value = h.make_sparse_tensor(floats("", [3]), h.make_tensor("", T.INT64, [1], [1]), [2])
    nodes.append(h.make_node("Constant", [], ["sparse_value"], sparse_value=sparse_value))
    save("constants", model(graph(nodes, [], [value(k, T.UNDEFINED, None) for k in [*forms, "sparse_value"]])))

    body = branch("body", [], "x")
    node = h.make_node("Identity", ["x", ""], ["y"], name="all", i=-7, f=0.5, s="text", t=floats("t", [1]), g=body,
                       ints=[1, -2], floats=[0.5, 1.5], strings=["a", "bc"], tensors=[floats("", [2]), floats("", [3])],
                       graphs=[body, body], tp=h.make_tensor_type_proto(T.FLOAT, [1]))
    old = node.attribute.add(name="untyped")  # IR version 1 does not say the type
    old.ints.extend([8, 9])
    save("attributes", model(graph([node], [value("x")], [value("y")])))

    nodes = [h.make_node("Upsample", ["x", "scales"], ["y"], mode="nearest", name="up"),
             h.make_node("Scatter", ["x", "where", "y"], ["z"], axis=1)]
    wide = value("x", shape=(1, 1, 2, 2))
    save("old_names", model(graph(nodes, [wide, value("where", T.INT64, (1, 1, 1, 1))], [value("z", shape=None)],
                                  [floats("scales", [1, 1, 2, 2])]), ir=4, opset=9))
    node = h.make_node("Upsample", ["x"], ["y"], mode="bilinear", height_scale=2.0, width_scale=3.0)
    save("old_upsample", model(graph([node], [wide], [value("y", shape=None)]), ir=3, opset=6))

    inner = h.make_graph([h.make_node("Qux", ["x"], ["q"], domain="com.example", name="deep")], "b", [],
                         [value("q", shape=None)])
    nodes = [h.make_node("UnknownOp", ["x"], ["a"], name="one"), h.make_node("Relu", ["a"], ["b"], domain="not.ours"),
             h.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=branch("e", [], "b"), name="cond")]
    save("unsupported", model(graph(nodes, [value("c", T.BOOL, ()), value("x")], [value("y", shape=None)]),
                              domains=["com.example"]))


def functions():
    """`twice` calls `plus` two times and passes its attribute on; a default fills in the rest."""
    ops = [h.make_opsetid("", 13), h.make_opsetid("local", 1)]
    constant = h.make_node("Constant", [], ["k"])
    constant.attribute.append(AttributeProto(name="value_float", ref_attr_name="bias", type=AttributeProto.FLOAT))
    plus = h.make_function("local", "plus", ["a"], ["r"], [constant, h.make_node("Add", ["a", "k"], ["r"], name="sum")],
                           ops, attribute_protos=[h.make_attribute("bias", 10.0)])
    first = h.make_node("plus", ["x"], ["m"], domain="local", name="first")
    first.attribute.append(AttributeProto(name="bias", ref_attr_name="b", type=AttributeProto.FLOAT))
    twice = h.make_function("local", "twice", ["x", "unused"], ["out", "same"],
                            [first, h.make_node("plus", ["m"], ["out"], domain="local"), h.make_node("Identity", ["x"], ["same"])],
                            ops, ["b"])
    through = h.make_function("local", "through", ["x"], ["x"], [], ops)
    nodes = [h.make_node("twice", ["x"], ["m", ""], domain="local", name="call", b=1.0),
             h.make_node("through", ["m"], ["y"], domain="local")]
    calls = graph(nodes, [value("x")], [value("y")])
    save("functions", model(calls, ir=10, functions=[twice, plus, through], domains=["local"]))

    loop = h.make_function("local", "loop", ["x"], ["y"], [h.make_node("loop", ["x"], ["y"], domain="local")], ops)
    node = h.make_node("loop", ["x"], ["y"], domain="local")
    save("broken/function_calls_itself", model(graph([node], [value("x")], [value("y")]), ir=10, functions=[loop], domains=["local"]))
    laughs = [h.make_function("local", "f0", ["x"], ["x"], [], ops)]
    for i in range(1, 40):  # 2^39 calls
        calls = [h.make_node("f%d" % (i - 1), [a], [b], domain="local") for a, b in (("x", "m"), ("m", "y"))]
        laughs.append(h.make_function("local", "f%d" % i, ["x"], ["y"], calls, ops))
    node = h.make_node("f39", ["x"], ["y"], domain="local")
    save("broken/function_calls_multiply", model(graph([node], [value("x")], [value("y")]), ir=10, functions=laughs, domains=["local"]))


# --- data in files beside the model --------------------------------------------------------------

def external(location, **more):
    t = T(name="w", data_type=T.FLOAT, dims=[2], data_location=T.EXTERNAL)
    for key, text in {"location": location, **more}.items():
        t.external_data.add(key=key, value=str(text))
    return t


def beside():
    def save_one(name, *tensors):
        outs = [value(t.name) for t in tensors]
        save(name, model(graph([], [], outs, tensors)))
    second = external("external.bin", offset=4)
    second.name = "v"
    (HERE / "external.bin").write_bytes(struct.pack("<3f", 1.5, 2.5, 3.5))
    save_one("external", external("external.bin", offset=0, length=8, checksum="none"), second)
    for name, tensor in {
        "parent": external("../onnx/external.bin"),
        "inner_parent": external("sub/../external.bin"),
        "absolute": external("/etc/hostname"),
        "link": external("link.bin"),
        "hard_link": external("hard.bin"),
        "folder": external("folder"),
        "missing": external("missing.bin"),
        "no_location": external(""),
        "past_end": external("external.bin", offset=8),
        "offset_overflow": external("external.bin", offset=2**63 - 1),
        "offset_huge": external("external.bin", offset=2**64 + 4),
        "offset_negative": external("external.bin", offset=-4),
        "offset_words": external("external.bin", offset="four"),
        "length_wrong": external("external.bin", length=12),
    }.items():
        save_one("broken/external_" + name, tensor)


# --- what must be refused ------------------------------------------------------------------------

def loops():
    """y: running sums of the squares of x, followed by x twice: a sequence goes through a loop."""
    square = graph([h.make_node("Mul", ["e", "e"], ["ee"])], [value("e", shape=None)],
                   [value("ee", shape=None)], name="square")
    list_type = h.make_sequence_type_proto(h.make_tensor_type_proto(T.FLOAT, None))
    add = graph([h.make_node("Identity", ["go"], ["on"]), h.make_node("SequenceInsert", ["q", "x"], ["longer"])],
                [value("trip", T.INT64, ()), value("go", T.BOOL, ()), h.make_value_info("q", list_type)],
                [value("on", T.BOOL, ()), h.make_value_info("longer", list_type)], name="add")
    sums = graph([h.make_node("Add", ["sum", "now"], ["next"]), h.make_node("Identity", ["next"], ["shown"])],
                 [value("sum", shape=()), value("now", shape=())],
                 [value("next", shape=()), value("shown", shape=())], name="sums")
    nodes = [h.make_node("SplitToSequence", ["x"], ["parts"]),
             h.make_node("SequenceMap", ["parts"], ["squares"], body=square),
             h.make_node("Loop", ["two", "", "squares"], ["all"], body=add),
             h.make_node("ConcatFromSequence", ["all"], ["joined"], axis=0),
             h.make_node("Scan", ["zero", "joined"], ["total", "y"], body=sums, num_scan_inputs=1)]
    save("loops", model(graph(nodes, [value("x")], [value("y", shape=(6,))],
                              [ints("two", [2]), floats("zero", [0], [])]), opset=17))


def broken():
    x, y = value("x"), value("y")
    ident = h.make_node("Identity", ["x"], ["y"], name="n")

    def save_broken(name, g, **more):
        save("broken/" + name, model(g, **more) if not isinstance(g, bytes) else g)
    save_broken("undefined_input", graph([h.make_node("Identity", ["z"], ["y"], name="n")], [x], [y]))
    save_broken("undefined_output", graph([ident], [x], [value("z")]))
    save_broken("defined_twice", graph([ident, h.make_node("Identity", ["x"], ["y"])], [x], [y]))
    save_broken("constant_twice", graph([], [], [y], [floats("y", [1]), floats("y", [1])]))
    save_broken("input_twice", graph([ident], [x, x], [y]))
    save_broken("cycle", graph([h.make_node("Identity", ["b"], ["a"]), h.make_node("Identity", ["a"], ["b"])], [x], [value("b")]))
    save_broken("no_outputs", graph([ident], [x], []))
    save_broken("no_opset", model(graph([ident], [x], [y])).SerializeToString().replace(b"\x42\x04\x0a\x00\x10\x0d", b""))
    save_broken("no_operator", graph([h.make_node("", ["x"], ["y"], name="n")], [x], [y]))
    save_broken("opset_zero", graph([ident], [x], [y]), opset=0)
    save_broken("constant_empty", graph([h.make_node("Constant", [], ["y"], name="c")], [], [y]))
    outside = h.make_node("Identity", ["x"], ["y"])
    outside.attribute.append(AttributeProto(name="a", ref_attr_name="b", type=AttributeProto.INT))
    save_broken("refers_outside", graph([outside], [x], [y]))
    out = message(12, value("x", shape=None).SerializeToString())
    deep = out  # a GraphProto; more of them in each other than the package `onnx` can write
    for _ in range(80):
        body = message(5, message(1, b"body") + b"\xa0\x01\x05" + message(6, deep))
        deep = message(1, message(4, b"If") + body) + out
    save_broken("too_deep", b"\x08\x08" + message(7, deep + message(11, x.SerializeToString())) + message(8, b"\x10\x0d"))

    def tensor(**fields):
        t = T(name="y", data_type=T.FLOAT, dims=[2], float_data=[1, 2])
        for key, v in fields.items():
            t.ClearField(key)
            getattr(t, key).extend(v) if isinstance(v, list) else setattr(t, key, v)
        return t
    for name, t in {
        "too_few": tensor(float_data=[1.0]),
        "wrong_field": tensor(data_type=T.INT64),
        "raw_short": tensor(float_data=[], raw_data=b"1234567"),
        "negative_dim": tensor(dims=[-2]),
        "dims_overflow": tensor(dims=[2**32, 2**32, 2**32]),
        "huge": tensor(dims=[2**33]),
        "rank_17": tensor(dims=[1] * 17),
        "no_type": tensor(data_type=0),
        "strings_raw": tensor(float_data=[], data_type=T.STRING, raw_data=b"ab"),
    }.items():
        data = model(graph([], [], [y], [t])).SerializeToString()
        save_broken("tensor_" + name, data)
    odd = message(5, tensor().SerializeToString() + b"\x70\x02")
    save_broken("tensor_location_2", b"\x08\x08" + message(7, odd + message(12, y.SerializeToString())) + message(8, b"\x10\x0d"))
    values, at = floats("y", [1, 2]), h.make_tensor("", T.INT64, [2], [1, 6])
    for name, s in {
        "outside": h.make_sparse_tensor(values, at, [2, 3]),
        "negative": h.make_sparse_tensor(values, h.make_tensor("", T.INT64, [2], [-1, 0]), [2, 3]),
        "row_outside": h.make_sparse_tensor(values, h.make_tensor("", T.INT64, [2, 2], [0, 3, 0, 0]), [2, 3]),
        "unlike": h.make_sparse_tensor(values, h.make_tensor("", T.INT64, [1], [1]), [2, 3]),
        "bomb": h.make_sparse_tensor(values, h.make_tensor("", T.INT64, [2], [0, 1]), [2**35]),
    }.items():
        save_broken("sparse_" + name, graph([], [], [y], sparse_initializer=[s]))
    whole = model(graph([ident], [x], [y])).SerializeToString()
    save_broken("field_is_group", whole + b"\x0b\x0c")
    save_broken("field_zero", whole + b"\x02\x00")
    save_broken("varint_endless", whole + b"\x08" + b"\xff" * 10)
    save_broken("wrong_wire", b"\x0d\x08\x00\x00\x00" + whole[2:])
    save_broken("name_not_utf8", whole.replace(b"\x0a\x01x\x12\x01y", b"\x0a\x01\xff\x12\x01y"))


for folder in (HERE, HERE / "broken"):
    folder.mkdir(exist_ok=True)
encodings()
sparse()
graphs()
functions()
beside()
loops()
broken()
