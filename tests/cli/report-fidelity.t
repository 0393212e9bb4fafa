#!/bin/bash
# How faithful a replay was (--trace): 1.000 as recorded, and less, with the cause named, for each thing that is put in its way. One run
# against the simulated server; faults are put into its rows, so no machine decides how late a request was. Then a stopped client, and
# routing over replicas.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
export IPF_REPORT_FULL=1 # all sections of the text
. "$TESTS/fixture.sh"

# Twenty requests, 50 ms apart, that share a prefix, and five conversations of three turns: a pause of 20 ms after each answer.
python3 - >lines <<'END2'
import json
import random

rng = random.Random(7)
words = lambda tokens: "".join(rng.choice("abcdefgh") for _ in range(4 * tokens))
shared = words(64)
lines = []
for k in range(20):
    lines.append({"id": f"r{k}", "messages": [{"role": "user", "content": shared + words(30)}], "input_tokens": 94, "output_tokens": 6,
                  "at_ns": k * 50_000_000})
for s in range(5):
    past = 0
    for turn in range(3):
        new = 64 if turn == 0 else 20
        past += new
        line = {"id": f"s{s}/{turn}", "messages": [{"role": "user", "content": words(new)}], "input_tokens": past, "output_tokens": 5, "session": f"s{s}",
                "turn": turn, "answer": words(5), "context": "session"}
        line.update({"at_ns": 1_000_000_000 + s * 50_000_000} if turn == 0 else {"wait_ns": 20_000_000})
        lines.append(line)
        past += 5
for line in lines:
    print(json.dumps(line))
END2
trace_of lines >a.trace
server_start --step-base 100us --step-per-seq 0 --prefill-rate 100M
ipf-sched -q replay -t a.trace -o a.sched
ipf-fire -q -m sim -u "$URL" -t a.trace a.sched | ipf-collect -q -o run.results
requests run.results >rows
plain run.results | head -1 >header

# A busy machine is taken out of it: each request starts when due, and later turns are due as recorded.
jq -s -c 'sort_by(.n) | reduce .[] as $r ([]; . + [($r | (.end_ns - .start_ns) as $took | (.ttft_ns // 0) as $first |
	(if (.turn // 0) > 0 then 0 else .due_ns end) as $due | .due_ns = $due | .start_ns = $due | .end_ns = $due + 2000000 | .ttft_ns = 1000000 |
	.lag_ns = 0 | .client_lag_ns = 0 | (if .turn == null then .cached_tokens = (if .n == 0 then 0 else 64 end) else . end) | del(.slot_wait_ns, .pool_wait_ns))]) |
	[range(length) as $i | .[$i] | if (.turn // 0) > 0 then .moved = true else . end] |
	reduce .[] as $r ([]; . + [if $r.moved then (.[-1].end_ns + 20000000) as $due | $r | .due_ns = $due | .start_ns = $due | .end_ns = $due + 2000000 | del(.moved)
	else $r end]) | .[]' rows >exact
# FILTER changes rows: the fidelity with three decimals, and its causes
fidelity() { # FILTER ARGUMENTS OF ipf-report…
	jq -c "$1" exact >changed
	seal header changed >changed.results
	ipf-report -f json --trace a.trace "${@:2}" changed.results | jq -c '.fidelity | [(.value * 1000 | floor), ((.causes // {}) | keys_unsorted | join(" "))]'
}

is "$(fidelity .)" '[1000,""]' "a replay as recorded"
is "$(ipf-report -f json --trace a.trace changed.results | jq -c '.fidelity | [.requests, .speed, .judged.input, .judged.output, .judged.prefix, has("worst")]')" \
	'[35,1,true,true,true,false]' "fidelity judges every recorded property"
is "$(ipf-report --trace a.trace changed.results | grep -A1 '^Fidelity')" "Fidelity      1.000 of a replay as recorded: 35 requests" "the text has the fidelity in one line"
# 1 s late beyond the tolerance counts half: 7 of 35 requests (those sharing with others) lose 0.1 in all.
late='(if .n > 12 and .turn == null then .start_ns += 1010000000 | .end_ns += 1010000000 | .lag_ns = 1010000000'
is "$(fidelity "$late | .slot_wait_ns = 1010000000 else . end)")" '[900,"slots"]' "a limit of slots"
is "$(fidelity "$late | .client_lag_ns = 1010000000 else . end)")" '[900,"client"]' "a slow client"
is "$(fidelity "$late | .slot_wait_ns = 505000000 | .client_lag_ns = 505000000 else . end)")" '[900,"slots client"]' "slots and client in equal parts cause the loss"
is "$(ipf-report -f json --trace a.trace changed.results | jq -c '.fidelity | [.causes[].loss * 1e6 | round], (.worst | map(.cause) | unique), .causes.slots.late_ms')" \
	"$(printf '[50000,50000]\n["slots"]\n505')" "JSON has the loss of slots and client"
