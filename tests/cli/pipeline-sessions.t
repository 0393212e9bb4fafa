#!/bin/bash
# Conversations of several turns: a turn is sent after the answer to the one before it, with the whole history.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

server_start --log server.log
run ipf-prep sharegpt "$ROOT/examples/chat.json" --turns all --output-tokens 20 --sessions 25 -o chat.trace
status_is 0 "whole conversations become sessions"
body chat.trace |
	jq -s -c 'map(select(.session)) | group_by(.session)[] | [length, (map(.turn) == [range(length)])]' >sessions
matches "$(cat sessions)" '^\[[2-9],' "some have several turns"
is "$(grep -c false sessions)" 0 "turns are numbered from 0"
for stage in poisson:rate=40 closed:users=4 burst:slots=3; do
	: >server.log
	ipf-sched "$stage" -t chat.trace -q -o chat.sched
	ipf-fire -q -u "$URL" -t chat.trace chat.sched -o chat.records
	ipf-collect -q chat.records -o chat.results
	body chat.results | jq -c 'select(has("start_ns"))' >rows.json
	is "$(jq -s 'map(select(.ok)) | length' rows.json)" "$(body chat.trace |
		wc -l)" "$stage: every turn is sent and answered"
	is "$(jq -s -c 'map(select(.session)) | group_by(.session)[] | sort_by(.turn) | [range(1; length) as $i | select(.[$i].start_ns < .[$i - 1].end_ns)] | select(length > 0)' rows.json)" "" \
		"$stage: no turn starts before the one before it has ended"
	jq -s -r 'map(.input_tokens) | sort[]' rows.json >got
	body chat.trace | jq -s -r 'map(.input_tokens) | sort[]' >expected
	same got expected "$stage: the prompts have the whole history in them"
done
