#!/bin/bash
# The report's warnings, whatever its length, about counts a reader would otherwise misread.
. "$TESTS/tap.sh"
. "$TESTS/helpers/exchanges.sh"

of() { # EXCHANGE [option of ipf-report…]: its report
	jq -c '{ipf: "records", version: 1, tool: "by hand", target: "http://127.0.0.1", streamed: true, api: .,
		stages: [{name: "s", kind: "constant", spec: "constant:rate=1,n=1", begin_ns: 0, end_ns: 1000000000, arrivals: 1, first_n: 0, rate: 1, measured: true}]}' \
		"$TESTS/../lib/api/apis/${1%/*}.json" >probe.records
	echo '{"n":0}' >>probe.records
	records "$TESTS/data/apis/$1.json" >case.records
	shift
	ipf-collect -q case.records | ipf-report "$@" 2>&1 | tr -s ' \n' ' '
}
for api in openai-chat openai-responses gemini; do
	matches "$(of "$api/tokens-hidden")" '[0-9]+ tokens of 1 answer \([0-9]+ each\) were generated before the first event and not sent: TPOT does not count them' \
		"$api: tokens that were not sent"
done
for api in openai-chat anthropic-messages openai-responses; do
	matches "$(of "$api/text-unread")" '[12] of [23] events have text unread by the descriptor of the API' "$api: text that is not read"
done
matches "$(of openai-chat/text-unread)" 'the output tokens of 1 answer are content events, since no usage was understood' "tokens that are events"
is "$(of anthropic-messages/text-unread | grep -c 'since no usage')" 0 "the report says nothing of usage if there is one"
matches "$(of openai-chat/finish-abort)" '1 in-band' "a failure by its finish reason"
matches "$(ipf-collect --explain case.records 2>&1 | tr -s ' \n' ' ')" 'abort' "--explain shows the failed finish reason"
python3 "$TESTS/helpers/queue_results.py" 20:4 | jq -c 'if .n == 3 or .n == 5 then .finish = "content_filter" elif .n == 7 then .finish = "pause_turn" elif .n == 9 then .finish = "tool_calls" else . end' >ends.results
matches "$(ipf-report ends.results | tr -s ' \n' ' ')" 'ended 3 of [0-9]+ successful answers, [0-9.]+ %, by neither stop nor length: (content_filter 2, pause_turn 1|pause_turn 1, content_filter 2)' \
	"the report counts answers that neither stop nor length ended"
is "$(python3 "$TESTS/helpers/queue_results.py" 20:4 | ipf-report | grep -c 'neither stop')" 0 "the report of ordinary answers has no such count"
