#!/bin/bash
# --history live: the server's answer is in the next turn's past; the server's own log has its requests and answers.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
. "$TESTS/fixture.sh"

# a.trace: six sessions of four turns with answers; b.trace: the same without answers
ipf-prep sharegpt "$ROOT/examples/chat.json" --turns all --wait 1ms --output-tokens 5 -q -o some.trace
body some.trace |
	jq -s -c '[.[] | select(.session)] | group_by(.session) | map(select(length > 1)) | .[0:6] | add | sort_by(.session, .turn) | .[]' >lines
trace_of lines >a.trace
jq -c 'del(.answer)' lines >bare
trace_of bare >b.trace
LATER=$(jq -s '[.[] | select(.turn > 0)] | length' lines)
ALL=$(wc -l <lines)
at_least "$LATER" 6 "the trace has later turns"
[ "$(jq -s '[.[] | select(.turn > 0 and .answer and .context == "session")] | length' lines)" -gt 3 ] ||
	not_ok "the trace has a session whose context repeats"

server() { # ARGUMENTS OF ipf-sim…
	: >server.log
	server_start --log server.log --step-base 1ms "$@"
}
fire() { # TRACE STAGE ARGUMENTS OF ipf-fire…: rows
	ipf-sched "$2" -t "$1" -q -o now.sched
	run ipf-fire -m sim -t "$1" now.sched -u "$URL" -H 'X-Request-Id: $id' "${@:3}"
	status_is 0 "ipf-fire $* ends well"
	requests "$OUT" >rows
	history=$(tail -1 "$OUT" | jq -c .end.history)
}
# The prompt each request should have had, by its SHA-256: the messages before it, the answers by FILTER (of a turn's line in the trace, and of the
# server's log $log), and its own.
expected() { # TRACE FILTER: "id sha256", sorted
	body "$1" | jq -s -c --slurpfile log server.log "(\$log | map({(.id): .}) | add) as \$logs |
		group_by(.session)[] | sort_by(.turn) | . as \$turns | range(length) as \$k |
		{id: \$turns[\$k].id, text: ([\$turns[range(\$k)] | . as \$turn | \$logs[.id] as \$log | ($2) as \$answer |
			if \$answer == null then empty else (\$turn.messages[].content), \$answer end] + [\$turns[\$k].messages[].content] | join(\"\\n\"))}" |
		while IFS= read -r line; do
			printf '%s %s\n' "$(jq -r .id <<<"$line")" "$(jq -j .text <<<"$line" | openssl dgst -sha256 -r |
				cut -d ' ' -f 1)"
		done | sort
}
asked() { jq -r '[.id, .prompt_sha256] | join(" ")' server.log | sort; }

server
fire a.trace closed:users=3 
asked >got
expected a.trace '$turn.answer' >recorded
same got recorded "--history recorded repeats the answers of the trace"
is "$history" null "--history recorded counts no turns"

: >server.log
fire a.trace closed:users=3 --history live
asked >got
expected a.trace '$log.text' >live
same got live "live: the server's own answers are repeated"
isnt "$(cat live)" "$(cat recorded)" "live answers differ from the recorded ones"
is "$history" "{\"live\":$LATER,\"recorded\":0,\"left_out\":0,\"server\":0}" "every later turn has a live answer"
is "$(head -1 "$OUT" | jq -c .history)" '"live"' "the header says it"
is "$(jq -c '.error' rows | sort -u) $(wc -l <rows)" "null $ALL" "every request with --history live succeeds"
: >server.log
fire a.trace closed:users=3 --history live --no-stream
asked >got
expected a.trace '$log.text' >live
same got live "--history live takes answers in one piece"
: >server.log
fire b.trace burst --history live
asked >got
expected b.trace '$log.text' >live
same got live "a trace without answers needs none"
: >server.log
fire a.trace "closed:users=2,n=$((2 * ALL + 3))" --history live
at_least "$(wc -l <rows)" "$((ALL + 1))" "a stage of more sessions than the trace has goes round them"
is "$(jq -c '.error' rows | sort -u)" null "a stage that goes round its sessions is answered"
is "$(jq -c '.recorded + .left_out' <<<"$history")" 0 "every round goes on with its own answers"

# ---- branches: several turns continue the same one ----
jq -nc 'range(3) as $s | [[0], [1, 0], [2, 0], [3, 1], [4, 0], [5, 2]][] | {id: "s\($s)-\(.[0])", session: "s\($s)", turn: .[0], output_tokens: (3 + .[0]), context: "session",
	messages: [{role: "user", content: "turn \(.[0]) of \($s)"}], answer: "recorded"} + if .[1] == null then {} else {parents: ["s\($s)-\(.[1])"]} end | if .turn == 0 then del(.context) else . end' >branches
trace_of branches >f.trace
continued() { # the same as expected, of the turns each one continues
	jq -s -r --slurpfile log server.log '($log | map({(.id): .text}) | add) as $said | (map({(.id): .}) | add) as $all
		| def before: .parents[0] as $p | if $p then ($all[$p] | before) + [$all[$p].messages[0].content, $said[$p]] else [] end;
		.[] | "\(.id) \(before + [.messages[0].content] | join("\n") | @base64)"' branches | while read -r id text; do
		echo "$id $(base64 -d <<<"$text" | openssl dgst -sha256 -r | cut -d ' ' -f 1)"
	done | sort
}
for stage in burst closed:users=1; do
	: >server.log
	fire f.trace "$stage" --history live
	asked >got
	continued >live
	same got live "$stage: each branch has the server's answer to the turn that it continues"
	is "$history" '{"live":15,"recorded":0,"left_out":0,"server":0}' "$stage: all branches are counted as live"
	is "$(jq -c 'select(.continues != null) | [.n, .continues]' rows | wc -l)" 15 "$stage: each row says which one it continues"
done
server_stop

# ---- failing turns ----
failed='($log.status != 200 or $log.mode != null)'
server --fail error-inband:share=0.4,after=2
fire a.trace closed:users=3 --history live
asked >got
expected a.trace "if $failed then \$turn.answer else \$log.text end" >live
same got live "the trace's answer follows a failed turn"
between "$(jq -c .recorded <<<"$history")" 1 $((LATER - 1)) "turns with the trace's answer are counted"
is "$(jq -c '.live + .recorded + .left_out' <<<"$history")" "$LATER" "every later turn counts once"
: >server.log
fire b.trace closed:users=3 --history live
asked >got
expected b.trace "if $failed then null else \$log.text end" >live
same got live "turns without any answer are left out"
between "$(jq -c .left_out <<<"$history")" 1 $((LATER - 1)) "turns that are left out are counted"
server_stop
server --fail reset
fire a.trace closed:users=3 --history live
is "$(jq -c .error.kind rows | sort -u) $(wc -l <rows)" "\"reset\" $ALL" "every turn is tried even if all fail"
is "$history" "{\"live\":0,\"recorded\":$LATER,\"left_out\":0,\"server\":0}" "turns after failures count as recorded"
server_stop
server --fail reasoning:tokens=2
fire a.trace closed:users=3 --history live
yes_if "the server sends reasoning" grep -q reasoning_content "$OUT"
asked >got
is "$(jq -c .live <<<"$history")" "$LATER" "answers with reasoning are live"
expected a.trace '$log.text' >live
isnt "$(cat got)" "$(cat live)" "live answers leave the reasoning out"
server_stop

# ---- the end comes early ----
server --fail stall:after=1,pause=10s
ipf-sched closed:users=3 -t a.trace -q -o now.sched
ipf-fire -q -m sim -t a.trace now.sched -u "$URL" --history live --grace 50ms -o cut.records &
fire=$!
stop_at_exit $fire
begun() { [ "$(wc -l <cut.records)" -ge 2 ]; }
wait_for begun
kill -INT $fire
wait $fire
status=$?
status_is 0 "a run that is cut while turns wait for answers ends in order"
yes_if "records of a run cut between turns are whole" whole cut.records
server_stop

# Second turns already rendered, as their first ones had been answered, and whose time did not come.
server
jq -c 'if .turn > 0 then .wait_ns = 600000000000 else . end' lines >late
trace_of late >c.trace
ipf-sched burst -t c.trace -q -o now.sched
ipf-fire -q -m sim -t c.trace now.sched -u "$URL" --history live -o cut.records &
fire=$!
stop_at_exit $fire
first_turns() \
	{ [ "$(grep -c '"turn":0,.*"end_ns"' cut.records)" = "$(jq -s 'map(select(.turn == 0)) | length' lines)" ]; }
wait_for first_turns
kill -INT $fire
wait $fire
status=$?
status_is 0 "a run that is interrupted before later turns are due ends in order"
is "$(tail -1 cut.records |
	jq -c .end.history)" '{"live":0,"recorded":0,"left_out":0,"server":0}' "turns that were not due are not counted"
server_stop
run ipf-fire -u "$URL" -t a.trace now.sched --history dead
status_is 2 "ipf-fire refuses --history dead"
complains ipf-fire 'expected recorded, live, live-reasoning or server, got "dead"' "ipf-fire says what --history may be"
