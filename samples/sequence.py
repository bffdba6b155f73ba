"""Writes sequence.dnn, a recurrent network that a person can check: the parity of the bits so far.

    python sequence.py         needs numpy

"or" and "and" of the new bit and the parity before it, then "or and not and": an exclusive or.
    or(t)     = sigmoid(20 (bit(t) + parity(t-1)) - 10)
    and(t)    = sigmoid(20 (bit(t) + parity(t-1)) - 30)
    parity(t) = sigmoid(20 (or(t) - and(t)) - 10)"""
import pathlib, sys
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "data"))
from cntk1 import Model   # noqa: E402


def main():
    model = Model(version=15)
    model.features = [model.add("InputValue", "bit", shape=[1])]
    model.parameter("gates.W", np.full((2, 1), 20.0))
    model.parameter("gates.b", np.array([-10.0, -30.0]))
    model.parameter("parity.W", np.array([[20.0, -20.0]]))
    model.parameter("parity.b", np.array([-10.0]))
    model.add("PastValue", "before", ["parity"], step=1, shape=[1], initial=0.0)
    model.add("Plus", "sum", ["bit", "before"])
    model.add("Times", "gates.t", ["gates.W", "sum"])
    model.add("Plus", "gates.z", ["gates.t", "gates.b"])
    model.add("Sigmoid", "gates", ["gates.z"])
    model.add("Times", "parity.t", ["parity.W", "gates"])
    model.add("Plus", "parity.z", ["parity.t", "parity.b"])
    model.add("Sigmoid", "parity", ["parity.z"])
    model.outputs = ["parity"]
    model.save(HERE / "sequence.dnn")


if __name__ == "__main__":
    main()
