#!/bin/sh
# Formats of other tools: those tools can read their contents, and their figures, computed a second time from the rows by
# the definitions of each tool, are the same. (report-exports-peers.t reads them with the tools themselves.)
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
report=$BIN/ipf-report
exports() {
	python3 "$TESTS/helpers/exports.py" "$@"
}

exports make run.results
for name in vllm vllm-detailed sglang sglang-detailed aiperf aiperf-jsonl aiperf-csv genai-perf genai-perf-csv inference-perf \
	inference-perf-requests lpg inference-benchmarker guidellm genai-bench benchmark-report benchmark-report-0.2 inferencex mlperf; do
	run "$report" export "$name" -q --slo ttft=60ms,tpot=12ms run.results
	status_is 0 "a run is written for $name"
	cp "$OUT" "$name.out"
	yes_if "$name has the form and the figures of the tool" exports check "$name" "$TESTS/data/exports" run.results "$name.out"
	# Neither a run that failed nor an empty one divides by zero or shows unknown values.
	for other in errors empty one; do
		run "$report" export "$name" -q "$TESTS/data/report/$other.results"
		is "$(grep -ciE '\b(nan|inf|infinity)\b' "$OUT")" "$(grep -c '"request_rate":"inf"' "$OUT")" "$other.results as $name: no figure that is none"
	done
	"$report" export "$name" -q --reproducible run.results >a
	is "$(grep -cE '2026-?11|17951561' a)" 0 "$name has no date with --reproducible"
done

# One stage of several.
"$report" export vllm -q --stage =closed run.results >one
is "$(jq -c '[.label, .num_prompts]' one)" '["=closed",30]' "--stage: that stage only"
is "$("$report" export inference-perf -q --stage "po'is\"son</script>" run.results |
	jq -c '.load_summary | [.count, .requested_rate, has("send_duration")]')" '[39,4.25,true]' "--stage keeps the requested rate of a single stage"
is "$("$report" -q -f json --stage '=warm,"up"' run.results | jq -c '[.total.requests.started, .stages[].measured]')" \
	'[4,true,false,false]' "--stage takes a warm-up"
run "$report" -q --stage nosuch run.results
status_is 2 "--stage: a name that no stage has is wrong usage"
complains ipf-report 'no stage is called "nosuch"' "ipf-report says that no stage has that name"

# Notes, where a format has a place for them; none takes the place of a member.
noted() { # FORMAT FILTER
	"$report" export "$1" -q --stage =closed --meta "commit=5f3a\"9c1" --meta duration=long --meta p99_ttft_ms=0 --meta date=never run.results >noted
	jq -c "$2" noted
}
for name in vllm vllm-detailed; do
	is "$(noted $name '[.commit, .num_prompts, (.duration | type), (.p99_ttft_ms > 0), .date == "never"]')" \
		'["5f3a\"9c1",30,"number",true,false]' "$name: --meta makes members, as vLLM's --metadata"
	is "$(grep -oc '"duration"' noted) $(grep -o '"date"' noted | wc -l | tr -d ' ')" "1 1" "$name: --meta repeats no member"
done
is "$(noted lpg '.dimensions | [.commit, .duration, .date == "never"]')" '["5f3a\"9c1","long",false]' "lpg has notes as dimensions"
all='{"commit":"5f3a\"9c1","duration":"long","p99_ttft_ms":"0","date":"never"}'
is "$(noted inference-benchmarker .config.meta)" "$all" "inference-benchmarker has notes as meta"
is "$(noted guidellm .config.metadata.labels)" "$all" "guidellm has notes as labels"
is "$(noted benchmark-report .run.keywords)" '["commit=5f3a\"9c1","duration=long","p99_ttft_ms=0","date=never"]' "benchmark-report has notes as keywords"
for name in sglang aiperf aiperf-jsonl genai-perf inference-perf genai-bench inferencex; do
	is "$(noted "$name" . | grep -c 5f3a)" 0 "$name has no place for notes"
done

