"""Networks of every format saved as ONNX: the same numbers here and in ONNX Runtime."""
import pathlib
import shutil

import numpy as np
import pytest

import evallib

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper   # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
CNTK = ROOT.parent / "shared" / "cntk"
FEED_FORWARD = ["v1/NetworkTests_01_OneHidden.dnn", "v1/BrainScriptTests_LR_reg.dnn", "v1/cifar10.ResNet.cmf",
                "v2/NIN_cifar.cntkmodel", "v2/pscntk_moon.model", "v2/load_and_eval.dnn"]


def check(path, target, tolerance=1e-5, **settings):
    model = evallib.load(path, **settings)
    model.save(target)
    onnx.checker.check_model(str(target))
    rng, feeds, read = np.random.default_rng(7), {}, evallib.load(target)
    for info in read.inputs:
        shape = [size if isinstance(size, int) else 3 for size in info.shape]
        feeds[info.name] = rng.uniform(-1, 1, shape).astype(info.type)
    names = [info.name for info in model.outputs]
    ours, again = model.run(feeds, names), read.run(feeds, names)
    theirs = ort.InferenceSession(str(target), providers=["CPUExecutionProvider"]).run(names, feeds)
    for name, other in zip(names, theirs):
        largest = max(np.abs(ours[name]).max(), 0.01)   # ONNX Runtime's Sigmoid is 2e-8 off near 0
        np.testing.assert_allclose(again[name], ours[name], atol=1e-6 * largest)
        np.testing.assert_allclose(other, ours[name], atol=tolerance * largest)


@pytest.mark.parametrize("name", ["digits.onnx", "digits.dnn"])
def test_the_samples_saved_compute_the_same(tmp_path, name):
    check(ROOT / "samples/digits" / name, tmp_path / "saved.onnx")


@pytest.mark.parametrize("name", FEED_FORWARD)
def test_cntk_models_saved_compute_the_same(tmp_path, name):
    if not (CNTK / name).exists():
        pytest.skip("the shared models are not there")
    check(CNTK / name, tmp_path / "saved.onnx")


def test_bodies_narrow_types_texts_and_unnamed_values_are_kept(tmp_path):
    def branch(name, op):
        return helper.make_graph([helper.make_node(op, ["x"], [name])], name, [],
                                 [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"])])
    narrow = helper.make_tensor("q", TensorProto.INT4, [3], [-8, 7, 1])
    scale = helper.make_tensor("s", TensorProto.FLOAT, [], [0.5])
    nodes = [helper.make_node("DequantizeLinear", ["q", "s"], ["d"]),
             helper.make_node("ReduceMax", ["x"], ["m"], keepdims=0), helper.make_node("Less", ["s", "m"], ["c"]),
             helper.make_node("If", ["c"], ["i"], then_branch=branch("a", "Exp"), else_branch=branch("b", "Neg")),
             helper.make_node("Add", ["i", "d"], ["y"], name="sum")]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])], [narrow, scale])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), tmp_path / "m.onnx")
    check(tmp_path / "m.onnx", tmp_path / "saved.onnx")
    saved = onnx.load(tmp_path / "saved.onnx")
    assert [n.op_type for n in saved.graph.node] == [n.op_type for n in nodes]
    assert saved.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "n"


def test_an_output_of_another_rank_than_declared_has_no_names_of_sizes(tmp_path):
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "g",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, list("abcdefg"))],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])])
    model = evallib.load(helper.make_model(graph, ir_version=10).SerializeToString())
    assert model.inputs[0].shape == tuple("abcdefg") and model.outputs[0].shape == (None,) * 7
    model.save(tmp_path / "saved.onnx")
    dims = onnx.load(tmp_path / "saved.onnx").graph.output[0].type.tensor_type.shape.dim
    assert [d.dim_param for d in dims] == [""] * 7


@pytest.mark.parametrize("simplified", [False, True])
@pytest.mark.parametrize("name", ["loops", "old_upsample", "reversed"])
def test_our_own_models_saved_compute_the_same(tmp_path, name, simplified):
    check(ROOT / "tests/data/onnx" / f"{name}.onnx", tmp_path / "saved.onnx", saveSimplified=simplified)


