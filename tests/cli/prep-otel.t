#!/bin/bash
# OpenTelemetry: the same calls wherever instrumentations put their contents give the same requests, and hostile records.
. "$TESTS/tap.sh"
prep=$BIN/ipf-prep
files() { # WHERE [ENCODING]: the files spans and logs
	python3 "$TESTS/cli/otel_files.py" "$@"
}
requests() { # TRACE: in one form, since arguments of tools may have spaces
	body "$1" | jq -cS '(.messages[] | select(.tool_calls) | .tool_calls[].function.arguments) |= fromjson'
}

# ---- where the contents are ----
files attributes
run "$prep" auto spans -o attributes.trace
status_is 0 "contents in attributes, as JSON in texts"
requests attributes.trace >expected
is "$(jq -r '.tags | [.model, .provider, .cached_tokens, .ttft_s] | @csv' expected | tail -1)" '"m-1","openai",2,0.25' "tags"
is "$(jq -c '.tools[0].function | keys' expected | uniq)" '["name","parameters"]' "tools, without what is null"
is "$(jq -c .response_format expected | tail -1)" '{"type":"json_object"}' "the response format"
is "$(jq -c '.messages[2].tool_calls[0].function.arguments' expected | tail -2 | head -1)" '{"city":"Oslo","days":1,"exact":true}' "calls"
is "$(jq -c '.messages[3]' expected | tail -2 | head -1)" '{"content":"rain, 7°","role":"tool","tool_call_id":"c1"}' "results"
is "$(jq .output_tokens expected | tail -1)" 4 "the length of an answer without usage is counted"
for where in structured events content message-events logs message-logs; do
	files $where
	cat logs spans >before.jsonl
	run "$prep" auto before.jsonl -o out.trace
	status_is 0 "$where: status 0"
	is "$(requests out.trace)" "$(cat expected)" "$where: the same requests"
done
for where in logs message-logs; do
	files $where
	run "$prep" otel spans logs -o out.trace
	is "$(requests out.trace)" "$(cat expected)" "$where: log records in a later file"
	tac logs >reversed
	run "$prep" otel reversed spans -o out.trace
	is "$(requests out.trace)" "$(cat expected)" "$where: or in an earlier one, in another order"
done
files logs
run "$prep" auto logs -o out.trace
status_is 0 "details without spans"
is "$(body out.trace | jq -c '[.at_ns, .session, .messages[-1].role]' | tr '\n' ' ')" \
	'[0,"c-9","user"] [2000000000,"c-9","tool"] [4000000000,"c-9","user"] ' "are calls at their times"
files message-logs
{ cat spans; echo '{"resourceMetrics":[]}'; } | jq -c 'del(.resourceSpans[]?.scopeSpans[].spans[1])' >one-less
run "$prep" otel one-less logs -v -o out.trace
status_is 0 "messages of a span that is missing"
stderr_contains "(a message of a call that is not in the files)" "are named"
is "$(body out.trace | wc -l)" 2 "the other calls are read, and metrics ignored"
jq -c '(.resourceLogs[].scopeLogs[].logRecords[].body) = {}' logs >without
run "$prep" otel spans without -o out.trace
status_is 0 "log records without contents"
is "$(body out.trace | jq -c '[.input_tokens, (.messages | length)]' | tr '\n' ' ')" '[20,1] [40,1] [12,1] ' "give prompts of the recorded length"

# ---- values of every kind, and hostile ones ----
files structured
head -1 spans >first
changed() { # JQ: the first file, with its first span (as $s) changed
	jq -c "(.resourceSpans[0].scopeSpans[0].spans[0]) |= ($1)" first >changed
	run "$prep" otel changed -o out.trace
}
set_attribute() { # KEY VALUE: by jq
	printf '(.attributes[] | select(.key == "%s") | .value) = %s' "$1" "$2"
}
refused() { # JQ MESSAGE
	changed "$1"
	status_is 3 "$2: status 3"
	stderr_contains "changed:1: $2" "$2"
}
taken() { # JQ JQ-OF-REQUEST EXPECTED TEXT
	changed "$1"
	status_is 0 "$4: status 0"
	is "$(body out.trace | head -1 | jq -c "$2")" "$3" "$4"
}
refused 'del(.startTimeUnixNano)' 'startTimeUnixNano: missing'
refused '.startTimeUnixNano = "soon"' 'startTimeUnixNano: expected a number or a time'
refused "$(set_attribute gen_ai.input.messages '{stringValue: "[{"}')" 'gen_ai.input.messages: '
refused "$(set_attribute gen_ai.input.messages '{kvlistValue: {}}')" 'gen_ai.input.messages: expected a list'
taken "$(set_attribute gen_ai.tool.definitions '{arrayValue: {values: [{intValue: "1e3"}, {intValue: "007"}, {bytesValue: "AA=="}, {}, 5]}}')" \
	.tools null "values that are no tools"
taken "$(set_attribute gen_ai.tool.definitions '{kvlistValue: {values: [{key: 5, value: {}}, 7, {value: {boolValue: true}}]}}')" \
	.tools null "keys that are no texts"
taken "$(set_attribute gen_ai.usage.input_tokens '{intValue: "-5"}')" .messages[1].role '"user"' "a negative length is unknown"
taken "$(set_attribute gen_ai.response.time_to_first_chunk '{doubleValue: "NaN"}')" .tags.ttft_s null "a time that is no number"
taken "$(set_attribute gen_ai.response.finish_reasons '{arrayValue: {values: [{stringValue: "error"}]}}')" .tags.failed true \
	"a call that ended with an error"
taken '.attributes = 5 | .events = [7, {name: 5}]' .session '"c-9"' "a span without attributes is no call"
deep=$(python3 -c 'print("{\"arrayValue\":{\"values\":[" * 70 + "{}" + "]}}" * 70)')
taken "$(set_attribute gen_ai.tool.definitions "$deep")" .tools null "lists that are nested 70 deep"
