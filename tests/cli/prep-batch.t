#!/bin/bash
# Requests of several inputs: the batches of --batch, rankings as read, and messages of programs that cannot have them.
. "$TESTS/tap.sh"
PATH=$BIN:$PATH

lines() { jq -c "select(.id) | $1" "$2"; }

ipf-prep text -q "$TESTS/data/prep/sonnet.txt" --prompt text -o single.trace
prompts=$(grep -c '"id"' single.trace)
ipf-prep text -q "$TESTS/data/prep/sonnet.txt" --batch 5 -o fives.trace
is "$(lines '.inputs | length' fives.trace | sort -n | uniq -c | awk '{print $2 "x" $1}' | paste -sd' ')" \
	"$([ $((prompts % 5)) = 0 ] || echo "$((prompts % 5))x1 ")5x$((prompts / 5))" "batches of five, and what is left"
is "$(lines '.inputs[]' fives.trace)" "$(lines .prompt single.trace)" "every prompt is an input, in order"
is "$(lines .input_tokens fives.trace | jq -s add)" "$(lines .input_tokens single.trace | jq -s add)" "lengths of batches add up"
is "$(lines 'select(.output_tokens or .session or .query or .prompt)' fives.trace)" "" "a batch has no output, session or query"
is "$(lines .id fives.trace | sort | uniq -d)" "" "ids are unique"
is "$(tail -1 fives.trace | jq -c .end.assumed)" null "no length of an answer is assumed for batches"

ipf-prep synthetic -n 200 --batch uniform:1-64 --input-tokens 20 --query-tokens 7 -o rank.trace
is "$(lines .id rank.trace | wc -l)" 200 "-n counts requests"
is "$(lines '.inputs | length' rank.trace | sort -n | sed -n '1p;$p' | paste -sd' ')" "1 64" "sizes of batches are drawn"
is "$(lines '.input_tokens / (.inputs | length)' rank.trace | sort -u)" 27 "the query counts with each input"
is "$(lines '[(.query | length), (.inputs[] | length)] | unique' rank.trace | sort -u)" "[28,80]" "lengths of query and inputs"
is "$(lines .query rank.trace | sort -u | wc -l)" 200 "rankings have different queries"
ipf-prep synthetic -n 200 --batch uniform:1-64 --input-tokens 20 --query-tokens 7 -o again.trace
is "$(lines . again.trace | cksum)" "$(lines . rank.trace | cksum)" "the same seed gives the same batches"
ipf-prep synthetic -n 200 --batch uniform:1-64 --input-tokens 20 --query-tokens 7 --salt x -o salted.trace
is "$(lines '[.inputs | length]' salted.trace | cksum)" "$(lines '[.inputs | length]' rank.trace | cksum)" "a salt keeps the sizes"
is "$(comm -12 <(lines .query salted.trace | sort) <(lines .query rank.trace | sort) | wc -l)" 0 "a salt changes the queries"
is "$(ipf-prep synthetic -n 3 --batch 2 --input-tokens 9 -t "$TESTS/data/tokenizer/gpt2.json" --query-tokens 5 -q | lines .input_tokens /dev/stdin | sort -u)" 28 \
	"lengths of rankings are exact with a model's tokenizer"
is "$(ipf-prep synthetic -n 3 --batch 2 --input-tokens 9 -t "$TESTS/data/tokenizer/gpt2.json" --prompt ids -q |
	lines '.inputs | map(length)' /dev/stdin | sort -u)" "[9,9]" "token ids of batches have exact lengths"
printf '2 1\n8 1\n' >sizes
is "$(ipf-prep synthetic -n 300 --batch histogram:sizes --input-tokens 4 -q | lines '.inputs | length' /dev/stdin | sort -u | paste -sd' ')" "2 8" "sizes of a file"

run ipf-prep stat rank.trace
matches "$(cat "$OUT")" 'requests +200, 200 with a query' "statistics count queries"
is "$(ipf-prep stat -f json rank.trace | jq -c '[.inputs.n, .inputs.mean, .queries]')" \
	"$(lines '.inputs | length' rank.trace | jq -sc '[length, add / length, length]')" "statistics count inputs"
printf '%s\n' '{"id":"a","inputs":["'"$(printf 'a%.0s' {1..64})"'","'"$(printf 'a%.0s' {1..64})"'"],"input_tokens":32}' >line
trace_of line >twice
is "$(ipf-prep stat -f json twice | jq .sharing.hit_rate)" 0.5 "an input that repeats another is found by a cache"

ipf-prep trace rank.trace -o back.trace
is "$(lines '[.inputs, .query, .input_tokens]' back.trace | cksum)" "$(lines '[.inputs, .query, .input_tokens]' rank.trace | cksum)" \
	"a trace of batches is read as it is"

refused() { # STATUS WHAT ERROR COMMAND…
	run "${@:4}"
	status_is "$1" "$2: the status"
	is "$(cat "$ERR")" "$3" "$2: the reason"
}
refused 2 "--batch of batches" 'ipf-prep: rank.trace:3: --batch: request "1" of the data has several inputs already' ipf-prep trace rank.trace --batch 2 -o no
refused 3 anonymize "ipf-prep: rank.trace:2: inputs: requests of several inputs cannot be anonymized" ipf-prep anonymize rank.trace -o no
refused 3 fit "ipf-prep: rank.trace:2: inputs: requests of several inputs are not compared, and no model is learned from them" ipf-prep fit rank.trace -o no
refused 3 "stat --against" "ipf-prep: rank.trace:2: inputs: requests of several inputs are not compared, and no model is learned from them" \
	ipf-prep stat rank.trace --against rank.trace
while IFS='|' read -r options why; do
	# shellcheck disable=SC2086 # options are words
	run ipf-prep synthetic $options
	status_is 2 "synthetic $options ends with 2"
	is "$(head -1 "$ERR")" "ipf-prep: $why" "synthetic $options: the reason"
done <<'END'
--batch 2 --prompt none|--prompt none: cannot be combined with --batch
--batch 2 --turns 2|--turns: cannot be combined with --batch
--batch 2 --output-tokens 3|--output-tokens: cannot be combined with --batch
--batch 2 --sessions 3|--sessions: cannot be combined with --batch
--batch 2 --system x|--system: cannot be combined with --batch
--batch 2 --template-tokens 3|--template-tokens: cannot be combined with --batch
--batch dataset|--batch: expected a number or a distribution, got dataset
--batch 2 --query-tokens dataset|--query-tokens: expected a number or a distribution, got dataset
--query-tokens 3|--query-tokens: requires --batch
--batch 2 -n 9000000000000000000|-n: expected at most 100000000 requests with --batch, got 9000000000000000000
--batch uniform:1-2 -n 200000000|-n: expected at most 100000000 requests with --batch, got 200000000
END
for option in "--system x" "--input-tokens 5" "--prefixes 2x8" "--prompt none" "--prompt ids -t $TESTS/data/tokenizer/gpt2.json"; do
	# shellcheck disable=SC2086 # options are words
	run ipf-prep rerank "$TESTS/data/prep/rerank.jsonl" -q $option -o no
	matches "$(cat "$ERR")" "has several inputs, which are kept as they are" "rerank $option: refused"
done

# ---- schedules ---------------------------------------------------------------------------------------------------------
run ipf-sched -t rank.trace -o rank.sched constant:rate=100,n=20
status_is 0 "batches are scheduled"
