#!/bin/bash
# Parquet through duckdb: a substitute for it that works, fails, or is missing.
. "$TESTS/tap.sh"
prep=$BIN/ipf-prep
mkdir bin
printf 'PAR1' >"it's.parquet"
cat >bin/duckdb <<'SH'
#!/bin/sh
[ "$1 $2" = "-jsonlines -c" ] && [ "$3" = "SELECT * FROM read_parquet('it''s.parquet')" ] || exit 9
printf '{"prompt":"One?","output":"1"}\n{"prompt":"Two?","output":"2"}\n'
exit "${DUCKDB_STATUS:-0}"
SH
chmod +x bin/duckdb
saved=$PATH
PATH=$PWD/bin:$PATH
run "$prep" auto "it's.parquet"
status_is 0 "a file is read by way of duckdb"
is "$(sed -e 1d -e '$d' "$OUT" | jq -r '.messages[0].content' | tr '\n' ' ')" "One? Two? " "with its rows"
is "$(tail -1 "$OUT" | jq -r '.end.from[0].sha256')" "$(sha256sum <"it's.parquet" |
	cut -d ' ' -f 1)" "and the file's digest"
run "$prep" jsonl -n 1 "it's.parquet"
status_is 0 "not to its end"
DUCKDB_STATUS=1
export DUCKDB_STATUS
run "$prep" jsonl "it's.parquet"
status_is 3 "duckdb fails: status 3"
complains ipf-prep "duckdb could not read the whole file" "and it is said"
PATH=$saved
run env PATH="$PWD/none" "$prep" jsonl "it's.parquet"
status_is 1 "duckdb is not there: status 1"
complains ipf-prep "cannot read Parquet without duckdb" "and how to get it is said"

# The real one.
if command -v duckdb >/dev/null; then
	unset DUCKDB_STATUS
	for layout in lmsys wildchat; do
		duckdb -c "COPY (SELECT * FROM read_json('$TESTS/data/prep/$layout.jsonl')) TO '$layout.parquet' (FORMAT parquet)" >/dev/null
		"$prep" sharegpt --turns all "$TESTS/data/prep/$layout.jsonl" -o lines.trace
		run "$prep" auto --turns all "$layout.parquet" -o parquet.trace
		status_is 0 "$layout in Parquet"
		is "$(body parquet.trace)" "$(body lines.trace)" "is what it is in JSON Lines"
	done
	head -c 400 lmsys.parquet >cut.parquet
	run "$prep" sharegpt cut.parquet
	status_is 3 "Parquet that was cut: status 3"
else
	skip "Parquet by duckdb itself" "duckdb is not installed"
fi
