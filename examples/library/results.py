#!/usr/bin/env python3
"""Reads results of ipf-collect(1) by libipf, as columns or as a pandas DataFrame.

    results.py run.results.zst          # a table of the rows' latencies

    import results
    frame = results.frame("run.results.zst")        # needs pandas
    columns = results.columns("run.results.zst")    # {"ttft_ns": [...], ...}, with None where a value is absent
"""
import ctypes
import glob
import json
import os
import sys


class Error(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("errno_value", ctypes.c_int), ("line", ctypes.c_int64),
                ("file", ctypes.c_char * 256), ("text", ctypes.c_char * 768)]


ROW = 6  # IPF_LINE_ROW
LIBRARY = "libipf.so.0"


class Failure(OSError):
    """One line about the error, and the exit status belonging to it in ipf(7)."""

    def __init__(self, text, status=1):
        super().__init__(text)
        self.status = status


def find():
    """The library in LIBIPF; else the one installed or built with this file; else the loader's."""
    if os.environ.get("LIBIPF"):
        return ctypes.CDLL(os.environ["LIBIPF"])
    here = os.path.dirname(os.path.realpath(__file__))
    prefix, sources = os.path.abspath(f"{here}/../../.."), os.path.abspath(f"{here}/../..")
    folders = [f"{prefix}/lib", f"{prefix}/lib64", f"{prefix}/lib/*", f"{sources}/.build/library"]
    beside = [path for folder in folders for path in sorted(glob.glob(f"{folder}/{LIBRARY}"))]
    if beside:
        return ctypes.CDLL(beside[0])
    try:
        return ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise OSError(f"{error}; it is neither in {prefix}/lib nor where the loader looks: "
                      f"set LIBIPF=FOLDER/{LIBRARY}, or make its folder known by ldconfig") from error


def load():
    try:
        library = find()
    except OSError as error:
        raise Failure(f"cannot load the library: {error}") from error
    pointer, error = ctypes.c_void_p, ctypes.POINTER(Error)
    library.ipf_reader_open.argtypes = [ctypes.POINTER(pointer), ctypes.c_char_p, ctypes.c_char_p, error]
    library.ipf_reader_next.argtypes = [pointer, ctypes.POINTER(pointer), error]
    library.ipf_reader_close.argtypes = [pointer]
    library.ipf_line_kind.argtypes = [pointer]
    library.ipf_line_json.argtypes = [pointer, ctypes.POINTER(ctypes.c_size_t)]
    library.ipf_line_json.restype = ctypes.c_char_p
    library.ipf_error_describe.argtypes = [error, ctypes.c_char_p, ctypes.c_size_t]
    library.ipf_error_describe.restype = ctypes.c_char_p
    library.ipf_error_status.argtypes = [error]
    return library


def rows(path):
    """The rows of results, as dictionaries. A stream cut gives its rows, and then an error."""
    library, error = load(), Error()
    reader, line = ctypes.c_void_p(), ctypes.c_void_p()

    def fail():
        text = ctypes.create_string_buffer(1072)
        described = library.ipf_error_describe(ctypes.byref(error), text, len(text)).decode()
        return Failure(described, library.ipf_error_status(ctypes.byref(error)))

    if library.ipf_reader_open(ctypes.byref(reader), os.fsencode(path), b"results", ctypes.byref(error)) < 0:
        raise fail()
    try:
        while (got := library.ipf_reader_next(reader, ctypes.byref(line), ctypes.byref(error))) == 1:
            if library.ipf_line_kind(line) == ROW:
                yield json.loads(library.ipf_line_json(line, None))
        if got < 0:
            raise fail()
    finally:
        library.ipf_reader_close(reader)


def columns(path):
    everything = list(rows(path))
    names = dict.fromkeys(name for row in everything for name in row)
    return {name: [row.get(name) for row in everything] for name in names}


def frame(path):
    try:
        import pandas
    except ImportError as error:
        raise ImportError(f"frame() needs pandas ({error}); columns() has the same without it") from error
    return pandas.DataFrame(columns(path)).set_index("n")


def main():
    if len(sys.argv) != 2:
        print("usage: results.py RESULTS", file=sys.stderr)
        sys.exit(2)
    try:
        table = frame(sys.argv[1])
        latencies = [name for name in ("ttft_ns", "tpot_ns", "e2e_ns") if name in table]
        print((table[latencies].astype("float64") / 1e6).describe(percentiles=[0.5, 0.9, 0.99]).to_string())
    except ImportError:  # without pandas: the same rows, less arithmetic
        table = columns(sys.argv[1])
        for name in ("ttft_ns", "tpot_ns", "e2e_ns"):
            known = sorted(value for value in table.get(name, []) if value is not None)
            if known:
                print(f"{name:8} count {len(known)} median {known[len(known) // 2] / 1e6:.3f} ms")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        print(f"results.py: {error}", file=sys.stderr)
        sys.exit(getattr(error, "status", 1))
