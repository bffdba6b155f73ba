"""The shared library, stripped, is at most 2 MB."""
import os, sys, tempfile
from tree import finish, tool

LIMIT = 2 << 20


def faults(size):
    return [f"{size} bytes stripped, at most {LIMIT} are allowed"] if size > LIMIT else []


def stripped_size(library):
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "stripped.so")
        tool("strip", "-o", copy, library)
        return os.path.getsize(copy)


if __name__ == "__main__":
    finish("size", faults(stripped_size(sys.argv[2])))
