#!/bin/bash
# The latencies that production recorded beside those of a replay (--trace), in virtual time: a first run is production, and its latencies are the recorded ones.
. "$TESTS/tap.sh"
PATH=$BIN:$PATH

lacks() { # TEXT PART DESCRIPTION
	case $1 in *"$2"*) not_ok "$3" "has: $2" ;; *) ok "$3" ;; esac
}

# ---- production: 400 requests at 8 per second ----
ipf-prep synthetic -n 400 --input-tokens uniform:50-400 --output-tokens uniform:8-24 --reproducible -q -o plain.trace
ipf-sched poisson:rate=8,n=400 -t plain.trace --reproducible -q -o plain.sched
body plain.sched | jq -c .at_ns >arrivals
body plain.trace | paste -d '\n' - arrivals | jq -c -n '[inputs] as $a | range(0; $a | length; 2) | $a[.] + {at_ns: $a[. + 1]}' >timed
trace_of timed >timed.trace
replay() { # TRACE TWIN NAME OPTIONS of ipf-sched…
	ipf-sched "${@:4}" -t "$1" --reproducible -q -o "$3.sched"
	ipf-twin predict "$2" -t "$1" "$3.sched" -q -o "$3.records"
	ipf-collect "$3.records" -q -o "$3.results"
}
twin as.twin model=sim step_base_ns=10000000 step_per_sequence_ns=500000 prefill_tokens_per_s=20000
twin slow.twin model=sim step_base_ns=11000000 step_per_sequence_ns=550000 prefill_tokens_per_s=18181.8
twin fast.twin model=sim step_base_ns=9000000 step_per_sequence_ns=450000 prefill_tokens_per_s=22222.2
replay timed.trace as.twin production replay
requests production.results | jq -c '{key: (.req | tostring), value: {recorded_ttft_ns: .ttft_ns, recorded_e2e_ns: .e2e_ns}}' | jq -s from_entries >known
recorded() { # JQ: the trace with the recorded latencies, changed
	jq -c -n --slurpfile k known "[inputs] | to_entries[] | .value + (\$k[0][.key | tostring]) | $1" timed >lines
	trace_of lines
}
recorded . >recorded.trace
reference() { # TRACE RESULTS JQ
	ipf-report -f json --trace "$1" "$2" | jq -c ".reference | $3"
}

# ---- no difference, a slower server, a faster one ----
replay recorded.trace as.twin same replay
is "$(reference recorded.trace same.results '[.outcome, .requests.compared, .requests.run, .requests.of, .requests.not_run]')" \
	'["no difference",400,400,400,0]' "a replay on the same server differs in nothing"
is "$(reference recorded.trace same.results '[.ttft_ms, .e2e_ms, .tpot_ms] | map([.pairs, .ratio.median, .ratio.low, .ratio.high, .difference_ms.median]) | unique')" \
	'[[400,1,1,1,0]]' "each request of it has its recorded latencies"
is "$(reference recorded.trace same.results '[.ttft_ms, .e2e_ms, .tpot_ms] | map(.recorded == .replayed, .changes.mean.change == 0) | unique')" '[true]' \
	"both distributions are the same"
is "$(reference recorded.trace same.results '.load | [.requests_per_s, .input_tokens, .output_tokens] | map(.recorded == .replayed and .requests == 400) | unique')" '[true]' \
	"the load is the same"
is "$(reference recorded.trace same.results '.ttft_ms.recorded.p50')" \
	"$(ipf-report -f json production.results | jq .total.latency.ttft_ms.from_start.p50)" "the recorded distribution is that of production"
replay recorded.trace slow.twin slow replay
is "$(reference recorded.trace slow.results .outcome)" '"slower"' "a server that is slower by a tenth is found"
is "$(reference recorded.trace slow.results '[.ttft_ms, .e2e_ms, .tpot_ms] | map(.ratio | .low > 1.09 and .median >= .low and .high >= .median and .high < 1.13) | unique')" \
	'[true]' "the median request is slower by a tenth in all latencies"
is "$(reference recorded.trace slow.results '[.ttft_ms, .e2e_ms, .tpot_ms] | map(.changes.mean | [.finding, .low > 0.02, .high < 0.2]) | unique')" \
	'[["slower",true,true]]' "intervals of the means exclude no difference"
is "$(reference recorded.trace slow.results '.e2e_ms | .difference_ms.median - (.replayed.mean - .recorded.mean) | fabs < 5')" true "differences are in milliseconds"
replay recorded.trace fast.twin fast replay
is "$(reference recorded.trace fast.results .outcome)" '"faster"' "a server that is faster by a tenth is found"

