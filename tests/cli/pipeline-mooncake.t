#!/bin/bash
# A trace of block hashes: prompts share as many leading tokens as the trace says, and a server with a prefix cache reports
# just these as cached. One request at a time, so whatever came before is in the cache.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

# LENGTH ID ID…, a line a request.
rows_of() { # FILE
	plain "$1" | sed 's/.*"input_length": *\([0-9]*\).*"hash_ids": *\[\([^]]*\)\].*/\1 \2/; s/,/ /g' | tr -s ' '
}
# The tokens each request finds in a cache of all before it, in blocks of 16, the last token never. Ids are compared as
# text: they may be larger than a double is exact.
shared_of() {
	awk '{
		best = 0
		for (q = 1; q < NR; q++) {
			for (k = 0; k < NF - 1 && k < ids[q] && $(k + 2) "" == id[q, k + 1] ""; k++) ;
			common = 512 * k
			if (common > $1) common = $1
			if (common > length_of[q]) common = length_of[q]
			if (common > best) best = common
		}
		if (best > $1 - 1) best = $1 - 1
		print int(best / 16) * 16
		length_of[NR] = $1; ids[NR] = NF - 1
		for (k = 2; k <= NF; k++) id[NR, k - 1] = $k
	}'
}

replay() { # NAME: from NAME.jsonl
	server_start --step-base 100us --step-per-seq 0 --prefill-rate 100M --kv-blocks 1M
	rows_of "$1.jsonl" >rows
	shared_of <rows >expected
	local count
	count=$(wc -l <rows)
	ipf-prep mooncake "$1.jsonl" -q -o "$1.trace.zst"
	is "$(body "$1.trace.zst" | jq .input_tokens)" "$(cut -d ' ' -f 1 rows)" "$1: the prompts are as long as recorded"
	run ipf-sched closed:users=1 -t "$1.trace.zst" -o "$1.sched"
	run ipf-fire -u "$URL" -t "$1.trace.zst" "$1.sched" -o "$1.records.zst"
	status_is 0 "$1: the run"
	ipf-collect -q "$1.records.zst" -o "$1.results"
	is "$(body "$1.results" | jq -s 'map(select(.ok == true)) | length')" "$count" "$1: all $count requests are ok"
	body "$1.results" | jq -s -r 'map(select(has("start_ns"))) | sort_by(.n)[] | .cached_tokens // 0' >got
	same got expected "$1: each request finds in the cache what it shares with those before it"
	asked=$(awk '{ n += $1 } END { print n }' rows)
	hits=$(awk '{ n += $1 } END { print n }' expected)
	isnt "$hits" 0 "$1: some is shared: $hits of $asked tokens"
	is "$(curl -s "$URL/metrics" |
		awk '/^vllm:prefix_cache_queries_total/ { q = $NF } /^vllm:prefix_cache_hits_total/ { h = $NF } END { printf "%.0f of %.0f", h, q }')" \
		"$hits of $asked" "$1: the server's own counters agree"
	server_stop
}

# Blocks shared and not, last blocks cut at other lengths, and two ids differing only beyond the 53rd bit.
cat >blocks.jsonl <<'X'
{"timestamp": 0, "input_length": 1200, "output_length": 5, "hash_ids": [0, 1, 2]}
{"timestamp": 0, "input_length": 1100, "output_length": 5, "hash_ids": [0, 1, 2]}
{"timestamp": 3000, "input_length": 1536, "output_length": 3, "hash_ids": [0, 1, 3]}
{"timestamp": 3000, "input_length": 300, "output_length": 9, "hash_ids": [0]}
{"timestamp": 6001, "input_length": 2000, "output_length": 1, "hash_ids": [9007199254740992, 7, 8, 9]}
{"timestamp": 6001, "input_length": 2000, "output_length": 1, "hash_ids": [9007199254740993, 7, 8, 9]}
{"timestamp": 6001, "input_length": 2048, "output_length": 4, "hash_ids": [9007199254740993, 7, 8, 9]}
{"timestamp": 9000, "input_length": 600, "output_length": 4, "hash_ids": [4, 5]}
{"timestamp": 9000, "input_length": 1024, "output_length": 4, "hash_ids": [4, 5]}
{"timestamp": 9000, "input_length": 1025, "output_length": 4, "hash_ids": [4, 5, 6]}
{"timestamp": 9000, "input_length": 1, "output_length": 4, "hash_ids": [18446744073709551615]}
{"timestamp": 12000, "input_length": 512, "output_length": 4, "hash_ids": [18446744073709551614]}
{"timestamp": 12000, "input_length": 512, "output_length": 4, "hash_ids": [18446744073709551615]}
X
replay blocks

trace=$SHARED/data/traces/mooncake/conversation_trace.jsonl.zst
if [ -n "$SHARED" ] && [ -e "$trace" ]; then
	plain "$trace" 2>/dev/null | head -70 >conversation.jsonl
	replay conversation
	rows_of conversation.jsonl >rows
	jq -r .timestamp conversation.jsonl >stamps
	ipf-sched replay:speed=3 -t conversation.trace.zst -o replay.sched
	is "$(body replay.sched |
		jq -s -r 'sort_by(.req)[] | .at_ns')" "$(awk 'BEGIN { OFMT = CONVFMT = "%.0f" } NR == 1 { f = $1 } { printf "%.0f\n", int(($1 - f) * 1000000 / 3 + 0.5) }' stamps)" \
		"conversation: a replay has the recorded times, in milliseconds, divided by the speed"
else
	skip "the published conversation trace" "the data is not here"
fi
