"""Operators of one's own: written in Python, or in plug-ins."""

import os
import threading
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._types import number_of_dtype

_plugins: List[str] = []
_operators: Dict[Tuple[str, str], Any] = {}
_ANY = 0x7FFFFFFF


def load_plugin(path) -> None:
    """Loads a plug-in (samples/plugin) for every model that is loaded from now on.

    For one model alone there is ``load(..., plugins=[path])``.
    """
    text = os.fsdecode(path)
    if os.sep in text or os.path.exists(text):
        text = os.path.abspath(text)
    _core.ModelF().LoadPlugin(text)   # a bad one is told here
    if text not in _plugins:
        _plugins.append(text)


def add_plugins(evaluator) -> None:
    """What load_plugin and op have gathered, for an evaluator without a network."""
    for path in _plugins:
        evaluator.LoadPlugin(path)
    for operator in _operators.values():
        evaluator.AddOperator(operator)


def op(domain: str, name: str, *, shape: Optional[Callable] = None,
       inputs: Union[int, Tuple[int, int], None] = None, outputs: int = 1,
       types: Optional[Sequence] = None) -> Callable[[Callable], Callable]:
    """Makes a function the operator `name` of a domain, in every model that is loaded afterwards.

        @evallib.op("my.domain", "Scale")
        def scale(x, factor=1.0):
            return x * factor

    The function takes the node's inputs as numpy arrays (None: left out) and its attributes by
    keyword, and gives an array, or one for each output. Floating-point values come and go in the
    type that the model computes in. What it raises comes back from `run` as it is.

    shape: a rule that takes the inputs' shapes (tuples; None for a size that is not known, for the
    whole, or for an input that is left out) and the attributes, and gives the output's shape, or a
    list of them. Without one, shapes are known in the run only.
    inputs: how many there may be, a number or (least, most); None: any.
    outputs: how many there are.
    types: element types of the outputs; None: that of the first input.
    An operator of the domain "" takes the place of the standard's.
    """
    def register(function: Callable) -> Callable:
        least, most = (inputs, inputs) if isinstance(inputs, int) else inputs or (0, _ANY)
        numbers = None if types is None else [number_of_dtype(np.dtype(t)) for t in types]
        if numbers is not None and len(numbers) != outputs:
            raise ValueError(f"types names {len(numbers)} types for {outputs} outputs")
        target = _Operator(function, shape, numbers)
        _operators[domain, name] = _core.operator(domain, name, target, least, most, outputs, outputs)
        return function

    return register


class _Operator:
    """What the extension calls: infer for types and shapes, run for values."""

    def __init__(self, function: Callable, rule: Optional[Callable], types: Optional[List[int]]):
        self._function, self._rule, self._types = function, rule, types
        self._made = threading.local()   # by infer, which had to run: what run gives next

    def infer(self, node: str, inputs: List[Tuple], arrays: Optional[List], attributes: Dict[str, Any],
              n: int) -> List[Tuple]:
        shapes = self._shapes(node, inputs, arrays, attributes, n)
        types = self._types or [inputs[0][1] if inputs else number_of_dtype(np.dtype("f4"))] * n
        return list(zip(shapes, types))

    def _shapes(self, node, inputs, arrays, attributes, n):
        self._made.last = None
        if self._rule:
            given = self._rule(*[shape for shape, _ in inputs], **attributes)
            return list(given) if isinstance(given, list) and n > 1 else [given] * n
        if arrays is None:
            return [None] * n
        results = self._call(arrays, attributes, n)
        self._made.last = node, arrays, results
        return [result.shape for result in results]

    def run(self, node: str, arrays: List, attributes: Dict[str, Any], n: int) -> List:
        last, self._made.last = getattr(self._made, "last", None), None
        if last and last[0] == node and _are_same(last[1], arrays):
            return last[2]
        return self._call(arrays, attributes, n)

    def _call(self, arrays, attributes, n):
        given = self._function(*arrays, **attributes)
        results = list(given) if n > 1 or isinstance(given, (list, tuple)) else [given]
        if len(results) != n:
            raise ValueError(f"{n} outputs are wanted, and the function gives {len(results)}")
        return [np.asarray(result) for result in results]


def _are_same(a: List, b: List) -> bool:
    """Bit for bit."""
    return len(a) == len(b) and all(
        x is y or (x is not None and y is not None and x.dtype == y.dtype and x.shape == y.shape
                   and x.tobytes() == y.tobytes()) for x, y in zip(a, b))
