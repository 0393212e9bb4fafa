#!/bin/bash
# Is every server understood alike? The same trace and schedule for each API the simulated server speaks over HTTP, streamed: how far the time
# to the first token is from when the server says it made and sent it. Times are of the same clock; the kernel's stamps tell them.
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"

requests=40
ipf-prep sharegpt "$TESTS/../examples/chat.json" --sample with -n $requests --output-tokens 8 -q -o one.trace
ipf-sched -q constant:rate=50,n=$requests -t one.trace -o one.sched

for api in $(ipf-fire --list-apis | cut -d' ' -f1 | grep -v grpc); do
	rm -f log records results
	server_start --log log --step-base 5ms
	ipf-fire -q -u "$URL/$api" -m sim --api "$api" -t one.trace one.sched -o records 2>said || true
	# OpenAI's are at the root; others may not be streamed, or not be spoken here
	[ "$(jq -s 'map(select(.status == 200)) | length' log)" = $requests ] ||
		ipf-fire -q --force -u "$URL" -m sim --api "$api" -t one.trace one.sched -o records 2>said || true
	if ! ipf-collect -q records -o results 2>>said; then
		server_stop || true
		continue
	fi
	jq -nr --arg api "$api" --argjson n $requests --argjson t0 "$(head -1 records |
		jq .t0_clock_ns)" --slurpfile log log --slurpfile results results '
		($log | map(select(.status == 200)) | sort_by(.arrival_ns) | map(.first_token_ns)) as $sent
		| ($results | map(select(.n != null and .ok and .ttft_ns)) | sort_by(.start_ns)) as $rows
		| select(($sent | length) == $n and ($rows | length) == $n)
		| [range($n) | ($rows[.].start_ns + $rows[.].ttft_ns + $t0 - $sent[.]) / 1000] | sort
		| ["TTFT error, \($api)", "\(.[length / 2 | floor] * 10 | round / 10) us p50, \(.[length * 0.99 | floor] * 10 | round / 10) us p99", "-", "-", "< 1 ms",
			(if .[length * 0.99 | floor] < 1000 then "met" else "missed" end)] | join("\t")'
	server_stop || true
done
