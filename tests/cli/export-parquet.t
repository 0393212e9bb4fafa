#!/bin/bash
# ipf-report export parquet: every value of the results, read back by our reader, pyarrow and DuckDB (PYTHON has both).
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
unset -f jq # the order of members matters
data=$TESTS/data/report
report=$BIN/ipf-report
python=${PYTHON:-python3}
readers=(ours)
if "$python" -c 'import duckdb, pyarrow' 2>/dev/null; then
	readers+=(pyarrow duckdb)
else
	skip "pyarrow and DuckDB read the tables" "PYTHON has no packages pyarrow and duckdb"
fi

# Every table of these results has their values, by every reader.
agrees() { # NAME RESULTS[:SHIFT_NS]…
	local name=$1 table reader
	shift
	for table in requests events windows; do
		run "$report" export parquet --table $table -o "$name-$table.parquet" "${@%%:*}"
		status_is 0 "$name: $table are written"
		for reader in "${readers[@]}"; do
			is "$("$python" "$TESTS/helpers/parquet_truth.py" "$reader" $table "$name-$table.parquet" "$@" 2>&1 | tail -5)" "" \
				"$name: $reader reads the values of the results in the table $table"
		done
	done
}
rows() { "$BUILD/tests/parquet_rows" "$1"; }

# ---- runs ----
for name in mixed errors empty one closed; do agrees $name "$data/$name.results"; done
is "$(rows empty-requests.parquet | wc -l)" "$(grep -c '"ok"' "$data/empty.results")" "a run without requests is a table without rows"
server_start --step-base 1ms
small_run 40
ipf-collect -q --events --text --every 1s chat.records -o some.results.zst
agrees some some.results.zst
between "$(rows some-events.parquet | wc -l)" 500 50000 "the run has events"
is "$(rows some-events.parquet | jq -c 'select(.kind == "close") | .event' | sort | uniq -c | tr -s ' ')" " 40 null" "each response has an end that is no content event"
is "$(rows some-requests.parquet | jq -r 'select(.text == null) | .n')" "" "requests have the texts of their answers"

# ---- hostile names, extremes, absent values ----
python3 - <<'END' >body
import json
names = ["", "'", '"', "\\", "a\0b", "\ud800", "naïve 名 😀", "x'); DROP TABLE t; --", "two\nlines", "\x1b[31mred", "x" * 100000, "\U0010ffff" * 20, "NULL", "null"]
most = 2**61 - 1
for i, name in enumerate(names):
    row = {"n": i, "req": i, "stage": 0, "copy": most, "id": name, "session": name, "turn": i, "after": [0, most][:i % 3], "model": name, "ok": i % 2 == 0,
           "start_ns": i, "end_ns": i + 1, "lag_ns": -10**18 if i == 3 else None, "loop_bytes": most, "unread_events": 0, "finish": name, "slo": {name: 1},
           "edge_ns": [1, most], "edge_tokens": [0, 0], "event_ns": [5, 5, 7], "event_tokens": [1, 0, most], "other_ns": [5, 6], "other_kinds": [name, "end"],
           "text": name, "reasoning": name}
    if i % 2:
        row["error"] = {"kind": "in-band", "text": name, "status": 200, "stale": i % 4 == 1}
    if i < 4:
        row["tags"] = [{"a": 'b"'}, ["x", "y"], {}, []][i]
    if i == 5:
        row = {"n": 5, "stage": 0, "ok": True}
    print(json.dumps({k: v for k, v in row.items() if v is not None}))
END
seal "$data/one.results" body >evil.results
agrees evil evil.results
is "$(rows evil-requests.parquet | jq -c 'select(.n == 5) | del(.run, .number, .part, .n, .stage, .stage_name, .target, .ok) | [.[] | values]')" "[]" "absent values are null"
is "$(rows evil-requests.parquet | jq -c .after | sort | uniq -c | tr -s ' \n' ' ')" \
	"$(jq -c .after body | sort | uniq -c | tr -s ' \n' ' ')" "empty lists are no null values"

