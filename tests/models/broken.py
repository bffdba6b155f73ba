"""Models that are broken in one place each, made from good ones: {name: (model, words that the text must hold)}."""

import copy

import numpy as np
from onnx import AttributeProto, TensorProto, helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def value(name, shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def weights(name, shape, kind=FLOAT):
    n = int(np.prod(shape))
    return helper.make_tensor(name, kind, shape, [1] * n)


def model(nodes, inputs, outputs, constants=(), opset=21):
    graph = helper.make_graph(list(nodes), "g", list(inputs), list(outputs), list(constants))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)],
                             ir_version=10)


def good(op, shapes, attributes=None, kinds=None, domain="", outputs=1):
    """One node 'broken' over inputs x0, x1 ... of these shapes."""
    kinds = kinds or [FLOAT] * len(shapes)
    node = helper.make_node(op, [f"x{i}" for i in range(len(shapes))], [f"y{i}" for i in range(outputs)], name="broken",
                            domain=domain, **(attributes or {}))
    return model([node], [value(f"x{i}", s, k) for i, (s, k) in enumerate(zip(shapes, kinds))],
                 [helper.make_empty_tensor_value_info(f"y{i}") for i in range(outputs)])


# operator: shapes that fit, attributes, shapes that do not
SHAPES = {
    "Add": ([[2, 3], [3]], {}, [[[2, 3], [4]], [[2, 2], [3, 3]]]),
    "MatMul": ([[2, 3], [3, 4]], {}, [[[2, 3], [4, 4]], [[], [3, 4]], [[2, 2, 3], [3, 3, 4]]]),
    "Gemm": ([[2, 3], [3, 4], [4]], {}, [[[2, 3], [4, 4], [4]], [[2, 3], [3, 4], [5]], [[3], [3, 4], [4]]]),
    "Conv": ([[1, 2, 5, 5], [3, 2, 3, 3], [3]], {}, [[[1, 2, 5, 5], [3, 3, 3, 3], [3]], [[1, 2, 5, 5], [3, 2, 3], [3]],
                                                      [[1, 2, 5, 5], [3, 2, 3, 3], [4]], [[2, 5], [3, 2], [3]]]),
    "ConvTranspose": ([[1, 2, 5, 5], [2, 3, 3, 3]], {}, [[[1, 2, 5, 5], [3, 3, 3, 3]], [[1, 2, 5], [2, 3, 3, 3]]]),
    "MaxPool": ([[1, 2, 5, 5]], {"kernel_shape": [2, 2]}, [[[1, 2, 5]], [[5]]]),
    "BatchNormalization": ([[1, 2, 3], [2], [2], [2], [2]], {}, [[[1, 2, 3], [3], [2], [2], [2]],
                                                                 [[1, 2, 3], [2], [2], [2], [5]]]),
    "LayerNormalization": ([[2, 4], [4], [4]], {}, [[[2, 4], [3], [4]], [[2, 4], [4], [3]]]),
    "Concat": ([[2, 3], [2, 3]], {"axis": 0}, [[[2, 3], [2, 4]], [[2, 3], [2, 3, 1]]]),
    "Where": ([[2], [2], [2]], {}, [[[2], [3], [2]]]),
    "PRelu": ([[2, 3], [3]], {}, [[[2, 3], [4]]]),
    "Einsum": ([[2, 3], [3, 4]], {"equation": "ij,jk->ik"}, [[[2, 3], [4, 4]], [[2], [3, 4]]]),
    "LSTM": ([[3, 1, 2], [1, 16, 2], [1, 16, 4]], {"hidden_size": 4}, [[[3, 1, 2], [1, 16, 3], [1, 16, 4]],
                                                                       [[3, 1, 2], [1, 16, 2], [1, 12, 4]], [[3, 2], [1, 16, 2], [1, 16, 4]]]),
    "GRU": ([[3, 1, 2], [1, 12, 2], [1, 12, 4]], {"hidden_size": 4}, [[[3, 1, 2], [1, 16, 2], [1, 12, 4]]]),
    "Transpose": ([[2, 3]], {"perm": [1, 0]}, [[[2, 3, 4]], [[2]]]),
    "DepthToSpace": ([[1, 4, 2, 2]], {"blocksize": 2}, [[[1, 3, 2, 2]], [[4, 2, 2]]]),
    "Sum": ([[2, 3], [3]], {}, [[[2, 3], [4]]]),
    "Pow": ([[2, 3], [3]], {}, [[[2, 3], [2]]]),
    "InstanceNormalization": ([[1, 2, 3], [2], [2]], {}, [[[1, 2, 3], [3], [2]]]),
    "Det": ([[2, 2]], {}, [[[2, 3]], [[2]]]),
}

