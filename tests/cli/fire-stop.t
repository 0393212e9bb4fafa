#!/bin/bash
# --stop-on: a run failing is not carried on to its end.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

ipf-prep sharegpt "$ROOT/examples/chat.json" -n 20 -q -o chat.trace
ipf-sched constant:rate=50,for=10m -t chat.trace -q -o long.sched

# $status, $why; rows: the recorded requests
fire() { # RULE SCHEDULE MORE…
	run ipf-fire -q -u "$URL" -m sim -t chat.trace --stop-on "$1" "${@:2}" -o some.records
	yes_if "--stop-on $1: the records are whole" whole some.records
	requests some.records >rows
	why=$(tail -1 some.records | jq -r .end.incomplete)
}
failed() { jq -s 'map(select(.error or .status != 200)) | length' rows; }

# ---- a server failing now and then ----
server_start --step-base 1ms --fail 503:share=0.3
fire errors=5% long.sched
status_is 1 "a share that is passed ends the run"
complains ipf-fire "requests failed (--stop-on errors=5%)" "ipf-fire names the limit of --stop-on"
matches "$why" '^stopped: [0-9]+ of [0-9]+ requests failed \(--stop-on errors=5%\)$' "the trailer says why"
is "$(tail -1 some.records | jq .end.interrupted)" null "a stop by --stop-on is no interrupt"
read -r _ few _ many _ <<<"$why"
at_least "$many" 20 "a share ends no run before twenty requests have ended"
yes_if "more than the share of the requests failed" test $((few * 100)) -gt $((many * 5))
at_least "$(wc -l <rows)" "$many" "requests in flight come to their end after --stop-on"
is "$(jq -c '.error.kind' rows | sort -u)" null "no request is cut by --stop-on"
run ipf-collect -q some.records -o some.results
run ipf-report --strict some.results
status_is 4 "--strict fails a run that was stopped"

fire errors=7 long.sched
status_is 1 "a count ends the run as well"
at_least "$(failed)" 7 "errors=7: seven or more requests failed"
matches "$why" '^stopped: ([7-9]|[1-9][0-9]+) of .*errors=7\)$' "the trailer names errors=7"

ipf-sched constant:rate=200,n=60 -t chat.trace -q -o short.sched
fire errors=99% short.sched
status_is 0 "a share below the limit runs to the end"
is "$(wc -l <rows) $why" "60 null" "records of a run below the limit are complete"
fire errors=1000000 short.sched --threads 2
status_is 0 "a count below the limit runs to the end over two threads"

# a share of few says nothing
ipf-sched constant:rate=100,n=19 -t chat.trace -q -o few.sched
fire errors=0% few.sched
status_is 0 "nineteen requests are too few for a share"

# ---- uncounted requests ----
ipf-sched constant:rate=200,n=100,warmup constant:rate=200,n=10 -t chat.trace -q -o warm.sched
fire errors=5% warm.sched
status_is 0 "failures of a stage that is not measured do not count"
is "$(wc -l <rows)" 110 "no request is left out when failures do not count"
fire errors=50 warm.sched --warm 80
status_is 0 "failures of --warm do not count"
server_stop
server_start --step-base 20ms
ipf-sched constant:rate=100,n=60 -t chat.trace -q -o hung.sched
fire errors=5% hung.sched --cancel 50%@10ms
status_is 0 "disconnects do not count for --stop-on"
between "$(jq -c 'select(.error.kind == "hung-up")' rows | wc -l)" 10 50 "many requests hang up"
server_stop

