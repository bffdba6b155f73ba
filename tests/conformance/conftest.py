"""What the conformance tests leave behind: a table of every case with its verdict."""

import os

import pytest

from onnx_cases import ROOT


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
