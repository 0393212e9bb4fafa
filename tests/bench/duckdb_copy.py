"""Runs a statement of DuckDB on one thread and prints the processor time it took, in seconds, without starting Python and DuckDB."""

import sys
import time

import duckdb

connection = duckdb.connect()
connection.execute("SET threads=1")
begin = time.process_time()
connection.execute(sys.argv[1])
print(f"{time.process_time() - begin:.3f}")
