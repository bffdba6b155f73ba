"""README.md tells the truth: its programs are the samples, its settings are those the library reads,
and its map names folders that are there."""
import pathlib, re, sys
from tree import finish

SETTING = re.compile(r'^\s*\{ "(\w+)", KEY_(?!IGNORED|REFUSED)\w+,', re.M)


def program_faults(readme, language, name, sample):
    block = re.search(r"```%s\n(.*?)```" % language, readme, re.S)
    return [] if block and block[1] == sample else [f"README.md: its {language} program is not samples/{name}"]


def setting_faults(readme, source):
    known, told = set(SETTING.findall(source)), set(re.findall(r"^\| `(\w+)` \|", readme, re.M))
    return ([f"README.md does not tell of the setting {name}" for name in sorted(known - told)] +
            [f"README.md tells of {name}, which is no setting" for name in sorted(told - known)])


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
    finish("readme", faults + map_faults(readme, root))


if __name__ == "__main__":
    main(sys.argv[1])
