#!/bin/bash
# Does --as give the figures other tools report? Each runs against a server with bad manners, one request at a time, and against ipf-sim,
# four at a time, through a server passing its answers on. That server writes its sends and their times as records: from these, --as has
# to give the same. Needs AS_PEERS, a folder with the tools (see as/run_tool.py; AIPerf in aiperf/, GuideLLM in guidellm/, vLLM's Rust
# client as vllm-rs); a missing tool is skipped. AS_TOOLS and AS_SERVERS (awkward sim) pick some.
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"
peers=${AS_PEERS:-} count=${AS_REQUESTS:-64}
[ -n "$peers" ] || {
	echo "as: skipped: AS_PEERS is not set: a folder with the tools that are run" >&2
	exit 0
}
here=$TESTS/bench/as

tokenizer=${AS_TOKENIZER:-$PWD/tokenizer}
if [ ! -d "$tokenizer" ]; then
	mkdir "$tokenizer"
	cp "$TESTS/data/tokenizer/bytelevel.json" "$tokenizer/tokenizer.json"
	echo '{"tokenizer_class":"PreTrainedTokenizerFast"}' >"$tokenizer/tokenizer_config.json"
fi

# The tool's own time counts, so it should not wait for a core: as root with AS_RUN="chrt -r 10" on a busy machine.
# shellcheck disable=SC2086 # words
run_tool() { # TOOL SLOTS
	local python=$peers/aiperf/bin/python
	case $1 in
	aiperf)
		${AS_RUN:-} "$peers/aiperf/bin/aiperf" profile -m sim --url "$URL" --endpoint-type chat --streaming --concurrency "$2" --request-count "$count" \
			--output-tokens-mean 64 --tokenizer "$tokenizer" --use-server-token-count --artifact-dir aiperf.files --ui none
		;;
	vllm-rs)
		${AS_RUN:-} "$peers/vllm-rs" bench serve --backend openai-chat --base-url "$URL" --endpoint /v1/chat/completions --model sim --tokenizer "$tokenizer" \
			--dataset-name random --random-input-len 16 --random-output-len 64 --num-prompts "$count" --max-concurrency "$2" --disable-tqdm \
			--no-steady-state --percentile-metrics ttft,tpot,itl,e2el --metric-percentiles 50,90,99 --save-result --save-detailed \
			--result-filename vllm-rs.json
		;;
	*)
		[ "$1" != guidellm ] || python=$peers/guidellm/bin/python
		${AS_RUN:-} "$python" "$here/run_tool.py" "$1" "$peers" "$URL" "$count" "$1.json" "$2"
		;;
	esac
}

one() { # TOOL SLOTS ARGUMENTS OF THE SERVER…
	local server tool=$1 slots=$2
	shift 2
	mkfifo in
	# shellcheck disable=SC2086 # words
	${AS_RUN:-} python3 "$here/awkward_server.py" --records "$tool.records" "$@" <in >address &
	server=$!
	exec 9>in
	wait_for test -s address
	URL=$(sed 's/listening on //' address)
	rm in
	run_tool "$tool" "$slots" >"$tool.log" 2>&1 || true
	exec 9>&-
	wait "$server" || return 0
	rm -f address "$tool.results"
	ipf-collect -q --api openai-chat -t approx --events "$tool.records" -o "$tool.results"
	ipf-report -q --as all -f json "$tool.results" >"$tool.said"
}

tools="vllm:vllm-src vllm-rs:vllm-rs sglang:sgl-src guidellm:guidellm aiperf:aiperf inference-perf:ip-src"
for against in ${AS_SERVERS:-awkward sim}; do
	mkdir "$against"
	cd "$against"
	for tool in ${AS_TOOLS:-$tools}; do
		if [ ! -e "$peers/${tool#*:}" ]; then
			echo "${tool%:*}: skipped: there is no $peers/${tool#*:}" >&2
		elif [ "$against" = sim ]; then
			server_start --step-base 20ms --no-prefix-cache
			one "${tool%:*}" 4 --before "$URL"
			server_stop || true
		else
			one "${tool%:*}" 1
		fi
	done
	python3 "$here/said_table.py" "$against" .
	cd ..
done
