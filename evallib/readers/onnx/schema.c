/* Field numbers: onnx.proto of ONNX 1.23 (IR version 14). */
#include "readers/onnx/schema.h"

static const evl_pb_rule model_rules[] = {
    { 1, EVL_PB_INT, offsetof(onnx_model, ir_version) },
    { 2, EVL_PB_BYTES, offsetof(onnx_model, producer_name) },
    { 3, EVL_PB_BYTES, offsetof(onnx_model, producer_version) },
    { 4, EVL_PB_BYTES, offsetof(onnx_model, domain) },
    { 5, EVL_PB_INT, offsetof(onnx_model, model_version) },
    { 7, EVL_PB_BYTES, offsetof(onnx_model, graph) },
    { 8, EVL_PB_MANY, offsetof(onnx_model, opsets) },
    { 14, EVL_PB_MANY, offsetof(onnx_model, metadata) },
    { 20, EVL_PB_MANY, offsetof(onnx_model, training) },
    { 25, EVL_PB_MANY, offsetof(onnx_model, functions) },
};

static const evl_pb_rule opset_rules[] = {
    { 1, EVL_PB_BYTES, offsetof(onnx_opset, domain) },
    { 2, EVL_PB_INT, offsetof(onnx_opset, version) },
};

static const evl_pb_rule pair_rules[] = {
    { 1, EVL_PB_BYTES, offsetof(onnx_pair, key) },
    { 2, EVL_PB_BYTES, offsetof(onnx_pair, value) },
};

static const evl_pb_rule graph_rules[] = {
    { 1, EVL_PB_MANY, offsetof(onnx_graph, nodes) },
    { 2, EVL_PB_BYTES, offsetof(onnx_graph, name) },
    { 5, EVL_PB_MANY, offsetof(onnx_graph, initializers) },
    { 11, EVL_PB_MANY, offsetof(onnx_graph, inputs) },
    { 12, EVL_PB_MANY, offsetof(onnx_graph, outputs) },
    { 13, EVL_PB_MANY, offsetof(onnx_graph, value_infos) },
    { 15, EVL_PB_MANY, offsetof(onnx_graph, sparse_initializers) },
};

static const evl_pb_rule function_rules[] = {
    { 1, EVL_PB_BYTES, offsetof(onnx_function, name) },
    { 4, EVL_PB_MANY, offsetof(onnx_function, inputs) },
    { 5, EVL_PB_MANY, offsetof(onnx_function, outputs) },
    { 7, EVL_PB_MANY, offsetof(onnx_function, nodes) },
    { 9, EVL_PB_MANY, offsetof(onnx_function, opsets) },
    { 10, EVL_PB_BYTES, offsetof(onnx_function, domain) },
    { 11, EVL_PB_MANY, offsetof(onnx_function, defaults) },
    { 13, EVL_PB_BYTES, offsetof(onnx_function, overload) },
};

static const evl_pb_rule node_rules[] = {
    { 1, EVL_PB_MANY, offsetof(onnx_node, inputs) },
    { 2, EVL_PB_MANY, offsetof(onnx_node, outputs) },
    { 3, EVL_PB_BYTES, offsetof(onnx_node, name) },
    { 4, EVL_PB_BYTES, offsetof(onnx_node, op_type) },
    { 5, EVL_PB_MANY, offsetof(onnx_node, attributes) },
    { 7, EVL_PB_BYTES, offsetof(onnx_node, domain) },
    { 8, EVL_PB_BYTES, offsetof(onnx_node, overload) },
};

static const evl_pb_rule attribute_rules[] = {
    { 1, EVL_PB_BYTES, offsetof(onnx_attribute, name) },
    { 2, EVL_PB_FLOATS, offsetof(onnx_attribute, f) },
    { 3, EVL_PB_INTS, offsetof(onnx_attribute, i) },
    { 4, EVL_PB_BYTES, offsetof(onnx_attribute, s) },
    { 5, EVL_PB_BYTES, offsetof(onnx_attribute, t) },
    { 6, EVL_PB_BYTES, offsetof(onnx_attribute, g) },
    { 7, EVL_PB_FLOATS, offsetof(onnx_attribute, floats) },
    { 8, EVL_PB_INTS, offsetof(onnx_attribute, ints) },
    { 9, EVL_PB_MANY, offsetof(onnx_attribute, strings) },
    { 10, EVL_PB_MANY, offsetof(onnx_attribute, tensors) },
    { 11, EVL_PB_MANY, offsetof(onnx_attribute, graphs) },
    { 14, EVL_PB_BYTES, offsetof(onnx_attribute, tp) },
    { 20, EVL_PB_INT, offsetof(onnx_attribute, type) },
    { 21, EVL_PB_BYTES, offsetof(onnx_attribute, ref_name) },
    { 22, EVL_PB_BYTES, offsetof(onnx_attribute, sparse) },
    { 23, EVL_PB_MANY, offsetof(onnx_attribute, sparse_tensors) },
};

static const evl_pb_rule tensor_rules[] = {
    { 1, EVL_PB_INTS, offsetof(onnx_tensor, dims) },
    { 2, EVL_PB_INT, offsetof(onnx_tensor, data_type) },
    { 3, EVL_PB_BYTES, offsetof(onnx_tensor, segment) },
    { 4, EVL_PB_FLOATS, offsetof(onnx_tensor, data[ONNX_FLOAT_DATA]) },
    { 5, EVL_PB_INTS, offsetof(onnx_tensor, data[ONNX_INT32_DATA]) },
    { 6, EVL_PB_MANY, offsetof(onnx_tensor, data[ONNX_STRING_DATA]) },
    { 7, EVL_PB_INTS, offsetof(onnx_tensor, data[ONNX_INT64_DATA]) },
    { 8, EVL_PB_BYTES, offsetof(onnx_tensor, name) },
    { 9, EVL_PB_BYTES, offsetof(onnx_tensor, raw) },
    { 10, EVL_PB_DOUBLES, offsetof(onnx_tensor, data[ONNX_DOUBLE_DATA]) },
    { 11, EVL_PB_INTS, offsetof(onnx_tensor, data[ONNX_UINT64_DATA]) },
    { 13, EVL_PB_MANY, offsetof(onnx_tensor, external) },
    { 14, EVL_PB_INT, offsetof(onnx_tensor, location) },
};

