#!/bin/bash
# ipf-report --plots: the drawings, their figures, and the uses of a folder of plots.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
data=$TESTS/data/report
report=$BIN/ipf-report
here=$PWD

# A run of two rates with a warm-up, its servers watched. A busy machine's additions are taken out of it: a stage without a throughput has plots
# that cannot be drawn.
server_start --step-base 4ms --step-per-seq 100us --max-batch 8 --gpus 2
"$BIN/ipf-prep" synthetic -n 200 --input-tokens uniform:20-200 --output-tokens uniform:2-30 --seed 1 -o trace 2>"$ERR"
"$BIN/ipf-sched" constant:rate=20,for=300ms,warmup poisson:rate=30,for=1s,name=low poisson:rate=90,for=1s,name=high -t trace --seed 3 -o schedule
"$BIN/ipf-fire" -u "$URL" -m sim -t trace schedule 2>"$ERR" | tee live.records |
	"$BIN/ipf-collect" --every 200ms --scrape "sim=$URL" --gpu "dcgm:$URL/dcgm/metrics" -o live.results 2>>"$ERR"
python3 "$TESTS/helpers/calm.py" live.records >records || not_ok "the machine's delays are taken out of the records"
"$BIN/ipf-collect" -q --every 200ms --samples live.results -o results records
"$report" -f json results >report.json
server_stop

# The pictures of a folder as XML: a line for each thing that is wrong, and their paths and texts.
cat >check.py <<'END'
import re, sys, pathlib
import xml.etree.ElementTree as ET
SVG = "{http://www.w3.org/2000/svg}"
ids = {}
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.svg")):
    root = ET.parse(path).getroot()
    name = path.stem
    if sys.argv[2:] == ["geometry"]:
        # gnuplot's drawing, repeated, has neither our title nor our classes
        print(name, [(e.get("d") or e.get("points")).split() for e in root.iter() if e.tag in (SVG + "path", SVG + "polygon") and not e.get("id")],
              ["".join(e.itertext()).strip() for e in root.iter(SVG + "text")])
        continue
    title, desc = root.find(SVG + "title"), root.find(SVG + "desc")
    if root.get("role") != "img" or root.get("aria-labelledby") != f"{title.get('id')} {desc.get('id')}" or not title.text or len(desc.text) < 20:
        print(name, "is not accessible")
    if len(list(root.iter(SVG + "title"))) != 1:
        print(name, "has titles of gnuplot's")
    for e in root.iter():
        if e.get("id"):
            if e.get("id") in ids: print(name, "has an id of", ids[e.get("id")], e.get("id"))
            ids[e.get("id")] = name
            if not e.get("id").startswith(name + "-"): print(name, "has the id", e.get("id"))
        href = e.get("{http://www.w3.org/1999/xlink}href")
        if href and ids.get(href[1:]) != name: print(name, "refers to", href)
        if e.tag not in [SVG + t for t in ("svg", "title", "desc", "style", "rect", "g", "defs", "path", "circle", "use", "text", "polygon", "tspan")]:
            print(name, "has", e.tag)
    text = path.read_text()
    if re.search(r"proc/self|NaN|\.tsv|gnuplot\b(?!_)", text): print(name, "shows what it is drawn with")
    if len(text) > 500000: print(name, "is too large")
END

if ! command -v gnuplot >/dev/null; then
	skip_all "gnuplot is not installed"
fi
run "$report" --plots plots results
status_is 0 "plots are drawn beside the report"
"$report" results >plain
same "$OUT" plain "--plots does not change the report"
stderr_is "" "--plots has no messages"
all="arrival-gaps arrivals cdf-e2e cdf-itl cdf-lag cdf-ttft heat-e2e heat-itl heat-ttft itl-position lanes pareto-gpu pareto rate-e2e rate-throughput rate-tpot rate-ttft timeline ttft-input"
is "$(cd plots && echo *.svg)" "$(for name in $all; do echo "$name.svg"; done | tr '\n' ' ' | sed 's/ $//')" "--plots draws every picture"
is "$(cd plots && echo *.gp *.tsv)" "$(for e in gp tsv; do for name in $all; do echo "$name.$e"; done; done | tr '\n' ' ' | sed 's/ $//')" "pictures have their scripts and data"
is "$(python3 check.py plots)" "" "every picture is XML of its own, with a title and a description, and with its own ids"

