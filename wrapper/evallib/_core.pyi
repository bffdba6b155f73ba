"""The extension's own names; the package's stub says what they are."""

from typing import Any

from . import (
    ArgumentError as ArgumentError, CancelledError as CancelledError, Error as Error,
    FileError as FileError, FormatError as FormatError, InternalError as InternalError,
    LibraryError as LibraryError, LimitError as LimitError, ModelD as ModelD, ModelF as ModelF,
    NotFoundError as NotFoundError, OutOfMemoryError as OutOfMemoryError,
    PluginError as PluginError, ShapeError as ShapeError, StateError as StateError,
    TypeMismatchError as TypeMismatchError, UnsupportedError as UnsupportedError,
    __version__ as __version__, library_info as library_info,
)

def operator(
    domain: str, name: str, target: Any, min_inputs: int, max_inputs: int, min_outputs: int,
    max_outputs: int, /
) -> Any: ...
