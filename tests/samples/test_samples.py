"""The Python samples print what they promise. check_samples.py looks at those in C."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def printed(*command):
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_program_of_the_readme_reads_the_seven():
    assert printed("samples/hello.py") == "The digit is 7\n"


@pytest.mark.parametrize("digit", range(10))
def test_the_articles_script_prints_ten_scores_the_image_and_its_digit(digit):
    first, *drawing, last = printed("samples/digits/article.py", f"samples/digits/images/{digit}.pgm").splitlines()
    assert re.fullmatch(r"\[-?\d+\.\d+(, -?\d+\.\d+){9}\]", first), first
    assert len(drawing) == 28 and all(len(line) == 56 for line in drawing)
    assert any("@" in line for line in drawing)
    assert last == f"The digit is {digit}"
