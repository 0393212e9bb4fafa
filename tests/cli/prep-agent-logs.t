#!/bin/bash
# Logs of coding agents: random sessions with tools in parallel, sub-agents, compaction and copies, compared with the script.
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
		is "$(head -1 log.trace | jq -r .source)" "$format" "$format, seed $seed: the format is detected"
		is "$(python3 "$logs" check "$folder" log.trace)" "0 [] shorter" "lengths, times, waits, shared beginnings are what happened, also of prompts that are shorter than the one before"
		run "$BIN/ipf-sched" replay -t log.trace -o log.sched
		status_is 0 "$format, seed $seed: the trace can be scheduled"
	done
}
read_logs claude-code
read_logs codex

# ---- prompts shorter than the one before: other formats keep them too, and the figures say how many ----
keeps() { # FORMAT LENGTHS BLOCKS, with the data on standard input
	run "$prep" auto - --prompt none -q -o kept.trace
	is "$(head -1 kept.trace | jq -r .source)" "$1" "$1: read as such"
	is "$(body kept.trace | jq -s -c 'map(.input_tokens)')" "$2" "$1: a prompt that is shorter than the one before is as short as recorded"
	is "$(body kept.trace | jq -s -c 'map(.blocks.ids | length) | [.[]]')" "$3" "$1: a shorter prompt has no more of the context"
	is "$("$prep" stat -f json kept.trace | jq .sessions.shorter)" 1 "$1: statistics count the shorter prompt"
}
keeps weka '[16,40,24,32]' '[4,10,6,8]' <<'E2'
{"id":"c","block_size":4,"requests":[{"t":0,"in":16,"out":5,"hash_ids":[1,2,3,4]},{"t":9,"in":40,"out":5,"hash_ids":[1,2,3,4,5,6,7,8,9,10]},{"t":20,"in":24,"out":5,"hash_ids":[1,2,11,12,13,14]},{"t":30,"in":32,"out":5,"hash_ids":[1,2,11,12,13,14,15,16]}]}
E2
keeps tracelab '[16,40,24,32]' '[1,3,2,4]' <<'E2'
session_id,prefix_len,input_len,output_len
s,0,16,5
s,21,19,5
s,8,16,5
s,29,3,5
E2
keeps tracelab '[16,40,24,32]' '[1,3,2,4]' <<'E2'
{"session_id":"s","prefix_tokens":0,"newly_append_tokens":16,"output_tokens":5}
{"session_id":"s","prefix_tokens":21,"newly_append_tokens":19,"output_tokens":5}
{"session_id":"s","prefix_tokens":8,"newly_append_tokens":16,"output_tokens":5}
{"session_id":"s","prefix_tokens":29,"newly_append_tokens":3,"output_tokens":5}
E2
keeps agentic-mooncake '[16,40,24,32]' '[4,10,6,8]' <<'E2'
{"request_id":"a","session_id":"s","timestamp":0,"input_length":16,"output_length":5,"block_size":4,"hash_ids":[1,2,3,4]}
{"request_id":"b","session_id":"s","timestamp":9,"wait_for":["a"],"input_length":40,"output_length":5,"block_size":4,"hash_ids":[1,2,3,4,5,6,7,8,9,10]}
{"request_id":"c","session_id":"s","timestamp":20,"wait_for":["b"],"input_length":24,"output_length":5,"block_size":4,"hash_ids":[1,2,11,12,13,14],"prefix_reset":true}
{"request_id":"d","session_id":"s","timestamp":30,"wait_for":["c"],"input_length":32,"output_length":5,"block_size":4,"hash_ids":[1,2,11,12,13,14,15,16]}
E2
# Agents of a session are compared with themselves.
run "$prep" auto - --prompt none -q -o agents.trace <<'E2'
{"id":"c","block_size":4,"requests":[{"t":0,"in":40,"out":5},{"t":1,"type":"subagent","duration_ms":1,"requests":[{"t":0,"in":8,"out":5},{"t":1,"in":4,"out":5}]},{"t":1,"type":"subagent","duration_ms":1,"requests":[{"t":0,"in":12,"out":5}]},{"t":9,"in":44,"out":5}]}
E2
is "$("$prep" stat -f json agents.trace | jq .sessions.shorter)" 1 "a sub-agent's prompts are compared with its own"
