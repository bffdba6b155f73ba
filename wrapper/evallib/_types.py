"""Names for what the C interface numbers: statuses and element types."""

from enum import IntEnum
from typing import Callable, NamedTuple, Optional, Sequence, Tuple, Union


class Status(IntEnum):
    """What ``Error.status`` says."""

    OK = 0
    ARGUMENT = 1
    MEMORY = 2
    IO = 3
    FORMAT = 4
    UNSUPPORTED = 5
    NOT_FOUND = 6
    SHAPE = 7
    TYPE = 8
    STATE = 9
    LIMIT = 10
    CANCELLED = 11
    PLUGIN = 12
    INTERNAL = 13


class Step(NamedTuple):
    """What ``Model.profile`` tells of one step of a run."""

    name: str      # of the node
    op: str        # its operator, or that of the library's own which took its place
    domain: str
    method: str    # how it is computed: a plug-in's name where that does it; "" when there is one way
    depth: int     # 0: of the network itself; 1: of a body of If, Loop ... in it
    seconds: float


FLOAT32, FLOAT16, FLOAT64 = 1, 10, 11

_NAMES = {
    0: "unknown", FLOAT32: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32",
    7: "int64", 8: "str", 9: "bool", FLOAT16: "float16", FLOAT64: "float64", 12: "uint32",
    13: "uint64", 14: "complex64", 15: "complex128", 16: "bfloat16", 17: "float8e4m3fn",
    18: "float8e4m3fnuz", 19: "float8e5m2", 20: "float8e5m2fnuz", 21: "uint4", 22: "int4",
    23: "float4e2m1", 24: "float8e8m0", 25: "uint2", 26: "int2",
}

# Where ONNX spells a tensor's element in another way than numpy.
_ONNX_NAMES = {FLOAT32: "float", FLOAT64: "double", 8: "string"}


def number_of_dtype(dtype) -> int:
    """The number of a numpy type; objects are texts."""
    found = 8 if dtype.kind in "UOT" else {name: number for number, name in _NAMES.items()}.get(dtype.name)
    if found is None:
        raise TypeError(f"no element type is like numpy's {dtype.name}")
    return found


# What holds other values, as ONNX Runtime spells it.
_AROUND = {1001: "seq", 1002: "optional", 1003: "map"}


def _spelled(numbers: Sequence[int], plain: Callable[[int], str], leaf: str) -> str:
    """The types from the outside in as one name; a map's keys are named without ``leaf``."""
    number, inside = numbers[0], numbers[1:]
    if number not in _AROUND or not inside:
        return _AROUND.get(number) or leaf.format(plain(number))
    if number == 1003 and len(inside) > 1:
        return f"map({plain(inside[0])},{_spelled(inside[1:], plain, leaf)})"
    return f"{_AROUND[number]}({_spelled(inside, plain, leaf)})"


def _element_name(number: int) -> str:
    return _NAMES.get(number, f"type {number}")


def type_name(number: int, inside: Sequence[int] = ()) -> str:
    """The name of a type, numpy's where numpy has it: ``float32``, ``seq(int64)``."""
    return _spelled((number, *inside), _element_name, "{}")


def onnx_type_name(number: int, inside: Sequence[int] = ()) -> str:
    """The name of a type as ONNX Runtime spells it: ``tensor(float)``, ``seq(tensor(float))``."""
    return _spelled((number, *inside), lambda n: _ONNX_NAMES.get(n) or _element_name(n), "tensor({})")


Shape = Optional[Tuple[Union[int, str, None], ...]]


class NodeInfo(NamedTuple):
    """An input, output or node as the model declares it."""

    name: str
    shape: Shape  #: sizes, symbolic names, None where unknown; None when even the rank is
    type: str  #: "float32", "int64", "seq(float32)", ...
    op: str = ""  #: the operator; "" for an input, "Constant" for a parameter
    domain: str = ""  #: the operator's domain; "" is ONNX's own

    @classmethod
    def from_core(cls, described: tuple) -> "NodeInfo":
        name, op, domain, number, shape, inside = described
        return cls(name, shape, type_name(number, inside), op, domain)
