#!/bin/bash
# ipf-report -f sql, fed to a real SQLite and a real PostgreSQL and read back.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
. "$TESTS/postgres.sh"
data=$TESTS/data/report
report=$BIN/ipf-report
agrees=$TESTS/helpers/sql_agrees.py

# ---- streams: the goldens, a series of windows, samples of servers and accelerators ----
{
	jq -nc 'range(8) | { n: ., stage: 0, ok: true, model: "m", due_ns: (. * 200000000), start_ns: (. * 200000000), end_ns: (. * 200000000 + 100000000),
		ttft_ns: 50000000, e2e_ns: 90000000, events: 2, output_tokens: 2 }'
	jq -nc 'range(0; 4) as $t | { sample: "server", t_ns: ($t * 1000000000), target: "a", server: "vllm", interval_ns: 1000000000,
		gauges: { running: $t }, counters: { requests_ok: 2, output_tokens: 4 },
		histograms: { ttft_ns: { count: 2, sum: 100000000, buckets: [[40000000, 0], [60000000, 2], [null, 0]] } } }'
	jq -nc 'range(0; 3) | { sample: "gpu", t_ns: (. * 1000000000), source: "nvml", host: "h", device: "GPU-0", index: 0, utilization: 0.5, power_w: 300 }'
	jq -nc 'range(2) | { window: ., t_ns: (. * 1000000000), length_ns: 1000000000, stage: 0, scheduled: 4, started: 4, ok: 4, in_flight_ns: 400000000,
		output_tokens: 8 }'
} | jq -c 'if .n == 1 then .tags = { tenant: "a \"b\"" } elif .n == 2 then .tags = ["x", "y"] else . end' >body
head -1 "$data/mixed.results" | jq -c '.series = { every_ns: 1000000000, t0_unix_ns: 0 }' >header
seal header body >sampled.results
cp "$data/mixed.results" "$data/errors.results" "$data/empty.results" .

sql() { # FILE.results [OPTION…]: its report as SQL and JSON
	"$report" -f sql --slo ttft=150ms,p50:e2e=1s "${@:2}" "$1.results" >"$1.sql" &&
		"$report" -f json --slo ttft=150ms,p50:e2e=1s "${@:2}" "$1.results" >"$1.json"
}
for name in mixed errors empty sampled; do
	yes_if "$name: is written" sql $name --meta commit=5f3a9c1 --meta "note=it's \\"
done
is "$(jq -c '.series.windows | length' sampled.json)" 2 "one of the runs has windows"
is "$(jq -c '[.server, .accelerators] | map(length > 0)' sampled.json)" "[true,true]" "one of the runs has samples"

