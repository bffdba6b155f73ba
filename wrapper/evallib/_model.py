"""A loaded network."""

import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from . import _core
from ._plugins import add_plugins
from ._settings import configuration_text
from ._types import NodeInfo, Step

_CLASSES = {"float32": _core.ModelF, "float64": _core.ModelD}


def load(path, precision: str = "float32", threads: int = 1, **settings) -> "Model":
    """Loads a model of any supported format; the format is told by its content.

    path: of a file; or the model itself, as bytes, a memoryview or a file that is open for reading.
    precision: "float32" or "float64", what all floating-point arithmetic is done in.
    threads: how many threads one run may use.
    settings: further keys of CreateNetwork, for example outputNodeNames=["z"], blas="off",
    plugins=["./mine.so"]; an unknown one is an error, unless strict=False.
    """
    return Model(path, precision, threads, **settings)


def source_of(path):
    """The path as a text, or the model's own bytes, which stay as they are."""
    if isinstance(path, (str, os.PathLike)):
        return os.fsdecode(path)
    if hasattr(path, "read") and not isinstance(path, memoryview):
        path = path.read()
        if isinstance(path, str):
            raise _core.TypeMismatchError("the file must be open in binary mode")
    try:
        view = memoryview(path)
    except TypeError:
        raise _core.TypeMismatchError(
            f"path must be a path, bytes, or a file, not {type(path).__name__}") from None
    return path if view.readonly and view.c_contiguous else bytes(view)


def evaluator_of(source, precision: str, threads: int, settings: dict):
    """A ModelF or ModelD with the network of what source_of gave."""
    if precision not in _CLASSES:
        raise _core.ArgumentError(f'precision is "float32" or "float64", not {precision!r}')
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise _core.ArgumentError(f"threads must be a positive number, not {threads!r}")
    described = {"numCPUThreads": threads, "strict": True, **settings}
    evaluator = _CLASSES[precision]()
    add_plugins(evaluator)
    if isinstance(source, str):
        evaluator.CreateNetwork(configuration_text({"modelPath": source, **described}))
    else:
        evaluator.LoadMemory(source, configuration_text(described))
    return evaluator


class Model:
    """A network ready to evaluate. Made by :func:`load`; closed by ``close()`` or ``with``.

    May be called from any number of threads at once.
    """

    def __init__(self, path, precision: str = "float32", threads: int = 1, **settings):
        source = source_of(path)
        self._evaluator = evaluator_of(source, precision, threads, settings)
        self._made_of = (source, precision, threads, settings)
        self._describe()

    def _describe(self) -> None:
        self._inputs = [NodeInfo.from_core(d) for d in self._evaluator.Describe("inputs")]
        self._outputs = [NodeInfo.from_core(d) for d in self._evaluator.Describe("outputs")]

    @property
    def inputs(self) -> List[NodeInfo]:
        """What the network takes: name, shape, type."""
        return list(self._inputs)

    @property
    def outputs(self) -> List[NodeInfo]:
        """What the network gives: name, shape, type."""
        return list(self._outputs)

    @property
    def nodes(self) -> List[NodeInfo]:
        """Every node; any of them may be asked for by name, and any may be given."""
        return [NodeInfo.from_core(d) for d in self._evaluator.Describe("nodes")]

    @property
    def metadata(self) -> Dict[str, str]:
        """Facts that the file states about itself."""
        return self._evaluator.Metadata()

    @property
    def precision(self) -> str:
        """"float32" or "float64"."""
        return self._made_of[1]

    @property
    def closed(self) -> bool:
        return self._evaluator.closed

    def run(self, feeds: Mapping[str, Any], outputs: Union[str, Sequence[str], None] = None
            ) -> Dict[str, Any]:
        """Evaluates: a dict of arrays in, a dict of arrays out.

        outputs: names of nodes, one or a list; None for the model's own outputs.
        """
        return self._evaluator.Run(feeds, [outputs] if isinstance(outputs, str) else outputs)

    def profile(self, feeds: Mapping[str, Any], outputs: Union[str, Sequence[str], None] = None
                ) -> List[Step]:
        """Evaluates as ``run`` does, and tells of each step, in the order in which they end, how long
        it took. The first run of a shape makes the plan, which no step counts."""
        steps: List[tuple] = []
        self._evaluator.Run(feeds, [outputs] if isinstance(outputs, str) else outputs, steps=steps)
        return [Step(*step) for step in steps]

    def __call__(self, *args, **feeds):
        """``model(x)`` or ``model(a=x, b=y)``; an array when the model has one output, else a dict."""
        if len(args) > len(self._inputs):
            raise _core.ArgumentError(
                f"{len(args)} values given for {len(self._inputs)} inputs: {self._names()}")
        for info, value in zip(self._inputs, args):
            if info.name in feeds:
                raise _core.ArgumentError(f"input {info.name!r} is given twice")
            feeds[info.name] = value
        results = self._evaluator.Run(feeds)
        return next(iter(results.values())) if len(results) == 1 else results

    def _names(self) -> str:
        return ", ".join(info.name for info in self._inputs)

    def save(self, path) -> None:
        """Writes the network, of whatever format it was, as an ONNX file.

        Loaded with ``saveSimplified=True`` it has its constants computed, and nothing that does nothing.
        """
        self._evaluator.Save(os.fsdecode(path))

    def clone(self) -> "Model":
        """A further model on the same weights, closed separately."""
        copy = Model.__new__(Model)
        copy._evaluator = self._evaluator.Clone()
        copy._made_of, copy._inputs, copy._outputs = self._made_of, self._inputs, self._outputs
        return copy

    def memory_use(self) -> Dict[str, int]:
        """Bytes held by the model and its clones together."""
        return self._evaluator.MemoryUse()

    def close(self) -> None:
        """Frees the network; arrays that it gave stay. May be called again."""
        self._evaluator.Destroy()

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *unused) -> None:
        self.close()

    def __copy__(self) -> "Model":
        return self.clone()

    def __deepcopy__(self, memo: Optional[dict]) -> "Model":
        return self.clone()

    def __reduce__(self):
        """Pickled as the path, or the bytes, and the settings: the other side loads it again."""
        return _reload, (portable(self._made_of[0]), *self._made_of[1:])

    def __repr__(self) -> str:
        source, precision, _, _ = self._made_of
        name = repr(source) if isinstance(source, str) else f"of {len(memoryview(source))} bytes"
        if self.closed:
            return f"<evallib.Model {name}, closed>"
        return f"<evallib.Model {name}, {precision}, {_signature(self._inputs, self._outputs)}>"


def portable(source):
    """What source_of gave, as something that can be pickled."""
    return source if isinstance(source, (str, bytes)) else bytes(source)


def _signature(inputs: Sequence[NodeInfo], outputs: Sequence[NodeInfo]) -> str:
    """``x float32[1, 3], y int64[?] -> z float32[1]``"""
    def one(info: NodeInfo) -> str:
        if info.shape is None:
            return f"{info.name} {info.type}"
        axes = ", ".join("?" if axis is None else str(axis) for axis in info.shape)
        return f"{info.name} {info.type}[{axes}]"

    return f"{', '.join(map(one, inputs))} -> {', '.join(map(one, outputs))}"


def _reload(path, precision: str, threads: int, settings: dict) -> Model:
    return Model(path, precision, threads, **settings)
