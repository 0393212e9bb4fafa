#!/bin/bash
# The Grafana dashboard of live runs: its JSON, and each of its queries against a real Prometheus that has scraped and received a run.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/prometheus.sh"

DASHBOARD=$ROOT/examples/grafana/live-runs.json
check=$TESTS/helpers/grafana_dashboard.py

# ---- the file by itself; its required parts are looked for ----
run python3 "$check" layout "$DASHBOARD"
stdout_is "" "panels have a place, a unit, a description, a query, and a legend that tells runs and stages apart"
status_is 0 "the JSON of the dashboard is right"
bad() { # JQ PART TEXT
	jq "$1" "$DASHBOARD" >bad.json
	run python3 "$check" layout bad.json
	contains "$(cat "$OUT")" "$2" "$3"
}
bad '.panels[2].id = .panels[1].id' "occurs 2 times" "an id that occurs twice is found"
bad '.panels[2].gridPos.x -= 1' "overlaps Runs" "a panel over another one is found"
bad 'del(.panels[2].fieldConfig.defaults.unit)' "no unit" "a panel without a unit is found"
bad '.panels[2].description = ""' "no description" "a panel without a description is found"
bad '.panels[2].targets = []' "no query" "a panel without a query is found"
bad '.panels[2].targets[0].legendFormat = "all"' "the legend has no name" "a legend that does not tell runs apart is found"

command -v prometheus >/dev/null || {
	skip "queries give data" "prometheus is not installed"
	exit 0
}

# ---- a run: two stages, and some requests fail ----
server_start --seed 5 --fail status:share=0.1
ipf-prep sharegpt "$ROOT/examples/chat.json" -o t.trace
ipf-sched -q constant:rate=20,n=25 constant:rate=30,n=35 -t t.trace -o s.sched
ipf-fire -q -m sim -u "$URL" -t t.trace s.sched -o run.records
half=$(($(wc -l <run.records) / 2))

# ---- collected live, in three parts, each of which Prometheus sees before the next one: all counters grow ----
# Over a time, because scraping ends with the program.
both() { # PROMQL COMPARISON: true of both jobs, scraped and pushed
	curl -sf --data-urlencode "query=count(($1) $2) == 2" "$PROMETHEUS/api/v1/query" | jq -e '.data.result[0]'
}
ended() { # MORE-THAN
	both 'sum by (job) (max_over_time(ipf_requests_total[2m]))' "> $1"
}
finished() {
	both 'max_over_time(ipf_run_finished[2m])' '== 1'
}
mkfifo records
live=$(free_ports 1)
prometheus_start server "127.0.0.1:$live"
ipf-collect -q --listen "127.0.0.1:$live" --linger 1h --push "$PROMETHEUS/api/v1/write" -o live.results <records 2>live.err &
stop_at_exit $!
exec 3>records
head -n 10 run.records >&3
yes_if "Prometheus scrapes and receives the begin of the run" wait_for ended 0
before=$(curl -s "http://127.0.0.1:$live/metrics" | awk '/^ipf_requests_total/ { n += $2 } END { print n + 0 }')
sed -n "11,${half}p" run.records >&3
yes_if "Prometheus receives the first half of the run" wait_for ended "$before"
before=$(curl -s "http://127.0.0.1:$live/metrics" | awk '/^ipf_requests_total/ { n += $2 } END { print n + 0 }')
sed "1,${half}d" run.records >&3
exec 3>&-
yes_if "Prometheus receives the second half of the run" wait_for ended "$before"
yes_if "Prometheus receives the end of the run" wait_for finished

between "$(python3 "$check" queries "$DASHBOARD")" 30 200 "the dashboard has queries"
# The simulated server does not reason, so no response reports reasoning tokens and the metric is absent.
empty="Reasoning and cached tokens per second, A"
run python3 "$check" data "$DASHBOARD" "$PROMETHEUS" "$empty"
stdout_is "" "queries parse and give data, scraped and pushed"
status_is 0 "every variable has values in Prometheus"
jq '(.panels[] | select(.title == "Stalls").targets[0].expr) |= sub("ipf_stalls_total"; "ipf_stall_total")' "$DASHBOARD" >bad.json
run python3 "$check" data bad.json "$PROMETHEUS" "$empty"
contains "$(cat "$OUT")" "Stalls, A: no data" "a metric that does not exist is found"
jq '(.panels[] | select(.title == "Stalls").targets[0].expr) += ")"' "$DASHBOARD" >bad.json
run python3 "$check" data bad.json "$PROMETHEUS" "$empty"
contains "$(cat "$OUT")" "parse error" "a query that does not parse is found"
