#!/bin/sh
# Files of other tools: ipf-report reads its own files in their formats again, and the figures agree as far as the format
# carries them; figures a tool states are shown as they are.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
export IPF_REPORT_FULL=1 # all sections of the text
report=$BIN/ipf-report
imports() {
	python3 "$TESTS/helpers/imports.py" "$@"
}

# without the tokenizer's counts, which some of the tools prefer to the server's
python3 "$TESTS/helpers/exports.py" make made.results
head -1 made.results >header
sed '1d;$d' made.results | jq -c 'del(.output_tokens_tokenizer)' >body
seal header body >run.results
"$report" -q -f json run.results >run.json

formats_of() { # NAME: all of them for one tool
	case $1 in vllm*) echo text csv md html junit prometheus openmetrics sql ;; *) echo text ;; esac
}

# ---- requests -------------------------------------------------------------------------------------------------------
for name in vllm-detailed sglang-detailed aiperf-jsonl guidellm inference-perf-requests; do
	"$report" export "$name" -q run.results >"$name.out"
	run "$report" -q -f json "$name.out"
	status_is 0 "$name: requests are read"
	cp "$OUT" "$name.json"
	yes_if "$name: figures agree with the run that was written" imports agree "$name" run.json "$name.json"
	is "$(jq -r '.run.imported.has' "$name.json")" requests "$name: the report says that the file had requests"
	is "$(jq -r '[.verdict.checks[] | select(.status == "UNKNOWN") | .name] | join(" ")' "$name.json")" \
		"load_delivered client_headroom" "$name: the checks of load and client are unknown"
	for format in $(formats_of "$name") requests-csv; do
		run "$report" -q -f "$format" "$name.out"
		status_is 0 "$name: requests are shown as $format"
	done
done
"$report" export vllm-detailed -q vllm-detailed.out >again.out
is "$(jq -c '[.itls, .ttfts, .errors, .latencies]' again.out)" "$(jq -c '[.itls, .ttfts, .errors, .latencies]' vllm-detailed.out)" \
	"vllm-detailed: lists come out as they went in"

run "$report" export vllm -q sglang-detailed.out
status_is 3 "a format of requests needs to know when they started"
complains ipf-report "sglang-detailed.out: vllm requires requests with the times of their starts, which the file does not have" "ipf-report says that -f vllm requires the times of starts"
"$report" export aiperf-jsonl -q aiperf-jsonl.out >again.out
is "$(jq -cS 'del(.metadata.session_num, .metadata.worker_id)' again.out | sort | sha256sum)" \
	"$(jq -cS 'del(.metadata.session_num, .metadata.worker_id)' aiperf-jsonl.out | sort | sha256sum)" "aiperf-jsonl: lines come out as they went in"
jq -c 'if .metadata.session_num % 2 == 0 then .metadata.benchmark_phase = "warmup" else . end' aiperf-jsonl.out >warm.out
is "$("$report" -q -f json warm.out | jq -c '[.stages[] | [.name, .measured]] | sort')" '[["profiling",true],["warmup",false]]' \
	"aiperf-jsonl: a warm-up is not measured"

# ---- figures --------------------------------------------------------------------------------------------------------
jq -c '.benchmarks[].requests |= map_values([])' guidellm.out >guidellm-figures.out
for name in vllm sglang aiperf genai-perf inference-perf guidellm-figures; do
	[ -s "$name.out" ] || "$report" export "$name" -q run.results >"$name.out"
	run "$report" -q -f json "$name.out"
	status_is 0 "$name: figures are read"
	cp "$OUT" "$name.json"
	yes_if "$name: figures are those that the file states" imports states "$name" "$name.out" "$name.json"
	for format in $(formats_of "$name"); do
		run "$report" -q -f "$format" "$name.out"
		status_is 0 "$name: figures are shown as $format"
	done
	for format in requests-csv vllm; do
		run "$report" export "$format" -q "$name.out"
		status_is 3 "$name: -f $format without requests ends with 3"
		complains ipf-report "$name.out: $format requires requests, which the file does not have" "$name: ipf-report says that $format requires requests"
	done