# ---- stages without plots ---
plain results | head -1 >header
plain results | sed "1d;\$d" >rows
second=$(jq -s 'map(select(.n and .stage == 2) | .start_ns) | min' rows) # requests ending from then on end much later
jq -c "if .n and .end_ns > $second - 500000000 then .end_ns += 60000000000 else . end" rows >lines
seal header lines >late.results
run "$report" --plots late late.results
is "$(grep -o "1 of 2 stages are not shown: no request ended within the window\." late/rate-throughput.svg)" \
	"1 of 2 stages are not shown: no request ended within the window." "a stage without a throughput is told"
contains "$(cat late/rate-throughput.svg)" ">1 of 2 stages not shown<" "the plot says how many stages are not shown"
is "$(grep -l "not shown" plots/*.svg)" "" "complete plots say nothing of stages not shown"

# ---- the figures ----------------------------------------------------------------------------------------------------
rows() { grep -v '^#' "$1" | grep .; }
jq_rows() { jq -r "$1 | map(if . == null then \"NaN\" else tostring end) | @tsv" report.json; }
is "$(rows plots/rate-ttft.tsv)" "$(jq_rows '.stages[1:][] | [.rate.offered] + (.latency.ttft_ms.from_due | [.p50, .p90, .p99, .n])')" "TTFT against rate is that of the report"
is "$(rows plots/rate-tpot.tsv)" "$(jq_rows '.stages[1:][] | [.rate.offered] + (.latency.tpot_ms | [.p50, .p90, .p99, .n])')" "TPOT against rate is that of the report"
is "$(rows plots/rate-throughput.tsv)" "$(jq_rows '.stages[1:][] | [.rate.offered, .rate.completed, .goodput.requests_per_s, .throughput.output_tokens_per_s]')" "throughput against rate is that of the report"
for name in ttft e2e; do
	is "$(rows plots/cdf-$name.tsv | awk 'NF == 3 { print $1 }' | tr '\n' ' ')" \
		"$(jq -r ".stages[1:][] | .latency.${name}_ms.from_due | .p50, .p90, .p99" report.json | tr '\n' ' ')" "the marks of the CDF of $name are those percentiles"
done
is "$(rows plots/cdf-lag.tsv | awk 'NF == 3 { print $1 }' | tr '\n' ' ')" "$(jq -r '.stages[1:][].lag_ms | .p50, .p90, .p99' report.json | tr '\n' ' ')" "the marks of the CDF of the lag are its percentiles"
is "$(rows plots/cdf-itl.tsv | awk 'NF == 3 { print $1 }' | tr '\n' ' ')" "$(jq -r '.stages[1:][].latency.itl_ms | .p50, .p90, .p99' report.json | tr '\n' ' ')" "the marks of the CDF of gaps are their percentiles"
is "$(rows plots/itl-position.tsv)" "$(jq_rows '.stages[1:][].itl_by_position_ms[] | [.from, .to, .n, .mean, .p50, .p90, .p99]')" "ITL against position is that of the report"
is "$(jq -c '.stages[1:][] | [([.itl_by_position_ms[].n] | add) == .latency.itl_ms.n, (.itl_by_position_ms | map(.to == 2 * .from - 1) | all)]' report.json | sort -u)" \
	"[true,true]" "gaps of a stage are in one bin by position each, and bins double"
