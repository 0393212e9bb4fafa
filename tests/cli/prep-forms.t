#!/bin/bash
# Prompts that are not messages (a text, token ids) and objectives of requests, through all programs.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters

export XDG_CACHE_HOME=$PWD/cache PATH=$BIN:$PATH
chat=$TESTS/../examples/chat.json
t=$TESTS/data/tokenizer/bytelevel.json

# ---- ids ----
ipf-prep sharegpt "$chat" -n 20 -t "$t" --system "Be brief." -o messages.trace
ipf-prep sharegpt "$chat" -n 20 -t "$t" --system "Be brief." --prompt text -o text.trace
ipf-prep sharegpt "$chat" -n 20 -t "$t" --system "Be brief." --prompt ids -o ids.trace
is "$(body text.trace | jq -c .prompt)" "$(body messages.trace |
	jq -c '[.messages[].content] | join("\n\n")')" "a prompt as a text has messages with an empty line between"
is "$(body ids.trace | jq -c .prompt_token_ids)" "$(body text.trace | jq -c .prompt |
	ipf-prep tokenize -t "$t" --json)" "a prompt as ids has those of the tokenizer"
is "$(body ids.trace | jq .input_tokens)" "$(body ids.trace |
	jq '.prompt_token_ids | length')" "input_tokens are as many"
is "$(body ids.trace | jq -c '[has("messages"), has("prompt")]' |
	sort -u)" "[false,false]" "a prompt as ids has no other form"
is "$(body text.trace | jq .input_tokens)" "$(body ids.trace | jq .input_tokens)" "the text is counted as whole"
awk 'BEGIN { print "TIMESTAMP,ContextTokens,GeneratedTokens"
	for (i = 0; i < 20; i++) printf "2024-06-11 09:00:%02d.0000000,%d,%d\n", i, 1 + i * i, 5 }' >lengths.csv
ipf-prep azure lengths.csv -t "$t" -q --prompt ids -o made.trace
is "$(body made.trace | jq '.prompt_token_ids | length' | paste -sd ' ')" "$(cut -d , -f 2 lengths.csv | sed 1d |
	paste -sd ' ')" "made prompts have the recorded number of ids"

refused() { # TEXT ARGUMENT…
	local text=$1
	shift
	run ipf-prep sharegpt "$chat" "$@"
	status_is 2 "$*: wrong usage"
	stderr_contains "$text" "ipf-prep says $text"
}
refused "ids requires a model's tokenizer" --prompt ids
refused "expected messages, text, ids or none, got \"tokens\"" --prompt tokens
refused "sessions need messages" --prompt text --turns all
refused "--template-tokens: requires --prompt messages, got ids" --prompt ids -t "$t" --template-tokens 4

# ---- lengths alone ----
ipf-prep azure lengths.csv -t "$t" -q --prompt none -o none.trace
is "$(plain none.trace | head -1 | jq -r .prompts)" none "the header of --prompt none says so"
is "$(body none.trace | jq -c '[.id, .input_tokens, .output_tokens, .at_ns]')" "$(body made.trace |
	jq -c '[.id, .input_tokens, .output_tokens, .at_ns]')" "--prompt none keeps ids, lengths and arrivals"
is "$(body none.trace | jq -c 'keys - ["id", "input_tokens", "output_tokens", "at_ns"]' |
	sort -u)" "[]" "--prompt none has no other member"
ipf-prep sharegpt "$chat" --turns all --prompt none -o none.sessions
ipf-prep sharegpt "$chat" --turns all -o whole.sessions
is "$(body none.sessions | jq -c '[.session, .turn, .input_tokens, .output_tokens, has("context"), has("answer")]')" \
	"$(body whole.sessions |
	jq -c '[.session, .turn, .input_tokens, .output_tokens, false, false]')" "sessions have the lengths of their whole prompts"
is "$(ipf-prep stat -f json none.trace | jq -c .input_tokens)" "$(ipf-prep stat -f json made.trace |
	jq -c .input_tokens)" "stat describes a trace without prompts"
ipf-sched replay -t none.trace -o none.sched
is "$(body none.sched | wc -l)" 20 "ipf-sched replays a trace without prompts"
refused "--system: cannot be combined with --prompt none, which writes no text" --prompt none --system x

# ---- distant values ----
for i in 1 2 3 4 5 6; \
	do printf '{"timestamp":%d,"input_length":1024000,"output_length":4,"hash_ids":[%s]}\n' "$i" "$(seq -s , 2000)"; done >far.jsonl
