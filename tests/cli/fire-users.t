#!/bin/bash
# The users of closed loops: they come in over time, think, keep a pace, hold whole sessions, and go on to the next stage. Runs against a
# server are checked for relations holding however busy the machine is. Where a stage's time decides, the run is virtual.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

server_start --step-base 20ms --step-per-seq 0
ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens 4 -n 30 -q -o chat.trace

fire() { # STAGES…: rows.json, sorted by n
	sent_by "ipf-fire -u $URL -m sim" "$@"
}
# The same server in virtual time: an answer of four tokens takes 80 ms.
twin users.twin model=sim step_base_ns=20000000 step_per_sequence_ns=0 prefix_cache=1
virtually() { # STAGES…: rows.json, as above
	sent_by "ipf-twin predict users.twin" "$@"
}
sent_by() { # COMMAND STAGES…
	local command=$1
	shift
	ipf-sched "$@" -t "${trace:-chat.trace}" -q -o run.sched
	# shellcheck disable=SC2086 # several words
	run $command -q -t "${trace:-chat.trace}" run.sched -o run.records
	status_is 0 "$command ends with 0: $*"
	body run.records | jq -s -c 'map(select(.n != null)) | sort_by(.n)' >rows.json
	head -1 run.sched | jq -c .stages >stages.json
}
holds() { # FILTER TEXT
	is "$(jq -c "$1" rows.json)" true "$2"
}
# The most in flight at any time, of all stages together; who ends makes place for who starts at the same time.
most() {
	jq '[.[] | [.start_ns, 1], [.end_ns, -1]] | sort | reduce .[] as $e ({now: 0, most: 0}; .now += $e[1] | .most = ([.most, .now] | max)) | .most' rows.json
}
MS=1000000

# ---- think time ----
fire closed:users=1,n=6,think=70ms
holds "length == 6 and ([range(1; 6) as \$k | .[\$k].ready_ns == .[\$k - 1].end_ns + 70 * $MS] | all)" "think=70ms: the next is ready 70 ms after the answer"
holds '.[0].ready_ns == 0 and ([.[] | .start_ns >= .ready_ns and (has("due_ns") or has("slot_ns") | not)] | all)' "the first at once; none is due, none waits for a slot"
fire closed:users=3,for=1s,think=60ms,process=uniform
body run.sched | jq -s -c 'map(.wait_ns)' >waits.json
is "$(jq -c "length > 4000 and min > 0 and max < 120 * $MS and (unique | length) > 4000" waits.json)" true "a distribution: drawn in the schedule, for more than go round once"
is "$(jq -s -c '.[1] as $waits | .[0] | map(.end_ns) as $ends | [.[3:][] | .ready_ns - $waits[.n] | IN($ends[])] | all' rows.json waits.json)" true \
	"users are ready after the answer and the wait of their line"
between "$(most)" 1 3 "never more in flight than there are users"

# ---- a pace of each user's own ----
fire closed:users=1,n=6,rate=4
holds "[range(1; 6) as \$k | .[\$k].ready_ns - .[\$k - 1].ready_ns >= 250 * $MS] | all" "rate=4: a user sends every 250 ms at most"
fire closed:users=1,n=4,rate=100
holds '[range(1; 4) as $k | .[$k].ready_ns == .[$k - 1].end_ns] | all' "rate=100: a user waits for an answer that takes longer"

# ---- ramp-up ----
fire closed:users=4,for=800ms,rampup=400ms
holds "map(.ready_ns)[0:4] == [0, 100 * $MS, 200 * $MS, 300 * $MS]" "rampup=400ms: four users come in, 100 ms apart"
is "$(ipf-sched closed:users=4,for=800ms,rampup=400ms -t chat.trace --shard 2/2 | head -1 |
	jq -c '.stages[0] | [.slots, .rampup_ns]')" "[2,400000000]" "a shard has its share of them"
