#!/bin/bash
# --start-at: the schedule begins at a time of the wall clock.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

server_start --step-base 2ms
ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens 5 -n 20 -q -o chat.trace
ipf-sched constant:rate=50,n=20 -t chat.trace -q -o chat.sched
ipf-sched closed:users=4,n=40 -t chat.trace -q -o users.sched
for k in 1 2; do
	ipf-sched constant:rate=100,n=20 --shard $k/2 -t chat.trace -q -o part$k.sched
done
fire() { ipf-fire -q -u "$URL" -m sim -t chat.trace "$@"; }
rows() { body "$1" | jq -s -c 'map(select(.n != null)) | sort_by(.start_ns)'; }

# ---- several at one time, which is written in several ways ----
together() { # in $at seconds and a bit
	local pids=() late=0 pid
	rm -f ./*.status
	fire --start-at "@$at.123456789" -o unix.records chat.sched 2>unix.err & pids+=($!)
	fire --start-at "$(date -u -d "@$at" +%FT%T).123456789Z" -o utc.records chat.sched 2>utc.err & pids+=($!)
	fire --start-at "$(TZ=XYZ-5:30 date -d "@$at" +%FT%T).123456789+05:30" --threads 2 -o east.records part1.sched 2>east.err & pids+=($!)
	fire --start-at "$(TZ=XYZ3 date -d "@$at" +%FT%T).123456789-03:00" --warm 3 -o west.records part2.sched 2>west.err & pids+=($!)
	fire --start-at "@$at.123456789" --warm 4 --threads 2 <users.sched >users.records 2>users.err & pids+=($!)
	for pid in "${pids[@]}"; do
		wait "$pid" || late=$?
	done
	return $late
}
at=$(($(date +%s) + 20)) # exact: the time that all are told, long after they are ready
together
is "$(cat ./*.err)" "" "five clients that begin at one time"
for name in unix utc east west users; do
	yes_if "$name: the records are whole" whole $name.records
	is "$(sed -n '1s/.*"t0_unix_ns":\([0-9]*\).*/\1/p' $name.records)" "${at}123456789" "the header has the time to the nanosecond"
	is "$(head -1 $name.records | jq -r .t0)" "$(date -u -d "@$at" +%FT%T).123Z" "the header has the time as text"
	rows $name.records >$name.json
	is "$(jq -c 'map(select(.n < 4503599627370496)) | length > 0 and all(.[]; .start_ns >= 0)' $name.json)" true "nothing of the schedule starts before --start-at"
done
is "$(jq -c 'map(.due_ns) == [range(20) * 20000000]' unix.json)" true "the schedule's times count from it"
# the monotonic clock is the same for all on one machine
apart=$(for name in unix utc east west users; do head -1 $name.records | jq .t0_clock_ns; done | jq -s 'max - min')
yes_if "--start-at is the same moment for all" [ "$apart" -lt 100000000 ] # exact: each takes the shortest of eight readings of its clocks

# ---- actions before the schedule ----
warm='map(select(.n >= 4503599627370496))'
is "$(jq -c "$warm | length == 3 and all(.[]; .end_ns <= 0 and .start_ns < 0 and .error == null)" west.json)" true "requests of --warm come before it"
is "$(jq -c "$warm as \$w | [range(1; 3) | \$w[.].start_ns >= \$w[. - 1].end_ns] | all" west.json)" true "requests of --warm come one after another"
is "$(jq -c 'map(select(.stage > 0) | .due_ns) == [range(10) * 20000000 + 10000000]' west.json)" true "the schedule's times do not count from their end"
is "$(tail -1 west.records |
	jq -c '.end.stages | [.[0].begin_ns < 0, .[0].end_ns < 0, .[1].begin_ns]')" "[true,true,0]" "the trailer tells the stages' times"
is "$(jq -c "$warm | length" users.json)" 4 "requests of --warm come before users start"
is "$(jq -c 'map(select(.stage > 0)) | map(select(.n < 4503599627370496)) | length' users.json)" 40 "users that begin at --start-at send all their requests"
run ipf-collect -q west.records -o west.results
run ipf-report -f json west.results
is "$(jq -c '[.total.requests.scheduled, .total.requests.ok, .stages[0].requests.ok]' "$OUT")" "[10,10,3]" "the report leaves them out of its total"
is "$(jq -c '.stages[0].rate.achieved > 0' "$OUT")" true "the report has the rate of the warm-up"

run fire --warm 100000 --start-at +10s chat.sched -o slow.records
status_is 1 "requests of --warm that have not ended at the time end the run"
complains ipf-fire "warm-up requests had ended at --start-at" "ipf-fire says how many warm-up requests had ended at --start-at"
yes_if "the records are whole" whole slow.records
is "$(body slow.records | jq -s -c 'map(select(.stage == 1)) | length')" 0 "nothing of the schedule is started after a late warm-up"
matches "$(tail -1 slow.records |
	jq -r .end.incomplete)" "^stopped: only [0-9]+ of 100000 warm-up requests" "the trailer says why"

