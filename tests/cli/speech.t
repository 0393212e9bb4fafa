#!/bin/bash
# Speech, from texts to reports: each read of audio is an event; lengths, real-time factors and waits of playback are those of a server whose
# audio and pace are known: 60 ms for each byte of the text, 20 ms until the first piece of 100 ms, and 0.3 of its length for all of it.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/nginx.sh"
server_start --audio-base 20ms --audio-factor 0.3 --log server.log
ipf-prep synthetic -q -n 20 --input-tokens uniform:3-12 -o a.trace
ipf-sched -q constant:rate=20,n=20 -t a.trace -o a.sched

fire() { # API ARGUMENTS…: a.records and a.results of the trace; the log of the server is of this run
	: >server.log
	run ipf-fire -q -m tts -t a.trace a.sched -H 'X-Request-Id: $id' -u "$URL" --api "$@" -o a.records --force
	status_is 0 "ipf-fire $*"
	ipf-collect -q a.records -o a.results
	ipf-report -q -f json a.results >report.json
}
rows() { body a.results | jq -c 'select(.n != null)'; }
agrees() { # WHAT
	is "$(python3 "$TESTS/helpers/speech.py" a.records server.log a.results report.json)" "20 answers" "$1"
}

fire openai-speech
agrees "WAV: lengths, factors, waits are right"
is "$(rows | jq -sc 'map([.ok, .output_tokens, .not_streamed, .ttft_ns >= 2e7, .e2e_ns > .ttft_ns])
	| unique')" '[[true,null,null,true,true]]' "WAV: the first audio comes after the header"
between "$(jq '.total.media.uninterrupted' report.json)" 0.5 1 "the report: answers do not wait, but for what a busy machine adds"
matches "$(ipf-report -q --section tokens a.results | tr -s '\n ' ' ')" 'audio [0-9.]+ s of answers a second; [0-9.]+ % of them play without a wait' "people are told"
matches "$(ipf-report -q --section tokens a.results | tr -s '\n ' ' ')" 'real time a factor of 0\.[0-9]+ at p50' "and of the factor"
fire tts-pcm
agrees "samples without a header: the same"
fire openai-speech -H 'X-Sim: stall;after=2;pause=900ms'
agrees "a pause: playback waits for what is missing"
is "$(rows | jq -sc 'map(.playback_wait_ns > 3e8) | unique')" '[true]' "a pause of 900 ms after 200 ms of audio"
is "$(jq '.total.media.uninterrupted' report.json)" 0 "the report: each waits"
fire openai-speech --param 'speed=1.5'
matches "$(ipf-collect --explain a.records 2>/dev/null)" ' reads? with audio of [0-9.]+ ?m?s' "--explain says how long it is"
agrees "with a parameter"

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

# ---- what goes wrong ---------------------------------------------------------------------------------------------------------------
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
fire openai-speech --param 'response_format="mp3"'
is "$(rows | jq -sc 'map([.ok, .error.status]) | unique')" '[[false,400]]' "a format that the server does not have"
run ipf-fire -q -m tts -t a.trace a.sched -u "$URL" --api openai-speech --no-stream -o x.records
status_is 2 "--no-stream: refused"
