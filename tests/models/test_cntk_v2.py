"""Real CNTK v2 models against an independent numpy evaluator's values; other files of CNTK
are told apart."""

import json
import re

import numpy as np
import pytest

from cntk_v1 import SHARED, TOLERANCE, assert_close, evl, needs_library, needs_shared
from test_cntk_v1 import sentences

pytestmark = [needs_library, needs_shared]
CNTK = SHARED / "cntk"
TIMES_7_3 = [[((7 * i + 3 * j) % 11 - 5) / 5 for j in range(20)] for i in range(15)]


def reference_cases():
    path = CNTK / "expected" / "numpy_reference_v2.json"
    return json.loads(path.read_text())["cases"] if path.is_file() else []


def picture(text):
    image = pytest.importorskip("PIL.Image")
    index, order, offset, scale = re.search(r"0000(\d)\.png, planes (...).*byte-(\d+)\)\*([0-9.]+)",
                                            text).groups()
    with image.open(CNTK / "data" / "cifar_png" / f"0000{index}.png") as opened:
        planes = np.asarray(opened.convert("RGB"), np.float64)
    planes = planes[:, :, ::-1] if order == "BGR" else planes
    return (planes.transpose(2, 0, 1).reshape(1, -1) - float(offset)) * float(scale)


def indices(text, size=None):
    numbers = list(range(0, 40, 2)) if "..." in text else [int(n) for n in text.split("indices ")[1]
                                                            .split()]
    return np.array(numbers, float).reshape(-1, 1) if size is None else np.eye(size)[numbers]


def frames_of(case, size):
    text = case["input_description"]
    if text.startswith("frames"):
        return np.array(json.loads(re.search(r"\[\[.*?\]\]", text).group(0)), float)
    if text.startswith("one frame"):
        return (np.arange(75.0).reshape(1, -1) % 7 - 3) / 4
    if "cifar_png" in text:
        return picture(text)
    if "ATIS" in case["model"]:
        return np.eye(943)[sentences(1)[0][0]]
    if "sin(" in text:
        return np.sin(0.1 * np.arange(float(text.split()[0])))[:, None]
    if "class indices" in text:
        return indices(text, size if size > 1 else None)
    return np.array(TIMES_7_3)


@pytest.mark.parametrize("precision", ["f", "d"])
@pytest.mark.parametrize("case", reference_cases(), ids=lambda case: case["model"][3:] + "-" +
                         re.sub(r".*(0000\d).*", r"\1", case["input_description"])[:9])
def test_a_model_gives_the_reference_values(case, precision):
    expected = np.array(case["outputs"], float)
    with evl.Model(CNTK / case["model"], precision) as net:
        frames = frames_of(case, list(net.dimensions(0).values())[0])
        y = net.evaluate({case["input"]: frames}, [case["output"]])[case["output"]]
    assert_close(y.reshape(expected.shape), expected, precision)


def test_a_tagger_tags_as_well_as_it_did():
    n_words = n_wrong = 0
    with evl.Model(CNTK / "v2" / "ATIS_model.cmf") as net:
        name, = net.dimensions(0)
        for words, slots in sentences(40):
            net.reset()
            y = net.evaluate({name: np.eye(943)[words]}, ["Block2860_Output_0"])
            scores = y["Block2860_Output_0"].reshape(len(words), -1)
            n_wrong += int((scores.argmax(axis=1) != slots).sum())
            n_words += len(words)
    assert (n_words, n_wrong) == (561, 7)


SPELLED = [
    ([37, 12, 9, 5, 64, 16],
     [46, 36, 46, 51, 65, 30, 52, 1]),
    ([1],
     [42, 1]),
    ([6, 25, 50, 20, 18, 11, 28, 29, 14, 50, 68],
     [49, 64, 47, 49, 30, 64, 60, 32, 49, 37, 32, 50, 1]),
]


@pytest.mark.parametrize("precision", ["f", "d"])
def test_a_network_that_writes_sequences_gives_what_cntk_gave(precision):
    """CNTK 2.7's own answers: letters in, sounds out, up to half as many again."""
    with evl.Model(CNTK / "v2" / "seq2seq_model_attFalse.cmf", precision) as net:
        for letters, sounds in SPELLED:
            net.reset()
            y = net.evaluate({"input": np.eye(69)[letters]}, ["chopped_output"])["chopped_output"]
            assert list(y) == list(np.eye(69)[sounds].ravel())


@pytest.mark.parametrize("name, what", [
    ("past.dictionary.proto.bin", "dictionary"), ("future.dictionary.proto.bin", "dictionary"),
    ("v2.0.beta1.0.dictionary.proto.bin", "dictionary"),
    ("learner.checkpoint.backcompat.bin", "learner")])
def test_what_is_no_model_is_named(name, what):
    with pytest.raises(evl.Failure) as caught:
        evl.Model(CNTK / "v2" / name)
    assert what in str(caught.value)
    assert caught.value.status in (4, 5)
