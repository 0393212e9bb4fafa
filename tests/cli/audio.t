#!/bin/bash
# Transcriptions, from traces to reports: the audio is sent as a form, byte for byte, over each transport; real-time factors are those of a
# server whose service time is known: 10 ms, and 0.05 of the length of the audio.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/nginx.sh"
audio=$TESTS/helpers/audio.py
server_start --audio-base 10ms --audio-factor 0.05 --log server.log
ipf-prep synthetic -q -n 30 --input-tokens 12 --audio uniform:0.3s-3s,rate=8000 -o a.trace
ipf-sched -q constant:rate=30,n=30 -t a.trace -o a.sched

fire() { # URL ARGUMENTS…: a.records and a.results of the trace; the log of the server is of this run
	: >server.log
	run ipf-fire -q -m w --api openai-transcriptions -t a.trace a.sched -H 'X-Request-Id: $id' -u "$@" -o a.records --force
	status_is 0 "ipf-fire ${*:2}"
	ipf-collect -q --text a.records -o a.results
}
rows() { requests a.results; }
agrees() { # WHAT
	ipf-report -q -f json a.results >report.json
	is "$(python3 "$audio" a.trace a.trace.media server.log a.results report.json)" "30 requests" "$1"
}

# ---- each form of answer ----------------------------------------------------------------------------------------------------------
fire "$URL" --no-stream
agrees "whole: files, lengths and real-time factors are right"
is "$(rows | jq -sc 'map([.ok, .not_streamed, .ttft_ns, .output_tokens == (.audio_ns / 250e6 | floor), .tokens_source]) | unique')" \
	'[[true,"not-asked",null,true,"usage"]]' "whole: as many tokens as words"
is "$(jq -c .fields server.log | sort -u)" '[["model","w"],["response_format","json"]]' "whole: the fields"
is "$(jq -r .filename server.log | sort -u)" audio.wav "whole: the name of the file"
fire "$URL"
agrees "OpenAI's events: the same"
is "$(rows | jq -sc 'map([.ok, .events == .output_tokens, .ttft_ns < .e2e_ns or .events == 1 or .coalesced == .events, .text == "word " * .events]) | unique')" \
	'[[true,true,true,true]]' "OpenAI's events: a word each"
is "$(jq -c .fields server.log | sort -u)" '[["model","w"],["response_format","json"],["stream","true"]]' "OpenAI's events: the fields"
fire "$URL" --param stream_include_usage=true --param 'language="de"' --param 'temperature=0.5' --param 'include[]=["a","b"]'
agrees "vLLM's chunks: the same"
is "$(rows | jq -sc 'map([.ok, .events == .output_tokens, .finish, .input_tokens == (.audio_ns / 20e6 | floor)]) | unique')" '[[true,true,"stop",true]]' \
	"vLLM's chunks: tokens by its usage"
is "$(jq -c '.fields[3:]' server.log | sort -u)" '[["stream_include_usage","true"],["language","de"],["temperature","0.5"],["include[]","a"],["include[]","b"]]' \
	"parameters are fields; lists are several"
fire "$URL" --api openai-translations --no-stream
agrees "translations: the same"
is "$(jq -r .path server.log | sort -u)" /v1/audio/translations "translations: at their path"

# ---- the report -------------------------------------------------------------------------------------------------------------------
matches "$(ipf-report -q --section tokens a.results | tr -s '\n ' ' ')" 'real time a factor of 0\.0[0-9]+ at p50 \([0-9.]+ times faster than real time\), 0\.[0-9]+ at p99' "people are told"
is "$(ipf-report -q -f csv a.results | python3 -c 'import csv, sys; print(round(float(next(csv.DictReader(sys.stdin))["rtf_ms_p50"]), 3))')" \
	"$(jq '.stages[0].latency.rtf_ms.p50 * 1000 | round / 1000' report.json)" "CSV: a column"
ipf-report -q -f html a.results >report.html
contains "$(cat report.html)" "times faster than real time" "page: a sentence"
is "$(ipf-report -q -f json --slo p99:rtf=1s,rtf=1ns a.results | jq -c '[.total.goodput.good, .total.goodput.of]')" "[0,30]" "every request meets objectives on the real-time factor"

