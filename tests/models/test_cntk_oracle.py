"""Models that CNTK 2.7 wrote, and what it gave: tests/data/make_cntk_oracle.py made them.

Each is there as CNTK v2 and, saved by CNTK once more, as CNTK v1."""

import json
import zipfile

import numpy as np
import pytest

from cntk_v1 import ROOT, evl, needs_library

pytestmark = needs_library
ARCHIVE = zipfile.ZipFile(ROOT / "tests" / "data" / "cntk_oracle.zip")
CASES = json.loads(ARCHIVE.read("cases.json"))

NOT_OFFERED = {"cosine_distance_with_negative_samples", "crop_found_from_the_network",
               "edit_distance", "forward_backward", "lambda_rank", "ndcg_at_1", "past_value_window",
               "generation_until_done"}
# CNTK's own v1 reader knows no such node, or v1 has no place for the number of groups
NO_V1 = {"asinh", "atan", "atanh", "attention", "elu", "elu_alpha", "eye_like", "gather", "one_hot",
         "one_hot_along_another_axis", "ones_like", "pads", "pow", "reduce_over_the_sequence", "selu",
         "softmax_over_the_sequence", "tan", "to_sequence", "to_sequence_like", "top_k", "unpack",
         "unpack_with_mask", "zeros_like", "convolution_in_groups"}
NO_FLOAT = {"corners_of_elements"}  # holds numbers below float's


def tolerance(case, precision):
    """What CNTK computed in float is no better than float."""
    in_float = precision == "f" or case.startswith("cast") or not is_double(case)
    return 1e-5 if in_float else 1e-9


def is_double(case):
    return case not in {"attention", "generation_until_done", "linear_layers",
                        "lstm_with_everything", "past_value_window",
                        "convolution_over_a_sequence"}


def check(case, precision, found, wanted):
    values = np.array(wanted["values"], float)
    found = np.asarray(found, float).reshape(values.shape)
    scale = np.abs(values).max() if values.size else 1
    assert np.abs(found - values).max(initial=0) <= tolerance(case, precision) * max(scale, 1e-30)


def given(case, net):
    return {name: np.array(x, net.real) for name, x in CASES[case]["inputs"].items()}


def extracted(name, folder):
    return ARCHIVE.extract(name, folder)


@pytest.mark.parametrize("precision", ["f", "d"])
@pytest.mark.parametrize("case", sorted(set(CASES) - NOT_OFFERED))
def test_what_cntk_gave_comes_out(tmp_path, case, precision):
    if precision == "f" and case in NO_FLOAT:
        pytest.skip("numbers that float does not hold")
    outputs = CASES[case]["outputs"]
    with evl.Model(extracted(case + ".model", tmp_path), precision) as net:
        found = net.run(given(case, net), list(outputs))
    for name, wanted in outputs.items():
        check(case, precision, found[name], wanted)


@pytest.mark.parametrize("precision", ["f", "d"])
@pytest.mark.parametrize("case", sorted(set(CASES) - NOT_OFFERED - NO_V1 - NO_FLOAT))
def test_what_cntk_gave_comes_out_of_its_v1_file_too(tmp_path, case, precision):
    outputs = CASES[case]["outputs"]
    with evl.Model(extracted(case + ".v1", tmp_path), precision) as net:
        own = list(net.dimensions(1))
        if len(own) != 1 or len(outputs) != 1:
            pytest.skip("which output is which, the file does not tell")
        inputs = net.dimensions(0)
        feeds = {key: x for name, x in given(case, net).items() for key in inputs
                 if key.endswith("__v2libname__" + name)}  # what the output needs
        (wanted,) = outputs.values()
        check(case, precision, net.run(feeds, own)[own[0]], wanted)


def test_what_is_not_offered_says_so(tmp_path):
    for case in NOT_OFFERED - {"generation_until_done"}:
        with pytest.raises(evl.Failure) as caught:
            evl.Model(extracted(case + ".model", tmp_path))
        assert caught.value.status == 5, case