# operator: shapes, good attributes, attributes that are wrong in one place
ATTRIBUTES = {
    "Softmax": ([[2, 3]], {}, [{"axis": 2}, {"axis": -3}]),
    "LogSoftmax": ([[2, 3]], {}, [{"axis": 9}]),
    "Flatten": ([[2, 3]], {}, [{"axis": 3}, {"axis": -3}]),
    "Concat": ([[2, 3], [2, 3]], {"axis": 0}, [{"axis": 2}, {"axis": -3}]),
    "Transpose": ([[2, 3]], {}, [{"perm": [0, 0]}, {"perm": [0, 2]}, {"perm": [-3, 0]}, {"perm": [0]}]),
    "Gather": ([[2, 3], [2, 3]], {}, [{"axis": 2}]),
    "ArgMax": ([[2, 3]], {}, [{"axis": 2}, {"axis": -3}]),
    "Conv": ([[1, 2, 5, 5], [3, 2, 3, 3]], {}, [{"strides": [0, 1]}, {"dilations": [1]}, {"pads": [1, 1]}, {"group": 0}, {"group": 5},
                                                {"strides": [-1, 1]}, {"kernel_shape": [2, 2]}, {"auto_pad": "MAYBE"}, {"pads": [-9, 0, 0, 0]}]),
    "MaxPool": ([[1, 2, 5, 5]], {"kernel_shape": [2, 2]}, [{"kernel_shape": [0, 2]}, {"kernel_shape": [2]}, {"kernel_shape": [-2, 2]},
                                                           {"strides": [0, 0]}, {"kernel_shape": [9, 9]}, {"auto_pad": "?"}]),
    "AveragePool": ([[1, 2, 5, 5]], {"kernel_shape": [2, 2]}, [{"kernel_shape": [2, 2, 2]}, {"strides": [1]}]),
    "ConvTranspose": ([[1, 2, 5, 5], [2, 3, 3, 3]], {}, [{"group": 3}, {"strides": [0, 0]}, {"output_shape": [1]}]),
    "LSTM": ([[3, 1, 2], [1, 16, 2], [1, 16, 4]], {"hidden_size": 4}, [{"hidden_size": 5}, {"direction": "sideways"}, {"layout": 7},
                                                                       {"activations": ["Nope", "Tanh", "Tanh"]}]),
    "DepthToSpace": ([[1, 4, 2, 2]], {"blocksize": 2}, [{"blocksize": 0}, {"blocksize": -2}, {"blocksize": 3}, {"mode": "X"}]),
    "SpaceToDepth": ([[1, 4, 2, 2]], {"blocksize": 2}, [{"blocksize": 0}, {"blocksize": 3}]),
    "Einsum": ([[2, 3], [3, 4]], {"equation": "ij,jk->ik"}, [{"equation": "ij,jk->iz"}, {"equation": "ij->i"}, {"equation": "i?,jk->ik"}]),
    "LayerNormalization": ([[2, 4], [4]], {}, [{"axis": 5}]),
    "GroupNormalization": ([[1, 4, 3], [4], [4]], {"num_groups": 2}, [{"num_groups": 3}, {"num_groups": 0}]),
    "Cast": ([[2]], {"to": 1}, [{"to": 99}, {"to": 0}]),
    "EyeLike": ([[2, 2]], {}, [{"dtype": 99}]),
    "LpNormalization": ([[2, 3]], {}, [{"p": 3}, {"axis": 4}]),
    "Gelu": ([[2]], {}, [{"approximate": "wild"}]),
    "GridSample": ([[1, 1, 3, 3], [1, 2, 2, 2]], {}, [{"mode": "wild"}, {"padding_mode": "wild"}]),
    "TopK": ([[2, 3], [1]], {}, [{"axis": 5}]),
}

REQUIRED = {"Cast": "to", "Concat": "axis", "DepthToSpace": "blocksize", "SpaceToDepth": "blocksize", "Einsum": "equation",
            "GroupNormalization": "num_groups", "MaxPool": "kernel_shape", "AveragePool": "kernel_shape"}
KINDS = {"Gather": [FLOAT, INT64], "TopK": [FLOAT, INT64], "Where": [TensorProto.BOOL, FLOAT, FLOAT]}

# Types that an operator does not take.
TYPES = {"MatMul": [FLOAT, INT64], "Add": [FLOAT, INT64], "Conv": [FLOAT, INT64], "Softmax": [INT64],
         "And": [FLOAT, FLOAT], "Not": [INT64], "Where": [FLOAT, FLOAT, FLOAT], "Gather": [FLOAT, FLOAT], 
         "Concat": [FLOAT, INT64], "LSTM": [FLOAT, INT64, FLOAT], "Sigmoid": [INT64], "BitwiseAnd": [FLOAT, FLOAT],
         "StringConcat": [FLOAT, FLOAT], "Sqrt": [TensorProto.STRING], "Relu": [TensorProto.STRING],
         "Erf": [TensorProto.STRING]}


