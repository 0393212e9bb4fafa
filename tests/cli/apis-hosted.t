#!/bin/bash
# Hosted services: requests signed for Amazon's, verified by an implementation of its own; event streams around other streams; bearer tokens of
# Vertex AI. A server in Python plays them.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/helpers/grpc.sh"

command -v python3 >/dev/null || skip_all "no python3 here"
: >server.log
python_server python3 "$TESTS/helpers/hosted_server.py" server.log
URL=http://127.0.0.1:$(cat "$SAID")
VERTEX=$URL/aiplatform/v1/projects/p/locations/l
printf '{"id":"r%d","messages":[{"role":"system","content":"Be short."},{"role":"user","content":"Nr. %d: é \\"x\\""}],"output_tokens":%d}\n' 1 1 4 2 2 5 3 3 6 >lines
trace_of lines >three.trace
ipf-sched -q constant:rate=50,n=3 -t three.trace -o three.sched
export AWS_ACCESS_KEY_ID=AKIDTEST AWS_SECRET_ACCESS_KEY=s3cret-4711 AWS_SESSION_TOKEN=t0ken-4712 AWS_REGION=eu-test-1
export VERTEX_ACCESS_TOKEN=b3arer-4713

went() { # API MODEL ARGUMENTS…: ok, as asked, as sent, finish, counts
	local base=$URL
	case $1 in vertex) base=$VERTEX/publishers/google ;; vertex-openai) base=$VERTEX/endpoints/openapi ;; esac
	: >server.log
	ipf-fire -q -u "$base" --api "$1" -m "$2" -t three.trace three.sched "${@:3}" -o "$1.records" &&
		ipf-collect -q --text "$1.records" | jq -c --slurpfile log server.log 'select(.n != null) | .text as $text
			| [.error.kind, .error.text, .output_tokens_usage == .asked_output_tokens, ([$log[].text] | index($text)) != null, .finish, .input_tokens_usage]' | sort -u
}

for mode in "" --no-stream; do
	is "$(went bedrock 'anthropic.claude-3:0/x' $mode)" '[null,null,true,true,"length",7]' "bedrock ${mode:-streamed}"
	contains "$(jq -r .path server.log |
		head -1)" "/model/anthropic.claude-3%3A0%2Fx/converse" "the path of bedrock contains the model"
	is "$(went sagemaker endpoint-1 $mode)" '[null,null,true,true,"length",7]' "sagemaker ${mode:-streamed}"
	is "$(went vertex gemini-2 $mode)" '[null,null,true,true,"length",7]' "vertex ${mode:-streamed}"
done
is "$(went vertex-openai google/gemini-2)" '[null,null,true,true,"length",7]' "vertex-openai"
is "$(went bedrock m --param temperature=0.5 | wc -l)" 1 "bedrock takes --param"
is "$(ipf-collect -q bedrock.records |
	jq -c 'select(.n != null) | [.events == .asked_output_tokens, .server_total_ns]' | sort -u)" '[true,12000000]' \
	"bedrock has as many events as tokens, and the service's own timing"
# The exchanges of apis-exchanges.t have the time of each event exactly, read by read.
is "$(ipf-collect -q bedrock.records | jq -c 'select(.n != null) | .ttft_ns > 0 and .ttft_ns <= .e2e_ns and .e2e_ns <= .stream_ns')" 'true
true
true' "the first event of bedrock comes before the last, and that before the end of the stream"

# ---- errors ----
is "$(went bedrock throttled |
	cut -d, -f1-4)" '["in-band","throttlingException: Too many tokens, slow down",false' "an exception in the stream"
is "$(went bedrock cut | cut -d, -f1,2)" '["cut","the stream ended without its end mark"' "a message that is not whole"
is "$(went bedrock damaged | cut -d, -f1,2)" '["malformed","damaged event stream"' "a checksum that is wrong"
is "$(AWS_SECRET_ACCESS_KEY=other went bedrock m | cut -d, -f1 | sort -u)" '["http-status"' "bedrock refuses another secret"
contains "$(AWS_REGION=us-other-1 went bedrock m)" '/us-other-1/bedrock/aws4_request' "the signature of bedrock contains the region"
is "$(VERTEX_ACCESS_TOKEN=old went vertex m | cut -d, -f1,2)" '["http-status","no token"' "vertex refuses another token"
run env -u AWS_ACCESS_KEY_ID ipf-fire -q -u "$URL" --api bedrock -m m -t three.trace three.sched
status_is 2 "bedrock without keys ends with 2"
complains ipf-fire "AWS_ACCESS_KEY_ID is not set in the environment: this API requires it to sign requests" "ipf-fire names the missing key before it sends anything"
run env -u AWS_REGION ipf-fire -q -u "$URL" --api sagemaker -m m -t three.trace three.sched
complains ipf-fire "AWS_REGION is not set in the environment, and the host of the URL does not contain the region" "ipf-fire says that the region is missing"
echo key >key
run ipf-fire -q -u "$URL" --api sagemaker -m m --key-file key -t three.trace three.sched
status_is 2 "a key in a file"
complains ipf-fire "--key-file: this API uses AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead" "ipf-fire refuses a key in a file for signed requests"

# ---- showing, and not showing ----
run ipf-fire -v -u "$URL" --api bedrock -m m -t three.trace --probe -o probe.records
status_is 0 "--probe with bedrock ends with 0"
contains "$(cat "$ERR")" "> Authorization: [redacted]" "--probe says that the request is signed"
cat "$ERR" >said
run ipf-collect --explain probe.records
matches "$(cat "$OUT")" '^  inside an Amazon event stream of [0-9]+ bytes$' "--explain shows the envelope of the events"
matches "$(cat "$OUT")" '^ +/delta/text +"' "--explain shows the event in its envelope"
contains "$(cat "$OUT")" 'result: ok, content events 4, output tokens 4 from "usage", input tokens 7, ' "--explain sums up a response of bedrock"
is "$(cat said ./*.records "$OUT" |
	grep -cE 's3cret-4711|t0ken-4712|b3arer-4713|Signature=')" 0 "no output contains a secret or a signature"
