#!/bin/bash
# Are the answers right under load? From canaries in the trace to the report: a server that is right, wrong when its cache is full, mixes
# requests up, has near ties, or cuts answers. Comparisons put answers before latencies.
. "$TESTS/tap.sh"
PATH=$BIN:$PATH

ipf-prep synthetic -q -n 120 --input-tokens 100 --output-tokens 30 --canaries 60 --repeats 30 --repeat-logprobs -o run.trace
ipf-sched -q alone constant:rate=300,n=180 alone -t run.trace -o run.sched

# ---- the schedule ----
plain run.sched | jq -r 'select(.n != null and .stage == 0) | .req' >first
plain run.sched | jq -r 'select(.n != null and .stage == 2) | .req' >last
is "$(wc -l <first)" 90 "the stage alone has the checked requests"
is "$(cmp first last)" "" "both stages alone have the same requests"
is "$(plain run.sched | head -1 | jq -c '[.stages[] | [.kind, .measured, .slots // 0, .drain // false]]')" \
	'[["alone",false,1,false],["constant",true,0,true],["alone",false,1,false]]' "a stage alone is not measured, and waits for the end of the load"
ipf-sched -q alone constant:rate=300,n=50 -t run.trace -o part.sched
is "$(plain part.sched | jq -s 'map(select(.n != null)) | (map(select(.stage == 1).req) | sort) as $load
	| map(select(.stage == 0).req) | length > 0 and all(. as $r | $load | bsearch($r) >= 0)')" true "the stage alone leaves out requests that the load does not send"
ipf-sched -q alone:n=3,times=2 constant:rate=300,n=180 -t run.trace -o times.sched
is "$(plain times.sched | jq -sc 'map(select(.n != null and .stage == 0).req) | .[:3] == .[3:]')" true "times= sends them again in the same order"
ipf-prep synthetic -q -n 5 -o none.trace
run ipf-sched alone -t none.trace
status_is 2 "a trace without checked requests is refused"
matches "$(cat "$ERR")" 'the trace has no canaries or repeated requests: see --canaries and --repeats of ipf-prep' "the message says how to get some"
run ipf-sched closed:users=1,n=3,overlap alone -t run.trace
status_is 2 "no stage overlaps one that is alone"

# ---- servers ----
measure() { # NAME ARGUMENTS OF ipf-sim…
	server_start --step-base 1ms "${@:2}"
	run ipf-fire -q -u "$URL" -m sim -t run.trace run.sched -o "$1.records"
	status_is 0 "$1: the run ends"
	kill "$SERVER"
	ipf-collect -q "$1.records" -o "$1.results"
	ipf-report -q -f json "$1.results" -o "$1.json"
}
figure() { jq -c "$2" "$1.json"; }
server_check() { jq -r '.verdict.checks[] | select(.name == "server_answers") | .status' "$1.json"; }

measure good
is "$(figure good '.answers | [.before, .load, .after | .canaries, .wrong, .compared // 0, .different // 0]')" \
	'[60,0,0,0,60,0,30,0,60,0,30,0]' "a good server answers alike alone, under load and after it"
is "$(server_check good)" OK "a good server is not accused"
is "$(figure good '.answers | [.pairs, .only_alone_right, .only_under_load_right, .p, .other_marks, .checked]')" '[60,0,0,1,0,90]' "each canary makes a pair"
is "$(figure good '.total.latency.ttft_ms.from_start.n')" 90 "checked requests are in no latency"
is "$(figure good '.total.requests.ok')" 180 "checked requests are part of the load"
run ipf-report --strict -q good.results
status_is 0 "--strict takes a good server"
run ipf-report --strict -q --slo p99:ttft=9s,e2e=9s -f json good.results
status_is 0 "checked requests miss no objective"
is "$(jq -c '.total.goodput | [.of, .good]' "$OUT")" '[90,90]' "checked requests are in no objective"
is "$(ipf-report export vllm -q good.results | jq .completed)" 90 "an export in another tool's form has none of them"
is "$(figure good '.total.tokens.output.n')" 90 "lengths of the workload are without them"

