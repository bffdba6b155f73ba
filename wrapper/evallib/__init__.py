"""Trained networks (ONNX, CNTK) evaluated in float or in double.

    import evallib
    model = evallib.load("digits.onnx")
    scores = model(image)

load, Model          networks as Python objects
InferenceSession     the same in ONNX Runtime's spelling
ModelF, ModelD       CNTK's evaluation interface, as the C library has it
Error                the base of all exceptions; `status` tells which
op, load_plugin      operators of your own: in Python, or in a plug-in
library_info         version and build of the C library

The library's notes, about ignored settings for example, go to the logger "evallib".
"""

import logging as _logging

from ._core import (
    ArgumentError,
    CancelledError,
    Error,
    FileError,
    FormatError,
    InternalError,
    LibraryError,
    LimitError,
    ModelD,
    ModelF,
    NotFoundError,
    OutOfMemoryError,
    PluginError,
    ShapeError,
    StateError,
    TypeMismatchError,
    UnsupportedError,
    __version__,
    library_info,
)
from ._model import Model, load
from ._plugins import load_plugin, op
from ._session import InferenceSession, ModelMetadata, NodeArg, SessionOptions
from ._types import NodeInfo, Status, Step

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

# Silent until the program says where notes go.
_logging.getLogger("evallib").addHandler(_logging.NullHandler())