done
run "$report" vllm.out
matches "$(cat "$OUT")" "imported    figures, as stated by the file of vLLM bench serve" "the report says whose figures these are"
run "$report" --percentiles 50,90 -f json vllm.out
is "$(jq -c '.stages[0].latency.ttft_ms.from_start | [has("p50"), has("p90")]' "$OUT")" '[true,false]' "a percentile that is not stated is absent"

# Two stages, each with its percentiles, and no total of them.
run "$report" -q -f html vllm.out
is "$(grep -c 'id="latency-by-stage-table"' "$OUT")" 1 "HTML shows the latencies of stated stages"
run "$report" -q -f json --slo p99:e2e=1us vllm.out
is "$(jq -c '[.stages[], .total | .goodput.objectives[0] | [.value_ms != null, .met]] | unique' "$OUT")" '[[true,null],[true,false]]' "objectives on stated percentiles"
is "$(jq -c '[.stages[].goodput.objectives[0].value_ms] | max' "$OUT")" "$(jq -c '.total.goodput.objectives[0].value_ms' "$OUT")" "the total has the largest of the stages"
is "$(jq -c '[.stages[].goodput.objectives[0].value_ms]' "$OUT")" "$(jq -c '[.stages[].latency.e2e_ms | (.from_due // .from_start).p99]' "$OUT")" "stages have the objectives of their own percentiles"
run "$report" -q --strict --slo p99:e2e=1us vllm.out
status_is 4 "--strict fails a stated percentile"
run "$report" -q --strict --slo p50:e2e=1h vllm.out
status_is 0 "--strict passes a stated percentile"
run "$report" -q --slo p95.5:ttft=1s vllm.out
status_is 3 "a percentile that the file does not state"
matches "$(cat "$ERR")" "^ipf-report: vllm.out: p95.5:ttft=1s: the file does not state p95.5 of ttft; it has p50" "ipf-report says which percentiles the file states"

# ---- files the tools wrote --------------------------------------------------------------------------------------
data=$TESTS/data/imports
"$report" -q -f json "$data/aiperf-0.13.0.json" >stated.json
is "$(jq -r '.run | [.imported.tool, .imported.version, .model, .target] | join(" ")' stated.json)" \
	"AIPerf 0.13.0 sim http://127.0.0.1:41297" "a file of AIPerf says its version, the model and the target"
for pair in aiperf-0.13.0.json:aiperf-0.13.0.jsonl aiperf-0.13.0-failed.json:aiperf-0.13.0-failed.jsonl \
	inference-perf-0.7.0.json:inference-perf-0.7.0-requests.json genai-perf-0.0.16.json:genai-perf-0.0.16-requests.json; do
	"$report" -q -f json "$data/${pair%:*}" >stated.json
	run "$report" -q -f json "$data/${pair#*:}"
	cp "$OUT" imported.json
	yes_if "${pair%:*}: the tool's own figures are those that we compute from its requests" imports same "${pair%%-0.*}" stated.json imported.json
	is "$(jq -r '[.run.imported.has, .total.requests.failed // 0] | join(" ")' stated.json imported.json | tr '\n' ' ')" \
		"$(case $pair in aiperf-0.13.0.json* | genai*) echo 'figures 0 requests 0 ' ;; *) echo 'figures 1 requests 1 ' ;; esac)" \
		"${pair%:*}: the tool's failures are those of its requests"
done
is "$(jq -c '[.run | has("duration_s"), has("started")]' stated.json imported.json | tr '\n' ' ')" "[false,false] [true,true] " \
	"the duration is absent if the file does not have it"
for name in vllm:vllm-0.33.0.json vllm-rs:vllm-rs-0.33.0.json sglang:sglang-0.5.23.jsonl guidellm:guidellm-0.8.1.json; do
	run "$report" -q -f json --percentiles 50,90,95,99 "$data/${name#*:}"
	cp "$OUT" imported.json
	yes_if "${name#*:}: the figures that it has beside its requests are those that we compute" imports own "${name%%:*}" "$data/${name#*:}" imported.json
