#!/bin/bash
# Sessions with branches: the parents of requests go from the trace to the report, which shows how many were in flight at the same time and follows
# the critical path. A session of known structure for real, and random graphs of requests, are both computed a second time.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
export IPF_REPORT_FULL=1 # all sections of the text
command -v python3 >/dev/null || skip_all "python3 is not installed"

# Distributions of which ipf-report does not have the script's figures: number, mean and most, to a millionth.
compare_with_script() { # RESULTS WHAT
	ipf-report -f json "$1" >said.json
	python3 "$TESTS/helpers/session_graph.py" "$1" >truth.json
	is "$(jq -n -c --slurpfile said said.json --slurpfile truth truth.json '[$truth[0] | to_entries[] | .key as $name | $said[0].sessions[$name] as $ours |
		select(([.value, [$ours.n, $ours.mean, $ours.max]] | transpose | map((.[0] - (.[1] // -9)) | fabs) | max) > 2e-6) | $name]')" "[]" "sessions of JSON are those of the script: $2"
}

# A main request, three branches, of which the second goes on, and a join of all of them.
jq -n -c 'range(3) | "s\(.)" as $s | ["plan", [], 3], ["left", ["plan"], 20], ["middle", ["plan"], 30], ["right", ["plan"], 20], ["deeper", ["middle"], 30],
		["join", ["left", "deeper", "right"], 3] | {id: "\($s)/\(.[0])", session: $s, messages: [{role: "user", content: .[0]}], input_tokens: 5, output_tokens: .[2]}
		+ if .[1] == [] then {} else {wait_ns: 0, parents: [.[1][] | "\($s)/\(.)"]} end' >lines
trace_of lines >b.trace
server_start --step-base 2ms
run ipf-sched constant:rate=20,n=3 -t b.trace -q -o b.sched
status_is 0 "a schedule of sessions with branches"
ipf-fire -q -u "$URL" -m sim -t b.trace b.sched -o b.records || not_ok "branches are sent to the server"
ipf-collect -q b.records -o b.results
body b.results | jq -c 'select(.n != null) | [.n, .after]' | sort >waited
body b.sched | jq -c 'select(.n != null) | [.n, .after]' | sort >wanted
same wanted waited "results say what each request waited for, as the schedule has it"
is "$(body b.records | jq -c 'select(.n != null) | [.n, .after]' | sort)" "$(cat wanted)" "records as well"
compare_with_script b.results "a script computes the same of a run at a server"
# In virtual time all branches begin when they can.
twin server.twin step_base_ns=2000000 step_per_sequence_ns=0
ipf-twin predict -q server.twin -t b.trace b.sched -o virtual.records || not_ok "branches are sent in virtual time"
ipf-collect -q virtual.records -o b.results
ipf-report -f json b.results >b.json
is "$(jq -c '.sessions | [.requests_each.max, .requests_on_path.min, .requests_on_path.max, .in_flight_most.min, .in_flight_most.max]' b.json)" "[6,4,4,3,3]" \
	"four of six requests are on the critical path, three were in flight at the same time"
is "$(jq -c '.sessions | [.waits_for.n, .waits_for.mean, .waits_for.max, .waited_by.n, .waited_by.mean, .waited_by.max]' b.json)" "[15,1.4,3,15,1.4,3]" \
	"five requests of a session wait for seven, and five are waited for"
is "$(jq -c '.sessions | .parallelism.min > 1 and .parallelism.max < 2' b.json)" true "branches save less than half of the time"
compare_with_script b.results "a script computes the same of a run in virtual time"
ipf-report b.results >b.txt
contains "$(tr -s ' \n' ' ' <b.txt)" "at most 3 requests of a session in flight at the same time" "the report says so"
contains "$(tr -s ' \n' ' ' <b.txt)" "a request waits for up to 3 others; up to 3 for the same one" "the report says how requests wait"

# Conversations without branches.
ipf-prep synthetic -q -n 6 --turns 3 --input-tokens 20 --output-tokens 3 -o t.trace
ipf-sched -q -t t.trace closed:users=2 | ipf-fire -q -u "$URL" -m sim -t t.trace | ipf-collect -q -o t.results
is "$(ipf-report -f json t.results | jq -c '.sessions | [.requests_on_path.max, has("in_flight_most"), has("waits_for")]')" "[3,false,false]" "turns that follow each other have no branches"
server_stop

# A branch ending before another began, but not its parent: only the results can show it.
jq -c '.stages = [{"name":"agents","kind":"constant","spec":"x","begin_ns":0,"end_ns":10000000000,"arrivals":4,"first_n":0,"measured":true}]
	| .from[0].from[0].stages = .stages' <(head -1 "$TESTS/data/report/one.results") >header
ms() { # N START END AFTER
	jq -nc --argjson n "$1" --argjson start "$2" --argjson until "$3" --argjson after "$4" '{n: $n, req: $n, stage: 0, session: "a"}
		+ if $after == [] then {} else {after: $after} end + {ok: true, due_ns: ($start * 1e6), ready_ns: ($start * 1e6), start_ns: ($start * 1e6),
		end_ns: ($until * 1e6), lag_ns: 0, client_lag_ns: 0, e2e_ns: (($until - $start) * 1e6), output_tokens: 5}'
}
{ ms 0 0 100 '[]' && ms 1 100 250 '[0]' && ms 2 100 390 '[0]' && ms 3 400 600 '[1]'; } >body
seal header body >told.results
jq -c 'del(.after)' body >untold
seal header untold >untold.results
is "$(ipf-report -f json told.results | jq -c '.sessions | [.think_s.max, .model_s.max, .parallelism.max | . * 1e3 | round]')" '[150,450,1644]' "the path goes to what it waited for"
is "$(ipf-report -f json untold.results | jq -c '.sessions | [.think_s.max, .model_s.max, .parallelism.max | . * 1e3 | round]')" '[10,590,1254]' "else to the latest end"
is "$(ipf-report -f json untold.results | jq -c '.sessions | has("waits_for")')" false "sessions without parents have no figures of waiting"

for seed in 1 2 3 4 5 6 7 8; do
	python3 "$TESTS/helpers/session_graph.py" --random $seed >body
	seal header body >random.results
	compare_with_script random.results "random graphs, seed $seed"
done