jq -c 'del(.. | objects | select(.kind? == "replay").speed)' header >speedless
cp header own.header && cp speedless header
is "$(fidelity '.due_ns *= 2 | .start_ns *= 2 | .end_ns *= 2')" '[1000,""]' "another even speed loses nothing"
cp own.header header
is "$(fidelity '.input_tokens_usage *= 2')" '[500,"input"]' "another tokenizer loses fidelity of the input"
is "$(fidelity '.output_tokens = 3 | .asked_output_tokens = 6' | jq -c '.[1]')" '"output"' "other answers lose fidelity of the output"
is "$(fidelity 'if .n == 3 then .ok = false | .error = {kind: "timeout"} else . end')" '[971,"failed"]' "a failure loses fidelity"
is "$(fidelity 'select(.n != 3)')" '[971,"unsent"]' "a request that was not sent"
is "$(fidelity 'if .turn == 1 then .start_ns -= 21000000 else . end' | jq -c '.[1]')" '"causality"' "a turn before the answer"
is "$(fidelity 'if .turn == 2 then .start_ns += 500000000 | .end_ns += 500000000 else . end' | jq -c '.[1]')" '"schedule"' "a pause that is too long"
is "$(fidelity 'if .cached_tokens then .cached_tokens = 0 else . end' | jq -c '.[1]')" '"prefix"' "a cache that was lost"
# The same cache, when every other request goes to another replica: the hits that only that one had are lost on the way, not by
# the cache.
is "$(fidelity 'if .cached_tokens then .cached_tokens = 0 | .replica = (if .n == 1 then "b" else "a" end) else .replica = "a" end' |
	jq -c '.[1]')" '"routing prefix"' "a lost prefix on another replica names routing and prefix"
is "$(fidelity 'if .n == 1 then .cached_tokens = 0 | .replica = "b" else .replica = "a" end' | jq -c '.[1]')" '"routing"' "a prefix on another replica"
is "$(fidelity '.replica = (if .n % 2 == 1 then "a" else "b" end)' | jq -c '.[1]')" '""' "replicas alone lose nothing"
is "$(fidelity 'if .turn then .end_ns += 700000000 * (.turn + 1) | .start_ns += 700000000 * .turn | .due_ns = .start_ns else . end')" '[1000,""]' \
	"a slower server is no loss"
ipf-report --trace a.trace run.results >text
is "$(grep -c -E '^Fidelity +[01]\.[0-9]{3} of a replay as recorded: 35 requests' text)" 1 "the run itself"

# ---- in fact: a client that does not run for a second of nine, and a conversation whose turns go to two replicas in turn ----
python3 - >later <<'END2'
import json

for k in range(30):
    print(json.dumps({"id": f"r{k}", "prompt": "x", "input_tokens": 1, "output_tokens": 1, "at_ns": k * 300_000_000}))
