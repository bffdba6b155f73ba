"""Each status is an exception of its own, and of the builtin that fits."""

import pickle

import pytest

CLASSES = {
    1: ("ArgumentError", ValueError),
    2: ("OutOfMemoryError", MemoryError),
    3: ("FileError", OSError),
    4: ("FormatError", ValueError),
    5: ("UnsupportedError", NotImplementedError),
    6: ("NotFoundError", LookupError),
    7: ("ShapeError", ValueError),
    8: ("TypeMismatchError", TypeError),
    9: ("StateError", RuntimeError),
    10: ("LimitError", RuntimeError),
    11: ("CancelledError", RuntimeError),
    12: ("PluginError", RuntimeError),
    13: ("InternalError", RuntimeError),
}


@pytest.mark.parametrize("status", CLASSES)
def test_a_status_becomes_its_exception_with_the_librarys_text(fake, status):
    name, builtin = CLASSES[status]
    with pytest.raises(getattr(fake, name)) as caught:
        fake.ModelD().Init(f"status={status}\nand é")
    assert str(caught.value) == f"status={status}\nand é"
    assert caught.value.status == status == fake.Status(status)
    assert isinstance(caught.value, (fake.Error,)) and isinstance(caught.value, builtin)
    assert isinstance(caught.value, RuntimeError)


def test_an_unknown_status_is_an_error_still(fake):
    with pytest.raises(fake.Error) as caught:
        fake.ModelF().Init("status=99")
    assert type(caught.value) is fake.Error


def test_run_tells_its_own_text(evaluator, fake):
    with pytest.raises(fake.ShapeError, match="^failed with 7$"):
        evaluator.Run({}, ["status=7"])


def test_exceptions_can_be_pickled():
    import evallib
    copy = pickle.loads(pickle.dumps(evallib.ShapeError("wrong")))
    assert type(copy) is evallib.ShapeError and copy.args == ("wrong",) and copy.status == 7


def test_a_file_error_is_an_os_error_with_a_plain_text(fake):
    with pytest.raises(OSError, match="^status=3$"):
        fake.ModelF().CreateNetwork("status=3")
