#!/bin/bash
# How a run ends before its time: signals, a reader going away, a stuck output.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

ipf-prep sharegpt "$ROOT/examples/chat.json" -n 20 -q -o chat.trace
ipf-sched constant:rate=20,for=60s -t chat.trace -o chat.sched
started() { # FILE N: have so many ended?
	[ "$(plain "$1" 2>/dev/null | grep -c '^{"n":')" -ge "$2" ]
}
begin() { # ARGUMENTS…: in the background, $fire
	ipf-fire -u "$URL" -m sim -t chat.trace "$@" 2>"$ERR" &
	fire=$!
	stop_at_exit $fire
}
ended() {
	status=0
	wait $fire || status=$?
}

# ---- the first signal: requests in flight end ----
server_start --step-base 15ms
for signal in INT TERM HUP; do
	rm -f term.records
	begin chat.sched -o term.records
	wait_for started term.records 2
	kill -$signal $fire
	ended
	status_is 0 "SIG$signal ends a run with 0"
	stderr_is "" "SIG$signal gives no messages"
	yes_if "the records are whole" whole term.records
	is "$(tail -1 term.records |
		jq -c '[.end.interrupted, (.end.incomplete | startswith("interrupted"))]')" '[true,true]' "records of an interrupted run say so"
	requests term.records >rows
	at_least "$(wc -l <rows)" 2 "SIG$signal: the records have the requests so far"
	is "$(jq -c '[.error, .status]' rows | sort -u)" '[null,200]' "requests end normally after SIG$signal"
done
# timeout(1) signals the program and then its group, the program in it once more.
setsid ipf-fire -q -u "$URL" -m sim -t chat.trace chat.sched -o timeout.records &
fire=$!
stop_at_exit $fire
wait_for started timeout.records 2
kill -STOP $fire # both must be there when it goes on
kill -INT $fire
kill -INT -- -$fire
kill -CONT $fire
ended
status_is 0 "a signal to the program and to its group ends a run once"
is "$(requests timeout.records | jq -c '[.error, .status]' | sort -u)" '[null,200]' "requests in flight end normally after a signal to the group"
server_stop

# ---- in the middle of conversations ----
server_start --step-base 1ms
ipf-prep sharegpt "$ROOT/examples/chat.json" --turns all --max-output 20 -q -o talk.trace
ipf-sched closed:users=16,for=60s -t talk.trace -o talk.sched
for grace in 30s 0; do
	rm -f talk.records
	ipf-fire -u "$URL" -m sim -t talk.trace talk.sched --grace $grace -o talk.records 2>"$ERR" &
	fire=$!
	stop_at_exit $fire
	wait_for started talk.records 100
	kill -TERM $fire
	ended
	status_is 0 "conversations are interrupted (--grace $grace)"
	yes_if "the records are whole" whole talk.records
	at_least "$(requests talk.records | wc -l)" 100 "--grace $grace: the records have the requests so far"
	is "$(requests talk.records | jq -c '.error.kind' | sort -u |
		grep -v -e null -e cancelled)" "" "answered or cancelled"
done
server_stop

# ---- grace, and the second signal ----
server_start --fail never
begin chat.sched -o grace.records --grace 300ms
in_flight() { # FILE: some, as the client says
	plain "$1" 2>/dev/null | grep -q '"in_flight":[1-9]'
}
wait_for in_flight grace.records
kill -TERM $fire
ended
status_is 0 "requests that do not end are cut after --grace"
yes_if "the records are whole" whole grace.records
requests grace.records >rows
at_least "$(wc -l <rows)" 1 "requests in flight are recorded"
is "$(jq -c '[.error.kind, .status, .sent_ns > 0]' rows |
	sort -u)" '["cancelled",null,true]' "requests that --grace cuts are recorded as cancelled"
is "$(jq -s -c 'map(.n) | sort == [range(length)]' rows)" true "every started request is recorded"

