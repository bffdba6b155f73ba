"""What the tests of the Python package share.

`fake` is the package with a library of the tests' own (fake_evallib.c) beside it, imported
under another name: the same extension twice in one process, each with its own library.
"""

import importlib
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

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


@pytest.fixture(scope="session")
def fake_library(tmp_path_factory):
    return build_library(tmp_path_factory.mktemp("fake") / "libfake.so")


@pytest.fixture(scope="session")
def fake(tmp_path_factory, fake_library):
    folder = tmp_path_factory.mktemp("packages")
    copy_package(folder, "evallib_fake", fake_library)
    sys.path.insert(0, str(folder))
    yield importlib.import_module("evallib_fake")
    sys.path.remove(str(folder))


@pytest.fixture
def evaluator(fake):
    """A ModelF of the fake library with its network."""
    made = fake.ModelF()
    made.CreateNetwork('modelPath="fake"')
    return made


@pytest.fixture(scope="session")
def shared():
    if not (SHARED / "cntk").is_dir():
        pytest.skip(f"the shared models are not in {SHARED}")
    return SHARED
