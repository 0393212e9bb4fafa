#!/bin/bash
# Several sending threads: every request is accounted for, whatever happens; limits hold over all of them.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

ipf-prep sharegpt "$ROOT/examples/chat.json" --max-output 6 -n 30 -q -o chat.trace
ipf-prep sharegpt "$ROOT/examples/chat.json" --turns all --max-output 6 -q -o talk.trace
rows() { body "$1" | jq -s -c 'map(select(.n != null)) | sort_by(.n)' >rows.json; }
# How the requests in rows.json ended: each is good, failed or cut, and nothing else.
sorts='map(if .error == null and .status == 200 then "ok" elif .error.kind == "cancelled" then "cut" else "failed" end) | group_by(.) | map({(.[0]): length}) | add'
planned() { # SCHEDULE: its lines
	head -1 "$1" | jq '[.stages[].arrivals] | add'
}
# The most of a stage in flight at any time; a slot is handed on at the end's time, so ends come first.
most() { # STAGE
	jq "map(select(.stage == $1)) | [.[] | [.start_ns, 1], [.end_ns, -1]] | sort | reduce .[] as \$e ({now: 0, most: 0}; .now += \$e[1] | .most = ([.most, .now] | max)) | .most" rows.json
}

# ---- misbehaviour of all kinds ----
server_start --step-base 1ms --fail reset:share=0.1 --fail reset:share=0.1,after=2 --fail cut:share=0.1,after=2 --fail garbage:share=0.05 \
	--fail status:share=0.1,code=503 --fail nothing:share=0.05 --fail never:share=0.05 --fail close:share=0.1 --fail idle-close:share=0.1 \
	--fail stall:share=0.05,after=2,pause=2s
ipf-sched poisson:rate=300,for=500ms closed:users=7,n=60 burst:n=50,slots=5 constant:rate=1000,n=100 -t chat.trace -o faults.sched
all=$(planned faults.sched)
for threads in 1 2 4; do
	run ipf-fire -u "$URL" -m sim -t chat.trace faults.sched --threads $threads --timeout 400ms -o faults.records
	status_is 0 "a run over faults with --threads $threads"
	yes_if "records of $threads threads over faults are whole" whole faults.records
	rows faults.records
	is "$(jq 'map(.n) == [range(length)]' rows.json) $(jq length rows.json)" "true $all" "every scheduled request has a row with $threads threads"
	is "$(jq "$sorts | .ok + .failed == $all and .ok > 0 and .failed > 20" rows.json)" true "good or failed: $(jq -c "$sorts" rows.json)"
	is "$(jq 'map(.error.kind) | unique - ["reset", "cut", "malformed", "timeout", null]' -c rows.json)" "[]" "failures have the injected kinds"
	between "$(most 1)" 1 7 "--threads $threads: no more users than those of all threads together"
	between "$(most 2)" 1 5 "--threads $threads: no more slots than those of all threads together"
	is "$(jq 'map(select(.connection != null and .reused == false) | .connection) | length == (unique | length)' rows.json)" true "no two connections have a number in common"
	is "$(body faults.records |
		jq -s "map(select(.client)) | last | .client | [.started, .done, .in_flight, .waiting] == [$all, $all, 0, 0]")" true "the client counts the same"
	is "$(body faults.records |
		jq -s 'map(select(.client)) | last | .client.cpu.senders | if . then length else 1 end')" "$threads" "the client has processor time of $threads threads"
done

# ---- signals in the middle ----
ipf-sched closed:users=9,for=10s poisson:rate=100,for=1m -t talk.trace -o talk.sched
ipf-sched poisson:rate=400,for=1m,slots=20 -t chat.trace -o open.sched
for threads in 1 2 4; do
	for how in "talk 200ms" "talk 0" "open 100ms" "open 0"; do
		set -- $how
		trace=$1.trace
		[ "$1" = talk ] || trace=chat.trace
		rm -f cut.records
		ipf-fire -v -u "$URL" -m sim -t "$trace" "$1.sched" --threads $threads --grace "$2" -o cut.records 2>cut.err &
		fire=$!
		stop_at_exit $fire
		some() { [ "$(plain cut.records 2>/dev/null | grep -c '^{"n":')" -ge 40 ]; }
		wait_for some
		kill -TERM $fire
		[ "$2" != 200ms ] || { sleep 0.15 && kill -INT $fire; }
		status=0
		wait $fire || status=$?
		is "$status" 0 "interrupted: $1, --threads $threads, --grace $2"
		yes_if "records of an interrupted run are whole: $1, --threads $threads" whole cut.records
		rows cut.records
		is "$(jq 'map(.n) | length == (unique | length)' rows.json)" true "no request has two rows: $1, --threads $threads"
		started=$(plain cut.records | tail -1 | jq -r '.end.incomplete | ltrimstr("interrupted: ") | split(" ")[0]')
		is "$(jq "$sorts | add" rows.json)" "$started" "every started request has a row: $(jq -c "$sorts" rows.json)"
		[ "$1" != open ] || is "$(jq 'map(.n) == [range(length)]' rows.json)" true "rows of an interrupted open loop have no gap"
		is "$(jq '[.[] | .end_ns >= .start_ns] | all' rows.json)" true "every row has an end: $1, --threads $threads"
	done
