#!/bin/bash
# Prompts sent more than once: ipf-sched says it unasked, and the verdict doubts the figures.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

trace() { # NAME COUNT [DIFFERENT]: so many requests, of which so many have a prompt of their own
	awk -v n="$2" -v k="${3:-$2}" 'BEGIN { for (i = 0; i < n; i++) printf "{\"prompt\":\"What is %d?\",\"output_tokens\":2}\n", i % k }' >"$1.jsonl"
	ipf-prep jsonl "$1.jsonl" -q -o "$1.trace"
}
trace ten 10
trace many 120
trace twins 100 70

# ---- ipf-sched ----
says() { # LINE ENOUGH ARGUMENTS…
	local line=$1 enough=$2
	shift 2
	run ipf-sched "$@" -o out.sched
	status_is 0 "ipf-sched $* ends with 0"
	[ -z "$line" ] || line="ipf-sched: $line: a server's prefix cache makes these faster than prompts of users"
	[ "$enough" = 0 ] || line="$line; $enough prompts are enough (ipf-prep -n), or --new-prompts for those of each stage to differ"
	stderr_is "$line" "ipf-sched says ${line:-nothing}: $*"
}
says "the schedule goes round the trace: 990 of 1000 requests send one of its 10 prompts again" 1000 constant:rate=100,n=1000 -t ten.trace
says "" 0 constant:rate=100,n=10 -t ten.trace
says "the schedule goes round the trace: 1 of 11 requests send one of its 10 prompts again" 11 constant:rate=100,n=11 -t ten.trace
says "the schedule goes round the trace: 5 of 15 requests send one of its 10 prompts again (5 of 7 in stage closed)" 15 burst:n=8,warmup closed:users=2,n=7 -t ten.trace
says "the schedule goes round the trace: 30 of 40 requests send one of its 10 prompts again (10 of 20 in stage sweep 100/s, 20 of 20 in stage sweep 200/s)" 40 sweep:rates=100,200,n=20,process=constant -t ten.trace
says "30 of 100 prompts of the trace repeat an earlier one" 0 burst -t twins.trace
says "the schedule goes round the trace: 20 of 120 requests send one of its 100 prompts again; 30 of 100 prompts of the trace repeat an earlier one" 120 burst:n=120 -t twins.trace
says "" 0 burst:n=1000
# How often users go round until their time is over is not known, but their rest is.
says "" 0 closed:users=2,for=10s -t ten.trace
says "the schedule goes round the trace: 6 of 12 requests send one of its 10 prompts again (6 of 6 in stage burst-2)" 12 burst:n=6 closed:users=2,for=10s burst:n=6 -t ten.trace
run ipf-sched burst:n=50 -t ten.trace -q -o out.sched
stderr_is "" "-q: no message"
run ipf-sched burst -t twins.trace -q -o out.sched
is "$(head -1 out.sched | jq .trace.repeated_prompts)" 30 "the header knows what the trace says"
says "the schedule goes round the trace: 10 of 15 requests send one of its 10 prompts again" 30 burst:n=30 --shard 1/2 -t ten.trace
# every third: other shards send the prompts this one sends again
says "the schedule goes round the trace: 3 of 7 requests send one of its 10 prompts again" 20 burst:n=20 --shard 1/3 -t ten.trace
# Each stage has other prompts, and a stage going round repeats only its own.
says "" 0 burst:n=10 burst:n=10 -t ten.trace --new-prompts
is "$(body out.sched | jq -s -c 'map([.stage, .copy // 0, .req] | tostring) | [.[0], .[9], .[10], .[19]]')" \
	'["[0,0,0]","[0,0,9]","[1,1,0]","[1,1,9]"]' "--new-prompts: stages are copies of the requests"
