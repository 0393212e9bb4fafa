#!/bin/bash
# How fast is a capture read into records, and in how much memory? The baseline is `tcpdump -r FILE -w -`, which reads and writes the packets
# alone. Bulk (prompts of a megabyte) and 200 streams of short events. CAPTURE_MB sets the size.
set -eu
# shellcheck source=tests/bench/peak.sh
. "$TESTS/bench/peak.sh"
command -v tcpdump >/dev/null || {
	echo "skipped: there is no tcpdump" >&2
	exit 0
}
megabytes=${CAPTURE_MB:-500}
rounds=3

best() { # COMMAND…: seconds of the processor, the least of some rounds
	for ((i = 0; i < rounds; i++)); do
		{ TIMEFORMAT='%U %S' && time "$@" >/dev/null 2>said; } 2>&1 | awk '{ print $1 + $2 }'
	done | sort -n | head -1
}
for kind in bulk events; do
	python3 "$TESTS/bench/capture_file.py" $kind $kind.pcap $((megabytes * 1000000))
	ours=$(best "$BUILD/bin/ipf-prep" capture -q $kind.pcap --records /dev/null)
	base=$(best tcpdump -r $kind.pcap -w -)
	packets=$("$BUILD/bin/ipf-prep" capture $kind.pcap --records /dev/null 2>&1 | sed -n 's/.* in \([0-9]*\) packets.*/\1/p')
	"$BUILD/bin/ipf-prep" capture -q $kind.pcap --records /dev/null &
	wait_peak $! >peak
	awk -v kind=$kind -v mb="$(stat -c %s $kind.pcap)" -v n="$packets" -v ours="$ours" -v base="$base" -v peak="$(cat peak)" 'BEGIN {
		printf "capture, %s: %.2f GB/s, %.2f million packets/s, %d MB\t%.2f s\t%.2f s\t%.2f\t-\t-\n", kind, mb / ours / 1e9, n / ours / 1e6, peak, ours, base, ours / base
	}'
	rm -f $kind.pcap
done
