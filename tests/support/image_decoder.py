"""samples/plugin/images, built by its one line."""
import pathlib, shutil, subprocess

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "samples" / "plugin" / "images"
LIBRARIES = ["libjpeg", "libpng", "libtiff-4 >= 4.5", "libwebp", "libopenjp2"]


def build(folder):
    """The plug-in in that folder; None: there is no compiler, or a library is missing."""
    if not shutil.which("cc") or not shutil.which("pkg-config"):
        return None
    asked = subprocess.run(["pkg-config", "--cflags", "--libs", *LIBRARIES], capture_output=True, text=True)
    if asked.returncode:
        return None
    target = pathlib.Path(folder) / "images.so"
    subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2", "-shared", "-fPIC",
                    "-I", str(FOLDER.parents[2] / "include"), *map(str, sorted(FOLDER.glob("*.c"))),
                    "-o", str(target), *asked.stdout.split()], check=True)
    return target