ipf-sched closed:users=4,for=800ms,rampup=400ms -t chat.trace --shard 2/2 -o half.sched
ipf-fire -q -u "$URL" -m sim -t chat.trace half.sched -o run.records
body run.records | jq -s -c 'map(select(.n != null)) | sort_by(.n)' >rows.json
holds "map(.ready_ns)[0:2] == [100 * $MS, 300 * $MS]" "users of two shards start in turns"

# ---- from stage to stage ----
fire closed:users=4,for=300ms closed:users=4,for=300ms,cooldown closed:users=4,for=300ms
between "$(most)" 1 4 "users of several stages: never more in flight than there are"
virtually closed:users=4,for=300ms closed:users=4,for=300ms,cooldown closed:users=4,for=300ms
is "$(most)" 4 "users go on to the next stage: as many in flight as there are, of all stages together"
holds "([.[] | select(.stage == 0).end_ns] | max) == 320 * $MS and ([.[] | select(.stage == 1).start_ns] | min) == 320 * $MS" \
	"a user begins the next stage with the answer that came after the end of the one before"
is "$(jq -c 'map(.measured)' stages.json)" "[true,false,true]" "a cool-down is not measured"

virtually closed:users=6,for=300ms closed:users=2,for=400ms
# shellcheck disable=SC2016
holds '. as $all | [.[] | select(.stage == 1).start_ns as $t | [$all[] | select(.start_ns <= $t and .end_ns > $t)] | length] | length > 0 and max <= 2' \
	"fewer users: the others leave with their answers, before anybody begins the new stage"

virtually closed:users=1..5,steps=3,for=200ms,think=10ms
is "$(jq -c 'map([.name, .slots, .spec])' stages.json)" '[["closed 1 user",1,"closed:users=1,for=200ms,think=10ms"],["closed 3 users",3,"closed:users=3,for=200ms,think=10ms"],["closed 5 users",5,"closed:users=5,for=200ms,think=10ms"]]' \
	"users=1..5,steps=3: a stage for each number"
between "$(most)" 2 5 "never more in flight than the most of them"

fire closed:users=3,for=300ms,drain constant:rate=100,n=5,drain constant:rate=100,n=2
for stage in 1 2; do
	# shellcheck disable=SC2016
	holds "(map(select(.stage == $stage - 1).end_ns) | max) <= (map(select(.stage == $stage).due_ns) | min)" "drain: stage $stage waits for the last answer of the one before"
done
holds "map(select(.stage == 1).due_ns) | [.[] - .[0]] == [range(5) | . * 10 * $MS]" "drain: stage $stage keeps its gaps"
is "$(tail -1 run.records |
	jq -c '.end.stages[0].end_ns')" 300000000 "the stage itself ends at its time, without the tail"

virtually closed:users=3,n=7,overlap closed:users=3,n=5,overlap burst:n=2
between "$(most)" 3 5 "overlap: a stage of some requests is over when the last was started"
holds '(map(select(.stage == 1).start_ns) | min) < (map(select(.stage == 0).end_ns) | max)' "overlap: answers come in the next stage"
# shellcheck disable=SC2016
holds '. as $all | [.[] | select(.stage == 1).start_ns as $t | [$all[] | select(.stage < 2 and .start_ns <= $t and .end_ns > $t)] | length] | max <= 3' "overlap: users of the next stage are those whose answers have come"

