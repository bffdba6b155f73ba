"""How far a value may be from the expected one, and what is wrong with it when it is farther."""

import numpy as np

ROUNDED = {"float16": 2.0 ** -9, "bfloat16": 2.0 ** -6}   # two units: vectors rounded at every operator


def kind_of(array):
    """"f" floating, "s" text, "c" complex, "b" or "i" what is compared exactly."""
    if array.dtype.kind in "OUST":
        return "s"
    name = array.dtype.name
    if "float" in name:                       # ml_dtypes names its types so, their kind is V
        return "f"
    return "i" if "int" in name else array.dtype.kind


def bounds(expected, precision, rtol, atol, exactness=None):
    """(relative, absolute). In float, onnx's own; in double what the vectors' type can show,
    unless a table gives a case another figure."""
    name = expected.dtype.name
    rounded = ROUNDED.get(name, 0)
    if precision == "float32":
        return max(rtol, rounded, exactness or 0), atol
    if kind_of(expected) == "i":
        return 0, 0
    if rounded:
        return max(rtol, rounded), atol
    relative = exactness or (1e-12 if name in ("float64", "complex128") else 1e-5)
    finite = np.abs(expected[np.isfinite(expected)].astype(complex)) if expected.size else np.zeros(0)
    return relative, relative * 0.1 * finite.max(initial=0)


def fault_of_numbers(got, expected, precision, bound):
    kind = kind_of(expected)
    wide = {"f": np.float64, "c": np.complex128}.get(kind)
    if kind == "f":
        is_small = expected.dtype.name.startswith(("float8", "float4"))   # kept as they are
        real = expected.dtype if is_small else np.dtype(precision)
        if got.dtype != real:
            return f"elements of type {got.dtype}, expected {real}"
    elif kind == "i" and kind_of(got) != "i" or kind in "bc" and got.dtype.kind != kind:
        return f"elements of type {got.dtype}, expected {expected.dtype}"
    if wide is None and expected.dtype.itemsize <= 4:
        wide = np.int64
    a, b = (got.astype(wide), expected.astype(wide)) if wide else (got, expected)
    if np.allclose(a, b, *bound, equal_nan=kind in "fc"):
        return None
    return f"{largest_difference(a, b)} (allowed {bound[0]:.3g} relative, {bound[1]:.3g} absolute)"


def largest_difference(a, b):
    with np.errstate(all="ignore"):
        away = np.abs(np.subtract(a, b, dtype=complex if a.dtype.kind == "c" else float))
        away = np.where((a == b) | (a != a) & (b != b), 0, np.where(np.isnan(away), np.inf, away))
    at = np.unravel_index(np.argmax(away), away.shape)
    return f"{a[at]} at {list(map(int, at))}, expected {b[at]}"


def fault(got, expected, precision, rtol, atol, exactness=None):
    """None, or what is wrong."""
    if expected is None or got is None:
        return None if got is expected else f"{got}, expected {expected}"
    if isinstance(expected, dict):
        if not isinstance(got, dict) or set(got) != set(expected):
            return f"{got}, expected the map {expected}"
        got, expected = [got[key] for key in expected], list(expected.values())
    if isinstance(expected, (list, tuple)):
        if not isinstance(got, (list, tuple)) or len(got) != len(expected):
            return f"{type(got).__name__}, expected a list of {len(expected)}"
        faults = (fault(a, b, precision, rtol, atol, exactness) for a, b in zip(got, expected))
        return next((f"element {i}: {text}" for i, text in enumerate(faults) if text), None)
    got, expected = np.asarray(got), np.asarray(expected)
    if got.shape != expected.shape:
        return f"shape {list(got.shape)}, expected {list(expected.shape)}"
    if kind_of(expected) == "s":
        same = np.array_equal(got.astype(str), expected.astype(str))
        return None if same else f"{got.tolist()}, expected {expected.tolist()}"[:300]
    return fault_of_numbers(got, expected, precision, bounds(expected, precision, rtol, atol, exactness))
