"""Types of the package's public names."""

import mmap
import os
from enum import IntEnum
from typing import (
    Any, BinaryIO, Callable, Dict, List, Literal, Mapping, NamedTuple, Optional, Sequence, Tuple, TypedDict, TypeVar, Union,
    final,
)

import numpy as np
import numpy.typing as npt

__version__: str
__all__ = [
    "ArgumentError",
    "CancelledError",
    "Error",
    "FileError",
    "FormatError",
    "InferenceSession",
    "InternalError",
    "LibraryError",
    "LimitError",
    "Model",
    "ModelD",
    "ModelF",
    "ModelMetadata",
    "NodeArg",
    "NodeInfo",
    "NotFoundError",
    "OutOfMemoryError",
    "PluginError",
    "SessionOptions",
    "ShapeError",
    "StateError",
    "Status",
    "Step",
    "TypeMismatchError",
    "UnsupportedError",
    "__version__",
    "library_info",
    "load",
    "load_plugin",
    "op",
]

_Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
_Bytes = Union[bytes, bytearray, memoryview, mmap.mmap]
_Source = Union[str, "os.PathLike[str]", "os.PathLike[bytes]", _Bytes, BinaryIO]
_Shape = Optional[Tuple[Union[int, str, None], ...]]
_Described = Tuple[str, str, str, int, _Shape, Tuple[int, ...]]

class Error(RuntimeError):
    status: int

class ArgumentError(Error, ValueError): ...
class OutOfMemoryError(Error, MemoryError): ...
class FileError(Error, OSError): ...
class FormatError(Error, ValueError): ...
class UnsupportedError(Error, NotImplementedError): ...
class NotFoundError(Error, LookupError): ...
class ShapeError(Error, ValueError): ...
class TypeMismatchError(Error, TypeError): ...
class StateError(Error): ...
class LimitError(Error): ...
class CancelledError(Error): ...
class PluginError(Error): ...
class InternalError(Error): ...
class LibraryError(Error, ImportError): ...

class Status(IntEnum):
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

class NodeInfo(NamedTuple):
    name: str
    shape: _Shape
    type: str
    op: str = ...
    domain: str = ...
    @classmethod
    def from_core(cls, described: _Described) -> NodeInfo: ...

class Step(NamedTuple):
    name: str
    op: str
    domain: str
    method: str
    depth: int
    seconds: float

class _Evaluator:
    def Init(self, config: str) -> None: ...
    def CreateNetwork(self, description: str) -> None: ...
    def LoadMemory(self, data: _Bytes, description: str) -> None: ...
    def GetNodeDimensions(
        self, group: Literal["input", "output", "specified"], names: Optional[Sequence[str]] = None
    ) -> Dict[str, int]: ...
    def StartEvaluateMinibatchLoop(self, name: str) -> None: ...
    def ResetState(self) -> None: ...
    def Destroy(self) -> None: ...
    def Run(
        self,
        feeds: Mapping[str, Any],
        outputs: Optional[Sequence[str]] = None,
        types: Optional[Sequence[int]] = None,
        steps: Optional[List[Any]] = None,
    ) -> Dict[str, Any]: ...
    def Save(self, path: str) -> None: ...
    def LoadPlugin(self, path: str) -> None: ...
    def AddOperator(self, operator: Any, /) -> None: ...
    def Describe(self, group: Literal["inputs", "outputs", "nodes"]) -> List[_Described]: ...
    def Metadata(self) -> Dict[str, str]: ...
    def MemoryUse(self) -> Dict[str, int]: ...
    @property
    def closed(self) -> bool: ...

@final
class ModelF(_Evaluator):
    def Evaluate(
        self, inputs: Mapping[str, npt.ArrayLike], outputs: Sequence[str]
    ) -> Dict[str, npt.NDArray[np.float32]]: ...
    def EvaluateOutputs(self, outputs: Sequence[str]) -> Dict[str, npt.NDArray[np.float32]]: ...
    def Clone(self) -> ModelF: ...