done
# The same tool without its lists of requests: the figures are all there is.
lists='del(.input_lens, .output_lens, .start_times, .ttfts, .itls, .generated_texts, .errors)'
jq -c "$lists"' | .label = "run 1"' "$data/vllm-0.33.0.json" >vllm-own.out
jq -c "$lists"' | .tag = "run 1" | .request_rate = null' "$data/sglang-0.5.23.jsonl" >sglang-own.out
jq -c '.benchmarks[].requests |= map_values([])' "$data/guidellm-0.8.1.json" | jq -c '.benchmarks[].config.name = "run 1"' >guidellm-figures-own.out
for name in vllm sglang guidellm-figures; do
	"$report" -q -f json "$name-own.out" >own.json
	yes_if "$name: figures are shown as the tool wrote them" imports states "$name" "$name-own.out" own.json
done
for name in inference-perf:inference-perf-0.7.0.json aiperf:aiperf-0.13.0.json genai-perf:genai-perf-0.0.16.json; do
	"$report" -q -f json "$data/${name#*:}" >own.json
	yes_if "${name%%:*}: figures are shown as the tool wrote them" imports states "${name%%:*}" "$data/${name#*:}" own.json
done
is "$("$report" -q -f json "$data/aiperf-0.13.0-failed.json" | jq -c '[.stages[0].latency.e2e_ms | has("from_due"), has("from_start")]')" '[false,true]' \
	"a figure that has failures among its values is not the latency of successes"
is "$(for file in aiperf-0.13.0-failed.jsonl inference-perf-0.7.0-requests.json vllm-0.33.0.json; do
	"$report" -q -f json "$data/$file" | jq -c .total.requests.errors
done | tr '\n' ' ')" '{"http-status":1} {"http-status":1} {"other":1} ' "a failure is of the kind that the file says"
"$report" -q -f json "$data/aiperf-0.13.0.jsonl" >imported.json
is "$(jq -c '[.sessions, .total.events]' imported.json)" '[null,{"content":72}]' "sessions and events are absent if the file does not have them"

# perf_analyzer's file for genai-perf: events of which some have no content, two at once, a failure.
cat >profile_export.json <<'END'
{"experiments":[{"experiment":{"mode":"concurrency","value":2},"requests":[
 {"timestamp":1000000000,"request_inputs":{"payload":"{}"},"response_timestamps":[1010000000,1020000000,1035000000,1040000000,1041000000],
  "response_outputs":[{"response":"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"},
   {"response":"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"},
   {"response":"data: {\"choices\":[{\"delta\":{\"content\":\"\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\n"},
   {"response":"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4}}\n\n"},{"response":"data: [DONE]\n\n"}]},
 {"timestamp":1005000000,"request_inputs":{},"response_timestamps":[1009000000],"response_outputs":[{"response":"{\"error\":\"full\"}"}]}],
 "window_boundaries":[1,2]}],"version":"2.59.1","service_kind":"openai","endpoint":"v1/chat/completions"}
END
run "$report" -q -f json profile_export.json
is "$(jq -c '.total | [.requests.ok, .requests.failed, .latency.ttft_ms.from_start.p50, .latency.itl_ms.max, .latency.e2e_ms.from_start.p50,
	.latency.stream_ms.from_start.p50, .latency.tpot_ms.p50, .tokens.input.mean, .tokens.output.mean, .events.content]' "$OUT")" \
	'[1,1,20,15,35,41,5,9,4,2]' "genai-perf's profile export: responses without content are no tokens"
is "$(jq -c '[.stages[0].kind, .run.imported.tool]' "$OUT")" '["closed","genai-perf"]' "genai-perf's profile export has its load"

