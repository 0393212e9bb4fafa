#!/bin/bash
# How fast is a schedule of ten million arrivals written, as text and with its digest, on one core, and in how much memory? The baseline
# is NumPy, which draws as many gaps of the same distribution, adds them up and writes the same lines (or does not even write them). CPU
# time counts, not the clock: others may be at work. The lines go to /dev/null: what a disk costs is not ours.
set -eu

count=${SCHED_COUNT:-10000000}
python=${PYTHON:-/usr/bin/python3}

cpu() { # COMMAND…: seconds, user and system; the least of three
	local TIMEFORMAT='%U %S'
	for _ in 1 2 3; do
		{ time "$@" >/dev/null; } 2>&1 | awk '{ print $1 + $2 }'
	done | sort -n | head -1
}

# Looks as often as it can: the shorter of them is over in a blink.
peak_memory() { # COMMAND…: MiB
	local pid kb=0 now key value
	"$@" >/dev/null &
	pid=$!
	while
		now=
		while read -r key value _; do [ "$key" != VmHWM: ] || now=$value; done 2>/dev/null <"/proc/$pid/status"
		[ -n "$now" ]
	do kb=$now; done
	wait "$pid"
	echo $((kb / 1024))
}

row() { # WHAT SECONDS BASELINE ITS-NAME GOAL-IN-MILLIONS
	awk -v OFS='\t' -v n="$count" -v what="$1" -v s="$2" -v b="$3" -v of="$4" -v goal="$5" 'BEGIN {
		base = b ? sprintf("%.2f M/s %s", n / b / 1e6, of) : "-"
		print what, sprintf("%.2f M/s", n / s / 1e6), base, b ? sprintf("%.1f", b / s) : "-", goal ? "> " goal " M/s" : "-",
			goal ? (n / s > goal * 1e6 ? "met" : "missed") : "-"
	}'
}

# -P: a module of Python has the name of another file of this folder
numpy=0 numbers=0
if "$python" -c 'import numpy' 2>/dev/null; then
	numpy=$(cpu "$python" -P "$BENCH/sched_numpy.py" text 10000000 "$count" /dev/null)
	numbers=$(cpu "$python" -P "$BENCH/sched_numpy.py" numbers 10000000 "$count")
else
	echo "$python has no NumPy: without a baseline" >&2
fi
poisson=$(cpu ipf-sched poisson:rate=10M,n="$count")
row "schedule of $count, poisson" "$poisson" "$numpy" "NumPy, text" 10
row "the same" "$poisson" "$numbers" "NumPy, numbers only" ''
row "schedule of $count, constant" "$(cpu ipf-sched constant:rate=10M,n="$count")" 0 '' 10
row "schedule of $count, gamma cv 2" "$(cpu ipf-sched gamma:rate=10M,cv=2,n="$count")" 0 '' ''
row "schedule of $count, sine" "$(cpu ipf-sched sine:low=5M,high=15M,every=100ms,n="$count")" 0 '' ''
few=$(peak_memory ipf-sched poisson:rate=10M,n=$((count / 20))) many=$(peak_memory ipf-sched poisson:rate=10M,n="$count")
awk -v OFS='\t' -v few="$few" -v many="$many" 'BEGIN {
	print "its peak memory", many " MiB", few " MiB for a twentieth", "-", "as much", (many <= few + 1) ? "met" : "missed" }'