# ---- sessions in parallel ----
ipf-prep sharegpt "$ROOT/examples/chat.json" --turns all --sessions 8 --output-tokens 2 --wait 30ms -q -o sessions.trace
trace=sessions.trace
fire closed:users=2
is "$(jq length rows.json)" "$(body sessions.trace | wc -l | tr -d ' ')" "users=2: every turn is sent once"
is "$(jq -c '.[0] | [.closed, .sessions, .slots]' stages.json)" "[true,true,2]" "the header says so"
sessions() { # the most sessions between their first start and their last end
	jq '[group_by(.session)[] | [(map(.start_ns) | min), 1], [(map(.end_ns) | max), -1]] | sort | reduce .[] as $e ({now: 0, most: 0}; .now += $e[1] | .most = ([.most, .now] | max)) | .most' rows.json
}
is "$(sessions)" 2 "two sessions at a time, never more, also while their users think"
# shellcheck disable=SC2016
holds 'group_by(.session) | [.[] | sort_by(.turn) as $turns | range(1; $turns | length) | $turns[.].ready_ns == $turns[. - 1].end_ns + 30000000] | length > 2 and all' "turns wait as they were recorded"
fire closed:concurrency=2
yes_if "concurrency=2 begins a third session while the user of one thinks: $(sessions) at a time" [ "$(sessions)" -gt 2 ]
is "$(jq '[.[] | [.start_ns, 1], [.end_ns, -1]] | sort | reduce .[] as $e ({now: 0, most: 0}; .now += $e[1] | .most = ([.most, .now] | max)) | .most' rows.json)" 2 \
	"concurrency=2 has two requests in flight, never more"
fire closed:users=3,for=700ms,think=20ms
is "$(jq '[group_by(.n - .turn)[] | [(map(.start_ns) | min), 1], [(map(.end_ns) | max), -1]] | sort | reduce .[] as $e ({now: 0, most: 0}; .now += $e[1] | .most = ([.most, .now] | max)) | .most <= 3' rows.json)" true \
	"closed:users=3 by time never has more than three sessions in progress"

# ---- rounds of a trace ----
# Three sessions of three turns; each prompt is longer than a block of the cache. Without salt, all but the first round finds all of it
# there; with it no first turn finds anything, and later turns find the text of the turns before them.
jq -n -c 'range(3) as $s | range(3) as $t | {id: "\($s)/\($t)", session: "\($s)", turn: $t, context: "session", output_tokens: 2, answer: "fine",
	messages: [{role: "user", content: ([range(60) | "word\(. * ($s + 2) + $t)"] | join(" "))}]}' >lines
trace_of lines >talks.trace
server_start --step-base 5ms --step-per-seq 0
rounds() { # Did the first turns after the first round find something in the cache, and the later turns?
	ipf-collect -q run.records -o run.results
	body run.results | jq -s -c '[.[] | select(.n != null and .ok)] | sort_by(.n)' >results.json
	jq -c '[.[] | select(.n >= 9 and .req % 3 == 0) | .cached_tokens > 0] | unique' results.json
	jq -c '[.[] | select(.req % 3 > 0) | .cached_tokens > 0] | unique' results.json
}
enough() { [ "$(plain run.records | grep -c '^{"n"')" -ge 30 ]; }
go_round() { # STAGE: interrupted after three rounds
	ipf-sched "$1" -t talks.trace -q -o run.sched
	rm -f run.records
	ipf-fire -q -u "$URL" -m sim -t talks.trace run.sched -o run.records &
	local fire=$!
	stop_at_exit $fire
	wait_for enough
	kill -INT $fire
	wait $fire
	status=$?
	status_is 0 "$1 can be interrupted after three rounds"
	body run.records | jq -s -c 'map(select(.n != null)) | sort_by(.n)' >rows.json
}
go_round closed:users=3,for=1h
is "$(rounds | tr '\n' ' ')" "[true] [true] " "a trace that goes round is found in the cache"
server_start --step-base 5ms --step-per-seq 0
go_round closed:users=3,for=1h,salt
is "$(rounds | tr '\n' ' ')" "[false] [true] " "salt: the cache finds prompts within a session, not in another round"
holds '[.[] | .copy // 0 | . == 0] | any' "the first round sends the requests themselves"
is "$(jq -c '[.[] | select((.copy // 0) != ((.n / 9 | floor) % 64))] | length' rows.json)" 0 "later rounds send the next copy, with its number in the records"

