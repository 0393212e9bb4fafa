#!/bin/bash
# An unknown server, by a descriptor a user wrote: nothing is compiled, --probe and --explain tell whether it fits. Then waiting
# for a server not ready yet, and keys, which nobody ever sees.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

printf '{"id":"a","session":"s-1","messages":[{"role":"user","content":"Which \\"end\\"?"}],"input_tokens":3,"output_tokens":6}\n' >line
trace_of line >one.trace
ipf-sched -q constant:rate=100,n=3 -t one.trace -o three.sched

# ---- the manual's own example, against a server that speaks so ----
awk '/^\{$/ { text = "" } { text = text $0 "\n" } /^\}$/ && text ~ /"name": "mine"/ { printf "%s", text; exit }' "$ROOT/lib/api/ipf-api.5" >mine.json
is "$(jq -r .name mine.json)" mine "ipf-api(5) has a descriptor for a server of no known kind"
server_start --step-base 5ms --log server.log
run ipf-fire -q -u "$URL/mine" -m odd/1 --api ./mine.json -t one.trace three.sched -o mine.records --param 'tone="dry"'
status_is 0 "a run by it"
ipf-collect -q -t approx --text mine.records >mine.results
is "$(jq -c 'select(.n != null) | [.ok, .events, .output_tokens, .output_tokens_tokenizer, .tokens_source, .finish, .finish_server, (.server_ttft_ns > 0)]' mine.results | sort -u)" \
	'[true,6,6,6,"usage","length","out of breath",true]' "events, tokens, finish reason and the server's own timing"
is "$(jq -r 'select(.n != null) | .text' mine.results | sort -u)" "$(jq -r .text server.log |
	sort -u)" "the text is what the server sent"
