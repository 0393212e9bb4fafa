#!/bin/bash
# Recorded answers replayed by the server token by token: ipf-prep --answer-ids, ipf-fire --answers recorded.
. "$TESTS/tap.sh"
export IPF_REPORT_FULL=1 # all sections of the text
. "$TESTS/fixture.sh"
tokenizer=$TESTS/data/tokenizer/llama.json

server() { # ARGUMENTS OF ipf-sim…
	rm -f asked.log
	server_start --step-base 100us --step-per-seq 0 --prefill-rate 100M --log asked.log "$@"
}
asked() { # how many requests the server got; it is stopped, so that its log is complete
	server_stop
	wc -l <asked.log
}
fire() { # ARGUMENTS OF ipf-fire…: a.records
	rm -f a.records
	run ipf-fire -u "$URL/vllm-tokens" --api vllm-tokens -m sim --answers recorded "$@" -o a.records
}
schedule() { # TRACE: a.sched
	ipf-sched -q closed:users=2 -t "$1" -o a.sched
}
ids_of() { # RECORDS: the ids of each answer, in the order of the trace
	requests "$1" | jq -s -c 'sort_by(.req)[] | [.body | split("\n")[] | select(startswith("data: {")) | .[6:] | fromjson | .choices[].token_ids[]]'
}
nothing_sent() { # TEXT: there are no records, and the server got one request
	is "$(ls a.records 2>/dev/null) $(asked)" " 1" "$1"
}

# ---- the trace ----
run ipf-prep sharegpt "$ROOT/examples/chat.json" --turns dataset --prompt ids -t "$tokenizer" --answer-ids -q -o sessions.trace
status_is 0 "--answer-ids is for sessions, too"
ipf-prep sharegpt "$ROOT/examples/chat.json" -n 8 --prompt ids -t "$tokenizer" --answer-ids -q -o a.trace
body a.trace | jq -c .answer_token_ids >answers
is "$(body a.trace | jq -s -c '[length, all(.output_tokens == (.answer_token_ids | length)), any(.context)]')" "[8,true,false]" \
	"requests without a session have their answers as ids, and ask for their lengths"
ipf-prep sharegpt "$ROOT/examples/chat.json" -n 8 --prompt ids -t "$tokenizer" -q -o plain.trace
is "$(body plain.trace | grep -c answer_token_ids)" 0 "requests without a session have no answers without --answer-ids"
jq -j '[.[0].conversations[] | select(.from == "gpt").value][0]' "$ROOT/examples/chat.json" >text
is "$(head -1 answers)" "$(ipf-prep tokenize -t "$tokenizer" text)" "the ids are the tokens of the recorded answer"
run ipf-prep sharegpt "$ROOT/examples/chat.json" --answer-ids -o x.trace
status_is 2 "--answer-ids requires ids"
stderr_contains "--answer-ids: requires --prompt ids, got messages" "the message names what it requires"
run ipf-prep sharegpt "$ROOT/examples/chat.json" --prompt ids -t "$tokenizer" --answer-ids --output-tokens 5 -o x.trace
status_is 2 "--answer-ids excludes another length"
run ipf-prep synthetic -n 3 --prompt ids -t "$tokenizer" --answer-ids -o x.trace
status_is 2 "synthetic requests have no recorded answer"

# ---- a server with trace replay ----
schedule a.trace
for how in "" --no-stream; do
	server
	fire a.sched -t a.trace $how
	status_is 0 "a server that replays answers is accepted $how"
	is "$(asked)" 9 "one request is sent before those of the run $how"
	rm -f a.results
	ipf-collect -q a.records -o a.results
	is "$(requests a.results | jq -s -c 'sort_by(.req) | map([.output_tokens, .asked_output_tokens])')" "$(jq -s -c 'map([length, length])' answers)" \
		"answers have the lengths of the trace $how"
done
server
fire a.sched -t a.trace
ids_of a.records >got
same got answers "answers have the token ids of the trace"
ipf-collect -q a.records -o recorded.results
is "$(plain a.records | head -1 | jq -r .answers)" recorded "the header of the records names the recorded answers"
is "$(ipf-report -f json recorded.results | jq -r .run.answers)" recorded "the JSON report names the recorded answers"
matches "$(ipf-report recorded.results)" 'answers +recorded' "the text of the report names the recorded answers"
run ipf-fire -q -u "$URL/vllm-tokens" --api vllm-tokens -m sim -t a.trace a.sched -o free.records
status_is 0 "a run without the option succeeds"
is "$(plain free.records | head -1 | jq -c .answers)" null "its header names no recorded answers"
[ "$(ids_of free.records)" != "$(cat answers)" ]
is $? 0 "the model writes other answers without the option"
ipf-collect -q free.records -o free.results
run ipf-report compare -q -f json recorded.results free.results
is "$(jq -c '[.settings[] | select(.name == "records.answers")]' "$OUT")" '[{"base":"recorded","name":"records.answers"}]' "a comparison names the difference"

