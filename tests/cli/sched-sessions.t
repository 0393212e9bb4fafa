#!/bin/sh
# Sessions: the first request is an arrival, the others follow.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
DATA=$TESTS/data/sched

followers() { # STAGE…: $OUT; lines of stage 0 as "n req after wait at"
	run "$BIN/ipf-sched" "$@" -t "$DATA/sessions.trace"
	status_is 0 "ipf-sched $* ends with 0"
	body "$OUT" | jq -r '[.n, .req, (.after // [] | join("+")), .wait_ns // "", .at_ns // ""] | join(":")' >lines
}

followers burst
is "$(cat lines)" "0:0:::0
1:1:0:1000000000:
2:2:1:1000000001:
3:3:::0
4:4:::0
5:5:4::
6:6:4:5:
7:7:5+6:7:
8:8:::0" "turns wait for the turn before, fan out and join, with their waits"

followers poisson:rate=10,n=7
is "$(wc -l <lines | tr -d ' ')" 17 "n counts arrivals of the process: sessions and lone requests, seven of them here"
is "$(sed -n '9p;11,12p;14,17p' lines | cut -d: -f1-3 |
	tr '\n' ' ')" "8:8: 10:1:9 11:2:10 13:4: 14:5:13 15:6:13 16:7:14+15 " \
	"followers after a wrap refer to their own instance"
is "$(head -1 "$OUT" |
	jq -c '[.stages[0].arrivals, .stages[0].rate == 10]')" "[17,true]" "the header counts lines, and plans the rate of arrivals"

followers replay:speed=2
is "$(cut -d: -f3-5 lines | tr '\n' ' ')" \
	"::0 0:500000000:1500000000 1:500000001:3500000000 ::750000000 ::2000000000 4:: 4:3: 5+6:4: ::4500000000 " \
	"followers of a replay keep their recorded times, and the speed divides waits"

followers closed:users=2,n=2
is "$(tr '\n' ' ' <lines)" "0:0::: 1:1:0:1000000000: 2:2:1:1000000001: 3:3::: " "a closed loop has no times, its followers wait all the same"

followers closed:users=2,think=2s
is "$(cut -d: -f1,3,4 lines | tr '\n' ' ')" "0::2000000000 1:0:1000000000 2:1:1000000001 3::2000000000 4::2000000000 5:4:2000000000 6:4:5 7:5+6:7 8::2000000000 " \
	"a think time is that of every turn without a wait of its own, as of heads"
followers closed:users=2,think=2s,process=poisson
is "$(cut -d: -f4 lines | sort -u | wc -l | tr -d ' ')" 9 "think times are drawn for every turn"

# Turn by turn, the schedule is one that ipf-fire can read as a stream: req goes on by one, and back only to the trace's beginning.
followers poisson:rate=10,n=40 gamma:rate=3,cv=2,for=30s burst
is "$(cut -d: -f2 lines |
	awk 'NR > 1 && $1 != before + 1 && $1 != 0 { print } { before = $1 }')" "" "the requests go round the trace in order"

# ---- sessions of agents ----
followers closed:users=2,idle-max=800ms,n=4
is "$(cut -d: -f4 lines | sort -n | tr '\n' ' ' | tr -s ' ')" " 5 7 800000000 800000000 " "idle-max: longer waits are shortened, shorter ones stay"
followers closed:users=2,for=10s,salt
is "$(head -1 "$OUT" | jq -c '.stages[0] | [.cycle, .salt, .sessions]')" "[true,true,true]" "salt is in the header"
run "$BIN/ipf-sched" closed:users=2,n=4,salt -t "$DATA/sessions.trace"
status_is 2 "salt without repetitions"
complains ipf-sched "salt: requires for=" "salt without repetitions is refused"

