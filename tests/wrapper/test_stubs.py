"""__init__.pyi says what the package has: names, bases, methods, parameters, defaults."""

import ast
import inspect
import pathlib
import shutil
import subprocess
import sys

import pytest

import evallib

STUB = ast.parse((pathlib.Path(evallib.__file__).parent / "__init__.pyi").read_text())
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}


def stubbed_methods(name):
    """The methods of a class in the stub, with those of its private bases."""
    node = CLASSES[name]
    methods = {}
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id.startswith("_"):
            methods.update(stubbed_methods(base.id))
    methods.update({f.name: f for f in node.body if isinstance(f, ast.FunctionDef)})
    return methods


def stubbed_parameters(function):
    a = function.args
    names = [p.arg for p in a.posonlyargs + a.args]
    names += [v.arg for v in (a.vararg, a.kwarg) if v]
    return names


def test_the_stub_has_every_public_name_and_no_other():
    names = {n.name for n in STUB.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
    public = {n for n in names if not n.startswith("_")}
    assert public | {"__version__"} == set(evallib.__all__)


@pytest.mark.parametrize("name", sorted(n for n in CLASSES if not n.startswith("_")))
def test_the_stub_has_every_method_with_its_parameters(name):
    cls, methods = getattr(evallib, name), stubbed_methods(name)
    own = [n for n in dir(cls) if not n.startswith("_")]
    if issubclass(cls, (tuple, int, BaseException)):
        own = [n for n in vars(cls) if not n.startswith("_") and callable(getattr(cls, n))]
    for method in own:
        value = inspect.getattr_static(cls, method)
        assert method in methods, f"{name}.{method} is missing in the stub"
        if callable(value) or isinstance(value, classmethod):
            found = list(inspect.signature(getattr(cls, method)).parameters)
            wanted = stubbed_parameters(methods[method])
            assert found == wanted[1 if isinstance(value, classmethod) else 0:], method
    for method in methods:
        assert hasattr(cls, method), f"{name}.{method} is only in the stub"


@pytest.mark.parametrize("name", [n for n in CLASSES if n.endswith("Error")])
def test_exceptions_have_the_bases_that_the_stub_says(name):
    bases = [base.id for base in CLASSES[name].bases]
    assert [b.__name__ for b in getattr(evallib, name).__bases__] == bases


def test_statuses_are_those_of_the_header(request):
    header = pathlib.Path(__file__).parents[2] / "include" / "evallib" / "eval.h"
    text = header.read_text()
    for status in evallib.Status:
        name = "EVAL_OK" if status == 0 else f"EVAL_ERR_{status.name}"
        assert f"{name} = {int(status)}" in text


def test_the_stub_stands_before_mypy(tmp_path):
    stubtest = shutil.which("stubtest", path=str(pathlib.Path(sys.executable).parent))
    if not stubtest:
        pytest.skip("mypy's stubtest is not installed")
    (tmp_path / "allowed").write_text("evallib.libevallib\n") # no module, but named like one
    done = subprocess.run([stubtest, "evallib", "--allowlist", "allowed"], cwd=tmp_path,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
