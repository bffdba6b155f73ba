"""Random small models: an operator, attributes, shapes and types, drawn from a seed."""

import zlib

import numpy as np
from onnx import TensorProto, helper

ML = "ai.onnx.ml"
OPSETS = {"": 21, ML: 3}
GENERATORS = {}           # "domain.Operator" or "Operator": a function of a Draw that gives a Case


def operator(*names):
    """Registers what draws a case of these operators; the Draw's `op` tells which."""
    def register(draw):
        for name in names:
            GENERATORS[name] = draw
        return draw
    return register


class Case:
    """One node with its inputs; a feed of None is an input left out, a dict a map. Attributes that are arrays
    become tensors."""

    def __init__(self, op, feeds, attributes=None, outputs=1, opsets=None, tolerance=1e-5, constants=(), body=None):
        self.domain, _, self.op = op.rpartition(".")
        self.feeds, self.attributes, self.n_outputs = feeds, attributes or {}, outputs
        self.opsets = {**OPSETS, **(opsets or {})}
        self.tolerance = tolerance
        self.constants = set(constants)      # indices of feeds that stand in the model
        self.unknown = False                 # whether the model declares sizes

    def model(self, double=False):
        """As ONNX; `double`: every floating-point tensor in float64."""
        wide = [widened(feed) if double else feed for feed in self.feeds]
        names = ["" if feed is None else f"x{i}" for i, feed in enumerate(wide)]
        attributes = {name: tensor(name, widened(value) if double else value) if isinstance(value, np.ndarray) else value
                      for name, value in self.attributes.items()}
        node = helper.make_node(self.op, names, [f"y{i}" for i in range(self.n_outputs)], domain=self.domain, **attributes)
        given = [(i, feed) for i, feed in enumerate(wide) if feed is not None]
        inputs = [value_info(f"x{i}", feed, self.unknown) for i, feed in given if i not in self.constants]
        constants = [tensor(f"x{i}", feed) for i, feed in given if i in self.constants]
        outputs = [helper.make_empty_tensor_value_info(f"y{i}") for i in range(self.n_outputs)]
        graph = helper.make_graph([node], self.op, inputs, outputs, constants)
        used = {"": self.opsets[""], self.domain: self.opsets.get(self.domain, 1)}
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid(d, v) for d, v in used.items()],
                                  ir_version=10)
        return model, {f"x{i}": feed for i, feed in given if i not in self.constants}

    def __str__(self):
        shapes = ", ".join("-" if f is None else str(dict(f)) if isinstance(f, dict) else
                           f"{f.dtype}{list(f.shape)}" + ("!" if i in self.constants else "")
                           for i, f in enumerate(self.feeds))
        attributes = {name: value if np.size(value) <= 6 else "..." for name, value in self.attributes.items()}
        return f"{self.domain}.{self.op}({shapes}) {attributes} opset {self.opsets.get(self.domain)}"


class Map(dict):
    """A map, of keys and values of these element types."""

    def __init__(self, items, key, value):
        super().__init__(items)
        self.key, self.value = key, value


def widened(array):
    is_narrow = isinstance(array, np.ndarray) and array.dtype in (np.float32, np.float16)
    return array.astype(np.float64) if is_narrow else array


def value_info(name, feed, unknown):
    if isinstance(feed, Map):
        value = helper.make_tensor_type_proto(feed.value, None)
        return helper.make_value_info(name, helper.make_map_type_proto(feed.key, value))
    return helper.make_tensor_value_info(name, onnx_type(feed), [None] * feed.ndim if unknown else feed.shape)


def onnx_type(array):
    if array.dtype.kind in "OU":
        return TensorProto.STRING
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def tensor(name, array):
    if array.dtype.kind in "OU":
        return helper.make_tensor(name, TensorProto.STRING, array.shape, [str(t).encode() for t in array.ravel()])
    return helper.make_tensor(name, onnx_type(array), array.shape, array.tobytes(), raw=True)


class Draw:
    """Random choices for one case."""

    def __init__(self, op, seed):
        self.op = op
        self.random = np.random.default_rng([zlib.crc32(op.encode()), seed])

    def int(self, low, high):
        """low .. high, both included."""
        return int(self.random.integers(low, high + 1))

    def chance(self, p=0.5):
        return bool(self.random.random() < p)

    def choice(self, items):
        return items[self.int(0, len(items) - 1)]

    def some(self, items):
        return [item for item in items if self.chance()]

    def shape(self, low=0, high=4, most=5, zero=0.05):
        return [0 if self.chance(zero) else self.int(1, most) for _ in range(self.int(low, high))]

    def floats(self, shape, scale=1.0, dtype=np.float32):
        return (self.random.standard_normal(shape) * scale).astype(dtype)

    def ints(self, shape, low, high, dtype=np.int64):
        return self.random.integers(low, high + 1, shape).astype(dtype)

    def bools(self, shape):
        return self.random.random(shape) < 0.5

    def texts(self, shape, words=("a", "b", "Ab", "", "xyz", "über", "10", "a b")):
        return np.array([self.choice(words) for _ in range(int(np.prod(shape)))], dtype=object).reshape(shape)

    def array(self, dtype, shape, scale=2.0):
        """Any type, small values."""
        dtype = np.dtype(dtype)
        if dtype.kind == "f":
            return self.floats(shape, scale, dtype)
        if dtype.kind == "b":
            return self.bools(shape)
        if dtype.kind in "OU":
            return self.texts(shape)
        return self.ints(shape, 0 if dtype.kind == "u" else -9, 9, dtype)

    def broadcastable(self, shape):
        """A shape that broadcasts with this one."""
        other = [1 if self.chance(0.3) else n for n in shape]
        return other[self.int(0, len(other)) if self.chance(0.4) else 0:]

    def axis(self, rank):
        return self.int(-rank, rank - 1)
