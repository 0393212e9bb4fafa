#!/bin/bash
# Requests with known answers in traces, and marked repeats: places, forms, arrivals, counts, and refusals.
. "$TESTS/tap.sh"
PATH=$BIN:$PATH
tokenizer=$TESTS/data/tokenizer/llama.json

canaries() { # FILE [FILTER]
	body "$1" | jq -c "select(.tags.canary?) | ${2:-.}"
}
others() { # FILE
	body "$1" | grep -v '^{"id":"canary-'
}
places() { # FILE
	body "$1" | grep -n '^{"id":"canary-' | cut -d : -f 1
}

# ---- shares and numbers ----
ipf-prep synthetic -q -n 1980 --input-tokens uniform:100-3000 --reproducible -o plain.trace
ipf-prep synthetic -q -n 1980 --input-tokens uniform:100-3000 --reproducible --canaries 1% -o share.trace
ipf-prep synthetic -q -n 1980 --input-tokens uniform:100-3000 --reproducible --canaries 20 -o number.trace
is "$(canaries share.trace .id | wc -l)" 20 "1% of all requests, the canaries included"
is "$(places share.trace | awk '{ print int(($1 - NR) / 99) }' | paste -sd ' ')" "$(seq -s ' ' 0 19)" "there is one in each hundred requests"
is "$(canaries number.trace .id | wc -l)" 20 "a number of canaries"
is "$(places number.trace | awk '{ print int(($1 - NR) / 99) }' | paste -sd ' ')" "$(seq -s ' ' 0 19)" "a number is spread over all of the trace"
is "$(others share.trace | cksum)" "$(body plain.trace | cksum)" "canaries change no other request"
is "$(others number.trace | cksum)" "$(body plain.trace | cksum)" "a number of canaries changes no other request"
is "$(canaries share.trace .tags.canary.kind | sort | uniq -c | awk '{ print $1 }' | paste -sd ' ')" "4 4 4 4 4" "five kinds are equally frequent"
is "$(tail -1 share.trace | jq -c .end.canaries)" \
	"$(canaries share.trace | jq -sc '{requests: length, input_tokens: (map(.input_tokens) | add), output_tokens: (map(.output_tokens) | add)}')" \
	"the trailer counts canaries and their tokens"
is "$(canaries share.trace 'select(.output_tokens < 64 or .body != {"temperature": 0} or .session or (.messages | length) != 1)')" "" \
	"canaries have room for the answer, temperature 0 and one message"
is "$(canaries share.trace 'select(.tags.canary.kind == "recall") | .input_tokens' | awk '$1 < 80 || $1 > 3100' )" "" \
	"the context of a recall is as long as prompts of the workload"
is "$(canaries share.trace '.tags.canary.answer' | sort | uniq -d)" "" "answers differ"
ipf-prep synthetic -q -n 1980 --input-tokens uniform:100-3000 --reproducible --canaries 20 --memory 1kB -o files.trace
is "$(body files.trace | cksum)" "$(body number.trace | cksum)" "temporary files give the same trace"
ipf-prep synthetic -q -n 1980 --input-tokens uniform:100-3000 --reproducible --canaries 1% --seed 2 -o seed.trace
isnt "$(places seed.trace)" "$(places share.trace)" "another seed gives other places"
is "$(comm -12 <(canaries seed.trace .tags.canary.answer | sort) <(canaries share.trace .tags.canary.answer | grep '[A-Z]' | sort) | wc -l)" 0 \
	"another seed gives other answers"
run ipf-prep synthetic -n 98 --canaries 20 -v -o /dev/null
contains "$(cat "$ERR")" "ipf-prep: 20 canaries, 17% of all requests" "-v shows the share of the load"
run ipf-prep synthetic -n 3 --canaries 0.1% -o /dev/null
is "$(cat "$ERR")" "ipf-prep: --canaries: no canary is among 3 requests; use --canaries N" "a share that gives none is reported"
is "$(ipf-prep synthetic -q -n 3 --canaries 10 | canaries /dev/stdin .id | wc -l)" 10 "more canaries than requests"

