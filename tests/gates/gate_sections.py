"""Nothing runs when the library is loaded and nothing in it can change: .init_array, .fini_array,
.data and .bss hold the C runtime's own entries only. Its code needs no relocation and its stack
is not executable."""
import re, sys
from tree import finish, tool

POINTER = 8
# What crtbeginS.o puts there: frame_dummy, __do_global_dtors_aux, __dso_handle, completed.
RUNTIME = {".init_array": POINTER, ".fini_array": POINTER, ".data": POINTER, ".bss": POINTER,
           ".tdata": 0, ".tbss": 0, ".ctors": 0, ".dtors": 0}


def faults(sections, segments):
    """sections: `readelf -SW`, segments: `readelf -ldW`."""
    found = []
    for name, size in re.findall(r"\]\s+(\.\S+)\s+\S+\s+[0-9a-f]+\s+[0-9a-f]+\s+([0-9a-f]+)", sections):
        if int(size, 16) > RUNTIME.get(name, sys.maxsize):
            found.append(f"{name} holds {int(size, 16)} bytes, the C runtime's own are {RUNTIME[name]}")
    stack = re.search(r"GNU_STACK.*", segments)
    if not stack or re.search(r"\bRWE\b|\bE\b", stack[0]):
        found.append("the stack is executable")
    if "TEXTREL" in segments:
        found.append("code that is relocated (TEXTREL)")
    for flags in re.findall(r"LOAD\s.*\s(R?W?\s?E)\s+0x", segments):
        if "W" in flags:
            found.append("a segment that is both writable and executable")
    return found


if __name__ == "__main__":
    finish("sections", faults(tool("readelf", "-SW", sys.argv[2]), tool("readelf", "-ldW", sys.argv[2])))
