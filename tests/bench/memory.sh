#!/bin/bash
# How much memory does ipf-fire need for each waiting stream, without TLS and with it, and does a long run grow? The baseline is a process
# with one stream. MEMORY_STREAMS says how many wait; where fewer files may be open, as many as may.
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"
# shellcheck source-path=SCRIPTDIR
. "$BENCH/raw.sh"
streams=${MEMORY_STREAMS:-18000}
[ "$streams" -le $(($(ulimit -Hn) - 100)) ] || streams=$(($(ulimit -Hn) - 100))
millions=${MEMORY_MILLIONS:-10}

memory_of() { # PID: KiB, resident
	sed -n 's/^VmRSS:\s*\([0-9]*\) kB/\1/p' "/proc/$1/status"
}

sockets_are() { # PID COUNT
	[ "$(find "/proc/$1/fd" -lname 'socket:*' | wc -l)" -ge "$2" ]
}

all_started() { # COUNT: of the requests
	[ "$(grep '^{"client"' idle.records | tail -n 1 | jq .client.in_flight)" = "$1" ]
}

# Memory with so many streams waiting for their first event; the run is then cut.
idle() { # STREAMS
	ipf-sched -q "closed:users=$1,n=$1" -t raw.trace -o raw.sched
	taskset -c "$client_cores" ipf-fire -q --force -u "$URL" -m raw -t raw.trace --insecure -o idle.records raw.sched &
	local pid=$! kib
	wait_for sockets_are $pid "$1"
	wait_for all_started "$1"
	sleep 1
	kib=$(memory_of $pid)
	kill -INT $pid
	sleep 0.3 # the same signal within a tenth of a second is no second one
	kill -INT $pid
	wait $pid
	echo "$kib"
}

measure() { # WHAT GOAL ARGUMENTS OF rawserver…
	local what=$1 goal=$2 one many each
	shift 2
	raw_start --events 1 --first 10m "$@"
	one=$(idle 1)
	many=$(idle "$streams")
	server_stop
	each=$(awk -v m="$many" -v o="$one" -v n="$streams" 'BEGIN { printf "%.2f", (m - o) / (n - 1) }')
	row "memory of an idle stream$what, of $streams" "$each KiB" "$one KiB in all with one" - "$goal" "$each"
}
raw_certificate
measure "" "< 1 KiB"
measure " over TLS" "< 14 KiB" --cert cert.pem --key key.pem

# Answers of 200 events on 200 connections, as fast as they come.
raw_start --events 200
requests=$((millions * 5000))
ipf-sched -q "closed:users=200,n=$requests" -t raw.trace -o raw.sched
taskset -c "$client_cores" ipf-fire -q -u "$URL" -m raw -t raw.trace raw.sched -o long.records.zst &
pid=$!
while kib=$(memory_of $pid 2>/dev/null) && [ -n "$kib" ]; do
	echo "$kib"
	sleep 0.1
done >samples
wait $pid
[ "$(zstd -dcq long.records.zst | grep -c '"status":200')" = "$requests" ]
# The first tenth is warming up. Then the second and the last one are compared.
read -r early late most < <(awk '{ a[NR] = $1; if ($1 > most) most = $1 } END {
	for (i = int(NR * .1) + 1; i <= int(NR * .2) + 1; i++) { early += a[i]; e++ }
	for (i = int(NR * .9); i <= NR - 1; i++) { late += a[i]; l++ }
	printf "%.0f %.0f %.0f\n", early / e, late / l, most }' samples)
row "memory in a run of $millions million events" "$late KiB at the end, $most KiB at most" "$early KiB early on" "$(ratio "$late" "$early")" "< 1.10"
