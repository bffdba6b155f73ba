"""How the code reads, as far as a program can tell: macros, lengths, include rings."""
import graphlib, json, re, sys
from tree import files, finish, tool, without_comments

FILE_LINES = 600
FUNCTION_LINES = 100                  # none is longer
TYPICAL_LINES, TYPICAL_SHARE = 40, 0.9

# Macros with parameters build names and nothing else; PRINTF marks a parameter for the compiler.
MACROS = {"TWIN", "PUBLIC", "ELEM", "SET", "SET_PASTE", "SET_EXPAND", "EVL_NAME", "EVL_PRINTF"}
# Who may choose between platforms and types.
MAY_CHOOSE = re.compile(r"evallib/(os/|real\.h|elem\.h|kernels/(sets_real\.c|(vector|pairs)\.h)|base/context\.h)|^include/")


def macro_faults(name, text):
    code = without_comments(text)
    found = [f"{name}: macro {macro}() is not one of the name builders"
             for macro in re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(", code, re.M) if macro not in MACROS]
    pasting = re.sub(r"^[ \t]*#[ \t]*define[^\n]*", "", code, flags=re.M)
    if "##" in pasting:
        found.append(f"{name}: ## outside of a name builder")
    guard = re.match(r"\s*#ifndef\s+(\w+)\s+#define\s+\1\b", code)
    body = code[guard.end():] if guard else code
    if not MAY_CHOOSE.search(name) and re.search(r"^[ \t]*#[ \t]*if", body, re.M):
        found.append(f"{name}: #if belongs in os/, real.h and elem.h")
    return found


def length_faults(lengths):
    """lengths: {file and function: lines}."""
    found = [f"{name}: {n} lines, at most {FUNCTION_LINES}" for name, n in lengths.items() if n > FUNCTION_LINES]
    typical = sum(n <= TYPICAL_LINES for n in lengths.values())
    if typical < TYPICAL_SHARE * len(lengths):
        found.append(f"{typical} of {len(lengths)} functions have at most {TYPICAL_LINES} lines, "
                     f"{TYPICAL_SHARE:.0%} should")
    return found


def function_lengths(root, paths):
    if not paths:
        return {}
    tags = tool("ctags", "--languages=C", "--langmap=C:.c.h", "--kinds-C=f", "--fields=+ne",
                "--output-format=json", "-f", "-", *map(str, paths))
    found = [json.loads(line) for line in tags.splitlines()]
    return {f"{tag['path'].removeprefix(str(root) + '/')}: {tag['name']}": tag["end"] - tag["line"] + 1
            for tag in found if "end" in tag}


def ring(edges):
    """A ring of files that include each other, or nothing. edges: {file: files it includes}."""
    try:
        graphlib.TopologicalSorter(edges).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def include_edges(texts):
    """texts: {path from evallib/ : text}. An include is found beside its file or from evallib/."""
    edges = {}
    for name, text in texts.items():
        folder = name.rpartition("/")[0]
        asked = re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.M)
        places = [(f"{folder}/{a}" if folder else a, a) for a in asked]
        edges[name] = [next(p for p in pair if p in texts) for pair in places if any(p in texts for p in pair)]
    return edges


def main(root):
    core = [p for p in files(root, ".c", ".h", ".inc")
            if p.relative_to(root).parts[0] in ("evallib", "include")]
    faults = []
    for path in files(root, ".c", ".h", ".inc", ".py", ".sh"):
        n = path.read_text().count("\n")
        if n > FILE_LINES:
            faults.append(f"{path.relative_to(root)}: {n} lines, at most {FILE_LINES}")
    texts = {}
    for path in core:
        name = path.relative_to(root).as_posix()
        faults += macro_faults(name, path.read_text())
        texts[name.removeprefix("evallib/")] = path.read_text()
    around = ring(include_edges(texts))
    if around:
        faults.append("files include each other: " + " -> ".join(around))
    finish("style", faults + length_faults(function_lengths(root, core)))


if __name__ == "__main__":
    main(sys.argv[1])