# ---- windows, shards, repeats ----
header() { # T0_UNIX_NS
	jq -c ".series = { every_ns: 1000000000 }" <(head -1 "$data/one.results") | sed "s/\"tool\":\"ipf-fire 0.1.0\"/&,\"t0_unix_ns\":$1/"
}
make() { # NAME T0_UNIX_NS N
	header "$2" >header
	{
		sed -e 1d -e '$d' "$data/one.results" | jq -c "if .n then .n = $3 | .edge_ns = [3, 4] | .edge_tokens = [0, 1] | .attempts = 2 | .attempt_start_ns = 9 | .event_ns = [5] else . end"
		echo '{"sample":"client","t_ns":12000000000}'
		jq -nc 'range(12) | { window: ., t_ns: (. * 1000000000), length_ns: 1000000000, stage: 0, started: (. + 1), ok: 1000000000000, input_tokens: 4611686018427387904,
			ttft_ns: { count: 1, min: 100, max: 100, sum: 100, buckets: [[100, 1]] } } | if .window == 3 then .failed = { reset: 1, timeout: 2 } else . end'
	} >body
	seal header body >"$1.results"
}
make first 1000000000000000000 0
agrees first first.results
is "$(rows first-windows.parquet | jq -c 'select(.window == 3) | [.failed, .failures, .ttft_ns_p50, .ttft_ns_p99, .itl_ns, .itl_ns_n]')" '[3,{"reset":1,"timeout":2},100,100,null,null]' "windows have failures by kind, and percentiles"
make second 1000000002000000000 1
run "$report" export parquet -o shards.parquet first.results second.results
for reader in "${readers[@]}"; do
	is "$("$python" "$TESTS/helpers/parquet_truth.py" "$reader" requests shards.parquet first.results second.results:2000000000)" "" "$reader: times of shards count from the first start"
done
"$report" export parquet --table events -o shards.parquet first.results second.results
is "$("$python" "$TESTS/helpers/parquet_truth.py" ours events shards.parquet first.results second.results:2000000000)" "" "times of events of shards count from the first start"
"$report" export parquet --table windows -o shards.parquet first.results second.results
is "$(rows shards.parquet | jq -c '[.window, .started]' | tail -13 | head -2 | tr '\n' ' ')" "[1,2] [2,4] " "windows of shards add up"
make after 1000000900000000000 1
run "$report" export parquet --table windows -o repeats.parquet first.results after.results
is "$status $(rows repeats.parquet | wc -l)" "0 0" "repeats have no windows in common"
is "$(rows shards.parquet | jq -r .run | sort -u | wc -l) $(rows first-windows.parquet | jq -r .run | sort -u)" "1 $(tail -1 first.results | jq -r .end.sha256)" "a run is called by its digest"
run "$report" export parquet --reproducible -o dateless.parquet first.results
is "$(rows dateless.parquet | jq -c .t_utc | sort -u)" null "--reproducible leaves dates out"

# ---- row groups ----
python3 -c 'for i in range(50): print("{\"n\":%d,\"stage\":0,\"ok\":true,\"text\":\"%s%d\"}" % (i, "x" * 1000000, i))' >body
seal "$data/one.results" body >long.results
agrees long long.results

# ---- output ----
cp some.results.zst in.results.zst
run "$report" export parquet in.results.zst
same "$OUT" some-requests.parquet "requests are the default, and standard output is a file"
run "$report" -o named.parquet in.results.zst
same named.parquet some-requests.parquet "the format follows the name of the output"
python3 "$TESTS/terminal.py" lines 24 80 0 "$report export parquet in.results.zst" >"$OUT"
contains "$(cat "$OUT")" "parquet is not printed on a terminal: use -o FILE" "a terminal gets no Parquet"
run "$report" export parquet in.results.zst -o in.results.zst
status_is 2 "an output that is the input is refused"
same in.results.zst some.results.zst "an output that is the input leaves it as it is"
run "$report" export csv --table events in.results.zst
status_is 2 "--table of another format is refused"
complains "ipf-report export" "--table requires parquet" "ipf-report says which format --table belongs to"
run "$report" -f csv --table events in.results.zst
complains ipf-report "--table requires -f parquet" "ipf-report says which format --table belongs to, with -f"
run "$report" export parquet --table requets in.results.zst
complains "ipf-report export" "--table: expected requests, events or windows, got \"requets\"" "ipf-report lists the tables"
for table in requests events windows; do
	run_to_full() { "$report" export parquet --table $table in.results.zst >/dev/full; }
	run run_to_full
	status_is 1 "$table: a full device is an error"
done
