#!/bin/bash
# The steady part of a stage: in the trailer of results, in reports, of shards as of the whole, and with --window steady.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
export IPF_REPORT_FULL=1 # all sections of the text
data=$TESTS/data/report

# run.results: a stage of 60 s whose load is half for 10 s (the first second too), as windows and as rows ending in the middle of each
# second, four and then eight of them. RAMP: it rises all the time.
results() { # RAMP: 0 or 1
	jq -c '.stages = [{name: "s", kind: "closed", spec: "", begin_ns: 0, end_ns: 60000000000, arrivals: 1, first_n: 0, measured: true, closed: true, cycle: true, slots: 8}]
		| .from[0].from[0].stages = .stages' <(head -1 "$data/one.results") >header
	jq -nc --argjson ramp "$1" 'def load: if $ramp == 1 then 1 + . elif . < 10 then 4 else 8 end;
		(range(60) as $t | range($t | load) | {n: (1000 * $t + .), stage: 0, ok: true, start_ns: ($t * 1000000000 + 1000), end_ns: ($t * 1000000000 + 500000000),
			ttft_ns: 1000000, e2e_ns: 499999000, output_tokens: 10}),
		(range(60) | {window: ., t_ns: (. * 1000000000), length_ns: 1000000000, stage: 0, started: load, ok: load,
			in_flight_ns: (load * 500000000), output_tokens: (load * 10)})' >lines
	seal header lines >run.results
}
check() { jq -r '.verdict.checks[] | select(.name == "enough_samples") | "\(.status) \(.detail)"'; }

results 0
ipf_report=$BIN/ipf-report
run "$ipf_report" -q -f json run.results
status_is 0 "results with windows"
is "$(jq -c '.steady | map(del(.in_flight, .output_tokens_per_s))' "$OUT")" \
	'[{"stage":0,"found":true,"windows":48,"from_ns":11000000000,"to_ns":59000000000,"method":"MSER-5, trend, spread"}]' \
	"the trailer has the steady part: of 58 windows, two batches of five are the warm-up"
is "$(jq -c '.steady[0] | [.in_flight, .output_tokens_per_s, .itl_ns]' "$OUT")" \
	'[{"mean":4,"spread":0,"trend":0,"n_eff":48,"visible":0.1},{"mean":80,"spread":0,"trend":0,"n_eff":48,"visible":0.1},null]' "the trailer has the figures of the steady part"
contains "$(check <"$OUT")" "steady from 11 s to 59 s" "the verdict says so"
is "$(jq -c '.stages[0] | [.window_s, .throughput.output_tokens_per_s, .in_flight.mean]' "$OUT")" '[60,73.333333,3.666659]' "the rates are of the stage"
run "$ipf_report" -q -f json --window steady run.results
status_is 0 "--window steady ends with 0"
is "$(jq -c '.stages[0] | [.window_s, .throughput.output_tokens_per_s, .in_flight.mean, .rate.completed]' "$OUT")" '[48,80,3.999992,8]' "rates of --window steady are of the steady part"
is "$(jq -c '.total.window_s' "$OUT")" 48 "the total of --window steady is of the steady part"
contains "$("$ipf_report" run.results | tr -s ' \n' ' ')" "steady from 11 s to 59 s" "text has the steady part"

# Latencies too: requests before the steady part are slower.
jq -c 'if .n and 11000000000 > .start_ns then .ttft_ns = 9000000 else . end' lines >slow # exact: made up
seal header slow >slow.results
is "$("$ipf_report" -q -f json slow.results | jq -c '.stages[0].latency.ttft_ms.from_start | [.n, .max]')" '[440,9]' "the latencies of a stage are those of all of its requests"
is "$("$ipf_report" -q -f json --window steady slow.results | jq -c '[.stages[0], .total] | map([.latency.ttft_ms.from_start | .n, .max])')" '[[384,1],[384,1]]' \
	"latencies of --window steady are those of requests that started in it"
is "$("$ipf_report" -q -f json --window steady slow.results slow.results 2>&1 | jq -c '.total.latency.ttft_ms.from_start | [.n, .max]')" '[768,1]' "latencies of repeats are those of requests in their steady parts"

