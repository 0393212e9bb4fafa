#!/bin/bash
# ipf-report export twin: what is no run of one server gives a reason and no twin. (unit/test_report_twin_fit.c holds what is fitted against
# servers whose parameters are known.)
. "$TESTS/tap.sh"
data=$TESTS/data/report
report=$BIN/ipf-report

refused() { # TEXT REASON RESULTS…
	local text=$1 reason=$2
	shift 2
	run "$report" export twin -q "$@"
	status_is 3 "no twin of $text"
	complains ipf-report "$reason" "in a line that says why"
	is "$(cat "$OUT")" "" "and nothing is written"
}
refused "a run without the times of events" "closed.results: a twin requires the times of all events, which 16 of 16 requests do not have (ipf-collect --events)" \
	"$data/closed.results"
refused "a run that is INVALID" "errors.results: no twin of a run whose verdict is INVALID (server_answers)" "$data/errors.results"
refused "an empty one" "empty.results: no twin of a run whose verdict is INVALID (load_delivered)" "$data/empty.results"

# One request has too few gaps between tokens.
server_start --step-base 2ms
"$BIN/ipf-prep" synthetic -q -n 1 --input-tokens 20 --output-tokens 8 -o trace
"$BIN/ipf-sched" -q closed:users=1,n=1 -t trace -o schedule
"$BIN/ipf-fire" -q -m sim -u "$URL" -t trace schedule 2>"$ERR" | "$BIN/ipf-collect" -q --events -o one.results
refused "one request" "one.results: too little for a twin: 7 gaps between tokens, 50 are needed" one.results

# A run of some length has one, whatever the machine is doing meanwhile.
"$BIN/ipf-prep" synthetic -q -n 20 --input-tokens uniform:20-300 --output-tokens 20 -o trace
"$BIN/ipf-sched" -q closed:users=4,n=20 -t trace -o schedule
"$BIN/ipf-fire" -q -m sim -u "$URL" -t trace schedule 2>"$ERR" | "$BIN/ipf-collect" -q --events -o some.results
run "$report" export twin -q some.results
status_is 0 "a twin of 20 requests"
is "$(jq -c '[.ipf, .version, .model, .fit.requests, (.from | length), (.from[0].target | startswith("http://127.0.0.1"))]' "$OUT")" \
	'["twin",1,"sim",20,1,true]' "names its runs"
is "$(jq -c '.parameters | map(select((.value == null) == (.not_known == null))) | length' "$OUT")" 0 "each parameter has a value, or a reason why not"
is "$(jq -c '.parameters | map(select(.value != null and (.low > .value or .high < .value))) | length' "$OUT")" 0 "and an interval around it"
server_stop
