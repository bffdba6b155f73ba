"""load and Model, on the fake library; the errors' text is the configuration that was sent."""

import array
import copy
import gc
import io
import mmap
import pathlib
import pickle
import sys

import numpy as np
import pytest


class BytesPath:
    def __fspath__(self):
        return b"/x"


def sent(fake, path="m.onnx", **named):
    """The configuration text that load makes."""
    with pytest.raises(fake.FileError) as caught:
        fake.load(path, status=3, **named)
    lines = str(caught.value).split("\n")
    return [line for line in lines if line not in ("status=3", "strict=true")]


def test_settings_become_configuration_text(fake):
    assert sent(fake) == ['modelPath="m.onnx"', "numCPUThreads=1"]
    lines = sent(fake, pathlib.Path("/a b/c"), threads=4, mapFile=False, blas="off", limit=2.5,
                 outputNodeNames=["a", "b.c"], nothing=None, plugins=[])
    assert lines == ['modelPath="/a b/c"', "numCPUThreads=4", "mapFile=false", 'blas="off"',
                     "limit=2.5", 'outputNodeNames="a":"b.c"']
    assert sent(fake, BytesPath())[0] == 'modelPath="/x"'
    assert sent(fake, 'a"b')[0] == "modelPath='a\"b'"
    assert sent(fake, r"C:\m")[0] == r'modelPath="C:\m"'


def test_bytes_and_files_are_a_model(fake, tmp_path):
    """The fake library adds the model's bytes up whenever it is asked: they must still be there."""
    content = b"a model of no great length" * 1000
    (tmp_path / "m").write_bytes(content)
    with open(tmp_path / "m", "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        twice = bytes(byte for byte in content for _ in range(2))
        sources = [content, bytearray(content), memoryview(content), memoryview(twice)[::2], array.array("b", content),
                   io.BytesIO(content), open(tmp_path / "m", "rb"), memoryview(mapped)]
        models = [fake.load(source) for source in sources]
        models += [model.clone() for model in models] + [pickle.loads(pickle.dumps(models[1]))]
        sources[1][:] = b"?" * len(content)                      # that one was copied
        sources[6].close()
        del sources
        gc.collect()
        assert {m.memory_use()["bytes"] for m in models} == {sum(content)}
        del models[:-1]
        gc.collect()                                             # or the mapping could not be closed
    assert models[0].memory_use()["bytes"] == sum(content)
    assert "of 26000 bytes" in repr(models[0])


def test_bytes_are_kept_for_clones_and_let_go_with_the_network(fake):
    class Bytes(bytes):
        pass

    first, second = Bytes(b"first"), Bytes(b"second")
    evaluator = fake.ModelF()
    evaluator.LoadMemory(first, "")
    clone = evaluator.Clone()
    counts = sys.getrefcount(first), sys.getrefcount(second)
    evaluator.LoadMemory(second, "")
    assert (evaluator.MemoryUse()["bytes"], clone.MemoryUse()["bytes"]) == (sum(b"second"), sum(b"first"))
    evaluator.Destroy()
    assert sys.getrefcount(second) == counts[1]
    clone.Destroy()
    assert sys.getrefcount(first) < counts[0]
    for data, error in ((b"!", fake.FormatError), (b"", fake.FormatError), ("text", fake.TypeMismatchError), (5, fake.TypeMismatchError)):
        with pytest.raises(error):
            fake.ModelD().LoadMemory(data, "")
    with pytest.raises(fake.TypeMismatchError, match="binary"):
        fake.load(io.StringIO("text"))


@pytest.mark.parametrize("path, error", [
    ("a\nb", "ArgumentError"), ("a\"'b", "ArgumentError"), ("a\0b", "ArgumentError"),
    (5, "TypeMismatchError"), (None, "TypeMismatchError"), (["a"], "TypeMismatchError"),
])
def test_paths_that_cannot_be_said_are_refused(fake, path, error):
    with pytest.raises(getattr(fake, error)):
        fake.load(path)


@pytest.mark.parametrize("named", [{"precision": "float"}, {"precision": None}, {"threads": 0},
                                   {"threads": "2"}, {"threads": True}, {"a=b": 1}, {"a\nb": 1}])
def test_settings_that_make_no_sense_are_refused(fake, named):
    with pytest.raises(fake.ArgumentError):
        fake.load("m", **named)
    with pytest.raises(fake.TypeMismatchError, match="odd must be"):
        fake.load("m", odd=object())


def test_one_value_in_one_array_out(fake):
    model = fake.load("m")
    out = model(np.array([[1, 2]], np.float32))
    assert isinstance(out, np.ndarray) and out.tolist() == [[1, 2]]
    assert model(x=[[1, 2]]).tolist() == [[1, 2]]
    with pytest.raises(fake.ArgumentError, match="twice"):
        model([1], x=[1])
    with pytest.raises(fake.ArgumentError, match="11 values given for 10 inputs"):
        model(*range(11))


def test_run_takes_names(fake):
    model = fake.load("m")
    assert list(model.run({"x": [1.0]})) == ["y"]
    assert list(model.run({"x": [1.0], "i": [1]}, ["i", "x"])) == ["i", "x"]
    assert list(model.run({"x": [1.0]}, outputs="x")) == ["x"]


def test_precision_chooses_the_class(fake):
    assert fake.load("m", "float64")._evaluator.Evaluate({"x": [1]}, ["y"])["y"].dtype == np.float64
    assert fake.load("m", precision="float64").precision == "float64"


def test_inputs_and_outputs(fake):
    model = fake.load("m")
    assert model.inputs[0] == ("x", ("batch", 2), "float32", "", "")
    assert model.inputs[0].shape == ("batch", 2) and model.inputs[1].shape is None
    assert [i.type for i in model.inputs][:5] == ["float32", "int32", "bool", "str", "complex64"]
    assert model.outputs[0].name == "y" and model.outputs[0].op == "Add"
    assert len(model.nodes) == 11
    assert model.metadata["producer"] == "fake"
    assert model.memory_use()["bytes"] == 100


def test_closing(fake):
    with fake.load("m") as model:
        assert not model.closed
    assert model.closed and "closed" in repr(model)
    model.close()
    with pytest.raises(fake.StateError, match=r"^Object has been disposed\.$"):
        model([1])


def test_the_representation_tells_what_goes_in_and_out(fake):
    text = repr(fake.load("m.onnx"))
    assert text.startswith("<evallib.Model 'm.onnx', float32, x float32[batch, 2], i int32, b bool[]")
    assert text.endswith("-> y float32[?, 2]>")


def test_copies_share_the_network_and_close_separately(fake):
    model = fake.load("m")
    copies = [model.clone(), copy.copy(model), copy.deepcopy(model)]
    model.close()
    for other in copies:
        assert other(x=[1]).tolist() == [1] and other.inputs[0].name == "x"


def test_pickling_loads_again(fake):
    model = fake.load(pathlib.Path("m.onnx"), "float64", 2, blas="off")
    other = pickle.loads(pickle.dumps(model))
    assert other._made_of == model._made_of and other.precision == "float64"
    assert other(x=[1]).tolist() == [1]
