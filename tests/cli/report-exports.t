#!/bin/sh
# Formats of other tools: what they contain is what those tools can read, and their figures, computed a second time from the
# rows by the definitions of each tool, are the same. (report-exports-peers.t reads them with the tools themselves.)
. "$TESTS/tap.sh"
report=$BIN/ipf-report
exports() {
	python3 "$TESTS/cli/exports.py" "$@"
}

exports make run.results
for name in vllm vllm-detailed sglang sglang-detailed aiperf aiperf-jsonl aiperf-csv genai-perf genai-perf-csv inference-perf \
	inference-perf-requests lpg inference-benchmarker genai-bench benchmark-report benchmark-report-0.2 inferencex; do
	run "$report" -q -f "$name" --slo ttft=60ms,tpot=12ms run.results
	status_is 0 "a run is written for $name"
	cp "$OUT" "$name.out"
	yes_if "and has the form and the figures of $name" exports check "$name" "$TESTS/data/exports" run.results "$name.out"
	# Neither a run that failed nor an empty one divides by zero or shows what is not known.
	for other in errors empty one; do
		run "$report" -q -f "$name" "$TESTS/data/report/$other.results"
		is "$(grep -ciE '\b(nan|inf|infinity)\b' "$OUT")" "$(grep -c '"request_rate":"inf"' "$OUT")" "$other.results as $name: no figure that is none"
	done
	"$report" -q --reproducible -f "$name" run.results >a
	is "$(grep -cE '2026-?11|17951561' a)" 0 "and no date with --reproducible"
done

# One stage of several.
"$report" -q -f vllm --stage =closed run.results >one
is "$(jq -c '[.label, .num_prompts]' one)" '["=closed",30]' "--stage: that stage only"
is "$("$report" -q -f inference-perf --stage "po'is\"son</script>" run.results |
	jq -c '.load_summary | [.count, .requested_rate, has("send_duration")]')" '[39,4.25,true]' "with what is known of a single stage"
is "$("$report" -q -f json --stage '=warm,"up"' run.results | jq -c '[.total.requests.started, .stages[].measured]')" \
	'[4,true,false,false]' "also a warm-up, and in every format"
run "$report" -q --stage nosuch run.results
status_is 2 "--stage: a name that no stage has is wrong usage"
complains ipf-report 'no stage is called "nosuch"' "and it says so"
# A list that needs what ipf-collect was not asked to keep is left out.
. "$TESTS/data/report/seal.sh"
head -1 run.results >header
sed '1d;$d' run.results | jq -c 'del(.event_ns, .text)' >body
seal header body >bare.results
is "$("$report" -q -f vllm-detailed bare.results | jq -c '[has("itls"), has("max_output_tokens_per_s"), has("ttfts")]' | sort -u)" \
	'[false,false,true]' "without --events there are no times of events"
# The temporary file cannot be made.
TMPDIR=/no/such/folder run "$report" -q -f vllm-detailed run.results
status_is 1 "no folder for the temporary file"
complains ipf-report "cannot create a temporary file" "and it says so"