def test_what_a_file_declares_of_a_body_is_kept(tmp_path):
    evallib.load(ROOT / "tests/data/onnx/loops.onnx").save(tmp_path / "saved.onnx")
    read, saved = (onnx.load(p).graph for p in (ROOT / "tests/data/onnx/loops.onnx", tmp_path / "saved.onnx"))
    bodies = [[at.g for n in g.node for at in n.attribute if at.name == "body" and n.op_type != "SequenceMap"]
              for g in (read, saved)]
    assert len(bodies[0]) == 2
    for old, new in zip(*bodies):
        assert [v.type for v in [*new.input, *new.output]] == [v.type for v in [*old.input, *old.output]]


def test_types_stay_where_no_node_is_of_the_standard(tmp_path):
    node = helper.make_node("ArrayFeatureExtractor", ["x", "i"], ["y"], domain="ai.onnx.ml")
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.DOUBLE, ["n", 3])],
                              [helper.make_tensor_value_info("y", TensorProto.DOUBLE, ["n", 2])],
                              [helper.make_tensor("i", TensorProto.INT64, [2], [2, 0])])
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), tmp_path / "m.onnx")
    check(tmp_path / "m.onnx", tmp_path / "saved.onnx")


def test_what_is_float_whatever_it_is_computed_from_is_saved_so(tmp_path):
    tree = {"nodes_treeids": [0], "nodes_nodeids": [0], "nodes_featureids": [0], "nodes_values": [0.0], "nodes_modes": ["LEAF"],
            "nodes_truenodeids": [0], "nodes_falsenodeids": [0], "target_treeids": [0], "target_nodeids": [0], "target_ids": [0],
            "target_weights": [0.5]}
    nodes = [helper.make_node("Scaler", ["x"], ["s"], domain="ai.onnx.ml", offset=[1.0], scale=[2.0]),
             helper.make_node("TreeEnsembleRegressor", ["x"], ["t"], domain="ai.onnx.ml", n_targets=1, **tree)]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.DOUBLE, ["n", 3])],
                              [helper.make_empty_tensor_value_info(name) for name in "st"])
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 3)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), tmp_path / "m.onnx")
    check(tmp_path / "m.onnx", tmp_path / "saved.onnx")


def test_statistics_of_a_layer_are_of_the_type_they_are_stashed_in(tmp_path):
    for stash, kind in (None, TensorProto.FLOAT), (TensorProto.BFLOAT16, TensorProto.BFLOAT16):
        node = helper.make_node("LayerNormalization", ["x", "w"], ["y", "", "d"], **({"stash_type": stash} if stash else {}))
        graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT16, ["n", 3]),
                                                helper.make_tensor_value_info("w", TensorProto.FLOAT16, [3])],
                                  [helper.make_empty_tensor_value_info(name) for name in "yd"])
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        evallib.load(proto.SerializeToString()).save(tmp_path / "saved.onnx")
        types = [y.type.tensor_type.elem_type for y in onnx.load(tmp_path / "saved.onnx").graph.output]
        assert types == [TensorProto.FLOAT16, kind]


def saved_of(tmp_path, nodes, opset, constants=(), shape=("n", 3, 4)):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], list(constants))
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path / "m.onnx")
    check(tmp_path / "m.onnx", tmp_path / "saved.onnx")
    return onnx.load(tmp_path / "saved.onnx")


def test_what_is_composed_of_newer_operators_brings_the_others_along(tmp_path):
    node = helper.make_node
    nodes = [node("FastGelu", ["x"], ["g"], domain="com.microsoft"), node("Softmax", ["g"], ["s"], axis=1),
             node("Unsqueeze", ["s"], ["u"], axes=[0]), node("Squeeze", ["u"], ["q"], axes=[0]),
             node("ReduceMean", ["q"], ["m"], axes=[2], keepdims=1), node("Sub", ["q", "m"], ["d"]),
             node("Split", ["d"], ["a", "b"], axis=2), node("Dropout", ["a"], ["o"], ratio=0.25),
             node("Softmax", ["o"], ["l"], axis=2), node("Add", ["l", "b"], ["y"])]
    saved = saved_of(tmp_path, nodes, 11)
    assert saved.opset_import[0].version == 20   # Gelu's
    nodes = [node("Softmax", ["x"], ["s"], axis=1), node("Unsqueeze", ["s"], ["y"], axes=[0])]
    assert saved_of(tmp_path, nodes, 11).opset_import[0].version == 11   # nothing is composed