# ---- from the middle of sessions ----
# Long sessions, of which the server has seen nothing: the first answers of those beginning with their first turn find little in its
# cache, those of a run going on for long find most; so do the first ones of sessions beginning in their middle, after their primers.
jq -n -c 'range(24) as $s | range(12) as $t | {id: "\($s)/\($t)", session: "\($s)", turn: $t, context: "session", output_tokens: 2, answer: "fine",
	messages: [{role: "user", content: ([range(60) | "word\(. * ($s + 2) + $t * 7)"] | join(" "))}]}' >lines
trace_of lines >talks.trace
trace=talks.trace
hits() { # STAGE FROM TO: of the prompts' tokens, in percent, of these requests of the stage in the order of their start
	ipf-collect -q run.records -o run.results
	body run.results | jq -s --argjson stage "$1" --argjson from "$2" --argjson to "$3" '[.[] | select(.n != null and .ok and .stage == $stage)] | sort_by(.start_ns)[$from:$to]
		| 100 * (map(.cached_tokens) | add) / (map(.input_tokens) | add)'
}
for key in "" ,middle; do
	virtually "closed:users=12,n=24$key"
	[ -n "$key" ] && primed=$(hits 1 0 36) || { cold=$(hits 0 0 36) && warm=$(hits 0 150 288); }
done
yes_if "a run over warm sessions begins as a long one goes on: $primed %, a long one $warm %, a cold one $cold %" \
	awk -v p="$primed" -v w="$warm" -v c="$cold" 'BEGIN { exit !(p > w - 8 && p < w + 8 && c < w - 15) }'
is "$(jq -c '[.[] | select(.stage == 0)] | length > 6 and length <= 12' rows.json)" true "every warm session was primed by a request of a stage of its own"
is "$(head -1 run.sched | jq -c '.stages[0].measured')" false "the stage that primes is not measured"

# With salt, the sessions beginning in their middle are copies of their own: in the round in which they come whole, nothing was sent before. The report
# shows the treatment of the sessions, and how many were cut.
jq -n -c 'range(6) as $s | range(4) as $t | {id: "\($s)/\($t)", session: "\($s)", turn: $t, context: "session", output_tokens: 2, answer: "fine", wait_ns: 30000000,
	messages: [{role: "user", content: ([range(60) | "word\(. * ($s + 2) + $t * 7)"] | join(" "))}]}' >lines
trace_of lines >talks.trace
server_start --step-base 5ms --step-per-seq 0
go_round closed:users=4,for=1h,middle,salt
understood() { rm -f run.results && ipf-collect -q run.records -o run.results; }
no_repeats() { # TEXT
	is "$(tail -1 run.results | jq -c '[.end.verdict.checks[] | .figures.repeated_prompts // 0] | add')" 0 "$1"
}
understood
no_repeats "salt: the verdict counts no prompt as repeated"
is "$(body run.results | jq -s -c '[.[] | select(.n != null and .stage == 1 and .turn == 0) | .cached_tokens] | max')" 0 "salt: no first turn finds what was primed"
virtually closed:users=4,for=1500ms,middle,salt,idle-max=10ms --seed 3
understood
no_repeats "salt: the verdict counts no prompt of a virtual run as repeated"
report=$(ipf-report run.results --section sessions | tr -s '\n ' ' ')
cut=$(tail -1 run.records | jq '.end.cut_sessions // 0')
yes_if "sessions in progress at the end are cut: $cut" [ "$cut" -gt 0 ]
contains "$report" "its first sessions began in their middle, after $(head -1 run.sched | jq '.stages[0].arrivals') primer" "the report says what was primed"
contains "$report" "each round of the trace had prompts of its own (salt)" "the report says that rounds were salted"
contains "$report" "recorded waits that were longer are 10 ms (idle-max)" "the report says that waits were shortened"
contains "$report" "cut $cut session" "the report says how many sessions were cut"
