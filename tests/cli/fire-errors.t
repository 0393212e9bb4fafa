#!/bin/bash
# Errors on the way are recorded as such, with all earlier bytes; an impossible start fails in one line.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens 12 -n 10 -q -o chat.trace
ipf-sched burst:n=4 -t chat.trace -o chat.sched
ipf-sched closed:users=1,n=4 -t chat.trace -o one.sched

# ---- servers with awkward manners ----
against() { # MODE ARGUMENTS OF ipf-fire…: rows
	server_start --fail "$1"
	run ipf-fire -u "$URL" -m sim -t chat.trace "${@:2}"
	status_is 0 "$1: that requests fail is no failure of the program"
	yes_if "$1: the records are whole" whole "$OUT"
	requests "$OUT" >rows
	is "$(wc -l <rows)" 4 "$1: every request is recorded"
	server_stop
}
all() { # FILTER EXPECTED TEXT: of each row
	is "$(jq -c "$1" rows | sort -u)" "$2" "$3"
}

against never chat.sched --timeout 300ms
all '[.error.kind, .status, .reads, .body, .first_byte_ns]' '["timeout",null,null,null,null]' "a server that never answers gives a timeout without a byte"
all '(.end_ns - .start_ns) / 1e6 | . >= 299' true "never: no request ends before --timeout"
against stall:after=3,pause=1h chat.sched --timeout 5s
all '[.error.kind, .status, (.reads | length > 0), (.body | contains("data: "))]' '["timeout",200,true,true]' "bytes before the timeout are kept"
against reset:after=3,pause=20ms chat.sched
all '[.error.kind, .status, (.body | contains("data: ")), .error.stale]' '["reset",200,true,null]' "a reset keeps the bytes before it"
against cut:after=3 chat.sched
all '[.error.kind, .status, (.body | contains("data: "))]' '["cut",200,true]' "closed before the last chunk"
against content-length-short chat.sched --no-stream
all '[.error.kind, .status, (.body | length > 0)]' '["cut",200,true]' "short of its Content-Length"
against garbage chat.sched
all '[.error.kind, .status]' '["malformed",null]' "garbage in place of HTTP is malformed"
against status:code=503 chat.sched
all '[.error, .status, (.body | contains("error"))]' '[null,503,true]' "a status is no error of the transport"
against interim chat.sched --record-header content-type
all '[.error, .status, .headers]' '[null,200,{"content-type":"text/event-stream; charset=utf-8"}]' "an interim answer"
against http10 chat.sched
all '[.error, .status, .connection.reused, (.body | contains("[DONE]"))]' '[null,200,false,true]' "an answer of HTTP/1.0 is complete, and its connection is not reused"
against close one.sched
all '[.error, .status, .connection.reused]' '[null,200,false]' "a connection that is closed is not used again"
against bad-utf8 chat.sched
all '[.error, .body, (.body_base64 | @base64d | contains("data: "))]' '[null,null,true]' "a body that is not UTF-8 is recorded as base64"
against nothing chat.sched
all '[.error, .status, .reads, .body]' '[null,200,null,null]' "an answer may have no body"

# ---- a kept connection that is closed as it is used again: one second attempt, on a new connection, and no hidden one ----
ipf-sched closed:users=1,n=40 -t chat.trace -o forty.sched
again() { jq -s 'map(select(.connection.stale_idle_ns)) | length' rows; }
for pause in 0 20ms; do
	server_start --log server.$pause.log --step-base 1ms --fail "reset:share=0.5,pause=$pause"
	run ipf-fire -u "$URL" -m sim -t chat.trace forty.sched
	requests "$OUT" >rows
	is "$(jq -s 'length' rows)" 40 "reset after $pause: all are recorded"
	logged() { [ "$(grep -c '/v1/chat/completions' server.$pause.log)" -ge "$((40 + $(again)))" ]; } # after an answer was sent
	wait_for logged
	is "$(grep -c '/v1/chat/completions' server.$pause.log)" "$((40 + $(again)))" "the server saw every request once, repeated ones twice"
	is "$(jq -c 'select(.error) | [.error.kind, .status]' rows | sort -u)" '["reset",null]' "resets are recorded as reset"
	stale=$(jq -c 'select(.error) | [.connection.reused, .error.stale]' rows | sort -u)
	# A busy machine may be late to see it.
	if [ $pause = 0 ]; then
		between "$(again)" 1 39 "resets on kept connections at once lead to a second request"
		is "$(jq -c 'select(.connection.stale_idle_ns) | .connection.reused' rows | sort -u)" false "repeated requests use a new connection"
		is "$(jq -s 'map(select(.connection.stale_idle_ns and .status == 200)) | length > 0' rows)" true "repeated requests are answered"
		matches "$(cat "$ERR")" "^ipf-fire: $(again) requests were sent again on a new connection: the server had closed the kept one$" "ipf-fire counts the repeated requests at the end"
		ipf-collect -q "$OUT" -o again.results
		is "$(tail -1 again.results | jq -c --argjson n "$(again)" '.end.transport[] | select(.finding == "stale-connections") | [.affected == $n, .evidence.closed_idle_ms >= 0]')" \
			"[true,true]" "repeated requests give a finding about the transport"
	else
		between "$(jq -s 'map(select(.error and .connection.reused)) | length' rows)" 1 39 "some on kept connections"
		is "$(printf '%s\n' "$stale" | grep ',true]')" "" "requests that the server was working on are not stale"
		is "$(again)" 0 "requests that the server was working on are not repeated"
	fi
	between "$(jq -s 'map(select(.error | not)) | length' rows)" 1 39 "other requests are answered"
	server_stop
