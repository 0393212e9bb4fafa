#!/bin/bash
# Connections ending after the end mark of an answer, but before the end of the HTTP response: the answer counts, and both ipf-fire and
# the report say how its connection ended. One ending before the end mark is a failure for both.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

command -v python3 >/dev/null || skip_all "python3 is not installed"
ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens 12 -n 10 -q -o chat.trace
ipf-sched burst:n=4 -t chat.trace -q -o chat.sched

row() { printf -- '-\t%s\traw request ; %s\n' "$1" "$2"; }
lines='{"model":"m","message":{"content":"a"},"done":false}\n{"model":"m","message":{"content":""},"done":true,"eval_count":1}\n'
{
	row chunk "say \$HEAD ; chunk \$EVENT\$LAST\$DONE ; close"
	row reset "say \$HEAD ; chunk \$EVENT\$LAST\$DONE ; wait 2000 ; reset" # long after the client has read it
	row length "say HTTP/1.1 200 OK|Content-Length: 4000||$lines ; close"
	row before "say \$HEAD ; chunk \$EVENT ; close"
	row inband "say \$HEAD ; chunk data: {\"error\":{\"message\":\"no memory\"}}\\n\\n\$DONE ; close"
	row whole "say \$HEAD ; chunk \$EVENT\$LAST\$DONE ; say 0|| ; close"
	row held "say \$HEAD ; chunk \$EVENT\$LAST\$DONE ; hold"
	printf -- '-\th2\traw h2 ; h2request ; head ; data $EVENT$LAST$DONE ; close\n'
} >scripts
scripts_start

# A run against the script NAME, and its results: the lines of both programs; `report.json`; text of the errors.
trial() { # NAME ARGUMENTS OF ipf-fire…
	run ipf-fire -u "$(script_url "$1")" -m sim -t chat.trace chat.sched -o r.records "${@:2}"
	cp "$ERR" fire.err
	run ipf-collect r.records -o r.results
	cp "$ERR" collect.err
	ipf-report -f json r.results >report.json
	ipf-report --full --section errors r.results >errors.txt
}
said="the connection of 4 of 4 responses ended after the end mark, but before the end of the HTTP response: these answers are complete"
# The answers count, and KIND is how their connection ended for HTTP.
counts() { # NAME KIND ARGUMENTS OF ipf-fire…
	trial "$1" "${@:3}"
	matches "$(plain r.records | jq -r '.error.kind | values' | sort -u | paste -sd ,)" "^($2)$" "$1: the records have how the connections ended"
	is "$(cat fire.err)" "ipf-fire: $said" "$1: ipf-fire says how the connections ended, and no more"
	is "$(cat collect.err)" "" "$1: no request failed"
	is "$(jq -c '[.total.requests.ok, .total.requests.failed]' report.json)" "[4,0]" "$1: the answers count"
	is "$(jq -r '.transport[] | select(.finding == "early-ends").detail' report.json)" "$said" "$1: the report says the same"
	is "$(tr -s ' \n' ' ' <errors.txt | grep -cF "$said")" 1 "$1: the report's errors say the same"
}
counts chunk cut
counts reset reset
counts length cut --api ollama-chat
counts held timeout --timeout 5s
is "$(jq -cS '.transport[] | select(.finding == "early-ends") | [.affected, .of, .evidence]' report.json)" '[4,4,{"cut":0,"other":4,"reset":0}]' \
	"the finding counts them by error"
# bytes sent by the client and not read by the server make a reset of the end
counts h2 "cut|reset|cut,reset" --http 2-prior --connections fresh
is "$(jq -c '.transport[] | select(.finding == "early-ends") | [.affected, .of, (.evidence | .cut + .reset)]' report.json)" '[4,4,4]' "h2: the finding counts them by error"

trial before
matches "$(cat fire.err)" '^ipf-fire: all 4 requests failed in transport \(4 cut\)' "ipf-fire counts an end before the end mark as a failure"
matches "$(cat collect.err)" '^ipf-collect: all 4 requests failed \(4 cut\)' "ipf-collect counts an end before the end mark as a failure"
is "$(jq -c '[.transport[]? | select(.finding == "early-ends")]' report.json)" '[]' "an end before the end mark gives no finding"
trial inband
matches "$(cat collect.err)" '\(4 in-band\).*no memory' "an error before the end mark is the server's"
is "$(jq -c '[.transport[]? | select(.finding == "early-ends")]' report.json)" '[]' "an error before the end mark gives no finding of early ends"
trial whole
is "$(cat fire.err)" "" "a whole response is nothing to speak of"
is "$(jq -c '[.transport[]? | select(.finding == "early-ends")]' report.json)" '[]' "a whole response gives no finding"

# ---- while it runs ----
ipf-sched constant:rate=200,n=40 -t chat.trace -q -o forty.sched
run ipf-fire -u "$(script_url chunk)" -m sim -t chat.trace forty.sched -v --stop-on errors=2 -o r.records
status_is 0 "answers that are complete stop no run that stops on errors"
contains "$(cat "$ERR")" "40 requests started" "early ends after complete answers leave all requests sent"
contains "$(cat "$ERR")" ", 0 failed" "early ends after complete answers count none as failed"
run ipf-fire -u "$(script_url before)" -m sim -t chat.trace forty.sched -v -o r.records
contains "$(cat "$ERR")" ", 40 failed" "answers that are cut are counted as failed"
is "$(plain r.records | jq -s '[.[] | .client.failed | values] | last // 40')" 40 "records count cut answers as failed"
