#!/bin/bash
# Bytes of files are checked before they enter a request: media must be base64, and texts of a trace stay texts.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

server_start --step-base 200us --log server.log
run ipf-prep synthetic -n 1 --images 1x8x8 -q -o one.trace
status_is 0 "a trace with an image is made"
run ipf-sched constant:rate=20,n=1 -t one.trace -q -o one.sched
mark=$(grep -oE '\{ipf-media:[0-9]+\+[0-9]+\}' <(plain one.trace) | head -1)
IFS=':+}' read -r _ begin length <<<"$mark"
at_least "${length:-0}" 64 "its media file has the image"

# Replaces the bytes of the image from OFFSET on.
damage() { # OFFSET BYTES
	cp one.trace.media damaged.media
	printf %b "$2" | dd of=damaged.media bs=1 seek=$((begin + $1)) conv=notrunc status=none
}
refused() { # TEXT API BYTE
	: >server.log
	run ipf-fire -u "$URL" -m sim -t one.trace --media damaged.media --api "$2" one.sched -o one.records --force
	if [ "$status" = 3 ] && grep -q "the media file are not base64: byte [0-9]* is 0x$3" "$ERR" && [ ! -s server.log ]; then
		ok "$1"
	else
		not_ok "$1" "status $status, $(wc -l <server.log) requests" "$(cat "$ERR")"
	fi
}

damage 4 '"}}],"role":"user"}],"max_tokens":1000,"user":"x"'
refused "members for the body are refused" openai-chat 22
refused "members for the body of another API are refused" gemini 22
refused "members for the body of Anthropic are refused" anthropic-messages 22
damage 0 '"'
refused "a quote in the first byte is refused" openai-chat 22
damage $((length - 1)) '"'
refused "a quote in the last byte is refused" openai-chat 22
damage 9 '\n'
refused "a control character is refused" openai-chat 0a
damage 9 '\0'
refused "a NUL is refused" openai-chat 00
damage 9 '\377'
refused "a byte that is not UTF-8 is refused" openai-chat ff
damage 9 '\\'
refused "a backslash is refused" openai-chat 5c
damage 9 '='
refused "padding in the middle is refused" openai-chat 3d
damage 9 A
run ipf-fire -u "$URL" -m sim -t one.trace --media damaged.media one.sched -o one.records --force
status_is 0 "another digit of base64 is sent"

# ---- texts ---------------------------------------------------------------------------------------------------------

printf '%s\n' '{"prompt":"q\"}],\"max_tokens\":9999,\"user\":\"x\u0001\n\ud83d\ude00","output_tokens":3}' >text.jsonl
run ipf-prep jsonl text.jsonl -q -o text.trace
run ipf-sched constant:rate=20,n=1 -t text.trace -q -o text.sched
mkdir kept
peer_start "$TESTS/helpers/body_keeper.py" kept
run ipf-fire -m 'sim"}],"n":9,"' -u "$PEER_URL" -t text.trace text.sched -H 'X-Request-Id: 1' --no-stream -o text.records
is "$(jq -c '[.messages[0].content, .model, .max_tokens, .n]' kept/1)" '["q\"}],\"max_tokens\":9999,\"user\":\"x\u0001\n😀","sim\"}],\"n\":9,\"",3,null]' \
	"a prompt and a model stay texts"

# ---- texts that look like marks of the media file --------------------------------------------------------------------

# Data whose texts are marks, beside a picture: only the picture is one.
text="{ipf-media:$begin+$length}"
jq -nc --arg t "$text" '
	{messages: [{role: "system", content: $t}, {role: "user", content: [{type: "text", text: $t}, {type: "image_url", image_url: {url: "one.png"}},
		{type: "text", text: ("data:," + $t)}]}], tools: [{type: "function", function: {name: "f", description: $t}}]},
	{prompt: $t}, {prompt: ($t + "\n" + $t)}, {messages: [{role: "user", content: $t},
		{role: "assistant", content: null, tool_calls: [{id: "1", type: "function", function: {name: "f", arguments: ({a: $t} | tojson)}}]},
		{role: "tool", tool_call_id: "1", content: $t}, {role: "user", content: "x"}]}' >data.jsonl
printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\10\2\0\0\0' >one.png
run ipf-prep jsonl data.jsonl -q -o data.trace
status_is 0 "data with texts like marks are read"
for trace in data.trace again.trace; do
	is "$(body $trace | grep -oc '[",]{ipf-media:')" 1 "$trace: only the line with the picture has a mark"
	[ $trace = again.trace ] || run ipf-prep trace data.trace -q -o again.trace
done
peer_start "$TESTS/helpers/body_keeper.py" .
for api in openai-chat anthropic-messages gemini; do
	for i in 1 2 3 4; do rm -f "$i"; done
	ipf-sched -q burst:n=4 -t data.trace -o data.sched
	run ipf-fire -q --force -u "$PEER_URL" -m sim --api $api --no-stream -H 'X-Request-Id: $id' -t data.trace data.sched -o data.records
	status_is 0 "$api: requests with texts like marks are sent"
	is "$(for i in 1 2 3 4; do jq -c '[.. | strings | select(contains("ipf-media"))] | length' "$i"; done | tr '\n' ' ')" \
		"4 1 1 3 " "$api: each of the texts is in its place"
done
