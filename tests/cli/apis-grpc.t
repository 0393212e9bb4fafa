#!/bin/bash
# Every gRPC descriptor against an independent implementation (grpcio) with messages compiled by protoc: requests arrive as intended, responses
# are interpreted correctly, streamed and complete; errors; deadlines; a message of 4 MB; readiness; TLS.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/helpers/grpc.sh"

python=$(grpc_python) || skip_all "no python3 with grpc and grpc_tools here"
serve() { # ARGUMENTS…
	: >server.log
	python_server "$python" "$TESTS/helpers/grpc_server.py" "$TESTS/data/grpc" server.log "$@"
	URL=http://127.0.0.1:$(cat "$SAID")
}
serve

for i in 1 2 3 4; do
	printf '{"id":"r%d","prompt":"Nr. %d: \\"say\\"\\n\\u00e9 %s","input_tokens":%d,"output_tokens":%d}\n' $i $i "$(printf '%0*d' $((4 * i)) 0)" \
		$((4 + i)) $((5 + i))
done >lines
trace_of lines >four.trace
ipf-sched -q constant:rate=50,n=4 -t four.trace -o four.sched

# ---- each of them, streamed and complete ----
cat >checks.jq <<'END'
def holds($text; filter; $want): [.[] | filter] | unique as $got
	| if $got == [$want] then "ok - \($what): \($text)" else "not ok - \($what): \($text)\n#   got:      \($got)\n#   expected: \($want), four times" end;