def of_shapes():
    for op, (_, attributes, wrong) in SHAPES.items():
        for i, shapes in enumerate(wrong):
            yield f"shape_{op}_{i}", good(op, shapes, attributes, KINDS.get(op)), ["broken", op]


def of_attributes():
    for op, (shapes, attributes, wrong) in ATTRIBUTES.items():
        for i, other in enumerate(wrong):
            outputs = 2 if op == "TopK" else 1
            yield f"attribute_{op}_{i}", good(op, shapes, {**attributes, **other}, KINDS.get(op), outputs=outputs), ["broken", op]
        name = REQUIRED.get(op)
        if name:
            left = {k: v for k, v in attributes.items() if k != name}
            yield f"missing_{op}_{name}", good(op, shapes, left, KINDS.get(op)), ["broken", op]


def of_types():
    for op, kinds in TYPES.items():
        shapes = {"LSTM": [[3, 1, 2], [1, 16, 2], [1, 16, 4]], "Conv": [[1, 2, 5, 5], [3, 2, 3, 3]],
                  "MatMul": [[2, 2], [2, 2]]}.get(op, [[2]] * len(kinds))
        attributes = {"Concat": {"axis": 0}, "LSTM": {"hidden_size": 4}}.get(op)
        yield f"type_{op}", good(op, shapes, attributes, kinds), ["broken", op]


def of_counts():
    for op, n in (("Relu", 0), ("Relu", 2), ("Add", 1), ("Add", 3), ("MatMul", 1), ("Conv", 1), ("Conv", 4), ("Where", 2), ("Gemm", 1),
                  ("Gather", 1), ("Reshape", 1), ("Slice", 1), ("Clip", 4), ("Concat", 0), ("Split", 0), ("LSTM", 2)):
        yield f"inputs_{op}_{n}", good(op, [[2, 2]] * n, {"axis": 0} if op == "Concat" else None), ["broken", op]
    for op in ("Relu", "Add", "MatMul"):
        yield f"outputs_{op}", good(op, [[2, 2]] * (1 if op == "Relu" else 2), outputs=3), ["broken", op]
    left_out = good("Add", [[2], [2]])
    left_out.graph.node[0].input[0] = ""
    yield "left_out", left_out, ["broken", "Add"]


def of_names():
    base = good("Add", [[2], [2]])
    dangling = copy.deepcopy(base)
    dangling.graph.node[0].input[1] = "nowhere"
    yield "dangling_input", dangling, ["nowhere"]
    output = copy.deepcopy(base)
    output.graph.output[0].name = "nowhere"
    yield "dangling_output", output, ["nowhere"]
    cycle = model([helper.make_node("Add", ["x", "b"], ["a"], name="one"), helper.make_node("Relu", ["a"], ["b"], name="two")],
                  [value("x", [2])], [value("b", [2])])
    yield "cycle", cycle, ["one"]
    itself = model([helper.make_node("Add", ["x", "a"], ["a"], name="one")], [value("x", [2])], [value("a", [2])])
    yield "cycle_of_one", itself, ["one"]
    twice = model([helper.make_node("Relu", ["x"], ["a"], name="one"), helper.make_node("Abs", ["x"], ["a"], name="two")],
                  [value("x", [2])], [value("a", [2])])
    yield "made_twice", twice, ["a"]
    unknown = good("NoSuchOperator", [[2]])
    yield "unknown_operator", unknown, ["NoSuchOperator", "broken"]
    foreign = good("Relu", [[2]], domain="no.such.domain")
    yield "unknown_domain", foreign, ["no.such.domain"]
    lowercase = good("relu", [[2]])
    yield "operator_in_another_case", lowercase, ["relu"]
    no_opset = copy.deepcopy(base)
    del no_opset.opset_import[:]
    yield "no_opset", no_opset, ["opset"]
    for version in (0, -3):
        odd = copy.deepcopy(base)
        odd.opset_import[0].version = version
        yield f"opset_{version}", odd, ["opset"]
    no_graph = copy.deepcopy(base)
    no_graph.ClearField("graph")
    yield "no_graph", no_graph, ["graph"]


