"""Random small models: an operator, attributes, shapes and types, drawn from a seed."""

import functools
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper

ML = "ai.onnx.ml"
OPSETS = {"": 21, ML: 3}
TYPES = {f"tensor({name})": kind for name, kind in {
    "float": np.float32, "double": np.float64, "float16": np.float16, "bool": np.bool_, "string": object,
    **{f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}}.items()}
GENERATORS = {}           # "domain.Operator" or "Operator": a function of a Draw that gives a Case


def operator(*names):
    """Registers what draws a case of these operators; the Draw's `op` tells which."""
    def register(draw):
        for name in names:
            GENERATORS[name] = draw
        return draw
    return register


class Case:
    """One node with its inputs, or several that make y0, y1 ... of x0, x1 ...; a feed of None is an input left
    out, a dict a map; an output whose number is in `unwanted` is left out. Attributes that are arrays become
    tensors."""

    def __init__(self, op, feeds, attributes=None, outputs=1, opsets=None, tolerance=1e-5, constants=(), nodes=None,
                 unwanted=(), steps=0):
        self.domain, _, self.op = op.rpartition(".")
        self.feeds, self.attributes, self.n_outputs = feeds, attributes or {}, outputs
        self.nodes, self.unwanted = nodes, set(unwanted)
        self.steps = steps                   # how far integers may be away
        self.opsets = {**OPSETS, **(opsets or {})}
        self.tolerance = tolerance
        self.constants = {i for i in constants if i < len(feeds) and feeds[i] is not None}   # stand in the model
        self.unknown = False                 # whether the model declares sizes

    def model(self, double=False):
        """As ONNX; `double`: every floating-point tensor in float64."""
        wide = [widened(feed) if double else feed for feed in self.feeds]
        names = ["" if feed is None else f"x{i}" for i, feed in enumerate(wide)]
        attributes = {name: tensor(name, widened(value) if double else value) if isinstance(value, np.ndarray) else value
                      for name, value in self.attributes.items()}
        wanted = [i for i in range(self.n_outputs) if i not in self.unwanted]
        made = [f"y{i}" if i in wanted else "" for i in range(self.n_outputs)]
        nodes = self.nodes or [helper.make_node(self.op, names, made, domain=self.domain, **attributes)]
        given = [(i, feed) for i, feed in enumerate(wide) if feed is not None]
        inputs = [value_info(f"x{i}", feed, self.unknown) for i, feed in given if i not in self.constants]
        constants = [tensor(f"x{i}", feed) for i, feed in given if i in self.constants]
        outputs = [helper.make_empty_tensor_value_info(f"y{i}") for i in wanted]
        graph = helper.make_graph(nodes, self.op, inputs, outputs, constants)
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


@functools.cache
def histories():
    made = {}
    for schema in sorted(onnx.defs.get_all_schemas_with_history(), key=lambda s: s.since_version):
        if not schema.deprecated:
            made.setdefault((schema.domain, schema.name), []).append(schema)
    return made


def history(op):
    """What onnx says of each version of an operator, the oldest first."""
    domain, _, name = op.rpartition(".")
    return histories()[domain, name]


class Draw:
    """Random choices for one case."""

    def __init__(self, op, seed):
        self.op = op
        self.random = np.random.default_rng([zlib.crc32(op.encode()), seed])
        self.schema = self.opset = None

    def version(self, oldest=7, newest=1 << 20):
        """One of the operator's versions in force from `oldest` on; its opset is drawn for the case."""
        all_of = history(self.op)
        ends = [s.since_version - 1 for s in all_of[1:]] + [1 << 20]
        self.schema = self.choice([s for s, end in zip(all_of, ends) if end >= oldest and s.since_version <= newest])
        self.opset = max(self.schema.since_version, oldest)
        return self.opset

    def types(self, of="T"):
        """The types of numpy that the drawn version takes."""
        allowed = next(t.allowed_type_strs for t in self.schema.type_constraints if t.type_param_str == of)
        return [np.dtype(TYPES[t]) for t in allowed if t in TYPES]

    def type(self, of="T", but=()):
        """Mostly float32, where that is one."""
        types = [t for t in self.types(of) if t not in but]
        return np.dtype(np.float32) if np.float32 in types and self.chance(0.4) else self.choice(types)

    def case(self, feeds, attributes=None, outputs=1, **more):
        """A case in the drawn opset; float16 is compared as exactly as it can be."""
        if any(f is not None and f.dtype == np.float16 for f in feeds):
            more["tolerance"] = max(4e-3, more.get("tolerance", 0))
        return Case(self.op, feeds, attributes, outputs, opsets={"": self.opset}, **more)

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