is "$(jq -c '.total.itl_by_position_ms | map([.from, .n])' report.json)" "$(jq -c '[.stages[1:][].itl_by_position_ms[]] | group_by(.from) | map([.[0].from, (map(.n) | add)])' report.json)" "gaps of the total by position are the sums of the stages"
is "$(awk 'NF == 2 && $2 < last { if ($2 != 0) print } { last = $2 }' plots/cdf-*.tsv)" "" "shares do not fall"
is "$(rows plots/timeline.tsv | cut -f 1,3,4,5,9,10)" "$(jq_rows '.series as $s | $s.windows[] | [.t_s, .started / $s.every_s, .ok / $s.every_s, .failed / $s.every_s, .ttft_ms.p50, .ttft_ms.p99]' |
	awk -F '\t' -v OFS='\t' -v CONVFMT=%.15g '{ for (i = 1; i <= NF; i++) if ($i != "NaN") $i = $i + 0 } 1')" "the time line has the windows of the report"
is "$(head -1 plots/timeline.tsv | cut -c 1-19 | tr '\t' ' ')" "# t_s scheduled_per" "columns have names"
at_least "$(rows plots/timeline.tsv | awk -F '\t' '$15 != "NaN" && $18 != "NaN"' | wc -l)" 1 "the time line has the servers and the accelerators"

ended=$(jq '[.series.windows[].ok] | add' report.json)
for name in ttft e2e; do
	is "$(rows plots/heat-$name.tsv | awk '{ n += $5 } END { print n }')" "$ended" "the map of $name has each successful request"
done
is "$(rows plots/heat-itl.tsv | awk '{ n += $5 } END { print n }')" "$(jq '[.series.windows[].itl_ms.n // 0] | add' report.json)" "the map of gaps has each gap"
is "$(awk '!NF { exit } $1 != "#"' plots/ttft-input.tsv | wc -l)" "$(jq .total.requests.ok report.json)" "TTFT against length has the requests of measured stages"
is "$(rows plots/arrivals.tsv | awk '{ n += $2 } END { print n }')" "$(jq '[.series.windows[].scheduled] | add' report.json)" "every arrival is shown"
is "$(rows plots/lanes.tsv | wc -l)" 60 "lanes are at most 60"
system=$(jq -r '.stages[1:][].throughput.output_tokens_per_s' report.json | sort -n | tr '\n' ' ')
is "$(awk 'NF == 3 && !/#/ { print $2 }' plots/pareto.tsv | sort -nu | tr '\n' ' ')" "$system" "the front has tokens per second of all"
is "$(awk 'NF == 3 && !/#/ { print $2 * 2 }' CONVFMT=%.9g OFMT=%.9g plots/pareto-gpu.tsv | sort -nu | wc -l)" 2 "the front has two rates for each accelerator"

# ---- the folder -----------------------------------------------------------------------------------------------------
cp -r plots moved
for name in $all; do (cd moved && rm "$name.svg" && LC_ALL=C.UTF-8 gnuplot "$name.gp") 2>>redraw.err; done
is "$(cat redraw.err)" "" "every script can be run by hand"
python3 check.py plots geometry >drawn
python3 check.py moved geometry >drawn-again
is "$(grep -c "L[0-9]" drawn)" 19 "19 plots have lines"
same drawn drawn-again "scripts run by hand draw the same lines and texts"
run "$report" --plots plots --plot-format png results
is "$status $(head -c 4 plots/timeline.png | tail -c 3) $(ls plots/*.svg 2>/dev/null)" "0 PNG " "--plot-format png replaces SVG"
run "$report" --plots plots --plot-format pdf results
is "$status $(head -c 4 plots/cdf-ttft.pdf) $(ls plots/*.png 2>/dev/null)" "0 %PDF " "--plot-format pdf replaces PNG"
run "$report" -v --plots plots "$data/errors.results"
is "$(find plots -name 'cdf-ttft*' -o -name 'rate-*')" "" "plots of an earlier run are removed"
matches "$(cat "$ERR")" '^ipf-report: no plot cdf-ttft: no successful request was streamed$' "-v says why a plot is missing"
run "$report" --plots empty "$data/empty.results"
is "$(ls empty) $(cat "$ERR")" " ipf-report: no plots: the run has no data for any (-v says why)" "a run without requests has no plots"

