#!/usr/bin/env python3
"""Makes the Parquet files of this folder: make.py, with a Python that has the packages pyarrow (26.0) and duckdb (2.0)."""
import datetime as dt
import decimal
import os
import uuid

import duckdb
import pyarrow as pa
import pyarrow.json
import pyarrow.parquet as pq

here = os.path.dirname(os.path.abspath(__file__))
D = decimal.Decimal
moments = [dt.datetime(2024, 1, 2, 3, 4, 5, 678900), dt.datetime(1, 1, 1), None, dt.datetime(1969, 12, 31, 23, 59, 59, 999999),
           dt.datetime(1970, 1, 1), dt.datetime(9999, 12, 31), dt.datetime(2024, 2, 29, 0, 0, 0, 10)]
times = [dt.time(1, 2, 3), dt.time(23, 59, 59, 999000), None, dt.time(0), dt.time(12, 0, 0, 500000), dt.time(0, 0, 0, 1000), dt.time(1)]
half = [1.5, 0.1, None, 65504, 6e-8, -0.0, float("inf")]
types = pa.table({
    "bool": pa.array([True, False, None, True, False, True, None]),
    "int8": pa.array([1, -1, None, 127, -128, 0, 5], pa.int8()),
    "uint8": pa.array([1, 255, None, 127, 128, 0, 5], pa.uint8()),
    "int32": pa.array([1, -1, None, 2**31 - 1, -2**31, 0, 5], pa.int32()),
    "uint32": pa.array([1, 2**32 - 1, None, 127, 128, 0, 5], pa.uint32()),
    "int64": pa.array([1, -1, None, 2**63 - 1, -2**63, 0, 5], pa.int64()),
    "uint64": pa.array([1, 2**64 - 1, None, 127, 128, 0, 2**63], pa.uint64()),
    "float": pa.array([1.5, 0.1, None, float("nan"), float("inf"), -0.0, 1e30], pa.float32()),
    "double": pa.array([1.5, 0.1, None, float("nan"), float("-inf"), -0.0, 1e300], pa.float64()),
    "float16": pa.array(half, pa.float16()),
    "text": pa.array(["a", "", None, "é\n\"\\", "😀\u0001", "x" * 40, "z"]),
    "bytes": pa.array([b"abc", b"\x00\xff'\"\\", None, "é".encode(), b"", b"x\0", b"\n"], pa.binary()),
    "fixed": pa.array([b"abcd", b"\x00\xff'\"", None, b"1234", b"\\\\\\\\", b"aaaa", b"\x80bcd"], pa.binary(4)),
    "date": pa.array([dt.date(2024, 1, 31), dt.date(1, 1, 1), None, dt.date(9999, 12, 31), dt.date(1970, 1, 1),
                      dt.date(1969, 12, 31), dt.date(2000, 2, 29)]),
    "time_ms": pa.array(times, pa.time32("ms")),
    "time_us": pa.array(times, pa.time64("us")),
    "time_ns": pa.array([1, 86399999999999, None, 0, 5, 1000, 10**9], pa.time64("ns")),
    "timestamp_ms": pa.array([dt.datetime(2024, 1, 2, 3, 4, 5)] * 6 + [None], pa.timestamp("ms")),
    "timestamp_us": pa.array(moments, pa.timestamp("us")),
    "timestamp_ns": pa.array([1, -1, None, 123456789123456789, 0, 1000, 10**9], pa.timestamp("ns")),
    "timestamp_utc": pa.array(moments, pa.timestamp("us", "UTC")),
    "decimal": pa.array([D("1.50"), D("-0.01"), None, D("12345678.90"), D("0"), D("-1"), D("0.10")], pa.decimal128(10, 2)),
    "decimal38": pa.array([D("1.50"), D("-0.01"), None, D("123456789012345678901234567890123456.78"), D("0"), D("-1"), D("0.10")],
                          pa.decimal128(38, 2)),
    "null": pa.nulls(7),
})
nested = pa.table({
    "list": pa.array([[1, 2], [], None, [None], [None, 3], [4], [5, 6, 7]], pa.list_(pa.int32())),
    "lists": pa.array([[[1], [2, 3]], [], None, [None], [[], [4]], [[None]], [[5]]], pa.list_(pa.list_(pa.int64()))),
    "struct": pa.array([{"a": 1, "b": "x"}, {"a": None, "b": None}, None, {"a": 2, "b": "y"}, {"a": 3, "b": None}, None, {"a": 1, "b": "q"}]),
    "structs": pa.array([[{"a": 1, "b": ["x"]}], [], None, [{"a": None, "b": None}, {"a": 2, "b": ["y", "z", None]}], [None],
                         [{"a": 3, "b": []}], [{"a": 1, "b": ["q"]}]]),
    "map": pa.array([[("a", 1), ("b", None)], [], None, [("c", 3)], [("d", 4)], [], [("e", 5)]], pa.map_(pa.string(), pa.int32())),
    "map_of_int": pa.array([[(1, "a"), (2, None)], [], None, [(3, "c")], [], [], [(5, "e")]], pa.map_(pa.int32(), pa.string())),
})
n = 700  # more than is decoded at once
encodings = pa.table({
    "delta": pa.array([None if i % 50 == 7 else i * i * (-1) ** i for i in range(n)], pa.int64()),
    "delta32": pa.array([(i * 7919) % 2**31 for i in range(n)], pa.int32()),
    "delta_length": pa.array([None if i % 90 == 3 else "word%d" % (i % 37) for i in range(n)]),
    "delta_text": pa.array(["prefix/%05d/é" % (i // 3) for i in range(n)]),
    "split": pa.array([i / 8 for i in range(n)], pa.float64()),
    "split32": pa.array([i / 4 if i % 11 else None for i in range(n)], pa.float32()),
    "split_int": pa.array([i - 350 for i in range(n)], pa.int32()),
    "split_fixed": pa.array([b"%04d" % i for i in range(n)], pa.binary(4)),
    "runs": pa.array([i // 100 % 2 == 0 for i in range(n)]),
    "dictionary": pa.array([None if i % 3 == 0 else "v%d" % (i % 300) for i in range(n)]),
})
chosen = {"delta": "DELTA_BINARY_PACKED", "delta32": "DELTA_BINARY_PACKED", "delta_length": "DELTA_LENGTH_BYTE_ARRAY",
          "delta_text": "DELTA_BYTE_ARRAY", "split": "BYTE_STREAM_SPLIT", "split32": "BYTE_STREAM_SPLIT",
          "split_int": "BYTE_STREAM_SPLIT", "split_fixed": "BYTE_STREAM_SPLIT", "runs": "RLE"}


def at(name):
    return os.path.join(here, name + ".parquet")


pq.write_table(types, at("types"))
pq.write_table(types.select(["timestamp_us", "text"]), at("int96"), use_deprecated_int96_timestamps=True, use_dictionary=False,
               compression="none")
pq.write_table(nested, at("nested"), compression="zstd", data_page_version="2.0", row_group_size=3, data_page_size=1,
               use_compliant_nested_type=False)
pq.write_table(encodings, at("encodings"), compression="gzip", use_dictionary=["dictionary"], column_encoding=chosen)
for name in ["lmsys", "wildchat"]:
    pq.write_table(pyarrow.json.read_json(os.path.join(here, "..", name + ".jsonl")), at(name), write_statistics=False)
start = 1790000000000
pq.write_table(pa.table({
    "timestamp_start_unix_ms": pa.array([start, start + 1000], pa.int64()), "prompt": ["Say hello", ""], "input_tokens": [12, 100],
    "output_tokens": [5, 7], "provided_session_id": ["a", None],
    "total_hashes": pa.array([[], [2**64 - 1, 2**63 + 1]], pa.list_(pa.uint64())), "block_size": [64, 64],
}), at("baseten"))
pq.write_table(pa.table({
    "request_id": ["r1", "r2"], "token_hash": ["x", "y"], "timestamp_ms": pa.array([start, start + 500], pa.int64()),
    "input_length": [9, 100], "output_length": [2, 3],
    "hash_ids": pa.array([["c0ffee"], ["c0ffee", "ffffffffffffffff"]], pa.list_(pa.string())),
    "messages": ['[{"role":"user","content":"Say yes"}]', None],
}), at("art-chat"))
call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"command": "ls"}'}}
tools = [{"type": "function", "function": {"name": name, "description": None, "parameters": {
    "type": "object", "properties": {key: {"type": "string"}}, "required": [key]}}} for name, key in [("run", "command"), ("view", "path")]]
pq.write_table(pa.Table.from_pylist([
    {"trajectory_id": "t1", "instance_id": "a__b-1", "trajectory": [
        {"role": "system", "content": "You fix."}, {"role": "user", "content": "Fix it."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "a.c", "name": "run", "tool_call_id": "c1"}, {"role": "assistant", "content": "Done."}],
     "tools": tools, "resolved": 1},
    {"trajectory_id": "t2", "instance_id": "a__b-2", "trajectory": [{"role": "user", "content": "Hi."}], "tools": [], "resolved": 0},
]), at("swe-rebench"))
duckdb.sql("SET TimeZone = 'UTC'")
duckdb.sql("CREATE TYPE mood AS ENUM ('good', 'bad')")
duckdb.sql(f"""COPY (SELECT '{uuid.UUID(int=0x0123456789abcdef0123456789abcdef)}'::UUID AS uuid, 'bad'::mood AS mood,
    '{{"a": [1, null]}}'::JSON AS json, 18446744073709551615::UBIGINT AS ubigint, 1.25::DECIMAL(18, 3) AS decimal,
    TIMETZ '01:02:03.5+00' AS timetz, TIMESTAMPTZ '2024-01-02 03:04:05+00' AS timestamptz, [{{'a': [1, 2]}}, NULL] AS list,
    MAP {{DATE '2024-01-01': 1.5}} AS map, 'ab\\x00'::BLOB AS blob, DATE '0044-03-15 (BC)' AS date
    UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
    TO '{at("duckdb")}' (FORMAT parquet)""")
