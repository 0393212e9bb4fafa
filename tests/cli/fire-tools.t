#!/bin/bash
# --history live with tools: the server's own calls get the recorded results, whatever their order and ids; calls without a counterpart are left
# out. The server refuses conversations in which a call has no result, or a result no call.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
command -v python3 >/dev/null || skip_all "python3 is not installed"

peer_start "$TESTS/helpers/tool_server.py" asked.log
URL=$PEER_URL

# Two turns: the recorded answer of the first are three calls, which the second one begins with, their results after it.
CALLS='[["find",{"q":1}],["find",{"q":2}],["read",{"f":"x"}]]'
talk() { # WHAT THE SERVER ANSWERS [RECORDED CALLS]: a.trace
	jq -n -c --arg ask "$1" --argjson calls "${2:-$CALLS}" '
		{id: "t/0", session: "t", turn: 0, context: "session", output_tokens: 8, messages: [{role: "user", content: $ask}]},
		{id: "t/1", session: "t", turn: 1, context: "session", output_tokens: 8, wait_ns: 0, messages:
			([{role: "assistant", content: "", tool_calls: [$calls | to_entries[] | {id: "old-\(.key)", type: "function",
				function: {name: .value[0], arguments: (.value[1] | tojson)}}]}]
			+ [$calls | to_entries[] | {role: "tool", tool_call_id: "old-\(.key)", content: "result of \(.value | tojson)"}])}' >lines
	trace_of lines >a.trace
}
fire() { # ARGUMENTS OF ipf-fire…: the second request's messages in `second`, counts in $history
	: >asked.log
	ipf-sched closed:users=1 -t a.trace -q -o a.sched
	run ipf-fire -m m -t a.trace a.sched -u "$URL" "$@"
	status_is 0 "ipf-fire $* ends with 0"
	is "$(body "$OUT" | jq -c 'select(.n != null) | .status' | tr '\n' ' ')" "200 200 " "a strict server takes it"
	sed -n 2p asked.log >second
	history=$(tail -1 "$OUT" | jq -c .end.history)
}
# Each result with the call it is for: "find {"q":1} <- result of […]", in the order of the calls; then those without a call.
results() {
	jq -r '. as $all | [.[] | select(.role == "assistant")][0].tool_calls // [] | .[] | . as $call
		| "\(.function.name) \(.function.arguments | fromjson | tojson) <- \([$all[] | select(.role == "tool" and .tool_call_id == $call.id) | .content] | join(","))"' second
}

talk '{"calls": [["find",{"q":1}],["find",{"q":2}],["read",{"f":"x"}]]}'
fire --history recorded
is "$(jq -r '.[1].tool_calls[].id' second | tr '\n' ' ')" "old-0 old-1 old-2 " "--history recorded sends the recorded calls"
for how in "" --no-stream; do
	fire --history live $how
	is "$(results)" 'find {"q":1} <- result of ["find",{"q":1}]
find {"q":2} <- result of ["find",{"q":2}]
read {"f":"x"} <- result of ["read",{"f":"x"}]' "calls of the server have their recorded results $how"
	is "$(jq -c '[.[].role]' second)" '["user","assistant","tool","tool","tool"]' "the recorded answer is not there any more"
	is "$(jq -r '.[1].tool_calls[].id' second | grep -c live)" 3 "the ids are those of this run"
	is "$history" '{"left_out":0,"live":1,"recorded":0,"server":0,"tools":{"calls":3,"calls_left_out":0,"results_left_out":0}}' "the history counts live turns and calls"
done

talk '{"calls": [["read",{"f":"x"}],["find",{"q":2}],["find",{"q":1}]]}'
fire --history live
is "$(results)" 'read {"f":"x"} <- result of ["read",{"f":"x"}]
find {"q":2} <- result of ["find",{"q":2}]
find {"q":1} <- result of ["find",{"q":1}]' "calls in another order get their own results"

talk '{"text": "So.", "calls": [["find",{"q":7}]]}'
fire --history live
is "$(results)" 'find {"q":7} <- result of ["find",{"q":1}]' "other arguments: the first result of that tool"
is "$(jq -c '.[1].content' second)" '"So."' "the text stays"
is "$(jq -c .tools <<<"$history")" '{"calls":1,"calls_left_out":0,"results_left_out":2}' "results without a call are left out, and counted"

ipf-collect -q "$OUT" -o left.results
contains "$(ipf-report left.results --section history | tr -s '\n ' ' ')" "1 call of the server got recorded results; 0 without one and 2 results without a call were left out" \
	"the report says it"

talk '{"calls": [["write",{"f":"y"}],["find",{"q":1}],["find",{"q":2}],["read",{"f":"x"}],["find",{"q":3}]]}'
fire --history live
is "$(results | wc -l)" 3 "calls without a result are left out"
is "$(jq -c .tools <<<"$history")" '{"calls":3,"calls_left_out":2,"results_left_out":0}' "calls without a result are counted"

for answer in '{"calls": [["write",{"f":"y"}]]}' '{"text": "No tools, then."}'; do
	talk "$answer"
	fire --history live
	is "$(jq -r '.[1].tool_calls[].id' second | tr '\n' ' ')" "old-0 old-1 old-2 " "a turn without a matching call has the recorded ones: $answer"
	is "$history" '{"left_out":0,"live":0,"recorded":1,"server":0}' "a turn without a matching call counts as recorded"
done

# The other APIs: calls and results in their own shapes, whose servers are as strict.
for api in anthropic-messages openai-responses gemini; do
	talk '{"text": "So.", "calls": [["read",{"f":"x"}],["write",{"f":"y"}],["find",{"q":2}],["find",{"q":7}]]}'
	fire --api $api --history recorded
	is "$(results)" 'find {"q":1} <- result of ["find",{"q":1}]
find {"q":2} <- result of ["find",{"q":2}]
read {"f":"x"} <- result of ["read",{"f":"x"}]' "$api: the recorded calls and results are sent"
	is "$(jq -r '.[1].tool_calls[].id' second | tr '\n' ' ')" "old-0 old-1 old-2 " "$api: the recorded calls keep their ids"
	for how in "" --no-stream; do
		fire --api $api --history live $how
		is "$(results)" 'read {"f":"x"} <- result of ["read",{"f":"x"}]
find {"q":2} <- result of ["find",{"q":2}]
find {"q":7} <- result of ["find",{"q":1}]' "$api: the server's own calls get theirs $how"
		is "$(jq -c '[.[1].content, (.[1].tool_calls | map(.id | startswith("old")) | any)]' second)" '["So.",false]' "$api: the server's text and ids are sent"
		is "$(jq -c .tools <<<"$history")" '{"calls":3,"calls_left_out":1,"results_left_out":0}' "$api: a call without a result is counted"
	done
done

talk '{"reasoning": "Let me think.", "text": "Yes.", "calls": [["find",{"q":1}]]}'
fire --history live
is "$(jq -c '.[1].reasoning_content' second)" null "reasoning is dropped"
fire --history live-reasoning
is "$(jq -c '.[1].reasoning_content' second)" '"Let me think."' "--history live-reasoning keeps reasoning"
is "$(head -1 "$OUT" | jq -r .history)" live-reasoning "the header says it"
ipf-collect -q "$OUT" -o a.results
is "$(body a.results | jq -s -c '[.[] | select(.n != null) | .ok]')" "[true,true]" "the records are read as usual"
