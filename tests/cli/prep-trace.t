#!/bin/bash
# ipf-prep trace: our own traces as a source. A trace comes out as it went in; lengths are filled; a cut one, or no trace, is named.
. "$TESTS/tap.sh"
prep=$BIN/ipf-prep
data=$TESTS/data/prep
body() { grep -av -e '^{"ipf"' -e '^{"end"' "$1"; }

# The requests of every kind of trace ipf-prep writes: conversations, sub-agents, block ids, tools, tags, objectives.
as_it_was() { # NAME OPTIONS of the first… [-- OPTIONS of the second]
	local name=$1
	shift
	"$prep" "$@" -q -o in.trace.zst 2>/dev/null
	run "$prep" trace in.trace.zst -q -o out.trace
	status_is 0 "$name: a trace is read"
	zstd -dcq in.trace.zst >in.trace
	body in.trace >in
	body out.trace >out
	same out in "$name: every request is as it was"
}
as_it_was conversations sharegpt "$data/sharegpt.json" --turns all
as_it_was sub-agents weka "$data/weka.jsonl"
as_it_was "block ids" mooncake "$data/mooncake.jsonl"
as_it_was "tools and sessions of a log" auto "$data/openai-log.jsonl" --slo ttft=200ms
as_it_was spans auto "$data/otel.json"
as_it_was "recorded latencies" auto "$data/dynamo-trace.jsonl"
as_it_was "the models' own" synthetic -n 20 --turns 3 --wait 2s --models a=0.5,b=0.5
"$prep" weka "$data/weka.jsonl" --prompt none -q -o lengths.trace 2>/dev/null
"$prep" trace lengths.trace --prompt none -q -o out.trace
body out.trace >out
body lengths.trace >in
same out in "lengths without prompts stay as they were"
run "$prep" auto lengths.trace --prompt none -q
status_is 0 "auto finds a trace"
body "$OUT" >out
same out in "auto reads a trace alike"

# Lengths are filled, and a selection of the trace is a trace.
"$prep" trace lengths.trace -q -o full.trace
is "$(body full.trace | jq -c '[.id, .input_tokens, .output_tokens, .parents]')" "$(jq -c '[.id, .input_tokens, .output_tokens, .parents]' in)" \
	"lengths and parents stay when it is filled"
is "$(body full.trace | jq -s 'map(select(.messages)) | length')" "$(wc -l <in)" "every request of the filled trace has a prompt"
is "$("$prep" stat -f json full.trace | jq -c .sharing.hit_rate)" "$("$prep" stat -f json lengths.trace | jq -c .sharing.hit_rate)" "prompts of the filled trace share as before"
"$prep" trace lengths.trace --sessions 1 --prompt none -q -o out.trace
is "$(body out.trace | jq -r .session | sort -u)" c1 "a session of it is chosen"
"$prep" mooncake "$data/mooncake.jsonl" --prompt none -q -o m.trace
"$prep" trace m.trace --scale 2 --prompt none -q -o out.trace
is "$(body out.trace | wc -l)" "$(($(body m.trace | wc -l) * 2))" "twice as many of it"

# A trace estimated is counted.
"$prep" sharegpt "$data/sharegpt.json" --turns all -q -o estimated.trace
"$prep" sharegpt "$data/sharegpt.json" --turns all -q -t "$TESTS/data/tokenizer/bytelevel.json" -o counted.trace
"$prep" trace estimated.trace -q -t "$TESTS/data/tokenizer/bytelevel.json" -o again.trace
is "$(body again.trace | jq -c '[.id, .input_tokens]')" "$(body counted.trace | jq -c '[.id, .input_tokens]')" "estimated lengths are counted"

# ---- errors ----
wrong() { # TEXT PART: standard input is the trace
	run "$prep" trace -
	status_is 3 "$1: exit status"
	stderr_contains "$2" "$1: the reason"
}
wrong "no header" 'standard input:1: ipf: expected "trace", the header of a request trace' <in
wrong "another stream" 'ipf: expected "trace", the header of a request trace, got "records"' <<<'{"ipf":"records","version":1}'
wrong "a newer one" "1: version: expected 1, got 2: a newer ipf-prep wrote it" <<<'{"ipf":"trace","version":2}'
sed '$d' estimated.trace >cut.trace
run "$prep" trace cut.trace -o out.trace
status_is 3 "a cut trace: exit status"
stderr_contains "cut.trace:$(wc -l <cut.trace): the trace was cut after $(($(wc -l <cut.trace) - 1)) requests: no trailer" "a cut trace is named"
body out.trace >out
body cut.trace >in
same out in "a cut trace gives all its requests"
contains "$(tail -1 out.trace)" '"incomplete":"reading ended at cut.trace' "the new trace says it"
wrong "a line too few" "end.lines: expected $(($(wc -l <estimated.trace) - 3)), the requests before it, got" < <(sed 2d estimated.trace)
wrong "token ids" "2: prompt_token_ids: a prompt of token ids cannot be read" < <("$prep" sharegpt "$data/sharegpt.json" --prompt ids -q -t "$TESTS/data/tokenizer/bytelevel.json")
lengths() { printf '{"ipf":"trace","version":1,"prompts":"none"}\n%s\n{"end":{"lines":1}}\n' "$1"; }
wrong "sizes for other blocks" "2: blocks.tokens: expected a length for each of 2 ids, got 1" < <(lengths '{"id":"a","input_tokens":8,"output_tokens":1,"blocks":{"tokens":[4],"ids":[1,2]}}')
wrong "blocks of nothing" "2: blocks.tokens: expected a length of 1 or more, or a list, got 0" < <(lengths '{"id":"a","input_tokens":8,"output_tokens":1,"blocks":{"tokens":0,"ids":[1,2]}}')
wrong "ids that are none" '2: ids: expected 64-bit integers or hexadecimal digits, got "x"' < <(lengths '{"id":"a","input_tokens":8,"output_tokens":1,"blocks":{"tokens":4,"ids":["x"]}}')
wrong "a prompt of no length" "2: input_tokens: expected the length of a prompt that is not in the trace, got none" < <(lengths '{"id":"a","output_tokens":1,"blocks":{"tokens":[4],"ids":[1]}}')
wrong "a first token after the end" "2: recorded_ttft_ns: expected at most recorded_e2e_ns, 4, got 5" < <(lengths '{"id":"a","input_tokens":8,"recorded_ttft_ns":5,"recorded_e2e_ns":4}')
wrong "a negative latency" "2: recorded_e2e_ns: expected" < <(lengths '{"id":"a","input_tokens":8,"recorded_e2e_ns":-4}')