# ---- signals while waiting ----
for signal in INT TERM; do
	for more in "" "--warm 2"; do
		rm -f wait.records wait.err
		# shellcheck disable=SC2086
		ipf-fire --progress -u "$URL" -m sim -t chat.trace --start-at +1h chat.sched $more -o wait.records 2>wait.err &
		pid=$!
		stop_at_exit $pid
		yes_if "the progress says how long it waits" wait_for grep -qs "^starting in" wait.err
		kill -$signal $pid
		status=0
		wait $pid || status=$?
		status_is 0 "SIG$signal while waiting $more"
		yes_if "the records are whole" whole wait.records
		is "$(body wait.records |
			jq -s -c 'map(select(.stage > 0 or (.n != null and .n < 4503599627370496))) | length')" 0 "records of an interrupted wait have nothing of the schedule"
		is "$(tail -1 wait.records | jq -c .end.interrupted)" true "records of an interrupted wait say so"
	done
done

# ---- a first request due later ----
ipf-sched -q rest:for=2h constant:rate=1,n=2 -t chat.trace -o later.sched
ipf-fire -u "$URL" -m sim -t chat.trace later.sched -o later.records 2>later.err &
pid=$!
stop_at_exit $pid
wait_for grep -qs first later.err
is "$(cat later.err)" "ipf-fire: the first request is due 2 h 0 m after the start" "a first request that is due in two hours is announced before"
kill -INT $pid
wait $pid || true

run ipf-collect -q wait.records -o wait.results
run ipf-report wait.results
matches "$(cat "$OUT")" "^Verdict +INVALID" "a report of no request says so" # exact: nothing was sent

# ---- too late ----
asked() { curl -s "$1/metrics" | awk '/^vllm:request_success_total/ { n += $NF } END { print n + 0 }'; }
before=$(asked "$URL")
for past in 2020-01-01T00:00:00Z @0 @1577836800.5 +0s; do
	run fire --start-at $past chat.sched -o never.records
	status_is 1 "$past is over"
	complains ipf-fire "--start-at: missed " "ipf-fire says by how much $past was missed"
done
is "$(asked "$URL")" "$before" "nothing is sent after the time"
yes_if "nothing is written after the time" test ! -e never.records
mkfifo pipe
exec 9<>pipe
at=$(($(date +%s) + 2)) # exact: a time that is over when the schedule comes
ipf-fire -q -u "$URL" -m sim -t chat.trace --start-at @$at -o never.records <pipe 2>"$ERR" 9>&- &
pid=$!
stop_at_exit $pid
past() { [ "$(date +%s)" -gt "$at" ]; } # exact: as above
wait_for past
cat chat.sched >&9
exec 9>&-
status=0
wait $pid || status=$?
status_is 1 "a schedule that comes too late"
complains ipf-fire "--start-at: missed " "ipf-fire says by how much a late schedule missed the time"
is "$(asked "$URL")" "$before" "nothing is sent for a schedule that comes too late"
run fire --start-at +1h chat.sched -o no/such/folder/some.records
status_is 1 "an output that cannot be written ends with 1"
complains ipf-fire "no/such/folder/some.records: cannot open for writing" "ipf-fire checks its output before the time"
server_stop

# ---- wrong usage ----
for bad in now 10s + +10 ++10s +-1s @ @x @-5 @1.5e9 @1763662800. @.5 @17636628000000 @2000000000.0123456789 18:00 2026-11-20 2026-11-20T18:00:00 \
	"2026-11-20 18:00:00Z" 2026-11-20T18:00Z 2026-11-20t18:00:00Z 2026-11-20T18:00:00z 2026-11-20T18:00:00+0100 2026-11-20T18:00:00+01 \
	2026-13-20T18:00:00Z 2026-02-29T18:00:00Z 2026-11-20T24:00:00Z 2026-11-20T18:00:60Z 2026-11-20T18:00:00.Z 2026-11-20T18:00:00Zx \
	"2026-11-20T18:00:00Z " / /0s /x /500ms /2d; do
	run fire --start-at "$bad" chat.sched
	status_is 2 "ipf-fire refuses --start-at '$bad'"
	complains ipf-fire "--start-at: expected a time such as 2026-11-20T18:00:00Z" "ipf-fire says what --start-at may be"
done
run fire --start-at @9000000000 chat.sched
complains ipf-fire "--start-at: maximum is one year from now" "ipf-fire refuses a start in more than a year"
run fire --start-at +1s --probe
complains ipf-fire "--start-at cannot be combined with --probe" "--probe does not wait"
