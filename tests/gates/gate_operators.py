"""evallib/OPERATORS.md is what the library says of its operators. `--write` as third argument writes it."""
import ctypes, pathlib, sys
from tree import finish

NAMES = {1: "float32", 11: "float64", 10: "float16", 16: "bfloat16", 17: "float8e4m3fn", 18: "float8e4m3fnuz", 19: "float8e5m2",
         20: "float8e5m2fnuz", 24: "float8e8m0", 23: "float4e2m1", 3: "int8", 5: "int16", 6: "int32", 7: "int64", 26: "int2",
         22: "int4", 2: "uint8", 4: "uint16", 12: "uint32", 13: "uint64", 25: "uint2", 21: "uint4", 9: "bool", 8: "string"}
GROUPS = [("float", (1, 11, 10, 16)), ("float8, float4", (17, 18, 19, 20, 24, 23)), ("int", (3, 5, 6, 7)), ("uint", (2, 4, 12, 13)),
          ("int2, int4, uint2, uint4", (26, 22, 25, 21)), ("bool", (9,)), ("string", (8,))]
HEADING = """# The operators

Made by `tests/gates/gate_operators.py` from what the library's own `EvalDescribe.Operators` says; do not edit. Each holds for every
opset of its domain up to the one named, with the semantics of its version. Types are those of the elements that choose the
implementation; F is an object that computes in float, D one in double. An empty cell: both take what stands under types.

"""


class Info(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("domain", ctypes.c_char_p), ("opset", ctypes.c_int32),
                ("types", ctypes.c_uint32), *((n, ctypes.c_uint32) for n in ("min_in", "max_in", "min_out", "max_out"))]


def operators(library, letter):
    """{(domain, name): (opset, types, inputs, outputs)}"""
    get = getattr(library, "GetEval" + letter)
    model = ctypes.c_void_p()
    get(ctypes.byref(model))
    slots = ctypes.cast(ctypes.cast(model, ctypes.POINTER(ctypes.c_void_p))[0], ctypes.POINTER(ctypes.c_void_p))
    destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(slots[2])
    interface = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_void_p)(slots[12])
    table, count = ctypes.POINTER(ctypes.c_void_p)(), ctypes.c_size_t()
    assert interface(model, b"describe", 2, ctypes.byref(table)) == 0
    ask = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(table[5])
    assert ask(model, None, ctypes.byref(count)) == 0
    infos = (Info * count.value)()
    infos[0].size = ctypes.sizeof(Info)
    assert ask(model, infos, ctypes.byref(count)) == 0
    destroy(model)
    return {(i.domain.decode(), i.name.decode()): (i.opset, i.types, (i.min_in, i.max_in), (i.min_out, i.max_out)) for i in infos}


def text_of(types):
    """Whole groups by their name."""
    words = []
    for name, members in GROUPS:
        there = [t for t in members if types >> t & 1]
        words += [name] if there == list(members) else [NAMES[t] for t in there]
    return ", ".join(words) or "values that are no tensors, and what its bodies take"


def number(bounds):
    low, high = bounds
    return f"{low}" if low == high else f"{low} or more" if high == 255 else f"{low} to {high}"


def table(single, double):
    text = HEADING
    for domain in sorted({domain for domain, _ in single}):
        rows = sorted((name, single[domain, name], double[domain, name]) for d, name in single if d == domain)
        opset = rows[0][1][0]
        text += f"## {domain or 'ai.onnx'}, opset 1 to {opset}: {len(rows)}\n\n" if opset > 1 else f"## {domain}, opset 1: {len(rows)}\n\n"
        text += "| operator | inputs | outputs | types | F and D |\n|---|---|---|---|---|\n"
        for name, (_, f, inputs, outputs), (_, d, _, _) in rows:
            differ = "" if f == d else f"F: {text_of(f)}; D: {text_of(d)}"
            text += f"| {name} | {number(inputs)} | {number(outputs)} | {text_of(f | d)} | {differ} |\n"
        text += "\n"
    return text.rstrip("\n") + "\n"


def faults(written, said):
    return [] if written == said else ["evallib/OPERATORS.md is not what the library says: write it by "
                                       "`python tests/gates/gate_operators.py ROOT LIBRARY --write`"]


if __name__ == "__main__":
    library = ctypes.CDLL(sys.argv[2])
    page = pathlib.Path(sys.argv[1]) / "evallib" / "OPERATORS.md"
    said = table(operators(library, "F"), operators(library, "D"))
    if "--write" in sys.argv:
        page.write_text(said)
    finish("operators", faults(page.read_text() if page.exists() else "", said))