def of_tensors():
    def with_weights(change):
        made = model([helper.make_node("Add", ["x", "w"], ["y"], name="broken")], [value("x", [2])], [value("y", [2])], [weights("w", [2])])
        change(made.graph.initializer[0])
        return made

    def sizes(*dims):
        def change(t):
            del t.dims[:]
            t.dims.extend(dims)
        return change

    def raw(n):
        def change(t):
            t.ClearField("float_data")
            t.raw_data = b"\0" * n
        return change

    def external(**entries):
        def change(t):
            t.ClearField("float_data")
            t.data_location = TensorProto.EXTERNAL
            for key, text in entries.items():
                t.external_data.add(key=key, value=text)
        return change

    def kind(number):
        def change(t):
            t.data_type = number
        return change

    changes = {"size_negative": sizes(-2), "size_huge": sizes(1 << 62), "sizes_overflow": sizes(1 << 33, 1 << 33), "size_other": sizes(3),
               "rank_17": sizes(*[1] * 17), "size_smallest": sizes(-1 << 63), "raw_short": raw(7), "raw_long": raw(9), "raw_empty": raw(0),
               "type_0": kind(0), "type_99": kind(99), "type_negative": kind(-1), "type_int_with_floats": kind(INT64),
               "external_nowhere": external(location="nowhere.bin"), "external_no_location": external(offset="0"),
               "external_outside": external(location="../outside.bin"), "external_absolute": external(location="/etc/hostname"),
               "external_folder": external(location="."), "external_empty": external(location=""),
               "external_negative": external(location="data.bin", offset="-4"), "external_far": external(location="data.bin", offset="999999"),
               "external_short": external(location="data.bin", offset="60", length="8"),
               "external_other_length": external(location="data.bin", length="4"),
               "external_no_number": external(location="data.bin", offset="four"),
               "external_overflow": external(location="data.bin", offset=str(1 << 63)),
               "external_wrap": external(location="data.bin", offset=str((1 << 64) - 4), length="8")}
    for name, change in changes.items():
        yield f"tensor_{name}", with_weights(change), ["w"]


def of_trees():
    base = {"nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0, 0, 0], "nodes_values": [0.0, 0.0, 0.0],
            "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0],
            "target_treeids": [0, 0], "target_nodeids": [1, 2], "target_ids": [0, 0], "target_weights": [1.0, 2.0], "n_targets": 1}
    wrong = [{"nodes_truenodeids": [0, 0, 0]}, {"nodes_truenodeids": [7, 0, 0]}, {"nodes_falsenodeids": [-1, 0, 0]},
             {"nodes_featureids": [5, 0, 0]}, {"nodes_featureids": [-5, 0, 0]}, {"nodes_modes": ["BRANCH", "LEAF", "LEAF"]},
             {"nodes_modes": ["BRANCH_LEQ", "LEAF"]}, {"nodes_values": [0.0]}, {"nodes_treeids": [0, 0, 1]}, {"nodes_nodeids": [0, 1, 1]},
             {"target_ids": [0, 9]}, {"target_ids": [0, -1]}, {"target_nodeids": [1, 8]}, {"target_weights": [1.0]}, {"n_targets": 0},
             {"n_targets": -7}, {"n_targets": 1 << 40}, {"aggregate_function": "MEDIAN"}, {"post_transform": "SQUARE"},
             {"base_values": [1.0, 2.0, 3.0]}, {"nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"], "nodes_falsenodeids": [2, 0, 0]}]
    for i, other in enumerate(wrong):
        yield (f"tree_{i}", good("TreeEnsembleRegressor", [[1, 1]], {**base, **other}, domain="ai.onnx.ml"), ["broken", "TreeEnsembleRegressor"])
    for name in ("nodes_treeids", "nodes_modes", "nodes_values", "target_weights", "target_ids"):
        left = {k: v for k, v in base.items() if k != name}
        yield f"tree_without_{name}", good("TreeEnsembleRegressor", [[1, 1]], left, domain="ai.onnx.ml"), ["broken", name]


def of_attribute_kinds():
    for op, name, kind in (("Softmax", "axis", "text"), ("Concat", "axis", "number"), ("Transpose", "perm", "text")):
        shapes = [[2, 3], [2, 3]] if op == "Concat" else [[2, 3]]
        made = good(op, shapes, {})
        a = made.graph.node[0].attribute.add(name=name)
        a.type = AttributeProto.STRING if kind == "text" else AttributeProto.FLOAT
        if kind == "text":
            a.s = b"1"
        else:
            a.f = 1.5
        yield f"kind_{op}_{name}", made, [op]


def all_models():
    made = {}
    for source in (of_shapes, of_attributes, of_types, of_counts, of_names, of_tensors, of_trees, of_attribute_kinds):
        for name, proto, words in source():
            assert name not in made
            made[name] = proto, words
    return made