is "$(ipf-prep stat -f json share.trace | jq -c '[.canaries.requests, .canaries.share]')" '[20,0.01]' "statistics show the share of canaries"
is "$(ipf-prep stat -f json share.trace | jq '.canaries.token_share * 1e6 | floor')" \
	"$(body share.trace | jq -s '(map(select(.tags.canary?) | .input_tokens + .output_tokens) | add) / (map(.input_tokens + .output_tokens) | add) * 1e6 | floor')" \
	"statistics show their share of the tokens"

ipf-prep fit share.trace -o share.model
ipf-prep fit plain.trace -o plain.model
is "$(jq -c 'del(.from, .argv, .created)' share.model)" "$(jq -c 'del(.from, .argv, .created)' plain.model)" "models of traffic have no canaries"

# ---- forms ----
ipf-prep synthetic -q -n 40 --prompt text --canaries 10 -o text.trace
is "$(canaries text.trace 'select((.prompt | startswith("Q: ") and endswith("\nA:") | not) or .messages or .body != {"temperature": 0, "stop": ["\n"]}) | .id')" "" \
	"completions get a question and end at the line break"
ipf-prep synthetic -q -n 60 --turns 4 --canaries 10 -o sessions.trace
is "$(body sessions.trace | jq -r '.session // .id' | uniq | sort | uniq -d)" "" "turns of a session stay together"
is "$(canaries sessions.trace .id | wc -l)" 10 "sessions do not reduce the number"
yes_if "a trace with canaries can be scheduled" ipf-sched -q constant:rate=100,n=70 -t sessions.trace -o sessions.sched
{
	printf '%s\n' '{"id":"a","messages":[{"role":"user","content":"x"}],"input_tokens":9,"at_ns":0,"model":"m"}'
	for i in $(seq 1 30); do
		printf '{"id":"b%s","messages":[{"role":"user","content":"x"}],"input_tokens":9,"at_ns":%s000,"model":"m"}\n' "$i" "$i"
	done
} >rows
trace_of rows >recorded.trace
ipf-prep trace -q recorded.trace --canaries 8 --classes paid=1 --class-header "paid:X-Team: a" -o at.trace
is "$(canaries at.trace .id | wc -l)$(body at.trace | jq .at_ns | sort -nc 2>&1)" 8 "arrivals of canaries are between those of their neighbours"
is "$(canaries at.trace '[.model, .headers["X-Team"]]' | sort -u)" '["m","a"]' "canaries have the model and headers of their neighbour"
isnt "$(canaries at.trace '.at_ns % 1000')" "$(printf '0\n%.0s' 1 2 3 4 5 6 7 8)" "arrivals of canaries are random"

# ---- alone ----
ipf-prep canaries -q -n 50 --input-tokens uniform:500-2000 -t "$tokenizer" -o alone.trace
is "$(body alone.trace | jq -r .id | paste -sd ' ')" "$(seq -s ' ' -f 'canary-%g' 1 50)" "canaries alone"
is "$(body alone.trace | jq -r .tags.canary.kind | sort | uniq -c | awk '{ print $1 }' | paste -sd ' ')" "10 10 10 10 10" "alone: kinds are equally frequent"
is "$(body alone.trace | jq 'select(.tags.canary.kind == "recall") | .input_tokens' | awk '$1 < 480 || $1 > 2100')" "" \
	"--input-tokens is the length of a recall's context, counted with a tokenizer"
is "$(body alone.trace | jq -r .input_tokens | paste -sd ' ')" \
	"$(body alone.trace | jq -c '.messages[0].content' | ipf-prep tokenize -t "$tokenizer" --json --count | paste -sd ' ')" "lengths of canaries are exact"
is "$(ipf-prep canaries -q -n 5 --prompt text | body /dev/stdin | jq -c '[.prompt[:3], .prompt[-3:], .body.stop]' | sort -u)" \
	'["Q: ","\nA:",["\n"]]' "canaries alone for completions"

