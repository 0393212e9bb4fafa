#!/bin/bash
# --calibrate: its measurements, where it writes the result, and where the result appears.
. "$TESTS/tap.sh"
export IPF_REPORT_FULL=1 # all sections of the text
. "$TESTS/fixture.sh"
export XDG_STATE_HOME=$PWD/state TMPDIR=$PWD
unset IPF_FIRE_FORCE # as for a user: each of its runs replaces the records of the one before
kept=state/ipf/calibration.json
shape=events=4,first=5ms,gap=5ms,for=100ms

# ---- with --shape ----
run ipf-fire --calibrate --shape "streams=2,$shape"
status_is 0 "a small load is calibrated"
stderr_is "" "--calibrate has no messages"
matches "$(cat "$OUT")" "^2 streams of 4 events, 100.0 requests/s, 400 events/s; timestamps: (kernel|user)" "--calibrate prints the load that was tried"
for line in TTFT ITL event start; \
	do matches "$(cat "$OUT")" "^  $line +[0-9.]+ [num]?s +[0-9.]+ [num]?s +[0-9.]+ [num]?s\$" "$line: p50, p99 and the most"; done
matches "$(cat "$OUT")" "^(within 1 ms at p99 up to [0-9]+ streams|not within 1 ms)" "--calibrate prints the largest accurate load"
matches "$(cat "$OUT")" "^written to $PWD/$kept\$" "--calibrate names the file that it wrote"
is "$(jq -c '[.ipf, .version, .tool, .host.processors > 0, .shape.streams, .shape.events, .shape.first_ns, .shape.gap_ns, .failed]' $kept)" \
	"[\"calibration\",1,\"$(ipf-fire --version | head -1)\",true,2,4,5000000,5000000,0]" "the file says it too"
is "$(jq -c '.events == 4 * .requests and .requests >= 10' $kept)" true "every event of every request was looked at"
is "$(jq -c '[.ttft_error_ns, .itl_error_ns, .event_error_ns, .lag_ns | .p50 >= 0 and .p50 <= .p99 and .p99 <= .max] | all' $kept)" true "the file has the errors of timestamps and lags"
is "$(jq -c '(.levels | length >= 2) and .levels[0].streams == 2' $kept)" true "several loads were tried, the own one first"
is "$(jq -c '. as $c | [.levels[] | .good == (.failed == 0 and ([.ttft_error_ns, .itl_error_ns, .lag_ns | .p99] | max) <= $c.within_ns)] | all' $kept)" true "every load is judged by its errors"
is "$(jq -c '(.highest.streams // 0) == ([.levels[] | select(.good) | .streams] | max // 0)' $kept)" true "the highest is the highest of the good ones"
is "$(find . -name '*ipf-calibrate*')" "" "--calibrate leaves no files behind"

# ---- in the records and in the report ----
server_start
ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens 8 -n 10 -q -o chat.trace
ipf-sched constant:rate=50,n=10 -t chat.trace -o chat.sched
fire() { run ipf-fire --force -u "$URL" -m sim -t chat.trace chat.sched -o chat.records "$@"; }
fire
is "$(head -1 chat.records | jq -c .calibration)" "$(jq -c . $kept)" "later records have the calibration in their header"
ipf-collect -q chat.records -o chat.results
run ipf-report chat.results
matches "$(cat "$OUT")" "^  calibrated +p99 of the error at 100 requests/s, 400 events/s: TTFT" "the report has the calibration next to the figures"
run ipf-report -f json chat.results
is "$(jq -c '.run.calibration | has("levels"), .shape.events' "$OUT" | tr '\n' ' ')" "false 4 " "JSON has the calibration"
is "$(jq -c '.run.stamps' "$OUT")" "$(head -1 chat.records | jq -c .stamps)" "JSON has the source of timestamps"
fire --calibration none
is "$(head -1 chat.records | jq -c .calibration)" null "--calibration none: nothing"
fire --reproducible
is "$(head -1 chat.records | jq -c .calibration)" null "--reproducible leaves out the calibration"
cp $kept mine.json
for change in '.host.release = "another"' '.host.name = "another"' '.tool = "ipf-fire 0.0.1"' '.stamps = "none"' '.ipf = "records"'; do
	jq "$change" mine.json >$kept
	fire
	is "$(head -1 chat.records | jq -c .calibration)" null "$change: it is another's, and not taken"
