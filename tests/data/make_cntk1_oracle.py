"""CNTK v1 models of our own that CNTK 2.7's own engine evaluated, the old node types among them.

    python make_cntk1_oracle.py ENGINE ARCHIVE [name ...]

ENGINE is cntk_engine.cpp, built against CNTK's headers and the libraries of its Python package.
The archive holds name.v1 for each case and cases.json: inputs and what CNTK gave. A model is in
double; all samples of an input are one sequence.
"""
import json
import os
import subprocess
import sys
import tempfile
import zipfile
import zlib

import numpy as np

import cntk1

rng = np.random.RandomState()
CASES = {}


def numbers(*shape, low=-2.0, high=2.0):
    return np.round(rng.uniform(low, high, shape), 3)


def case(function, version=27):
    def make():
        rng.seed(zlib.crc32(function.__name__.encode()))
        m = cntk1.Model(version, "double")
        feeds = function(m) or {}
        m.outputs = m.outputs or [m.nodes[-1][1]]
        return m, feeds
    CASES[function.__name__] = make
    return function


def one_operand(name, op, *shape, low=-2.0, **fields):
    """A case whose one node reads one input."""
    def make(m):
        m.add("InputValue", "x", shape=shape)
        m.add(op, "z", ["x"], **fields)
        return {"x": numbers(3, *shape[::-1], low=low)}
    make.__name__ = name
    case(make)


one_operand("log_softmax", "LogSoftmax", 4)
one_operand("row_slice", "RowSlice", 5, ranges=[(1, 4, 1)])
one_operand("transpose", "Transpose", 2, 3, 4, axes=(1, 3))
one_operand("row_repeat", "RowRepeat", 3, repeats=3)
one_operand("trace", "Trace", 3)
one_operand("legacy_reshape", "LegacyReshape", 2, 3, 2, shape=[3, 2, 2])
one_operand("delay", "Delay", 3, shape=[3], step=2, initial=0.25)


def one_parameter(name, op, *shape):
    def make(m):
        m.parameter("w", numbers(*shape))
        m.add(op, "z", ["w"])
    make.__name__ = name
    case(make)


# MatrixL1Reg ends CNTK 2.7's engine by a signal
one_parameter("matrix_l2", "MatrixL2Reg", 3, 2)
one_parameter("diagonal", "Diagonal", 3, 3)


@case
def sparse_input(m):
    m.add("SparseInputValue", "x", shape=[5])
    m.parameter("w", numbers(3, 5))
    m.add("Times", "z", ["w", "x"])
    return {"x": np.eye(5)[[1, 4, 0]] * 1.5}


@case
def element_times_by_old_names(m):
    m.add("InputValue", "x", shape=[3, 2])
    m.parameter("row", numbers(1, 2))
    m.parameter("column", numbers(3, 1))
    m.add("RowElementTimes", "y", ["x", "row"])
    m.add("ColumnElementTimes", "z", ["y", "column"])
    return {"x": numbers(3, 2, 3)}


@case
def khatri_rao(m):
    m.add("InputValue", "x", shape=[3])
    m.add("InputValue", "y", shape=[2])
    m.add("KhatriRaoProduct", "z", ["x", "y"])
    return {"x": numbers(3, 3), "y": numbers(3, 2)}


@case
def lookup_table(m):
    m.add("InputValue", "x", shape=[8])
    m.parameter("w", numbers(3, 4))
    m.add("LookupTable", "z", ["w", "x"])
    return {"x": np.concatenate([np.eye(4)[[0, 2, 3]], np.eye(4)[[1, 1, 0]]], 1)}


@case
def quantized_times(m):
    m.add("InputValue", "x", shape=[4])
    m.parameter("w", numbers(3, 4))
    m.add("QuantizedTimes", "z", ["w", "x"])
    return {"x": numbers(3, 4)}


@case
def denormalization(m):
    m.add("InputValue", "x", shape=[4])
    m.parameter("mean", numbers(4))
    m.parameter("deviation", numbers(4, low=0.5))
    m.add("PerDimMeanVarDeNormalization", "z", ["x", "mean", "deviation"])
    return {"x": numbers(3, 4)}


def criterion(name, op, top=None, low=-2.0):
    def make(m):
        m.add("InputValue", "label", shape=[4])
        m.add("InputValue", "value", shape=[4])
        if top:
            m.parameter("top", np.array([top]))
        m.add(op, "z", ["label", "value"] + ["top"] * bool(top))
        return {"label": np.eye(4)[[2, 0, 3, 1]], "value": numbers(4, 4, low=low)}
    make.__name__ = name
    case(make)


criterion("cross_entropy_with_softmax", "CrossEntropyWithSoftmax")
criterion("cross_entropy", "CrossEntropy", low=0.1)
criterion("square_error", "SquareError")
criterion("error_prediction", "ErrorPrediction")
criterion("error_prediction_of_two", "ErrorPrediction", 2.0)