is "$(jq -c '[.model, .path, .stream, .max_tokens]' server.log |
	sort -u)" '["odd%2F1","/ask/*",true,6]' "the server was asked as the descriptor says"

run ipf-fire -u "$URL/mine" -m odd/1 --api ./mine.json -t one.trace --probe -o probe.records --param 'tone="dry"'
status_is 0 "--probe with a new descriptor ends with 0"
is "$(jq -c 'select(.n != null) | [.n, .status]' probe.records)" '[0,200]' "--probe sends one request and records it"
is "$(sed -n 's/^> //p' "$ERR" |
	tail -1)" '{"question":"Which \"end\"?","how":"{\"words\":6,\"tone\":\"[redacted]\"}"}' "--probe redacts parameters in the body"
contains "$(cat "$ERR")" "> POST $URL/mine/ask/odd%2F1" "--probe shows the URL"
contains "$(cat "$ERR")" "> X-Talk: [redacted]" "--probe redacts headers"
matches "$(cat "$ERR")" '^< status 200, after ' "--probe shows the status"
matches "$(cat "$ERR")" '^\* [0-9]+ bytes after ' "--probe shows when bytes came"
contains "$(cat "$ERR")" '<   "because": "out of breath"' "byte by byte"
run ipf-collect --explain probe.records
status_is 0 "--explain with a new descriptor ends with 0"
matches "$(cat "$OUT")" '^request 0 of mine: status 200' "--explain shows the request"
matches "$(cat "$OUT")" '^ +[0-9.]+ ms +text ".*" usage.output_tokens 1' "--explain shows every event"
matches "$(cat "$OUT")" '^ +/because +"out of breath" +\(1×\) +finish, end$' "--explain shows the use of every value"
matches "$(cat "$OUT")" '^  result: ok, content events 6, output tokens 6 from "usage"' "--explain sums up the response"
is "$(grep -c missing "$OUT")" 1 "--explain finds one member missing"
contains "$(cat "$OUT")" "missing: the descriptor has no usage.input_tokens" "--explain names the missing member"
jq '.response.text = ["/answer"] | .response.end = {"when": ["/over"]}' mine.json >wrong.json
run ipf-collect --explain --api ./wrong.json probe.records
contains "$(cat "$OUT")" "missing: no text found where the descriptor looks for it" "a descriptor that is wrong: the text"
contains "$(cat "$OUT")" "missing: no end found where the descriptor looks for it" "--explain says that the end was not found"
matches "$(cat "$OUT")" '^ +/said/so/far +".*" +\(6×\) +\(unused\)$' "--explain shows where the text is"
ipf-collect --explain probe.records | head -1 >/dev/null
is "${PIPESTATUS[*]}" "0 0" "--explain ends with its reader"
run ipf-fire -u "$URL/mine" -m m --api ./mine.json -t one.trace --probe three.sched
status_is 2 "--probe takes no schedule"
run ipf-fire -u "$URL/mine" --api ./mine.json -t one.trace three.sched
status_is 3 "a path that needs a model"
complains ipf-fire "model is missing: it is part of this API's path" "ipf-fire says that the path needs a model"

# ---- a whole answer ----
# its text is within the value ending it
server_start
ipf-prep -q -n 1 synthetic --input-tokens 20 --output-tokens 4 -o whole.trace
ipf-fire -q -u "$URL" -m sim -t whole.trace --probe --no-stream 2>"$ERR" | ipf-collect --explain >"$OUT"
matches "$(cat "$OUT")" '^  text: "' "an answer that is not streamed has its text"
is "$(grep -c missing "$OUT")" 0 "--explain misses nothing in a whole answer"
server_stop

# ---- not ready yet ----
server_start --loading 700ms
for api in mine:./mine.json triton-generate sax; do
	name=${api%:*}
	run ipf-fire -q -u "$URL/$name" -m m --api "${api#*:}" -t one.trace --wait-ready 120s three.sched
	status_is 0 "--wait-ready succeeds: $name"
	is "$(jq -c 'select(.n != null) | .status' "$OUT" | sort -u)" 200 "no request goes out before the server is ready"
	[ "$name" != triton-generate ] || server_start --loading 0
done
run ipf-fire -v -u "$URL" -m m -t one.trace --wait-ready 120s three.sched
matches "$(cat "$ERR")" '^ipf-fire: ready after ' "-v tells how long it took"
server_start --loading 1h
run ipf-fire -q -u "$URL/v1" -m m -t one.trace --wait-ready 300ms three.sched
status_is 1 "a server that does not get ready"
complains ipf-fire "/health: status 503" "ipf-fire says how the server answers while it is not ready"
run ipf-fire -q -u http://127.0.0.1:1 -m m -t one.trace --wait-ready 300ms three.sched
status_is 1 "--wait-ready ends with 1 if no server is there"
complains ipf-fire "not ready after" "ipf-fire says that a missing server is not ready"

# ---- keys ----
server_start --api-key sesame-4711
printf '  sesame-4711\n\n' >key
for api in openai-chat anthropic-messages gemini tgi; do
	base=$URL/$api
	[ $api != openai-chat ] || base=$URL
	env=$(jq -r .request.auth.env "$ROOT/lib/api/apis/$api.json")
	for how in file variable; do
		if [ $how = file ]; then
			run ipf-fire -v -u "$base" -m m --api $api --wait-ready 120s --key-file key -t one.trace --probe -o $api.$how.records
		else
			run env "$env=sesame-4711" ipf-fire -v -u "$base" -m m --api $api --wait-ready 120s -t one.trace three.sched -o $api.$how.records
		fi
		cat "$OUT" "$ERR" >>said
		is "$(jq -c 'select(.n != null) | .status' $api.$how.records | sort -u)" 200 "$api: the key from a $how opens"
	done
	ipf-collect -q --text $api.variable.records -o $api.results
	ipf-collect -q --explain $api.variable.records >>said
	ipf-report $api.results >>said
	ipf-report -f json $api.results >>said
done
run ipf-fire -v -u "$URL" -m m -H 'X-Api-Key: sesame-4711' -t one.trace --probe -o header.records
cat "$OUT" "$ERR" >>said
contains "$(cat "$ERR")" "> X-Api-Key: [redacted]" "a header that holds one is shown without it"
run ipf-fire -v -u "$URL" -m m --key-file key -H 'X: sesame' --param 'x="' -t one.trace three.sched
cat "$OUT" "$ERR" >>said
server_stop
run ipf-fire -v -u "$URL" -m m --key-file key --wait-ready 200ms -t one.trace three.sched
cat "$OUT" "$ERR" >>said
run ipf-fire -v -u "$URL" -m m --key-file key -t one.trace three.sched
cat "$OUT" "$ERR" >>said
between "$(cat said ./*.records ./*.results | wc -c)" 20000 1000000 "all output together has 20 kB to 1 MB"
is "$(cat said ./*.records ./*.results | grep -c sesame-4711)" 0 "no output contains the key"
: >empty
run ipf-fire -u "$URL" -m m --key-file empty -t one.trace three.sched
status_is 2 "an empty key"
complains ipf-fire "--key-file: the file contains no key" "ipf-fire says that the file contains no key"
run ipf-fire -u "$URL" -m m --key-file nowhere -t one.trace three.sched
status_is 1 "a key's file that is not there"
run ipf-fire -u "$URL/ollama" -m m --api ollama --key-file key -t one.trace three.sched
complains ipf-fire "this API does not use a key" "an API without keys"
