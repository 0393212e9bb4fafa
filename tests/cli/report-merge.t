#!/bin/bash
# An exact merge: the report of three shards is that of one analysis of all their records, number by number.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

server_start --step-base 2ms
ipf-prep sharegpt "$ROOT/examples/chat.json" --max-output 12 -q -o chat.trace
for k in 1 2 3; do
	ipf-sched -q --shard $k/3 poisson:rate=60,n=90 burst:n=12 -t chat.trace -o s$k.sched
done
fires=()
for k in 1 2 3; do
	ipf-fire -q -u "$URL" -m sim -t chat.trace s$k.sched -o s$k.records &
	fires+=($!)
	stop_at_exit $!
done
for pid in "${fires[@]}"; do wait "$pid" || not_ok "a client"; done
# as with --start-at, all began at the same time: their windows are the same, and nothing has to be moved
t0=$(head -1 s1.records | jq -c .t0_unix_ns)
for k in 1 2 3; do
	sed -i -E "1s/\"t0_unix_ns\":[0-9]+/\"t0_unix_ns\":$t0/" s$k.records
	ipf-collect -q --every 100ms s$k.records -o s$k.results
done
run ipf-collect -q --every 100ms s1.records s2.records s3.records -o all.results
status_is 0 "all records are collected together"

# What differs is where the figures come from, and two answers of the verdict: of the clients' seconds, those of each in its own time
# count, and the delivered share is that of each client's own span.
same_figures='del(.run, .verdict.status, .verdict.checks[0].delivered, .verdict.checks[1]) | del(.. | .accuracy?)'
report() { # RESULTS…: in $OUT
	run ipf-report -f json --slo ttft=100ms,p99:e2e=5s --by time=500ms "$@"
}
report all.results
status_is 0 "and reported"
jq -S "$same_figures" "$OUT" >all.json
report s1.results s2.results s3.results
status_is 0 "the shards of each, too"
jq -S "$same_figures" "$OUT" >parts.json
same parts.json all.json "with the same numbers"
is "$(jq '[.. | numbers] | length > 1000' all.json)" true "which are many"
is "$(jq -c '[.total.requests.ok, .total.requests.scheduled, (.series.windows | map(.started // 0) | add)]' parts.json)" \
	"[$((90 + 12)),$((90 + 12)),$((90 + 12))]" "and whole"
report s3.results s1.results s2.results
jq -S "$same_figures" "$OUT" | jq -S 'del(.clocks)' >turned.json
jq -S 'del(.clocks)' parts.json >parts.plain
same turned.json parts.plain "in any order"

# bars: each client's own delays are no longer than those of all of them, which count where they cannot be told apart
report all.results
cp "$OUT" one.json
report s1.results s2.results s3.results
is "$(jq -n --slurpfile a one.json --slurpfile b "$OUT" '[["low", "high"][] as $e | $a[0].total.accuracy.e2e_ms.from_start[$e].p50 -
	$b[0].total.accuracy.e2e_ms.from_start[$e].p50] | .[0] <= 0.000001 and .[1] < 0.000001 and .[1] > -0.000001')" true "bars of the parts are no wider"

for format in csv vllm sglang aiperf genai-perf inference-perf lpg genai-bench inferencex; do
	ipf-report --reproducible -f $format all.results >all.out
	ipf-report --reproducible -f $format s1.results s2.results s3.results >parts.out
	same parts.out all.out "also as $format"
done
for part in 1 2 3; do ipf-report -f requests-csv s$part.results | tail -n +2; done | cut -d , -f 2- | sort >parts.rows
ipf-report -f requests-csv all.results | tail -n +2 | cut -d , -f 2- | sort >all.rows
same parts.rows all.rows "and the same requests"
