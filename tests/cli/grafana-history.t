#!/bin/bash
# The Grafana dashboards of the history of runs: their JSON, and each of their queries against a real SQLite and a real PostgreSQL with two
# runs. Both give the same.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/postgres.sh"

DASHBOARD=$ROOT/examples/grafana/run-history.json
LITE=$ROOT/examples/grafana/run-history-sqlite.json
check=$TESTS/helpers/grafana_dashboard.py

# ---- the files by themselves; their required parts are looked for ----
for file in "$DASHBOARD" "$LITE"; do
	run python3 "$check" layout "$file"
	stdout_is "" "${file##*/}: panels have a place, a unit, a description, and queries that choose runs by quoted variables"
	status_is 0 "the JSON of both dashboards is right"
done
bad() { # JQ PART TEXT
	jq "$1" "$DASHBOARD" >bad.json
	run python3 "$check" layout bad.json
	contains "$(cat "$OUT")" "$2" "$3"
}
bad '.panels[1].targets[0].rawSql |= sub("..model:sqlstring."; "$model")' "model is no variable, or not quoted" "a variable that is not quoted is found"
bad '.panels[1].targets[0].rawSql |= sub("..__timeFilter[^ ]*"; "TRUE")' "does not choose a run, or time" "a query of all times is found"
bad '.panels[2].targets[0].rawSql |= sub(" AS time"; "")' "no column time" "a line without times is found"
jq '.panels[] |= if .title == "Requests per second of the run" then .targets[0].timeColumns += ["started"] else . end' "$LITE" >bad.json
run python3 "$check" layout bad.json
stdout_is "Requests per second of the run: other columns are read as times than those that are" "a number that the plugin would read as a time is found"
is "$(jq -c '[.templating.list[0].query, ([.panels[].targets // [] | .[].datasource.type] | unique[])]' "$LITE")" \
	'["frser-sqlite-datasource","frser-sqlite-datasource"]' "queries of the dashboard for SQLite go to its plugin"
is "$(jq -r '.panels[] | select(.targets[0].rawQueryText // "" | test("AS metric")) | .fieldConfig.defaults.displayName' "$LITE" | sort -u)" '${__field.labels.metric}' \
	"lines of the dashboard for SQLite have their labels as names"

# ---- two runs of two stages, with failures ----
server_start --seed 5 --fail status:share=0.1 --fail reset:share=0.1,after=2
ipf-prep -q sharegpt "$ROOT/examples/chat.json" -o t.trace
for run in 1 2; do
	ipf-sched -q constant:rate=40,n=30 constant:rate=60,n=30 -t t.trace --seed $run -o s.sched
	ipf-fire -q --name nightly -m sim -u "$URL" -t t.trace s.sched -o $run.records
	ipf-collect -q $run.records -o $run.results
	ipf-report export sql --slo ttft=1s,tpot=1s --meta "commit=5f3a9c$run" $run.results >$run.sql
done
broken() { # DASHBOARD PANEL FROM TO PART TEXT [DATABASE]
	jq --arg panel "$2" --arg from "$3" --arg to "$4" \
		'(.panels[] | select(.title == $panel).targets[0] | (.rawSql, .rawQueryText) | strings) |= sub($from; $to)' "$1" >bad.json
	run python3 "$check" sql bad.json "${@:7}"
	contains "$(cat "$OUT")" "$5" "$6"
}

if command -v sqlite3 >/dev/null; then
	cat 1.sql 2.sql >both.sql
	run sqlite3 -bail runs.db <both.sql
	status_is 0 "SQLite has the runs"
	run python3 "$check" sql "$LITE" runs.db
	stdout_is "" "SQLite: each query gives rows, of both runs where it shows a history, every column has values, of one type"
	status_is 0 "every variable has values in SQLite"
	broken "$LITE" TPOT latency.tpot_ms latency.tpot "TPOT, A: no rows" "a figure that does not exist is found" runs.db
	broken "$LITE" Errors hint hints "no such column: hints" "a column that does not exist is found in SQLite" runs.db
	broken "$LITE" TPOT "m.value AS value" "iif(m.statistic = 'p50', 1, m.value) AS value" "several types in value" "integers among other numbers are found in SQLite" runs.db
else
	skip "SQLite: each query gives rows" "sqlite3 is not installed"
fi

if [ -z "$(postgres_programs)" ] || ! command -v psql >/dev/null; then
	skip "PostgreSQL: each query gives rows" "PostgreSQL is not installed"
	exit 0
fi
postgres_start
export PGTZ=UTC
for run in 1 2; do
	run psql -X -q -v ON_ERROR_STOP=1 -f $run.sql
	status_is 0 "run $run is in PostgreSQL"
done
between "$(python3 "$check" queries "$DASHBOARD")" 15 200 "the dashboard has queries"
run python3 "$check" sql "$DASHBOARD"
stdout_is "" "PostgreSQL: each query gives rows, of both runs where it shows a history, and every column has values"
status_is 0 "every variable has values in PostgreSQL"
broken "$DASHBOARD" TPOT latency.tpot_ms latency.tpot "TPOT, A: no rows" "a figure that does not exist is found"
broken "$DASHBOARD" Stages throughput.output_tokens_per_s output_tokens_per_s "Stages, A: no value of output tokens/s" "a missing figure in a column is found in PostgreSQL"
broken "$DASHBOARD" Errors hint hints 'column "hints" does not exist' "a column that does not exist is found in PostgreSQL"

# ---- both ----
if command -v sqlite3 >/dev/null; then
	run python3 "$check" same "$DASHBOARD" "$LITE" runs.db
	stdout_is "" "both databases give the same rows for queries and variables"
	status_is 0 "both databases give the same numbers to the last digit"
	jq '(.panels[] | select(.title == "TPOT").targets[0].rawQueryText) |= sub("m.value AS"; "m.value + 0.001 AS")' "$LITE" >bad.json
	run python3 "$check" same "$DASHBOARD" bad.json runs.db
	contains "$(cat "$OUT")" "TPOT, A: " "a figure that differs between both is found"
fi
