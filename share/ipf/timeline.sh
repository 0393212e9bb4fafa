#!/bin/sh
# Rate and latency over time: timeline.sh CSV RESULTS SECONDS. A row for each window of SECONDS; latencies are those of the requests
# that were due in it, from their due time. Beside the CSV, a script for gnuplot (.gp) and, if gnuplot is installed, its plot (.svg).
csv=$1 results=$2 window=$3
stem=${csv%.csv}

zstd -dcfq "$results" | jq -n -r --arg window "$window" '
	def at($p): sort | if length == 0 then null else .[((length * $p | ceil) - 1)] end;
	def rows: inputs | select(.n != null and .start_ns != null);
	($window | tonumber) as $w
	| def slot: . / 1e9 / $w | floor;
	reduce rows as $r ({};
		(($r.due_ns // $r.start_ns) | slot | tostring) as $s
		| .[$s].due += 1
		| if $r.ok then .[$s].ttft += [$r.ttft_ns | numbers | . + ($r.lag_ns // 0) | . / 1e6]
			| .[$s].e2e += [$r.e2e_ns | numbers | . + ($r.lag_ns // 0) | . / 1e6] else . end
		| if $r.end_ns == null then . else
			($r.end_ns | slot | tostring) as $e
			| if $r.ok then .[$e].ok += 1 | .[$e].tokens += ($r.output_tokens // 0) else .[$e].failed += 1 end end)
	| . as $all
	| ["t_s", "due_per_s", "completed_per_s", "failed_per_s", "output_tokens_per_s", "ttft_p50_ms", "ttft_p99_ms", "e2e_p50_ms", "e2e_p99_ms"],
	(range(0; ([keys[] | tonumber] | max // -1) + 1) as $k
		| ($all[$k | tostring] // {}) as $v
		| [$k * $w, ($v.due // 0) / $w, ($v.ok // 0) / $w, ($v.failed // 0) / $w, ($v.tokens // 0) / $w,
			(($v.ttft // []) | at(0.5), at(0.99)), (($v.e2e // []) | at(0.5), at(0.99))])
	| @csv' >"$stem.part" || exit

cat >"$stem.gp" <<-END || exit
	# gnuplot $(basename "$stem").gp, in this folder
	set terminal svg size 900,700 background "white"
	set output "$(basename "$stem").svg"
	set datafile separator ","
	set grid
	set xrange [0:]
	set yrange [0:]
	set key top left
	set multiplot layout 2,1
	set ylabel "requests per second"
	plot "$(basename "$csv")" using 1:2 skip 1 with steps title "due", \\
		"" using 1:3 skip 1 with steps title "completed", \\
		"" using 1:4 skip 1 with steps title "failed"
	set xlabel "seconds"
	set ylabel "ms"
	plot "$(basename "$csv")" using 1:6 skip 1 with linespoints title "TTFT p50", \\
		"" using 1:7 skip 1 with linespoints title "TTFT p99"
	unset multiplot
END
mv -f "$stem.part" "$csv" || exit
sh "$(dirname "$0")/plot.sh" "$stem.gp"
