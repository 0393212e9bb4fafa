#!/bin/bash
# Slots, closed loops, sessions, and successive stages.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

server_start --step-base 1ms
ipf-prep sharegpt "$ROOT/examples/chat.json" --max-output 10 -n 30 -q -o chat.trace
count=$(body chat.trace | wc -l)

fire() { # STAGES…: rows.json
	ipf-sched "$@" -t chat.trace -o chat.sched || return 1
	run ipf-fire -u "$URL" -m sim -t chat.trace chat.sched -o chat.records
	status_is 0 "ipf-sched $* gives a run"
	yes_if "records of ipf-sched $* are whole" whole chat.records
	body chat.records | jq -s -c 'map(select(.n != null)) | sort_by(.n)' >rows.json
}
# The most of a stage in flight at any time; a slot is handed on at the end's time, so ends come first.
most() { # STAGE
	jq "map(select(.stage == $1)) | [.[] | [.start_ns, 1], [.end_ns, -1]] | sort | reduce .[] as \$e ({now: 0, most: 0}; .now += \$e[1] | .most = ([.most, .now] | max)) | .most" rows.json
}

# ---- a closed loop of a number of requests ----
fire closed:users=4,n=40
is "$(jq -c 'map(.n) == [range(40)]' rows.json)" true "requests of a closed loop start once each"
is "$(jq -c "map(.req) == [range(40) | . % $count]" rows.json)" true "the trace begins again at its end"
is "$(most 0)" 4 "four at a time"
is "$(jq -c '[.[] | .due_ns == null and .slot_ns == null and .ready_ns != null and .start_ns >= .ready_ns] | all' rows.json)" true "due at no time, ready when a slot is free"
# twin-predict.t has a slot is taken at once, in virtual time

# ---- by time: round and round ----
fire closed:users=3,for=3s constant:rate=20,n=5
first=$(head -1 chat.sched | jq '.stages[1].first_n')
is "$(jq -c "map(select(.stage == 0) | .n) | . == [range(length)] and length > $count + 1" rows.json)" true "n goes on counting after the last line"
is "$(jq -c "map(select(.stage == 0)) | [.[] | .req == .n % $count] | all" rows.json)" true "the first line follows the last line of the trace"
is "$(most 0)" 3 "three at a time"
is "$(jq -c 'map(select(.stage == 0)) | [.[] | .ready_ns < 3000000000] | all' rows.json)" true "no slot is taken after the end of the stage"
is "$(jq -c "map(select(.stage == 1) | .n - $first)" rows.json)" "[0,1,2,3,4]" "the next stage has numbers of its own"
is "$(jq -c 'map(select(.stage == 1) | .due_ns)' rows.json)" "[3000000000,3050000000,3100000000,3150000000,3200000000]" "the next stage is due when the first has ended"
is "$(jq -c 'map(select(.stage == 1) | .start_ns >= .due_ns) | all' rows.json)" true "no request of the next stage starts before it is due"

# ---- a sweep: several going round, and the schedule through a pipe ----
each_reads_on() { # TEXT: stages have successive requests in the trace
	is "$(jq -c '[group_by(.stage)[] | map(.req) | . == [range(.[0]; .[0] + length) | . % '"$count"']] | all' rows.json)" true "$1: each stage reads the trace on"
}
ipf-sched closed:users=1,n=7 closed:users=4,n=24 rest:for=100ms closed:users=2,n=12 -t chat.trace |
	ipf-fire -u "$URL" -m sim -t chat.trace -o chat.records
body chat.records | jq -s -c 'map(select(.n != null)) | sort_by(.n)' >rows.json
is "$(jq -c '[group_by(.stage)[] | [.[0].stage, length]]' rows.json)" "[[0,7],[1,24],[3,12]]" "a sweep by number: each stage has its requests"
is "$(most 0) $(most 1) $(most 3)" "1 4 2" "a sweep by number: every stage has its users"
is "$(jq -c '[group_by(.stage)[] | [map(.start_ns) | min, max]] | [range(1; length) as $k | .[$k][0] >= .[$k - 1][1]] | all' rows.json)" true \
	"a sweep by number: a stage begins after the one before it"
each_reads_on "a sweep by number"
# By time, where time is virtual: an answer takes 1 ms for each of its tokens.
twin sim.twin step_base_ns=1000000 step_per_sequence_ns=0
ipf-sched closed:users=1,for=300ms closed:users=4,for=300ms rest:for=100ms closed:users=2,for=300ms -t chat.trace |
	ipf-twin predict sim.twin -m sim -t chat.trace -o chat.records
body chat.records | jq -s -c 'map(select(.n != null)) | sort_by(.n)' >rows.json
is "$(jq -c 'map(.stage) | unique' rows.json)" "[0,1,3]" "a sweep by time: each stage has requests"
is "$(most 0) $(most 1) $(most 3)" "1 4 2" "a sweep by time: each stage has its users"
is "$(jq -c '[.[] | .stage as $s | .start_ns >= [0, 300, 600, 700][$s] * 1000000 and .start_ns < [300, 600, 700, 1000][$s] * 1000000] | all' rows.json)" true \
	"a sweep by time: each stage starts requests within its time" # exact: the run is virtual
