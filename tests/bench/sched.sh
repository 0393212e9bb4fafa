#!/bin/sh
# How fast is a schedule written? The baseline is seq and awk, which draw gaps of the same distribution and print the same lines
# (without a digest).
set -eu

count=${SCHED_COUNT:-5000000}

seconds() { # COMMAND…: wall time
	begin=$(date +%s.%N)
	"$@"
	end=$(date +%s.%N)
	awk -v a="$begin" -v b="$end" 'BEGIN { printf "%.3f", b - a }'
}

with_awk() { # STATEMENT: that moves the clock `at`, in ns
	seq 0 $((count - 1)) | awk '{ '"$1"'; printf "{\"n\":%d,\"at_ns\":%.0f,\"req\":%d,\"stage\":0}\n", $1, at, $1 }' >baseline
}
with_sched() { # STAGE
	ipf-sched "$1" -o schedule
}

row() { # WHAT SECONDS BASELINE
	awk -v OFS='\t' -v n="$count" -v what="$1" -v s="$2" -v b="$3" 'BEGIN {
		goal = n / s > 1e7 ? "met" : "missed"
		print what ", " n " arrivals", sprintf("%.2f M/s", n / s / 1e6), sprintf("%.2f M/s seq | awk", n / b / 1e6),
			sprintf("%.1f", b / s), "> 10 M/s", goal
	}'
}

row "schedule, poisson" "$(seconds with_sched "poisson:rate=10k,n=$count")" "$(seconds with_awk 'at -= log(1 - rand()) * 1e5')"
row "schedule, constant" "$(seconds with_sched "constant:rate=10k,n=$count")" "$(seconds with_awk 'at += 1e5')"