($header[0].t0_unix_ns) as $t0
| [inputs | select(.n != null)] | map(. as $row | ($log | map(select(.id == $row.id))[0]) as $server
	| {row: $row, server: $server, prompt: $prompts[0][$row.n],
	   late_ms: (($t0 + $row.start_ns + ($row.ttft_ns // $row.e2e_ns) - $server.first_wall_ns) / 1e6)})
| holds("four requests, all ok"; [.row.ok, (.row.n | . >= 0 and . < 4), .row.error]; [true, true, null]),
  holds("the right service was asked"; .server.api; $api),
  holds("the prompt arrives"; .prompt == .server.prompt; true),
  holds("and how much is wanted"; [.server.max_tokens == .row.asked_output_tokens, $exact == "" or .server.min_tokens == .row.asked_output_tokens]; [true, true]),
  holds("the text is what the server sent"; .row.text == .server.text and (.row.text | length > 0); true),
  holds("its events"; .row.events == (if $streamed then $each * .server.tokens else 1 end); true),
  holds("tokens by the usage"; if $usage then [.row.output_tokens_usage == .server.tokens, .row.input_tokens_usage == (.prompt | length)] else [] end;
	if $usage then [true, true] else [] end),
  holds("finish reason"; [.row.finish, .row.finish_server]; $finish),
  holds("no first token comes before the server sent it"; .late_ms > -0.3; true),
  holds("a whole answer has none"; [.row.ttft_ns == null, .row.not_streamed]; if $streamed then [false, null] else [true, "not-asked"] end)
END
while read -r line; do jq .prompt <<<"$line"; done <lines | jq -sc . >prompts

understood() { # API MODE EACH USAGE EXACT FINISH ARGUMENTS…
	: >server.log
	if ! ipf-fire -q -u "$URL" -m m/1 --api "$1" -H 'X-Request-Id: $id' -t four.trace four.sched ${5:+"$5"} "${@:7}" -o records ||
		! ipf-collect -q --text records -o results; then
		not_ok "$1, $2: a run"
		return
	fi
	jq -n -r --slurpfile prompts prompts --slurpfile log server.log --slurpfile header <(head -1 records) --arg what "$1, $2" --arg api "$1" \
		--argjson streamed "$([ "$2" = streamed ] && echo true ||
		echo false)" --argjson each "$3" --argjson usage "$4" --arg exact "$5" \
		--argjson finish "$6" -f checks.jq results >checked || echo "not ok - $1, $2: checks" >>checked
	cat checked
	! grep -q '^not ok' checked || tap_failed=1
}

while read -r api modes each usage exact streamed whole; do
	[ "$exact" != - ] || exact=
	for mode in ${modes/,/ }; do
		if [ "$mode" = whole ]; then
			understood "$api" whole "$each" "$usage" "$exact" "$whole" --no-stream
		else
			understood "$api" streamed "$each" "$usage" "$exact" "$streamed"
		fi
	done
	echo "$api" >>tested
done <<'END'
tgis-grpc          streamed,whole 1 true  --exact-output ["length","MAX_TOKENS"] ["stop","EOS_TOKEN"]
kserve-grpc        streamed,whole 1 false --exact-output [null,null]             [null,null]
kserve-grpc-vllm   streamed,whole 1 false --exact-output [null,null]             [null,null]
jetstream-grpc     streamed       1 false -              [null,null]
sax-grpc           streamed,whole 2 false -              [null,null]             [null,null]
caikit-grpc        streamed,whole 1 true  --exact-output ["length","MAX_TOKENS"] ["stop","EOS_TOKEN"]
deepspeed-mii-grpc streamed,whole 1 true  --exact-output ["length",null]         ["stop",null]
END
is "$(ipf-fire --list-apis | cut -d' ' -f1 | grep grpc | sort)" "$(sort tested)" "every built-in gRPC API was tried"

# ---- a user's own parameters ----
while read -r api param; do
	: >server.log
	ipf-fire -q -u "$URL" -m m --api "$api" --param "$param" -t four.trace --probe -o records 2>said
	is "$(jq -c .temperature server.log)" 0.5 "$api: --param arrives"
done <<'END'
tgis-grpc sampling={"temperature":0.5}
kserve-grpc-vllm temperature=0.5
sax-grpc temperature=0.5
caikit-grpc temperature=0.5
deepspeed-mii-grpc temperature={"fvalue":0.5}
END
run ipf-fire -q -u "$URL" -m m --api tgis-grpc --param 'colour="red"' -t four.trace four.sched -o records
status_is 3 "a parameter that the messages do not have"
complains ipf-fire 'Parameters: the description has no field "colour"' "ipf-fire names a --param without a field"
run ipf-fire -q -u "$URL" -m m --api caikit-grpc --param 'top_k="many"' -t four.trace four.sched -o records
complains ipf-fire 'TextGenerationTaskRequest.top_k: expected a value of type int64, got "many"' "ipf-fire names a --param of the wrong type"

# ---- errors ----
went() { # MODE ARGUMENTS…: kind, text, events
	ipf-fire -q -u "$URL" -m m --api "${2:-tgis-grpc}" -H "X-Mode: $1" -t four.trace four.sched "${@:3}" -o records
	ipf-collect -q --text records | jq -c 'select(.n != null) | [.error.kind, .error.text, .events]' | sort -u
}
is "$(went unavailable)" '["in-band","UNAVAILABLE: no model: 100% gone, sorry é",0]' "UNAVAILABLE at once, its message decoded"
is "$(went exhausted)" '["in-band","RESOURCE_EXHAUSTED: out of blocks",3]' "RESOURCE_EXHAUSTED after three messages"
is "$(went exhausted tgis-grpc --no-stream)" '["in-band","RESOURCE_EXHAUSTED: out of blocks",0]' "an error in place of the response has its message"
is "$(went fail kserve-grpc)" "[\"in-band\",\"model 'm' is not ready\",0]" "an error in a message"
is "$(went fail | cut -d, -f1,3-)" '["in-band",\"stop_reason\":\"ERROR\"}",2]' "a finish reason that is an error"
is "$(went slow tgis-grpc --timeout 400ms | cut -d, -f1 | sort -u)" '["timeout"' "--timeout ends streamed calls"
is "$(went slow tgis-grpc --timeout 400ms --no-stream | cut -d, -f1 | sort -u)" '["timeout"' "--timeout ends unary calls"
is "$(went none caikit-grpc)" '[null,null,6]
[null,null,7]
[null,null,8]
[null,null,9]' "responses succeed again after the errors"
: >server.log
ipf-fire -q -u "$URL" -m m --api tgis-grpc --timeout 90s -t four.trace four.sched -o records
between "$(jq .time_remaining server.log | sort -n | head -1)" 1 90 "the server knows the deadline"
is "$(jq -c 'select(.n != null) | .headers' records | sort -u)" '{"grpc-status":"0"}' "the records have the status"
between "$(jq -c 'select(.n != null) | .connection.id' records | sort -u | wc -l)" 1 4 "four requests need one to four connections"

# ---- 4 MB ----
: >server.log
is "$(went big caikit-grpc)" '[null,null,1]' "a message of 4 MB"
is "$(ipf-collect -q --text records | jq -r 'select(.n == 1) | .text' |
	sha256sum)" "$(jq -r 'select(.prompt | test("Nr. 2")) | .text' server.log | sha256sum)" "the text of a message of 4 MB is the server's"
between "$(jq 'select(.n == 1) | .reads | length' records)" 2 100000 "a message of 4 MB arrives in many reads"
is "$(ipf-collect -q records | jq -c 'select(.n == 1) | .ttft_ns' |
	head -1)" "$(jq 'select(.n == 1) | .reads[-1][0] - .start_ns' records)" \
	"TTFT of a unary response is the time of its last read"

# ---- --probe and --explain ----
run ipf-fire -u "$URL" -m m/1 --api tgis-grpc -t four.trace --probe -o probe.records
status_is 0 "--probe with gRPC ends with 0"
is "$(sed -n 's/^> //p' "$ERR" | tail -1 |
	jq -c .)" '{"model_id":"m/1","params":{"stopping":{"max_new_tokens":6}},"request":{"text":"Nr. 1: \"say\"\né 0000"}}' \
	"--probe shows the messages that were sent"
