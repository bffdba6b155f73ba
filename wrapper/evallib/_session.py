"""ONNX Runtime's spelling, so that existing code changes one import."""

import warnings
from typing import Any, List, Mapping, Optional, Sequence

from ._model import evaluator_of, portable, source_of
from ._types import FLOAT16, FLOAT32, FLOAT64, onnx_type_name

# Where the evaluator's own floating-point type would come out, these are asked for by name.
_ASKED = {FLOAT16, FLOAT32, FLOAT64}


class NodeArg:
    """An input or output: name, shape, type."""

    def __init__(self, name: str, shape: Optional[Sequence], type: str):
        self.name = name
        self.shape = list(shape) if shape is not None else None
        self.type = type

    def __repr__(self) -> str:
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape!r})"


class ModelMetadata:
    """What the file says about itself."""

    def __init__(self, facts: Mapping[str, str]):
        known = dict(facts)
        self.producer_name = known.pop("producer", "")
        self.graph_name = known.pop("graph", "")
        self.domain = known.pop("domain", "")
        self.description = known.pop("description", "")
        version = known.pop("version", "")
        self.version = int(version) if version.isdigit() else 0
        self.custom_metadata_map = known


class SessionOptions:
    """``intra_op_num_threads`` counts; whatever else is set is kept and has no effect."""

    def __init__(self) -> None:
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.execution_mode: Any = None
        self.graph_optimization_level: Any = None
        self.log_severity_level: Any = None
        self.enable_profiling = False

    def add_session_config_entry(self, key: str, value: str) -> None:
        pass


def _warn_of_graphics(providers: Optional[Sequence]) -> None:
    names = [p if isinstance(p, str) else p[0] for p in providers or ()]
    if names and "CPUExecutionProvider" not in names:
        warnings.warn(f"evallib runs on the processor; {', '.join(names)} not used", stacklevel=3)


class InferenceSession:
    """Loads a model from a path or from bytes; ``run`` gives a list in the declared types.

    It evaluates in double when a float64 tensor is declared anywhere in the graph, else in float.
    """

    def __init__(self, path_or_bytes, sess_options: Optional[SessionOptions] = None,
                 providers: Optional[Sequence] = None, provider_options: Optional[Sequence] = None,
                 **kwargs):
        _warn_of_graphics(providers)
        self._threads = max(1, getattr(sess_options, "intra_op_num_threads", 0))
        self._source = source_of(path_or_bytes)
        self._evaluator = evaluator_of(self._source, "float32", self._threads, {})
        described = self._describe_all()
        self._types = {name: number for name, _, _, number, _, _ in described}
        if any(FLOAT64 in (number, *inside) for _, _, _, number, _, inside in described):
            self._evaluator = evaluator_of(self._source, "float64", self._threads, {})
        self._inputs = self._evaluator.Describe("inputs")
        self._outputs = self._evaluator.Describe("outputs")

    def _describe_all(self) -> List[tuple]:
        groups = [self._evaluator.Describe(group) for group in ("nodes", "inputs", "outputs")]
        return [described for group in groups for described in group]

    def run(self, output_names: Optional[Sequence[str]], input_feed: Mapping[str, Any],
            run_options: Any = None) -> List[Any]:
        """The values of those outputs, in that order; None or [] for all."""
        names = list(output_names) if output_names else [output[0] for output in self._outputs]
        wanted = list(dict.fromkeys(names))
        declared = [self._types.get(name, 0) for name in wanted]
        types = [number if number in _ASKED else 0 for number in declared]
        results = self._evaluator.Run(input_feed, wanted, types)
        return [results[name] for name in names]

    def get_inputs(self) -> List[NodeArg]:
        return [_node_arg(described) for described in self._inputs]

    def get_outputs(self) -> List[NodeArg]:
        return [_node_arg(described) for described in self._outputs]

    def get_modelmeta(self) -> ModelMetadata:
        return ModelMetadata(self._evaluator.Metadata())

    def get_providers(self) -> List[str]:
        return ["CPUExecutionProvider"]

    def __reduce__(self):
        options = SessionOptions()
        options.intra_op_num_threads = self._threads
        return InferenceSession, (portable(self._source), options)


def _node_arg(described: tuple) -> NodeArg:
    name, _, _, number, shape, inside = described
    return NodeArg(name, shape, onnx_type_name(number, inside))