run "$report" -q --errors-as-inf --plots inf "$data/mixed.results"
is "$status $(cat "$ERR")" "0 " "failures that are infinite end a distribution below 100 %"
is "$(python3 check.py inf)" "" "infinite failures are not drawn"
is "$(grep -ic inf inf/*.tsv | grep -v ':0$')" "" "infinite failures are not in the data"

run "$report" -q --plots closed "$data/closed.results"
is "$status $(cat "$ERR") $(python3 check.py closed)" "0  " "a closed loop is drawn"
is "$(find closed -name 'arrival*')" "" "a closed loop has no plot of arrivals"

# ---- hostile names --------------------------------------------------------------------------------------------------
hostile="it's \`touch\${IFS}here\`@c_^{}\"<b>&\$(touch there)"
plain results | head -1 | jq -c --arg name "$hostile" '(.. | objects | select(.spec? and .name? == "low") | .name) = $name | (.. | objects | select(.spec? and .name? == "high") | .name) = "\\\"; set output '"'x'"'"' >header
body results >lines
seal header lines >hostile.results
run "$report" --plots hostile hostile.results
status_is 0 "names can be anything"
stderr_is "" "names give no message of gnuplot"
is "$(python3 check.py hostile; ls here there hostile/x hostile/here x 2>/dev/null)" "" "plots execute nothing in names"
contains "$(python3 check.py hostile geometry)" "it's \`touch" "plots show names as they are"
(cd hostile && LC_ALL=C.UTF-8 gnuplot cdf-ttft.gp 2>&1)
is "$(ls here there hostile/x hostile/here 2>/dev/null)" "" "scripts run by hand execute nothing in names"

# ---- errors ------------------------------------------------------------------------------------------------
run "$report" --plots plain results
status_is 1 "a file instead of a folder"
complains ipf-report "plain/" "ipf-report names the file that is no folder"
run "$report" --plots no/such results
complains ipf-report "no/such: cannot create the folder: No such file or directory" "ipf-report names the folder that it cannot create"
mkdir full && ln -s /dev/full full/timeline.tsv
run "$report" --plots full results
status_is 1 "a full disk"
complains ipf-report "full/timeline.tsv: cannot write: No space left on device" "ipf-report names the plot that it cannot write"
run "$report" --plots plots --plot-format gif results
status_is 2 "--plot-format gif ends with 2"
run "$report" --plot-format png results
status_is 2 "--plot-format without --plots ends with 2"
complains ipf-report "--plot-format requires --plots" "ipf-report says that --plot-format requires --plots"
mkdir bare broken
PATH=$here/bare run "$report" --plots without results
status_is 0 "--plots without gnuplot ends with 0"
is "$(cat "$ERR")" "ipf-report: gnuplot is not installed: the plots in without are not drawn; their data and scripts are there" "ipf-report says that plots are not drawn without gnuplot"
same without/rate-ttft.tsv moved/rate-ttft.tsv "--plots without gnuplot writes the data"
same without/rate-ttft.gp moved/rate-ttft.gp "--plots without gnuplot writes the scripts"
is "$(ls without/*.svg 2>/dev/null)" "" "--plots without gnuplot draws no picture"
printf '#!/bin/sh\necho "gnuplot: broken" >&2\nexit 1\n' >broken/gnuplot
chmod +x broken/gnuplot
PATH=$here/broken:$PATH run "$report" --plots without results
status_is 1 "a gnuplot that fails"
complains ipf-report "timeline: gnuplot failed: gnuplot: broken" "ipf-report says which plot gnuplot failed to draw"
