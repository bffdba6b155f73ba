"""Fails when an #include in evallib/ points upward or sideways between layers, and on a folder without a rank.
readers/cntk/ is what the readers of CNTK's two formats and of its descriptions share."""
import pathlib, re, sys
RANK = {"base": 0, "os": 1, "config": 1, "ir": 2, "kernels": 2, "ops": 3,
        "passes": 4, "plan": 4, "readers": 4, "exec": 5, "plugin": 5, "writers": 5, "api": 6}
root = pathlib.Path(sys.argv[1]) / "evallib"
bad = [f"{d.name}/ has no rank" for d in root.iterdir() if d.is_dir() and d.name not in RANK]
for path in sorted(root.rglob("*.[ch]")):
    here = path.relative_to(root).parts
    for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(), re.M):
        there = name.split("/")
        if here[0] in RANK and there[0] in RANK and there[0] != here[0] and RANK[there[0]] >= RANK[here[0]]:
            bad.append(f"{path}: {here[0]} may not include {name}")
        if here[0] == there[0] == "readers" and len(here) > 2 and len(there) > 2 and here[1] != there[1] \
                and not (there[1] == "cntk" and here[1] in ("cntk1", "cntk2", "ndl")):
            bad.append(f"{path}: one reader may not include another's {name}")
print("\n".join(bad) or "layers: ok")
sys.exit(bool(bad))
