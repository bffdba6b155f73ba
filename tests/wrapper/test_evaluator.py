"""CNTK's interface: ModelF and ModelD on the fake library."""

import inspect
import weakref

import numpy as np
import pytest


@pytest.mark.parametrize("name, dtype", [("ModelF", np.float32), ("ModelD", np.float64)])
def test_evaluate_gives_flat_arrays_of_the_objects_type(fake, name, dtype):
    model = getattr(fake, name)()
    model.CreateNetwork("modelPath=fake")
    out = model.Evaluate({"x": [1, 2, 3, 4]}, ["y"])
    assert list(out) == ["y"]
    assert out["y"].dtype == dtype and out["y"].tolist() == [2, 4, 6, 8]
    assert out["y"].flags.owndata and out["y"].flags.writeable


FLAT = {
    "list": [1, 2], "tuple": (1.0, 2), "bools": [True, 2], "rows": [[1], [2]],
    "float64": np.array([1, 2.0]), "int8": np.array([1, 2], np.int8),
    "uint64": np.array([1, 2], np.uint64), "half": np.array([1, 2], np.float16),
    "long double": np.array([1, 2], np.longdouble), "big-endian": np.array([1, 2], ">f4"),
    "big-endian integers": np.array([1, 2], ">i8"),
    "strided": np.arange(1, 9, dtype=np.float32)[::1][[0, 9 % 8]],
    "reversed": np.array([2, 1], np.float32)[::-1],
    "memoryview": memoryview(np.array([1, 2], np.float32)),
    "array": __import__("array").array("d", [1, 2]),
    "bytearray": memoryview(bytearray([1, 2])), "range": range(1, 3),
    "column": np.arange(6.0).reshape(2, 3)[:, 1] * 0 + [1, 2],
}


@pytest.mark.parametrize("value", FLAT.values(), ids=FLAT)
def test_every_kind_of_vector_is_taken(evaluator, value):
    assert evaluator.Evaluate({"x": value}, ["y"])["y"].tolist() == [2, 4]


def test_strided_and_read_only_arrays_are_taken(evaluator):
    array = np.arange(8, dtype=np.float32)[::3]
    array.flags.writeable = False
    assert evaluator.Evaluate({"x": array}, ["y"])["y"].tolist() == [0, 6, 12]


def test_unaligned_arrays_are_taken(evaluator):
    raw = np.zeros(9, np.uint8)
    raw[1:] = np.array([1, 2], np.float32).view(np.uint8)
    assert evaluator.Evaluate({"x": raw[1:].view(np.float32)}, ["y"])["y"].tolist() == [2, 4]


def test_an_object_with_array_is_taken(evaluator):
    class Holder:
        def __array__(self, dtype=None, copy=None):
            return np.array([1, 2], np.float32)
    assert evaluator.Evaluate({"x": Holder()}, ["y"])["y"].tolist() == [2, 4]


@pytest.mark.parametrize("value", [[], np.zeros((0, 784), np.float32), ()])
def test_nothing_at_all_is_a_vector_of_length_zero(evaluator, value):
    assert evaluator.Evaluate({"x": value}, ["y"])["y"].shape == (0,)


def test_a_number_is_a_vector_of_length_one(evaluator):
    assert evaluator.Evaluate({"x": 3}, ["y"])["y"].tolist() == [6]


@pytest.mark.parametrize("value, error", [
    ([[1, 2], [3]], ValueError), ([1 + 2j], TypeError), (["a"], TypeError), ("a", TypeError),
    ([None], TypeError), ([object()], TypeError), (np.array(["2020"], "M8[D]"), TypeError),
    (np.zeros(2, "V3"), TypeError), ([10 ** 30], TypeError), ({"a": 1}, TypeError), (None, TypeError),
])
def test_what_is_no_vector_is_refused_by_name(evaluator, fake, value, error):
    with pytest.raises(error, match="Input 'x'") as caught:
        evaluator.Evaluate({"x": value}, ["y"])
    assert isinstance(caught.value, fake.Error)


@pytest.mark.parametrize("inputs, outputs, text", [
    ([1], ["y"], "inputs must be a dict"), (None, ["y"], "inputs must be a dict"),
    ({1: [1]}, ["y"], "name of an input must be a str, not int"),
    ({"x": [1]}, "y", "outputs must be a list"), ({"x": [1]}, 5, "outputs must be a list"),
    ({"x": [1]}, [b"y"], "outputs must be a str, not bytes"),
])
def test_arguments_of_the_wrong_kind_are_named(evaluator, fake, inputs, outputs, text):
    with pytest.raises(fake.TypeMismatchError, match=text):
        evaluator.Evaluate(inputs, outputs)


def test_a_null_character_in_a_name_is_refused(evaluator, fake):
    with pytest.raises(fake.ArgumentError, match="null"):
        evaluator.Evaluate({"x\0": [1]}, ["y"])


def test_names_outside_ascii_survive(evaluator):
    assert evaluator.GetNodeDimensions("specified", ["é", "b"]) == {"é": 2, "b": 1}


