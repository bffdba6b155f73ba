"""The C interface from Python, by ctypes alone: for tests that compare values.

    model = Model("net.onnx")                      # precision="d" for double
    y = model.run({"x": array}, ["y"])["y"]        # Run: typed tensors
    z = model.evaluate({"x": numbers}, ["z"])      # Evaluate: flat vectors, state carries over
    model.close()

The library is $EVALLIB_LIBRARY, else the one inside the installed package evallib.
"""

import ctypes
import os
import pathlib

import numpy as np

OK = 0
NAMES = {1: "argument", 2: "memory", 3: "io", 4: "format", 5: "unsupported", 6: "not found",
         7: "shape", 8: "type", 9: "state", 10: "limit", 11: "cancelled", 12: "plugin",
         13: "internal"}

TYPES = {1: np.float32, 2: np.uint8, 3: np.int8, 4: np.uint16, 5: np.int16, 6: np.int32,
         7: np.int64, 9: np.bool_, 10: np.float16, 11: np.float64, 12: np.uint32, 13: np.uint64}
NUMBERS = {np.dtype(kind): number for number, kind in TYPES.items()}
STRING, SEQUENCE, OPTIONAL, MAP = 8, 1001, 1002, 1003
MAX_RANK = 16


class Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int), ("rank", ctypes.c_int32),
                ("dims", ctypes.c_int64 * MAX_RANK), ("data", ctypes.c_void_p),
                ("bytes", ctypes.c_size_t), ("reserved", ctypes.c_uint64 * 2)]


class Text(ctypes.Structure):
    _fields_ = [("text", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class Dimension(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("size", ctypes.c_size_t)]


class Input(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("data", ctypes.c_void_p), ("count", ctypes.c_size_t)]


class Output(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("data", ctypes.c_void_p),
                ("capacity", ctypes.c_size_t), ("count", ctypes.c_size_t)]


_self, _text, _size, _void = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p)
_count = ctypes.POINTER(ctypes.c_size_t)
SLOTS = [("Init", ctypes.c_int, [_text]), ("Destroy", None, []),
         ("CreateNetwork", ctypes.c_int, [_text]),
         ("GetNodeDimensions", ctypes.c_int, [ctypes.c_int, _void, _count]),
         ("StartEvaluateMinibatchLoop", ctypes.c_int, [_text]),
         ("Evaluate", ctypes.c_int, [_void, _size, _void, _size]),
         ("EvaluateOutputs", ctypes.c_int, [_void, _size]), ("ResetState", ctypes.c_int, []),
         ("LastError", ctypes.c_char_p, []),
         ("Run", ctypes.c_int, [_void, _size, _void, _size, _void]),
         ("Release", ctypes.c_int, [_void, _size]),
         ("GetInterface", ctypes.c_int, [_text, ctypes.c_uint32, _void])]


class Vtbl(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [
        (name, ctypes.CFUNCTYPE(result, _self, *arguments)) for name, result, arguments in SLOTS]


class Object(ctypes.Structure):
    _fields_ = [("vtbl", ctypes.POINTER(Vtbl))]


class Failure(RuntimeError):
    def __init__(self, status, text):
        super().__init__("%s: %s" % (NAMES.get(status, status), text))
        self.status = status
        self.text = text


def library_path():
    """Where the library is; None: nowhere."""
    named = os.environ.get("EVALLIB_LIBRARY")
    if named:
        return named
    try:
        import evallib
    except ImportError:
        return None
    found = sorted(pathlib.Path(evallib.__file__).parent.glob("libevallib.so*"))
    return str(found[0]) if found else None


class Model:
    def __init__(self, path, precision="f", settings="", library=None):
        self.object = None
        self.library = ctypes.CDLL(library or library_path())
        self.real = np.dtype(np.float32 if precision == "f" else np.float64)
        pointer = ctypes.POINTER(Object)()
        getattr(self.library, "GetEval" + precision.upper())(ctypes.byref(pointer))
        self.object = pointer
        self.call("CreateNetwork", ('modelPath="%s"\n%s' % (path, settings)).encode())

    def call(self, slot, *arguments):
        table = self.object.contents.vtbl.contents
        address = ctypes.cast(self.object, ctypes.c_void_p)
        status = getattr(table, slot)(address, *arguments)
        if status != OK:
            raise Failure(status, table.LastError(address).decode())

    def close(self):
        if self.object:
            table = self.object.contents.vtbl.contents
            table.Destroy(ctypes.cast(self.object, ctypes.c_void_p))
            self.object = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def dimensions(self, group):
        """Of group 0 (inputs) or 1 (outputs): name -> elements of a sample."""
        n = ctypes.c_size_t(0)
        self.call("GetNodeDimensions", group, None, ctypes.byref(n))
        dims = (Dimension * n.value)()
        self.call("GetNodeDimensions", group, dims, ctypes.byref(n))
        return {d.name.decode(): d.size for d in dims}

    def run(self, inputs, outputs):
        """Arrays by name in; arrays, lists and dicts by name out."""
        arrays = {name: np.asarray(x, order="C") for name, x in inputs.items()}
        given, asked = (Tensor * len(arrays))(), (Tensor * len(outputs))()
        for t, (name, x) in zip(given, arrays.items()):
            t.name, t.type, t.rank = name.encode(), NUMBERS[x.dtype], x.ndim
            t.dims[:x.ndim] = x.shape
            t.data, t.bytes = x.ctypes.data, x.nbytes
        for t, name in zip(asked, outputs):
            t.name = name.encode()
        self.call("Run", given, len(given), asked, len(asked), None)
        results = {name: value_of(t) for name, t in zip(outputs, asked)}
        self.call("Release", asked, len(asked))
        return results

    def evaluate(self, inputs, outputs):
        """Flat vectors by name in, flat vectors by name out."""
        arrays = {name: np.ascontiguousarray(x, self.real).reshape(-1) for name, x in inputs.items()}
        given, asked = (Input * len(arrays))(), (Output * len(outputs))()
        for e, (name, x) in zip(given, arrays.items()):
            e.name, e.data, e.count = name.encode(), x.ctypes.data, x.size
        for e, name in zip(asked, outputs):
            e.name = name.encode()
        self.call("Evaluate", given, len(given), asked, len(asked))
        return {name: copied(e.data, e.count, self.real) for name, e in zip(outputs, asked)}

    def reset(self):
        self.call("ResetState")


def copied(address, count, dtype):
    if not count:
        return np.zeros(0, dtype)
    raw = ctypes.string_at(address, count * np.dtype(dtype).itemsize)
    return np.frombuffer(raw, dtype).copy()


def value_of(t):
    if t.type in (SEQUENCE, OPTIONAL):
        return [value_of(element) for element in (Tensor * t.dims[0]).from_address(t.data)]
    if t.type == MAP:
        keys, values = (value_of(part) for part in (Tensor * 2).from_address(t.data))
        return dict(zip(keys.tolist(), values))
    shape = tuple(t.dims[:t.rank])
    count = int(np.prod(shape, dtype=np.int64))
    if t.type == STRING:
        texts = [ctypes.string_at(x.text, x.size).decode() for x in (Text * count).from_address(t.data)]
        return np.array(texts, object).reshape(shape)
    return copied(t.data, count, np.dtype(TYPES[t.type])).reshape(shape)