matches "$(cat "$ERR")" '^\* +3 2 bytes$' "--probe shows a message by field numbers"
matches "$(cat "$ERR")" '^\* +6 varint 19$' "--probe shows the response by numbers and wire types"
contains "$(cat "$ERR")" "< grpc-status: 0" "--probe shows the status of the call"
run ipf-collect --explain probe.records
status_is 0 "--explain with gRPC ends with 0"
matches "$(cat "$OUT")" '^ +/text +".*" +\(6×\) +text  \(4 string\)$' "a value, what it is taken for, and its number"
matches "$(cat "$OUT")" '^ +/8/2 +".*" +\(6×\) +\(unused\)  \(not described\)$' "--explain marks a field that is not described"
matches "$(cat "$OUT")" '^  events \(framing grpc\)$' "--explain counts the events"
matches "$(cat "$OUT")" '^  result: ok, content events 6, output tokens 6 from "usage", input tokens 19, ' "--explain sums up the response"
is "$(grep -c missing "$OUT")" 0 "--explain finds nothing missing"

# ---- the descriptor in the manual ----
awk '/^\{$/ { text = "" } { text = text $0 "\n" } /^\}$/ && text ~ /"name": "house-talk"/ { printf "%s", text; exit }' "$ROOT/lib/api/ipf-api.5" >house.json
jq '.path = "/caikit.runtime.Nlp.NlpService/ServerStreamingTextGenerationTaskPredict" | .grpc.messages = {Question: {text: "string = 1", most: "int64 = 2"},
	Piece: {said: "string = 1", more: "More = 3"}, More: {end: "End = 1", words: "uint32 = 2"}}
	| .request = {body: .request.body} | .response.finish = ["/more/end"] | .response.usage = {output_tokens: ["/more/words"]} | .response.end = {when: ["/more/end"]}' \
	house.json >mine.json
run ipf-fire -q -u "$URL" --api ./mine.json -t four.trace four.sched -o mine.records
status_is 0 "a descriptor of one's own"
is "$(ipf-collect -q mine.records |
	jq -c 'select(.n != null) | [.ok, .output_tokens == .asked_output_tokens, .finish]' |
	sort -u)" '[true,true,"stop"]' "responses by a descriptor of one's own are complete"

# ---- readiness ----
serve --ready-after 3
for api in tgis-grpc kserve-grpc jetstream-grpc; do
	run ipf-fire -v -u "$URL" -m m --api $api -t four.trace --wait-ready 120s four.sched -o ready.records
	status_is 0 "--wait-ready with $api ends with 0"
	matches "$(cat "$ERR")" '^ipf-fire: ready after ' "--wait-ready with $api says when the server was ready"
	if [ $api != jetstream-grpc ]; then serve --ready-after 3; fi
done
serve --ready-after 1000000
run ipf-fire -q -u "$URL" -m m --api kserve-grpc -t four.trace --wait-ready 600ms four.sched
status_is 1 "--wait-ready ends with 1 if the server does not get ready"
complains ipf-fire "/inference.GRPCInferenceService/ServerReady: not ready" "ipf-fire names the call that a server answers before it is ready"
run ipf-fire -q -u "$URL" -m m --api sax-grpc -t four.trace --wait-ready 120s four.sched -o records
status_is 0 "a server without a health check is ready when it listens"

# ---- servers with a limit on the age of connections ----
serve --age 0.2
ipf-sched -q constant:rate=100,n=200 -t four.trace -o old.sched
run ipf-fire -q -u "$URL" -m m --api tgis-grpc -t four.trace old.sched -o old.records
status_is 0 "a server that closes its connections after a while"
is "$(ipf-collect -q old.records | jq -c 'select(.n != null) | [.ok, .output_tokens == .asked_output_tokens]' | sort |
	uniq -c | tr -s ' ')" ' 200 [true,true]' \
	"closing connections loses no answer"
between "$(jq -r 'select(.n != null) | .connection.id' old.records | sort -u |
	wc -l)" 3 200 "requests use several connections if the server closes them"

# ---- TLS ----
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 2>/dev/null
serve --tls cert.pem key.pem
run ipf-fire -q -u "${URL/http:/https:}" --cacert cert.pem -m m --api tgis-grpc --wait-ready 120s -t four.trace four.sched -o tls.records
status_is 0 "gRPC over TLS ends with 0"
is "$(ipf-collect -q tls.records | jq -c 'select(.n != null) | [.ok, .output_tokens == .asked_output_tokens]' |
	sort -u)" '[true,true]' "gRPC over TLS has all tokens"
