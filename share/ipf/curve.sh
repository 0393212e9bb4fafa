#!/bin/sh
# The latency-throughput curve of a run: curve.sh CSV RESULTS
# Beside the CSV, a row for each measured stage, are a script for gnuplot (.gp) and, if gnuplot is installed, its plot (.svg).
csv=$1 results=$2
stem=${csv%.csv}
part=$stem.part

ipf-report -f csv --curve "$results" -o "$part" || exit

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
	plot "$(basename "$csv")" using "completed_per_s":"ttft_p50_ms" with linespoints title "TTFT p50", \\
		"" using "completed_per_s":"ttft_p99_ms" with linespoints title "TTFT p99", \\
		"" using "completed_per_s":"tpot_p99_ms" with linespoints title "TPOT p99", \\
		"" using "completed_per_s":"output_tokens_per_s" axes x1y2 with linespoints dashtype 2 title "output tokens per second"
END
mv -f "$part" "$csv" || exit
here=$(dirname "$0")
sh "$here/plot.sh" "$stem.gp"
sed 's/["\r]//g' "$csv" | column -s , -t 2>/dev/null || cat "$csv"
