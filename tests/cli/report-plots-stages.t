#!/bin/bash
# ipf-report --plots: which stages are in the plots, marks beside lines and points, and names of stages.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
report=$BIN/ipf-report
here=$PWD
rows() { grep -v '^#' "$1" | grep .; }
# Without gnuplot, which takes most of the time, there are the data and the scripts.
mkdir bare
plots() { # FOLDER RESULTS [OPTIONS…]
	PATH=$here/bare run "$report" -q --plots "$@"
	status_is 0 "plots of $2 ${3-}"
}

# ---- one stage ------------------------------------------------------------------------------------------------------
server_start --step-base 4ms --step-per-seq 100us --max-batch 8
"$BIN/ipf-prep" synthetic -n 100 --input-tokens uniform:20-200 --output-tokens uniform:2-30 --seed 1 -o trace 2>"$ERR"
"$BIN/ipf-sched" constant:rate=20,for=300ms,warmup poisson:rate=30,for=500ms,name=low poisson:rate=90,for=700ms,name=high -t trace --seed 3 -o schedule
"$BIN/ipf-fire" -u "$URL" -m sim -t trace schedule 2>"$ERR" | "$BIN/ipf-collect" --every 100ms -o results 2>>"$ERR"
server_stop
plots one results --stage high
"$report" -q -f json --stage high results >one.json
ok=$(jq .total.requests.ok one.json)
for name in ttft e2e; do
	is "$(rows one/heat-$name.tsv | awk '{ n += $5 } END { print n }')" "$ok" "--stage: the map of $name has the requests of that stage"
done
is "$(rows one/arrivals.tsv | awk '{ n += $2 } END { print n }')" "$(jq .total.requests.started one.json)" "--stage: arrivals are those of the stage"
is "$(rows one/timeline.tsv | awk '{ n += $4 * 0.1 } END { printf "%.0f", n }')" "$ok" "--stage: the time line is that of the stage"
is "$(rows one/heat-itl.tsv | awk '{ n += $5 } END { print n }')" "$(jq .total.latency.itl_ms.n one.json)" "--stage: the map of gaps is that of the stage"
is "$(rows one/lanes.tsv | awk '$2 < 0.8' | wc -l) $(rows one/arrivals.tsv | awk '$1 < 0.8' | wc -l) $(rows one/timeline.tsv | awk '$1 < 0.7' | wc -l)" "0 0 0" \
	"--stage: plots begin with the stage"
is "$(find one -name 'rate-*' -o -name 'pareto*')" "" "--stage: a single stage has no plots against rates"
plots all results
between "$(rows all/arrivals.tsv | awk '{ n += $2 } END { print n }')" "$((ok + 6))" 100 "plots without --stage have all stages"

# No cell has more than one.
python3 "$TESTS/helpers/time_series.py" rows 1 0 60 | jq -c '.start_ns = .n * 1000000000 | .end_ns = .start_ns + 300000000 | .ttft_ns = .n * 1000000' >rows.few
seal <(head -1 "$TESTS/data/report/one.results") rows.few >few.results
plots few few.results
matches "$(cat few/heat-ttft.gp)" '\b1 request\b' "a legend of one request"

# ---- a server's capacity ----------------------------------------------------------------------------------------------
python3 "$TESTS/helpers/queue_results.py" --spread 40:5 60:5 80:5 90:5 120:5 150:5 >sweep.results
plots sweep sweep.results
for name in ttft e2e throughput; do
	matches "$(cat sweep/rate-$name.gp)" "set label 10[0-9] 'capacity [0-9.]+/s' at screen" "rate-$name names the capacity above the curves"
