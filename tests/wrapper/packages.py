"""Copies of the installed package, libraries to put beside them, interpreters to run them."""

import os
import pathlib
import shutil
import subprocess
import sys

import evallib

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
SHARED = pathlib.Path(os.environ.get("EVL_TEST_SHARED", ROOT.parent / "shared"))
DATA = ROOT / "tests" / "data"
PACKAGE = pathlib.Path(evallib.__file__).parent


def build_library(path, *defines):
    """Compiles fake_evallib.c for both precisions into one shared library."""
    flags = ["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-fPIC", f"-I{ROOT / 'include'}", *defines]
    objects = []
    for is_double in (0, 1):
        objects.append(f"{path}.{is_double}.o")
        command = [os.environ.get("CC", "cc"), *flags, f"-DEVL_REAL_IS_DOUBLE={is_double}",
                   "-c", str(HERE / "fake_evallib.c"), "-o", objects[-1]]
        subprocess.run(command, check=True)
    subprocess.run([os.environ.get("CC", "cc"), "-shared", *objects, "-o", str(path)], check=True)
    return path


def copy_package(folder, name="evallib", library=None):
    """The installed package without its library, or with another one, in a folder."""
    ignore = shutil.ignore_patterns("libevallib*", "__pycache__")
    package = pathlib.Path(shutil.copytree(PACKAGE, folder / name, ignore=ignore))
    if library:
        shutil.copy(library, package / "libevallib.so")
    return package


def run_python(code, path, **environment):
    """Runs code in a fresh interpreter that imports from `path` first."""
    known = {k: v for k, v in os.environ.items() if k != "EVALLIB_LIBRARY"}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                          env={**known, "PYTHONPATH": str(path), **environment})