# ---- over every transport, and of several megabytes -------------------------------------------------------------------------------
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost >/dev/null 2>&1
rm -f ./*.media a.trace
ipf-prep synthetic -q -n 30 --input-tokens 12 --audio uniform:10s-60s,rate=44100,pool=6 -o a.trace
ipf-sched -q constant:rate=30,n=30 -t a.trace -o a.sched --force
fire "$URL" --no-stream
agrees "HTTP/1.1: files of up to 5 MB"
fire "$URL" --no-stream -H 'Transfer-Encoding: chunked'
agrees "HTTP/1.1: recordings arrive whole in chunks"
if nginx_start "${URL##*:}"; then
	fire "https://localhost:$TLS1" --no-stream --cacert cert.pem --http 1.1
	agrees "TLS: the same"
	fire "http://127.0.0.1:$H2C" --no-stream --http 2-prior
	agrees "HTTP/2: the same"
	fire "https://localhost:$TLS" --no-stream --cacert cert.pem --http 2
	agrees "HTTP/2 over TLS: the same"
else
	skip "transports" "nginx is not installed"
fi

# ---- a form for others ------------------------------------------------------------------------------------------------------
mkdir kept
peer_start "$TESTS/helpers/body_keeper.py" kept
ipf-prep synthetic -q -n 2 --input-tokens 12 --audio 1s -o b.trace
ipf-prep synthetic -q -n 2 --input-tokens 12 --audio 1s >inline.trace
ipf-sched -q burst:n=2 -t b.trace -o b.sched
for trace in b inline; do
	run ipf-fire -q -u "$PEER_URL" -m "it's \"1\"" --api openai-transcriptions --no-stream -t $trace.trace b.sched -H 'X-Request-Id: $id' \
		--param 'a"b="ä\r\nc"' -o b.records --force
	is "$(python3 "$audio" --form kept/1)" "file audio.wav audio/wav 32044 bytes
model it's \"1\"
response_format json
a%22b ä%0D%0Ac" "$trace: Python's e-mail package reads the form"
	cp kept/1 kept/$trace
done
same kept/b kept/inline "a recording in the trace itself is sent as one of the media file"

# ---- data sets ---------------------------------------------------------------------------------------------------------------------
mkdir data
python3 "$audio" --data data
run ipf-prep jsonl --field audio=/audio/path --field output=/text --media-root data data/common.jsonl -o c.trace
status_is 0 "a data set of speech: paths and sentences"
is "$(tail -1 c.trace | jq .end.repeated_prompts)" null "recordings differ, though there is no text"
is "$(body c.trace | jq -c 'select(.id) | [.media[0].kind, .media[0].duration_ns, .output_tokens]' | head -2)" '["audio",500000000,3]
["audio",1000000000,3]' "every row of a data set has its recording, and the length of the sentence"
ipf-sched -q burst:n=2 -t c.trace -o c.sched
: >server.log
run ipf-fire -q -u "$URL" -m w --api whisper -t c.trace c.sched -o c.records
is "$(jq -s -c 'map(.audio_ns) | sort' server.log)" '[500000000,1000000000]' "recordings of a data set are sent"

# ---- errors ---------------------------------------------------------------------------------------------------------------
wrong() { # WHAT ERROR ARGUMENTS…
	fire "$URL" -H "X-Sim: $1" "${@:3}"
	is "$(rows | jq -sc 'map([.ok, .error.kind, .error.text, .rtf_ns == null or .e2e_ns != null]) | unique')" "[[false,$2,true]]" "$1: a failure"
	is "$(ipf-report -q -f json a.results | jq -c '.total.latency.rtf_ms')" null "$1: no factor"
}
rm -f ./*.media a.trace
ipf-prep synthetic -q -n 30 --input-tokens 12 --audio 1s,rate=8000 -o a.trace
ipf-sched -q constant:rate=30,n=30 -t a.trace -o a.sched --force
wrong 'status;code=500' '"http-status","the server was told to fail"'
wrong error-inband '"in-band","the engine died"' --no-stream
wrong garbage '"malformed","event is not JSON: {\"data\":[{\"ind"' --no-stream
wrong nothing '"cut","the response has no body"' --no-stream
fire "$URL" -H 'X-Sim: cut'
is "$(rows | jq -sc 'map([.ok, .events, .error.kind]) | unique')" '[[false,2,"cut"]]' "cut: a failure"

refused() { # TEXT PART ARGUMENTS…
	run ipf-fire -q -m w -u "$URL" --api openai-transcriptions "$3.sched" -t "$3.trace" -o x.records --force "${@:4}"
	status_is 3 "$1: refused"
	contains "$(cat "$ERR")" "$2" "$1: the reason"
}
ipf-prep synthetic -q -n 30 --input-tokens 12 -o text.trace
ipf-prep synthetic -q -n 30 --input-tokens 12 --images 1x8x8 -o image.trace
for trace in text image; do ipf-sched -q burst:n=30 -t $trace.trace -o $trace.sched; done
refused "prompts without audio" 'request 0 of the trace: messages: expected a recording, which this API transcribes' text
refused "images" 'messages: expected a recording' image
refused "a field with the boundary" 'a field of the form contains its boundary' a --param 'x="--ipf-8d0c9f6e2b7a4153a6e0f1d47c38b95e"'
sed '2,$s/UklGR/=klGR/g' a.trace.media >other.media
run ipf-fire -q -m w -u "$URL" --api openai-transcriptions --no-stream -t a.trace --media other.media a.sched -o a.records --force
status_is 3 "a media file that is not base64: the run ends with 3"
contains "$(cat "$ERR")" "of the media file are not base64" "a media file that is not base64: the reason"
