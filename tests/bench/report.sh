#!/bin/bash
# How fast are rows reported? The baseline decompresses the same results and counts their lines.
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"
# shellcheck source=tests/bench/peak.sh
. "$BENCH/peak.sh"

rows=${REPORT_ROWS:-1000000}
api=$TESTS/../lib/api/apis/openai-chat.json
ipf-collect -q -o rows.zst < <("$BUILD/bench/recordgen" "$api" "$rows" 3 1000)

# CPU time, since others may be busy on the machine: both take one core.
seconds() { # COMMAND…
	local TIMEFORMAT='%U %S'
	{ time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ printf "%.3f", $1 + $2 }'
}
count_lines() {
	zstd -dcq rows.zst | wc -l
}

taken=$(seconds ipf-report rows.zst)
baseline=$(seconds count_lines)
peak_mb() {
	ipf-report rows.zst >/dev/null &
	wait_peak $!
}
peak=$(peak_mb)
awk -v OFS='\t' -v n="$rows" -v s="$taken" -v b="$baseline" -v peak="$peak" 'BEGIN {
	print "report, " n " rows as text", s " s", b " s zstd -dc | wc -l", sprintf("%.1f", s / b), "< 2 s", (s < 2 ? "met" : "missed")
	print "peak memory", peak " MB", "-", "-", "< 1000 MB", (peak < 1000 ? "met" : "missed")
}'
