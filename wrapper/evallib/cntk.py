"""CNTK models in the shape of CNTK's own Python module, as far as evaluating goes.

    import evallib.cntk as C
    model = C.load_model("tagger.model")
    scores = model.eval({model.arguments[0]: [sentence, another]})
    hidden = model.find_by_name("h").eval({"words": [sentence]})

A variable with a sequence axis takes a list of arrays, one a sequence, each [steps, ...], or an array
of one more axis; one without takes an array [samples, ...]. Results are lists and arrays alike.
"""

import numbers
import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._model import Model
from ._types import NodeInfo

__all__ = ["CloneMethod", "Function", "Variable", "load_model"]


class CloneMethod:
    """How parameters are cloned: they never change here, so that all are shared."""

    share = "share"
    clone = "clone"
    freeze = "freeze"


class Variable:
    """What goes in or comes out: `name`, `uid`, `shape` of a sample, `dtype`."""

    def __init__(self, info: NodeInfo, model: Model):
        axes = tuple(info.shape or ())
        self.name = self.uid = info.name
        axis = axes[0] if axes and isinstance(axes[0], str) else ""
        self.is_sequence = bool(re.match(r"sequence(_\d+|:.*)?\Z", axis, re.S))
        self.has_frames = self.is_sequence or axis == "batch"
        self.shape: Tuple[Any, ...] = axes[1:] if self.has_frames else axes
        self.is_constant = info.op == "Constant"
        self.dtype = np.dtype(model.precision)

    def __repr__(self) -> str:
        axes = "[#, *]" if self.is_sequence else "[#]" if self.has_frames else "[]"
        return f"Variable('{self.name}', {axes}, {list(self.shape)})"


class Function:
    """A network, or a node of one."""

    def __init__(self, model: Model, names: Sequence[str]):
        self._model, self._names = model, list(names)

    def _variables(self, names: Sequence[str]) -> List[Variable]:
        known = {info.name: info for info in self._model.nodes}
        return [Variable(known[name], self._model) for name in names]

    @property
    def arguments(self) -> Tuple[Variable, ...]:
        """What the network takes."""
        return tuple(Variable(info, self._model) for info in self._model.inputs)

    @property
    def outputs(self) -> Tuple[Variable, ...]:
        return tuple(self._variables(self._names))

    @property
    def output(self) -> Variable:
        if len(self._names) != 1:
            raise _core.ArgumentError(f"there are {len(self._names)} outputs: {self._names}")
        return self.outputs[0]

    @property
    def name(self) -> str:
        return self._names[0] if len(self._names) == 1 else ""

    @property
    def uid(self) -> str:
        return self.name

    def find_by_name(self, name: str) -> Optional["Function"]:
        """The node of that name as a function; None when there is none."""
        found = self.find_all_with_name(name)
        return found[0] if found else None

    def find_all_with_name(self, name: str) -> List["Function"]:
        try:
            self._model._evaluator.GetNodeDimensions("specified", [name])
        except _core.NotFoundError:
            return []
        return [Function(self._model, [name])]

    def clone(self, method: str = CloneMethod.share) -> "Function":
        """A further function on the same weights, for another thread for example."""
        if method not in (CloneMethod.share, CloneMethod.clone, CloneMethod.freeze):
            raise _core.ArgumentError(f"method is share, clone or freeze, not {method!r}")
        return Function(self._model.clone(), self._names)

    def eval(self, arguments: Any = None, outputs: Optional[Sequence[Any]] = None,
             device: Any = None, as_numpy: bool = True) -> Any:
        """Evaluates; a dict of variables and values when there are several outputs."""
        names = [_name_of(o) for o in outputs] if outputs is not None else self._names
        feeds = self._given(arguments)
        wanted = self._variables_asked(names)
        n = _count(feeds)
        if not any(v.is_sequence for v in feeds):
            results = self._model.run({v.name: x for v, x in feeds.items()}, names)
            values = {v: results[v.name] for v in wanted}
        else:
            values = _joined(wanted, [self._sequence(feeds, i, names) for i in range(n)])
        return next(iter(values.values())) if len(values) == 1 else values

    def __call__(self, arguments: Any = None) -> Any:
        return self.eval(arguments)

    def _variables_asked(self, names: Sequence[str]) -> List[Variable]:
        known = {info.name: info for info in self._model.nodes}
        return [Variable(known[n], self._model) if n in known else _Alias(n, self._model)
                for n in names]

    def _sequence(self, feeds: Mapping[Variable, Any], i: int, names: Sequence[str]) -> Dict[str, Any]:
        one = {v.name: x[i] if v.is_sequence else x[i:i + 1] if v.has_frames else x
               for v, x in feeds.items()}
        return self._model.run(one, names)

    def _given(self, arguments: Any) -> Dict[Variable, Any]:
        known = self.arguments
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, Mapping):
            if len(known) != 1:
                raise _core.ArgumentError(f"a dict is wanted for the inputs {list(known)}")
            arguments = {known[0]: arguments}
        by_name = {v.name: v for v in known}
        feeds = {}
        for key, value in arguments.items():
            variable = known[key] if isinstance(key, numbers.Integral) else by_name.get(_name_of(key))
            if variable is None:
                raise _core.NotFoundError(f"no input {_name_of(key)!r}; there are {list(by_name)}")
            feeds[variable] = _as_samples(variable, value)
        return feeds

    def __repr__(self) -> str:
        return f"<evallib.cntk.Function {list(self.arguments)} -> {self._names}>"