def integers(op, **attributes):
    return helper.make_node(op, ["q", "s", "z", "s", "z"], ["r"], domain="com.microsoft", **attributes)


@pytest.mark.parametrize("node", [
    integers("QLinearSoftmax", axis=-1, opset=13), integers("QLinearGlobalAveragePool", channels_last=0),
    integers("QLinearAveragePool", channels_last=1, kernel_shape=[2]),
    helper.make_node("FusedConv", ["x", "w"], ["r"], domain="com.microsoft", activation="LeakyRelu", activation_params=[0.5])])
def test_what_is_composed_has_the_standards_attributes_alone(tmp_path, node):
    after = [helper.make_node("DequantizeLinear", ["r", "s", "z"], ["y"])]
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]), node,
             *(after if "q" in node.input else [helper.make_node("Neg", ["r"], ["y"])])]
    constants = [helper.make_tensor("s", TensorProto.FLOAT, [], [0.25]), helper.make_tensor("z", TensorProto.UINT8, [], [128]),
                 helper.make_tensor("w", TensorProto.FLOAT, [1, 3, 2], [1, 2, -1, 0.5, 2, -3])]
    saved_of(tmp_path, nodes, 13, constants)


def test_upsample_brings_its_neighbours_along(tmp_path):
    node = helper.make_node
    nodes = [node("Pad", ["x"], ["p"], pads=[0, 0, 1, 0, 0, 0, 0, 1]),
             node("Upsample", ["p", "f"], ["u"], mode="nearest"),
             node("Slice", ["u"], ["s"], axes=[2], starts=[1], ends=[5]), node("Clip", ["s"], ["c"], min=-0.5, max=0.5),
             node("Softmax", ["c"], ["y"])]
    factors = helper.make_tensor("f", TensorProto.FLOAT, [4], [1, 1, 2, 2])
    assert saved_of(tmp_path, nodes, 9, [factors], ("n", 2, 3, 4)).opset_import[0].version == 13


def test_what_cannot_be_saved_is_told(tmp_path):
    model = evallib.load(ROOT / "samples/digits/digits.onnx")
    with pytest.raises(evallib.FileError, match="cannot be made"):
        model.save(tmp_path / "none" / "m.onnx")


def large(tmp_path):
    """2.1 GB of zeros and a few numbers, in a file with a hole."""
    if shutil.disk_usage(tmp_path).free < 8 << 30:
        pytest.skip("the disk is too small")
    rows, edge = 2_100_000, np.arange(256, dtype="float32")
    with open(tmp_path / "m.data", "wb") as file:
        for at in 0, (rows - 1) * 1024:
            file.seek(at)
            file.write(edge.tobytes())
    outside = TensorProto(name="w", dims=[rows, 256], data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
    for key, text in ("location", "m.data"), ("offset", "0"), ("length", str(rows * 1024)):
        outside.external_data.add(key=key, value=text)
    graph = helper.make_graph([helper.make_node("Gather", ["w", "i"], ["y"])], "g",
                              [helper.make_tensor_value_info("i", TensorProto.INT64, ["n"])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 256])], [outside])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    return tmp_path / "m.onnx", np.array([0, 1, rows - 1]), np.stack([edge, 0 * edge, edge])


