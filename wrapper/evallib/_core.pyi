"""The extension's own names; the package's stub says what they are."""

from . import (
    ArgumentError as ArgumentError, CancelledError as CancelledError, Error as Error,
    FileError as FileError, FormatError as FormatError, InternalError as InternalError,
    LibraryError as LibraryError, LimitError as LimitError, ModelD as ModelD, ModelF as ModelF,
    NotFoundError as NotFoundError, OutOfMemoryError as OutOfMemoryError,
    PluginError as PluginError, ShapeError as ShapeError, StateError as StateError,
    TypeMismatchError as TypeMismatchError, UnsupportedError as UnsupportedError,
    __version__ as __version__, library_info as library_info,
)