# ---- SQLite ----
if command -v sqlite3 >/dev/null; then
	for name in mixed errors empty sampled mixed; do
		run sqlite3 -bail runs.db <$name.sql
		status_is 0 "SQLite takes $name"
		is "$(cat "$OUT" "$ERR")" "" "SQLite takes $name without messages"
	done
	is "$(sqlite3 runs.db 'SELECT count(*) FROM runs')" 4 "SQLite has a run once that it takes twice"
	for name in mixed errors empty sampled; do
		python3 "$agrees" report runs.db $name.json $name.results >differs
		is "$(head -5 differs)" "" "$name: every number agrees with JSON and with the rows"
	done
	is "$(sqlite3 runs.db "SELECT number, coalesce(json_extract(tags, '$.tenant'), json_extract(tags, '\$[1]')) FROM requests WHERE tags IS NOT NULL" | tr '\n' ' ')" \
		'1|a "b" 2|y ' "tags are JSON"
	is "$("$report" -f requests-csv sampled.results | python3 -c 'import csv, sys; print([row["tags"] for row in csv.DictReader(sys.stdin)][:3])')" \
		"['', '{\"tenant\":\"a \\\\\"b\\\\\"\"}', '[\"x\",\"y\"]']" "requests of SQLite have the tags of requests-csv"
	is "$(sqlite3 runs.db "SELECT DISTINCT key, value FROM meta" | tr '\n' ' ')" "commit|5f3a9c1 note|it's \\\\ " "notes are there"
	digest=$(tail -1 mixed.results | jq -r .end.sha256)
	is "$(sqlite3 runs.db "SELECT count(*) FROM runs WHERE run = '$digest'")" 1 "a run is called by the SHA-256 of its lines"
	sql mixed --meta other=1
	sqlite3 runs.db <mixed.sql
	is "$(sqlite3 runs.db "SELECT key FROM meta WHERE run = '$digest'")" other "a run that is taken again replaces its notes"
	sql mixed --reproducible
	sqlite3 dates.db <mixed.sql
	is "$(sqlite3 dates.db "SELECT started IS NULL AND host IS NULL FROM runs")" 1 "--reproducible: the run has no dates"
	sql mixed --errors-as-inf
	is "$(grep -c '"inf"' mixed.json | sed 's/[1-9][0-9]*/some/')" some "JSON has infinite latencies with --errors-as-inf"
	sqlite3 infinite.db <mixed.sql
	is "$(sqlite3 infinite.db "SELECT count(*) FROM metrics WHERE value IS NULL OR typeof(value) <> 'real'")" 0 "infinite values are not in SQLite"
	sqlite3 old.db <errors.sql
	sqlite3 old.db "ALTER TABLE requests DROP COLUMN tags" || sqlite3 old.db "ALTER TABLE requests RENAME COLUMN tags TO none"
	run sqlite3 -bail old.db <errors.sql
	status_is 1 "a database of an older version is refused"
	contains "$(cat "$ERR")" "no such column: tags" "SQLite names the column that the older version lacks"
	is "$(sqlite3 old.db "SELECT (SELECT count(*) FROM requests) > 0, (SELECT count(*) FROM runs)")" "1|1" "a database of an older version keeps its rows"
	sqlite3 old.db "ALTER TABLE requests ADD COLUMN tags TEXT"
	run sqlite3 -bail old.db <errors.sql
	status_is 0 "a database with the new column takes the run"
	head -c $(($(wc -c <errors.sql) / 2)) errors.sql | sqlite3 cut.db 2>cut.err
	is "$(sqlite3 cut.db .tables)" "" "a stream that is cut leaves nothing behind"
	sqlite3 runs.db "SELECT m.name || '.' || p.name FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table'" >columns
	page=$(sed -e 's/\\-/-/g' -e 's/\\&//g' "$TESTS/../ipf-report/ipf-exports.5" "$TESTS/../lib/stream/ipf-results.5")
	while IFS=. read -r table column; do
		grep -qw -e "$table" <<<"$page" && grep -qw -e "$column" <<<"$page" || echo "$table.$column"
	done <columns >missing
	between "$(wc -l <columns)" 100 400 "tables have 100 to 400 columns"
	is "$(cat missing)" "" "ipf-exports(5) or ipf-results(5) describes every column"
else
	skip "SQLite takes it" "sqlite3 is not installed"
fi

# ---- names looking like others ----
bad=(
	"x'); DROP TABLE runs; --" "\\'); DROP TABLE runs; --" "\\\\'); DROP TABLE runs; --" "ends in \\" $'a\n.shell touch pwned\nb'
	$'a\n\\! touch pwned\nb' $'\\\\! touch pwned' '$$; DROP TABLE runs; $$' $'\e[31mred' "/* */ -- ;" '"; DROP TABLE runs; --' ":name :'name'"
	"'||(SELECT 1)||'" "naïve 名" "nul\\u0000x"
)
printf '%s\0' "${bad[@]}" | jq -Rsc 'split("\u0000") | map(select(. != "")) | to_entries[] | (.value | sub("nul.*"; "nul\u0000x")) as $v | { n: .key, stage: 0, ok: false, id: $v,
	model: $v, session: $v, finish: $v, start_ns: .key, end_ns: (.key + 1), error: { kind: "in-band", text: $v } }' >body
head -1 "$data/one.results" | jq -c --arg v "${bad[1]}" '.name = $v | .api = $v' >header
seal header body >evil.results
run sql evil --meta "key=${bad[1]}"
status_is 0 "names that would be statements are written"
is "$(LC_ALL=C tr -d '\n' <evil.sql | LC_ALL=C tr -dc '\000-\037' | wc -c | tr -d ' ')" 0 "SQL has no control characters"
unharmed() { # MODELS DATABASE
	is "$(printf '%s\n' "$1" | sort)" "$(sort expected)" "$2: every name is what it was"
	yes_if "$2: nothing was run" test ! -e pwned
}
# As safe_text.h shows them, with an even number of backslashes before a quote and at the end.
python3 - <<-'END' >expected
	import json, re
	for line in open("body"):
	    text = json.loads(line)["model"].replace("\n", "\\n").replace("\x1b", "\\x1b").replace("\0", "\\x00")
	    print(re.sub(r"(\\+)(?='|$)", lambda m: m[0] + "\\" * (len(m[0]) % 2), text))