@case
def random_sample(m):
    """Of four classes three, of which all but one must be drawn: that one is as good as excluded."""
    m.parameter("w", np.array([1.0, 1e-300, 5, 3]))
    m.add("RandomSample", "y", ["w"], size=3)
    m.parameter("ones", np.ones(3))
    m.add("Times", "z", ["y", "ones"])


@case
def dummy_criterion(m):
    m.add("InputValue", "objective", shape=[1])
    m.add("InputValue", "derivatives", shape=[3])
    m.add("InputValue", "x", shape=[3])
    m.add("DummyCriterion", "z", ["objective", "derivatives", "x"])
    return {"objective": numbers(3, 1), "derivatives": numbers(3, 3), "x": numbers(3, 3)}


@case
def words_in_classes(m):
    """A label is a word, its class, and where the words of the class begin and end."""
    m.add("InputValue", "label", shape=[4])
    m.add("InputValue", "x", shape=[3])
    m.parameter("words", numbers(3, 6))
    m.parameter("classes", numbers(2, 3))
    m.add("Times", "y", ["classes", "x"])
    m.add("ClassBasedCrossEntropyWithSoftmax", "z", ["label", "x", "words", "y"])
    return {"label": np.array([[1.0, 0, 0, 2], [5, 1, 2, 6], [2, 1, 2, 6]]), "x": numbers(3, 3)}


@case
def environment(m):
    m.add("EnvironmentInput", "e", property="isTraining")
    m.add("InputValue", "x", shape=[3])
    m.add("Plus", "z", ["x", "e"])
    return {"x": numbers(3, 3)}


# --- one network in every version of the format: what changed from version to version -----------

def image_nodes(m):
    """A window has its newer form from version 5 on."""
    m.parameter("kernel", numbers(3, 3, 2, 2))
    m.add("InputValue", "image", shape=[6, 5, 2])
    m.add("Convolution", "c", ["kernel", "image"], kernel=[3, 3, 2], map_count=[2],
          stride=[2, 1, 2], auto_pad=[True, True, False])
    m.add("Pooling", "p", ["c"], kernel=[2, 2, 1], stride=[1, 2, 1], pool="max")
    m.add("TransposeDimensions", "t", ["p"], axes=(1, 3))
    m.add("ReduceElements", "sum", ["t"], axes=[2], reduce="Max")
    m.add("Reshape", "flat", ["sum"], shape=[4])
    return {"image": numbers(3, 2, 5, 6)}


def of_version(version):
    def make(m):
        m.add("InputValue", "x", shape=[4])
        m.parameter("w", numbers(4, 4))
        for name in ("scale", "bias", "mean", "deviation"):
            m.parameter(name, numbers(4, 1, low=0.5))
        m.add("Times", "wx", ["w", "x"])
        m.add("PastValue", "past", ["wx"], shape=[4], initial=0.1)
        m.add("Plus", "y", ["wx", "past"])
        norm = ["y", "scale", "bias", "mean", "deviation"]
        if version >= 19:
            m.parameter("count", np.zeros(1))
            norm.append("count")
        m.add("BatchNormalization", "n", norm)
        m.add("RowSlice" if version < 3 else "Slice", "s", ["n"], ranges=[(1, 3, 1)])
        m.add("Dropout", "d", ["s"])
        m.add("RowStack", "z", ["d", "x"])
        feeds = {"x": numbers(3, 4)}
        if version >= 5:
            feeds.update(image_nodes(m))
            m.outputs = ["z", "flat"]
        else:
            m.outputs = ["z"]
        return feeds
    make.__name__ = "version_%d" % version
    case(make, version)


for v in range(1, cntk1.NEWEST + 1):
    of_version(v)


def text_of(feeds):
    return "\n".join(" ".join(map(str, [name, len(x), x[0].size] + x.reshape(-1).tolist()))
                     for name, x in feeds.items())


def evaluate(engine, model, feeds, outputs, folder):
    given = os.path.join(folder, "inputs.txt")
    with open(given, "w") as file:
        file.write(text_of(feeds))
    text = subprocess.check_output([engine, model, given] + outputs, universal_newlines=True)
    found = {}
    for words in (line.split() for line in text.split("\n")):
        if not words or words[0] not in outputs:
            continue
        rows, columns = int(words[1]), int(words[2])
        found[words[0]] = np.array(words[3:], float).reshape(columns, rows).tolist()
    return found


def main():
    engine, archive = sys.argv[1:3]
    cases = {}
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(archive, "w") as z:
        for name in sys.argv[3:] or CASES:
            m, feeds = CASES[name]()
            path = os.path.join(folder, name + ".v1")
            m.save(path)
            outputs = evaluate(engine, path, feeds, m.outputs, folder)
            cases[name] = {"inputs": {k: x.tolist() for k, x in feeds.items()}, "outputs": outputs}
            z.writestr(zipfile.ZipInfo(name + ".v1"), m.bytes(), zipfile.ZIP_DEFLATED)
        z.writestr(zipfile.ZipInfo("cases.json"), json.dumps(cases), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main()
