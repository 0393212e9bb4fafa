#!/usr/bin/env bash
# The simulated server's failures as a client of HTTP meets them (test_sim_answer.c tests those in the streams), and its queueing.
. "$TESTS/tap.sh"
. "$TESTS/together.sh"

body='{"messages":[{"role":"user","content":"hello"}],"max_tokens":6,"stream":true,"stream_options":{"include_usage":true}}'
ask() { # MODE [CURL OPTIONS…]: curl's status in $status, the answer in $OUT, its head in head.txt
	local mode=$1
	shift
	status=0
	curl -sSN -m 120 -D head.txt -o "$OUT" "$URL/v1/chat/completions" -H "X-Sim: $mode" -d "$body" "$@" 2>"$ERR" ||
		status=$?
}
tokens() { sed -n 's/^data: *//p' "$OUT" | jq -R 'fromjson? | select((.choices[0].delta.content? // "") != "")' |
	jq -s length; }
http_status() { sed -nE '1s/^HTTP[^ ]* ([0-9]+).*/\1/p' head.txt; }

server_start --step-base 1ms --log log.ndjson

# mode, curl's exit status, the HTTP status, tokens that came, whether [DONE] did
while read -r mode exit_status http came ended; do
	ask "$mode"
	is "$status $(http_status) $(tokens) $(grep -c '\[DONE\]' "$OUT")" "$exit_status $http $came $ended" "curl sees the failure: $mode"
done <<-'END'
	close 0 200 6 1
	cut;after=3 18 200 3 0
	cut;after=3;terminator=1 0 200 3 0
	cut;finish=1 18 200 6 0
	reset;after=3 56 200 3 0
	content-length-short 18 200 6 1
	error-inband;after=2 0 200 2 1
	no-done 0 200 6 0
	malformed;after=2 0 200 6 1
	coalesce 0 200 6 1
	split;pieces=4 0 200 6 1
	crlf 0 200 6 1
	one-token 0 200 1 1
	empty 0 200 0 1
	interim,ping,usage-each 0 103 6 1
	429 0 429 0 0
	500 0 500 0 0
	status;code=404 0 404 0 0
	html200 0 200 0 0
	nothing 0 200 0 0
	whole 0 200 0 0