done
server_start --step-base 1ms --fail "reset:share=0.5,pause=0"
ipf-sched closed:users=6,n=60 -t chat.trace -o sixty.sched
for pool in 3 session; do
	run ipf-fire -u "$URL" -m sim -t chat.trace sixty.sched --connections $pool
	requests "$OUT" >rows
	is "$(jq -s 'length' rows)" 60 "--connections $pool: all are recorded"
	between "$(jq -s 'map(select(.connection.stale_idle_ns and .status == 200)) | length' rows)" 0 59 "repeated requests are answered in a pool of $pool" # exact: no count of requests depends on time
	is "$(jq -c 'select(.connection.stale_idle_ns and .connection.reused)' rows)" "" "never on a connection that was there before"
done
server_stop

# ---- a server announcing how long it keeps a connection, and for how many requests ----
# An announced second counts as half a second. Pauses and keeping are far from it, whatever a busy machine adds.
ipf-sched constant:rate=0.5,n=3 -t chat.trace -q -o seldom.sched
server_start --step-base 1ms --fail "keep-alive:delay=1s"
ipf-fire -q -u "$URL" -m sim -t chat.trace seldom.sched -o rows.seldom
is "$(body rows.seldom | jq -c 'select(.n != null) | [.status, .connection.reused]' | sort | uniq -c | tr -s ' ')" " 3 [200,false]" \
	"connections idle for longer than announced are not reused"
server_stop
server_start --step-base 1ms --fail "keep-alive:delay=600s"
ipf-fire -q -u "$URL" -m sim -t chat.trace forty.sched -o rows.often
is "$(body rows.often | jq -s 'map(select(.n != null and .connection.reused)) | length')" 39 "connections idle for less than announced are reused"
server_stop
server_start --step-base 1ms --fail "keep-alive:max=3"
ipf-fire -q -u "$URL" -m sim -t chat.trace forty.sched -o rows.most
is "$(body rows.most | jq -s -c 'map(select(.n != null)) | group_by(.connection.id) | map(length) | unique')" "[4]" "a connection carries no more requests than announced"
server_stop

# ---- a kept connection on which the server speaks unasked before it closes it ----
server_start --step-base 1ms --fail "idle-close:delay=20ms,code=408"
# Two seconds between requests: the server has spoken and closed long before the next one.
ipf-sched constant:rate=0.5,n=4 -t chat.trace -o slow.sched
ipf-fire -q -u "$URL" -m sim -t chat.trace slow.sched -o unasked.records
requests unasked.records >rows
is "$(wc -l <rows)" 4 "requests after such words are sent"
is "$(jq -c '[.error, .status]' rows | sort -u)" '[null,200]' "no request takes unsolicited bytes for its answer"
server_stop

# ---- a server going away ----
server_start
ipf-sched constant:rate=40,n=80 -t chat.trace -o long.sched
mkfifo held
ipf-fire -u "$URL" -m sim -t chat.trace - -o gone.records <held &
fire=$!
stop_at_exit $fire
# The second half of the schedule comes when the server is gone.
exec 8>held
head -41 long.sched >&8
answered() { plain gone.records | grep -q '"status":200'; }
wait_for answered
kill -9 "$SERVER"
tail -n +42 long.sched >&8
exec 8>&-
wait $fire
status=$?
status_is 0 "the run goes on when the server has gone"
requests gone.records >rows
is "$(wc -l <rows)" 80 "every request is recorded"
is "$(jq -r 'select(.error) | .error.kind' rows | sort -u | grep -v -e cut -e reset)" connect "requests without a connection have the kind connect"
is "$(jq -c 'select(.error.kind == "connect") | [.connection, .status, .sent_ns]' rows |
	sort -u)" '[null,null,null]' "requests without a connection send nothing"
matches "$(jq -r 'select(.error.kind == "connect") | .error.text' rows)" "refused|connect" "requests without a connection have the reason"