# ---- requests in flight ----
server_start --fail reset:share=0.5 --fail never
fire errors=30 long.sched --grace 200ms
status_is 1 "requests that do not end are cut after --grace"
at_least "$(jq -c 'select(.error.kind == "cancelled")' rows | wc -l)" 1 "requests that --grace cuts are recorded"
matches "$why" "^stopped: " "the reason stays the limit"
ipf-fire -q -u "$URL" -m sim -t chat.trace --stop-on errors=100000 long.sched -o signal.records --grace 1h 2>"$ERR" &
fire=$!
stop_at_exit $fire
in_flight() { plain signal.records 2>/dev/null | grep -q '"in_flight":[1-9]'; }
wait_for in_flight
signal_and_wait INT $fire
kill -INT $fire
status=0
wait $fire || status=$?
status_is 0 "SIGINT ends a run with --stop-on"
matches "$(tail -1 signal.records | jq -r .end.incomplete)" "^interrupted" "the trailer names the signal"
server_stop

# ---- a run in which everything fails ----
hopeless() { # TEXT COUNT OPTIONS…: the run stops after COUNT failures
	run ipf-fire -u "$URL" -m sim -t chat.trace "${@:3}" long.sched -o some.records
	status_is 5 "ipf-fire ends with 5: $1"
	contains "$(cat "$ERR")" " requests so far failed (--stop-after-failures " "ipf-fire names --stop-after-failures"
	yes_if "the records are whole up to there" whole some.records
	requests some.records >rows
	at_least "$(failed)" "$2" "$2 requests had failed"
	is "$(failed)" "$(wc -l <rows | tr -d ' ')" "no request succeeded before the end"
	rm some.records
}
ipf-sched constant:rate=500,for=10m -t chat.trace -q -o long.sched
server_start --fail 503
hopeless "a server that answers every request with 503 ends the run" 100
hopeless "--stop-after-failures ends it earlier" 7 --stop-after-failures 7 --threads 2
hopeless "requests of --warm count" 5 --stop-after-failures 5 --warm 20
contains "$(cat "$ERR")" "(--stop-after-failures 5)" "ipf-fire names the limit of --stop-after-failures"
ipf-sched constant:rate=200,n=30,warmup constant:rate=500,for=10m -t chat.trace -q -o warm.sched
run ipf-fire -q -u "$URL" -m sim -t chat.trace --stop-after-failures 10 warm.sched -o some.records --force
status_is 5 "a warm-up in which everything fails ends the run"
ipf-sched constant:rate=500,n=150 -t chat.trace -q -o many.sched
run ipf-fire -q -u "$URL" -m sim -t chat.trace --stop-after-failures 0 many.sched -o some.records --force
status_is 0 "--stop-after-failures 0 carries on"
is "$(requests some.records | wc -l)" 150 "--stop-after-failures 0 sends the whole schedule"
server_stop
server_start --fail reset
hopeless "connections that break within every answer end the run" 20 --stop-after-failures 20
server_stop
server_start --step-base 1ms --fail 503:share=0.9
run ipf-fire -q -u "$URL" -m sim -t chat.trace --stop-after-failures 100 many.sched -o some.records --force
status_is 0 "one success among many failures is enough to carry on"
server_stop
# More than this server takes: it accepts the first five, which take long, and refuses the others at once.
server_start --step-base 300ms --rate-limit 1,burst=5
ipf-sched constant:rate=100,n=150 -t chat.trace -q -o many.sched
run ipf-fire -q -u "$URL" -m sim -t chat.trace --stop-after-failures 20 many.sched -o some.records --force
status_is 0 "a run goes on while one of its first requests is in flight"
server_stop

# ---- wrong usage ----
for bad in 5% errors errors= errors=0 errors=100% errors=0.05 errors=-1 errors=5%% errors=x "errors=5% " error=5%; do
	run ipf-fire -q -u http://127.0.0.1:1 -t chat.trace --stop-on "$bad" long.sched
	status_is 2 "ipf-fire refuses --stop-on '$bad'"
	complains ipf-fire "--stop-on: expected errors=SHARE below 100%" "ipf-fire says what --stop-on may be"
done
run ipf-fire -q --calibrate --stop-on errors=5%
complains ipf-fire "--stop-on cannot be combined with --calibrate" "ipf-fire refuses --stop-on with --calibrate"