END2
trace_of later >b.trace
ipf-sched -q replay -t b.trace -o b.sched
causes() { # TRACE RESULTS: the causes among those that no machine brings about
	ipf-report -f json --trace "$1" "$2" | jq -c '[(.fidelity.causes // {}) | keys_unsorted[]] - ["schedule"] | join(" ")'
}
sent() { grep -c '"n":' b.records; }
answered() { [ "$(sent)" -ge "$1" ] || ! kill -0 "$fire" 2>/dev/null; }
ipf-fire -q --force --api openai-completions -m sim -u "$URL" -t b.trace b.sched -o b.records &
fire=$!
stop_at_exit $fire
wait_for answered 1
kill -STOP $fire
sleep 1
kill -CONT $fire
wait $fire
ipf-collect -q b.records -o b.results
is "$(causes b.trace b.results)" '"client"' "a client that was stopped"
is "$(ipf-report -f json --trace b.trace b.results | jq -c '.fidelity | [.value < 1, .causes.client.late_ms > 10, .causes.client.requests > 0]')" \
	"[true,true,true]" "a stopped client loses what it was late"
python3 - >talk.lines <<'END2'
import json

for turn in range(4):
    line = {"id": f"t{turn}", "messages": [{"role": "user", "content": f"{turn}, and more: " * 40}], "output_tokens": 3, "session": "t", "turn": turn,
            "answer": "One two.", "context": "session"}
    print(json.dumps(line | ({"wait_ns": 1_000_000} if turn else {"at_ns": 0})))
END2
trace_of talk.lines >talk.trace
ipf-sched -q replay -t talk.trace -o talk.sched
first=$URL
for balance in round-robin session; do
	server_start --step-base 100us --step-per-seq 0 --prefill-rate 100M
	ipf-fire -q -m sim -u "$first" -u "$URL" --balance $balance -t talk.trace talk.sched | ipf-collect -q -o $balance.results
	server_stop
done
lost() { ipf-report -f json --trace talk.trace "$1" | jq -c '.fidelity.causes // {} | [(.routing.requests // 0) > 0, has("prefix")]'; }
is "$(lost round-robin.results)" "[true,false]" "turns that go to two replicas"
is "$(lost session.results)" "[false,false]" "sessions on one replica lose nothing"

# Sessions that were all recorded from one moment on show no speed: the schedule says it. In virtual time, where nothing is late.
python3 - >talks.lines <<'END2'
import json

for session in range(6):
    for turn in range(4):
        line = {"id": f"{session}/{turn}", "messages": [{"role": "user", "content": f"{session} {turn} " * 9}], "input_tokens": 9, "output_tokens": 4,
                "session": str(session), "turn": turn, "answer": "One two.", "context": "session"}
        print(json.dumps(line | ({"wait_ns": 1_200_000_000} if turn else {"at_ns": 0})))
END2
trace_of talks.lines >talks.trace
twin server.twin step_base_ns=2000000 step_per_sequence_ns=0
for speed in 4 1 0.5; do
	ipf-sched -q replay:speed=$speed -t talks.trace | ipf-twin predict -q server.twin -t talks.trace | ipf-collect -q -o talks.results
	is "$(ipf-report -f json --trace talks.trace talks.results | jq -c '.fidelity | [.value > 0.999, .speed]')" "[true,$speed]" \
		"think times are divided by the speed $speed, and judged so"
	rm talks.results
done

# Unknown fidelity: rows of earlier versions, loads that are no replay.
is "$(fidelity 'del(.input_tokens_usage, .output_tokens, .cached_tokens, .client_lag_ns)')" '[1000,""]' "absent fields lose nothing"
is "$(ipf-report -f json --trace a.trace changed.results | jq -c '.fidelity.judged')" '{"input":false,"output":false,"prefix":false}' "JSON says which properties are not judged"
sed 's/"kind":"replay"/"kind":"constant"/g' header >other.header
seal other.header exact >other.results
is "$(ipf-report -f json --trace a.trace other.results | jq -c .fidelity)" '{"absent":"no measured stage replays requests of the trace"}' "a load that is no replay"
fidelity "$late | .slot_wait_ns = 1010000000 else . end)" >/dev/null
matches "$(ipf-report --trace a.trace changed.results)" '^      7 requests were held back by slots or connections, for' "the text names the cause"
is "$(ipf-report -f html --trace a.trace changed.results | grep -c -e 'id="fidelity-table' -e 'id="fidelity-worst-table')" 2 "the page has the tables of fidelity"
