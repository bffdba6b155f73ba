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


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """built("swish"): a sample; built("odd", 3): tests/plugin/odd.c with ODD=3."""
    folder, made = tmp_path_factory.mktemp("plugins"), {}

    def build(name, odd=None, **how):
        key = (name, odd, how.get("compiler"))
        if key not in made:
            source = ROOT / ("tests/plugin" if odd is not None else "samples/plugin") / f"{name}.c"
            options = [] if odd is None else [f"-DODD={odd}"]
            made[key] = compiled(source, folder / f"{name}{len(made)}.so", *options, **how)
        return made[key]

    return build
