"""What the conformance tests leave behind: a table of every case with its verdict."""

import os
import sys

import pytest

from onnx_cases import ROOT

sys.path.insert(0, str(ROOT / "tests" / "support"))
import image_decoder  # noqa: E402


@pytest.fixture(scope="session")
def images(tmp_path_factory):
    """The plug-in that decodes what the library does not; None: it cannot be built here."""
    return image_decoder.build(tmp_path_factory.mktemp("images"))


@pytest.fixture(scope="session")
def verdicts():
    """A list that takes (source, case, precision, verdict, why)."""
    found = []
    yield found
    results = os.path.join(os.environ.get("BUILD", ROOT / "build"), "results")
    os.makedirs(results, exist_ok=True)
    with open(os.path.join(results, "conformance.tsv"), "w", encoding="utf-8") as table:
        table.write("source\tcase\tprecision\tverdict\twhy\n")
        for row in sorted(found):
            table.write("\t".join(" ".join(str(cell).split()) for cell in row) + "\n")
