"""What the tests of the Python package share.

`fake` is the package with a library of the tests' own (fake_evallib.c) beside it, imported
under another name: the same extension twice in one process, each with its own library.
"""

import importlib
import sys

import pytest

from packages import SHARED, build_library, copy_package


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
