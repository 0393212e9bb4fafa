"""The tables of `ipf-report export parquet` against the lines of the results they were made of.

    parquet_truth.py ours|pyarrow|duckdb TABLE FILE RESULTS[:SHIFT_NS]…

reads FILE with our reader (the program parquet_rows of $BUILD), pyarrow or DuckDB, and prints every value that differs; nothing if all
agree. SHIFT_NS is added to the times of those results. With pyarrow, the statistics and the note in the footer are checked, too.
Status 77: the package is not installed.
"""
import datetime
import json
import os
import re
import subprocess
import sys

TIMES = ["due_ns", "ready_ns", "start_ns", "end_ns", "attempt_start_ns"]
EVENTS = ["event_ns", "event_tokens", "event_kinds", "other_ns", "other_kinds"]
HISTOGRAMS = ["ttft_ns", "itl_ns", "e2e_ns", "lag_ns"]
JSON = {"requests": ["tags", "slo"], "events": [], "windows": ["failures"] + HISTOGRAMS}


def characters(value):
    """Lone surrogates are no characters."""
    return re.sub("[\ud800-\udfff]", "\ufffd", value) if isinstance(value, str) else value


# ---- readers ----


def ours(path, table):
    rows = [json.loads(line) for line in subprocess.run([os.environ["BUILD"] + "/tests/parquet_rows", path], check=True, capture_output=True)
            .stdout.decode().split("\n") if line]
    for row in rows:
        if row["t_utc"] is not None:
            day, fraction = re.fullmatch(r"(\S+ [^.+]+)(?:\.(\d+))?\+00", row["t_utc"]).groups("")
            seconds = datetime.datetime.fromisoformat(day + "+00:00").timestamp()
            row["t_utc"] = int(seconds) * 10**9 + int((fraction or "0").ljust(9, "0"))
    return rows


def by_pyarrow(path, table):
    import pyarrow.parquet as pq
    file = pq.ParquetFile(path)
    check_statistics(file)
    note = json.loads(file.metadata.metadata[b"ipf"])
    if (note["ipf"], note["version"], note["table"]) != ("parquet", 1, table):
        print("note", note)
    return read_json(integer_dates(file.read()).to_pylist(), table)


def by_duckdb(path, table):
    import duckdb
    read = duckdb.execute("SELECT * REPLACE (epoch_ns(t_utc) AS t_utc) FROM read_parquet(?)", [path])
    names = [column[0] for column in read.description]
    return read_json([dict(zip(names, row)) for row in read.fetchall()], table)


def read_json(rows, table):
    for row in rows:
        for name in JSON[table]:
            if isinstance(row[name], str):
                row[name] = json.loads(row[name])
    return rows


def check_statistics(file):
    """The least and the greatest value of each column chunk, and its number of null values."""
    for g in range(file.metadata.num_row_groups):
        group, rows = file.metadata.row_group(g), integer_dates(file.read_row_group(g))
        for c in range(group.num_columns):
            chunk = group.column(c)
            name, s = chunk.path_in_schema.split(".")[0], chunk.statistics
            values = rows.column(name).to_pylist()
            if "." in chunk.path_in_schema:
                values = [e for v in values for e in (v or [None])]
            there = [v.encode() if isinstance(v, str) else v for v in values if v is not None]
            if s.null_count != len(values) - len(there):
                print("null values", name, s.null_count)
            if s.has_min_max:
                if (s.min_raw, s.max_raw) != (min(there), max(there)):
                    print("bounds", name, s.min_raw, s.max_raw)
            elif any(not isinstance(v, bytes) for v in there) or (there and max(map(len, there)) <= 64):
                print("no bounds", name)


def integer_dates(rows):
    import pyarrow as pa
    column = rows.schema.get_field_index("t_utc")
    return rows.set_column(column, "t_utc", rows.column(column).cast(pa.int64()))


# ---- truth ----


def results(name):
    """The header, the lines, the shift."""
    path, _, shift = name.partition(":")
    text = subprocess.run(["zstd", "-dcq", path] if path.endswith(".zst") else ["cat", path], check=True, capture_output=True).stdout
    lines = [json.loads(line) for line in text.decode().split("\n") if line]
    return lines[0], lines[1:], int(shift or 0)


def t0_of(header):
    """The start of the client."""
    if "t0_unix_ns" in header:
        return header["t0_unix_ns"]
    found = [t0_of(h) for h in header.get("from", [])]
    return next((t0 for t0 in found if t0 is not None), None)