# ---- where from -----------------------------------------------------------------------------------------------------
"$report" -q -f json <vllm-detailed.out >stdin.json
is "$(jq -cS '.total' stdin.json)" "$(jq -cS '.total' vllm-detailed.json)" "standard input gives the same figures"
zstd -q vllm-detailed.out -o compressed.zst
"$report" -q -f json compressed.zst >zst.json
is "$(jq -cS '.total' zst.json)" "$(jq -cS '.total' vllm-detailed.json)" "a compressed file gives the same figures"
is "$(jq -r .run.digest zst.json)" "$(sha256sum <vllm-detailed.out | cut -d' ' -f1)" "the digest of the run is that of the file's text"
jq . vllm-detailed.out >pretty.out
"$report" -q -f json pretty.out >pretty.json
is "$(jq -cS '.total' pretty.json)" "$(jq -cS '.total' vllm-detailed.json)" "JSON in many lines gives the same figures"
run "$report" -q --from vllm -f json vllm.out
status_is 0 "--from names the tool"
run "$report" --from nosuch vllm.out
status_is 2 "--from: a tool that is not known"
cp run.results run.out
jq -c 'del(.label)' vllm.out >unnamed.out
is "$("$report" -q -f json unnamed.out | jq -c '[.stages[].name]')" '["run 1","run 2"]' "runs without a name have a number"
run "$report" -q -f json vllm-detailed.out vllm-detailed.out
status_is 0 "requests of several files of a tool are merged"
run "$report" run.results vllm-detailed.out
status_is 3 "requests of two tools are refused together"
complains ipf-report "vllm-detailed.out: is from vLLM bench serve, but run.results is from ipf-collect: their definitions differ" "ipf-report says that definitions differ"
run "$report" vllm-detailed.out run.results
status_is 3 "requests of two tools are refused in either order"
run "$report" vllm.out vllm.out
status_is 3 "figures are not merged"
complains ipf-report "cannot be merged with" "ipf-report says that figures cannot be merged"

# ---- bad input ------------------------------------------------------------------------------------------------------
refused() { # TEXT FILE: ipf-report says TEXT of it
	run "$report" "$2"
	status_is 3 "a wrong file ends with 3: $1"
	complains ipf-report "$1" "the message names file, member and value: $1"
	is "$(wc -l <"$ERR")" 1 "a wrong file has one message: $1"
}
head -1 vllm-detailed.out >one.out
jq -c '.ttfts[3] = "soon"' one.out >bad.json
refused 'bad.json:1: ttfts[3]: expected a number, got "soon"' bad.json
jq -c '.itls[2] = 5' one.out >bad.json
refused 'bad.json:1: itls[2]: expected a list, got 5' bad.json
jq -c '.itls |= (.[1][0] = -1)' one.out >bad.json
refused 'expected a number of seconds, got -1' bad.json
jq -c '.output_lens |= .[1:]' one.out >bad.json
refused 'output_lens: expected 39 entries as in ttfts, got 38' bad.json
head -c 3000 one.out >bad.json
refused 'bad.json:1: cut: the JSON ends in the middle' bad.json
echo '{"model_id":"m","num_prompts":1,"request_rate":1,"duration":"long"}' >bad.json
refused 'bad.json:1: duration: expected a number, got "long"' bad.json
echo '{"hello":"world"}' >bad.json
refused 'bad.json:1: neither results of ipf-collect nor a known file' bad.json
echo '{}' >bad.json
for tool in vllm sglang aiperf guidellm inference-perf genai-perf; do
	run "$report" --from $tool bad.json
	status_is 3 "$tool: an empty object"
	complains ipf-report "bad.json: has no requests and no figures" "ipf-report says that an empty object has no requests and figures"
done
echo '{"model_id":"m","num_prompts":1,"request_rate":1,"completed":0,"failed":1}' >bad.json
run "$report" -q -f json bad.json
is "$status $(jq -c '[.total.requests.ok, .total.requests.failed]' "$OUT")" "0 [0,1]" "counts alone are figures"
gzip -c vllm.out >bad.gz
refused 'bad.gz: compressed with gzip: zcat bad.gz | ipf-report' bad.gz
jq -c '.completed = 3' one.out >odd.json
run "$report" -q -f json odd.json
is "$(jq -r '.verdict.checks[2].detail' "$OUT" | grep -c 'the file counts 3 completed requests, and its lists have 35')" 1 \
	"lists that contradict the counts of the file are doubtful"
