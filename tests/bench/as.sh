#!/bin/bash
# Is what --as says that other tools would have said what they say? Each runs against a server with bad manners, one request at a time, and
# the server writes what it sent, and when, as records: from these, --as has to say the same. Needs AS_PEERS, a folder with the tools (see
# as/run_tool.py; AIPerf in aiperf/, GuideLLM in guidellm/, with a tokenizer in AS_TOKENIZER for AIPerf); a tool that is not there is skipped.
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"
peers=${AS_PEERS:-} count=${AS_REQUESTS:-64}
[ -n "$peers" ] || {
	echo "as: skipped: AS_PEERS is not set: a folder with the tools that are run" >&2
	exit 0
}
here=$TESTS/bench/as

# The tool's own time counts, so that it should not wait for a core: AS_RUN="chrt -r 10" on a busy machine.
# shellcheck disable=SC2086 # words
one() { # TOOL
	local server python=$peers/aiperf/bin/python
	mkfifo in
	${AS_RUN:-} python3 "$here/awkward_server.py" --records "$1.records" <in >address &
	server=$!
	exec 9>in
	wait_for 10 test -s address
	URL=$(sed 's/listening on //' address)
	rm in
	[ "$1" != guidellm ] || python=$peers/guidellm/bin/python
	if [ "$1" = aiperf ]; then
		${AS_RUN:-} "$peers/aiperf/bin/aiperf" profile -m sim --url "$URL" --endpoint-type chat --streaming --concurrency 1 --request-count "$count" \
			--tokenizer "${AS_TOKENIZER:-gpt2}" --use-server-token-count --artifact-dir aiperf.files --ui none >"$1.log" 2>&1 || true
	else
		${AS_RUN:-} "$python" "$here/run_tool.py" "$1" "$peers" "$URL" "$count" "$1.json" >"$1.log" 2>&1 || true
	fi
	exec 9>&-
	wait "$server" || return 0
	rm -f address "$1.results"
	ipf-collect -q --api openai-chat -t approx --events "$1.records" -o "$1.results"
	ipf-report -q --as all -f json "$1.results" >"$1.said"
}

for tool in vllm:vllm-src sglang:sgl-src guidellm:guidellm aiperf:aiperf inference-perf:ip-src; do
	if [ -d "$peers/${tool#*:}" ]; then
		one "${tool%:*}"
	else
		echo "${tool%:*}: skipped: there is no $peers/${tool#*:}" >&2
	fi
done
python3 "$here/said_table.py" .