def records_header(header):
    return next((h for h in header.get("from", []) if h.get("ipf") == "records"), {})


def utc(t0, time):
    return None if t0 is None or time is None else t0 + time


def request_row(part, header, line, shift):
    row = {name: characters(value) for name, value in line.items() if name not in EVENTS + ["error"]}
    records, error = records_header(header), line.get("error")
    row.update(part=part, t_utc=utc(t0_of(header), line.get("start_ns")))
    stages = header["stages"]
    row["stage_name"] = stages[line["stage"]]["name"] if line["stage"] < len(stages) else None
    targets = records.get("targets")
    row["target"] = targets[line["target"]] if targets else records.get("target")
    if error:
        row.update(error_kind=error["kind"], error_text=characters(error.get("text")), status=error.get("status"), stale=error.get("stale", False))
    for name in TIMES:
        if row.get(name) is not None:
            row[name] += shift
    if "edge_ns" in row:
        row["edge_ns"] = [t + shift for t in row["edge_ns"]]
    return row


def event_rows(part, header, line, shift):
    rows = []
    kinds, tokens = line.get("event_kinds"), line.get("event_tokens")
    for i, t in enumerate(line.get("event_ns", [])):
        rows.append({"event": i, "t_ns": t, "tokens": tokens[i] if tokens else None, "kind": kinds[i] if kinds else "text"})
    for t, kind in zip(line.get("other_ns", []), line.get("other_kinds", [])):
        rows.append({"event": None, "t_ns": t, "tokens": None, "kind": kind})
    for row in rows:
        row.update(part=part, n=line["n"], t_utc=utc(t0_of(header), row["t_ns"]), t_ns=row["t_ns"] + shift)
    return sorted(rows, key=lambda row: (row["t_ns"], row["event"] is None))  # stable


def window_row(header, line):
    row = {name: value for name, value in line.items() if name != "failed"}
    for name in ["scheduled", "started", "ok", "hung_up", "unseen", "in_flight_ns", "slot_wait_ns", "pool_wait_ns", "input_tokens",
                 "output_tokens", "failed_output_tokens", "events"]:
        row.setdefault(name, 0)
    row.update(failures=line.get("failed", {}), failed=sum(line.get("failed", {}).values()), t_utc=utc(t0_of(header), line["t_ns"]))
    for name in HISTOGRAMS:
        if name in line:
            row[name + "_n"] = line[name]["count"]
    return row


def truth(table, names):
    rows = []
    for part, (header, lines, shift) in enumerate(map(results, names)):
        requests = [line for line in lines if "n" in line and "ok" in line]
        if table == "requests":
            rows += [request_row(part, header, line, shift) for line in requests]
        elif table == "events":
            rows += [row for line in requests for row in event_rows(part, header, line, shift)]
        else:
            rows += [window_row(header, line) for line in lines if "window" in line]
    return rows


# ---- comparison ----


def keys(table, rows):
    """Rows by what they are of."""
    named = {}
    for row in rows:
        place = (row.get("window"), row.get("stage")) if table == "windows" else (row["part"], row["n"])
        named.setdefault(place, []).append(row)
    return named


def main():
    reader, table, path, names = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    try:
        rows = {"ours": ours, "pyarrow": by_pyarrow, "duckdb": by_duckdb}[reader](path, table)
    except ImportError as error:
        print(error)
        return 77
    expected, got = keys(table, truth(table, names)), keys(table, rows)
    computed = {"run", "number", "good"} | {f"{h}_{p}" for h in HISTOGRAMS for p in ("p50", "p99")}
    if list(map(len, expected.values())).sort() != list(map(len, got.values())).sort() or expected.keys() != got.keys():
        print("rows", len(rows), {k: len(v) for k, v in expected.items() if len(v) != len(got.get(k, []))})
    if table == "requests" and [row["number"] for row in rows] != list(range(len(rows))):
        print("numbers", [row["number"] for row in rows][:20])
    for place, wanted in expected.items():
        for want, row in zip(wanted, got.get(place, [])):
            for name in sorted((want.keys() | row.keys()) - computed):
                a, b = want.get(name), row.get(name)
                if a != b or isinstance(a, bool) != isinstance(b, bool) or (name in want and name not in row):
                    print(place, name, "results:", repr(a)[:120], reader + ":", repr(b)[:120])
    return 0


if __name__ == "__main__":
    sys.exit(main())
