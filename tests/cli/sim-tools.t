#!/bin/bash
# The simulated server's tool calls: those a request lists, left out, added and reordered by seed, streamed in any way and whole; the
# refusals of --strict-tools; and sessions of agents with the server's own calls (--history live), all of which a strict server takes.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

CALLS='[["find",{"q":1}],["find",{"q":"é €"}],["read",{"f":"a \"quoted\" name"}],["now",{}]]'
post() { curl -sS -m 50 -N -o "$OUT" -w '%{http_code}' "$URL/v1/chat/completions" -d "$1"; }
chat() { # SIM STREAM [MORE]: $OUT; the calls as [[name, arguments], …]: put together from whatever they came in
	status=$(post "$(jq -nc --arg sim "$1" --argjson stream "$2" --argjson calls "$CALLS" '{messages: [{role: "user", content: "hi"}], max_tokens: 30, stream: $stream,
		sim: $sim, sim_calls: $calls}'"${3:-}")")
	if [ "$2" = true ]; then
		sed -n 's/^data: {/{/p' "$OUT" | jq -c '.choices[0].delta.tool_calls[]?' | jq -s -c 'group_by(.index) |
			map([.[0].function.name, (map(.function.arguments) | add | fromjson)])'
	else
		jq -c '.choices[0].message.tool_calls // [] | map([.function.name, (.function.arguments | fromjson)])' "$OUT"
	fi
}
sorted() { jq -cS 'sort'; }

server_start --seed 5 --step-base 1ms
for how in "" ";mixed=1" ";after=3" ";mixed=1, multi;tokens=5" ", reasoning;tokens=2"; do
	is "$(chat "tools$how" true)" "$(jq -c . <<<"$CALLS")" "listed calls are streamed: tools$how"
done
is "$(chat tools false)" "$(jq -c . <<<"$CALLS")" "listed calls come in one piece: tools$how"
is "$(jq -c '.choices[0] | [.finish_reason, .message.content, (.message.tool_calls | map(.id) | unique | length)]' "$OUT")" '["tool_calls",null,4]' "listed calls have ids of their own"
chat "tools;after=3" true >calls
is "$(sed -n 's/^data: {/{/p' "$OUT" | jq -c '.choices[0].delta | if .content then (.content | length) elif .tool_calls then "calls" else empty end' | uniq | head -5 | tr '\n' ' ')" \
	'0 4 "calls" ' "text comes before them"
is "$(sed -n 's/^data: {/{/p' "$OUT" | jq -c '.choices[0].finish_reason // empty')" '"tool_calls"' "a stream with calls finishes with tool_calls"
chat "tools;mixed=1" true >calls
is "$(sed -n 's/^data: {/{/p' "$OUT" | jq -c '.choices[0].delta.tool_calls[]?.index' | head -6 | tr '\n' ' ')" "0 1 2 3 0 1 " "mixed: piece by piece in turn"
is "$(chat "tools;order=reversed" true)" "$(jq -c reverse <<<"$CALLS")" "order=reversed reverses the calls"
chat "tools;order=random" true >once
chat "tools;order=random" false >twice
same once twice "a random order is that of the seed"
is "$(sorted <once)" "$(sorted <<<"$CALLS")" "order=random keeps all calls"
is "$(chat "tools;missing=2" true)" "$(jq -c '.[:2]' <<<"$CALLS")" "some are left out"
is "$(chat "tools;missing=9" true)" "[]" "missing=9 leaves all calls out"
is "$(sed -n 's/^data: {/{/p' "$OUT" | jq -r '.choices[0].delta.content // ""' | tr -d '\n' | wc -c)" 120 "an answer without calls has a text of the length asked for"
is "$(chat "tools;extra=2;missing=4" false)" '[["extra",{"q":0}],["extra",{"q":1}]]' "extra=2 adds two calls"
CALLS='[]'
is "$(chat "tools;calls=3" true '+ {tools: [{type: "function", function: {name: "a"}}, {type: "function", function: {name: "b"}}]}' | jq -c 'map(.[0])')" '["a","b","a"]' \
	"tools of the request are called if none are listed"
is "$(chat "tools;calls=3" false | jq -c 'map(.[0])')" '["find","find","find"]' "an unknown tool is called if the request offers none"
is "$(jq .usage.completion_tokens "$OUT")" 30 "calls have as many tokens as were asked for"
is "$(post '{"messages":[{"role":"user","content":"hi"}],"sim_calls":[["find",1]]}') $(jq -r .error.message "$OUT")" \
	"400 sim_calls: expected a list of [name, arguments]" "a list of something else is refused"
