"""The linters' finding of a real fault reaches the answer."""
import json, pathlib, subprocess, sys, shutil
import pytest

LINT = pathlib.Path(__file__).resolve().parent / "lint.py"
BAD = "#include <stdlib.h>\nint f(void)\n{\n    int *p = malloc(4);\n    free(p);\n    return *p;\n}\n"


def lint(root, text):
    source = root / "evallib" / "bad.c"
    source.parent.mkdir(exist_ok=True)
    source.write_text(text)
    (root / "compile_commands.json").write_text(json.dumps(
        [{"directory": str(root), "file": str(source), "command": f"gcc -std=c11 -o bad.o -c {source}"}]))
    return subprocess.run([sys.executable, LINT, root, root], capture_output=True, text=True)


@pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")
def test_a_use_after_free_is_reported(tmp_path):
    answer = lint(tmp_path, BAD)
    assert answer.returncode == 1 and "gcc evallib/bad.c" in answer.stdout and "free" in answer.stdout


def test_a_harmless_file_passes(tmp_path):
    answer = lint(tmp_path, "int f(int x);\nint f(int x)\n{\n    return x + 1;\n}\n")
    assert answer.returncode == 0, answer.stdout
