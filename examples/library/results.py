#!/usr/bin/env python3
"""Reads results of ipf-collect(1) by libipf, as columns or as a pandas DataFrame.

    results.py run.results.zst          # a table of the rows' latencies

    import results
    frame = results.frame("run.results.zst")        # needs pandas
    columns = results.columns("run.results.zst")    # {"ttft_ns": [...], ...}, with None where a value is absent
"""
import ctypes
import ctypes.util
import json
import os
import sys


class Error(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("errno_value", ctypes.c_int), ("line", ctypes.c_int64),
                ("file", ctypes.c_char * 256), ("text", ctypes.c_char * 768)]


ROW = 6  # IPF_LINE_ROW


def load():
    library = ctypes.CDLL(os.environ.get("LIBIPF") or ctypes.util.find_library("ipf") or "libipf.so.0")
    pointer, error = ctypes.c_void_p, ctypes.POINTER(Error)
    library.ipf_reader_open.argtypes = [ctypes.POINTER(pointer), ctypes.c_char_p, ctypes.c_char_p, error]
    library.ipf_reader_next.argtypes = [pointer, ctypes.POINTER(pointer), error]
    library.ipf_reader_close.argtypes = [pointer]
    library.ipf_line_kind.argtypes = [pointer]
    library.ipf_line_json.argtypes = [pointer, ctypes.POINTER(ctypes.c_size_t)]
    library.ipf_line_json.restype = ctypes.c_char_p
    library.ipf_error_describe.argtypes = [error, ctypes.c_char_p, ctypes.c_size_t]
    library.ipf_error_describe.restype = ctypes.c_char_p
    return library


def rows(path):
    """The rows of results, as dictionaries. A stream that was cut gives its rows, and then an error."""
    library, error = load(), Error()
    reader, line = ctypes.c_void_p(), ctypes.c_void_p()

    def fail():
        text = ctypes.create_string_buffer(1072)
        return OSError(library.ipf_error_describe(ctypes.byref(error), text, len(text)).decode())

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
    import pandas
    return pandas.DataFrame(columns(path)).set_index("n")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: results.py RESULTS")
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
        sys.exit(f"results.py: {error}")
