#!/bin/bash
# How fast is a schedule of ten million arrivals written, as text and with its digest, on one core, and in how much memory? The baseline is
# NumPy, which draws as many gaps of the same distribution, adds them up and writes the same lines (or does not even write them; for rates
# changing it has nothing). CPU time counts, not the clock: others may be at work. The lines go to /dev/null: the cost of a disk is not ours.
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

if ! numpy=$("$python" -c 'import numpy; print("yes")' 2>/dev/null); then
	numpy=
	echo "$python has no NumPy: without a baseline" >&2
fi
draw() { # WHAT PROCESS CV: NumPy's seconds
	# -P: a module of Python has the name of another file of this folder
	if [ -n "$numpy" ]; \
		then cpu "$python" -P "$BENCH/sched_numpy.py" "$1" "$2" "$3" 10000000 "$count" /dev/null; else echo 0; fi
}

poisson=$(cpu ipf-sched poisson:rate=10M,n="$count")
row "schedule of $count, poisson" "$poisson" "$(draw text poisson 1)" "NumPy, text" 10
row "the same" "$poisson" "$(draw numbers poisson 1)" "NumPy, numbers only" ''
row "schedule of $count, constant" "$(cpu ipf-sched constant:rate=10M,n="$count")" 0 '' 10
row "schedule of $count, uniform" "$(cpu ipf-sched uniform:rate=10M,n="$count")" "$(draw numbers uniform 0)" "NumPy, numbers only" 10
for process in gamma weibull; do
	for cv in 0.5 2; do
		row "schedule of $count, $process cv $cv" "$(cpu ipf-sched "$process:rate=10M,cv=$cv,n=$count")" "$(draw numbers "$process" "$cv")" \
			"NumPy, numbers only" 10
	done
done

# As many arrivals of changing rates, 10M a second on average.
ns=$((count * 100))
varied() { # WHAT SPEC
	row "schedule of $count, $1" "$(cpu ipf-sched "$2")" 0 '' 10
}
printf '%s,%s\n' 0 5M "$((ns / 2))ns" 15M "${ns}ns" 5M >rates.csv
varied ramp "ramp:from=5M,to=15M,for=${ns}ns"
varied steps "steps:rates=5M,15M,each=$((ns / 2))ns"
varied rates "rates:file=rates.csv,linear"
varied spike "spike:base=5M,peak=55M,every=100ms,width=10ms,n=$count"
varied onoff "onoff:peak=15M,base=5M,on=10ms,off=10ms,n=$count"
varied sine "sine:low=5M,high=15M,every=100ms,n=$count"
varied "sine, gamma cv 2" "sine:low=5M,high=15M,every=100ms,process=gamma,cv=2,n=$count"
varied "ramp, gamma cv 2" "ramp:from=5M,to=15M,process=gamma,cv=2,for=${ns}ns"
few=$(peak_memory ipf-sched poisson:rate=10M,n=$((count / 20))) many=$(peak_memory ipf-sched poisson:rate=10M,n="$count")
awk -v OFS='\t' -v few="$few" -v many="$many" 'BEGIN {
	print "peak memory of that of poisson", many " MiB", few " MiB for a twentieth", "-", "as much", (many <= few + 1) ? "met" : "missed" }'
