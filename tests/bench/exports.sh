#!/bin/bash
# Do our exports equal the tools' own files? Each tool and ipf-fire measure the same simulated server with the same requests, four at a time;
# the tool's file and our export in its format are compared figure by figure, beside the difference of two runs of the tool. Needs AS_PEERS, as
# as.sh does, and in it virtual environments genai-perf/ and, for MLPerf's LoadGen, loadgen/; a missing tool is skipped. Minutes long. LoadGen
# sends one request after another, the latency profile generator (lpg) at the times of a Poisson process, which ours repeats. EXPORTS_RATE=10:
# an open loop of as many requests per second, in equal steps, without these two and SGLang, whose steps are random.
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"
peers=${AS_PEERS:-} count=${EXPORTS_REQUESTS:-40} slots=4 rate=${EXPORTS_RATE:-}
load=(--concurrency "$slots") stage=closed:users=$slots,n=$count
if [ -n "$rate" ]; then
	load=(--request-rate "$rate") stage=constant:rate=$rate,n=$count
	export AS_RATE=$rate
fi
[ -n "$peers" ] || {
	echo "exports: skipped: AS_PEERS is not set: a folder with the tools that are run" >&2
	exit 0
}
here=$BENCH/exports
prompt='tell me a story of sixty-four bytes, no more and no less of it'
tokenizer=${AS_TOKENIZER:-$PWD/tokenizer}
if [ ! -d "$tokenizer" ]; then
	mkdir "$tokenizer"
	cp "$TESTS/data/tokenizer/bytelevel.json" "$tokenizer/tokenizer.json"
	echo '{"tokenizer_class":"PreTrainedTokenizerFast"}' >"$tokenizer/tokenizer_config.json"
fi
jq -nc --arg prompt "$prompt" --argjson n "$count" 'range($n) | {text: $prompt, output_length: 64}' >prompts.jsonl

run_tool() { # TOOL OUT: the tool's file; its own time counts: AS_RUN="chrt -r 10" on a busy machine
	local python=$peers/aiperf/bin/python
	case $1 in
	aiperf)
		"$peers/aiperf/bin/aiperf" profile -m sim --url "$URL" --endpoint-type chat --streaming "${load[@]}" ${rate:+--request-rate-mode constant} \
			--request-count "$count" --input-file prompts.jsonl --custom-dataset-type single_turn --tokenizer "$tokenizer" --use-server-token-count --artifact-dir "$2.files" \
			--ui none || true
		cp "$2.files/profile_export_aiperf.json" "$2"
		;;
	genai-perf)
		PATH=$peers/genai-perf/bin:$PATH HF_HUB_OFFLINE=1 genai-perf profile -m sim --tokenizer "$tokenizer" --endpoint-type chat --streaming \
			--url "${URL#http://}" "${load[@]}" --request-count "$count" --input-file prompts.jsonl --output-tokens-mean 64 \
			--artifact-dir "$2.files" || true
		cp "$2.files"/*/profile_export_genai_perf.json "$2"
		;;
	mlperf)
		mkdir -p "$2.files"
		"$peers/loadgen/bin/python" "$here/loadgen.py" "$URL" "$count" "$2.files"
		cp "$2.files/mlperf_log_summary.txt" "$2"
		;;
	*)
		[ ! -d "$peers/$1" ] || python=$peers/$1/bin/python
		"$python" "$BENCH/as/run_tool.py" "$1" "$peers" "$URL" "$count" "$2.json" $slots || true
		case $1 in
		sglang) mv "$2.json.tool" "$2" ;;
		lpg) mv "$2.json.lpg"-*-weighted.json "$2" ;;
		inference-perf) cp "$2.json.files/summary_lifecycle_metrics.json" "$2" ;;
		*) mv "$2.json" "$2" ;;
		esac
		;;
	esac
}

run_ours() { # TOOL OUT: the same requests as the tool sends
	local length=64 counter='' loop=$stage api=openai-chat at=''
	case $1 in
	inference-perf) # its mock data
		length=30
		jq -nc --argjson n "$count" 'range($n) | {prompt: "mock prompt \(.)"}' >ours.jsonl
		;;
	guidellm) jq -nc --arg prompt "$prompt" --argjson n "$count" 'range($n) | {prompt: "\($prompt) \(.)"}' >ours.jsonl ;;
	lpg) # at the times it draws
		"$peers/lpg/bin/python" -c "import numpy; numpy.random.seed(0); print('0', *numpy.random.exponential(0.1, $count - 1).cumsum())" |
			tr ' ' '\n' | jq -c --arg prompt "$prompt" '{prompt: $prompt, at: .}' >ours.jsonl
		loop=replay at=yes
		;;
	*) jq -nc --arg prompt "$prompt" --argjson n "$count" 'range($n) | {prompt: $prompt}' >ours.jsonl ;;
	esac
	case $1 in
	genai-perf) counter=$tokenizer/tokenizer.json ;;
	inference-perf) counter=approx ;;
	mlperf) loop=closed:users=1,n=$count ;;
	lpg) counter=approx api=openai-completions ;;
	esac
	ipf-prep jsonl -q ours.jsonl --field prompt=/prompt ${at:+--field "at=/at"} --output-tokens $length -o ours.trace
	ipf-sched -q "$loop" -t ours.trace -o ours.sched
	${AS_RUN:-} ipf-fire -q --force --api $api -u "$URL" -m sim -t ours.trace ours.sched -o ours.records
	ipf-collect -q --events ${counter:+-t "$counter"} ours.records -o "$2.results"
	ipf-report export "$1" -q --percentiles 50,90,99 "$2.results" >"$2"
}

measure() { # TOOL WHO OUT: against a server of its own
	server_start --step-base 20ms --no-prefix-cache
	# shellcheck disable=SC2086 # words
	if [ "$2" = ours ]; then
		run_ours "$1" "$3"
	else
		run_tool "$1" "$3"
	fi >"$3.log" 2>&1 || echo "$1: failed: $(tail -n 1 "$3.log")" >&2
	server_stop || true
	rm -f ours.results ours.records
}

for tool in vllm:vllm-src sglang:sgl-src guidellm:guidellm aiperf:aiperf genai-perf:genai-perf inference-perf:ip-src mlperf:loadgen lpg:lpg-src; do
	name=${tool%:*}
	[ -d "$peers/${tool#*:}" ] || {
		echo "$name: skipped: there is no $peers/${tool#*:}" >&2
		continue
	}
	case $name in sglang | mlperf | lpg) [ -z "$rate" ] || continue ;; esac
	measure "$name" tool "$PWD/$name.1"
	measure "$name" ours "$PWD/$name.ours"
	measure "$name" tool "$PWD/$name.2"
done
python3 "$here/export_table.py" .
