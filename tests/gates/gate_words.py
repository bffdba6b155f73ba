"""float and double are named only in real.h; arithmetic files say real."""
import pathlib, re, sys
bad = []
for p in (pathlib.Path(sys.argv[1]) / "evallib").rglob("*_real.c"):
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", p.read_text(), flags=re.S)
    if re.search(r"\b(float|double)\b|EVL_REAL_IS_DOUBLE", code):
        bad.append(str(p))
print("\n".join(bad) or "words: ok")
sys.exit(bool(bad))
