"""Python values as CNTK configuration text."""

import os

from . import _core


def _quoted(name: str, text: str) -> str:
    """The text in quotes that do not occur in it."""
    if "\n" in text or "\r" in text or "\0" in text:
        raise _core.ArgumentError(f"{name} holds a line break or a null character: {text!r}")
    for quote in ('"', "'"):
        if quote not in text:
            return quote + text + quote
    raise _core.ArgumentError(
        f"{name} holds both kinds of quotes, which configuration text cannot say: {text!r}"
    )


def _value(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (str, bytes, os.PathLike)):
        return _quoted(name, os.fsdecode(value))
    if isinstance(value, (list, tuple)):
        return ":".join(_value(name, item) for item in value)
    raise _core.TypeMismatchError(
        f"{name} must be a text, a path, a number, a bool, or a list of these, "
        f"not {type(value).__name__}"
    )


def configuration_text(settings: dict) -> str:
    """One ``key=value`` line for each setting; None, or a list of nothing, leaves a setting out."""
    lines = []
    for key, value in settings.items():
        if not key.isidentifier():
            raise _core.ArgumentError(f"not the name of a setting: {key!r}")
        if value is not None and value not in ([], ()):
            lines.append(f"{key}={_value(key, value)}")
    return "\n".join(lines)
