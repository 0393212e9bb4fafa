#!/bin/bash
# --continue: the requests missing from an interrupted or killed run are sent in another one, and both are one run.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

server_start --step-base 2ms
# A recorded trace of 90 requests, 20 ms apart; and twelve sessions of three turns, which branch and wait.
jq -n -c 'range(90) | {id: "\(.)", prompt: "Hi \(.)", input_tokens: 2, output_tokens: 3, at_ns: (. * 20000000)}' >lines
trace_of lines >flat.trace
ipf-sched -q replay -t flat.trace -o flat.sched
jq -n -c 'range(12) as $s | range(3) as $t | {id: "\($s)/\($t)", session: "s\($s)", turn: $t, context: "session", answer: "Fine.",
	messages: [{role: "user", content: "Hi \($s) \($t)"}], input_tokens: 5, output_tokens: 4, wait_ns: 150000000}' >lines
trace_of lines >talks.trace
ipf-sched -q closed:users=3 -t talks.trace -o talks.sched

count() { plain "$1" 2>/dev/null | grep -c '^{"n":'; }
first() { # SIGNALS TRACE: the run is ended by these after some answers: first.records
	ipf-fire -q -u "$URL" -m sim -t "$2.trace" "$2.sched" -o first.records &
	local fire=$!
	stop_at_exit $fire
	some() { [ "$(count first.records)" -ge 8 ]; }
	wait_for some
	for signal in $1; do kill -"$signal" $fire 2>/dev/null; done
	wait $fire 2>/dev/null
}
both() { # TRACE: the rest is sent; both.results, rows
	ipf-fire -u "$URL" -m sim -t "$1.trace" "$1.sched" --continue first.records -o rest.records 2>said
	is $? 0 "$1: the rest is sent"
	ipf-collect -q first.records rest.records -o both.results
	is $? 0 "$1: both parts are one run"
	requests both.results >rows
	is "$(jq -s -c '[length, (map(.n) | unique | length), (map(select(.ok)) | length)]' rows)" "[$2,$2,$2]" "$1: each request of the schedule counts once"
	is "$(tail -1 both.results | jq .end.incomplete)" null "$1: nothing is missing"
	ipf-report both.results >text
	contains "$(cat text)" "Continued     at " "$1: the report says so before its figures"
	is "$(ipf-report -f json both.results | jq -c '.run | [.incomplete, (.continued | length), (.continued[0].gap_s > 0)]')" "[null,1,true]" "$1: the report has the gap"
}
clean() { rm -f first.records rest.records both.results; }

for signals in INT "INT INT" KILL; do
	first "$signals" flat
	both flat 90
	is "$(tail -1 rest.records | jq .end.incomplete)" null "$signals: the rest is whole"
	contains "$(cat said)" "ipf-fire: continues at " "$signals: ipf-fire says what is left"
	# The rest has its recorded gaps: requests are due as in the schedule, at their place in the trace.
	is "$(jq -s -c 'map(.due_ns == .req * 20000000) | unique' rows)" "[true]" "$signals: each request is due as the schedule says"
	yes_if "$signals: no request is late because of the gap" test "$(jq -s 'map(.lag_ns) | max < 1000000000' rows)" = true
	clean
done
first "INT INT" talks
both talks 36
is "$(ipf-report -f json both.results | jq -c '.sessions | [.sessions, .complete, .cut]')" "[12,12,0]" "every session is complete after cut ones were repeated"
is "$(plain rest.records | head -1 | jq '.continues.restarted | length > 0')" true "requests that were sent again are listed"
is "$(plain rest.records | head -1 | jq -c '.continues.restarted == (.continues.restarted | sort)')" true "restarted requests are listed in their order"

# A third part: the rest is interrupted, too; and nothing is left in the end.
cp first.records one.records && mv rest.records two.records
ipf-fire -q -u "$URL" -m sim -t talks.trace talks.sched --continue one.records --continue two.records -o three.records 2>said
is "$? $(count three.records)" "0 0" "nothing is left to send when all requests are recorded"
rm -f both.results
ipf-collect -q one.records two.records three.records -o both.results
is "$? $(body both.results | grep -c '"ok":true')" "0 36" "three parts are one run"

# ---- refusals ----
refused() { # STATUS TEXT COMMAND…
	run "${@:3}"
	status_is "$1" "ipf-fire ${*:3} ends with $1"
	contains "$(cat "$ERR")" "$2" "ipf-fire says why it refuses ${*:3}"
}
fire() { ipf-fire -q -u "$URL" -m sim "$@" -o new.records; }
refused 3 "not the schedule of the records in --continue" fire -t flat.trace flat.sched --continue one.records
for stages in poisson:rate=50,for=20s closed:users=2,for=20s "constant:rate=9,n=5 closed:users=2,n=9"; do
	# shellcheck disable=SC2086
	ipf-sched -q $stages -t flat.trace -o other.sched
	rm -f other.records
	ipf-fire -q -u "$URL" -m sim -t flat.trace other.sched -o other.records &
	other=$!
	stop_at_exit $other
	some() { [ "$(count other.records)" -ge 2 ]; }
	wait_for some
	kill -INT $other
	wait $other
	refused 2 "run it anew" fire -t flat.trace other.sched --continue other.records
done
refused 2 "expected the schedule as a file" fire -t flat.trace --continue one.records - <flat.sched
refused 2 "--continue cannot be combined with --warm" fire -t flat.trace flat.sched --continue one.records --warm 3
refused 3 "does not continue the run of two.records" ipf-collect -q two.records one.records
ipf-collect -q two.records -o alone.results
contains "$(ipf-report -f json alone.results | jq -r ".run.incomplete[]")" "the rest of a run, without the records of its beginning" "a rest alone is called so"
