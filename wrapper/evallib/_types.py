"""Names for what the C interface numbers: statuses and element types."""

from enum import IntEnum
from typing import NamedTuple, Optional, Tuple, Union


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


FLOAT32, FLOAT16, FLOAT64 = 1, 10, 11

_NAMES = {
    0: "unknown", FLOAT32: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32",
    7: "int64", 8: "str", 9: "bool", FLOAT16: "float16", FLOAT64: "float64", 12: "uint32",
    13: "uint64", 14: "complex64", 15: "complex128", 16: "bfloat16", 17: "float8e4m3fn",
    18: "float8e4m3fnuz", 19: "float8e5m2", 20: "float8e5m2fnuz", 21: "uint4", 22: "int4",
    23: "float4e2m1", 24: "float8e8m0", 25: "uint2", 26: "int2", 1001: "sequence",
    1002: "optional", 1003: "map",
}

# Where ONNX spells a tensor's element in another way than numpy.
_ONNX_NAMES = {FLOAT32: "float", FLOAT64: "double", 8: "string"}


def type_name(number: int) -> str:
    """The name of an element type, numpy's where numpy has it."""
    return _NAMES.get(number, f"type {number}")


def onnx_type_name(number: int) -> str:
    """The name of an element type as ONNX Runtime spells it: ``tensor(float)``."""
    element = _ONNX_NAMES.get(number) or type_name(number)
    return f"seq({element})" if number > 1000 else f"tensor({element})"


Shape = Optional[Tuple[Union[int, str, None], ...]]


class NodeInfo(NamedTuple):
    """An input, output or node as the model declares it."""

    name: str
    shape: Shape  #: sizes, symbolic names, None where unknown; None when even the rank is
    type: str  #: "float32", "int64", ...
    op: str = ""  #: the operator; "" for an input, "Constant" for a parameter
    domain: str = ""  #: the operator's domain; "" is ONNX's own

    @classmethod
    def from_core(cls, described: tuple) -> "NodeInfo":
        name, op, domain, number, shape = described
        return cls(name, shape, type_name(number), op, domain)