class _Alias(Variable):
    """An output asked for by a further name of its node."""

    def __init__(self, name: str, model: Model):
        self.name = self.uid = name
        self.has_frames, self.is_sequence, self.shape = True, True, ()
        self.is_constant = False
        self.dtype = np.dtype(model.precision)


def _name_of(key: Union[str, Variable, Function]) -> str:
    return key if isinstance(key, str) else key.name


def _as_samples(variable: Variable, value: Any) -> Any:
    if variable.is_sequence:
        sequences = [np.asarray(s, variable.dtype) for s in value]
        return [s.reshape((-1, *variable.shape)) if -1 not in variable.shape and
                None not in variable.shape else s for s in sequences]
    x = np.asarray(value, variable.dtype)
    return x[None] if variable.has_frames and x.ndim == len(variable.shape) else x


def _count(feeds: Mapping[Variable, Any]) -> int:
    counts = {v.name: len(x) for v, x in feeds.items() if v.has_frames}
    if len(set(counts.values())) > 1:
        raise _core.ShapeError(f"inputs have different numbers of samples: {counts}")
    return next(iter(counts.values()), 1)


def _joined(wanted: Sequence[Variable], results: Sequence[Dict[str, Any]]) -> Dict[Variable, Any]:
    """Of a variable with a sequence axis a list, of others an array of all samples."""
    return {v: _all_of(v, [r[v.name] for r in results]) for v in wanted}


def _all_of(v: Variable, values: Sequence[Any]) -> Any:
    if v.is_sequence:
        return list(values)
    if v.has_frames and len({x.shape[1:] for x in values}) == 1:
        return np.concatenate(values)
    if len(values) > 1 and not v.is_constant:
        raise _core.ShapeError(f"{v.name!r} is no value of each sequence alone, or has another shape "
                               "for each: evaluate the sequences one by one")
    return values[0]


def load_model(path, device: Any = None, threads: int = 1) -> Function:
    """A CNTK model, of version 1 or 2, or an ONNX model; in double where the file declares that.

    device: as CNTK's; the processor is used.
    """
    model = Model(path, "float32", threads)
    if any(info.type == "float64" for info in model.inputs):
        model.close()
        model = Model(path, "float64", threads)
    return Function(model, [info.name for info in model.outputs])
