#!/bin/sh
# Why requests failed: the line at the end of a run, the report's errors as text and as JSON.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
. "$TESTS/fixture.sh"

server_start -m sim
small_run 30
run ipf-fire -u "$URL" -m nope -t chat.trace chat.sched -o r.records
status_is 0 "a run in which everything failed"
is "$(cat "$ERR")" "ipf-fire: all 30 requests failed by status (30 http-status): 404 ×30: The model \`nope\` does not exist. (-m names the model)" "ipf-fire says why all requests failed"
run ipf-collect r.records -o r.results
is "$(cat "$ERR")" "ipf-collect: all 30 requests failed (30 http-status): 404 ×30: The model \`nope\` does not exist. (-m names the model)" "ipf-collect says why all requests failed"
run ipf-collect -q r.records -o r.results
is "$(cat "$ERR")" "" "ipf-collect -q suppresses the line on failures"
run ipf-report r.results
contains "$(cat "$OUT")" "404 ×30     The model \`nope\` does not exist." "the report has the text with its count"
contains "$(cat "$OUT")" "-m names the model" "the report has the hint"
run ipf-report -f json r.results
is "$(jq -c .errors "$OUT")" '[{"kind":"http-status","status":404,"count":30,"text":"The model `nope` does not exist.","hint":"-m names the model"}]' "JSON has the error with its hint"
run ipf-fire -q -u "$URL" -m nope -t chat.trace chat.sched -o r.records
is "$(cat "$ERR")" "" "-q suppresses the line"
run ipf-fire -u "$URL" -m sim -t chat.trace chat.sched -o r.records
is "$(cat "$ERR")" "" "ipf-fire has no message if no request failed"
run ipf-fire -u "$URL" -m sim -t chat.trace chat.sched -o r.records --cancel 50%@1ms
is "$(cat "$ERR")" "" "a disconnect on purpose is no failure"

# every error by a mode of the server, which a request asks for
mode() { # MODE: a run in which requests meet it
	run ipf-fire -u "$URL" -m sim -t chat.trace chat.sched -o r.records ${1:+-H "X-Sim: $1"}
	cp "$ERR" line
	run ipf-collect r.records -o r.results
	cp "$ERR" total
	run ipf-report -f json r.results
}
mode 'status;code=429'
matches "$(cat line)" '^ipf-fire: all 30 requests failed .*429 ×30.*\(a lower rate' "429: a lower rate"
is "$(jq -c '.errors | map([.status, .count])' "$OUT")" '[[429,30]]' "JSON has the count of status 429"
server_start -m sim --fail 'status:code=503,share=0.5'
mode ''
matches "$(cat line)" '^ipf-fire: [0-9]+ of 30 requests failed .*503 ×' "some failed: how many of how many"
is "$(wc -l <line)" 1 "ipf-fire reports some failures in one line"
server_start -m sim --fail 'error-inband:share=0.8' --fail 'reset:share=0.3,after=2'
mode ''
matches "$(cat line)" '^ipf-fire: [0-9]+ of 30 requests failed in transport \([0-9]+ reset\): reset ×' "ipf-fire knows of no errors within a 200"
inband=$(jq '[.errors[] | select(.kind == "in-band") | .count] | add' "$OUT") reset=$(jq '[.errors[] | select(.kind == "reset") | .count] | add' "$OUT")
matches "$(cat total)" "^ipf-collect: $((inband + reset)) of 30 requests failed \(($inband in-band, $reset reset|$reset reset, $inband in-band)\): most often (in-band|reset) ×" \
	"ipf-collect says how many there were, and why"
is "$(wc -l <total)" 1 "ipf-collect reports failures in one line"
server_start -m sim
mode 'error-inband'
is "$(cat line)" "" "ipf-fire says nothing of errors within a 200"
is "$(jq -c '.errors | map([.kind, .count])' "$OUT")" '[["in-band",30]]' "an error within a 200"
is "$(jq '.errors[0].text | length > 0' "$OUT")" true "JSON has the text of an error within a 200"
