#!/bin/bash
# Sessions whose prompts are token ids: with --history live a turn continues the ids the server generated, so its prefix cache finds them.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
command -v python3 >/dev/null || skip_all "python3 is not installed"

peer_start "$TESTS/helpers/ids_server.py" asked.log
URL=$PEER_URL

# Two sessions of three turns.
jq -n -c '("a", "b") as $s | range(3) as $turn | {id: "\($s)/\($turn)", session: $s, turn: $turn, context: "session", output_tokens: 9, wait_ns: 0,
	prompt_token_ids: [range(10) | 700 + 20 * $turn + . + if $s == "a" then 0 else 10 end], answer_token_ids: [1, 2, 3]}' >lines
trace_of lines >ids.trace
run ipf-sched closed:users=2,n=2 -t ids.trace -q -o ids.sched
status_is 0 "ipf-sched makes a schedule of token ids"

fire() { # ARGUMENTS OF ipf-fire…: asked.log
	: >asked.log
	run ipf-fire -m m --api completions -t ids.trace ids.sched -u "$URL" "$@"
	status_is 0 "ipf-fire $* ends with 0"
	cp "$OUT" fired
}
# How many requests of the log begin with an earlier one, and its whole answer?
continued() {
	jq -s -c '[. as $all | range(length) as $i | $all[$i] as $r | [$all[:$i][] | .prompt + .answer | select($r.prompt[:length] == .)] | max_by(length) // empty]
		| length' asked.log
}

fire --history recorded
is "$(jq -s -c 'map(.asked) | unique' asked.log)" "[false]" "recorded answers: no ids are asked for"
is "$(jq -s -c '[.[] | select((.prompt | length) == 36)] | length' asked.log)" 2 "the third turn has two recorded answers of three tokens"
is "$(jq -s -c '[.[] | select((.prompt | length) == 36)][0].prompt | [.[10:13], .[23:26]]' asked.log)" "[[1,2,3],[1,2,3]]" "recorded answers stand after their turns"

for how in "" --no-stream; do
	fire --history live $how
	is "$(jq -s -c 'map(.asked) | unique' asked.log)" "[true]" "live: ids are asked for $how"
	is "$(continued)" 4 "later turns continue what the server generated with ids $how"
	is "$(tail -1 fired | jq -c '.end.history')" '{"left_out":0,"live":4,"recorded":0,"server":0}' "the trailer counts them"
	# tokens of the turn before, in whole blocks of four without its last one: (10 + 9 - 1) and (29 + 9 - 1)
	is "$(jq -s -c 'map(.cached) | sort' asked.log)" "[8,8,16,16,36,36]" "the cache finds whole blocks of the turns before and of an earlier run"
done

# The order of the records does not matter: several threads send.
rows() { # RECORDS: its rows, by their numbers
	ipf-collect -q "$1" | jq -c 'select(.n != null)' | jq -s -c 'sort_by(.n)[]'
}
rows fired >in-order
is "$(jq -s '[.[] | select(.history_tokens != null)] | length' in-order)" 4 "rows say what a turn continues"
requests fired >turns
{ head -1 fired && tac turns && tail -1 fired; } >backwards
{ head -1 fired && jq -c 'select(.continues != null)' turns && jq -c 'select(.continues == null)' turns && tail -1 fired; } >later-first
for order in backwards later-first; do
	rows $order >got
	same got in-order "$order: rows are the same whatever the order of the records"
done

run ipf-fire -m m --api openai-chat --history live -t ids.trace ids.sched -u "$URL"
status_is 3 "an API that takes no ids"
stderr_contains "prompt_token_ids: this API does not accept this kind of prompt" "ipf-fire says that the API does not accept token ids"

# A server listing no ids: the recorded ones are sent.
printf '%s' '{"ipf":"api","version":1,"name":"silent","like":"openai-completions","request":{"body":{"return_token_ids":null}}}' >silent.json
fire --history live --api ./silent.json
is "$(jq -s -c 'map(.asked) | unique' asked.log)" "[false]" "a descriptor without it: none are asked for"
is "$(tail -1 fired | jq -c '.end.history')" '{"left_out":0,"live":0,"recorded":4,"server":0}' "turns use the recorded answers if the API returns no ids"

rm -f silent.results
ipf-collect -q fired -o silent.results
contains "$(ipf-report silent.results | tr -s '\n ' ' ')" "recorded 4 with the recorded answer: the request before failed, or nothing of its answer could be used" "the report says that recorded answers were used"