is "$(head -1 out.sched | jq -c '.stages | map(.copy // 0)')" "[0,1]" "--new-prompts numbers the copies in the header"
says "the schedule goes round the trace: 5 of 20 requests send one of its 10 prompts again (5 of 15 in stage burst-2)" 20 burst:n=5 rest:for=1s burst:n=15 -t ten.trace --new-prompts
# shellcheck disable=SC2046 # 65 operands
run ipf-sched $(yes burst:n=1 | head -65) -t ten.trace --new-prompts
status_is 2 "--new-prompts has at most 64 stages"
complains ipf-sched "stage 65 (burst): --new-prompts: expected at most 64 stages" "ipf-sched says that --new-prompts has at most 64 stages"
run ipf-sched replay:rate=6,by=copies -t "$TESTS/data/sched/recorded.trace" --new-prompts
status_is 2 "a replay with copies has no others"
# Copies have prompts of their own.
"$BIN/ipf-sched" replay:rate=6,by=copies,loop,n=50 -q -t "$TESTS/data/sched/recorded.trace" -o copies.sched
isnt "$(body copies.sched | jq -s 'map(select(.copy)) | length')" 0 "a replay with copies"
repeated=$(body copies.sched | jq -s 'map(select(.copy | not) | .req) | length - (unique | length)')
run ipf-sched replay:rate=6,by=copies,loop,n=50 -t "$TESTS/data/sched/recorded.trace" -o /dev/null
if [ "$repeated" = 0 ]; then
	is "$(grep -c 'goes round' "$ERR")" 0 "a replay with copies repeats no request"
else
	stderr_contains "goes round the trace: $repeated of 50" "a replay with copies repeats only requests that are no copies"
fi