measure wrong --wrong 60%,above=30% --kv-blocks 200 --step-per-seq 1ms
is "$(figure wrong '.answers.before.wrong')" 0 "with room in its cache the server is right"
is "$(figure wrong '.answers | .load.wrong == .only_alone_right and .load.wrong > 10 and .p < 0.001')" true "wrong answers under load are found"
is "$(server_check wrong)" DOUBTFUL "wrong answers under load make a run doubtful"
matches "$(ipf-report -q wrong.results | tr -s ' \n' ' ')" 'canaries are wrong under load \([0-9.]+ %\), 0 of 120 alone: beyond chance' "the verdict says so"
run ipf-report --strict -q wrong.results
status_is 4 "--strict refuses wrong answers"
matches "$(cat "$ERR")" 'more canaries are wrong under load than alone, p = [0-9.e-]+ \(--strict\)' "--strict says why"
run ipf-report --strict -q wrong.json
status_is 4 "--strict refuses a saved report, too"
is "$(figure wrong '[.answers.kinds[] | .load] | add')" 60 "the kinds add up"
is "$(figure wrong '.answers | [.by_time, .by_in_flight] | map(map(.canaries) | add)')" '[60,60]' "the groups over time and load add up"

measure mixed --crosstalk 40%
is "$(figure mixed '.answers.other_marks > 0')" true "mixed-up answers are found"
is "$(server_check mixed)" DOUBTFUL "mixed-up answers make a run doubtful"
run ipf-report --strict -q mixed.results
matches "$(cat "$ERR")" 'answers are mixed up \(--strict\)' "--strict refuses mixed-up answers"

measure ties --near-ties 100%,load=2
is "$(figure ties '.answers.load | [.wrong, .different > 0, .different == (.near_ties // 0) and .clear == 0]')" '[0,true,true]' "differences at near ties are told as such"
is "$(figure ties '.answers | [.after.different // 0, .equal_tokens >= 0]')" '[0,true]' "the differences have a place, and are gone after the load"
is "$(server_check ties)" OK "differences alone never accuse"

measure cut --cut 80%,load=2
is "$(figure cut '.answers | .load.wrong > 10 and .load.canary.output_tokens < .before.canary.output_tokens')" true "cut answers are wrong, and shorter than alone"
is "$(server_check cut)" DOUBTFUL "cut answers make a run doubtful"

# ---- comparisons ----
run ipf-report compare good.results -- wrong.results
status_is 4 "a comparison with wrong answers has status 4"
matches "$(head -3 "$OUT" | tr -s ' \n' ' ')" 'new gives wrong answers: its latencies do not count' "wrong answers come before latencies"
run ipf-report compare -f json good.results -- wrong.results
is "$(jq -c '[.outcome, .answers.paired, .answers.p_worse < 0.001, .base.wrong_canaries]' "$OUT")" '["wrong answers",true,true,0]' "the comparison has the answers"
run ipf-report compare -f json wrong.results -- good.results
is "$(jq -c '[.outcome == "wrong answers", .answers.p_better < 0.001]' "$OUT")" '[false,true]' "a server with fewer wrong answers is not refused"
run ipf-report compare -f json good.results -- good.results
is "$(jq -c '[.outcome == "wrong answers", .answers.p_worse]' "$OUT")" '[false,1]' "equal answers are no difference"
run ipf-report compare good.results -- mixed.results
matches "$(cat "$OUT" | tr -s ' \n' ' ')" 'answers with the code of another request: base 0, new [1-9]' "a comparison names mixed-up answers"

# ---- for people ----
COLUMNS=80 ipf-report --full wrong.results >full.txt
is "$(LC_ALL=C.UTF-8 wc -L <full.txt | awk '{ print ($1 <= 80) }')" 1 "the report fits 80 columns"
matches "$(cat full.txt | tr -s ' ')" 'Wrong canaries by load' "the full report shows wrong canaries by load"
matches "$(ipf-report --section answers good.results | tr -s ' \n' ' ')" '60 canaries were sent alone and under load: 0 right only alone' "--section answers shows the pairs"