run "$BIN/ipf-sim" --fail tools:order=sideways
status_is 2 "an order that there is not"
stderr_contains 'tools: order: expected given, reversed or random, got "sideways"' "an unknown order is refused by name"
server_stop

# ---- a strict server ----
server_start --strict-tools --seed 7 --step-base 1ms --fail tools:order=random,missing=1,extra=2
u='{"role":"user","content":"hi"}' call='{"role":"assistant","content":null,"tool_calls":[{"id":"a"},{"id":"b"}]}' text='{"role":"assistant","content":"so"}'
result() { printf '{"role":"tool","tool_call_id":"%s","content":"x"}' "$1"; }
while IFS='|' read -r status messages; do
	is "$(post "{\"max_tokens\":2,\"messages\":[$messages]}")" "$status" "a strict server answers $status to $messages"
done <<MESSAGES
200|$u
200|$u,$text,$u
200|$u,$call,$(result a),$(result b)
200|$u,$call,$(result b),$(result a),$text,$u
400|$u,$call,$u
400|$u,$call,$(result a)
400|$u,$call,$(result a),$u
400|$u,$(result a)
400|$u,$call,$(result a),$(result a)
200|$u,${call/\"b\"/\"a\"},$(result a),$(result a)
400|$u,${call/\"b\"/\"a\"},$(result a),$(result a),$(result a)
400|$u,${call/\"b\"/\"a\"},$(result a),$u
400|$u,$call,$(result a),$(result b),$(result c)
400|$u,$text,$text
400|$u,{"role":"assistant","content":""}
MESSAGES

# Sessions of random calls, of which the server leaves out one and makes two that nobody recorded.
jq -n -c 'def rand(seed): (seed * 1103515245 + 12345) % 2147483648 / 65536 | floor;
	range(12) as $s | [range(3) as $k | [range(1 + rand($s * 7 + $k) % 4) as $i |
		[["find", "read", "now"][rand($s * 31 + $k * 5 + $i) % 3], {q: (rand($s + $k + $i * 3) % 2)}]]] as $calls
	| range(4) as $turn | {id: "s\($s)/\($turn)", session: "s\($s)", turn: $turn, context: "session", input_tokens: 5, output_tokens: 5,
		messages: (if $turn == 0 then [{role: "user", content: "begin \($s)"}] else
			[{role: "assistant", content: "", tool_calls: [$calls[$turn - 1] | to_entries[] | {id: "old-\($turn)-\(.key)", type: "function",
				function: {name: .value[0], arguments: (.value[1] | tojson)}}]}]
			+ [$calls[$turn - 1] | to_entries[] | {role: "tool", tool_call_id: "old-\($turn)-\(.key)", content: "result \(.key)"}] end)}
		+ (if $turn == 0 then {} else {wait_ns: 0} end) + (if $turn < 3 then {body: {sim_calls: $calls[$turn]}} else {} end)' >lines
trace_of lines >agents.trace
ipf-sched -q -t agents.trace closed:users=6 -o agents.sched
for history in recorded live live-reasoning; do
	run ipf-fire -q -u "$URL" -m sim -t agents.trace agents.sched --history "$history" --force -o agents.records
	is "$(body agents.records | jq -c 'select(.n != null) | .status' | sort | uniq -c | tr -s ' ')" " 48 200" "--history $history: a strict server takes all 48 turns"
done
is "$(tail -1 agents.records | jq -c '.end.history | [.live, .recorded, .tools.calls, .tools.calls_left_out, .tools.results_left_out]')" \
	"$(jq -s -c 'map(select(.body) | .body.sim_calls | length) | [(map(select(. > 1)) | length), (map(select(. == 1)) | length), (map(. - 1) | add),
		(map(select(. > 1)) | length * 2), (map(select(. > 1)) | length)]' lines)" "calls have their results as the trace says"
ipf-collect -q agents.records -o agents.results
is "$(body agents.results | jq -s -c 'map(select(.n != null and .turn < 3) | .tool_calls) | add')" "$(jq -s -c 'map(select(.body) | .body.sim_calls | length + 1) | add' lines)" \
	"results count the calls"
is "$(ipf-report -f json agents.results | jq -c '.total.tool_calls | [.n, .min, .max]')" "[48,1,5]" "the report has the calls of an answer"