ipf-prep mooncake far.jsonl -o far.trace.zst
ipf-prep mooncake far.jsonl -o far.trace
yes_if "texts that are equal megabytes apart are kept once" test "$(stat -c %s far.trace.zst)" -lt $(($(zstd -3 -c far.trace | wc -c) / 3))
is "$(zstd -dc far.trace.zst | wc -c)" "$(wc -c <far.trace)" "zstd unpacks it unasked"
run ipf-prep stat far.trace.zst
status_is 0 "ipf-prep reads what zstd unpacks"

# ---- objectives ----
# Shares of models are weights.
models() { ipf-prep sharegpt "$chat" -n 40 --models "$1" -q | sed 1d | jq -c 'select(.id) | [.id, .model]'; }
models a=0.6,b=0.3,c=0.1 >shares
is "$(jq -r '.[1]' shares | sort -u | tr '\n' ' ')" "a b c " "three models in shares"
for given in a=60,b=30,c=10 a=6,b=3,c=1 a=60%,b=30%,c=10%; do
	models $given >weights
	same weights shares "$given is the same"
done
models a,b >equal
models a=1,b=1 >weights
same equal weights "models without shares have the same"
ipf-prep sharegpt "$chat" -n 40 --models a=0.5,b=0.5 --slo ttft=500ms,tpot=50ms --slo model=b:e2e=2s -o slo.trace
is "$(body slo.trace | jq -c 'select(.model == "a") | .slo' |
	sort -u)" '{"ttft":"500ms","tpot":"50ms"}' "objectives of every request"
is "$(body slo.trace | jq -c 'select(.model == "b") | .slo' |
	sort -u)" '{"e2e":"2s"}' "objectives of a model replace those of every request"
printf 'Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n1,GPT-4,5,6,11,API log\n2,ChatGPT,5,6,11,API log\n' >burst.csv
ipf-prep burstgpt burst.csv --slo 'model=GPT-4:ttft=1s' -o tagged.trace
is "$(body tagged.trace | jq -c '[.tags.model, .slo]' |
	paste -sd ' ')" '["GPT-4",{"ttft":"1s"}] ["ChatGPT",null]' "objectives may belong to a tag"
printf '{"prompt":"a","n":3,"goal":{"ttft":"9s"}}\n{"prompt":"b","n":3}\n' >own.jsonl
ipf-prep jsonl own.jsonl --field prompt=/prompt --field output_tokens=/n --field slo=/goal -o own.trace
is "$(body own.trace | jq -c .slo | paste -sd ' ')" '{"ttft":"9s"} null' "objectives may come from the data"
refused 'slot_wait before the "=", got "ttf=3s"' --slo ttf=3s
refused 'expected objectives such as ttft=500ms, got "ttft"' --slo ttft
refused 'expected objectives such as ttft=500ms, got "p99:ttft=1s": ipf-report --slo judges percentiles' --slo p99:ttft=1s
refused 'expected objectives such as ttft=500ms, got "p99:e2e=1s": ipf-report --slo judges percentiles' --slo ttft=1s,p99:e2e=1s
refused "expected METRIC=TIME" --slo x:ttft=3s
refused "expected a duration" --slo ttft=soon

# ---- all the way ----
server_start --seed 5
ipf-prep sharegpt "$chat" -n 10 -t "$t" --output-tokens 5 --prompt ids --models slow=0.5,fast=0.5 --slo model=fast:ttft=1ns --slo model=slow:ttft=1h -o run.trace
ipf-sched burst -t run.trace -q -o run.sched
ipf-fire -q -u "$URL" --api openai-completions -t run.trace run.sched -o run.records
ipf-collect -q run.records -o run.results
is "$(body run.results | jq -s 'map(select(has("n"))) | sort_by(.n) | .[].input_tokens')" "$(body run.trace |
	jq .input_tokens)" "the server counts as many as there are ids"
is "$(ipf-report -f json run.results | jq '.total.goodput.share')" "$(body run.trace |
	jq -s 'map(select(.model == "slow")) | length / 10')" \
	"the report judges every request by its own objective"
run ipf-fire -q -u "$URL" -t none.trace none.sched
status_is 3 "a trace of lengths alone is not sent"
stderr_contains "the trace has only lengths (it was made with --prompt none)" "ipf-fire says that the trace has only lengths"