static const evl_pb_rule sparse_rules[] = {
    { 1, EVL_PB_BYTES, offsetof(onnx_sparse, values) },
    { 2, EVL_PB_BYTES, offsetof(onnx_sparse, indices) },
    { 3, EVL_PB_INTS, offsetof(onnx_sparse, dims) },
};

static const evl_pb_rule value_info_rules[] = {
    { 1, EVL_PB_BYTES, offsetof(onnx_value_info, name) },
    { 2, EVL_PB_BYTES, offsetof(onnx_value_info, type) },
};

static const evl_pb_rule type_rules[] = {
    { 1, EVL_PB_BYTES, offsetof(onnx_type, tensor) },
    { 4, EVL_PB_BYTES, offsetof(onnx_type, sequence) },
    { 5, EVL_PB_BYTES, offsetof(onnx_type, map) },
    { 7, EVL_PB_BYTES, offsetof(onnx_type, opaque) },
    { 8, EVL_PB_BYTES, offsetof(onnx_type, sparse) },
    { 9, EVL_PB_BYTES, offsetof(onnx_type, optional) },
};

static const evl_pb_rule sequence_type_rules[] = {
    { 1, EVL_PB_BYTES, offsetof(onnx_sequence_type, elem_type) },
};

static const evl_pb_rule map_type_rules[] = {
    { 1, EVL_PB_INT, offsetof(onnx_map_type, key_type) },
    { 2, EVL_PB_BYTES, offsetof(onnx_map_type, value_type) },
};

static const evl_pb_rule tensor_type_rules[] = {
    { 1, EVL_PB_INT, offsetof(onnx_tensor_type, elem_type) },
    { 2, EVL_PB_BYTES, offsetof(onnx_tensor_type, shape) },
};

static const evl_pb_rule shape_rules[] = {
    { 1, EVL_PB_MANY, offsetof(onnx_shape, dims) },
};

static const evl_pb_rule dim_rules[] = {
    { 1, EVL_PB_INT, offsetof(onnx_dim, value) },
    { 2, EVL_PB_BYTES, offsetof(onnx_dim, param) },
};

const evl_pb_schema evl_onnx_model_schema = { "onnx: ModelProto", model_rules,
                                              sizeof model_rules / sizeof model_rules[0] };
const evl_pb_schema evl_onnx_opset_schema = { "onnx: OperatorSetIdProto", opset_rules,
                                              sizeof opset_rules / sizeof opset_rules[0] };
const evl_pb_schema evl_onnx_pair_schema = { "onnx: StringStringEntryProto", pair_rules,
                                             sizeof pair_rules / sizeof pair_rules[0] };
const evl_pb_schema evl_onnx_graph_schema = { "onnx: GraphProto", graph_rules,
                                              sizeof graph_rules / sizeof graph_rules[0] };
const evl_pb_schema evl_onnx_function_schema = { "onnx: FunctionProto", function_rules,
                                                 sizeof function_rules / sizeof function_rules[0] };
const evl_pb_schema evl_onnx_node_schema = { "onnx: NodeProto", node_rules,
                                             sizeof node_rules / sizeof node_rules[0] };
const evl_pb_schema evl_onnx_attribute_schema = {
    "onnx: AttributeProto", attribute_rules, sizeof attribute_rules / sizeof attribute_rules[0]
};
const evl_pb_schema evl_onnx_tensor_schema = { "onnx: TensorProto", tensor_rules,
                                               sizeof tensor_rules / sizeof tensor_rules[0] };
const evl_pb_schema evl_onnx_sparse_schema = { "onnx: SparseTensorProto", sparse_rules,
                                               sizeof sparse_rules / sizeof sparse_rules[0] };
const evl_pb_schema evl_onnx_value_info_schema = {
    "onnx: ValueInfoProto", value_info_rules, sizeof value_info_rules / sizeof value_info_rules[0]
};
const evl_pb_schema evl_onnx_type_schema = { "onnx: TypeProto", type_rules,
                                             sizeof type_rules / sizeof type_rules[0] };
const evl_pb_schema evl_onnx_sequence_type_schema = { "onnx: TypeProto.Sequence",
                                                      sequence_type_rules,
                                                      sizeof sequence_type_rules /
                                                          sizeof sequence_type_rules[0] };
const evl_pb_schema evl_onnx_map_type_schema = { "onnx: TypeProto.Map", map_type_rules,
                                                 sizeof map_type_rules / sizeof map_type_rules[0] };
const evl_pb_schema evl_onnx_tensor_type_schema = { "onnx: TypeProto.Tensor", tensor_type_rules,
                                                    sizeof tensor_type_rules /
                                                        sizeof tensor_type_rules[0] };
const evl_pb_schema evl_onnx_shape_schema = { "onnx: TensorShapeProto", shape_rules,
                                              sizeof shape_rules / sizeof shape_rules[0] };
const evl_pb_schema evl_onnx_dim_schema = { "onnx: TensorShapeProto.Dimension", dim_rules,
                                            sizeof dim_rules / sizeof dim_rules[0] };
