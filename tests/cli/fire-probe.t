#!/bin/bash
# A server that nobody knows, by a descriptor that a user wrote: nothing is compiled, --probe and --explain tell whether it fits. Then
# waiting for a server that is not ready yet, and keys, which nobody ever sees.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

printf '{"id":"a","session":"s-1","messages":[{"role":"user","content":"Which \\"end\\"?"}],"input_tokens":3,"output_tokens":6}\n' >line
{
	echo '{"ipf":"trace","version":1,"tool":"by hand"}'
	cat line
	printf '{"end":{"lines":1,"sha256":"%s"}}\n' "$(sha256sum <line | cut -d' ' -f1)"
} >one.trace
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
	sort -u)" '["odd%2F1","/ask/*",true,6]' "it was asked as it wants to be"

run ipf-fire -u "$URL/mine" -m odd/1 --api ./mine.json -t one.trace --probe -o probe.records --param 'tone="dry"'
status_is 0 "--probe"
is "$(jq -c 'select(.n != null) | [.n, .status]' probe.records)" '[0,200]' "sends one request and records it"
is "$(sed -n 's/^> //p' "$ERR" |
	tail -1)" '{"question":"Which \"end\"?","how":"{\"words\":6,\"tone\":\"[redacted]\"}"}' "and shows its body, but no parameter that may be a secret"
contains "$(cat "$ERR")" "> POST $URL/mine/ask/odd%2F1" "where it went"
contains "$(cat "$ERR")" "> X-Talk: [redacted]" "its headers"
matches "$(cat "$ERR")" '^< status 200, after ' "and what came"
matches "$(cat "$ERR")" '^\* [0-9]+ bytes after ' "when"
contains "$(cat "$ERR")" '<   "because": "out of breath"' "byte by byte"
run ipf-collect --explain probe.records
status_is 0 "--explain"
matches "$(cat "$OUT")" '^request 0 of mine: status 200' "tells of the request"
matches "$(cat "$OUT")" '^ +[0-9.]+ ms +text ".*" usage.output_tokens 1' "of each event"
matches "$(cat "$OUT")" '^ +/because +"out of breath" +\(1×\) +finish, end$' "of each value what it is taken for"
matches "$(cat "$OUT")" '^  result: ok, content events 6, output tokens 6 from "usage"' "and of the whole"
is "$(grep -c missing "$OUT")" 1 "what is missing"
contains "$(cat "$OUT")" "missing: the descriptor has no usage.input_tokens" "is named"
jq '.response.text = ["/answer"] | .response.end = {"when": ["/over"]}' mine.json >wrong.json
run ipf-collect --explain --api ./wrong.json probe.records
contains "$(cat "$OUT")" "missing: no text found where the descriptor looks for it" "a descriptor that is wrong: the text"
contains "$(cat "$OUT")" "missing: no end found where the descriptor looks for it" "the end"
matches "$(cat "$OUT")" '^ +/said/so/far +".*" +\(6×\) +\(unused\)$' "where the text is instead"
ipf-collect --explain probe.records | head -1 >/dev/null
is "${PIPESTATUS[*]}" "0 0" "--explain ends with its reader"
run ipf-fire -u "$URL/mine" -m m --api ./mine.json -t one.trace --probe three.sched
status_is 2 "--probe takes no schedule"
run ipf-fire -u "$URL/mine" --api ./mine.json -t one.trace three.sched
status_is 3 "a path that needs a model"
complains ipf-fire "model is missing: it is part of this API's path" "and there is none"

# ---- a whole answer ----
# its text is within the value that ends it
server_start
ipf-prep -q -n 1 synthetic --input-tokens 20 --output-tokens 4 -o whole.trace
ipf-fire -q -u "$URL" -m sim -t whole.trace --probe --no-stream 2>"$ERR" | ipf-collect --explain >"$OUT"
matches "$(cat "$OUT")" '^  text: "' "an answer that is not streamed has its text"
is "$(grep -c missing "$OUT")" 0 "which is not missing"
server_stop

# ---- not ready yet ----
server_start --loading 700ms
for api in mine:./mine.json triton-generate sax; do
	name=${api%:*}
	run ipf-fire -q -u "$URL/$name" -m m --api "${api#*:}" -t one.trace --wait-ready 120s three.sched
	status_is 0 "--wait-ready: $name"
	is "$(jq -c 'select(.n != null) | .status' "$OUT" | sort -u)" 200 "no request went out before"
	[ "$name" != triton-generate ] || server_start --loading 0
done
run ipf-fire -v -u "$URL" -m m -t one.trace --wait-ready 120s three.sched
matches "$(cat "$ERR")" '^ipf-fire: ready after ' "-v tells how long it took"
server_start --loading 1h
run ipf-fire -q -u "$URL/v1" -m m -t one.trace --wait-ready 300ms three.sched
status_is 1 "a server that does not get ready"
complains ipf-fire "/health: status 503" "is told with what it said"
run ipf-fire -q -u http://127.0.0.1:1 -m m -t one.trace --wait-ready 300ms three.sched
status_is 1 "one that is not there"
complains ipf-fire "not ready after" "neither"

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
between "$(cat said ./*.records ./*.results | wc -c)" 20000 1000000 "of all that was written"
is "$(cat said ./*.records ./*.results | grep -c sesame-4711)" 0 "nothing has the key in it"
: >empty
run ipf-fire -u "$URL" -m m --key-file empty -t one.trace three.sched
status_is 2 "an empty key"
complains ipf-fire "--key-file: the file contains no key" "is told"
run ipf-fire -u "$URL" -m m --key-file nowhere -t one.trace three.sched
status_is 1 "a key's file that is not there"
run ipf-fire -u "$URL/ollama" -m m --api ollama --key-file key -t one.trace three.sched
complains ipf-fire "this API does not use a key" "an API without keys"