# ---- the same in text, page and Markdown ----
for format in text html md; do
	run ipf-report -f $format --trace recorded.trace slow.results
	status_is 0 "$format with recorded latencies"
	contains "$(cat "$OUT")" "400 requests with recorded latencies, the replay is slower" "$format has the outcome"
	contains "$(cat "$OUT")" "a difference includes the network between both" "$format says where recorded times are from"
done
run ipf-report --section reference --trace recorded.trace slow.results
is "$(grep -cE '^  (TTFT|E2E|TPOT) (mean|p50|p90|p99) ' "$OUT")" 12 "the section has a row for each figure"
is "$(grep -cE '^  (TTFT|E2E|TPOT) +400 ' "$OUT")" 3 "the section has the medians over the pairs"
lacks "$(cat "$OUT")" "not run" "the section says nothing of requests that were all run"

# ---- requests that are in no latency ----
plain same.results | head -1 >header
requests same.results >rows
counts='[.compared, .failed, .hung_up, .unrecorded, .not_run, .repeats]'
changed() { # JQ: of the rows
	jq -c "$1" rows >changed
	seal header changed >changed.results
}
changed 'if .req == 1 then .ok = false | .error = {kind: "timeout"} elif .req == 2 then .ok = false | .error = {kind: "hung-up"} else select(.req < 390) end'
is "$(reference recorded.trace changed.results ".requests | $counts")" '[388,1,1,0,10,0]' "failures, disconnects and requests not run are counted"
is "$(reference recorded.trace changed.results '[.ttft_ms.pairs, .e2e_ms.pairs, .load.hang_ups.replayed, .outcome]')" '[388,388,1,"no difference"]' "they are in no latency"
run ipf-report --section reference --trace recorded.trace changed.results
for line in "not run       10 requests of the trace" "failed        1 request, in no latency" "disconnected  1 request, in no latency"; do
	contains "$(tr -s ' ' <"$OUT")" "$(tr -s ' ' <<<"$line")" "the section says: $line"
done

# ---- traces with some of the values ----
recorded 'if .id == "7" then del(.recorded_ttft_ns, .recorded_e2e_ns) | .hang_up_ns = 900000000000 else del(.recorded_e2e_ns) end' >first.trace
replay first.trace as.twin first replay
is "$(reference first.trace first.results "[(.requests | $counts), (.ttft_ms.pairs), has(\"e2e_ms\"), has(\"tpot_ms\"), .load.hang_ups.recorded, .outcome]")" \
	'[[399,0,0,1,0,0],399,false,false,1,"no difference"]' "a trace may have only the time to the first token"
is "$(ipf-report -f json --trace timed.trace production.results | jq 'has("reference")')" false "a trace without recorded latencies has no such section"
lacks "$(ipf-report --full --trace timed.trace production.results)" "recorded latencies" "the text then says nothing of it"

# ---- another load: each request twice, at twice the rate; another length of the answers ----
replay recorded.trace as.twin twice poisson:rate=16,n=800
is "$(reference recorded.trace twice.results "[(.requests | $counts), .ttft_ms.pairs]")" '[[400,0,0,0,0,400],400]' "of several answers to a request, the first counts"
is "$(reference recorded.trace twice.results '.load.requests_per_s | .replayed / .recorded | . > 1.7 and . < 2.4')" true "the load says that requests came at twice the rate"
is "$(reference recorded.trace twice.results .outcome)" '"slower"' "more load is slower"
changed 'if .output_tokens then .output_tokens += 1 | .output_tokens_usage += 1 else . end'
is "$(reference recorded.trace changed.results '.load.output_tokens | .replayed - .recorded | round')" 1 "the load has the measured lengths of answers"

# ---- speed: arrivals at half of the recorded rate ----
replay recorded.trace as.twin half replay:speed=0.5
is "$(reference recorded.trace half.results '.load.requests_per_s | .recorded / .replayed * 100 | round')" 200 "the load says that requests came at half the rate"

# ---- traces that are wrong ----
refused() { # JQ MESSAGE
	recorded "$1" >wrong.trace
	run ipf-report --trace wrong.trace same.results
	status_is 3 "refused: $2"
	stderr_contains "$2" "the message says: $2"
}
refused '.recorded_ttft_ns = -1' 'recorded_ttft_ns: expected'
refused '.recorded_e2e_ns = "1s"' 'recorded_e2e_ns: expected'
refused '.recorded_ttft_ns = 2 | .recorded_e2e_ns = 1' 'recorded_ttft_ns: expected at most recorded_e2e_ns, 1, got 2'