done
echo '{' >$kept
fire
status_is 0 "a broken file is none"
fire --calibration mine.json
is "$(head -1 chat.records | jq -c .calibration)" "$(jq -c . mine.json)" "--calibration FILE: from elsewhere"
jq '.host.name = "another"' mine.json >theirs.json
fire --calibration theirs.json
is "$(head -1 chat.records | jq -c .calibration)" null "a calibration of another machine is not used"
is "$(cat "$ERR")" "ipf-fire: warning: theirs.json: calibration not used: made on another machine or system" "ipf-fire warns of a named calibration that it does not use"
fire --calibration theirs.json -q
is "$(cat "$ERR")" "" "-q suppresses the warning of the calibration"
fire --calibration missing.json
status_is 1 "a file that is not there ends with 1"
is "$(cat "$ERR")" "ipf-fire: missing.json: cannot open: No such file or directory" "a missing calibration is named"
fire --calibration chat.sched
status_is 3 "a file of something else ends with 3"
is "$(cat "$ERR")" "ipf-fire: chat.sched: expected a calibration as --calibrate saves it" "a file that is no calibration is named"

# ---- with a schedule; with --stamps user; to standard output ----
run ipf-fire --calibrate --shape gap=1ms,first=2ms,for=50ms --stamps user -t chat.trace chat.sched -o -
status_is 0 "a load such as the schedule's"
is "$(jq -c '[.stamps, .shape.events, .shape.requests_per_s, .shape.streams]' "$OUT")" '["user",8,50,0.5]' "a calibration has the rate of the schedule and the length of the trace"
is "$(jq -c 'length' $kept 2>/dev/null)" "" "-o - keeps nothing elsewhere"
ipf-sched closed:users=3,n=9 -t chat.trace -o closed.sched
run ipf-fire --calibrate --shape gap=1ms,first=3ms,for=50ms -t chat.trace closed.sched -o there/is/none.json
status_is 0 "a closed loop"
is "$(jq -c '[.shape.streams, .shape.requests_per_s]' there/is/none.json)" '[3,300]' "a closed loop gives its users, and -o makes the folder"

# ---- wrong usage ----
wrong() { # TEXT ARGUMENTS…
	run ipf-fire "${@:2}"
	status_is 2 "wrong arguments end with 2: ${*:2}"
	matches "$(cat "$ERR")" "$1" "wrong arguments are named: ${*:2}"
}
wrong 'expected a list such as streams=1000' --calibrate --shape 7
wrong 'streams: expected a whole number' --calibrate --shape streams=some
wrong 'users: expected streams, rate, events' --calibrate --shape users=3
wrong 'a gap above 0' --calibrate --shape gap=0
wrong 'at most 1000000 streams' --calibrate --shape streams=2M
wrong 'rate: expected either streams or rate, and only once' --calibrate --shape streams=2,rate=3
wrong 'streams: expected either streams or rate, and only once' --calibrate --shape streams=2,streams=3
run sh -c 'ulimit -n 300; exec ipf-fire --calibrate --shape streams=1000'
status_is 1 "a load of more connections than there can be ends with 1"
complains ipf-fire '--calibrate: 1000 concurrent streams, but the limit of open files allows ' "--calibrate says how many streams it needs before it tries one"
run sh -c 'ulimit -n 40; exec ipf-fire --calibrate --shape streams=2'
status_is 1 "a limit of 40 open files ends any load with 1"
complains ipf-fire '--calibrate: the limit of open files is too low for one stream' "--calibrate says that the limit of open files is too low"
wrong '--shape requires --calibrate' -u "$URL" -t chat.trace --shape streams=2 chat.sched
wrong 'cannot be combined with --probe' --calibrate --probe
run ipf-fire --calibrate -t nowhere.trace
status_is 1 "a trace that is not there"
run env -u HOME -u XDG_STATE_HOME "$BIN/ipf-fire" --calibrate
status_is 1 "nowhere to keep it"
matches "$(cat "$ERR")" "neither XDG_STATE_HOME nor HOME" "--calibrate without a home says so first"
run ipf-fire --calibrate --shape "streams=2,$shape" -o /dev/full
status_is 1 "a full disk"

# ---- interrupted ----
ipf-fire --calibrate --shape "streams=4,events=20,first=20ms,gap=20ms,for=10s" -o cut.json 2>said &
fire=$!
stop_at_exit $fire
# SIGINT is blocked, for the run reads it from a descriptor; the shell blocks it too, just before it becomes ipf-fire.
catches() { grep -q '^Name:.ipf-fire$' "/proc/$fire/status" && grep -q '^SigBlk:.*[2367abef]$' "/proc/$fire/status"; }
wait_for catches
kill -INT $fire
wait $fire
is $? 1 "a signal ends it"
matches "$(cat said)" "interrupted: no calibration was written" "an interrupted calibration says so"
yes_if "an interrupted calibration keeps no file" test ! -e cut.json
is "$(find . -name '*ipf-calibrate*')" "" "an interrupted calibration leaves no temporary file"
