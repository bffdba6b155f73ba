"""Adds up what the stages left behind: JUnit files of CTest and pytest, and the scripts' lines.

A CMocka program counts as many tests as it ran, any other CTest entry as one."""
import pathlib, re, sys
import xml.etree.ElementTree as tree

KINDS = ("PASSED", "FAILED", "SKIPPED")


def of_case(case):
    """[passed, failed, skipped] of one <testcase>."""
    output = case.findtext("system-out") or ""
    cmocka = [sum(map(int, re.findall(r"\[\s*%s\s*\] (\d+) test\(s\)" % kind, output))) for kind in KINDS]
    failed = case.find("failure") is not None or case.find("error") is not None
    if sum(cmocka):
        cmocka[1] += failed and not cmocka[1]   # it crashed after its last test
        return cmocka
    skipped = not failed and case.find("skipped") is not None
    return [int(not failed and not skipped), int(failed), int(skipped)]


def count(folder):
    total = [0, 0, 0]
    for path in sorted(folder.glob("*.xml")):
        for case in tree.parse(path).iter("testcase"):
            total = [a + b for a, b in zip(total, of_case(case))]
    lines = (folder / "scripts").read_text().splitlines()
    total[0] += sum(line.startswith("passed") for line in lines)
    total[1] += sum(line.startswith("failed") for line in lines)
    broken = len((folder / "broken").read_text().splitlines())
    total[1] = max(total[1], broken)   # a stage may fail without one of its tests
    return total


def main():
    passed, failed, skipped = count(pathlib.Path(sys.argv[1]))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed > 0 or passed == 0


if __name__ == "__main__":
    sys.exit(main())
