"""Plug-ins are built here as anybody would build them: one line of cc, the header alone."""
import pathlib, shutil, subprocess, sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def compiled(source, target, *options, compiler="cc", language=("-std=c11",)):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    subprocess.run([compiler, *language, *WARNINGS, *options, "-O2", "-shared", "-fPIC", "-I",
                    str(ROOT / "include"), str(source), "-o", str(target), "-lm"], check=True)
    return target
