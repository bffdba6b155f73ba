"""Tables in the tree: tab-separated, a line of names first.

    python tests/conformance/tables.py build/results/conformance.tsv

writes expected_failures.tsv anew: what passes goes out, what fails comes in with the library's
own words; reasons that stand there stay. Look at the difference before it is committed: a new line is a step back.
"""

import csv
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
FAILURES = HERE / "expected_failures.tsv"
BOTH = "both"


def rows(path):
    with open(path, encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE))


def by_case(path):
    found = {}
    for row in rows(path):
        found.setdefault(row["case"], []).append(row)
    return found


def matching(table, case, precision):
    """The row that speaks of this case, or None."""
    for row in table.get(case.name, ()):
        if row["source"] in (BOTH, case.source) and row["precision"] in (BOTH, precision):
            return row
    return None


def reason_of(why):
    """A failure's text without what changes from run to run."""
    missing = re.findall(r"operator '?(\S+?)'? (?:of opset \d+ )?is not offered|: operator (\w+)", why)
    if missing:
        return "not offered: " + ", ".join(sorted({a or b for a, b in missing}))
    return re.sub(r"-?\d+\.\d+(e[+-]\d+)?", "N", why)[:120]


def merged(verdicts):
    """(case, source, precision) -> reason; cases that fail everywhere in one row."""
    failing, there = {}, {}
    for row in verdicts:
        key = row["source"], row["precision"]
        there.setdefault(row["case"], set()).add(key)
        if row["verdict"] in ("FAIL", "expected failure"):
            failing.setdefault(row["case"], {})[key] = reason_of(row["why"])
    for case, found in sorted(failing.items()):
        if set(found) == there[case]:
            yield BOTH, case, BOTH, next(iter(found.values()))
            continue
        for source in sorted({source for source, _ in found}):
            mine = {precision: why for (of, precision), why in found.items() if of == source}
            if len(mine) == 2:
                mine = {BOTH: next(iter(mine.values()))}
            yield from ((source, case, precision, why) for precision, why in sorted(mine.items()))


def main(results):
    known = {(row["source"], row["case"], row["precision"]): row["reason"] for row in rows(FAILURES)}
    lines = ["source\tcase\tprecision\treason"]
    for *key, reason in merged(rows(results)):
        lines.append("\t".join([*key, known.get(tuple(key), reason)]))
    FAILURES.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines) - 1} expected failures")


if __name__ == "__main__":
    main(sys.argv[1])
