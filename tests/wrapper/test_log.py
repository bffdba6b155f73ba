"""The library's notes reach Python's logging."""

import logging
import threading

import pytest

import evallib
from packages import ROOT, run_python

DIGITS = str(ROOT / "samples" / "digits" / "digits.onnx")
UNKNOWN = "line 1: no setting is called 'colour'"


def test_a_warning_of_the_library_is_a_warning_of_the_logger(caplog):
    with caplog.at_level(logging.INFO, "evallib"):
        evallib.ModelF().Init("colour=red")
    assert [(r.name, r.levelname, r.getMessage()) for r in caplog.records] == [
        ("evallib", "WARNING", UNKNOWN)]
    assert caplog.records[0].filename == "test_log.py"   # where the program called


def test_loading_says_what_it_ignores(caplog):
    with evallib.load(DIGITS, strict=False, colour="red") as model, model.clone() as clone:
        assert model.inputs == clone.inputs
    assert "no setting is called 'colour'" in caplog.text


def test_percent_signs_stay(caplog):
    evallib.ModelD().Init("deviceId=%s%d")
    assert "deviceId=%s%d: the processor is used" in caplog.text


def test_notes_come_from_any_thread(caplog):
    threads = [threading.Thread(target=lambda: evallib.ModelD().Init("colour=red")) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [r.getMessage() for r in caplog.records] == [UNKNOWN] * 8


def test_nothing_is_printed_unless_logging_is_set_up(tmp_path):
    code = "import evallib; evallib.ModelF().Init('colour=red')"
    done = run_python(code, "")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = run_python("import logging; logging.basicConfig();" + code, "")
    assert done.stderr == f"WARNING:evallib:{UNKNOWN}\n"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_a_filter_raises_does_not_break_the_call(caplog):
    def refuse(record):
        raise KeyError(record.getMessage())

    model = evallib.ModelF()
    logging.getLogger("evallib").addFilter(refuse)
    try:
        model.Init("colour=red")
    finally:
        logging.getLogger("evallib").removeFilter(refuse)
    model.CreateNetwork(f'modelPath="{DIGITS}"')
    assert model.GetNodeDimensions("output") == {"ol.z": 10}
