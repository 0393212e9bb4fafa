#!/bin/bash
# A million rows of Parquet, beside DuckDB and pyarrow. PYTHON is a Python that has both, such as one of a virtual environment.
. "$TESTS/tap.sh"
python=${PYTHON:-python3}
"$python" -c 'import duckdb, pyarrow' 2>/dev/null || skip_all "PYTHON has no packages duckdb and pyarrow"
run "$python" "$TESTS/helpers/parquet_compare.py" "$BUILD/tests/parquet_rows" "$PWD" "${IPF_PARQUET_ROWS:-1000000}"
sed 's/^/# /' "$OUT"
status_is 0 "the values are equal"
is "$(grep -c equal "$OUT")" 2 "DuckDB and pyarrow read the same values"
between "$(sed -n 's,.*DuckDB / ours ,,p' "$OUT")" 1 1000 "ipf-prep takes no longer than DuckDB with one thread"
yes_if "a million rows fit into 100 MB of memory" sh -c 'ulimit -v 100000 && "$1" data.parquet >/dev/null' sh "$BUILD/tests/parquet_rows"
