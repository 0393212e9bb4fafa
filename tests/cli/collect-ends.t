#!/bin/bash
# Content after the end mark, from the records to the report: the row counts it, --explain and the report show it, and the verdict doubts a
# run in which it is usual. A value for "not yet" is no end mark.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters

server_start --step-base 1ms --step-per-seq 0
for i in 1 2 3; do printf '{"id":"%s","prompt":"Hi","output_tokens":4}\n' $i; done >lines
printf '{"ipf":"trace","version":1,"tool":"by hand"}\n' >header
seal header lines >three.trace
"$BIN/ipf-sched" -q burst:n=3 -t three.trace -o three.sched
"$BIN/ipf-fire" -q -u "$URL" -m sim --api openai-chat -t three.trace three.sched -o plain.records

# The records with another end: request 0 as it came, the others with these events after it.
with() { # HEADER-FILTER EVENTS
	head -1 plain.records | jq -c "$1" >header
	sed -e 1d -e '$d' plain.records | jq -c --arg more "$2" 'if .n != null and .n > 0
		then .body += $more | .reads += [[.end_ns, ($more | utf8bytelength), .end_ns]] else . end' >body
	seal header body
}
late='data: {"choices":[{"delta":{"content":"more"}}]}

data: {"choices":[{"delta":{"content":" and more"}}]}

'
with . "$late" >final.records
"$BIN/ipf-collect" -q final.records -o final.results
is "$(jq -c 'select(.n != null) | [.n, .ok, .error.kind, .error.text, .after_end, .events]' final.results | sort)" '[0,true,null,null,null,4]
[1,false,"malformed","2 content events after the end mark",2,6]
[2,false,"malformed","2 content events after the end mark",2,6]' "an API whose end is final: malformed, with the count"
run "$BIN/ipf-report" -q final.results
contains "$(cat "$OUT")" "after the end mark: 4 content events of 2 responses" "the report says so"
is "$("$BIN/ipf-report" -q -f json final.results | jq -c '.total.after_end')" '{"responses":2,"events":4}' "JSON counts the content after the end mark"

with '(.. | objects | select(has("data") and has("final"))) |= del(.final)' "$late" >open.records
"$BIN/ipf-collect" -q open.records -o open.results
is "$(jq -c 'select(.n != null) | [.n, .ok, .after_end, .events]' open.results | sort)" '[0,true,null,4]
[1,true,2,6]
[2,true,2,6]' "a descriptor that promises nothing: the content counts, and is counted"
run "$BIN/ipf-report" -q open.results
contains "$(cat "$OUT")" "after the end mark: 4 content events of 2 responses" "the report says so"
is "$(tail -1 open.results | jq -c '.end.verdict.checks[] | select(.name == "server_answers") | [.status, .after_end]')" '["DOUBTFUL",2]' \
	"the verdict doubts content after the end mark"
contains "$(tail -1 open.results | jq -r '.end.verdict.checks[2].detail')" \
	"the content of 2 responses (66.7 %) went on after the end mark" "the verdict has the share of content after the end mark"

run "$BIN/ipf-collect" --explain final.records
is "$(grep -c '  after the end mark: text' "$OUT")" 4 "--explain marks the events after the end mark"
is "$(grep -c 'of these after the end mark 2' "$OUT")" 2 "--explain counts the events after the end mark"

# Complete answers without content: a counted success, unless the API requires content.
nothing='data: {"choices":[{"delta":{},"finish_reason":"stop"}]}

data: {"choices":[],"usage":{"prompt_tokens":2,"completion_tokens":1}}

data: [DONE]

'
empty() { # HEADER-FILTER
	head -1 plain.records | jq -c "$1" >header
	sed -e 1d -e '$d' plain.records | jq -c --arg body "$nothing" 'if .n != null and .n > 0
		then .body = $body | .reads = [[.end_ns, ($body | utf8bytelength), .end_ns]] else . end' >body
	seal header body
}
empty . >empty.records
"$BIN/ipf-collect" -q empty.records -o empty.results
is "$(jq -c 'select(.n != null) | [.n, .ok, .events, .output_tokens, .ttft_ns != null, .e2e_ns != null, .finish]' empty.results | sort)" '[0,true,4,4,true,true,"length"]
[1,true,0,1,false,false,"stop"]
[2,true,0,1,false,false,"stop"]' "a complete answer without content is a success without latencies"
"$BIN/ipf-report" -q -f json empty.results >empty.json
is "$(jq -c '.total | [.requests.ok, .requests.empty, .requests.failed, .latency.ttft_ms.from_start.n]' empty.json)" '[3,2,0,1]' "the report counts complete responses without content"
is "$(jq -c '.verdict.checks[] | select(.name == "server_answers") | [.status, .empty]' empty.json)" '["DOUBTFUL",2]' "the verdict doubts more than 1 % of empty responses"
contains "$(jq -r '.verdict.checks[2].detail' empty.json)" "2 responses (66.7 %) are complete, but empty" "the verdict has the share of empty responses"
contains "$("$BIN/ipf-report" empty.results)" "empty: 2 complete responses without content" "the report says so"
empty '(.. | objects | select(has("end") and has("framing"))) |= (.content_required = true)' >required.records
"$BIN/ipf-collect" -q required.records -o required.results
is "$(jq -c 'select(.n != null) | [.n, .ok, .error.kind, .error.text]' required.results | sort)" '[0,true,null,null]
[1,false,"malformed","the response has no content, which the API requires"]
[2,false,"malformed","the response has no content, which the API requires"]' "an API that requires content"

# A finish reason of every event ending nothing.
with '(.. | objects | select(has("finish_words"))) |= (.finish_words.not_yet = null)' "" >words.records
sed 's/\\"finish_reason\\":null/\\"finish_reason\\":\\"not_yet\\"/g' words.records | sed -e 1d -e '$d' >body
jq -c '.reads = [[.end_ns, (.body | utf8bytelength), .end_ns]]' body >resized
head -1 words.records >header
seal header resized >words.records
"$BIN/ipf-collect" -q words.records -o words.results
is "$(jq -c 'select(.n != null) | [.ok, .events, .finish, .after_end]' words.results | uniq)" '[true,4,"length",null]' "not_yet ends nothing"
run "$BIN/ipf-collect" --explain words.records
contains "$(cat "$OUT")" 'finish "not_yet" (not yet)' "--explain says so"
is "$(jq -c 'select(.n != null) | .after_end' "$TESTS/data/report/mixed.results" | sort -u)" null "results of earlier versions are read"
run "$BIN/ipf-report" "$TESTS/data/report/mixed.results"
status_is 0 "ipf-report reads results without the field"
