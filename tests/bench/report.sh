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

# CPU time, since others may be busy on the machine: all take one core. In turns, and the median of each.
seconds() { # FILE COMMAND…
	local to=$1 TIMEFORMAT='%U %S'
	shift
	{ time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ printf "%.3f\n", $1 + $2 }' >>"$to"
}
count_lines() {
	zstd -dcq rows.zst | wc -l
}
median() { # FILE
	sort -n "$1" | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'
}

for _ in $(seq "${BENCH_ROUNDS:-5}"); do
	seconds text ipf-report rows.zst
	seconds html ipf-report -f html -o rows.html rows.zst
	seconds lines count_lines
done
grep -q '</html>' rows.html
peak_mb() { # ARGUMENTS OF ipf-report…
	ipf-report "$@" rows.zst >/dev/null &
	wait_peak $!
}
row() { # WHAT FILE MOST
	awk -v OFS='\t' -v what="$1" -v n="$rows" -v s="$(median "$2")" -v b="$(median lines)" -v most="$3" 'BEGIN {
		print "report, " n " rows as " what, s " s", b " s zstd -dc | wc -l", sprintf("%.1f", s / b), "< " most " s", (s < most ? "met" : "missed")
	}'
}
row text text 2
row HTML html 4
peak=$(peak_mb) page=$(peak_mb -f html -o rows.html)
awk -v OFS='\t' -v peak="$peak" -v page="$page" 'BEGIN {
	print "peak memory, as text", peak " MB", "as HTML " page " MB", "-", "< 250 MB", (peak < 250 ? "met" : "missed")
}'
