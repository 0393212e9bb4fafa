#!/bin/bash
# Logs of coding agents: random sessions with tools in parallel, sub-agents, compaction and copies, held against what happened.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
prep=$BIN/ipf-prep
logs=$TESTS/helpers/agent_logs.py

read_logs() { # FORMAT
	local format=$1 seed folder
	for seed in 1 2 3 4; do
		folder=$format-$seed
		python3 "$logs" make "$format" "$seed" "$folder"
		run "$prep" auto "$folder"/*.jsonl --prompt none -o log.trace
		status_is 0 "$format, seed $seed: the logs are read"
		is "$(head -1 log.trace | jq -r .source)" "$format" "by their format"
		is "$(python3 "$logs" check "$folder" log.trace)" "0 [] shorter" "lengths, times, waits, shared beginnings are what happened, also of prompts that are shorter than the one before"
		run "$BIN/ipf-sched" replay -t log.trace -o log.sched
		status_is 0 "it can be scheduled"
	done
}
read_logs claude-code
read_logs codex
