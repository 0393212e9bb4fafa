#!/bin/bash
# gRPC frame by frame, as real servers rarely send it: messages split over frames and reads, several in one frame, no trailers, unusual
# statuses, resets. A bare HTTP/2 server in Python sends them; tests/helpers/h2_server.py has the scripts.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
. "$TESTS/fixture.sh"
. "$TESTS/helpers/grpc.sh"

command -v python3 >/dev/null || skip_all "no python3 here"
python_server python3 "$TESTS/helpers/h2_server.py"
wait_for grep -q '^end$' "$SAID" || not_ok "the server listens" "$(cat "$SAID.err")"

printf '{"id":"a","prompt":"Hi","output_tokens":2}\n' >line
trace_of line >one.trace
ipf-sched -q constant:rate=20,n=3 -t one.trace -o three.sched

# Kind, message, text, events, finish reason, of three consecutive requests on one connection.
went() { # SCRIPT
	local port
	port=$(sed -n "s/^\([0-9]*\) $1$/\1/p" "$SAID")
	ipf-fire -q -u "http://127.0.0.1:$port" -m m --api tgis-grpc -t one.trace three.sched -o "$1.records" &&
		ipf-collect -q --text "$1.records" |
			jq -r 'select(.n != null) | "\(.error.kind // "ok")|\(.error.text // "")|\(.text // "")|\(.events // 0)|\(.finish // "")"' | sort -u
}

while read -r script expected; do
	is "$(went "$script")" "$expected" "gRPC frames are understood: $script"
done <<'END'
bytes ok||abcd|2|length
one-frame ok||abcd|2|length
late-end ok||ab|1|length
no-trailers cut|the response ended without a gRPC status|abcd|2|length
no-trailers-short cut|the response ended without a gRPC status|ab|1|
trailers-only in-band|UNAVAILABLE: not here, 100%||0|
in-headers-too ok||abcd|2|length
strange-status in-band|status 99: what|abcd|2|length
no-number in-band|UNKNOWN|abcd|2|length
compressed malformed|message is compressed, but only uncompressed messages were requested||0|length
no-message malformed|expected a gRPC message, got the first byte 60||0|
bad-message malformed|GenerationResponse: malformed message||0|length
cut-message cut|the stream ended without its end mark|ab|1|
empty cut|the response has no body||0|
no-end-mark cut|the stream ended without its end mark|ab|1|
http-503 http-status|upstream is gone||0|
END
is "$(went closed | sed 's/|[^|]*|.*//' | sed 's/^reset$/cut/' | sort -u)" cut "a connection that ends within an answer"
is "$(went reset | cut -d'|' -f1 | sort -u)" reset "a stream that is reset"
contains "$(went reset)" "CANCEL" "a reset stream has its reason"

# A server closing its connection after each request: its bytes are read, and unprocessed requests are sent on another one.
ipf-sched -q closed:users=1,n=6 -t one.trace -o three.sched # in place of the three
is "$(went goodbye)" "ok||abcd|2|length" "a request sent after the server's GOAWAY is sent again on another connection"
is "$(jq -c 'select(.n != null) | .connection.id' goodbye.records | sort -u | wc -l)" 6 "requests after GOAWAY get connections of their own"
between "$(jq -s 'map(.connection.stream_resets // 0) | add' goodbye.records)" 4 6 "requests after GOAWAY record the refused stream"
is "$(went goodbye-in-time)" "ok||abcd|2|length" "GOAWAY right after a response does not harm it"
is "$(went goodbye-closed)" "ok||abcd|2|length" "the end of the connection after GOAWAY does not harm the response"
is "$(went goodbye-always)" "reset|HTTP/2 stream reset 100 times||0|" "a server that sends nothing but GOAWAY fails"
contains "$(went closed-behind)" "ok||abcd|2|length" "an end without GOAWAY leaves the text of the response before it"
is "$(jq -c 'select(.n != null and .status == 200) | .headers' closed-behind.records |
	sort -u)" '{"grpc-status":"0"}' "an end without GOAWAY leaves the status of the response before it"

# The time of a message is the time of the read with its last byte, not its first.
is "$(ipf-collect -q late-end.records |
	jq -c 'select(.n == 0) | .ttft_ns >= 100000000')" true "an event's time is its end's"
is "$(jq -c 'select(.n == 0) | [.reads[0][1], (.reads | length) > 1]' late-end.records)" '[7,true]' "the event with the late end began in an earlier read"
is "$(jq -c 'select(.n != null) | .connection.reused' one-frame.records)" 'false
true
true' "connections are used again"
is "$(jq -c 'select(.n != null) | .headers' trailers-only.records |
	sort -u)" '{"grpc-status":"14","grpc-message":"not%20here%2C%20100%25"}' "a status in the headers is kept"