def test_what_is_too_much_for_one_file_has_another_beside_it(tmp_path):
    path, i, expected = large(tmp_path)
    (tmp_path / "folder").mkdir()
    saved = tmp_path / "folder" / "saved.onnx"
    with evallib.load(path) as model:
        model.save(saved)
    assert saved.stat().st_size < 1000
    assert onnx.load(saved, load_external_data=False).graph.initializer[0].external_data[0].value == "saved.onnx.data"
    (tmp_path / "m.data").unlink()
    with evallib.load(saved) as model:
        assert np.array_equal(model.run({"i": i})["y"], expected)
        model.save(saved)                             # over the files that it is mapped from
        assert np.array_equal(model.run({"i": i})["y"], expected)
    with evallib.load(saved) as model:
        assert np.array_equal(model.run({"i": i})["y"], expected)
    for file in (tmp_path / "folder").iterdir():
        file.unlink()


# --- simplified ------------------------------------------------------------------------------

def simplified(tmp_path, nodes, outputs, constants):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])],
                              [helper.make_tensor_value_info(y, TensorProto.FLOAT, None) for y in outputs], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), tmp_path / "m.onnx")
    check(tmp_path / "m.onnx", tmp_path / "saved.onnx", saveSimplified=True)
    return onnx.load(tmp_path / "saved.onnx").graph


def floats(name, *shape):
    return helper.make_tensor(name, TensorProto.FLOAT, shape, np.arange(1, np.prod(shape, dtype=int) + 1, dtype="float32"))


def test_simplified_constants_are_computed_and_outputs_keep_their_names(tmp_path):
    node = helper.make_node
    nodes = [node("Mul", ["w", "two"], ["w2"]), node("Identity", ["w2"], ["w3"]), node("MatMul", ["x", "w3"], ["p"]),
             node("Dropout", ["p"], ["q"]), node("Exp", ["x"], ["unused"]), node("Identity", ["q"], ["y"]),
             node("Neg", ["two"], ["known"]), node("Identity", ["x"], ["same"])]
    saved = simplified(tmp_path, nodes, ["y", "known", "same"], [floats("w", 4, 3), floats("two", 1), floats("left", 9)])
    assert [n.op_type for n in saved.node] == ["MatMul", "Identity", "Identity", "Identity"]
    assert [y.name for y in saved.output] == ["y", "known", "same"]
    assert sorted(len(t.raw_data) for t in saved.initializer) == [4, 48]   # of known and w2


def test_simplified_branches_are_chosen_and_bodies_give_values_of_their_own(tmp_path):
    node = helper.make_node

    def body(name, nodes, inputs=(), kinds=(TensorProto.FLOAT,)):
        return helper.make_graph(nodes, name, [helper.make_tensor_value_info(i, *kind) for i, kind in inputs],
                                 [helper.make_tensor_value_info(n.output[0], kind, None) for n, kind in zip(nodes, kinds)])
    inner = {"then_branch": body("a", [node("Mul", ["w", "w"], ["t"])]),        # a constant
             "else_branch": body("b", [node("Identity", ["w"], ["e"])])}
    nodes = [node("If", ["yes"], ["i"], then_branch=body("t", [node("Exp", ["x"], ["o"])]),
                  else_branch=body("f", [node("Neg", ["x"], ["o2"])])),
             node("ReduceMax", ["x"], ["m"], keepdims=0), node("Cast", ["m"], ["c"], to=TensorProto.BOOL),
             node("If", ["c"], ["j"], **inner), node("Add", ["i", "j"], ["y"])]
    yes = helper.make_tensor("yes", TensorProto.BOOL, [], [True])
    saved = simplified(tmp_path, nodes, ["y"], [yes, floats("w", 1)])
    assert [n.op_type for n in saved.node] == ["Exp", "ReduceMax", "Cast", "If", "Add"]


