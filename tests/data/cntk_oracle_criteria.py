"""Cases of make_cntk_oracle.py: criteria, and nodes that only v1 has."""
import os
import tempfile

import cntk as C
import numpy as np

import cntk1
import cntk_oracle as oracle
from cntk_oracle import CASES, OLD_FILES, batch, case, numbers, seq


# --- criteria ----------------------------------------------------------------------------------

def criterion(name, f, labels=None):
    def make():
        z, y = batch("z", 4), batch("y", 4)
        return f(z, y), {z: numbers(3, 4), y: np.eye(4)[[1, 0, 3]] if labels is None else labels}
    CASES[name] = make


criterion("cross_entropy_with_softmax", C.cross_entropy_with_softmax)
criterion("classification_error", C.classification_error)
criterion("classification_error_of_two", lambda z, y: C.classification_error(z, y, topN=2))
criterion("squared_error", C.squared_error)
criterion("binary_cross_entropy", lambda z, y: C.binary_cross_entropy(C.sigmoid(z), y))


@case
def cosine_distance_with_negative_samples():
    a, b = batch("a", 4), batch("b", 4)
    return C.cosine_distance_with_negative_samples(a, b, 1, 2), {a: numbers(4, 4), b: numbers(4, 4)}


@case
def lambda_rank():
    s, n, g = batch("s", 1), batch("n", 1), batch("g", 1)
    given = {s: numbers(5, 1), n: np.array([[3], [1], [0], [2], [1]], oracle.REAL),
             g: np.array([[7], [7], [7], [8], [8]], oracle.REAL)}
    return C.lambda_rank(s, n, g), given


@case
def ndcg_at_1():
    s, n, g = batch("s", 1), batch("n", 1), batch("g", 1)
    given = {s: numbers(5, 1), n: np.array([[3], [1], [0], [2], [1]], oracle.REAL),
             g: np.array([[7], [7], [7], [8], [8]], oracle.REAL)}
    return C.ndcg_at_1(s, n, g), given


@case
def edit_distance():
    a, b = seq("a", 4), seq("b", 4)
    return C.edit_distance_error(a, b, 1, 1, 1, True, [2]), {
        a: np.eye(4)[None, [0, 0, 1, 2, 3, 3]], b: np.eye(4)[None, [0, 1, 1, 1, 2, 3]]}


@case
def forward_backward():
    y, z = seq("y", 4), seq("z", 4)
    labels = np.array([[[2, 0, 0, 0], [0, 2, 0, 0], [0, 2, 0, 0], [0, 0, 1, 0], [0, 0, 2, 0]]], oracle.REAL)
    return C.forward_backward(C.labels_to_graph(y), z, 3), {y: labels, z: numbers(1, 5, 4)}


# --- nodes that only v1 has: files of our own, which CNTK reads ------------------------------------

def old_case(function):
    def make():
        m, feeds = function(cntk1.Model(15, "double"))
        path = os.path.join(tempfile.mkdtemp(), "net.v1")
        m.outputs = [m.nodes[-1][1]]
        m.save(path)
        f = C.load_model(path)
        OLD_FILES[function.__name__] = path
        return f, {next(v for v in f.arguments if v.name == name): x for name, x in feeds.items()}
    CASES[function.__name__] = make


@old_case
def old_elements(m):
    m.add("InputValue", "x", shape=[4])
    for name in "abc":
        m.parameter(name, numbers(4))
    m.add("DiagTimes", "d", ["a", "x"])
    m.add("Scale", "s", ["b", "d"])
    m.add("Pass", "p", ["s"])
    m.add("Sigmoid", "g", ["p"])
    m.add("RowStack", "r", ["g", "x"])
    m.add("SumColumnElements", "z", ["r"])
    return m, {"x": numbers(3, 4)}


@old_case
def old_normalization(m):
    m.add("InputValue", "x", shape=[4])
    m.add("Mean", "m", ["x"], value=numbers(4, 1))
    m.add("InvStdDev", "d", ["x"], value=numbers(4, 1, low=0.5))
    m.add("PerDimMeanVarNormalization", "z", ["x", "m", "d"])
    return m, {"x": numbers(3, 4)}


def old_pooling(name, op):
    def make(m):
        m.add("InputValue", "x", shape=[6, 5, 2])
        m.add(op, "z", ["x"], kernel=[3, 2], stride=[2, 1], layout=1)
        return m, {"x": numbers(3, 2, 5, 6)}
    make.__name__ = name
    old_case(make)


old_pooling("old_pooling_max", "MaxPooling")
old_pooling("old_pooling_average", "AveragePooling")


@old_case
def old_sum(m):
    m.add("InputValue", "x", shape=[4])
    m.add("Negate", "n", ["x"])
    m.add("SumElements", "z", ["n"])
    return m, {"x": numbers(3, 4)}


@old_case
def old_criteria(m):
    m.add("InputValue", "x", shape=[1])
    m.add("InputValue", "y", shape=[1])
    m.add("Sigmoid", "s", ["x"])
    m.add("Logistic", "z", ["y", "s"])
    return m, {"x": numbers(3, 1), "y": np.array([[0], [1], [1]], oracle.REAL)}


def old_criterion(name, op):
    """Functions that CNTK's own package writes as several, and v1's reader as one."""
    def make(m):
        m.add("InputValue", "y", shape=[4])
        m.add("InputValue", "x", shape=[4])
        m.add(op, "z", ["y", "x"])
        return m, {"y": np.eye(4, dtype=oracle.REAL)[[1, 3, 0]], "x": numbers(3, 4)}
    make.__name__ = name
    old_case(make)


old_criterion("old_square_error", "SquareError")
old_criterion("old_cross_entropy", "CrossEntropyWithSoftmax")