@final
class ModelD(_Evaluator):
    def Evaluate(
        self, inputs: Mapping[str, npt.ArrayLike], outputs: Sequence[str]
    ) -> Dict[str, npt.NDArray[np.float64]]: ...
    def EvaluateOutputs(self, outputs: Sequence[str]) -> Dict[str, npt.NDArray[np.float64]]: ...
    def Clone(self) -> ModelD: ...

class Model:
    def __init__(
        self,
        path: _Source,
        precision: Literal["float32", "float64"] = "float32",
        threads: int = 1,
        **settings: Any,
    ) -> None: ...
    @property
    def inputs(self) -> List[NodeInfo]: ...
    @property
    def outputs(self) -> List[NodeInfo]: ...
    @property
    def nodes(self) -> List[NodeInfo]: ...
    @property
    def metadata(self) -> Dict[str, str]: ...
    @property
    def precision(self) -> Literal["float32", "float64"]: ...
    @property
    def closed(self) -> bool: ...
    def run(
        self, feeds: Mapping[str, Any], outputs: Union[str, Sequence[str], None] = None
    ) -> Dict[str, Any]: ...
    def profile(
        self, feeds: Mapping[str, Any], outputs: Union[str, Sequence[str], None] = None
    ) -> List[Step]: ...
    def __call__(self, *args: Any, **feeds: Any) -> Any: ...
    def save(self, path: _Path) -> None: ...
    def clone(self) -> Model: ...
    def memory_use(self) -> Dict[str, int]: ...
    def close(self) -> None: ...
    def __enter__(self) -> Model: ...
    def __exit__(self, *unused: object) -> None: ...
    def __copy__(self) -> Model: ...
    def __deepcopy__(self, memo: Optional[Dict[int, Any]]) -> Model: ...

def load(
    path: _Source,
    precision: Literal["float32", "float64"] = "float32",
    threads: int = 1,
    **settings: Any,
) -> Model: ...

_Function = TypeVar("_Function", bound=Callable[..., Any])

def op(
    domain: str,
    name: str,
    *,
    shape: Optional[Callable[..., Any]] = None,
    inputs: Union[int, Tuple[int, int], None] = None,
    outputs: int = 1,
    types: Optional[Sequence[npt.DTypeLike]] = None,
) -> Callable[[_Function], _Function]: ...
def load_plugin(path: _Path) -> None: ...

class _LibraryInfo(TypedDict):
    version: str
    abi: int
    build: str
    kernels: str

def library_info() -> _LibraryInfo: ...

class NodeArg:
    name: str
    shape: Optional[List[Union[int, str, None]]]
    type: str
    def __init__(
        self, name: str, shape: Optional[Sequence[Union[int, str, None]]], type: str
    ) -> None: ...

class ModelMetadata:
    producer_name: str
    graph_name: str
    domain: str
    description: str
    version: int
    custom_metadata_map: Dict[str, str]
    def __init__(self, facts: Mapping[str, str]) -> None: ...

class SessionOptions:
    intra_op_num_threads: int
    inter_op_num_threads: int
    execution_mode: Any
    graph_optimization_level: Any
    log_severity_level: Any
    enable_profiling: bool
    def __init__(self) -> None: ...
    def add_session_config_entry(self, key: str, value: str) -> None: ...

class InferenceSession:
    def __init__(
        self,
        path_or_bytes: _Source,
        sess_options: Optional[SessionOptions] = None,
        providers: Optional[Sequence[Any]] = None,
        provider_options: Optional[Sequence[Any]] = None,
        **kwargs: Any,
    ) -> None: ...
    def run(
        self,
        output_names: Optional[Sequence[str]],
        input_feed: Mapping[str, Any],
        run_options: Any = None,
    ) -> List[Any]: ...
    def get_inputs(self) -> List[NodeArg]: ...
    def get_outputs(self) -> List[NodeArg]: ...
    def get_modelmeta(self) -> ModelMetadata: ...
    def get_providers(self) -> List[str]: ...
