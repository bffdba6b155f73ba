"""Real CNTK v1 models: their values against an independent numpy evaluator's, against what
CNTK itself recorded, and against the labels of sentences."""

import json
import re

import numpy as np
import pytest

from cntk_v1 import SHARED, TOLERANCE, assert_close, evl, needs_library, needs_shared

pytestmark = [needs_library, needs_shared]
CNTK = SHARED / "cntk"


def reference_cases():
    path = CNTK / "expected" / "numpy_reference_v1.json"
    return json.loads(path.read_text())["cases"] if path.is_file() else []


def pixels(index):
    """Planes B, G, R, each row by row: what image models of CNTK are fed."""
    image = pytest.importorskip("PIL.Image")
    with image.open(CNTK / "data" / "cifar_png" / f"0000{index}.png") as opened:
        rgb = np.asarray(opened.convert("RGB"), np.float64)
    return rgb[:, :, ::-1].transpose(2, 0, 1).reshape(1, -1)


def one_hot(words, size=943):
    return np.eye(size)[words]


def frames_of(case):
    text = case["input_description"]
    if "seed_mnist" in text:
        return np.array((CNTK / "data" / "seed_mnist_784.txt").read_text().split(), float)[None]
    if "literal frames" in text:
        return np.array(json.loads(re.sub(r"(?<![0-9])\.", "0.", text.split(" ", 2)[2])))
    if "cifar_png" in text:
        return pixels(int(re.search(r"0000(\d)", text).group(1)))
    return one_hot([int(word) for word in text.split("query indices ")[1].split()])


@pytest.mark.parametrize("precision", ["f", "d"])
@pytest.mark.parametrize("case", reference_cases(), ids=lambda case: case["model"][3:] + "-" +
                         re.sub(r".*(0000\d).*", r"\1", case["input_description"])[:20])
def test_a_model_gives_the_reference_values(case, precision):
    frames, expected = frames_of(case), np.array(case["outputs"])
    with evl.Model(CNTK / case["model"], precision) as net:
        y = net.evaluate({case["input"]: frames}, [case["output"]])[case["output"]]
        assert_close(y.reshape(expected.shape), expected, precision)
        x = frames.astype(net.real)
        y = net.run({case["input"]: x}, [case["output"]])[case["output"]]
        assert_close(y.reshape(expected.shape), expected, precision)


def test_an_output_that_cntk_recorded_comes_out():
    lines = (CNTK / "expected" / "cntk_recorded.txt").read_text().splitlines()
    recorded = np.array(next(line for line in lines if not line.startswith("#")).split(), float)
    with evl.Model(CNTK / "v1" / "JavaEvalTest_z.model") as net:
        y = net.evaluate({"Input2": pixels(0)}, ["Plus2060"])["Plus2060"]
    assert np.abs(y - recorded).max() <= 2e-6 * np.abs(recorded).max()


def test_all_images_are_told_right():
    for name in ("cifar10.ResNet.cmf", "cifar10.pretrained.cmf", "cifar10.pretrained.v10.cmf"):
        with evl.Model(CNTK / "v1" / name) as net:
            scores = net.evaluate({"features": np.concatenate([pixels(i) for i in range(6)])}, ["z"])
        assert list(scores["z"].reshape(6, 10).argmax(axis=1)) == [3, 8, 8, 0, 6, 6], name


def dumped_parameters(path):
    """CNTK's own dump: name -> matrix."""
    found, name = {}, None
    for line in path.read_text().splitlines():
        head = re.match(r"(\S+)=LearnableParameter \[(\d+),(\d+)\]", line)
        if head:
            name, rows = head.group(1), []
        elif line.strip().startswith("####"):
            found[name] = np.array(rows, float)
            name = None
        elif name:
            rows.append([float(number) for number in line.split()])
    return found


@pytest.mark.parametrize("name", ["01_OneHidden", "LR_reg", "MC"])
def test_every_parameter_is_what_cntk_dumped(name):
    dump = dumped_parameters(CNTK / "expected" / f"BrainScriptTests_{name}.dnn_Expected.txt")
    assert dump
    with evl.Model(CNTK / "v1" / f"BrainScriptTests_{name}.dnn", "d") as net:
        values = net.run({}, list(dump))
    for parameter, matrix in dump.items():
        value = values[parameter].T  # [rows, cols] again
        assert np.allclose(value.reshape(matrix.shape), matrix, rtol=1e-8, atol=1e-12), parameter


def sentences(count):
    """Of the ATIS test data: word and slot numbers."""
    found = {}
    for line in (CNTK / "data" / "atis.test.ctf").read_text().splitlines():
        key, *fields = line.split("|")
        words, slots = found.setdefault(key.strip(), ([], []))
        for field in fields:
            if field.startswith("S0 "):
                words.append(int(field[3:].split(":")[0]))
            if field.startswith("S2 "):
                slots.append(int(field[3:].split(":")[0]))
    return list(found.values())[:count]


@pytest.mark.parametrize("name, wrong", [("nobn", 14), ("forward", 10), ("lookahead", 6),
                                         ("backward", 8)])
def test_a_tagger_tags_as_well_as_it_did(name, wrong):
    file = "slu.forward.cmf" if name == "forward" else f"slu.forward.{name}.cmf"
    n_words = n_wrong = 0
    with evl.Model(CNTK / "v1" / file) as net:
        for words, slots in sentences(60):
            net.reset()
            scores = net.evaluate({"query": one_hot(words)}, ["z"])["z"].reshape(len(words), -1)
            n_wrong += int((scores.argmax(axis=1) != slots).sum())
            n_words += len(words)
    assert n_words == 803
    assert n_wrong == wrong


def test_words_one_by_one_give_what_a_sentence_gives():
    words = sentences(1)[0][0]
    for name in ("slu.forward.cmf", "slu_v10_2908074_32b64cd9.cmf"):
        with evl.Model(CNTK / "v1" / name) as net:
            whole = net.evaluate({"query": one_hot(words)}, ["z"])["z"].reshape(len(words), -1)
            net.reset()
            for word, row in zip(words, whole):
                step = net.evaluate({"query": one_hot([word])}, ["z"])["z"]
                assert np.abs(step - row).max() <= TOLERANCE["f"] * np.abs(whole).max()


def test_nodes_inside_a_loop_can_be_asked_for():
    words = sentences(1)[0][0]
    with evl.Model(CNTK / "v1" / "slu.forward.cmf") as net:
        names = ["z.x.x.lstmState._.ht", "z.x.x.prevState.h"]
        y = net.run({"query": one_hot(words).astype(np.float32)}, names)
    h, before = (y[name] for name in names)
    assert h.shape == before.shape == (len(words), 300)
    assert np.array_equal(before[1:], h[:-1])
    assert np.all(before[0] == np.float32(0.1))


def test_criterion_and_error_are_sums_over_samples():
    rng = np.random.default_rng(3)
    x, labels = rng.uniform(0, 4, (5, 2)), np.eye(3)[[0, 2, 1, 1, 0]]
    with evl.Model(CNTK / "v1" / "BrainScriptTests_MC.dnn", "d") as net:
        y = net.run({"features": x, "labels": labels}, ["z", "ce", "errs"])
    z = y["z"].reshape(5, 3)
    log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    assert_close(y["ce"].reshape(1), [-(labels * log_p).sum()], "d")
    assert y["errs"].reshape(1)[0] == (z.argmax(axis=1) != labels.argmax(axis=1)).sum()
