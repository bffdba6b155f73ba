"""ONNX Runtime's spelling, on the fake library."""

import io
import pickle

import numpy as np
import pytest


def test_run_gives_a_list_in_the_order_of_the_names(fake):
    session = fake.InferenceSession("m.onnx")
    first, second, again = session.run(["i", "x", "i"], {"x": [1.0], "i": [3]})
    assert first.tolist() == [3] and second.tolist() == [1] and again is first
    assert len(session.run(None, {"x": [1.0]})) == len(session.run([], {"x": [1.0]})) == 1


def test_inputs_are_spelt_as_there(fake):
    session = fake.InferenceSession("m.onnx")
    arg = session.get_inputs()[0]
    assert (arg.name, arg.shape, arg.type) == ("x", ["batch", 2], "tensor(float)")
    assert [a.type for a in session.get_inputs()][3:4] == ["tensor(string)"]
    assert session.get_outputs()[0].name == "y" and "tensor(float)" in repr(session.get_outputs()[0])
    meta = session.get_modelmeta()
    assert meta.producer_name == "fake" and meta.version == 3 and meta.custom_metadata_map == {}
    assert session.get_providers() == ["CPUExecutionProvider"]


def test_declared_floating_types_are_asked_for(fake, monkeypatch):
    session = fake.InferenceSession("m.onnx")
    seen = []

    class Spy:
        def Run(self, feeds, names, types):
            seen.append((names, types))
            return dict.fromkeys(names)
    session._evaluator = Spy()
    session.run(["h", "x", "i", "unknown"], {})
    assert seen == [(["h", "x", "i", "unknown"], [10, 1, 0, 0])]


def test_bytes_are_a_model_too(fake):
    for source in (b"content", bytearray(b"content"), memoryview(b"content"), io.BytesIO(b"content")):
        session = fake.InferenceSession(source)
        assert session.run(None, {"x": [1.0]})[0].tolist() == [1]
        assert session._evaluator.MemoryUse()["bytes"] == sum(b"content")
        assert pickle.loads(pickle.dumps(session))._evaluator.MemoryUse()["bytes"] == sum(b"content")


def test_options_and_providers(fake):
    options = fake.SessionOptions()
    options.intra_op_num_threads = 2
    options.graph_optimization_level = 99
    session = fake.InferenceSession("m.onnx", options, providers=["CPUExecutionProvider"])
    assert session._threads == 2
    assert pickle.loads(pickle.dumps(session))._threads == 2
    with pytest.warns(UserWarning, match="CUDAExecutionProvider not used"):
        fake.InferenceSession("m.onnx", providers=[("CUDAExecutionProvider", {})])


def test_run_options_are_taken(fake):
    assert np.array_equal(fake.InferenceSession("m").run(["y"], {"x": [1.0]}, None)[0], [1])
