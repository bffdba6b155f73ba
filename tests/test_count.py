"""The closing line of run.sh adds up right, and says so when something broke."""
import pathlib, subprocess, sys
import pytest

COUNT = pathlib.Path(__file__).resolve().parent / "count.py"
CMOCKA = "[==========] Running 5 test(s).\n[  PASSED  ] 3 test(s).\n[  SKIPPED ] 1 test(s), listed below:\n" \
         "[  FAILED  ] 1 test(s), listed below:\n"


def closing_line(folder, cases="", scripts="", broken=""):
    (folder / "a.xml").write_text(f"<testsuite>{cases}</testsuite>")
    (folder / "scripts").write_text(scripts)
    (folder / "broken").write_text(broken)
    answer = subprocess.run([sys.executable, COUNT, folder], capture_output=True, text=True)
    return answer.stdout.strip(), answer.returncode


@pytest.mark.parametrize("cases, scripts, broken, line, status", [
    ("<testcase/>", "", "", "1 passed, 0 failed, 0 skipped", 0),
    ("<testcase/><testcase><failure/></testcase><testcase><skipped/></testcase>", "", "",
     "1 passed, 1 failed, 1 skipped", 1),
    (f"<testcase><failure/><system-out>{CMOCKA}</system-out></testcase>", "", "", "3 passed, 1 failed, 1 skipped", 1),
    ("<testcase><failure/><system-out>[  PASSED  ] 3 test(s).</system-out></testcase>", "", "",
     "3 passed, 1 failed, 0 skipped", 1),
    ("<testcase/>", "passed install\nfailed lint\n", "stage lint\n", "2 passed, 1 failed, 0 skipped", 1),
    ("<testcase/>", "", "stage clang\n", "1 passed, 1 failed, 0 skipped", 1),
    ("", "", "", "0 passed, 0 failed, 0 skipped", 1)])
def test_the_closing_line(tmp_path, cases, scripts, broken, line, status):
    assert closing_line(tmp_path, cases, scripts, broken) == (line, status)