# ---- repeats ----
ipf-prep synthetic -q -n 1000 --reproducible -o plain.trace
ipf-prep synthetic -q -n 1000 --reproducible --repeats 10% -o repeats.trace
repeats() { body "$1" | jq -c "select(.tags.repeat?) | $2"; }
is "$(repeats repeats.trace .id | wc -l)" 100 "a share of the requests is marked"
is "$(repeats repeats.trace '[.tags, .body]' | sort -u)" '[{"repeat":true},{"temperature":0}]' "marked requests have temperature 0"
is "$(body repeats.trace | jq -c 'del(.tags, .body)' | cksum)" "$(body plain.trace | jq -c . | cksum)" "marks change nothing else"
is "$(tail -1 repeats.trace | jq -c .end.repeats)" '{"requests":100}' "the trailer counts marked requests"
is "$(ipf-prep synthetic -q -n 100 --repeats 7 --repeat-logprobs | repeats /dev/stdin .body | sort | uniq -c | awk '{ print $1, $2 }')" \
	'7 {"logprobs":true,"temperature":0,"top_logprobs":5}' "log probabilities of a chat"
is "$(ipf-prep synthetic -q -n 100 --repeats 7 --prompt text --repeat-logprobs | repeats /dev/stdin .body | sort -u)" \
	'{"logprobs":5,"temperature":0}' "log probabilities of a completion"
cat >rows <<-'END'
	{"id":"a","prompt":"x","input_tokens":9,"tags":{"team":"blue"},"body":{"temperature":0.7,"top_p":0.9}}
	{"id":"b","prompt":"x","input_tokens":9,"tags":["x"]}
	{"id":"c","prompt":"x","input_tokens":9,"session":"s","turn":0}
	{"id":"d","prompt_token_ids":[1],"input_tokens":1}
	{"id":"e","prompt":"x","input_tokens":9,"tags":{"canary":{"kind":"copy","answer":"x"}}}
END
trace_of rows >odd.trace
ipf-prep trace -q odd.trace --prompt text --repeats 100% -o odd.repeats 2>/dev/null
is "$(repeats odd.repeats '[.id, .tags.team, .body]')" '["a","blue",{"temperature":0,"top_p":0.9}]' \
	"tags and body are kept; sessions, lists of tags, token ids and canaries are not marked"
ipf-prep synthetic -q -n 300 --canaries 10 --repeats 20 -o both.trace
is "$(tail -1 both.trace | jq -c '[.end.canaries.requests, .end.repeats.requests]')" '[10,20]' "canaries and repeats together"

# ---- refusals ----
refused() { # STATUS WHY ARGUMENT…
	run ipf-prep "${@:3}" -o /dev/null
	status_is "$1" "ipf-prep ${*:3}: the status"
	contains "$(cat "$ERR")" "$2" "ipf-prep ${*:3}: the reason"
}
refused 2 '--canaries: expected a share such as 1% or 0.01, or a number such as 50, got "some"' synthetic --canaries some
refused 2 "--canaries: expected at most half of the requests, got 60%" synthetic --canaries 60%
refused 2 "--canaries: requires --prompt messages or text, got none" synthetic --canaries 1% --prompt none
refused 2 "--canaries: cannot be combined with --batch" synthetic --canaries 1% --batch 2
refused 2 "--prefixes: format canaries has prompts and answers of its own" canaries --prefixes 2x100
refused 2 "canaries: requires --prompt messages or text, got none" canaries --prompt none
refused 2 "--repeat-logprobs: requires --repeats" synthetic --repeat-logprobs
refused 3 '--canaries: the data has the request "canary-1" already' trace share.trace --canaries 1%
printf '{"id":"d","inputs":["a","b"],"input_tokens":1}\n' >rows
trace_of rows >inputs.trace
refused 3 '--canaries: request "d" has no messages and no text' trace inputs.trace --canaries 1
