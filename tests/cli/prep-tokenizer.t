#!/bin/bash
# Traces and results counted with a model's tokenizer: lengths to the token, made text with them, equal blocks.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters

export XDG_CACHE_HOME=$PWD/cache PATH=$BIN:$PATH
data=$TESTS/data/tokenizer
# The trace's lengths of each request's prompt, and the tokenizer's for its messages.
said() { body "$1" | jq .input_tokens; }
found() { # TRACE TOKENIZER
	body "$1" | jq -c '.messages | map(.content)' | while read -r messages; do
		jq -c '.[]' <<<"$messages" | ipf-prep tokenize -t "$2" --json --count | awk '{ sum += $1 } END { print sum }'
	done
}

awk 'BEGIN { print "TIMESTAMP,ContextTokens,GeneratedTokens"
	for (i = 0; i < 30; i++) printf "2024-06-11 09:%02d:00.0000000,%d,%d\n", i, 1 + i * i, 5 }' >lengths.csv
for i in 0 1 2 3 4 5; do
	printf '{"timestamp":%d,"input_length":%d,"output_length":4,"hash_ids":[7,8,%d]}\n' $((i * 100)) $((1100 + i * 50)) $((i / 2))
done >blocks.jsonl

for name in bytelevel llama gemma; do
	t=$data/$name.json
	ipf-prep azure lengths.csv -t "$t" -q -o azure.trace
	is "$(said azure.trace | paste -sd ' ')" "$(cut -d , -f 2 lengths.csv | sed 1d |
		paste -sd ' ')" "$name: made prompts have the recorded lengths"
	is "$(found azure.trace "$t")" "$(said azure.trace)" "$name: the tokenizer finds the lengths of the trace"
	ipf-prep azure lengths.csv -t "$t" -q --template-tokens 11 -o template.trace
	is "$(said template.trace | tail -20)" "$(said azure.trace |
		tail -20)" "$name: the recorded lengths are those with the template"
	is "$(found template.trace "$t" | tail -20)" "$(said azure.trace | tail -20 |
		awk '{ print $1 - 11 }')" "$name: the text leaves room for the template"
	ipf-prep azure lengths.csv -t "$t" -q -o again.trace --reproducible
	ipf-prep azure lengths.csv -t "$t" -q -o once.trace --reproducible
	same again.trace once.trace "$name: the same again"

	ipf-prep mooncake blocks.jsonl -t "$t" -q -o blocks.trace
	is "$(said blocks.trace |
		paste -sd ' ')" "1100 1150 1200 1250 1300 1350" "$name: prompts of blocks have the recorded lengths"
	is "$(found blocks.trace "$t")" "$(said blocks.trace)" "$name: the tokenizer finds the lengths of blocks"
	# blocks 7 and 8 are in all of them
	is "$(body blocks.trace | jq -r '.messages[0].content' | cut -c 1-1200 | sort -u |
		wc -l)" 1 "$name: equal blocks are equal text"
	is "$(body blocks.trace | jq -r '.messages[0].content' | sed -n '1p;2p' |
		awk '{ print substr($0, 1, length(first ? first : $0)); first = $0 }' | sort -u | wc -l)" 1 \
		"$name: a block that is cut is the beginning of the whole one"

	ipf-prep sharegpt "$TESTS/../examples/chat.json" -t "$t" -q --input-tokens uniform:20-200 -n 12 -o shaped.trace
	is "$(found shaped.trace "$t")" "$(said shaped.trace)" "$name: cut and extended prompts are counted as they are"
	ipf-prep sharegpt "$TESTS/../examples/chat.json" -t "$t" -q --template-tokens 9 -n 12 -o template.trace
	is "$(said template.trace)" "$(found template.trace "$t" |
		awk '{ print $1 + 9 }')" "$name: tokens of the template count"
	is "$(said shaped.trace | awk '$1 < 20 || $1 > 200' | wc -l)" 0 "$name: within what was asked for"
	ipf-prep sharegpt "$TESTS/../examples/chat.json" -t "$t" -q --prefixes 2x100 -n 6 -o prefixed.trace
	is "$(found prefixed.trace "$t")" "$(said prefixed.trace)" "$name: shared prefixes too"
done

# How far from the requested length: said, and in the trailer.
t=$data/bytelevel.json
run ipf-prep azure lengths.csv -t "$t" -o azure.trace
stderr_is "ipf-prep: 30 prompts made or resized, 100 % of them to exactly the requested length (difference in tokens: mean 0, p99 0, max 0)" "ipf-prep says how exact the lengths are"
is "$(plain azure.trace | tail -1 |
	jq -c '.end.residual | map_values(. * 1000 | round / 1000)')" '{"requests":30,"exact":1,"mean":0,"p99":0,"max":0}' "the trailer says how exact the lengths are"
run ipf-prep sharegpt "$TESTS/../examples/chat.json" -t "$t" --input-tokens 40 -n 9 -o shaped.trace
is "$(plain shaped.trace | tail -1 | jq -c '.end.residual | .requests, .exact' |
	paste -sd ' ')" "9 1" "the trailer counts prompts that were cut or extended"
run ipf-prep sharegpt "$TESTS/../examples/chat.json" -t "$t" -n 9 -o shaped.trace
stderr_is "" "prompts that keep their lengths give no message"
is "$(plain shaped.trace | tail -1 | jq .end.residual)" null "prompts that keep their lengths leave the trailer alone"

ipf-prep azure lengths.csv -t "$data/gemma.json" -q -o azure.trace
is "$(plain azure.trace | head -1 |
	jq -c '.tokenizer | [.name, .exact]')" '["gemma.json",true]' "the header names the tokenizer"
is "$(plain azure.trace | head -1 | jq -r .tokenizer.sha256)" "$(sha256sum "$data/gemma.json" |
	cut -d ' ' -f 1)" "the header has the digest of the tokenizer"
run ipf-prep azure lengths.csv -t ./none.json
status_is 1 "a tokenizer that is not there: status 1"
stderr_contains none.json "ipf-prep names the missing tokenizer"
echo '{}' >odd.json
run ipf-prep azure lengths.csv -t odd.json
status_is 3 "a file that is no tokenizer: status 3"
stderr_contains "odd.json: not a tokenizer.json" "ipf-prep says that the file is no tokenizer"

# Answers are counted as the tokenizer counts their joined text.
server_start --seed 5
ipf-prep sharegpt "$TESTS/../examples/chat.json" -q -n 5 -o chat.trace
ipf-sched burst -t chat.trace -q -o chat.sched 2>/dev/null || ipf-sched closed:n=2 -t chat.trace -q -o chat.sched
ipf-fire -q -u "$URL" -m sim -t chat.trace chat.sched -o chat.records
ipf-collect -q -t "$t" --text chat.records -o chat.results
body chat.results | jq -c 'select(.text and .output_tokens_tokenizer) | .text' >texts
yes_if "answers to count are there" test -s texts
is "$(ipf-prep tokenize -t "$t" --json --count texts)" "$(body chat.results |
	jq 'select(.text and .output_tokens_tokenizer) | .output_tokens_tokenizer')" \
	"ipf-collect counts an answer's text as the tokenizer does"
is "$(plain chat.results | head -1 | jq -c '.tokenizer.exact')" true "the header says that the tokenizer is exact"