# Sessions without ids.
refused_trace() { # MESSAGE JSON-LINES
	printf '%s\n' "$2" >lines
	trace_of lines >bad.trace
	run ipf-sched closed:users=1 -t bad.trace -q -o bad.sched
	[ "$status" != 0 ] || run ipf-fire -m m --api completions -t bad.trace bad.sched -u "$URL"
	status_is 3 "ipf-fire or ipf-sched refuses the trace: $1"
	stderr_contains "$1" "the message says: $1"
}
refused_trace "answer: that of a turn of token ids is answer_token_ids" '{"id":"1","session":"a","turn":0,"context":"session","prompt_token_ids":[1],"answer":"x"}'
refused_trace "answer_token_ids: requires prompt_token_ids" '{"id":"1","session":"a","turn":0,"context":"session","messages":[{"role":"user","content":"x"}],"answer_token_ids":[1]}'
refused_trace "request 1: prompt_token_ids: the turns before it in its session are messages" '{"id":"1","session":"a","turn":0,"context":"session","messages":[{"role":"user","content":"x"}]}
{"id":"2","session":"a","turn":1,"context":"session","prompt_token_ids":[1]}'

# ipf-prep writes such sessions: each turn has exactly the length asked for, and its answer.
run ipf-prep synthetic -n 6 --turns 3 --input-tokens 20 --output-tokens 7 -t "$TESTS/data/tokenizer/llama.json" --prompt ids -o made.trace
status_is 0 "synthetic sessions of ids"
is "$(body made.trace | jq -s -c 'map([.turn, .context, .input_tokens, (.prompt_token_ids | length), (.answer_token_ids | length)])[:3]')" \
	'[[0,"session",20,20,7],[1,"session",47,20,7],[2,"session",74,20,0]]' "synthetic sessions of ids have exact lengths"
cp made.trace ids.trace
run ipf-sched closed:users=2 -t ids.trace -q -o ids.sched
fire --history live
is "$(continued)" 4 "synthetic sessions of ids are continued exactly"

# The report's view of it: in the same numbers as a second computation from the records.
figures() { # OPTIONS OF ipf-collect…: a.results, the report's member without shares
	rm -f a.results
	ipf-collect -q fired -o a.results "$@" && ipf-report a.results --format json |
		jq -S -c '.total.history // {} | with_entries(select(.key | test("share|text") | not))'
}
truth() { python3 "$TESTS/helpers/history_truth.py" fired | jq -S -c .; }
is "$(figures)" "$(truth)" "figures of live histories by ids are computed a second time"
is "$(jq -r '.differing_tokens, .compared_turns' <<<"$(truth)" | tr '\n' ' ')" "0 4 " "live histories by ids are exact"
contains "$(ipf-report a.results | tr -s '\n ' ' ')" "4 turns, each of which begins with all tokens of the turn before and its answer" "the report says it"

# By texts: the server reads other tokens than it generated.
run ipf-prep synthetic -n 6 --turns 3 --input-tokens 20 --output-tokens 7 -o ids.trace
run ipf-sched closed:users=2 -t ids.trace -q -o ids.sched
fire --history live --api openai-chat --param return_token_ids=true
is "$(figures)" "$(truth)" "figures of live histories by texts are computed a second time"
is "$(jq -r .differing_turns <<<"$(truth)")" 4 "every turn differs"
contains "$(ipf-report a.results --section history | tr -s '\n ' ' ')" "4 of 4 turns do not begin with the tokens before" "the report says that turns do not begin with the tokens before"
fire --history live --api openai-chat --no-stream
is "$(figures)" "$(truth)" "figures of the cache without ids are computed a second time"
ipf-report a.results --section history >shown
isnt "$(grep -c "differs\|exact" shown)" 1 "the report says nothing of tokens without ids"
figures -t "$TESTS/data/tokenizer/llama.json" --text >/dev/null
body a.results | jq -r 'select(.n != null) | .continues // empty' | sort >continued
body a.results | jq -r 'select(.n != null) | "\(.n) \(.text | tojson)"' | sort | join - continued | cut -d ' ' -f 2- | jq -r . >texts
is "$(ipf-report a.results --format json | jq -c '.total.history | [.text_generated_tokens, .text_tokens]')" \
	"$(jq -c -n --argjson read "$(ipf-prep tokenize -t "$TESTS/data/tokenizer/llama.json" texts | jq -s 'map(length) | add')" '[28, $read]')" "the tokenizer's reading of the texts"
contains "$(ipf-report a.results --section history | tr -s '\n ' ' ')" "tokens where the server had generated 28" "the report says how the tokenizer reads the texts"
fire --history recorded --api openai-chat
is "$(figures)" "{}" "recorded histories have no such figures"