is "$(jq -c '[group_by(.stage)[] | (map(.start_ns) | max) as $last | (map(.end_ns - .start_ns) | max) as $longest
	| $last >= [300, 600, 700, 1000][.[0].stage] * 1000000 - $longest] | all' rows.json)" true \
	"a sweep by time: a stage starts its last request within a request of its end" # exact: the run is virtual
each_reads_on "a sweep by time"

# ---- slots hold back, and it shows ----
fire burst:n=20,slots=5 constant:rate=100,n=10
is "$(most 0)" 5 "five at a time"
is "$(jq -c 'map(select(.stage == 0 and .slot_ns == null)) | length' rows.json)" 5 "five found a slot"
is "$(jq -c 'map(select(.stage == 0)) | [.[] | .due_ns == 0 and .ready_ns == 0 and (.slot_ns == null or (.slot_ns > 0 and .start_ns >= .slot_ns))] | all' rows.json)" true \
	"requests beyond the slots of a burst are ready and wait"
is "$(jq -c 'map(select(.stage == 0)) | map(.start_ns) == (map(.start_ns) | sort)' rows.json)" true "first come, first served"
# a burst lasts as long as its requests do, and the schedule's time stands still
is "$(jq -c '(map(select(.stage == 0) | .end_ns) | max) as $last | map(select(.stage == 1) | .due_ns - $last) == [range(10) * 10000000]' rows.json)" true \
	"stages after a burst move by the time that it took"
is "$(jq -c '(map(select(.stage == 0) | .end_ns) | max)' rows.json)" "$(tail -1 chat.records |
	jq '.end.stages[0].end_ns')" "the trailer has the end of the burst"

# ---- sessions ----
cat >lines <<'END'
{"id":"a0","session":"a","turn":0,"messages":[{"role":"user","content":"one"}],"output_tokens":4,"answer":"first answer"}
{"id":"a1","session":"a","turn":1,"wait_ns":50000000,"context":"session","messages":[{"role":"user","content":"two"}],"output_tokens":4}
{"id":"b0","session":"b","turn":0,"messages":[{"role":"user","content":"one"}],"output_tokens":4}
{"session":"c","id":"c0","turn":0,"messages":[{"role":"user","content":"fan"}],"output_tokens":8}
{"session":"c","id":"c1","turn":1,"messages":[{"role":"user","content":"fan"}],"output_tokens":2,"parents":["c0"]}
{"session":"c","id":"c2","turn":2,"messages":[{"role":"user","content":"fan"}],"output_tokens":30,"parents":["c0"]}
{"session":"c","id":"c3","turn":3,"messages":[{"role":"user","content":"join"}],"output_tokens":2,"parents":["c1","c2"],"wait_ns":20000000}
END
trace_of lines >chat.trace
for stage in poisson:rate=50 closed:users=1 burst:slots=2; do
	fire "$stage"
	is "$(jq -c 'length' rows.json)" 7 "$stage: every turn once"
	# shellcheck disable=SC2016
	is "$(jq -c 'INDEX(.id) | [
		.a1.ready_ns == .a0.end_ns + 50000000, .c1.ready_ns == .c0.end_ns, .c2.ready_ns == .c0.end_ns,
		.c3.ready_ns == ([.c1.end_ns, .c2.end_ns] | max) + 20000000, ([.[] | .start_ns >= .ready_ns] | all)]' rows.json)" \
		"[true,true,true,true,true]" "$stage: a follower is ready when those before it have ended and its wait is over"
done
is "$(jq -c 'INDEX(.id) | [.a0, .a1 | .session, .turn, .request_bytes]' rows.json |
	jq -c '[.[0], .[1], .[3], .[4], (.[5] - .[2])]')" \
	"[\"a\",0,\"a\",1,$(printf '%s' ',{"role":"assistant","content":"first answer"},{"role":"user","content":"two"}' |
	wc -c)]" \
	"a turn is sent with those before it and their answers"

# Three rounds of seven turns; by time, in virtual time.
rounds() { # TEXT FEWEST
	is "$(most 0)" 2 "$1: two at a time"
	# shellcheck disable=SC2016
	is "$(jq -c 'INDEX(.n | tostring) as $all | [.[] | select(.id == "a1") | .start_ns >= $all[.n - 1 | tostring].end_ns + 50000000] | length >= '"$2"' and all' rows.json)" true \
		"$1: each round's followers follow their own"
}
fire closed:concurrency=2,n=21
rounds "sessions in a closed loop by number" 3
ipf-sched closed:concurrency=2,for=1s -t chat.trace -o chat.sched
run ipf-twin predict sim.twin -m sim -t chat.trace chat.sched -o chat.records
body chat.records | jq -s -c 'map(select(.n != null)) | sort_by(.n)' >rows.json
rounds "sessions in a closed loop by time" 3