begin chat.sched -o second.records --grace 1h
wait_for in_flight second.records
signal_and_wait TERM $fire
yes_if "the grace goes on after the first signal" kill -0 $fire
kill -TERM $fire
ended
status_is 0 "the second signal cuts at once"
yes_if "the records are whole" whole second.records
is "$(requests second.records | jq -c '.error.kind' | sort -u)" '"cancelled"' "requests that the second signal cuts are cancelled"
server_stop

# ---- nobody reads any more ----
server_start
begin chat.sched > >(head -1 >first)
ended
status_is 0 "| head -1 ends the run"
stderr_is "" "ipf-fire | head -1 has no messages"
matches "$(cat first)" '"ipf":"records"' "ipf-fire | head -1 shows the header"
server_stop
server_start --fail never
mkfifo pipe
exec 7<>pipe
ipf-fire -u "$URL" -m sim -t chat.trace chat.sched >pipe 2>"$ERR" 7>&- &
fire=$!
stop_at_exit $fire
exec 8<pipe 7>&-
head -1 <&8 >/dev/null
exec 8<&-
ended
status_is 0 "ipf-fire notices a closed pipe while no answer comes"
stderr_is "" "ipf-fire notices a closed pipe without messages"
server_stop

# ---- a storm: many signals at once are one wish ----
server_start --step-base 10ms --step-per-seq 0
begin chat.sched -o storm.records --grace 1h
wait_for in_flight storm.records
kill -STOP $fire # all must be there when it goes on
for signal in INT TERM HUP INT TERM HUP PIPE INT TERM HUP TERM; do kill -$signal $fire; done
kill -CONT $fire
ended
status_is 0 "a storm of signals ends a run once"
yes_if "records after a storm of signals are whole" whole storm.records
is "$(requests storm.records | jq -c '.error.kind' | sort -u)" 'null' "requests in flight end normally after a storm of signals"
server_stop

# ---- a slow reader delays nothing ----
server_start
ipf-sched constant:rate=100,for=2s -t chat.trace -o fast.sched
mkfifo slow
ipf-fire -u "$URL" -m sim -t chat.trace fast.sched >slow &
fire=$!
stop_at_exit $fire
exec 8<slow
served() { curl -s "$URL/metrics" | awk '/^vllm:request_success_total/ { n += $NF } END { exit n < 200 }'; }
served_again() { curl -s "$URL/metrics" | awk '/^vllm:request_success_total/ { n += $NF } END { exit n < 400 }'; }
yes_if "a pipe that nobody reads stops no request: the server has answered all" wait_for served
cat <&8 >slow.records
exec 8<&-
ended
status_is 0 "a run ends when its records are read"
yes_if "records that are read late are whole" whole slow.records
is "$(requests slow.records | jq -s -c 'length')" 200 "records that are read late have all requests"

# ---- a reader gone for good ----
exec 7<>slow
ipf-fire -u "$URL" -m sim -t chat.trace fast.sched >slow 7>&- &
fire=$!
stop_at_exit $fire
wait_for served_again
signal_and_wait TERM $fire
signal_and_wait TERM $fire
yes_if "ipf-fire still writes records after two signals" kill -0 $fire
kill -TERM $fire
ended
status_is 143 "the third ends it"
exec 7>&-

# ---- a schedule coming slowly, and not at all ----
mkfifo schedule
exec 9<>schedule
ipf-fire -u "$URL" -m sim -t chat.trace <schedule -o live.records 2>"$ERR" &
fire=$!
stop_at_exit $fire
head -5 fast.sched >&9
yes_if "a schedule that is still coming is followed" wait_for started live.records 4
is "$(plain live.records | grep -c "^{\"n\":")" 4 "requests of an unfinished schedule are sent"
kill -TERM $fire
ended
status_is 0 "waiting for more of a schedule can be interrupted"
yes_if "records of an unfinished schedule are whole" whole live.records
exec 9>&-