# ---- impossible starts ----
refused() { # STATUS PART ARGUMENTS…
	run ipf-fire -t chat.trace -m sim "${@:3}"
	status_is "$1" "ipf-fire ${*:3} ends with $1"
	complains ipf-fire "$2" "ipf-fire says …$2…"
	is "$(wc -c <"$OUT" | tr -d ' ')" 0 "ipf-fire writes no output if it says …$2…"
}
refused 1 "http://127.0.0.1:1/v1/chat/completions: cannot connect: Connection refused" -u http://127.0.0.1:1 chat.sched
refused 1 "cannot resolve no-such-host.invalid" -u http://no-such-host.invalid chat.sched
refused 2 "--url" chat.sched
refused 2 "--url: no scheme: expected an address such as http://localhost:8000, got \"http:/localhost:80\"" -u http:/localhost:80 chat.sched
refused 2 "--url: unsupported scheme" -u ftp://localhost:80 chat.sched
refused 1 "http://127.0.0.1:1/v1/chat/completions: cannot connect" -u 127.0.0.1:1 chat.sched
refused 2 "many" -u "$URL" --connections many chat.sched
refused 2 "expected JSON" -u "$URL" --param temperature=hot chat.sched
refused 2 "no-such-api" -u "$URL" --api no-such-api chat.sched
refused 2 "NO_SUCH_VARIABLE" -u "$URL" --key-env NO_SUCH_VARIABLE chat.sched
refused 2 'got "a b"' -u "$URL" --record-header "a b" chat.sched
refused 2 "Name: value" -u "$URL" -H nonsense chat.sched
ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens 13 -n 10 -q -o other.trace
run ipf-fire -u "$URL" -t other.trace chat.sched
status_is 3 "ipf-fire refuses another trace than the schedule's"
complains ipf-fire "other.trace: not the trace" "ipf-fire names the trace of another schedule"
is "$(wc -c <"$OUT" | tr -d ' ')" 0 "ipf-fire writes no records with another trace"
run ipf-fire -u "$URL" -t - chat.sched <chat.trace
status_is 2 "a trace on standard input"
ipf-sched constant:rate=1k,n=12 -o nine.sched
server_start
echo '{"id":"t","prompt_token_ids":[1,2]}' >lines
trace_of lines >ids.trace
run ipf-fire -u "$URL" -m sim -t ids.trace nine.sched
status_is 3 "a prompt that the API does not take"
complains ipf-fire "request 0 of the trace: prompt_token_ids" "ipf-fire names the prompt that the API does not take"
run ipf-fire -u "$URL" -m sim -t chat.trace nine.sched
status_is 0 "a schedule made without a trace"
is "$(body "$OUT" |
	jq -s -c 'map(select(.n != null)) | sort_by(.n) | map(.req)')" "[0,1,2,3,4,5,6,7,8,9,0,1]" "a schedule without a trace goes round it"

# ---- which of them --explain shows ----
wrong_where() { # CONDITION
	run ipf-collect --explain --where "$1" good.records
	status_is 2 "--explain --where $1 ends with 2"
	complains ipf-collect "--where: expected failed, ok, failed=KIND or id=ID, got \"$1\"" "ipf-collect says what --where may be, given $1"
}
ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens 4 -n 6 -q -o six.trace
ipf-sched constant:rate=100,n=6 -t six.trace -o six.sched
ipf-fire -q -u "${URL#http://}" -m sim -t six.trace six.sched -o good.records
ipf-collect --explain good.records >all
is "$(grep -c '^request ' all)" 6 "a server's address needs no scheme"
run ipf-collect --explain --where ok good.records
same "$OUT" all "--where ok: all of them"
run ipf-collect --explain --where failed good.records
is "$(cat "$OUT")" "no response is failed" "--where failed: none"
id=$(ipf-collect -q good.records | jq -r 'select(.n == 3) | .id')
run ipf-collect --explain --where "id=$id" good.records
is "$(grep '^request ' "$OUT" | cut -d ' ' -f 2)" 3 "--where id=ID: that one"
for condition in none failing 'failed=' 'id='; do wrong_where "$condition"; done
run ipf-collect --where failed good.records
status_is 2 "--where without --explain"
complains ipf-collect "--where selects responses for --explain: add --explain" "ipf-collect says that --where requires --explain"
server_start --fail status:code=503
ipf-fire -q -u "$URL" -m sim -t six.trace six.sched -o bad.records
ipf-collect --explain --where failed=http-status bad.records >shown
is "$(grep -c '^request ' shown)" 6 "--where failed=KIND: those that failed so"
is "$(ipf-collect --explain --where failed=timeout bad.records)" "no response is failed=timeout" "--where failed=KIND excludes other failures"
is "$(ipf-collect --explain --where failed bad.records)" "$(cat shown)" "--where failed: all that failed"
ipf-collect -q bad.records | ipf-report >report.txt
yes_if "the report says how to see failed responses" grep -qF 'ipf-collect --explain --where failed' report.txt
