"""Broken models made of every operator of the standard: an attribute or an input is missing, is of another
kind, or is too many. Each is refused when it is loaded, by a text that names file, node, operator and what is
wrong. Files that are broken otherwise: test_onnx_broken.c."""
import re

import pytest

import evallib

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper   # noqa: E402
from onnx.defs import OpSchema         # noqa: E402

OPTION, KIND = OpSchema.FormalParameterOption, OpSchema.AttrType
OPSETS = {"": 25, "ai.onnx.ml": 5}
TYPES = {"tensor(float)": TensorProto.FLOAT, "tensor(int64)": TensorProto.INT64, "tensor(bool)": TensorProto.BOOL,
         "tensor(string)": TensorProto.STRING, "tensor(uint8)": TensorProto.UINT8, "tensor(int8)": TensorProto.INT8,
         "tensor(int32)": TensorProto.INT32}
BODY = helper.make_graph([helper.make_node("Identity", ["q"], ["r"])], "body", [],
                         [helper.make_tensor_value_info("r", TensorProto.FLOAT, None)],
                         [helper.make_tensor("q", TensorProto.FLOAT, [1], [1.0])])
VALUES = {KIND.INT: 1, KIND.FLOAT: 1.0, KIND.STRING: "a", KIND.INTS: [1], KIND.FLOATS: [1.0], KIND.STRINGS: ["a"],
          KIND.TENSOR: helper.make_tensor("", TensorProto.FLOAT, [1], [1.0]), KIND.GRAPH: BODY,
          KIND.TYPE_PROTO: helper.make_tensor_type_proto(TensorProto.FLOAT, [1])}
# made of others when they are read, which then speak: their nodes have the name, not the operator
COMPOSED = {"Einsum", "SwiGLU"}
# tables of trees are looked at together, once the shape of the input is known
LATE = {"LinearClassifier", "TreeEnsemble"}


def newest(opsets):
    found = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        known = found.get((schema.domain, schema.name))
        if schema.since_version <= opsets.get(schema.domain, 0) and (not known or
                                                                   known.since_version < schema.since_version):
            found[schema.domain, schema.name] = schema
    return [schema for _, schema in sorted(found.items()) if not schema.deprecated]


def type_of(schema, parameter):
    """One of those that it may have; None: it is no tensor."""
    allowed = [kinds.allowed_type_strs for kinds in schema.type_constraints
               if kinds.type_param_str == parameter.type_str] or [[parameter.type_str]]
    return next((number for name, number in TYPES.items() if name in allowed[0]), None)


def parts(schema):
    """The types of the inputs and the attributes that a node has to have."""
    inputs = [type_of(schema, p) for p in schema.inputs if p.option != OPTION.Optional]
    attributes = [helper.make_attribute(a.name, VALUES[a.type]) for a in schema.attributes.values() if a.required]
    return inputs, attributes


def names_of(inputs):
    return [f"x{i}" for i in range(len(inputs))]


def faults():
    """(what, schema, names of inputs, attributes, number of outputs, what the text speaks of)"""
    for schema in newest(OPSETS):
        types, attributes = parts(schema)
        names, n = names_of(types), max(1, schema.min_output)
        if None in types:
            continue
        for a in schema.attributes.values():
            others = [x for x in attributes if x.name != a.name]
            wrong = helper.make_attribute(a.name, VALUES[KIND.INT if a.type == KIND.STRINGS else KIND.STRINGS])
            if a.name != "nodes_modes":   # which is one thing or the other, by operator
                yield "another kind", schema, names, [*others, wrong], n, a.name
            if a.required and schema.name not in LATE:
                yield "no attribute", schema, names, others, n, a.name
        for i, p in enumerate(schema.inputs):
            if p.option == OPTION.Single and not (schema.name in ("Pad", "Slice", "TopK") and i):   # attributes once
                yield f"input {i} left out", schema, [*names[:i], "", *names[i + 1:]], attributes, n, "missing|input"
                yield f"inputs from {i} on", schema, names[:i], attributes, n, "missing|input"
        if schema.max_input < 16 and schema.name not in ("Constant", "SwiGLU", "Tile"):   # Tile 1 had three
            more = names + ["x0" if names else "q"] * (schema.max_input + 1 - len(names))
            yield "too many inputs", schema, more, attributes, n, "input"
        if schema.max_output < 16 and schema.name != "BatchNormalization":    # which had five once
            yield "too many outputs", schema, names, attributes, schema.max_output + 1, "output"


FAULTS = list(faults())


def test_there_are_many_of_them():
    assert len(FAULTS) > 1000


@pytest.mark.parametrize("what, schema, inputs, attributes, n_outputs, thing", FAULTS,
                         ids=[f"{schema.name}-{what}-{thing}" for what, schema, *_, thing in FAULTS])
def test_it_is_refused_by_name(tmp_path, what, schema, inputs, attributes, n_outputs, thing):
    node = onnx.NodeProto(op_type=schema.name, domain=schema.domain, name="the node", input=inputs,
                          output=[f"y{i}" for i in range(n_outputs)], attribute=attributes)
    types = parts(schema)[0]
    infos = [helper.make_tensor_value_info(name, kind, None) for name, kind in zip(names_of(types), types)]
    graph = helper.make_graph([node], "g", infos, [onnx.ValueInfoProto(name="y0")],
                              [helper.make_tensor("q", TensorProto.FLOAT, [1], [1.0])])
    path = tmp_path / "broken.onnx"
    opsets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=11), path)
    with pytest.raises(evallib.Error) as refused:
        evallib.load(path)
    for name in ("broken.onnx", "the node", thing, *([] if schema.name in COMPOSED else [schema.name])):
        assert re.search(name, str(refused.value)), f"{name} is not in: {refused.value}"
