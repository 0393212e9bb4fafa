#!/bin/sh
# Formats of other tools: what they contain is what those tools can read, and their figures, computed a second time from the
# rows by the definitions of each tool, are the same. (report-exports-peers.t reads them with the tools themselves.)
. "$TESTS/tap.sh"
report=$BIN/ipf-report
exports() {
	python3 "$TESTS/cli/exports.py" "$@"
}

exports make run.results
for name in vllm vllm-detailed sglang sglang-detailed aiperf aiperf-jsonl aiperf-csv genai-perf genai-perf-csv; do
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
	is "$(grep -c 2026 a)" 0 "and no date with --reproducible"
done