# MLPerf: 700 requests in 699 s, one of which is slow. LoadGen says how many are needed if one is over the target: 662.
mlperf_run() { # FILE STAGE SLOW
	head -1 run.results | jq -c --argjson stage "$2" '.stages = [$stage + {name: "load", spec: "load", begin_ns: 0, end_ns: 7e11,
		arrivals: 700, first_n: 0, measured: true}] | .from[0].from[0].stages = .stages' >header
	jq -nc --argjson slow "$3" --argjson closed "$(echo "$2" | jq .closed)" 'range(700) | {n: ., req: ., stage: 0, ok: true, start_ns: (. * 1000000000 + 5000),
		end_ns: (. * 1000000000 + 400000000), ttft_ns: (if . < $slow then 900000000 else 100000000 + . end), stream_ns: 399995000,
		e2e_ns: 399995000, events: 11, output_tokens: 11, input_tokens: 5} + if $closed then {} else {due_ns: (. * 1000000000)} end' >body
	seal header body >"$1"
}
mlperf_run valid.results '{"kind":"constant","rate":1}' 1
mlperf_run invalid.results '{"kind":"constant","rate":1}' 2
mlperf_run single.results '{"kind":"closed","closed":true,"slots":1}' 1
for objective in ttft=200ms,tpot=31ms p99:ttft=200ms,p99:tpot=31ms; do
	run "$report" export mlperf -q --slo "$objective" valid.results
	is "$(sed -n '/^Result is/,/Early stopping satisfied/p' "$OUT" | sed 's/.*: *//' | tr '\n' ' ')" "VALID Yes Yes Yes Yes " "mlperf is valid with $objective"
done
is "$(grep -c '^ \* Run successful' "$OUT")" 2 "mlperf has enough requests for both figures"
is "$(grep -c 'No errors encountered' "$OUT")" 1 "mlperf encounters no errors"
contains "$(cat "$OUT")" "99.00 percentile first token latency (ns)   : 100005694" "an order statistic, from when it was due"
run "$report" export mlperf -q --slo ttft=200ms,tpot=31ms invalid.results
is "$(sed -n '/^Result is/,/Early stopping satisfied/p' "$OUT" | sed 's/.*: *//' | tr '\n' ' ')" "INVALID Yes Yes Yes NO " \
	"two slow ones of 700: the percentile is good, but not certain"
contains "$(cat "$OUT")" "Would need to run at least 138 more queries" "838 are needed then"
run "$report" export mlperf -q --slo ttft=50ms valid.results
contains "$(cat "$OUT")" "TTFT constrain not met: Reduce target QPS" "a percentile beyond the target"
run "$report" export mlperf -q valid.results
contains "$(cat "$OUT")" "Result is : INVALID" "mlperf is invalid without a target"
contains "$(cat "$OUT")" "ipf-report --slo" "mlperf says how to set a target"
run "$report" export mlperf -q --slo e2e=1s valid.results
is "$(grep -cE '^Result is : VALID|^target_latency \(ns\): 1000000000|First Token' "$OUT")" 2 "a target for whole responses: no latencies of tokens"
run "$report" export mlperf -q single.results
is "$(grep -E '^(Scenario|90.0th|Result is)|estimate|discard' "$OUT" | tr '\n' '|')" "Scenario : SingleStream|90.0th percentile latency (ns) : 399995000|\
90.0th first token percentile latency (ns) : 100000631|Result is : VALID| * Would discard 50 highest latency queries.|\
 * Early stopping 90.0th percentile estimate: 100000650| * Early stopping 99.0th percentile estimate: 900000000|\
 * Would discard 50 highest latency queries.| * Early stopping 90.0th percentile estimate: 29999494| * Early stopping 99.0th percentile estimate: 29999499|" \
	"mlperf of one slot is a single stream with estimates"

# A list is left out if ipf-collect was not asked to keep it.
head -1 run.results >header
sed '1d;$d' run.results | jq -c 'del(.event_ns, .text)' >body
seal header body >bare.results
is "$("$report" export vllm-detailed -q bare.results | jq -c '[has("itls"), has("max_output_tokens_per_s"), has("ttfts")]' | sort -u)" \
	'[false,false,true]' "vllm-detailed has no times of events without --events"
# The temporary file cannot be made.
TMPDIR=/no/such/folder run "$report" export vllm-detailed -q run.results
status_is 1 "vllm-detailed ends with 1 if there is no folder for temporary files"
complains ipf-report "cannot create a temporary file" "ipf-report says that it cannot create a temporary file"
