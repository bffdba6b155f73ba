"""dlopen, load a model with a plug-in, run, dlclose, again and again.

    cycles.py MODEL PLUGIN HOW_OFTEN"""
import ctypes, os, pathlib, sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from evallib_ctypes import Model, library_path   # noqa: E402

dlclose = ctypes.CDLL(None).dlclose
dlclose.argtypes = [ctypes.c_void_p]
X = np.linspace(-1, 1, 300).reshape(100, 3)


def cycle(path, plugin):
    m = Model(path, "d", f'plugins="{plugin}"\nnumCPUThreads=2')
    m.run({"x": X}, ["y"])
    m.close()
    handle = m.library._handle
    del m
    dlclose(handle)


def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def left():
    maps = pathlib.Path("/proc/self/maps").read_text()
    return (len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")),
            pathlib.Path(library_path()).resolve().name in maps, "swish" in maps)


path, plugin, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
for _ in range(min(n, 50)):   # what Python and malloc keep for themselves
    cycle(path, plugin)
before, bytes_before = left(), resident()
for _ in range(n):
    cycle(path, plugin)
after, grown = left(), resident() - bytes_before
print(f"{n} cycles: descriptors, threads, library, plug-in {before} -> {after}, {grown} bytes more")
sys.exit(before != after or after[2] or after[3] or grown > 1 << 20)
