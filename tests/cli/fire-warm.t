#!/bin/bash
# Requests warming the server up before the schedule begins.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

server_start --step-base 2ms
ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens 5 -n 8 -q -o chat.trace

fire() { # ARGUMENTS OF ipf-fire…: rows.json, in the order of their starts
	run ipf-fire -u "$URL" -m sim -t chat.trace "$@" -o chat.records
	status_is 0 "ipf-fire $* ends with 0"
	yes_if "ipf-fire $* writes whole records" whole chat.records
	body chat.records | jq -s -c 'map(select(.n != null)) | sort_by(.start_ns)' >rows.json
}
first=4503599627370496

# ---- an open loop ----
ipf-sched constant:rate=50,n=20 poisson:rate=100,n=20 -t chat.trace -q -o chat.sched
fire --warm 11 chat.sched
is "$(jq -c "map(.stage) == ([range(11) | 0] + [range(20) | 1] + [range(20) | 2])" rows.json)" true "requests of --warm go before all others"
is "$(jq -c "map(select(.stage == 0)) | [.[] | .n - $first] == [range(11)]" rows.json)" true "requests of --warm have numbers of their own"
is "$(jq -c 'map(select(.stage == 0) | .req)' rows.json)" "[0,1,2,3,4,5,6,7,0,1,2]" "the first requests of the trace, and those again"
is "$(jq -c 'map(select(.stage == 0)) | . as $r | [range(1; 11) | $r[.].start_ns >= $r[. - 1].end_ns] | all' rows.json)" true "requests of --warm go one after another"
is "$(jq -c '(map(select(.stage == 0) | .end_ns) | max) as $last | map(select(.stage == 1) | .due_ns - $last) == [range(20) * 20000000]' rows.json)" true \
	"the schedule's time begins when the last has ended"
is "$(jq -c 'map(select(.stage > 0) | .n) | sort == [range(40)]' rows.json)" true "requests of the schedule keep their numbers"
is "$(head -1 chat.records |
	jq -c '.stages | map([.name, .measured, .arrivals])')" '[["warm",false,11],["constant",true,20],["poisson",true,20]]' "the header names their stage"
is "$(tail -1 chat.records | jq -c '.end.stages | length')" 3 "the trailer says when it was"
run ipf-collect -q chat.records -o chat.results
is "$(jq -s -c 'map(select(.n != null)) | length' chat.results)" 51 "the results have them all"
is "$(tail -1 chat.results | jq -c '.end.verdict.checks[0] | [.name, .scheduled, .started]')" \
	'["load_delivered",40,40]' "the verdict counts what was scheduled" # exact: counts
run ipf-report -f json chat.results
is "$(jq -c '.total.requests | [.scheduled, .started, .ok]' "$OUT")" '[40,40,40]' "the totals of the report count only the schedule"
is "$(jq -c '.stages | map([.name, .measured, .requests.ok])' "$OUT")" '[["warm",false,11],["constant",true,20],["poisson",true,20]]' "stages of the report count requests of --warm"
run ipf-report chat.results
matches "$(cat "$OUT")" '^ *\(warm\) .* 11 +0 ' "the text has the warm-up in brackets"

# ---- users, sessions, threads, a schedule by a pipe ----
cat >lines <<'END'
{"id":"a0","session":"a","turn":0,"messages":[{"role":"user","content":"one"}],"output_tokens":4,"answer":"first answer"}
{"id":"a1","session":"a","turn":1,"wait_ns":1000000,"context":"session","messages":[{"role":"user","content":"two"}],"output_tokens":4}
{"id":"b0","messages":[{"role":"user","content":"one"}],"output_tokens":4}
END
trace_of lines >chat.trace
for more in "--history live" "--threads 2" "--cancel 100%@0s"; do
	# shellcheck disable=SC2086
	ipf-sched closed:users=4,n=12 -t chat.trace -q | fire --warm 3 $more
	is "$(jq -c 'map(select(.stage == 0)) | map(.id)' rows.json)" '["a0","b0","a0"]' "requests of --warm are no later turns of a session"
	is "$(jq -c 'map(select(.stage == 0)) | map(.session == null and .error == null) | all' rows.json)" true "requests of --warm belong to no session and succeed"
	is "$(jq -c '(map(select(.stage == 0) | .end_ns) | max) as $last | map(select(.stage == 1)) | length >= 4 and all(.[]; .start_ns >= $last)' rows.json)" true \
		"the users come after them"
	is "$(jq -c 'map(select(.stage == 1)) | .[0:4] | map(.n) | sort == [0,2,3,5]' rows.json)" true "users are all there at the beginning after --warm"
done

# ---- clients sharing a load ----
ipf-sched constant:rate=100,n=20 -t chat.trace -q -o all.sched
all=$(body all.sched | wc -l)
for i in 1 2; do
	ipf-sched constant:rate=100,n=20 --shard "$i/2" -t chat.trace -q -o "part$i.sched"
	run ipf-fire -u "$URL" -m sim -t chat.trace --warm 2 "part$i.sched" -o "part$i.records"
done
run ipf-collect -q part1.records part2.records -o both.results
is "$(body both.results |
	jq -s -c 'map(select(.n != null) | .n) | length == (unique | length)')" true "no number occurs twice in two shards with --warm"
run ipf-report -f json both.results
is "$(jq -c '[.total.requests.scheduled, .total.requests.ok, .stages[0].requests.ok]' "$OUT")" "[$all,$all,4]" "shards have their own"

# ---- wrong usage ----
run ipf-fire -q -u "$URL" -t chat.trace --warm 1 --probe
status_is 2 "--probe has one request to send"
complains ipf-fire "--warm cannot be combined with --probe" "ipf-fire refuses --warm with --probe"
run ipf-fire -q --calibrate --warm 1
status_is 2 "--warm with --calibrate ends with 2"
run ipf-fire -q -u "$URL" -t chat.trace --warm 2000000 all.sched
complains ipf-fire "--warm: maximum is 1048576" "ipf-fire says the maximum of --warm"
sed -n 2p lines >later
sed 's/"context"/"parents":["x"],"context"/' later >one
trace_of one >late.trace
ipf-sched constant:rate=100,n=2 -q -o free.sched
run ipf-fire -q -u "$URL" -m sim -t late.trace --warm 1 free.sched
status_is 3 "a trace without a request that can go first is refused"
complains ipf-fire "does not wait for another" "ipf-fire says that every request waits for another"
