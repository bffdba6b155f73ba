"""README.md tells the truth: its programs are the samples, its settings are those the library reads,
its operators are those of evallib/ops/, and its map names folders that are there."""
import pathlib, re, sys
from tree import finish

SETTING = re.compile(r'^\s*\{ "(\w+)", KEY_(?!IGNORED|REFUSED)\w+,', re.M)

DESCRIPTOR = re.compile(r"^(?:static )?const evl_op (\w+)\s*=", re.M)
FAMILY = re.compile(r"^const evl_op \*const evl_ops_\w+\[\]\s*=\s*\{(.*?)\};", re.M | re.S)   # what readers find
# What follows a descriptor: the name, and the domain when it is given; operators of "evl" are in no file.
NAME = re.compile(r'\s*\{\s*(?:\.name = )?"(\w+)",\s*(?:(?:\.domain = )?("\w+"))?')


def program_faults(readme, language, name, sample):
    block = re.search(r"```%s\n(.*?)```" % language, readme, re.S)
    return [] if block and block[1] == sample else [f"README.md: its {language} program is not samples/{name}"]


def setting_faults(readme, source):
    """A row of README's table begins with the names of one setting or several."""
    cells = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", readme, re.M)
    known, told = set(SETTING.findall(source)), set(re.findall(r"\w+", " ".join(cells)))
    return ([f"README.md does not tell of the setting {name}" for name in sorted(known - told)] +
            [f"README.md tells of {name}, which is no setting" for name in sorted(told - known)])


def operator_faults(readme, sources):
    """The paragraph behind "**ONNX**" names each operator once, in the order of the alphabet."""
    paragraph = re.search(r"^\*\*ONNX\*\*.*:\n\n(.*?)\n\n", readme, re.S | re.M)
    told, known = paragraph[1].split() if paragraph else [], set()
    for text in sources:
        offered = set(re.findall(r"&(\w+)", " ".join(FAMILY.findall(text))))
        for at in DESCRIPTOR.finditer(text):
            name = NAME.match(text, at.end())
            if not name:
                return [f"no name is found behind {at[0]}"]
            if at[1] in offered and name[2] != '"evl"':
                known.add(name[1])
    return ([f"README.md does not tell of the operator {name}" for name in sorted(known - set(told))] +
            [f"README.md tells of {name}, which is no operator" for name in sorted(set(told) - known)] +
            ([] if told == sorted(set(told)) else ["README.md's operators are not in order"]))


def map_faults(readme, root):
    """Lines of the map: a top folder, or one of evallib/ indented under it."""
    block = re.search(r"^## The map\n\n(.*?)\n\n", readme, re.S | re.M)
    faults = [] if block else ["README.md has no map"]
    for line in (block[1] if block else "").splitlines():
        inside = line.startswith("      ")
        for name in re.findall(r"[\w/]+/(?= |$)", line[:24] if inside else line[:22]):
            if not (root / ("evallib" if inside else "") / name).is_dir():
                faults.append(f"README.md's map names {name}, which is not there")
    return faults


def main(root):
    root = pathlib.Path(root)
    readme = (root / "README.md").read_text()
    faults = program_faults(readme, "c", "hello.c", (root / "samples" / "hello.c").read_text())
    faults += program_faults(readme, "python", "hello.py", (root / "samples" / "hello.py").read_text())
    faults += setting_faults(readme, (root / "evallib" / "api" / "settings.c").read_text())
    faults += operator_faults(readme, [p.read_text() for p in sorted((root / "evallib" / "ops").glob("*.c"))])
    finish("readme", faults + map_faults(readme, root))


if __name__ == "__main__":
    main(sys.argv[1])
