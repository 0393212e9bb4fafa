#!/bin/bash
# Several URLs share the requests, and each record says which one it used: compared with the logs of the servers.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
. "$TESTS/fixture.sh"

server_start --log a.log --step-base 1ms
A=$URL
server_start --log b.log --step-base 1ms
B=$URL
server_start --log c.log --step-base 60ms
SLOW=$URL
ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens 6 -n 10 -q -o chat.trace
ipf-sched constant:rate=200,n=30 -t chat.trace -o chat.sched

fire() { # ARGUMENTS OF ipf-fire…: rows, and the shares in `shares`
	: >a.log
	: >b.log
	: >c.log
	run ipf-fire -m sim "$@"
	status_is 0 "ipf-fire $* ends with 0"
	requests "$OUT" >rows
	shares=$(jq -s -c '[group_by(.target)[] | length]' rows)
}
served() { grep -c '"status":200' "$1"; }

fire -t chat.trace chat.sched -u "$A" -u "$B" -u "$SLOW"
is "$shares" "[10,10,10]" "three servers get a third each"
is "$(jq -s -c 'sort_by(.start_ns) | [.[].target][0:6]' rows)" "[0,1,2,0,1,2]" "servers take requests in turn"
is "$(served a.log) $(served b.log) $(served c.log)" "10 10 10" "servers log the requests that the records say"
is "$(head -1 "$OUT" | jq -c '[.targets, .balance, .target]')" \
	"$(jq -nc --arg a "$A" --arg b "$B" --arg c "$SLOW" '[$a, $b, $c] | map(. + "/v1/chat/completions") | [., "round-robin", join(", ")]')" \
	"the header names them"
ipf-collect -q "$OUT" -o chat.results
is "$(body chat.results |
	jq -s -c '[map(select(.n != null)) | group_by(.target)[] | length]')" "[10,10,10]" "results have the server of every request"

# The report distinguishes the servers.
ipf-report -f json chat.results >report.json
is "$(jq -c '[.total.by_target | to_entries[] | [.key, .value.requests.ok, .value.requests.failed]]' report.json)" \
	"$(jq -nc --arg a "$A" --arg b "$B" --arg c "$SLOW" '[$a, $b, $c] | map([. + "/v1/chat/completions", 10, 0])')" "the report has figures of every server"
for metric in tpot_ms=tpot_ns e2e_ms.from_start=e2e_ns; do
	is "$(jq -c "[.total.by_target[].latency.${metric%=*}.max * 1e6 | round]" report.json)" \
		"$(body chat.results | jq -s -c "[map(select(.n != null)) | group_by(.target)[] | map(.${metric#*=}) | max | round]")" "the figures of a target are of its own requests: ${metric%=*}"
done
is "$(jq -c '[.total.by_target[].latency.tpot_ms.n] | add' report.json)" "$(jq -c .total.latency.tpot_ms.n report.json)" "requests of all targets together are the total's"
run ipf-report --by target chat.results
status_is 0 "--by target ends with 0"
for url in "$A" "$B" "$SLOW"; do
	is "$(grep -c "^  ${url#http://} " "$OUT")" 2 "--by target names $url in both tables"
done
run ipf-report --by model chat.results
is "$(grep -c "^  ${A#http://} " "$OUT")" 0 "--by model names no target"

fire --threads 3 -t chat.trace chat.sched -u "$A" -u "$B" -u "$SLOW"
is "$shares" "[10,10,10]" "several sending threads take turns together"

# While the slow one keeps a user waiting, the other user is the only one at the fast one.
ipf-sched closed:users=2,n=30 -t chat.trace -o two.sched
fire -t chat.trace two.sched -u "$A" -u "$SLOW" --balance least
yes_if "--balance least: the server that answers sooner gets more" jq -se 'map(select(.target == 0)) | length > 15' rows
is "$(served a.log)" "$(jq -s 'map(select(.target == 0)) | length' rows)" "the faster server logs the requests that it got"

ipf-prep sharegpt "$ROOT/examples/chat.json" --turns all --wait 1ms --output-tokens 6 -q -o talk.trace
ipf-sched burst -t talk.trace -q -o talk.sched
fire -t talk.trace talk.sched -u "$A" -u "$B" --balance session
at_least "$(jq -s 'map(.session) | unique | length' rows)" 4 "the trace has four or more sessions"
is "$(jq -s -c 'group_by(.session) | map(map(.target) | unique | length) | unique' rows)" "[1]" "--balance session keeps every session on one server"
is "$(jq -s -c 'map(.target) | unique' rows)" "[0,1]" "--balance session uses both servers"
cp rows first
fire -t talk.trace talk.sched -u "$A" -u "$B" --balance session
is "$(jq -s -c 'sort_by(.n) | map(.target)' rows)" "$(jq -s -c 'sort_by(.n) | map(.target)' first)" "--balance session gives a session the same server in the next run"

fire -t chat.trace chat.sched -u "$A"
is "$(jq -c '.target' rows | sort -u)" "null" "rows of a single URL have no index"
is "$(head -1 "$OUT" | jq -c '[.targets, .balance]')" "[null,null]" "the header of a single URL has no list"

# $model in the path.
jq -n '{like: "openai-chat", name: "mine", path: "/v1/chat/completions?model=$model"}' >mine.json
fire --api ./mine.json -t chat.trace chat.sched -u "$A" -u "$B"
is "$shares $(served a.log) $(served b.log)" "[15,15] 15 15" "URLs with the model of a request are shared between servers"

run ipf-fire -q -u "$A" -u "$B" -t chat.trace chat.sched --balance random
status_is 2 "--balance random ends with 2"
complains ipf-fire '--balance: expected round-robin, least or session, got "random"' "ipf-fire says what --balance may be"
server_stop
run ipf-fire -q -u "$A" -u "$SLOW" -t chat.trace chat.sched
status_is 1 "a server that is not there"
complains ipf-fire "$SLOW/v1/chat/completions: cannot connect" "a missing server is named"
run ipf-fire -q -u "$A" -u "$SLOW" -t chat.trace chat.sched --wait-ready 2s
status_is 1 "--wait-ready waits for all"
complains ipf-fire "$SLOW/v1/chat/completions: not ready" "--wait-ready names the server that is not ready"