done
server_stop

# ---- all users and slots of a stage, at a server without answers ----
server_start --fail never
in_flight() { [ "$(plain full.records 2>/dev/null | sed -n 's/.*"in_flight":\([0-9]*\).*/\1/p' | tail -1)" = "$1" ]; }
for limit in closed:n=60,users=7 burst:n=50,slots=5; do
	ipf-sched $limit -t chat.trace -q -o full.sched
	most=${limit##*=}
	for threads in 1 2 4; do
		rm -f full.records
		ipf-fire -q -u "$URL" -m sim -t chat.trace full.sched --threads $threads --grace 0 -o full.records &
		fire=$!
		stop_at_exit $fire
		yes_if "$limit, --threads $threads: $most are in flight at once" wait_for in_flight "$most"
		kill -TERM $fire
		wait $fire
	done
done
server_stop

# ---- shares, sessions and order ----
server_start --step-base 1ms
ipf-sched closed:users=6,n=90 -t talk.trace -o talk.sched
run ipf-fire -u "$URL" -m sim -t talk.trace talk.sched --threads 4 -o talk.records
status_is 0 "sessions with four threads"
rows talk.records
is "$(jq 'map(.n) == [range(90)]' rows.json)" "true" "--threads 4: each turn is sent once"
between "$(most 0)" 1 6 "--threads 4: at most six are in flight"
is "$(jq '[group_by(.session)[] | sort_by(.start_ns) | [., .[1:]] | transpose | map(select(.[1])) | .[] | .[1].turn <= .[0].turn or .[1].start_ns >= .[0].end_ns] | all' rows.json)" true \
	"a turn starts after the one before it"
# When a session starts, those before it in the schedule have ended, but for those of the five other users.
is "$(jq '[group_by(.session // .n)[] | {n: (map(.n) | min), start: (map(.start_ns) | min), end: (map(.end_ns) | max)}] as $all
	| [$all[] | . as $s | [$all[] | select(.n < $s.n and .end > $s.start)] | length] | max <= 5' rows.json)" true "sessions begin in the order of the schedule"
is "$(body talk.records |
	jq -s 'map(select(.client)) | last | .client.cpu.senders | map(. > 0) | all')" true "four threads all have work"
server_stop

# ---- options ----
for bad in "--threads 65" "--threads -1" "--threads two" "--spin 11ms" "--spin 5" "--connections 2 --threads 3"; do
	run ipf-fire -u http://127.0.0.1:1 -t chat.trace $bad faults.sched
	status_is 2 "ipf-fire $bad ends with 2"
	[ "$(head -c 10 "$ERR")" = "ipf-fire: " ] || not_ok "$bad is explained" "$(cat "$ERR")"
done

# ---- busy waiting shows in processor time, and only where it was asked for ----
server_start --step-base 1ms
ipf-sched constant:rate=200,n=200 -t chat.trace -o spin.sched
ipf-fire -q -u "$URL" -m sim -t chat.trace spin.sched --threads 1 --spin 0 -o spin.records
calm=$(body spin.records | jq -s 'map(select(.client)) | last | .client.cpu.send')
# However little others leave of the processor, it comes to several times as much in the end.
ipf-sched constant:rate=200,for=1h -t chat.trace -o long.sched
ipf-fire -q -u "$URL" -m sim -t chat.trace long.sched --threads 1 --spin 4ms -o busy.records &
fire=$!
stop_at_exit $fire
busy() { plain busy.records | jq -n -R -e "[inputs | fromjson? | .client // empty | .cpu.send / (.started + 1)] | length > 0 and max > 3 * $calm / 200"; }
yes_if "waiting busily takes several times the processor time of each request" wait_for busy
kill -INT $fire
wait $fire
server_stop