# users= are people who hold a session each, and think; concurrency= keeps requests in flight, whosever they are.
loop() { # STAGE: its members closed, sessions and slots
	"$BIN/ipf-sched" -q "$1" -t "$2" | head -1 | jq -c '.stages[0] | [.name, .closed, .sessions, .slots]'
}
is "$(loop closed:users=8 "$DATA/sessions.trace")" '["closed",true,true,8]' "users= of a trace with sessions take whole sessions"
is "$(loop closed:concurrency=8 "$DATA/sessions.trace")" '["closed",true,null,8]' "concurrency= does not hold sessions"
is "$(loop closed:users=8 "$DATA/five.trace")" '["closed",true,null,8]' "users= of a trace of single requests have one request each"
is "$(loop closed:users=2..4,steps=2 "$DATA/sessions.trace")" '["closed 2 users",true,true,2]' "a range of users= takes whole sessions"
is "$(loop closed:concurrency=2..4,steps=2,think=1s "$DATA/sessions.trace")" '["closed 2 in flight",true,null,2]' "a range of concurrency= does not"
is "$(loop sweep:users=2,4,n=4 "$DATA/sessions.trace")" '["sweep 2 users",true,true,2]' "a sweep over users= takes whole sessions"
is "$(loop sweep:concurrency=2,4,n=4 "$DATA/sessions.trace")" '["sweep 2 in flight",true,null,2]' "a sweep over concurrency= does not"
"$BIN/ipf-sched" -q closed:users=8 -t "$DATA/sessions.trace" | "$BIN/ipf-sched" stat >said
contains "$(cat said)" "  users        8 people: each holds one session and thinks between its turns, so fewer requests than 8 may be in flight" \
	"stat says what users= are"
"$BIN/ipf-sched" -q closed:concurrency=8 -t "$DATA/sessions.trace" | "$BIN/ipf-sched" stat >said
contains "$(cat said)" "  concurrency  8 requests in flight: while the user of a session thinks, another session is sent; users=8 are people who think" \
	"stat says what concurrency= is"
"$BIN/ipf-sched" -q closed:users=8 -t "$DATA/five.trace" | "$BIN/ipf-sched" stat >said
is "$(grep -c 'people' said)" 0 "stat has nothing to distinguish without sessions"
run "$BIN/ipf-sched" closed:users=8,rate=2 -t "$DATA/sessions.trace"
status_is 2 "rate= of users who hold sessions"
complains ipf-sched "rate: does not apply to users= of a trace with sessions, whose turns keep their recorded waits; it applies to concurrency=" "rate= of users who hold sessions is refused"
is "$(loop closed:concurrency=8,rate=2 "$DATA/sessions.trace")" '["closed",true,null,8]' "rate= applies to concurrency="
run "$BIN/ipf-sched" closed:users=2,middle -t "$DATA/five.trace"
status_is 2 "middle of a trace without sessions"
complains ipf-sched "middle: requires a trace with sessions" "middle of a trace without sessions is refused"

# A search over users of a trace with sessions tries closed loops of whole sessions.
run "$BIN/ipf-sched" search:slo=p90:e2e=1s,low=1,high=64,for=10s,users,idle-max=2s,salt -t "$DATA/sessions.trace"
status_is 0 "a search for a number of users"
is "$(head -1 "$OUT" | jq -r '.stages[0] | [.name, .spec, .sessions, .salt] | tojson')" \
	'["search 8 users","closed:users=8,for=10s,idle-max=2s,salt",true,true]' "a search begins in the middle"
run "$BIN/ipf-sched" search:slo=p90:e2e=1s,low=1,high=64,for=10s,concurrency -t "$DATA/sessions.trace"
is "$(head -1 "$OUT" | jq -r '.stages[0] | [.name, .spec, .sessions] | tojson')" \
	'["search 8 in flight","closed:concurrency=8,for=10s",null]' "a search for a number of requests in flight holds no sessions"
run "$BIN/ipf-sched" search:slo=p90:e2e=1s,low=1,high=64,for=10s,concurrency,users -t "$DATA/sessions.trace"
status_is 2 "a search for users and concurrency ends with 2"
complains ipf-sched "users and concurrency cannot be combined" "users and concurrency exclude each other"
run "$BIN/ipf-sched" search:slo=p90:e2e=1s,low=1,high=64,for=10s,salt -t "$DATA/sessions.trace"
status_is 2 "salt in a search for a rate"
complains ipf-sched "salt: requires users or concurrency" "salt in a search for a rate is refused"

