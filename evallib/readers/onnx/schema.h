/* schema.h - the messages of onnx.proto, as far as they are read. */
#ifndef EVL_READERS_ONNX_SCHEMA_H
#define EVL_READERS_ONNX_SCHEMA_H
#include "readers/protobuf.h"

typedef struct onnx_model {
    int64_t ir_version, model_version;
    evl_bytes producer_name, producer_version, domain, graph;
    evl_pb_many opsets, metadata, training, functions;
} onnx_model;

typedef struct onnx_opset {
    evl_bytes domain;
    int64_t version;
} onnx_opset;

typedef struct onnx_pair {
    evl_bytes key, value;
} onnx_pair;

typedef struct onnx_graph {
    evl_bytes name;
    evl_pb_many nodes, initializers, sparse_initializers, inputs, outputs, value_infos;
} onnx_graph;

typedef struct onnx_function {
    evl_bytes name, domain, overload;
    evl_pb_many inputs, outputs, nodes, opsets, defaults; /* defaults: attribute_proto */
} onnx_function;

typedef struct onnx_node {
    evl_bytes name, op_type, domain, overload;
    evl_pb_many inputs, outputs, attributes;
} onnx_node;

typedef struct onnx_attribute {
    evl_bytes name, ref_name, s, t, g, tp, sparse;
    evl_pb_many i, f; /* at most one each: whether it is there tells the type in IR version 1 */
    int64_t type;
    evl_pb_many floats, ints, strings, tensors, graphs, sparse_tensors;
} onnx_attribute;

/* The fields that a tensor's elements can be in. */
typedef enum onnx_data {
    ONNX_FLOAT_DATA,
    ONNX_INT32_DATA,
    ONNX_STRING_DATA,
    ONNX_INT64_DATA,
    ONNX_DOUBLE_DATA,
    ONNX_UINT64_DATA,
    ONNX_N_DATA
} onnx_data;

typedef struct onnx_tensor {
    evl_bytes name, raw, segment;
    int64_t data_type, location;
    evl_pb_many dims, external, data[ONNX_N_DATA];
} onnx_tensor;

typedef struct onnx_sparse {
    evl_bytes values, indices;
    evl_pb_many dims;
} onnx_sparse;

typedef struct onnx_value_info {
    evl_bytes name, type;
} onnx_value_info;

typedef struct onnx_type {
    evl_bytes tensor, sequence, map, optional, sparse, opaque;
} onnx_type;

typedef struct onnx_sequence_type {
    evl_bytes elem_type; /* of an optional too */
} onnx_sequence_type;

typedef struct onnx_map_type {
    int64_t key_type;
    evl_bytes value_type;
} onnx_map_type;

typedef struct onnx_tensor_type {
    int64_t elem_type;
    evl_bytes shape;
} onnx_tensor_type;

typedef struct onnx_shape {
    evl_pb_many dims;
} onnx_shape;

typedef struct onnx_dim {
    int64_t value; /* put -1 before reading */
    evl_bytes param;
} onnx_dim;

extern const evl_pb_schema evl_onnx_model_schema, evl_onnx_opset_schema, evl_onnx_pair_schema,
    evl_onnx_graph_schema, evl_onnx_function_schema, evl_onnx_node_schema,
    evl_onnx_attribute_schema, evl_onnx_tensor_schema, evl_onnx_sparse_schema,
    evl_onnx_value_info_schema, evl_onnx_type_schema, evl_onnx_tensor_type_schema,
    evl_onnx_sequence_type_schema, evl_onnx_map_type_schema,
    evl_onnx_shape_schema, evl_onnx_dim_schema;
#endif
