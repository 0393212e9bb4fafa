#!/bin/bash
# An exact merge: the report of three shards is that of one analysis of all their records, number by number: latencies, windows, the
# server's own metrics, sessions and where it saturates.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
export IPF_REPORT_FULL=1 # all sections of the text
. "$TESTS/fixture.sh"

server_start --step-base 2ms
ipf-prep sharegpt "$ROOT/examples/chat.json" --turns all --wait 2ms --output-tokens 4 -q -o chat.trace
for k in 1 2 3; do
	ipf-sched -q --shard $k/3 constant:rate=30,n=15 constant:rate=90,n=45 closed:users=6,n=24 burst:n=12 -t chat.trace -o s$k.sched
done
fires=()
for k in 2 3; do
	ipf-fire -q -u "$URL" -m sim -t chat.trace s$k.sched -o s$k.records &
	fires+=($!)
	stop_at_exit $!
done
# the first one watches the server
ipf-fire -q -u "$URL" -m sim -t chat.trace s1.sched | tee s1.records | ipf-collect -q --scrape "$URL" --every 100ms -o live.results
for pid in "${fires[@]}"; do wait "$pid" || not_ok "every client of a shard ends with 0"; done
# as with --start-at, all began at the same time: their windows are the same, and nothing has to be moved
t0=$(head -1 s1.records | sed -E 's,.*"t0_unix_ns":([0-9]+).*,\1,')
for k in 1 2 3; do
	sed -i -E "1s/\"t0_unix_ns\":[0-9]+/\"t0_unix_ns\":$t0/" s$k.records
	samples=()
	[ $k -gt 1 ] || samples=(--samples live.results)
	ipf-collect -q --every 100ms ${samples[@]+"${samples[@]}"} s$k.records >s$k.results # without a name
done
run ipf-collect -q --every 100ms --samples live.results s1.records s2.records s3.records
cp "$OUT" all.results
status_is 0 "records of all shards are collected together"

# The differences are the sources of the figures, and the clients' own seconds: those count in which the client at hand had requests, and
# of all records together those in which any had.
same_figures='del(.run, .verdict.status, .verdict.checks[1]) | del(.. | .accuracy?)' # exact: left out
report() { # RESULTS…: in $OUT
	run ipf-report -f json --slo ttft=100ms,p99:e2e=5s --by time=500ms "$@"
}
report all.results
status_is 0 "results of all records are reported"
jq -S "$same_figures" "$OUT" >all.json
report s1.results s2.results s3.results
status_is 0 "the shards of each, too"
jq -S "$same_figures" "$OUT" >parts.json
same parts.json all.json "shards have the numbers of the whole run"
is "$(jq '[.. | numbers] | length > 1000' all.json)" true "the compared report has more than 1000 numbers"
is "$(jq -c '[.total.requests.ok, .total.requests.scheduled, (.series.windows | map(.started // 0) | add)]' parts.json)" \
	"[127,127,127]" "shards have all requests of the run"
is "$(jq -c '[.sessions.sessions > 24, .sessions.requests_each.max > 1, (.server.targets | length), has("saturation")]' parts.json)" "[true,true,1,true]" \
	"shards have sessions, the server's figures and its saturation"
report s3.results s1.results s2.results
jq -S "$same_figures" "$OUT" | jq -S 'del(.clocks)' >turned.json
jq -S 'del(.clocks)' parts.json >parts.plain
same turned.json parts.plain "shards in another order have the same numbers"

# bars: each client's own delays are no longer than those of all of them, which count where they cannot be told apart
report all.results
cp "$OUT" one.json
report s1.results s2.results s3.results
is "$(jq -n --slurpfile a one.json --slurpfile b "$OUT" '[["low", "high"][] as $e | $a[0].total.accuracy.e2e_ms.from_start[$e].p50 -
	$b[0].total.accuracy.e2e_ms.from_start[$e].p50] | .[0] <= 0.000001 and .[1] < 0.000001 and .[1] > -0.000001')" true "bars of the parts are no wider"

for format in csv vllm sglang aiperf genai-perf inference-perf lpg genai-bench inferencex; do
	ipf-report --reproducible -f $format all.results >all.out
	ipf-report --reproducible -f $format s1.results s2.results s3.results >parts.out
	same parts.out all.out "shards give the same $format"
done
for part in 1 2 3; do ipf-report -f requests-csv s$part.results | tail -n +2; done | cut -d , -f 2- | sort >parts.rows
ipf-report -f requests-csv all.results | tail -n +2 | cut -d , -f 2- | sort >all.rows
same parts.rows all.rows "shards give the same requests"