done
numbers=$(rows sweep/pareto.tsv | awk 'NF == 5')
between "$(echo "$numbers" | wc -l)" 3 6 "numbers beside points of the front"
is "$(echo "$numbers" | awk '$4 < 0 || $4 > 1 || $5 < 0 || $5 > 1')" "" "numbers of stages lie between the axes"
is "$(echo "$numbers" | awk '{ for (i = 0; i < n; i++) if (($4 - x[i]) ^ 2 < 0.04 ^ 2 && ($5 - y[i]) ^ 2 < 0.06 ^ 2) print; x[n] = $4; y[n++] = $5 }')" "" \
	"numbers of stages lie apart"

# ---- above the time line ----------------------------------------------------------------------------------------
timed() { # FOLDER RATE:LENGTH…: stages of 30 s altogether, in a time line of 31 s
	folder=$1
	shift
	python3 "$TESTS/helpers/queue_results.py" --spread "$@" >plain.results
	plain plain.results | head -1 | jq -c '.series = { every_ns: 1000000000 }' >header
	{
		body plain.results | jq -c 'select(.n)'
		jq -nc 'range(31) | { window: ., t_ns: (. * 1000000000), length_ns: 1000000000, stage: 0, started: 1 }'
	} >lines
	seal header lines >timed.results
	plots "$folder" timed.results
}
above() { sed -n "s/^set label [0-9]* '\([^']*\)' at \(first\|screen 0.022\).*/\1/p" "$1/timeline.gp" | tr '\n' ' '; }
timed few 4:10 6:10 8:10
is "$(above few)" "poisson-0 poisson-1 poisson-2 " "names of stages are above the time line"
timed many 4:5 6:5 8:5 9:5 12:5 15:5
is "$(above many)" "1 2 3 4 5 6 stage 1 poisson-0   2 poisson-1   3 poisson-2   4 poisson-3 5 poisson-4   6 poisson-5 " \
	"long names of stages become numbers with a legend"
for plot in cdf-e2e cdf-itl arrival-gaps itl-position; do
	[ ! -e many/$plot.gp ] || has many/$plot.gp "'1 of 6 stages not shown'" "$plot has five lines, and says that one is missing"
done
has many/cdf-e2e.gp "stages not shown" "the plot says how many of six stages are missing"
matches "$(cat many/rate-e2e.gp)" "using 1:\(\\\$5 < 459 \? \\\$4 : NaN\) with points pt 9 ps 0.4 lc rgb '#ffffff'" \
	"points of too few samples have a core of the paper's colour"

# ---- names in other scripts, and none at all ----------------------------------------------------------------------------
# gnuplot draws a character that no font has over the whole picture.
plain results | head -1 | jq -c '(.. | objects | select(.spec? and .name? == "low") | .name) = "" | (.. | objects | select(.spec? and .name? == "high") | .name) = "高峰"' >header
body results >lines
seal header lines >wide.results
plots wide wide.results --plot-format png
contains "$(cat wide/cdf-ttft.gp)" "(glyphs('9ad8 5cf0') ? '高峰' : '??')" "PNG has question marks for a name that no font has"
contains "$(cat wide/cdf-ttft.gp)" "'stage 2'" "a stage without a name has its number"
if command -v gnuplot >/dev/null; then
	mkdir fonts
	printf '#!/bin/sh\necho "$*" >>%s/asked\n' "$here" >fonts/fc-list
	chmod +x fonts/fc-list
	is "$(cd wide && LC_ALL=C.UTF-8 PATH=$here/fonts:$PATH gnuplot cdf-ttft.gp 2>&1) $(sort -u asked)" " :charset=9ad8 5cf0 family" "the script asks for a font with the name's characters"
	(cd wide && sed -i 's/^set terminal pngcairo noenhanced size [0-9,]*/set terminal svg noenhanced/; s/background.*//; s/fontscale 2 linewidth 2 pointscale 2//' cdf-ttft.gp &&
		LC_ALL=C.UTF-8 PATH=$here/fonts:$PATH gnuplot cdf-ttft.gp 2>&1)
	contains "$(cat wide/cdf-ttft.png)" "??" "a font list without the characters gives question marks"
else
	skip "the script asks for a font with the name's characters" "gnuplot is not installed"
fi