results 1
"$ipf_report" -q -f json run.results >run.json
matches "$(jq -r '.steady[0] | "\(.found) \(.reason)"' run.json)" '^false trend: in flight rises by [0-9.]* % over the last [0-9]* of 58 windows$' "a ramp is not steady"
matches "$(check <run.json)" '^[A-Z]* no steady state: trend: in flight rises by ' "the verdict mentions it"
is "$(check <run.json | cut -d ' ' -f 1)" OK "a ramp gives no doubt"
"$ipf_report" -q -f json --window steady run.results >steady.json
matches "$(check <steady.json)" '^DOUBTFUL no steady state: .* \(the rates are those of the stage\)' "a ramp gives a doubt with --window steady"
is "$(jq -c '.stages[0].window_s' steady.json)" 60 "a ramp with --window steady has the rates of the stage"
sed -i '/^{"window"/d' lines
seal header lines >run.results
"$ipf_report" -q -f json --window steady run.results >steady.json
matches "$(check <steady.json)" '^DOUBTFUL no steady state: the results have no windows' "results without windows"
is "$("$ipf_report" -q -f json run.results | jq -c '[has("steady"), (.verdict.checks[3].detail | contains("steady"))]')" '[false,false]' "results without windows say nothing of a steady part"

# Two shards of a run, each with half of the load of the windows above, and repeats.
results 0
half() { # NAME PART
	jq -c --argjson part "$2" 'select(.window == null) | select(.n % 2 == $part)' lines >"$1.rows"
	jq -c 'select(.window != null) | .started /= 2 | .ok /= 2 | .in_flight_ns /= 2 | .output_tokens /= 2' lines >>"$1.rows"
	seal header "$1.rows" >"$1.results"
}
half a 0
half b 1
is "$("$ipf_report" -q -f json a.results b.results | jq -c '.steady | map([.from_ns, .to_ns, .in_flight.mean])')" '[[11000000000,59000000000,4]]' "shards are one run"
run "$ipf_report" -q -f json --window steady run.results run.results
is "$(jq -c '.steady | map([.results, .found])' "$OUT")" '[["run.results",true],["run.results",true]]' "repeats have their own steady parts"
is "$(jq -c '.total | [.window_s, .throughput.output_tokens_per_s]' "$OUT")" '[96,80]' "steady parts of repeats add up"

# From the records: a server that is steady, with a warm-up stage before it, in virtual time.
. "$TESTS/fixture.sh"
twin server.twin step_base_ns=1000000 step_per_sequence_ns=0
ipf-prep synthetic -n 3000 --input-tokens 20 --output-tokens uniform:4-12 -q -o run.trace
ipf-sched -q closed:users=8,for=300ms,warmup closed:users=8,for=4s,name=main -t run.trace |
	ipf-twin predict -q server.twin -t run.trace -o run.records
ipf-collect -q --every 100ms run.records -o run.results
tail -1 run.results | jq -c '.end.steady' >steady
is "$(jq -c 'map(.stage)' steady)" '[1]' "the trailer has the measured stage only"
is "$(jq -c '.[0] | [.found, .from_ns < .to_ns and .to_ns <= 4300000000, .windows >= 10, .in_flight.mean, .itl_ns.mean]' steady)" \
	'[true,true,true,8,1000000]' "the trailer has when it was steady, eight requests in flight, and a gap of a step"
sed "s/^/# /" steady
from=$(jq '.[0].from_ns' steady) to=$(jq '.[0].to_ns' steady)
is "$("$ipf_report" -q -f json --window steady run.results | jq -c '.stages[1].latency | [.ttft_ms.from_start.n, .itl_ms.n]')" \
	"$(jq -sc --argjson from "$from" --argjson to "$to" '[([.[] | select(.n != null and .stage == 1 and .start_ns >= $from and .start_ns < $to)] | length),
		([.[] | select(.window != null and .stage == 1 and .t_ns >= $from and .t_ns + .length_ns <= $to) | .itl_ns.count // 0] | add)]' run.results)" \
	"--window steady has the latencies of that part, and the gaps of its windows"
is "$("$ipf_report" -q -f json run.results | jq -c .steady)" "$(cat steady)" "the report finds the same"
matches "$(tail -1 run.results | jq -r '.end.verdict.checks[] | select(.name == "enough_samples") | .detail')" '(^|; )(steady from|no steady state|steady state unknown)' "the verdict says whether the stage was steady"
