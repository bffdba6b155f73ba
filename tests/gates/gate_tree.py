"""The tree is ours and fit to be given away: the licence is there, nobody else's is, no file names
a place of somebody's machine, and nothing is left to be done."""
import pathlib, re, sys
from tree import files, finish

TEXT = (".c", ".h", ".inc", ".in", ".py", ".sh", ".md", ".toml", ".txt", ".json", ".cmake", "run",
        ".clang-tidy", ".clang-format", ".pgm")
NEEDED = ("LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md")
WORDS = {
    "a note of unfinished work": r"\b(TODO|FIXME|XXX|HACK)\b(?!.{0,3}#\d)",
    "another's copyright": r"(?i)copyright\s+(\(c\)|©|\d{4})|SPDX-License-Identifier|\ball rights reserved\b",
    "a place of one machine": r"/(home|work|Users|root)/\w|[A-Z]:\\Users\\",
    "a package registry's address": r"(?i)registry\.npmjs|pypi\.org|pythonhosted|proxy\.golang|deb\.debian",
}
# These say what they look for, or quote what users write.
EXEMPT = {"tests/gates/gate_tree.py", "tests/gates/test_gates.py"}


def text_faults(name, text):
    return [f"{name}:{number}: {why}: {line.strip()[:80]}"
            for number, line in enumerate(text.splitlines(), 1)
            for why, words in WORDS.items() if re.search(words, line)]


def main(root):
    root = pathlib.Path(root)
    faults = [f"{name} is missing" for name in NEEDED if not (root / name).is_file()]
    licence = (root / "LICENSE").read_text() if (root / "LICENSE").is_file() else ""
    if not re.search("MIT License.*the evallib authors.*WITHOUT WARRANTY OF ANY KIND", licence, re.S):
        faults.append("LICENSE is not MIT's text")
    for path in files(root, *TEXT):
        name = path.relative_to(root).as_posix()
        if name not in EXEMPT:
            faults += text_faults(name, path.read_text(errors="replace"))
    finish("tree", faults)


if __name__ == "__main__":
    main(sys.argv[1])
