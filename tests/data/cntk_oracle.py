"""What the cases of make_cntk_oracle.py are made with; see there. REAL is the case's type."""
import cntk as C
import numpy as np

REAL = np.float64
rng = np.random.RandomState(11)


def numbers(*shape, low=-2.0, high=2.0):
    return np.round(rng.uniform(low, high, shape), 3).astype(REAL)


def weight(*shape):
    return C.parameter(shape, init=numbers(*shape, low=-1, high=1), dtype=REAL)


def fixed(values):
    return C.constant(np.asarray(values, REAL), dtype=REAL)


def seq(name, *shape):
    return C.sequence.input_variable(shape, dtype=REAL, name=name)


def batch(name, *shape):
    return C.input_variable(shape, dtype=REAL, name=name)


CASES = {}
OLD_FILES = {}  # by case: the v1 file it came from
EVALUATED_AS = {}  # by case: what CNTK evaluates in place of a function that its CPU build does not have


def case(function):
    CASES[function.__name__.rstrip("_")] = function
    return function
