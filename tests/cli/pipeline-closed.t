#!/bin/bash
# Closed loops end to end, and the stages after them: as many in flight as there are users, the trace gone round until the time is
# up; after a stage bounded by a count, the next begins when its last answer is there.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/together.sh"

server_start --step-base 2ms --step-per-seq 0
ipf-prep sharegpt "$ROOT/examples/chat.json" -n 7 --output-tokens 12 -q -o chat.trace
# A server of the same steps in virtual time, where all counts and times are exact.
twin server.twin step_base_ns=2000000 step_per_sequence_ns=0
go() { # STAGE…: rows.json, report.json
	sent_by ipf-fire -u "$URL" -m sim -- "$@"
}
virtual() { # STAGE…: the same of the virtual server
	sent_by ipf-twin predict server.twin -- "$@"
}
sent_by() { # COMMAND… -- STAGE…
	local command=()
	while [ "$1" != -- ]; do command+=("$1") && shift; done
	shift
	ipf-sched "$@" -t chat.trace -q -o run.sched
	run "${command[@]}" -q -t chat.trace run.sched -o run.records
	status_is 0 "${command[0]} ends with 0: $*"
	ipf-collect -q run.records -o run.results
	body run.results | jq -c 'select(has("n"))' >rows.json
	ipf-report -f json run.results >report.json
}
# The most requests of a stage in flight at once.
most() { # STAGE
	jq -s -r --argjson stage "$1" 'map(select(.stage == $stage))[] | "\(.start_ns) 1", "\(.end_ns) -1"' rows.json |
		sort -k 1n -k 2n |
		awk '{ n += $2; if (n > most) most = n } END { print most + 0 }'
}

virtual closed:users=3,for=1200ms rest:for=300ms constant:rate=20,n=4
is "$(jq -s 'map(select(.stage == 0)) | length' rows.json)" 150 "three users send 150 requests in 1.2 s of answers of 24 ms"
is "$(most 0)" 3 "three users have three requests in flight in virtual time"
is "$(jq '.stages[0].in_flight.mean' report.json)" 3 "the report says that three are in flight on average"
# The server is held until three requests wait for it.
hold
go closed:users=3,for=1200ms rest:for=300ms constant:rate=20,n=4 &
go=$!
release 3
wait $go || tap_failed=1
count=$(jq -s 'map(select(.stage == 0)) | length' rows.json)
is "$(most 0)" 3 "three users have three requests in flight"
is "$(jq -s -c --argjson count "$count" 'map(select(.stage == 0)) | sort_by(.n) | [map(.n) == [range($count)], map(.req) == [range($count) | . % 7]]' rows.json)" \
	"[true,true]" "a closed loop counts its requests and goes round the trace"
is "$(jq -s 'map(select(.stage == 0 and .start_ns >= 1200e6)) | length' rows.json)" 0 "no request starts after the end of its stage"
is "$(jq -s 'map(select(.stage == 0 and has("due_ns"))) | length' rows.json)" 0 "requests of a closed loop have no due time"
is "$(jq -s -c 'map(select(.stage == 2)) | sort_by(.n) | map(.due_ns)' rows.json)" "[1500000000,1550000000,1600000000,1650000000]" \
	"stages after a closed loop are due from the end of its time"
is "$(jq -s 'map(select(.ok | not)) | length' rows.json)" 0 "every request succeeds"

# A warm-up does not put the prompts measured after it into the server's prefix cache.
jq -n -c 'range(400) | tostring | {id: ., messages: [{role: "user", content: ("\(.) of four hundred, " * 9)}], output_tokens: 12}' >lines
trace_of lines >chat.trace
virtual closed:users=2,for=400ms,warmup closed:users=2,for=1s
is "$(jq -s -c '(map(select(.stage == 0).req)) as $warm | [map(select(.stage == 1)) | length, (map(select(.req as $r | $warm | index($r))) | length)]' rows.json)" \
	"[84,0]" "a closed stage of 1 s and 24 ms a request asks for 84 others than the warm-up"
go closed:users=2,for=400ms,warmup closed:users=2,for=1s
is "$(jq -s -c '(map(select(.stage == 0).req)) as $warm | [map(select(.stage == 1)) | length > 0, (map(select(.req as $r | $warm | index($r))) | length)]' rows.json)" \
	"[true,0]" "a closed stage after a warm-up asks for nothing that was asked in it"
is "$(jq -s 'map(.cached_tokens // 0) | add' rows.json)" 0 "a closed stage after a warm-up finds nothing in the cache"

# In sessions a user sends the next turn, not the next conversation.
ipf-prep sharegpt "$ROOT/examples/chat.json" --turns all --sessions 12 --output-tokens 8 -q -o chat.trace
go closed:users=2
is "$(jq -s length rows.json)" "$(body chat.trace | wc -l | tr -d ' ')" "sessions: every turn is sent once"
is "$(most 0)" 2 "two in flight"

# A stage without an end of its own: the next one is planned as if it had taken no time, and begins when it is over.
ipf-prep sharegpt "$ROOT/examples/chat.json" -n 7 --output-tokens 100 -q -o chat.trace
stages="burst:n=5 constant:rate=100,n=3 closed:users=1,n=2 burst:n=2,name=last"
waits() { # STAGE: whether it begins after the last answer of the one before it
	jq -s --argjson stage "$1" '(map(select(.stage == $stage).start_ns) | min) >= (map(select(.stage == $stage - 1).end_ns) | max)' rows.json
}
# shellcheck disable=SC2086 # several stages
virtual $stages
is "$(waits 1) $(waits 2) $(waits 3)" "true false true" "a stage waits for the last answer of a burst and of users, and not for that of a rate"
is "$(jq -s -c '(map(select(.stage == 0).end_ns) | max) as $over | map(select(.stage == 1)) | sort_by(.n) | map(.due_ns - $over)' rows.json)" "[0,10000000,20000000]" \
	"the gaps of a rate are kept, from the moment at which the burst has ended"
# shellcheck disable=SC2086
go $stages
is "$(waits 1) $(waits 3)" "true true" "a stage waits for the last answer of a burst and of users at the server, too"
is "$(jq -s -c '(map(select(.stage == 0).end_ns) | max) as $over | map(select(.stage == 1)) | sort_by(.n) | map(.due_ns) as $due
		| ($due | map(. - $due[0])), $due[0] >= $over' rows.json | tr '\n' ' ')" "[0,10000000,20000000] true " \
	"the gaps of a rate are kept at the server, after the burst has ended"
