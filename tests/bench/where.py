"""Where the time of one thread goes: ours by function, from perf's samples; ONNX Runtime's by operator, as it tells itself."""
import bisect
import collections
import json
import re
import shutil
import subprocess

from peers import OUT, Peer

SECONDS, MOST = 1, 12


class Functions:
    """Names the function at an address with its file: static ones stand behind their file in the symbol table."""

    def __init__(self, library):
        text = subprocess.run(["readelf", "-sW", library], capture_output=True, text=True, check=True).stdout
        self.found, file = [], ""
        for address, kind, name in re.findall(r"^\s*\d+: ([0-9a-f]+)\s+\S+ (\w+)\s+\w+\s+\w+\s+\S+ (\S+)$", text, re.M):
            if kind == "FILE":
                file = name
            elif kind == "FUNC":
                self.found.append((int(address, 16), name, f"{file}: {name}" if not name.startswith("evl_") else name))
        self.found.sort()

    def title(self, address, symbol):
        _, name, title = self.found[bisect.bisect(self.found, (address, "\x7f", "")) - 1]
        return title if name == symbol else symbol


def ours(case, kind):
    """{function: share}"""
    data = OUT / "perf.data"
    command = [OUT / "time", kind, case.ours.library, case.path, case.values, "1", "1", "", case.ours.settings]
    subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "4999", "-o", data, *command], check=True, text=True,
                   input=f"time {SECONDS}\n", stdout=subprocess.DEVNULL)
    report = subprocess.run(["perf", "report", "-i", data, "--stdio", "-v", "--sort", "symbol"], capture_output=True, text=True)
    functions, shares = Functions(case.ours.library), collections.Counter()
    for share, address, symbol in re.findall(r"^\s*([\d.]+)%\s+0x([0-9a-f]+)\s+\S+ \[.\] (\S+)", report.stdout, re.M):
        shares[functions.title(int(address, 16), symbol)] += float(share) / 100
    return shares


def theirs(case):
    """{operator: share}"""
    prefix = OUT / "ort_profile"
    for old in OUT.glob("ort_profile*"):
        old.unlink()
    with Peer(case, "ort", profile=str(prefix)) as peer:
        peer.time(min(SECONDS, .3))
    events = json.loads(next(OUT.glob("ort_profile*.json")).read_text())
    shares = collections.Counter()
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("kernel_time"):
            shares[event["args"]["op_name"]] += event["dur"]
    total = sum(shares.values()) or 1
    return collections.Counter({name: share / total for name, share in shares.items()})


def listing(title, shares):
    return [f"    {title}"] + [f"    {share:6.1%}  {name}" for name, share in shares.most_common(MOST) if share >= .005]


def time_goes(case, kind):
    """Both lists, as text."""
    lines = []
    if shutil.which("perf"):
        lines += listing("ours", ours(case, kind))
    else:
        lines.append("    ours: needs perf (Debian: linux-perf)")
    if case.entry.has_peer:
        lines += listing("ONNX Runtime", theirs(case))
    return "\n".join(lines)