END
ask reset
is "$status $(wc -c <head.txt | tr -d ' ')" "56 0" "reset before the head"
ask 'reset;pause=20ms'
is "$status" 56 "a reset a while after the request"
ask garbage
is "$status" 1 "garbage is not HTTP"
ask 429
matches "$(cat head.txt)" "^Retry-After: 1" "429 says when to come again"
ask never -m 0.3
is "$status $(wc -c <head.txt | tr -d ' ')" "28 0" "never gives no response"
# The answer is read while it lasts.
begin() { # MODE: $OUT and head.txt of an answer going on
	: >"$OUT"
	curl -sSN -D head.txt -o "$OUT" "$URL/v1/chat/completions" -H "X-Sim: $1" -d "$body" 2>"$ERR" &
	begun=$!
	stop_at_exit $begun
}
more() { [ "$(tokens)" -gt 6 ]; }
begin 'endless;bytes=1000'
yes_if "endless: more tokens come than were asked for" wait_for more
yes_if "endless: the answer does not end" kill -0 $begun
kill $begun
wait $begun 2>/dev/null
is "$(http_status)" 200 "endless: the status is 200"
between "$(awk '/^data: \{/ && length > max { max = length } END { print max }' "$OUT")" 1000 2000 "endless: events are as long as it says"
ask http10
matches "$(head -1 head.txt)" "^HTTP/1.0 200" "http10 has the version in its status line"
is "$status $(tokens) $(grep -ci '^transfer-encoding' head.txt)" "0 6 0" "http10 ends with the connection"
ask 'slow-headers;delay=120ms' -w '%{stderr}%{time_starttransfer}'
at_least "$(cat "$ERR")" 0.12 "slow-headers: the head comes after the delay"
ask 'role-late;delay=400ms' -w '%{stderr}%{time_total}'
at_least "$(cat "$ERR")" 0.4 "role-late: the answer ends after the delay"
begin 'role-late;delay=1h'
yes_if "role-late: the head and the role come before the delay" wait_for grep -q '"role":"assistant"' "$OUT"
is "$(http_status) $(tokens)" "200 0" "role-late: no text comes before the delay"
kill $begun
wait $begun 2>/dev/null
ask 'stall;pause=120ms' -w '%{stderr}%{time_total}'
at_least "$(cat "$ERR")" 0.12 "stall: the answer takes as long as its pause"
ask 'late-end;pause=120ms' -H 'X-Request-Id: late' -w '%{stderr}%{time_total}'
at_least "$(cat "$ERR")" 0.12 "late-end: the answer takes as long as its pause"
yes_if "late-end: the answer is in the log" wait_for grep -q '"id":"late"' log.ndjson
at_least "$(grep '"id":"late"' log.ndjson | jq '(.end_ns - .last_token_ns) / 1e6')" 119 "late-end: the end comes after the last token, as the log says"
ask 'cot'
is "$status $(http_status)" "0 400" "an unknown mode is refused"
body=${body%\}}',"sim":{"mode":"cut","after":2}}'
ask '' # curl leaves such a header out
is "$status $(tokens)" "18 2" "the mode may stand in the body"
body='{"prompt":"hello","stream":true,"max_tokens":6,"sim":{"mode":"cut","after":2}}'
curl -sN "$URL/v1/completions" -d "$body" >"$OUT"
is "$? $(grep -c '"text":"[^"]' "$OUT")" "18 2" "the mode may stand in the body of a completion"

# the whole answers
for mode in cut reset content-length-short malformed error-inband no-usage 'short;tokens=2'; do
	status=0
	curl -sS "$URL/v1/completions" -H "X-Sim: $mode" -d '{"prompt":"hello","max_tokens":6}' >"$OUT" 2>"$ERR" ||
		status=$?
	printf '%s %s %s\n' "${mode%%;*}" "$status" "$(jq -c '[.choices[0].text, .usage.completion_tokens, .error.code]' "$OUT" 2>/dev/null | tail -1)"
done >whole
is "$(sed -E 's/"[^"]{24}"/24/;s/"[^"]{8}"/8/' whole)" "cut 18 
reset 56 
content-length-short 18 [24,6,null]
malformed 0 
error-inband 0 [null,null,500]
no-usage 0 [24,null,null]
short 0 [8,2,null]" "whole answers fail as well"
curl -sS "$URL/jetstream-http/v1/generate" -H 'X-Sim: whole' -d '{"text_content":{"text":"hello"},"max_tokens":6}' >"$OUT" 2>"$ERR"
is "$(jq -s length "$OUT")" 6 "an API that has none streams"

curl -s -o /dev/null "$URL/health" -o /dev/null -w '' "$URL/v1/completions" -H 'X-Sim: idle-close;delay=10ms' -d '{"prompt":"x","max_tokens":1}'
exec 3<>"/dev/tcp/127.0.0.1/${URL##*:}"
printf 'POST /v1/completions HTTP/1.1\r\nHost: a\r\nX-Sim: idle-close;delay=50ms\r\nContent-Length: 29\r\n\r\n{"prompt":"x","max_tokens":1}' >&3
yes_if "idle-close: the whole answer comes" timeout 120 grep -aq '"completion_tokens":1' <&3
yes_if "idle-close: the connection then ends by itself" timeout 120 cat <&3
exec 3<&-

# ---- by chance ----
server_start --step-base 1ms --fail 503:share=0.3 --seed 7
forty() { curl -s -d '{"prompt":"x","max_tokens":1}' -o /dev/null -w '%{http_code}\n' "$URL/v1/completions?[1-40]"; }
first=$(forty)
is "$(wc -l <<<"$first" | tr -d ' ')" 40 "forty requests are answered or refused"
between "$(grep -c 503 <<<"$first")" 4 22 "three tenths fail, or so"
server_start --step-base 1ms --fail 503:share=0.3 --seed 7
is "$(forty)" "$first" "the same seed makes the same requests fail"

# ---- many at once ----
server_start --step-base 25ms --max-batch 2 --kv-blocks 12 --log batch.ndjson
curls=
hold
for i in 1 2 3 4 5 6; do
	curl -s "$URL/v1/completions" -o /dev/null -d "$(printf '{"prompt":"%s%064d","max_tokens":60}' $i 0)" &
	curls="$curls $!"
done
release 6
waiting() { [ "$(curl -s "$URL/metrics" | sed -n 's/^vllm:num_requests_waiting{.*} //p')" -ge 3 ]; }
yes_if "a full batch makes a queue" wait_for waiting
# shellcheck disable=SC2086 # several words
wait $curls
lines_are() { [ "$(wc -l <"$1")" = "$2" ]; }
wait_for lines_are batch.ndjson 6
is "$(jq -s 'map(.output_tokens) | unique' -c batch.ndjson)" "[60]" "requests of a queue get all their tokens"
metrics=$(curl -s "$URL/metrics")
between "$(sed -n 's/^vllm:num_requests_waiting{.*} //p' <<<"$metrics")" 0 0 "the queue empties"
between "$(sed -n 's/^vllm:kv_cache_usage_perc{.*} //p' <<<"$metrics")" 0 0 "the cache unused"
# Three waves of two, 60 steps each; a wave cannot be quicker.
at_least "$(jq -s '((map(.end_ns) | max) - (map(.arrival_ns) | min)) / 1e6' batch.ndjson)" 4500 "six requests in a batch of two take three waves"
# Two that grow to eight blocks each, and ten there are.
server_start --step-base 20ms --kv-blocks 10 --no-prefix-cache --log preempted.ndjson
curls=
hold
for i in 1 2; do
	curl -s "$URL/v1/completions" -o /dev/null -d "$(printf '{"prompt":"%s%063d","max_tokens":100}' $i 0)" &
	curls="$curls $!"
done
release 2
# shellcheck disable=SC2086
wait $curls
wait_for lines_are preempted.ndjson 2
is "$(jq -s 'map(.output_tokens)' -c preempted.ndjson)" "[100,100]" "requests get all tokens when the cache runs out"
is "$(jq -s 'map(.preemptions) | add > 0' preempted.ndjson)" true "one request had to begin again"
