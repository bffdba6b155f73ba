"""Models that CNTK 2.7 evaluated, and what it gave.

tests/data/make_cntk_oracle.py made those that CNTK wrote: each is there as CNTK v2 and, saved by
CNTK once more, as CNTK v1. tests/data/make_cntk1_oracle.py made v1 files of our own: the old types
of nodes, and one network in each of the format's versions."""

import json
import zipfile

import numpy as np
import pytest

from cntk_v1 import ROOT, evl, needs_library

evallib = pytest.importorskip("evallib")
pytestmark = needs_library
ARCHIVE = zipfile.ZipFile(ROOT / "tests" / "data" / "cntk_oracle.zip")
CASES = json.loads(ARCHIVE.read("cases.json"))
OWN = zipfile.ZipFile(ROOT / "tests" / "data" / "cntk1_oracle.zip")
OWN_CASES = json.loads(OWN.read("cases.json"))

# CNTK's own v1 reader knows no such node, or v1 has no place for the number of groups
NO_V1 = {"asinh", "atan", "atanh", "attention", "elu", "elu_alpha", "eye_like", "gather", "one_hot",
         "one_hot_along_another_axis", "ones_like", "pads", "pow", "reduce_over_the_sequence", "selu",
         "softmax_over_the_sequence", "tan", "to_sequence", "to_sequence_like", "top_k", "unpack",
         "unpack_with_mask", "zeros_like", "convolution_in_groups", "assign", "batch_as_an_axis"}
# or CNTK saves no v1 file where sizes are open, and does not read what convolves over a sequence
NO_V1 |= {case for case in CASES if case.startswith(("open_", "window_over_a_sequence"))}
NO_FLOAT = {"corners_of_elements"}  # holds numbers below float's


def tolerance(case, precision):
    """What CNTK computed in float is no better than float."""
    in_float = precision == "f" or case.startswith("cast") or not is_double(case)
    return 1e-5 if in_float else 1e-9


def is_double(case):
    return not case.startswith(("generation_until", "rnn_stack")) and case not in {
        "attention", "linear_layers", "lstm_with_everything", "past_value_window",
        "convolution_over_a_sequence"}


def is_close(case, precision, found, wanted):
    values = np.array(wanted["values"], float)
    found = np.asarray(found, float)
    if found.size != values.size:
        return False
    scale = np.abs(values).max() if values.size else 1
    bound = tolerance(case, precision) * max(scale, 1e-30)
    return np.abs(found.reshape(values.shape) - values).max(initial=0) <= bound


def given(case, net):
    return {name: np.array(x, net.real) for name, x in CASES[case]["inputs"].items()}


def extracted(name, folder):
    return ARCHIVE.extract(name, folder)


@pytest.mark.parametrize("case, precision", [(c, p) for c in sorted(CASES)
                                             for p in "fd" if p == "d" or c not in NO_FLOAT])
def test_what_cntk_gave_comes_out(tmp_path, case, precision):
    outputs = CASES[case]["outputs"]
    with evl.Model(extracted(case + ".model", tmp_path), precision) as net:
        found = net.run(given(case, net), list(outputs))
    for name, wanted in outputs.items():
        assert is_close(case, precision, found[name], wanted)


def inputs_and_outputs(path, n_outputs):
    """Their names. What is an evaluation, a constant, and what another output reads, CNTK lists as
    no output: then all nodes."""
    with evallib.load(path) as model:
        outputs = [o.name for o in model.outputs]
        if len(outputs) < n_outputs:
            outputs = [node.name for node in model.nodes if node.op]
        return [i.name for i in model.inputs], outputs


@pytest.mark.parametrize("precision", ["f", "d"])
@pytest.mark.parametrize("case", sorted(set(CASES) - NO_V1 - NO_FLOAT))
def test_what_cntk_gave_comes_out_of_its_v1_file_too(tmp_path, case, precision):
    outputs = CASES[case]["outputs"]
    path = extracted(case + ".v1", tmp_path)
    inputs, names = inputs_and_outputs(path, len(outputs))
    with evl.Model(path, precision) as net:
        feeds = {key: x for name, x in given(case, net).items() for key in inputs
                 if key.split("__v2libname__")[-1] == name}
        found = net.run(feeds, names)
    for wanted in outputs.values():  # which is which, the file does not tell
        assert any(is_close(case, precision, y, wanted) for y in found.values())


def near(found, wanted, case, precision):
    """QuantizedTimes rounds to 16 bits in CNTK, and does not here."""
    wanted = np.array(wanted, float)
    bound = 1e-4 if case == "quantized_times" else 1e-5 if precision == "f" else 1e-9
    gap = np.abs(np.asarray(found, float).reshape(wanted.shape) - wanted).max()
    return gap <= bound * max(np.abs(wanted).max(), 1e-30)


@pytest.mark.parametrize("precision", ["f", "d"])
@pytest.mark.parametrize("case", sorted(OWN_CASES))
def test_what_cntk_gave_for_a_v1_file_of_ours(tmp_path, case, precision):
    told = OWN_CASES[case]
    with evl.Model(OWN.extract(case + ".v1", tmp_path), precision) as net:
        feeds = {name: np.array(x, net.real) for name, x in told["inputs"].items()}
        found = net.run(feeds, list(told["outputs"]))
    for name, wanted in told["outputs"].items():
        assert near(found[name], wanted, case, precision)
