"""What the gates look at: the files of the tree, and what a tool of binutils says of a library."""
import pathlib, re, shutil, subprocess, sys

SKIPPED = 77   # CTest's word for "not run"
NOT_OURS = re.compile(r"(^|/)(\.git|build[^/]*|__pycache__|\.venv|\.pytest_cache|[^/]*\.egg-info)(/|$)")


def files(root, *patterns):
    """Files of the tree, without what builds leave behind; patterns are suffixes or whole names."""
    for path in sorted(pathlib.Path(root).rglob("*")):
        inside = path.relative_to(root).as_posix()
        if path.is_file() and not path.is_symlink() and not NOT_OURS.search(inside):
            if not patterns or path.suffix in patterns or path.name in patterns:
                yield path


def without_comments(text):
    """C without its comments; the lines stay where they are."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"',
                  lambda m: m[0] if m[0][0] == '"' else re.sub(r"[^\n]", "", m[0]) or " ", text, flags=re.S)


def tool(*command):
    """What a program prints; the gate is skipped, with a word, when it is not there."""
    if not shutil.which(command[0]):
        print(f"skipped: {command[0]} is not installed")
        sys.exit(SKIPPED)
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def finish(name, faults):
    """Prints what is wrong and ends the gate."""
    print("\n".join(faults) or f"{name}: ok")
    sys.exit(bool(faults))
