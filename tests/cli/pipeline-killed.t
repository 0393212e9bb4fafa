#!/bin/bash
# ipf-fire killed without a warning: all ended requests are in its records, though no other request ends after them. The server answers 75 requests,
# and never the one after them: the run goes on until it is killed. (tests/long/killed.t has how soon they are there.)
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

server_start
jq -n -c 'range(76) | {id: "\(.)", prompt: "Hi", input_tokens: 1, output_tokens: 5} + if . == 75 then {headers: {"X-Sim": "never"}} else {} end' >lines
trace_of lines >chat.trace
ipf-sched closed:users=1,n=76 -t chat.trace -q -o chat.sched

for out in records.zst records; do
	ipf-fire -q -u "$URL" -m sim --timeout 0 -t chat.trace chat.sched -o $out &
	fire=$!
	stop_at_exit $fire
	ended() { [ "$(plain $out 2>/dev/null | grep -c '"end_ns"')" = 75 ]; }
	yes_if "75 requests that have ended are in $out while the run goes on" wait_for ended
	yes_if "the run has not ended ($out)" kill -0 $fire
	kill -9 $fire
	wait $fire 2>/dev/null
	is "$(plain $out 2>/dev/null | grep -c '"end_ns"')" 75 "the 75 requests are in $out after the kill"
	run ipf-collect $out -o results
	status_is 3 "ipf-collect says with 3 that $out is cut"
	matches "$(cat "$ERR")" "^ipf-collect: $out: cut .*[1-9][0-9]* good lines" "ipf-collect says how many lines of $out are good"
	yes_if "the results of $out are whole" whole results
	is "$(body results | grep -c '"ok":true')" 75 "the results of $out have the 75 requests"
	run ipf-report results
	status_is 0 "ipf-report reads the results of $out"
	contains "$(cat "$OUT")" "cut" "the report of $out says that some is missing"
done