# From the middle: the first sessions begin at a random turn, and a stage before sends the turn before that. Only chains of turns do: of these, the first three
# requests are one.
for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
	run "$BIN/ipf-sched" closed:users=2,n=4,middle --seed $seed -t "$DATA/sessions.trace"
	head -1 "$OUT" | jq -c '.stages | map([.name, .measured])'
	body "$OUT" | jq -r '[.stage, .req, (.after // [] | length)] | join(":")' | tr '\n' ' '
	echo
done >lines
is "$(grep -v : lines | sort -u)" '[["closed primer",false],["closed",true]]' "two stages, of which the second one counts"
is "$(grep : lines | cut -d ' ' -f 1-3 | sort -u | sed 's/ $//')" "0:0:0 1:1:0 1:2:1
0:1:0 1:2:0 1:3:0
1:0:0 1:1:1 1:2:1" "whatever turn it begins with, the one before has been sent"
followers closed:users=2,for=10s,middle --seed 2
is "$(head -1 "$OUT" | jq -c '[.stages[1] | .arrivals - .once, .cycle]')" "[9,true]" "sessions that began in the middle come whole in further rounds"
run "$BIN/ipf-sched" closed:concurrency=2,middle -t "$DATA/sessions.trace"
status_is 2 "middle of concurrency="
complains ipf-sched "middle: requires users=COUNT" "middle of concurrency= is refused"
# The shards of one schedule have its lines between them, each once.
jq -n -c 'range(7) as $s | range(1 + $s) as $t | {id: "\($s)/\($t)", session: "\($s)", turn: $t, prompt: "x", output_tokens: 1} + if $s % 2 == 0 then {wait_ns: 5} else {} end' >lines
trace_of lines >seven.trace
for shards in 2 3; do
	for stage in closed:users=5,n=9,middle closed:users=5,n=9,middle,think=3s,process=poisson; do
		run "$BIN/ipf-sched" $stage --seed 4 -q -t seven.trace -o whole.sched
		status_is 0 "ipf-sched $stage ends with 0"
		for shard in $(seq $shards); do
			"$BIN/ipf-sched" $stage --seed 4 -q -t seven.trace --shard $shard/$shards -o part$shard.sched
			body part$shard.sched
		done | sort >parts
		body whole.sched | sort >whole
		same parts whole "$stage as $shards shards"
	done
	"$BIN/ipf-sched" closed:users=5,for=10s,middle --seed 4 -q -t seven.trace -o whole.sched
	for shard in $(seq $shards); do
		"$BIN/ipf-sched" closed:users=5,for=10s,middle --seed 4 -q -t seven.trace --shard $shard/$shards -o part$shard.sched
		body part$shard.sched
		[ "$(head -1 part$shard.sched | jq '.stages[1].arrivals')" = "$(body part$shard.sched | jq -s 'map(select(.stage == 1)) | length')" ] || echo "arrivals of shard $shard"
	done | jq -c 'if type == "object" then [.stage, .req] else . end' | sort >parts
	body whole.sched | jq -c '[.stage, .req]' | sort >whole
	same parts whole "$stage as $shards shards repeats sessions as the whole does"
	is "$(for shard in $(seq $shards); do head -1 part$shard.sched; done | jq -s 'map(.stages[1].once) | add')" \
		"$(head -1 whole.sched | jq '.stages[1].once')" "the lines that come once, too"
	for shard in $(seq $shards); do # lines of the first round without "after"
		once=$(head -1 part$shard.sched | jq '.stages[1].once')
		body part$shard.sched | jq -c 'select(.stage == 1)' | head -$once | jq -s 'map(select(.after | not)) | length'
	done >begun
	is "$(cat begun)" "$(for shard in $(seq $shards); do head -1 part$shard.sched; done | jq '.stages[1].slots')" "a shard begins as many as it has at a time"
done
head -3 lines >two
trace_of two >two.trace
run "$BIN/ipf-sched" closed:users=3,for=10s,middle --shard 3/3 -t two.trace
status_is 2 "a shard that would have no session after its first one"
complains ipf-sched "for: cannot divide a trace of 2 requests or sessions among 3 shards" "a shard without a session after its first one is refused"