def test_bytes_of_a_path_survive(fake):
    with pytest.raises(fake.FileError) as caught:
        fake.ModelF().CreateNetwork("modelPath=\udcff\nstatus=3")
    assert "�" in str(caught.value) # the library saw the byte, and the text is still a text


def test_state_goes_on_until_reset(evaluator):
    for expected in (1, 2):
        assert evaluator.Evaluate({"x": [1]}, ["calls"])["calls"].tolist() == [expected]
    evaluator.ResetState()
    evaluator.ResetState()
    assert evaluator.Evaluate({"x": [1]}, ["calls"])["calls"].tolist() == [1]


def test_outputs_without_inputs(evaluator):
    assert evaluator.EvaluateOutputs(["p"])["p"].tolist() == [1, 2, 3]


def test_node_dimensions_of_all_groups(evaluator, fake):
    assert evaluator.GetNodeDimensions("input") == {"x": 2}
    assert evaluator.GetNodeDimensions(group="output") == {"y": 2}
    assert evaluator.GetNodeDimensions("specified", names=["abc"]) == {"abc": 3}
    assert evaluator.GetNodeDimensions("specified", []) == {}
    with pytest.raises(fake.NotFoundError, match="missing"):
        evaluator.GetNodeDimensions("specified", ["missing"])
    with pytest.raises(fake.ArgumentError, match="not \"inputs\""):
        evaluator.GetNodeDimensions("inputs")
    with pytest.raises(fake.TypeMismatchError, match="names must be a list"):
        evaluator.GetNodeDimensions("specified")


def test_calls_before_a_network(fake):
    with pytest.raises(fake.StateError, match="no network"):
        fake.ModelF().GetNodeDimensions("input")
    with pytest.raises(fake.StateError, match="no network yet"):
        fake.ModelF().Run({})


def test_start_loop_with_a_right_and_a_wrong_name(evaluator, fake):
    assert evaluator.StartEvaluateMinibatchLoop("y") is None
    with pytest.raises(fake.NotFoundError):
        evaluator.StartEvaluateMinibatchLoop("z")


def test_a_closed_object_says_so_everywhere(evaluator, fake):
    evaluator.Destroy()
    evaluator.Destroy()
    assert evaluator.closed and "closed" in repr(evaluator)
    calls = [lambda: evaluator.Init(""), lambda: evaluator.CreateNetwork(""),
             lambda: evaluator.GetNodeDimensions("input"), lambda: evaluator.ResetState(),
             lambda: evaluator.StartEvaluateMinibatchLoop("y"), lambda: evaluator.Run({}),
             lambda: evaluator.Evaluate({}, []), lambda: evaluator.EvaluateOutputs(["p"]),
             lambda: evaluator.Clone(), lambda: evaluator.Describe("inputs"),
             lambda: evaluator.Metadata(), lambda: evaluator.MemoryUse()]
    for call in calls:
        with pytest.raises(fake.StateError, match=r"^Object has been disposed\.$"):
            call()


def test_a_failing_call_leaves_the_object_as_it_was(evaluator, fake):
    with pytest.raises(fake.FormatError):
        evaluator.CreateNetwork("status=4")
    assert evaluator.Run({"x": [[1, 2]]})["y"].tolist() == [[1, 2]]


def test_a_clone_has_a_state_of_its_own_and_outlives_the_first(evaluator):
    evaluator.Evaluate({"x": [1]}, ["calls"])
    copy = evaluator.Clone()
    assert type(copy) is type(evaluator)
    evaluator.Destroy()
    assert copy.Evaluate({"x": [1]}, ["calls"])["calls"].tolist() == [1]
    assert copy.Run({"x": [1]})["y"].tolist() == [1]


def test_description_metadata_and_memory(evaluator, fake):
    inputs = evaluator.Describe("inputs")
    assert inputs[0] == ("x", "", "", 1, ("batch", 2), ())
    assert inputs[1] == ("i", "", "", 6, None, ())
    assert evaluator.Describe("outputs") == [("y", "Add", "", 1, (None, 2), ())]
    assert len(evaluator.Describe("nodes")) == len(inputs) + 1
    assert evaluator.Metadata() == {"producer": "fake", "version": "3"}
    assert evaluator.MemoryUse()["bytes"] == 100
    with pytest.raises(fake.ArgumentError, match="nodes"):
        evaluator.Describe("everything")


def test_the_constructor_takes_nothing(fake):
    with pytest.raises(TypeError):
        fake.ModelF(1)


def test_objects_can_be_referred_to_weakly(fake):
    model = fake.ModelF()
    reference = weakref.ref(model)
    del model
    assert reference() is None


def test_every_method_has_a_signature_and_a_text(fake):
    for cls in (fake.ModelF, fake.ModelD):
        assert "arithmetic" in cls.__doc__
        for name in (n for n in dir(cls) if n[0] != "_" and callable(getattr(cls, n))):
            method = getattr(cls, name)
            assert method.__doc__, name
            assert list(inspect.signature(method).parameters)[0] == "self"
    assert str(inspect.signature(fake.ModelF().Run)) == "(feeds, outputs=None, types=None, steps=None)"
