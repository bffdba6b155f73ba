"""Runs the C samples and looks at what they print.

    check_samples.py SOURCE_ROOT FOLDER_OF_PROGRAMS LIBRARY"""
import pathlib, re, subprocess, sys

root, programs, library = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
DIGITS = root / "samples" / "digits"
faults = []


def printed(*command):
    answer = subprocess.run([str(c) for c in command], cwd=root, capture_output=True, text=True)
    if answer.returncode != 0:
        faults.append(f"{pathlib.Path(command[0]).name}: status {answer.returncode}: {answer.stderr.strip()}")
    return answer.stdout


def check_digit(text, digit, how):
    scores = re.findall(r"^  \d: +(-?\d+\.\d{5})$", text, re.M)
    if len(scores) != 10 or f"The digit is {digit}\n" not in text or text.count("\n") < 28 + 11:
        faults.append(f"{how}: no {digit} in\n{text}")


def check_digits():
    for digit in range(10):
        image = DIGITS / "images" / f"{digit}.pgm"
        for model in ("digits.dnn", "digits.onnx"):
            check_digit(printed(programs / "linked", DIGITS / model, image), digit, f"linked, {model}")
            check_digit(printed(programs / "loaded", library, DIGITS / model, image), digit, f"loaded, {model}")


def check_hello():
    text = printed(programs / "hello")
    if len(re.findall(r"^\d: \S+$", text, re.M)) != 10:
        faults.append("hello: not ten scores in\n" + text)


def check_sequence():
    text = printed(programs / "sequence", root / "samples" / "sequence.dnn")
    rows = {line[:22].strip(): [round(float(v)) for v in line[22:].split()] for line in text.splitlines()[:4]}
    parity = [sum(rows.get("bits", [])[:t + 1]) % 2 for t in range(12)]
    going_on = [(p + parity[-1]) % 2 for p in parity]
    if not text.endswith("the same numbers\n") or rows.get("parity, one call") != parity \
            or rows.get("parity, going on") != going_on:
        faults.append("sequence: wrong numbers in\n" + text)


def check_refusals():
    """A wrong file is named, with a status of 1."""
    answer = subprocess.run([programs / "linked", DIGITS / "none.dnn", DIGITS / "images" / "1.pgm"],
                            capture_output=True, text=True)
    if answer.returncode != 1 or "none.dnn" not in answer.stderr:
        faults.append("linked: a missing model is not named: " + answer.stderr)


check_digits()
check_hello()
check_sequence()
check_refusals()
print("\n".join(faults) or "samples: ok")
sys.exit(bool(faults))
