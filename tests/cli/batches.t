#!/bin/bash
# Batches of embeddings, rankings and scores, from traces to reports, against a server whose service time is known: 4 ms and 1 ms an input.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
PATH=$BIN:$PATH

server_start --batch-base 4ms --batch-input 1ms
ipf-prep synthetic -q -n 60 --batch uniform:1-24 --input-tokens 12 -o embed.trace
ipf-prep synthetic -q -n 60 --batch uniform:1-24 --input-tokens 12 --query-tokens 5 -o rank.trace

ran() { # NAME API TRACE ARGUMENTS…: NAME.records and NAME.results of 60 requests
	ipf-sched -q -t "$3" -o "$1.sched" constant:rate=100,n=60 &&
		ipf-fire -q -u "$URL" -m m --api "$2" -t "$3" "$1.sched" "${@:4}" -o "$1.records" && ipf-collect -q -o "$1.results" "$1.records" ||
		not_ok "$1: a run"
}
rows() { jq -c 'select(.n != null)' "$1.results"; }

# ---- each API: as many results as inputs, tokens by the server's count ------------------------------------------------------------
while read -r name api tokens; do
	trace=embed.trace
	case $api in *rank* | *score) trace=rank.trace ;; esac
	ran "$name" "$api" $trace
	is "$(rows "$name" | jq -sc 'map([.ok, .outputs == .inputs, .ttft_ns, .output_tokens]) | unique')" '[[true,true,null,null]]' \
		"$api: all are answered, with a result for each input"
	is "$(rows "$name" | jq -sc 'sort_by(.req) | map(.inputs)')" "$(jq -c 'select(.id) | .inputs | length' $trace | jq -sc .)" "$api: inputs are those of the trace"
	is "$(rows "$name" | jq -sc --argjson each "$tokens" 'map([.input_tokens_usage, .asked_input_tokens] == [$each * .inputs, $each * .inputs]) | unique')" \
		'[true]' "$api: input tokens, of the server and of the trace"
	is "$(rows "$name" | jq -sc 'map(.e2e_ns >= 1e6 * (4 + .inputs)) | unique')" '[true]' "$api: no answer comes before its service time"
	is "$(rows "$name" | jq -sc 'map((.e2e_ns / .inputs - .per_input_ns | fabs) <= 0.5) | unique')" '[true]' "$api: time per input"
done <<'END'
openai openai-embeddings 12
cohere cohere-embed 12
tei tei-embed 12
jina jina-rerank 17
cohere2 cohere-rerank 17
tei2 tei-rerank 17
score vllm-score 17
nim nim-ranking 17
END
is "$(ipf-fire --list-apis | awk '$2 == "embed" || $2 == "rank" {print $1}' | sort | paste -sd' ')" \
	"cohere-embed cohere-rerank jina-rerank nim-ranking openai-embeddings tei-embed tei-rerank vllm-score" "every API of embeddings and rankings was tried"

# ---- a report, computed a second time from the rows -------------------------------------------------------------------------------
agrees() { # NAME WHAT
	ipf-report -q -f json "$1.results" >"$1.json"
	is "$(python3 "$TESTS/helpers/batches.py" "$1.results" "$1.json")" "" "$2"
}
sizes_of() { python3 -c 'import json, sys; print(*json.load(open(sys.argv[1]))["total"]["by_inputs"])' "$1.json"; }
agrees openai "embeddings: throughput, and latency by powers of two"
agrees jina "rankings: the same"
ipf-prep synthetic -q -n 60 --batch 8 --input-tokens 12 -o eights.trace
ran eights openai-embeddings eights.trace
agrees eights "batches of one size"
is "$(sizes_of eights)" 8 "batches of one size make one group"
printf '1 1\n8 1\n32 1\n' >sizes
ipf-prep synthetic -q -n 60 --batch histogram:sizes --input-tokens 12 --query-tokens 4 -o three.trace
ran three jina-rerank three.trace
agrees three "three sizes"
is "$(sizes_of three)" "1 8 32" "few sizes: a group for each"
is "$(jq -c '.total.by_inputs | to_entries | map(.value.latency.e2e_ms.from_start.min >= 4 + (.key | tonumber)) | unique' three.json)" '[true]' \
	"E2E of every size is at least its service time"

ipf-report -q three.results >three.text
matches "$(cat three.text)" 'inputs +[0-9.,]+/s; [0-9.]+ a request, at most 32' "text: inputs per second"
is "$(sed -n '/By inputs of a request/,/^$/p' three.text | awk '/^ *(1|8|32) /{print $1, $2}' | paste -sd' ')" \
	"$(for size in 1 8 32; do jq -r --arg size $size '"\($size) \(.total.by_inputs[$size].requests.ok)"' three.json; done | paste -sd' ')" "text: a row for each size"
is "$(sed -n '/^Stages/,$p' three.text | grep -cE 'TTFT|TPOT|ITL')" 1 "text: nothing of tokens that come one by one, but a line that says so"
ipf-report -q -f html three.results >three.html
is "$(grep -c 'id="batches-table"' three.html)" 1 "page: a table"
is "$(ipf-report -q -f csv three.results | python3 -c 'import csv, sys; r = next(csv.DictReader(sys.stdin)); print(round(float(r["inputs_per_s"]), 3), float(r["inputs_mean"]) > 1, float(r["per_input_ms_p50"]) > 0)')" \
	"$(jq -r '.stages[0].throughput.inputs_per_s * 1000 | round / 1000' three.json) True True" "CSV has columns of inputs"
