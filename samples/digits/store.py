"""Writes the trained network as CNTK version 1 and as ONNX.

Both hold the same numbers in the same order: a convolution's weights have the kernel's columns
fastest, then its rows, its channels and its maps; a matrix has a column for every input."""
import pathlib, sys
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
MAX_PIXEL = 255   # the network was trained on 0 .. 1; the files take pixels as they are


def scaled(parameters):
    first, bias = parameters["c1"]
    return {**parameters, "c1": [first / np.float32(MAX_PIXEL), bias]}


def write(parameters):
    write_onnx(scaled(parameters), HERE / "digits.onnx")
    write_cntk(scaled(parameters), HERE / "digits.dnn")


def write_onnx(parameters, path):
    from onnx import TensorProto, checker, helper, numpy_helper, save
    constants = [numpy_helper.from_array(np.array([-1, 1, 28, 28], np.int64), "image_shape")]
    for name, (weights, bias) in parameters.items():
        constants += [numpy_helper.from_array(weights, name + ".W"), numpy_helper.from_array(bias, name + ".b")]
    make = helper.make_node
    nodes = [make("Reshape", ["features", "image_shape"], ["image"])]
    x = "image"
    for name in ("c1", "c2"):
        nodes += [make("Conv", [x, name + ".W", name + ".b"], [name + ".z"], kernel_shape=[5, 5]),
                  make("Relu", [name + ".z"], [name + ".a"]),
                  make("MaxPool", [name + ".a"], [name + ".p"], kernel_shape=[2, 2], strides=[2, 2])]
        x = name + ".p"
    nodes += [make("Flatten", [x], ["flat"], axis=1),
              make("Gemm", ["flat", "h1.W", "h1.b"], ["h1.z"]),
              make("Relu", ["h1.z"], ["h1.a"]),
              make("Gemm", ["h1.a", "ol.W", "ol.b"], ["ol.z"])]
    graph = helper.make_graph(
        nodes, "digits", [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["N", 784])],
        [helper.make_tensor_value_info("ol.z", TensorProto.FLOAT, ["N", 10])], constants)
    model = helper.make_model(graph, producer_name="evallib samples", ir_version=8,
                              opset_imports=[helper.make_opsetid("", 13)])
    checker.check_model(model)
    save(model, path)


def write_cntk(parameters, path):
    sys.path.insert(0, str(HERE.parent.parent / "tests" / "data"))
    from cntk1 import Model
    model = Model(version=15)
    x = model.add("InputValue", "features", shape=[28, 28, 1])
    model.features = [x]
    for name in ("c1", "c2"):
        weights, bias = parameters[name]
        maps, channels = weights.shape[:2]
        model.parameter(name + ".W", weights.T)
        model.parameter(name + ".b", bias.reshape(1, 1, maps))
        model.add("Convolution", name + ".c", [name + ".W", x], kernel=[5, 5, channels],
                  map_count=[maps], stride=[1, 1, channels])
        model.add("Plus", name + ".z", [name + ".c", name + ".b"])
        model.add("RectifiedLinear", name + ".a", [name + ".z"])
        x = model.add("Pooling", name + ".p", [name + ".a"], kernel=[2, 2, 1], stride=[2, 2, 1], pool="max")
    h1, ol = parameters["h1"], parameters["ol"]
    model.parameter("h1.W", h1[0].reshape(24, 4, 4, 64).T)
    model.parameter("h1.b", h1[1])
    model.parameter("ol.W", ol[0].T)
    model.parameter("ol.b", ol[1])
    model.add("Times", "h1.t", ["h1.W", x])
    model.add("Plus", "h1.z", ["h1.t", "h1.b"])
    model.add("RectifiedLinear", "h1.a", ["h1.z"])
    model.add("Times", "ol.t", ["ol.W", "h1.a"])
    model.add("Plus", "ol.z", ["ol.t", "ol.b"])
    model.outputs = ["ol.z"]
    model.save(path)
