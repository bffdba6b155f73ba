"""clang-tidy, cppcheck and gcc's analyzer over the library, each source once.

    lint.py SOURCE_ROOT FOLDER_OF_COMPILE_COMMANDS

A finding is a line "tool path: check: text". Those that somebody has looked at and found harmless
stand in reviewed.txt, each with its reason; any other makes this fail."""
import concurrent.futures, json, os, pathlib, re, shlex, shutil, subprocess, sys

HERE = pathlib.Path(__file__).resolve().parent
WARNING = re.compile(r"^(?P<path>[^\s:]+):\d+:\d+: (?:warning|error): (?P<text>.*?) \[(?P<check>[\w.,=+-]+)\]$", re.M)
CPPCHECK = ["--enable=warning,performance,portability", "--inline-suppr", "--quiet", "--std=c11",
            "--template={file}:{line}:{column}: warning: {message} [{id}]", "--suppress=missingIncludeSystem"]
# How many states clang's analyzer looks at in a function: a quarter of its own limit, for a quarter of the time.
TIDY = [f"--extra-arg={w}" for w in ("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=60000")]
ANALYZER = ["-fanalyzer", "-O1", "-Wno-analyzer-too-complex", "-fdiagnostics-plain-output"]


def sources(root, folder):
    """One compile command for each source: the first, which is the float twin of the base set."""
    commands = {}
    for entry in json.loads((folder / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if path.is_relative_to(root / "evallib"):
            commands.setdefault(path, entry)
    (folder / "once").mkdir(exist_ok=True)
    (folder / "once" / "compile_commands.json").write_text(json.dumps(list(commands.values())))
    return commands


def facts(path):
    """facts.h, where its functions are called, but not where they are defined."""
    is_about = path.name != "context.c" and re.search(r"evl_(fail|no_memory)\(", path.read_text())
    return [str(HERE / "facts.h")] if is_about else []


def flags(entry):
    """Defines and include folders: all that another tool needs of a command."""
    return [w for w in shlex.split(entry["command"]) if re.match("-[DI]", w)]


def tidy(path, entry, folder):
    extra = [f"--extra-arg={word}" for known in facts(path) for word in ("-include", known)]
    return ["clang-tidy", "--quiet", *TIDY, "-p", str(folder / "once"), *extra, str(path)]


def cppcheck(path, entry, folder):
    return ["cppcheck", *CPPCHECK, *flags(entry), *[f"--include={known}" for known in facts(path)], str(path)]


def analyzer(path, entry, folder):
    extra = [word for known in facts(path) for word in ("-include", known)]
    return ["gcc", "-std=c11", *flags(entry), *extra, *ANALYZER, "-c", str(path), "-o", os.devnull]


TOOLS = {"clang-tidy": tidy, "cppcheck": cppcheck, "gcc": analyzer}


def findings(tool, path, entry, folder, root):
    command = TOOLS[tool](path, entry, folder)
    answer = subprocess.run(command, capture_output=True, text=True, cwd=entry["directory"])
    output = answer.stdout + answer.stderr
    found = {f"{tool} {os.path.relpath(pathlib.Path(entry['directory'], m['path']).resolve(), root)}: {m['check']}: {m['text']}"
             for m in WARNING.finditer(output)}
    if answer.returncode < 0 or (answer.returncode and not found):
        found.add(f"{tool} {path.relative_to(root)}: failed: {output.strip()[-300:]}")
    return found


def reviewed():
    """Regular expressions; the reason stands above each as a comment."""
    lines = (HERE / "reviewed.txt").read_text().splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def main():
    root, folder = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    tools = [t for t in TOOLS if shutil.which(t)]
    for tool in set(TOOLS) - set(tools):
        print(f"skipped: {tool} is not installed")
    commands = sources(root, folder)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(findings, tool, path, entry, folder, root)
                for tool in tools for path, entry in commands.items()]
        found = set().union(*(job.result() for job in jobs))
    patterns = reviewed()
    new = sorted(f for f in found if not any(re.search(p, f) for p in patterns))
    for pattern in patterns:
        if not any(re.search(pattern, f) for f in found):
            print(f"reviewed.txt: nothing is found like {pattern}")
    print("\n".join(new) or f"lint: ok, {len(commands)} sources, {len(found)} reviewed findings")
    return bool(new) or not commands


if __name__ == "__main__":
    sys.exit(main())
