#!/bin/bash
# What does a streamed event cost ipf-fire, and a short request? CPU time of the whole program, since the server shares the machine.
# The baseline is curl with as many transfers in parallel, which throws away what it gets.
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"

server_start --step-base 1ms --step-per-seq 1us --prefill-rate 100M

seconds() { # COMMAND…: CPU time
	local TIMEFORMAT='%U %S'
	{ time "$@" 2>/dev/null; } 2>&1 | awk '{ printf "%.3f", $1 + $2 }'
}

# One request, as many times as asked for.
make_trace() { # OUTPUT_TOKENS
	printf '{"id":"r","messages":[{"role":"user","content":"Tell me."}],"output_tokens":%d}\n' "$1" >lines
	printf '{"ipf":"trace","version":1}\n%s\n{"end":{"lines":1,"sha256":"%s"}}\n' "$(cat lines)" "$(sha256sum <lines | cut -d ' ' -f 1)" >t.trace
}

with_curl() { # REQUESTS PARALLEL OUTPUT_TOKENS
	for _ in $(seq "$1"); do
		printf 'next\nurl = "%s/v1/chat/completions"\nno-progress-meter\noutput = /dev/null\njson = "%s"\n' "$URL" \
			"{\\\"model\\\":\\\"sim\\\",\\\"messages\\\":[{\\\"role\\\":\\\"user\\\",\\\"content\\\":\\\"Tell me.\\\"}],\\\"max_tokens\\\":$3,\\\"stream\\\":true}"
	done | sed 1d >curl.config
	curl -Z --parallel-immediate --parallel-max "$2" -K curl.config
}

measure() { # WHAT REQUESTS PARALLEL OUTPUT_TOKENS
	make_trace "$4"
	ipf-sched -q "closed:users=$3,n=$2" -t t.trace -o t.sched
	fire=$(seconds ipf-fire -q -u "$URL" -m sim -t t.trace t.sched -o t.records)
	good=$(grep -c '"status":200' t.records)
	[ "$good" = "$2" ]
	# the last client line has the totals
	read -r reads send took < <(jq -r 'select(.client) | .client | [.reads, .cpu.send, .t_ns / 1e9] | @tsv' t.records | tail -1)
	curl=$(seconds with_curl "$2" "$3" "$4")
	awk -v OFS='\t' -v what="$1" -v n="$2" -v r="$reads" -v f="$fire" -v s="$send" -v t="$took" -v c="$curl" 'BEGIN {
		print what ", CPU a read", sprintf("%.1f us, %.1f sending", f / r * 1e6, s / r * 1e6), sprintf("%.1f us curl", c / r * 1e6), sprintf("%.2f", f / c), "-", "-"
		print what ", CPU a request", sprintf("%.0f us, %.0f sending", f / n * 1e6, s / n * 1e6), sprintf("%.0f us curl", c / n * 1e6), "-", "-", "-"
		print what ", throughput", sprintf("%.0f reads/s, %.0f requests/s", r / t, n / t), "-", "-", "-", "-"
	}'
}

measure "256 streams of 200 events" 1024 256 200
measure "1000 streams of 50 events" 3000 1000 50
measure "64 in parallel, 1 event" 5000 64 1
