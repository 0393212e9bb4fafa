#!/bin/bash
# How right are the times in the records? 1,000 streams of 100 events a second each, 50 ms to the first event, 10 ms apart: against the send
# times the server logs. The baseline is our own clock in place of the kernel's stamps, in the same run. Where that does not keep the sending
# thread busy for 60 % of its core, again with as many streams as do. Then with packets captured on the way, where tcpdump may capture, and
# with a thread hogging the core. STREAMS=200 makes it smaller for small machines.
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"
PATH=$BUILD/bench:$PATH

streams=${STREAMS:-1000} seconds=${STAMPS_SECONDS:-4}
make_one() { # OUTPUT_TOKENS
	printf '{"id":"r","messages":[{"role":"user","content":"Tell me."}],"output_tokens":%d}\n' "$1" >lines
	trace_of lines >t.trace
}
make_one 100
plan() { # STREAMS: as many in flight, since each lasts 50 ms and 99 gaps
	ipf-sched -q "poisson:rate=$(awk -v s="$1" 'BEGIN { print s / 1.04 }'),for=${seconds}s" -t t.trace -o t.sched
}

# On a machine of several cores the server has one, the client another.
if [ "$(nproc)" -gt 1 ]; then on_server="taskset -c 0" on_client="taskset -c 1"; else on_server='' on_client=''; fi

row() { # WHAT MEASURED BASELINE GOAL; numbers in us
	awk -v OFS='\t' -v what="$1" -v m="$2" -v b="$3" -v g="$4" 'BEGIN {
		print what, m " us", (b == "-" ? "-" : b " us by our clock"), (b == "-" || b == 0 ? "-" : sprintf("%.2f", m / b)), (g == "-" ? "-" : "< " g " us"), (g == "-" ? "-" : m < g ? "met" : "missed")
	}'
}

get() { # MEMBER FILE
	jq -r "$1 // \"-\"" "$2"
}
rows() { # NAME FILE [whole]: the lines of truth.py's; while the core is another's only events have goals
	local itl=-
	[ -z "${3:-}" ] || itl=100
	row "$1: event, p50" "$(get .event.p50 "$2")" "$(get .own_event.p50 "$2")" -
	row "$1: event, p99" "$(get .event.p99 "$2")" "$(get .own_event.p99 "$2")" 50
	# two packets lying there when we come are one read, with one time: the results count them as coalesced
	row "$1: event in a read of its own ($(jq '(1 - .coalesced) * 1000 | round / 10' "$2") %), p99" "$(get .event_alone.p99 "$2")" - 50
	[ -z "${3:-}" ] || row "$1: TTFT, mean" "$(get .ttft.mean "$2")" - 500
	[ -z "${3:-}" ] || row "$1: TTFT, p99" "$(get .ttft.p99 "$2")" - 3000
	row "$1: ITL, p99" "$(get .itl.p99 "$2")" "$(get .own_itl.p99 "$2")" $itl
	row "$1: ITL between such, p99" "$(get .itl_alone.p99 "$2")" - $itl
	row "$1: ITL, standard deviation" "$(get .itl.std "$2")" "$(get .own_itl.std "$2")" $itl
}

measure() { # NAME [capture | COMMAND… to disturb meanwhile]
	local name=$1 capture='' disturb=''
	shift
	rm -f sends port packets by-log by-pcap
	# shellcheck disable=SC2086 # one word or none
	$on_server rawserver --events 100 --first 50ms --gap 10ms --log sends >port &
	local server=$!
	wait_for test -s port
	local url
	url=$(sed -n '1s/.* //p' port)
	if [ "${1:-}" = capture ]; then
		tcpdump -i lo -w packets -s 400 -B 65536 --time-stamp-precision=nano "tcp port ${url##*:}" 2>said &
		capture=$!
		wait_for grep -q listening said || capture=
	elif [ $# -gt 0 ]; then
		"$@" &
		disturb=$!
	fi
	# shellcheck disable=SC2086
	$on_client ipf-fire -q --force -u "$url" -m sim -t t.trace t.sched -o t.records
	[ -z "$disturb" ] || { kill "$disturb" 2>/dev/null || true; wait "$disturb" 2>/dev/null || true; }
	kill -INT "$server"
	wait "$server"
	if [ -n "$capture" ]; then
		sleep 0.5
		kill -INT "$capture"
		wait "$capture" || true
	fi
	# seconds with as many in flight as there are to be
	busy=$(grep '^{"client"' t.records |
		jq -s '.[1:-2] | (.[-1].client.cpu.send - .[0].client.cpu.send) / (.[-1].client.t_ns - .[0].client.t_ns) * 1e11 | round')
	"$BENCH/truth.py" t.records --log sends >by-log
	jq -c --arg name "$name, sending thread at $busy %" '{name: $name} + .' by-log >&2
	[ "$(jq .requests by-log)" -gt 0 ]
	if [ -n "$capture" ]; then
		"$BENCH/truth.py" t.records --pcap packets >by-pcap
		jq -c --arg name "$name, captured" '{name: $name} + .' by-pcap >&2
	fi
}

plan "$streams"
measure "$streams streams"
rows "$streams streams, sending thread at $busy %" by-log whole

if [ "$busy" -lt 55 ] && [ "$busy" -gt 0 ]; then
	more=$((streams * 60 / busy))
	plan "$more"
	measure "$more streams"
	rows "$more streams, sending thread at $busy %" by-log whole
	plan "$streams"
fi

if [ "$(id -u)" = 0 ] && command -v tcpdump >/dev/null; then
	measure "$streams streams" capture
	[ ! -s by-pcap ] || rows "$streams streams, against captured packets" by-pcap whole
else
	printf 'against captured packets\tskipped: needs tcpdump, as root\t-\t-\t-\t-\n'
fi

# A third of the core for 5 ms at a time; the rest has to be enough for the load.
"${CC:-cc}" -O2 -o hog "$BENCH/hog.c"
# shellcheck disable=SC2086
measure "hog" $on_client ./hog 5ms 10ms
rows "a hog of 5 ms at a time, sending thread at $busy %" by-log