def test_simplified_batch_normalizations_are_part_of_convolutions(tmp_path):
    node = helper.make_node

    def norm(x, y, **attributes):
        return node("BatchNormalization", [x, "gamma", "beta", "mean", "var"], [y], **attributes)
    nodes = [node("Unsqueeze", ["x", "axes"], ["u"]), node("Conv", ["u", "w"], ["a"]), norm("a", "b", epsilon=0.5),
             node("Conv", ["b", "v", "bias"], ["c"], strides=[2], group=3), norm("c", "d"), node("Relu", ["d"], ["y"])]
    saved = simplified(tmp_path, nodes, ["y"], [
        helper.make_tensor("axes", TensorProto.INT64, [1], [1]), floats("w", 3, 1, 2), floats("v", 3, 1, 1),
        floats("bias", 3), floats("gamma", 3), floats("beta", 3), floats("mean", 3), floats("var", 3)])
    assert [n.op_type for n in saved.node] == ["Unsqueeze", "Conv", "Conv", "Relu"]
    assert [n.output[0] for n in saved.node] == ["u", "b", "d", "y"]
    assert len(saved.initializer) == 5


def test_simplified_nothing_grows(tmp_path):
    node = helper.make_node
    quantized = helper.make_tensor("q", TensorProto.INT8, [4, 4096], [i % 9 for i in range(4 * 4096)])
    many = helper.make_tensor("many", TensorProto.INT64, [2], [1, 1 << 16])
    nodes = [node("DequantizeLinear", ["q", "s"], ["w"]), node("ReduceMean", ["w"], ["r"]),
             node("ConstantOfShape", ["many"], ["z"]), node("ReduceSum", ["z"], ["t"]), node("Sum", ["r", "t", "x"], ["y"])]
    saved = simplified(tmp_path, nodes, ["y"], [quantized, helper.make_tensor("s", TensorProto.FLOAT, [], [0.5]), many])
    assert "DequantizeLinear" in [n.op_type for n in saved.node]
    assert (tmp_path / "saved.onnx").stat().st_size < 20_000


def test_what_is_not_of_the_objects_type_is_not_simplified(tmp_path):
    nodes = [helper.make_node("Cast", ["x"], ["h"], to=TensorProto.FLOAT16), helper.make_node("Cast", ["h"], ["y"], to=1)]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])])
    narrow = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10).SerializeToString()
    samples = ROOT / "samples/digits"
    for path, precision in (narrow, "float32"), (samples / "digits.onnx", "float64"), (samples / "digits.dnn", "float64"):
        model = evallib.load(path, precision=precision, saveSimplified=True)
        with pytest.raises(evallib.UnsupportedError, match="saveSimplified"):
            model.save(tmp_path / "saved.onnx")
    assert not (tmp_path / "saved.onnx").exists()


SIMPLIFIED = ["digits_cnn", "digits_vit", "magika", "mnist8", "paddle_mobilenetv3_cls", "super_resolution", "ultraface_rfb320"]


@pytest.mark.parametrize("name", SIMPLIFIED)
def test_simplified_models_compute_the_same(tmp_path, name):
    path = ROOT.parent / "shared/models" / name / "model.onnx"
    if not path.exists():
        pytest.skip("the shared models are not there")
    check(path, tmp_path / "saved.onnx", saveSimplified=True)
    read, saved = (onnx.load(p).graph.node for p in (path, tmp_path / "saved.onnx"))
    assert len(saved) <= len(read)


@pytest.mark.parametrize("name", ["digits_cnn_qdq", "mnist_int8"])
def test_simplified_quantized_models_are_as_quantized_as_before(tmp_path, name):
    path = ROOT.parent / "shared/models" / name / "model.onnx"
    if not path.exists():
        pytest.skip("the shared models are not there")
    model = evallib.load(path, saveSimplified=True)
    model.save(tmp_path / "saved.onnx")
    x = {model.inputs[0].name: np.load(path.parent / "data_0/in_0.npy")}
    one, two = (ort.InferenceSession(str(p), providers=["CPUExecutionProvider"]).run(None, x) for p in (path, tmp_path / "saved.onnx"))
    assert np.array_equal(one[0], two[0])
    assert np.array_equal(model.run(x)[model.outputs[0].name], evallib.load(tmp_path / "saved.onnx").run(x)[model.outputs[0].name])


@pytest.mark.parametrize("name", ["digits.onnx", "digits.dnn"])
def test_simplified_the_samples_compute_the_same(tmp_path, name):
    check(ROOT / "samples/digits" / name, tmp_path / "saved.onnx", saveSimplified=True)