# ---- sessions ----
schedule sessions.trace
fire a.sched -t sessions.trace
status_is 0 "sessions are replayed"
ids_of a.records >got
body sessions.trace | jq -c .answer_token_ids >expected
same got expected "each turn of a session gets its recorded answer"

# ---- servers without it ----
schedule a.trace
server --trace-replay ignored
fire a.sched -t a.trace
status_is 1 "a server that ignores given answers is refused"
stderr_is "ipf-fire: --answers recorded: $URL/vllm-tokens/inference/v1/generate does not replay given answers: of 32 given tokens, its answer has another one at token 1" \
	"one line names the server and the difference"
nothing_sent "nothing of the run is sent to a server that ignores given answers"
server --trace-replay refused
fire a.sched -t a.trace
status_is 1 "a server that refuses given answers is refused"
stderr_is "ipf-fire: --answers recorded: $URL/vllm-tokens/inference/v1/generate does not replay given answers: status 400: trace_decode_token_ids is set but trace replay is not enabled. Start the engine with --enable-trace-replay to use it." \
	"the message is the server's"
nothing_sent "nothing of the run is sent to a server that refuses given answers"
server --trace-replay refused
one=$URL
server
run ipf-fire -u "$URL/vllm-tokens" -u "$one/vllm-tokens" --api vllm-tokens -m sim --answers recorded a.sched -t a.trace -o x.records
status_is 1 "ipf-fire tries all URLs"
stderr_contains "--answers recorded: $one/vllm-tokens" "the message names the one that refuses"

# ---- refusals ----
run ipf-fire -u "$URL" --api openai-completions -m sim --answers recorded a.sched -t a.trace -o x.records
status_is 2 "an API without a parameter for given answers is refused"
stderr_contains "ipf-fire: --answers recorded: this API has no parameter for a given answer" "the message says that the API has no parameter"
fire a.sched -t a.trace --exact-output
status_is 2 "--exact-output is excluded"
body a.trace | jq -s -c '.[2] |= del(.answer_token_ids) | .[]' >lines
trace_of lines >mixed.trace
server
schedule mixed.trace
fire a.sched -t mixed.trace
status_is 3 "a trace with an answer missing is refused"
stderr_is "ipf-fire: mixed.trace:4: request $(sed -n 3p lines | jq -c .id): answer_token_ids: missing, required by --answers recorded (ipf-prep --answer-ids)" \
	"the message has the line and the id"
is "$(asked)" 0 "nothing is sent if an answer is missing"
server
body a.trace | jq -s -c '.[1].output_tokens += 1 | .[]' >lines
trace_of lines >longer.trace
schedule longer.trace
fire a.sched -t longer.trace
status_is 3 "another length than the answer's is refused"
stderr_contains "longer.trace:3: request" "the message about a wrong length names the line"
body a.trace | jq -c 'del(.output_tokens)' >lines
trace_of lines >without.trace
schedule without.trace
fire a.sched -t without.trace
is "$(requests a.records | jq -s -c 'sort_by(.req) | map(.asked_output_tokens)')" "$(jq -s -c 'map(length)' answers)" "requests without output_tokens ask for the length of their answer"

# ---- requests with known answers are free ----
{ body a.trace && printf '%s\n' '{"id":"c","prompt_token_ids":[1,2,3],"output_tokens":5,"tags":{"canary":{"kind":"copy","answer":"A"}}}'; } >lines
trace_of lines >canary.trace
schedule canary.trace
fire a.sched -t canary.trace
status_is 0 "a canary needs no recorded answer"
is "$(requests a.records | jq -s -c 'sort_by(.req)[-1] | .asked_output_tokens')" 5 "a canary asks for its own length"

# ---- with other options ----
schedule a.trace
fire a.sched -t a.trace --cache warm
is "$status $(plain a.records | head -1 | jq -c '[.cache, .cache_warm.requests, .cache_warm.failed]')" '0 ["warm",8,0]' "a warm cache is filled without the answers"
ids_of a.records >got
same got answers "a run with a warm cache gets the recorded answers"
server
run ipf-fire -u "$URL/vllm-tokens" --api vllm-tokens -m sim --answers recorded -t a.trace --probe -o probe.records
status_is 0 "--probe shows a request with its answer"
contains "$(tr -d ' \n' <"$ERR")" "\"trace_decode_token_ids\":$(head -1 answers)" "the body has the ids of the answer"
is "$(asked)" 1 "--probe sends one request"
