#!/bin/bash
# Other tools' figures of a run (--as): a server with bad manners, and every figure computed a second time by loops as the sources of
# those tools have them.
. "$TESTS/tap.sh"
export IPF_REPORT_FULL=1 # all sections of the text
. "$TESTS/fixture.sh"

command -v python3 >/dev/null && python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' ||
	skip_all "python3 is not installed"
modes=()
for mode in status error-inband:after=3 cut:after=4,terminator=1 empty malformed one-token role-late:events=2,delay=40ms role-each nulls multi:tokens=3 \
	usage-each usage-in-last no-done late-end:pause=60ms reasoning:field=reasoning tools finish-in-last reset:after=3; do
	name=${mode%%:*} keys=${mode#"$name"} keys=${keys#:}
	modes+=(--fail "$name:share=0.05${keys:+,$keys}")
done
server_start --seed 7 --step-base 2ms "${modes[@]}"
ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens uniform:1-30 --seed 1 -q -o chat.trace
ipf-sched poisson:rate=120,for=2s -t chat.trace --seed 1 -q -o chat.sched
ipf-fire -q -u "$URL" -m sim -t chat.trace chat.sched -o chat.records
server_stop
ipf-collect -q --events chat.records -o chat.results
run ipf-report -q --as all -f json chat.results
status_is 0 "--as all ends with 0"
cp "$OUT" said.json
run python3 "$TESTS/helpers/said.py" chat.records said.json
matches "$(tail -1 "$OUT")" '^1[0-9][0-9] figures, 0 differ$' "loops as those of the tools compute the same"
grep expected "$OUT" | sed 's/^/# /'
is "$(jq -c '[.as.tools[].tool.name]' said.json)" '["vllm","vllm-rs","sglang","guidellm","aiperf","genai-perf","inference-perf","lpg","mlperf"]' \
	"tools have one order"
is "$(jq -c '[.as.tools[] | select(.figures.failures.ok > $ours) | .tool.name]' --argjson ours "$(jq .as.ipf.figures.failures.ok said.json)" said.json)" \
	'["vllm","vllm-rs","sglang","guidellm","aiperf","genai-perf","inference-perf","lpg"]' "most of them do not see that some answers failed"
run ipf-report -q --as vllm --as lpg,mlperf chat.results
is "$(sed -n '/^Other tools/,$p' "$OUT" | grep -cE '^  (vllm|lpg|mlperf) +[0-9]')" 20 "the text has a row for each figure and tool"
is "$(sed -n '/^Other tools/,$p' "$OUT" | awk 'length > 80' | wc -l)" 0 "other tools fit into 80 columns"
run ipf-report -q --as vllm,vllm-rs,lpg -f md chat.results
is "$(sed -n '/<summary>Other tools/,/<.details>/p' "$OUT" | grep -cE '^\| (vllm|vllm-rs|lpg) \|')" 21 "Markdown has a row for each figure and tool"
is "$(sed -n '/<summary>Other tools/,/<.details>/p' "$OUT" | grep '^| vllm-rs |' | tail -1 | cut -d '|' -f 3,4 | tr -d ' ')" \
	"$(jq -r '.as.tools[] | select(.tool.name == "vllm-rs").figures.failures | "\(.ok)|\(.failed)"' said.json)" "Markdown has the numbers of JSON"
is "$(ipf-report -q -f md chat.results | grep -c 'Other tools')" 0 "Markdown without --as has no other tools"
ipf-collect -q chat.records -o plain.results
contains "$(ipf-report -q --as sglang,aiperf plain.results | tr -s ' \n' ' ')" \
	"events without content are not in the results: ipf-collect --events" \
	"the text says which events --as needs"
run ipf-report -q --as vlm chat.results
status_is 2 "a tool that is none is wrong usage"
complains ipf-report '"vlm" is no tool; tools: vllm, vllm-rs, sglang' "ipf-report lists the tools"

# The figures of a tool by --as are those in its format, with all events in the results and without.
ipf-report -q --as all -f json plain.results >plain.json
for name in chat:said.json plain:plain.json; do
	mkdir "${name%:*}"
	for tool in vllm sglang guidellm aiperf genai-perf inference-perf lpg mlperf; do
		ipf-report export $tool -q --percentiles 50,90,99 "${name%:*}.results" >"${name%:*}/$tool.out"
	done
	run python3 "$TESTS/helpers/as_exports.py" "${name#*:}" "${name%:*}"
	matches "$(tail -1 "$OUT")" '^1[0-9][0-9] figures, 0 differ$' "${name%:*}.results: export TOOL has the figures of --as TOOL"
	grep expected "$OUT" | sed 's/^/# /'
done

# Whole results by the definitions of another tool: the report shows the same figures as --as.
SAID='.as.tools[] | select(.tool.name == $t).figures | [.failures.ok, .failures.failed, .ttft_ms.mean, .itl_ms.mean, .e2e_ms.mean, .e2e_ms.std, .output_tokens.total]'
FIGURES='.total | [.requests.ok, .requests.failed, .latency.ttft_ms.from_start.mean, .latency.itl_ms.mean, .latency.e2e_ms.from_start.mean,
	.latency.e2e_ms.from_start.std]'
for tool in vllm vllm-rs sglang guidellm aiperf genai-perf inference-perf lpg; do
	ipf-collect -q --definition $tool chat.records -o $tool.results
	ipf-report -q -f json $tool.results >$tool.json
	# rounded to the nanosecond in the rows; no deviation where the tool shows none
	is "$(jq -n -c --arg t $tool --slurpfile said said.json --slurpfile own $tool.json "[(\$own[0] | $FIGURES), (\$said[0] | $SAID | .[0:6])]
		| transpose | map(select(.[1] != null and (.[0] - .[1] | fabs) > 1e-4))")" "[]" "--definition $tool: the figures of --as $tool"
	is "$(body $tool.results | jq -s 'map(select(.n and .ok == true) | .output_tokens // 0) | add')" "$(jq --arg t $tool "$SAID | .[6]" said.json)" "--definition $tool has the tokens of --as $tool"
	is "$(jq -r .run.definition.name $tool.json)" $tool "JSON names the definition $tool"
done
contains "$(ipf-report -q sglang.results | tr -s ' \n' ' ')" "definitions those of SGLang 0.5.23, not ours: ttft:" "the text names the definition"
contains "$(ipf-report -q -f md sglang.results)" "definitions: those of SGLang 0.5.23, not ours:" "Markdown names the definition"
for bad in "sglang.results vllm.results:vllm.results: has the definitions of vLLM, but sglang.results those of SGLang" \
	"plain.results sglang.results:has the definitions of SGLang, but plain.results those of ipf" \
	"--as vllm sglang.results:--as applies the definitions of other tools itself: the results already have those of SGLang" \
	"export vllm sglang.results:vllm applies the definitions of other tools itself"; do
	# shellcheck disable=SC2086 # several arguments
	run ipf-report ${bad%%:*} -q
	status_is 3 "ipf-report ${bad%%:*} ends with 3"
	complains ipf-report "${bad#*:}" "ipf-report says why it refuses ${bad%%:*}"
done
run ipf-collect -q --definition mlperf chat.records
status_is 2 "--definition mlperf ends with 2"
complains ipf-collect "--definition mlperf: its latencies count from when a request was due" "ipf-collect says that mlperf needs due times"
run ipf-collect -q --definition vllm --itl token chat.records
status_is 2 "--definition with --itl"
complains ipf-collect "--itl is not for --definition" "ipf-collect refuses --definition with --itl"