is "$(ipf-report -q -f csv --by inputs three.results | cut -d, -f1,2 | tail -n +2 | grep -cE ',(1|8|32)$')" 6 "CSV --by inputs: rows of stage and total"
ipf-report compare -q -f json three.results -- three.results >compared.json
is "$(jq -c '.figures[] | select(.name == "inputs") | [.unit, .base == .new]' compared.json)" '["per s",true]' "a comparison has inputs per second"
run ipf-report compare -q --fail-if 'inputs < -5%' three.results -- three.results
status_is 0 "compare --fail-if takes inputs"

# ---- errors -----------------------------------------------------------------------------------------------------------
wrong() { # NAME MODE API TRACE KIND TEXT
	ran "$1" "$3" "$4" -H "X-Sim: $2"
	is "$(rows "$1" | jq -sc 'map(select(.inputs > 4)) | map([.ok, .error.kind, (.error.text | gsub("[0-9]+"; "N"))]) | unique')" \
		"[[false,\"$5\",\"$6\"]]" "$3, $2: $5"
	is "$(ipf-report -q -f json "$1.results" | jq '.total.requests.failed > 40')" true "$3, $2: failures"
}
wrong short 'short;tokens=3' openai-embeddings embed.trace malformed "the response has N results for N inputs"
wrong short2 'short;tokens=1' jina-rerank rank.trace malformed "the response has N result for N inputs"
wrong index index jina-rerank rank.trace malformed "several results have the index of the same input"
wrong index2 index openai-embeddings embed.trace malformed "several results have the index of the same input"
wrong inband error-inband jina-rerank rank.trace in-band "the engine died"
wrong inband2 error-inband openai-embeddings embed.trace in-band "the engine died"
wrong garbage garbage vllm-score rank.trace malformed 'event is not JSON: {\"data\":[{\"ind'
wrong nothing nothing tei-rerank rank.trace cut "the response has no body"
agrees short "latency of what succeeded among failures"
is "$(jq -c '[.total.by_inputs[] | select(.requests.ok == 0) | .latency] | unique' short.json)" '[{}]' "sizes that all failed have no latency"

# Fewer results than inputs are right if the request asks for fewer.
ran top jina-rerank rank.trace --param top_n=3
is "$(rows top | jq -sc 'map([.ok, .outputs == ([.inputs, 3] | min)]) | unique')" '[[true,true]]' "top_n: as many as asked for"
is "$(jq -sc 'map(select(.n != null)) | map(.asked_outputs == (if .inputs > 3 then 3 else null end)) | unique' top.records)" '[true]' "the records say how many"
ran less jina-rerank rank.trace --param top_n=3 -H 'X-Sim: short;tokens=2'
is "$(rows less | jq -sc 'map(select(.inputs > 2)) | map(.error.text) | unique')" '["the response has 2 results for 3 inputs"]' "top_n: fewer than asked for"

# A single prompt is a batch of one.
ipf-prep synthetic -q -n 60 --input-tokens 12 --prompt text -o one.trace
ran one openai-embeddings one.trace
is "$(rows one | jq -sc 'map([.ok, .inputs, .outputs]) | unique')" '[[true,1,1]]' "a request of one prompt has one input and one result"
is "$(ipf-report -q one.results | grep -c 'By inputs')" 0 "requests of one input get no table of sizes"

# ---- refusals before anything is sent ------------------------------------------------------------------------------------
refused() { # WHAT ERROR API TRACE SCHEDULE
	run ipf-fire -q -u "$URL" -m m --api "$3" -t "$4" "$5" -o refused.records --force
	status_is 3 "$1: refused"
	matches "$(cat "$ERR")" "$2" "$1: the reason"
}
refused "a chat of batches" "request [0-9]+ of the trace: inputs: this API does not accept this kind of prompt" openai-chat embed.trace openai.sched
refused "embeddings of a ranking" "request [0-9]+ of the trace: query: this API does not rank inputs for a query" openai-embeddings rank.trace jina.sched
refused "a ranking of embeddings" "request [0-9]+ of the trace: query: missing: this API ranks inputs for a query" jina-rerank embed.trace openai.sched
refused "a ranking of prompts" "request [0-9]+ of the trace: prompt: this API does not accept this kind of prompt" jina-rerank one.trace one.sched

# Copies differ in each input.
ipf-sched -q --new-prompts -t embed.trace -o copies.sched constant:rate=100,n=20 constant:rate=100,n=20
run ipf-fire -q -u "$URL" -m m --api openai-embeddings -t embed.trace copies.sched -o copies.records
status_is 0 "copies of batches are sent"
is "$(jq -sc 'map(select(.n != null)) | map(.request_bytes - 3 * .inputs * (if .copy then 1 else 0 end)) | length' copies.records)" 40 "every copy of a batch is sent"

# ---- options for one prompt only ----------------------------------------------------------------------------------------
twin some.twin model=m step_base_ns=10000000 step_per_sequence_ns=1000000 prefill_tokens_per_s=10000 overhead_ns=3000000
run ipf-twin predict some.twin -t embed.trace openai.sched -o predicted.records
status_is 3 "a twin refuses batches"
matches "$(cat "$ERR")" "^ipf-twin: request [0-9]+ of the trace: inputs: a twin predicts requests of one prompt each$" "ipf-twin names the request with several inputs"
matches "$(ipf-report -q --trace rank.trace --section cache jina.results)" "requests have several inputs each" "the report says that several inputs hide what a prefix cache could find"
