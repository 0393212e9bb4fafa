#!/bin/bash
# The Grafana dashboard of the history of runs: its JSON, and each of its queries against a real PostgreSQL that has two runs.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/postgres.sh"

DASHBOARD=$ROOT/examples/grafana/run-history.json
check=$TESTS/cli/grafana_dashboard.py

# ---- the file by itself; what it must have is looked for ----
run python3 "$check" layout "$DASHBOARD"
stdout_is "" "panels have a place, a unit, a description, and queries that choose runs by quoted variables"
status_is 0 "and the JSON is right"
bad() { # JQ PART TEXT
	jq "$1" "$DASHBOARD" >bad.json
	run python3 "$check" layout bad.json
	contains "$(cat "$OUT")" "$2" "$3"
}
bad '.panels[1].targets[0].rawSql |= sub("..model:sqlstring."; "$model")' "model is no variable, or not quoted" "a variable that is not quoted is found"
bad '.panels[1].targets[0].rawSql |= sub("..__timeFilter[^ ]*"; "TRUE")' "does not choose a run, or time" "so is a query of all times"
bad '.panels[2].targets[0].rawSql |= sub(" AS time"; "")' "no column time" "and a line without times"

if [ -z "$(postgres_programs)" ] || ! command -v psql >/dev/null; then
	skip "each query gives rows" "PostgreSQL is not installed"
	exit 0
fi
postgres_start

# ---- two runs of two stages, with failures ----
server_start --seed 5 --fail status:share=0.1 --fail reset:share=0.1,after=2
ipf-prep -q sharegpt "$ROOT/examples/chat.json" -o t.trace
for run in 1 2; do
	ipf-sched -q constant:rate=40,n=30 constant:rate=60,n=30 -t t.trace --seed $run -o s.sched
	ipf-fire -q --name nightly -m sim -u "$URL" -t t.trace s.sched -o run.records
	ipf-collect -q run.records -o $run.results
	ipf-report -f sql --slo ttft=1s,tpot=1s --meta "commit=5f3a9c$run" $run.results >$run.sql
	run psql -X -q -v ON_ERROR_STOP=1 -f $run.sql
	status_is 0 "run $run is in the database"
done

between "$(python3 "$check" queries "$DASHBOARD")" 15 200 "the dashboard has queries"
run python3 "$check" sql "$DASHBOARD"
stdout_is "" "each query gives rows, of both runs where it shows a history, and every column has values"
status_is 0 "all variables have values"
broken() { # PANEL FROM TO PART TEXT
	jq --arg panel "$1" --arg from "$2" --arg to "$3" '(.panels[] | select(.title == $panel).targets[0].rawSql) |= sub($from; $to)' "$DASHBOARD" >bad.json
	run python3 "$check" sql bad.json
	contains "$(cat "$OUT")" "$4" "$5"
}
broken TPOT latency.tpot_ms latency.tpot "TPOT, A: no rows" "a figure that does not exist is found"
broken Stages throughput.output_tokens_per_s output_tokens_per_s "Stages, A: no value of output tokens/s" "so is one in a column"
broken Errors hint hints 'column "hints" does not exist' "and a column that does not exist"
