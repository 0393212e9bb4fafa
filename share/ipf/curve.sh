#!/bin/sh
# The latency-throughput curve of a report: curve.sh CSV REPORT.json
# Beside the CSV, a row for each measured stage, are a script for gnuplot (.gp) and, if gnuplot is installed, its plot (.svg).
csv=$1 report=$2
stem=${csv%.csv}
part=$stem.part

jq -r '["stage", "offered_per_s", "completed_per_s", "output_tokens_per_s", "in_flight", "failed", "ttft_p50_ms", "ttft_p90_ms", "ttft_p99_ms",
	"tpot_p50_ms", "tpot_p99_ms", "e2e_p50_ms", "e2e_p99_ms"],
	(.stages[] | select(.measured) | [.name, .rate.offered, .rate.completed, .throughput.output_tokens_per_s, .in_flight.mean, .requests.failed,
	((.latency.ttft_ms | .from_due // .from_start) | .p50, .p90, .p99), (.latency.tpot_ms | .p50, .p99),
	((.latency.e2e_ms | .from_due // .from_start) | .p50, .p99)]) | @csv' "$report" >"$part" || exit

# Relative names: the folder can be moved.
cat >"$stem.gp" <<-END || exit
	# gnuplot $(basename "$stem").gp, in this folder
	set terminal svg size 900,600 background "white"
	set output "$(basename "$stem").svg"
	set datafile separator ","
	set key top left
	set grid
	set xlabel "completed requests per second"
	set ylabel "ms"
	set y2label "output tokens per second"
	set y2tics
	set ytics nomirror
	set yrange [0:]
	set y2range [0:]
	plot "$(basename "$csv")" using 3:7 skip 1 with linespoints title "TTFT p50", \\
		"" using 3:9 skip 1 with linespoints title "TTFT p99", \\
		"" using 3:11 skip 1 with linespoints title "TPOT p99", \\
		"" using 3:4 skip 1 axes x1y2 with linespoints dashtype 2 title "output tokens per second"
END
mv -f "$part" "$csv" || exit
here=$(dirname "$0")
sh "$here/plot.sh" "$stem.gp"
sed 's/"//g' "$csv" | column -s , -t 2>/dev/null || cat "$csv"
