#!/bin/bash
# Answers as long as asked for, or as long as the model likes: lengths requested, lengths received, and the report on
# them.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

server_start --eos-mean 15 --step-base 1ms --log server.log
ipf-prep sharegpt "$ROOT/examples/chat.json" --input-tokens 40 --output-tokens 50 -q -o chat.trace
ipf-sched constant:rate=100,n=60 -t chat.trace -q -o chat.sched
all_logged() { [ "$(wc -l <server.log)" = 60 ]; }
go() { # OPTIONS OF ipf-fire…
	: >server.log
	ipf-fire -q -u "$URL" -m sim -t chat.trace chat.sched "$@" -o run.records
	wait_for all_logged # before the next run begins
	ipf-collect -q -t approx run.records -o run.results
	ipf-report -f json run.results >report.json
	body run.results | jq -c 'select(has("n"))' >rows.json
}
check() { jq -r --arg name "$1" '.verdict.checks[] | select(.name == $name).status' report.json; }

go
is "$(jq -s 'map(select(.ok)) | length' rows.json)" 60 "answers that end early are answers"
between "$(jq .total.tokens.output.mean report.json)" 8 25 "answers that end early are as long as the model likes"
is "$(jq .total.tokens.asked_output.mean report.json)" 50 "the report has the mean of the lengths asked for"
isnt "$(check server_answers)" OK "the verdict does not pass answers that end early"
contains "$(jq -c .total.tokens.finish_reasons report.json)" '"stop"' "the finish reason tells why"

go --exact-output
is "$(jq -c '.total.tokens.output | [.min, .mean, .max]' report.json)" "[50,50,50]" "--exact-output: exactly as long as asked for"
is "$(check server_answers)" OK "the verdict passes answers of exact length"
is "$(jq -s -c 'map([.prompt_tokens, .output_tokens]) | unique' server.log)" "[[40,50]]" "the server saw the lengths of the trace"
is "$(jq -s -c 'map([.input_tokens, .output_tokens_usage, .output_tokens_tokenizer, .events]) | unique' rows.json)" "[[40,50,50,50]]" \
	"usage, tokenizer and events count the same"

go --exact-output --no-stream
is "$(jq -s -c 'map([.ok, .output_tokens, .events]) | unique' rows.json)" "[[true,50,1]]" "--no-stream: the same in one piece"
is "$(jq -s 'map(select(.e2e_ns > 0)) | length' rows.json)" 60 "answers in one piece have an E2E"
is "$(jq -s 'map(select(has("ttft_ns") or has("ttfa_ns") or has("tpot_ns"))) | length' rows.json)" 0 "answers in one piece have no TTFT, TTFA and TPOT"

go --exact-output --api openai-completions
is "$(jq -s -c 'map([.ok, .input_tokens, .output_tokens]) | unique' rows.json)" "[[true,40,50]]" "--api openai-completions: the same through the other API"
is "$(jq -s -r 'map(.path) | unique[]' server.log)" /v1/completions "the server is asked at /v1/completions"

# More tokens in an event than one: three differing counts, and a report saying so.
go --exact-output -H "X-Sim: multi;tokens=5"
is "$(jq -s -c 'map([.output_tokens, .events]) | unique' rows.json)" "[[50,10]]" "five tokens an event: ten events"
is "$(jq -c .total.tokens.source report.json)" '"usage"' "the figures use the server's count"
