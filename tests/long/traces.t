#!/bin/bash
# A million requests in each trace format: the figures of `ipf-prep stat` equal those of an independent reading in Python, and formats whose rows are
# in order take constant memory. With a PYTHON with duckdb, JSON and CSV beside DuckDB with one thread. IPF_TRACE_ROWS: other sizes.
. "$TESTS/tap.sh"
python=${PYTHON:-python3}
rows=${IPF_TRACE_ROWS:-1000000}
helper=$TESTS/helpers/trace_rows.py

for format in azure burstgpt mooncake qwen-bailian baseten jsonl openai-log agentic-mooncake agentic-mooncake-2 weka aiperf-dag scaffolding rl-rollout otel; do
	"$helper" make "$format" "$rows" 1 >rows
	run "$python" "$helper" compare "$BIN/ipf-prep" "$format" rows
	sed 's/^/# /' "$OUT"
	status_is 0 "$format: $rows requests"
	case $format in azure | jsonl | weka | scaffolding | rl-rollout)
		"$helper" make "$format" "$((rows / 10))" 1 >tenth
		"$python" "$helper" compare "$BIN/ipf-prep" "$format" tenth >small
		megabytes() { sed 's/.* \([0-9]*\) MB$/\1/' "$1"; }
		between "$(megabytes "$OUT")" 1 $(($(megabytes small) * 2 + 20)) "$format: ten times the requests take no more memory"
		;;
	esac
	case $format in burstgpt | mooncake)
		if "$python" -c 'import duckdb' 2>/dev/null; then
			run "$python" "$helper" duckdb "$BIN/ipf-prep" "$format" rows
			sed 's/^/# /' "$OUT"
			status_is 0 "$format: DuckDB has the same sums"
		else
			skip "$format: beside DuckDB" "PYTHON has no package duckdb"
		fi
		;;
	esac
	rm -f rows tenth
done
