"""A large Parquet file, read by ours, by DuckDB and by pyarrow: equal as JSON values, and how long it takes.

    parquet_compare.py ROWS_PROGRAM FOLDER ROWS

needs the packages pyarrow and duckdb. Prints a line for each comparison; status 1 if values differ. Times are processor times, in turn,
with one thread; output goes to /dev/null.
"""
import itertools
import json
import os
import random
import resource
import statistics
import subprocess
import sys

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

ROUNDS = 5
WORDS = "the of and to in a is that é 'for' \"it\" as was with be by on not he naïve 東京 😀 this\nhave from or had an they which one you".split(" ")


def make(path, count):
    """Flat integers, strings, timestamps, a list of integers, a list of structs; with nulls."""
    r = random.Random(7)
    texts = [" ".join(r.choice(WORDS) for _ in range(r.randrange(1, 40))) for _ in range(50000)]
    turn = pa.struct([("role", pa.string()), ("content", pa.string()), ("tokens", pa.int64())])
    schema = pa.schema([("id", pa.int64()), ("user", pa.int32()), ("hash", pa.uint64()), ("model", pa.string()), ("prompt", pa.string()),
                        ("at", pa.timestamp("us")), ("at_utc", pa.timestamp("ms", "UTC")), ("lengths", pa.list_(pa.int32())),
                        ("conversation", pa.list_(turn))])
    with pq.ParquetWriter(path, schema) as to:
        for first in range(0, count, 100000):
            n = min(100000, count - first)
            to.write_table(pa.table({
                "id": range(first, first + n),
                "user": [r.randrange(5000) if r.random() < .95 else None for _ in range(n)],
                "hash": [r.getrandbits(64) for _ in range(n)],
                "model": [r.choice(["gpt-4o", "llama-3-70b", 'mistral "large"']) for _ in range(n)],
                "prompt": [r.choice(texts) if r.random() < .98 else None for _ in range(n)],
                "at": [1700000000000000 + r.randrange(10**13) for _ in range(n)],
                "at_utc": [1700000000000 + 37 * (first + i) for i in range(n)],
                "lengths": [[r.randrange(1000) for _ in range(r.randrange(6))] if r.random() < .97 else None for _ in range(n)],
                "conversation": [[{"role": r.choice(["user", "assistant"]), "content": r.choice(texts)[:60], "tokens": r.randrange(500)}
                                  for _ in range(r.randrange(4))] for _ in range(n)],
            }, schema=schema))


def by_arrow(path):
    def time(value):
        fraction = value.strftime("%f").rstrip("0")
        return value.strftime("%Y-%m-%d %H:%M:%S") + ("." + fraction if fraction else "") + ("+00" if value.tzinfo else "")

    for batch in pq.ParquetFile(path).iter_batches():
        for row in batch.to_pylist():
            yield {**row, "at": time(row["at"]), "at_utc": time(row["at_utc"])}


def difference(ours, theirs):
    for i, (a, b) in enumerate(itertools.zip_longest(ours, theirs)):
        if a != b and (not a or not b or json.loads(a) != (json.loads(b) if isinstance(b, str) else b)):
            return "row %d: %.300s … %.300s" % (i + 1, a, b)
    return ""


def used(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def main():
    program, folder, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    path, ours, theirs = (os.path.join(folder, name) for name in ["data.parquet", "ours", "duckdb"])
    make(path, count)
    db = duckdb.connect()
    db.execute("SET threads = 1; SET TimeZone = 'UTC'")

    def copy(to):
        db.execute(f"COPY (SELECT * FROM read_parquet('{path}')) TO '{to}' (FORMAT json)")

    def rows(to):
        with open(to, "wb") as out:
            subprocess.run([program, path], stdout=out, check=True)

    copy(theirs)
    rows(ours)
    wrong = 0
    for name, other in [("DuckDB", open(theirs)), ("pyarrow", by_arrow(path))]:
        why = difference(open(ours), other)
        print("%d rows, %d MB: %s as %s" % (count, os.path.getsize(path) >> 20, why or "equal", name))
        wrong |= bool(why)
    times = {"ours": [], "DuckDB": []}
    for _ in range(ROUNDS):
        before = used(resource.RUSAGE_CHILDREN)
        rows("/dev/null")
        times["ours"].append(used(resource.RUSAGE_CHILDREN) - before)
        before = used(resource.RUSAGE_SELF)
        copy("/dev/null")
        times["DuckDB"].append(used(resource.RUSAGE_SELF) - before)
    median = {name: statistics.median(values) for name, values in times.items()}
    print("seconds: " + ", ".join("%s %.2f" % item for item in median.items()) + ", DuckDB / ours %.2f" % (median["DuckDB"] / median["ours"]))
    return wrong


sys.exit(main())
