"""Where the library is looked for, and what is said when it cannot be had."""

import shutil

import pytest

from packages import build_library, copy_package, run_python

MAKE = "import evallib; evallib.ModelF(); evallib.ModelD(); print('made')"


def test_the_library_beside_the_extension_comes_first(tmp_path, fake_library):
    copy_package(tmp_path, library=fake_library)
    done = run_python(MAKE, tmp_path, EVALLIB_LIBRARY="/no/such/library.so")
    assert done.stdout == "made\n", done.stderr


def test_the_environment_comes_second(tmp_path, fake_library):
    copy_package(tmp_path)
    done = run_python(MAKE, tmp_path, EVALLIB_LIBRARY=str(fake_library))
    assert done.stdout == "made\n", done.stderr


def test_the_system_comes_last(tmp_path, fake_library):
    copy_package(tmp_path)
    (tmp_path / "lib").mkdir()
    shutil.copy(fake_library, tmp_path / "lib" / "libevallib.so")
    done = run_python(MAKE, tmp_path, LD_LIBRARY_PATH=str(tmp_path / "lib"))
    assert done.stdout == "made\n", done.stderr


@pytest.mark.parametrize("environment", [{"EVALLIB_LIBRARY": "/no/such/library.so"}, {}])
def test_a_missing_library_is_named(tmp_path, environment):
    copy_package(tmp_path)
    done = run_python(
        "import evallib\n"
        "try: evallib.ModelF()\n"
        "except evallib.LibraryError as e:\n"
        "    print(isinstance(e, RuntimeError), isinstance(e, ImportError), e)",
        tmp_path, LD_LIBRARY_PATH="", **environment)
    assert done.stdout.startswith("True True Cannot find library: "), done.stderr
    assert environment.get("EVALLIB_LIBRARY", "libevallib.so") in done.stdout


def test_a_broken_library_is_not_passed_over(tmp_path, fake_library):
    package = copy_package(tmp_path)
    (package / "libevallib.so").write_bytes(b"not a library")
    done = run_python(MAKE, tmp_path, EVALLIB_LIBRARY=str(fake_library))
    assert "LibraryError: Cannot find library: " in done.stderr
    assert "libevallib.so" in done.stderr


@pytest.mark.parametrize("define", ["-DFAKE_NO_MODEL", "-DFAKE_OLD", "-DFAKE_EMPTY", "-DNOTHING",
                                    "-DGetEvalF=Other"])
def test_a_library_that_gives_no_object_is_refused(tmp_path, define):
    library = build_library(tmp_path / "libfake.so", define)
    copy_package(tmp_path)
    done = run_python("import evallib; evallib.ModelF()", tmp_path, EVALLIB_LIBRARY=str(library))
    refused = "LibraryError: Cannot get IEvaluateModel." in done.stderr
    assert refused == (define != "-DNOTHING"), done.stderr


@pytest.mark.parametrize("define, left", [("-DNOTHING", 0), ("-DFAKE_OLD", 0), ("-DFAKE_EMPTY", 1)])
def test_an_object_of_an_old_library_is_destroyed(tmp_path, define, left):
    """One whose table has no Destroy cannot be."""
    library = build_library(tmp_path / "libfake.so", define)
    copy_package(tmp_path)
    done = run_python(
        "import ctypes, os, evallib\n"
        "for make in evallib.ModelF, evallib.ModelD:\n"
        "    try: make().Clone().Destroy()\n"
        "    except evallib.LibraryError: pass\n"
        "library = ctypes.CDLL(os.environ['EVALLIB_LIBRARY'])\n"
        "print(*[ctypes.c_int.in_dll(library, name).value for name in ('fake_aliveF', 'fake_aliveD')])",
        tmp_path, EVALLIB_LIBRARY=str(library))
    assert done.stdout.split() == [str(left)] * 2, done.stderr


def test_importing_needs_no_library(tmp_path):
    copy_package(tmp_path)
    done = run_python("import evallib; print(evallib.__version__)", tmp_path)
    assert done.returncode == 0, done.stderr


def test_two_imports_share_nothing(fake):
    import evallib
    assert fake.ModelF is not evallib.ModelF
    assert fake.Error is not evallib.Error


def test_the_library_says_what_it_is():
    import evallib
    info = evallib.library_info()
    assert list(info) == ["version", "abi", "build", "kernels"]
    assert info["version"] == evallib.__version__ and isinstance(info["abi"], int)
    assert info["kernels"] in ("base", "avx2", "avx512") and info["build"]


def test_a_library_without_that_function_is_refused(fake):
    with pytest.raises(fake.LibraryError, match="no function EvalLibraryInfo"):
        fake.library_info()
