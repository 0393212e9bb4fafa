#!/bin/bash
# --history server: the server keeps the messages of sessions, and a turn sends the new messages and the id of the answer before. The
# server's own conversations show whether it has the same messages as with --history live.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
. "$TESTS/fixture.sh"

ipf-prep sharegpt "$ROOT/examples/chat.json" --turns all --wait 1ms --output-tokens 5 -q -o all.trace
ipf-sched closed:users=3 -t all.trace -q -o all.sched
server() { # [FAIL]
	: >log
	peer_start "$TESTS/helpers/session_server.py" log "$@"
	URL=$PEER_URL
}
fire() { # ARGUMENTS…
	run ipf-fire -m sim --api openai-responses -t all.trace all.sched -u "$URL" -H 'X-Request-Id: $id' -q -o run.records --force "$@"
	status_is 0 "ipf-fire $* ends with 0"
	peer_stop
	jq -c '[.id, .conversation]' log | sort >conversations
	history=$(tail -1 run.records | jq -c .end.history)
}
LATER=$(body all.trace | jq -s '[.[] | select(.context == "session" and .turn > 0)] | length')
at_least "$LATER" 6 "the trace has later turns"
server
fire --history live
cp conversations want
is "$(jq -s 'map(select(.previous)) | length' log)" 0 "--history live names no answer"
for stream in '' --no-stream; do
	server
	fire --history server $stream
	same conversations want "--history server $stream: the server has the same conversations"
	is "$(jq -s 'map(select(.previous)) | length' log)" "$LATER" "later turns name the answer before them"
	is "$(jq -s 'map(select(.previous and .came > 1)) | length' log)" 0 "later turns send only new messages"
	is "$(jq -c '[.server, .live, .left_out]' <<<"$history")" "[$LATER,0,0]" "records count the histories of the server"
done

# A failed turn has no id: the turn after it sends all messages, as without a server keeping them.
server 1
fire --history server
failed=$(jq -r 'select(.status == 500) | .id' log)
next=$(body all.trace | jq -r --arg id "$failed" -s '(map(select(.id == $id)) | .[0]) as $f | map(select(.session == $f.session and .turn == $f.turn + 1)) | .[0].id // ""')
is "$(jq -s 'map(select(.status == 404)) | length' log)" 0 "no turn names an answer that does not exist"
[ -z "$next" ] || is "$(jq -c --arg id "$next" 'select(.id == $id) | .previous' log)" false "every message is sent after a failed turn"

run ipf-fire -m sim --api openai-chat -t all.trace all.sched -u http://127.0.0.1:1 --history server
complains ipf-fire '--history server: servers with the API openai-chat do not keep sessions' "an API without it"