# ---- the verdict, of whole runs ----
server_start --step-base 1ms
samples='.verdict.checks[] | select(.name == "enough_samples")'
fire() { # TRACE ARGUMENT… [-- OPTIONS OF ipf-fire]: report.json
	local trace=$1 stages=()
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do stages+=("$1"); shift; done
	[ $# = 0 ] || shift
	ipf-sched "${stages[@]}" -q -t "$trace.trace" -o run.sched
	ipf-fire -q -u "$URL" -m sim -t "$trace.trace" run.sched "$@" -o run.records
	ipf-collect -q run.records -o run.results
	ipf-report -f json run.results -o report.json
}
doubt() { # COUNT OF DESCRIPTION
	is "$(jq "$samples | .repeated_prompts" report.json)" "$1" "the verdict counts repeated prompts of $3"
	contains "$(jq -r "$samples | [.status, .detail] | join(\" \")" report.json)" "$1 of $2 responses are to prompts sent before" "the verdict doubts repeated prompts of $3"
}
trusted() { # DESCRIPTION
	is "$(jq -r "$samples | .detail" report.json | grep -c 'sent before\|repeat')" 0 "the verdict trusts $1"
}
fire ten constant:rate=400,n=60
doubt 50 60 "a schedule that goes round"
fire many constant:rate=400,n=120
trusted "a schedule that does not go round"
fire ten burst:n=10,warmup constant:rate=400,n=20
doubt 20 20 "prompts of the warm-up"
fire many burst:n=60,warmup constant:rate=400,n=60
trusted "a warm-up with prompts of its own"
fire many constant:rate=400,n=100 -- --warm 10
trusted "requests of --warm"
fire many --new-prompts burst:n=100 closed:users=2,n=100 burst:n=100
trusted "stages with prompts of their own"
fire many --new-prompts burst:n=100 burst:n=180
doubt 60 280 "a stage that repeats its own"
fire ten closed:users=4,n=40
doubt 30 40 "a closed loop"
# In virtual time, the number of requests does not depend on the machine: 4 users, and answers of 2 ms.
twin server.twin step_base_ns=1000000 step_per_sequence_ns=0
ipf-sched closed:users=4,for=300ms -q -t ten.trace | ipf-twin predict -q server.twin -t ten.trace | ipf-collect -q -o virtual.results
ipf-report -f json virtual.results -o report.json
ok=$(jq .total.requests.ok report.json)
is "$ok" 600 "users go round until their time is over"
doubt $((ok - 10)) "$ok" "only the results know how often"
fire twins burst
contains "$(jq -r "$samples | .detail" report.json)" "30 of 100 prompts of the trace repeat an earlier one" "a trace with prompts that repeat"
is "$(jq "$samples | .trace_repeated_prompts" report.json)" 30 "the verdict counts repeated prompts of the trace"
ipf-report run.results >run.txt
contains "$(tr -s ' \n' ' ' <run.txt)" "prompts of the trace repeat an earlier one" "text says that prompts of the trace repeat"
is "$(tail -1 run.results | jq '.end.verdict.checks[3].trace_repeated_prompts')" 30 "the trailer of results counts repeated prompts of the trace"

# Requests of a recorded trace repeat the users' repetitions.
awk 'BEGIN { print "TIMESTAMP,ContextTokens,GeneratedTokens"; for (i = 0; i < 60; i++) printf "2023-11-16 18:15:46.%07d,%d,2\n", i * 10000, 100 }' >recorded.csv
ipf-prep azure recorded.csv -q -o recorded.trace
fire recorded replay
trusted "a recorded trace"
is "$(head -1 run.sched | jq .trace.repeated_prompts)" null "the header of a recorded trace has no repeats"
fire recorded replay:loop,n=120
doubt 60 120 "a replay that goes round"

# ---- runs of a search ----
search() { # OPTION…: the next stage, run as runN.results
	run ipf-sched search:slo=p90:ttft=9s,low=100,high=1000,n=60,most=3 "$@" -t many.trace -o run.sched
}
search
stderr_is "" "the first stage of a search has prompts enough"
fire_next() { # RESULTS
	ipf-twin predict -q server.twin -t many.trace run.sched | ipf-collect -q -o "$1" # how fast the server is decides about the next stage
	ipf-report -f json "$1" -o report.json
}
fire_next one.results
search -r one.results
is "$(grep -c 'goes round' "$ERR")" 0 "the second stage of a search has enough prompts"
fire_next two.results
trusted "the second stage of a search"
search -r one.results -r two.results
stderr_contains "60 of 60 requests send one of its 120 prompts again: a server's prefix cache makes these faster than prompts of users; 180 prompts are enough" "the third has none left"
is "$(head -1 run.sched | jq '.stages[0].sent_before')" 60 "the header counts the prompts sent before"
fire_next three.results
contains "$(jq -r "$samples | [.status, .detail] | join(\" \")" report.json)" "DOUBTFUL" "the verdict doubts the third stage of a search"
contains "$(jq -r "$samples | .detail" report.json)" "60 of 60 responses are to prompts sent in earlier runs of the search" "the verdict says which prompts earlier runs sent"
is "$(jq "$samples | .prompts_of_earlier_runs" report.json)" 60 "the verdict counts the prompts of earlier runs"
search -r one.results -r two.results -r three.results
status_is 10 "the search ends with its answer"
contains "$(cat "$OUT")" "; 60 of 180 requests sent a prompt again" "the answer counts repeated prompts"
contains "$(cat "$OUT")" ": 180 prompts are enough (ipf-prep -n), or --new-prompts" "the answer says how many prompts are enough"
with_cache() { # RESULTS TOKENS: the server had so many of 100 tokens of each prompt in its cache
	sed '1d;$d' "$1" | command jq -c --argjson cached "$2" 'if .n != null then .input_tokens = 100 | .cached_tokens = $cached else . end' >rows
	seal "$1" rows >"cache-$1"
}
with_cache one.results 0
with_cache two.results 0
with_cache three.results 90
search -r cache-one.results -r cache-two.results -r cache-three.results
contains "$(cat "$OUT")" "; 1 stage does not count: the server had its prompts in its cache" "a stage of a warm cache does not count"
with_cache three.results 0
search -r cache-one.results -r cache-two.results -r cache-three.results
is "$(grep -c "not count" "$OUT")" 0 "a stage whose cache finds nothing counts"
search -r one.results -r two.results --new-prompts
is "$(grep -c again "$ERR")" 0 "--new-prompts gives the third stage its own prompts"
is "$(head -1 run.sched | jq -c '.stages[0] | [.copy, .sent_before]')" "[1,null]" "--new-prompts makes copies in the third stage"

# ---- parts ----
run ipf-report -f json run.results <(ipf-collect -q run.records | sed 's/"n":1,/"n":1, /')
is "$(jq "$samples | .repeated_prompts" "$OUT")" 120 "repeats of a run do not repeat each other's prompts"
for k in 1 2; do
	ipf-sched burst:n=20 --shard $k/2 -t ten.trace -q -o part.sched
	ipf-fire -q -u "$URL" -m sim -t ten.trace part.sched | ipf-collect -q -o part$k.results
done
run ipf-report -f json part1.results part2.results
is "$(jq "$samples | .repeated_prompts" "$OUT")" 10 "shards send one trace"