END
if command -v sqlite3 >/dev/null; then
	run sqlite3 -bail evil.db <evil.sql
	status_is 0 "SQLite takes them"
	unharmed "$(sqlite3 evil.db 'SELECT model FROM requests WHERE id = model AND session = model AND finish = model AND error_text = model')" SQLite
	is "$(sqlite3 evil.db 'SELECT count(*) FROM runs')" 1 "SQLite still has the tables after hostile names"
fi

# ---- PostgreSQL ----
if [ -z "$(postgres_programs)" ] || ! command -v psql >/dev/null; then
	skip "PostgreSQL takes it" "PostgreSQL is not installed"
	exit 0
fi
postgres_start
client=(psql -X -q -v ON_ERROR_STOP=1)
sql mixed --meta commit=5f3a9c1
rm -f runs.db
for name in mixed errors empty sampled mixed; do
	run "${client[@]}" <$name.sql
	status_is 0 "PostgreSQL takes $name"
	is "$(grep -v 'NOTICE:.*already exists' "$ERR")" "" "PostgreSQL takes $name without messages"
	! command -v sqlite3 >/dev/null || sqlite3 runs.db <$name.sql
done
is "$("${client[@]}" -Atc 'SELECT count(*) FROM runs')" 4 "PostgreSQL has a run once that it takes twice"
if [ -e runs.db ]; then
	mkdir pg
	for table in $(sqlite3 runs.db .tables); do
		"${client[@]}" --csv -c "SELECT * FROM $table" >"pg/$table.csv"
	done
	is "$(python3 "$agrees" same runs.db pg)" "" "every row is that of SQLite"
fi
is "$("${client[@]}" -Atc "SELECT extract(epoch FROM w.at - r.started) FROM windows w JOIN runs r USING (run) ORDER BY w.t_s" | tr '\n' ' ')" \
	"0.000000 1.000000 " "times are points in time"
"${client[@]}" -c "ALTER TABLE requests DROP COLUMN tags"
run "${client[@]}" <errors.sql
status_is 3 "PostgreSQL refuses tables of an older version"
contains "$(cat "$ERR")" 'column "tags" does not exist' "PostgreSQL names the column that the older version lacks"
is "$("${client[@]}" -Atc "SELECT (SELECT count(*) FROM requests) > 0, (SELECT count(*) FROM runs)")" "t|4" "tables of an older version keep their rows"
"${client[@]}" -c "ALTER TABLE requests ADD COLUMN tags TEXT"
head -c $(($(wc -c <errors.sql) / 2)) errors.sql | sed 's/INTO [a-z]*/&/' | psql -X -q -d postgres >cut.out 2>&1
is "$("${client[@]}" -Atc 'SELECT count(*) FROM runs')" 4 "a stream that is cut changes nothing"
jq -c 'select(.model | explode | index(0) | not)' body >plain.body
seal header plain.body >plain.results
sql plain
for setting in on off; do
	# Without it, a backslash begins an escape, and that of a NUL is refused.
	if [ $setting = on ]; then name=evil runs=5; else name=plain runs=6; fi
	run env PGOPTIONS="-c standard_conforming_strings=$setting" "${client[@]}" <$name.sql
	status_is 0 "PostgreSQL takes names that would be statements, standard_conforming_strings=$setting"
	is "$("${client[@]}" -Atc 'SELECT count(*) FROM runs')" $runs "PostgreSQL still has the tables after hostile names"
	[ $setting = off ] || unharmed "$("${client[@]}" -Atc "SELECT r.model FROM requests r JOIN runs USING (run) WHERE id = r.model AND error_text = r.model
		AND finish = r.model AND session = r.model")" PostgreSQL
	yes_if "$setting: nothing was run" test ! -e pwned
done
run env PGOPTIONS="-c standard_conforming_strings=off" "${client[@]}" <evil.sql
status_is 3 "a NUL is refused where a backslash begins an escape"
is "$("${client[@]}" -Atc 'SELECT count(*) FROM runs')" 6 "a refused NUL changes nothing"
