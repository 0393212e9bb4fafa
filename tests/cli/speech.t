#!/bin/bash
# Speech, from texts to reports: each read of audio is an event; lengths, real-time factors and waits of playback are those of a server whose
# audio and pace are known: 60 ms for each byte of the text, 20 ms until the first piece of 100 ms, and 0.3 of its length for all of it.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/nginx.sh"
server_start --audio-base 20ms --audio-factor 0.3 --log server.log
ipf-prep synthetic -q -n 20 --input-tokens uniform:3-12 -o a.trace
ipf-sched -q constant:rate=20,n=20 -t a.trace -o a.sched

all_logged() { [ "$(wc -l <server.log)" = "${LOGGED:-20}" ]; }
fire() { # API ARGUMENTS…: a.records and a.results of the trace; the log of the server is of this run
	: >server.log
	run ipf-fire -q -m tts -t a.trace a.sched -H 'X-Request-Id: $id' -u "$URL" --api "$@" -o a.records --force
	status_is 0 "ipf-fire $* ends with 0"
	wait_for all_logged # before the next run begins
	ipf-collect -q a.records -o a.results
	ipf-report -q -f json a.results >report.json
}
rows() { requests a.results; }
agrees() { # WHAT
	is "$(python3 "$TESTS/helpers/speech.py" a.records server.log a.results report.json)" "20 answers" "$1"
}

fire openai-speech
agrees "WAV: lengths, factors, waits are right"
is "$(rows | jq -sc 'map([.ok, .output_tokens, .not_streamed, .ttft_ns >= 2e7, .e2e_ns > .ttft_ns])
	| unique')" '[[true,null,null,true,true]]' "WAV: the first audio comes after the header"
# A busy machine's additions are taken out of it: the first read comes after 20 ms, and each other one 30 ms later.
body a.records | jq -c 'if .n == null then . else .start_ns as $start | .reads |= [to_entries[] | ($start + 20000000 + 30000000 * .key) as $t | [$t, .value[1], $t]] |
	.first_byte_ns = .reads[0][0] | .end_ns = .reads[-1][0] end' >calm.lines
seal a.records calm.lines >calm.records
ipf-collect -q calm.records -o calm.results
is "$(ipf-report -q -f json calm.results | jq -c '.total | [.media.uninterrupted, .latency.rtf_ms.max < 1000]')" "[1,true]" "the report: no answer waits whose audio comes in time"
matches "$(ipf-report -q --section tokens calm.results | tr -s '\n ' ' ')" 'audio [0-9.]+ s of answers a second; [0-9.]+ % of them play without a wait' "the text says how many answers play without a wait"
matches "$(ipf-report -q --section tokens calm.results | tr -s '\n ' ' ')" 'real time a factor of 0\.[0-9]+ at p50' "the text has the real-time factor"
fire tts-pcm
agrees "samples without a header: the same"
fire openai-speech -H 'X-Sim: stall;after=2;pause=5s'
agrees "a pause: playback waits for what is missing"
is "$(rows | jq -sc 'map(.playback_wait_ns > 1e9) | unique')" '[true]' "a pause of 5 s after 200 ms of audio is a wait, also where the first audio is read late"
is "$(jq '.total.media.uninterrupted' report.json)" 0 "the report: each waits"
fire openai-speech --param 'speed=1.5'
matches "$(ipf-collect --explain a.records 2>/dev/null)" ' reads? with audio of [0-9.]+ ?m?s' "--explain says how long it is"
agrees "a parameter"

# ---- over every transport -----------------------------------------------------------------------------------------------------------
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost >/dev/null 2>&1
if nginx_start "${URL##*:}"; then
	straight=$URL
	URL=https://localhost:$TLS1 && fire openai-speech --cacert cert.pem --http 1.1
	agrees "TLS: the same"
	URL=http://127.0.0.1:$H2C && fire openai-speech --http 2-prior
	agrees "HTTP/2: the same"
	URL=https://localhost:$TLS && fire openai-speech-pcm --cacert cert.pem --http 2
	agrees "HTTP/2 over TLS: the same"
	URL=$straight
else
	skip "transports" "nginx is not installed"
fi

# ---- errors ---------------------------------------------------------------------------------------------------------------
wrong() { # MODE ERROR
	fire openai-speech -H "X-Sim: $1"
	is "$(rows | jq -sc 'map([.ok, .error.kind, .error.text, .rtf_ns != null]) | unique')" "$2" "$1: a failure"
	is "$(jq -c '[.total.latency.rtf_ms, .total.media]' report.json)" '[null,null]' "$1: no figures"
}
wrong 'status;code=429' '[[false,"http-status","the server was told to fail",false]]'
wrong error-inband '[[false,"in-band","the engine died",false]]'
wrong nothing '[[false,"cut","the response has no body",false]]'
fire openai-speech -H 'X-Sim: cut'
is "$(rows | jq -sc 'map([.ok, .error.kind]) | unique')" '[[false,"cut"]]' "cut: a failure"
LOGGED=0 fire openai-speech --param 'response_format="mp3"'
is "$(rows | jq -sc 'map([.ok, .error.status]) | unique')" '[[false,400]]' "a format that the server does not have"
run ipf-fire -q -m tts -t a.trace a.sched -u "$URL" --api openai-speech --no-stream -o x.records
status_is 2 "ipf-fire refuses --no-stream"
