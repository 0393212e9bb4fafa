#!/bin/bash
# ipf-report -f html: a page that is well-formed, has the numbers of the JSON report, shows hostile names as text, and needs nothing
# but itself.
. "$TESTS/tap.sh"
data=$TESTS/data/report
report=$BIN/ipf-report
here=$PWD
mkdir bare

# A run of two rates with a warm-up, two models, its servers and accelerators watched. A busy machine's additions are taken out of it: some plots
# could not be drawn.
server_start --step-base 2ms --step-per-seq 100us --gpus 2
"$BIN/ipf-prep" synthetic -n 120 --input-tokens uniform:20-200 --output-tokens uniform:2-12 --models base=0.6,lora=0.4 --seed 1 -o trace 2>"$ERR"
"$BIN/ipf-sched" constant:rate=20,for=300ms,warmup poisson:rate=40,for=700ms,name=low poisson:rate=90,for=700ms,name=high -t trace --seed 3 -o schedule
"$BIN/ipf-fire" -u "$URL" --name 'the run' -t trace schedule 2>"$ERR" | tee live.records |
	"$BIN/ipf-collect" --every 100ms --scrape "sim=$URL" --gpu "dcgm:$URL/dcgm/metrics" -o live.results 2>>"$ERR"
python3 "$TESTS/helpers/calm.py" live.records >records || not_ok "the machine's delays are taken out of the records"
"$BIN/ipf-collect" -q --every 100ms --samples live.results -o results records
server_stop

has() { # PAGE TEXT DESCRIPTION: some line has the text
	yes_if "$3" grep -qF -e "$2" "$1"
}

# RESULTS: the page NAME.html, checked, and compared with the JSON report of the same options.
page_of() { # NAME RESULTS TEXT [OPTIONS…]
	name=$1 results=$2 text=$3
	shift 3
	PATH=${page_path:-$PATH} "$report" -q -f html "$@" -o "$name.html" "$results" 2>"$ERR"
	"$report" -q -f json "$@" -o "$name.json" "$results"
	is "$(python3 "$TESTS/helpers/html_page.py" "$name.html" "$name.json" 2>&1)" "" "page and JSON agree: $text"
}
page_of run results "the page of a run is well-formed, accessible, and has the numbers of the JSON report" --slo ttft=10ms,p99:e2e=50ms
page_path=$here/bare # without gnuplot, which takes most of the time
page_of few results "also with other percentiles, and none of the usual ones" --percentiles 75,99.9
page_of infinite "$data/mixed.results" "and with failures as infinite" --errors-as-inf --slo ttft=150ms
for name in one errors empty closed; do page_of $name "$data/$name.results" "so is that of $name.results"; done
python3 "$TESTS/helpers/queue_results.py" --replicas 0=1,8=3 30^200:12 >spike.results
page_of spike spike.results "a spike has its autoscaling, and what it cost" --slo ttft=12ms --price "EUR 2.5/h"
python3 "$TESTS/helpers/exports.py" make sessions.results
page_of sessions sessions.results "so are sessions" --price 2/h
page_path=
has spike.html '<section id="autoscaling"' "pages of spikes have a section of autoscaling"
has spike.html '<dt>price</dt><dd>EUR 2.50 an hour' "a price has its currency"
matches "$(cat spike.html)" 'at [0-9.]+ requests/s a replica the objectives were met|the replicas needed are unknown' \
	"pages of spikes say what would have been enough"
has sessions.html '<section id="sessions"' "pages of sessions have a section of sessions"
sed 's/data-v="/&1/' run.html >bad.html
isnt "$(python3 "$TESTS/helpers/html_page.py" bad.html run.json)" "" "a number that differs is found"
sed 's/<main>/<main><p>/' run.html >bad.html
contains "$(python3 "$TESTS/helpers/html_page.py" bad.html)" "</main> in" "a tag that is not balanced is found"
has run.html '<h1>the run</h1>' "the name of the run is its heading"
for section in verdict summary stages latency tokens server accelerators errors accuracy run commands provenance definitions; do
	has run.html "<section id=\"$section\"" "the page has the section $section"
done
is "$(grep -c '<section id="\(server\|accelerators\|saturation\|autoscaling\|sessions\|cost\|tokens\)"' errors.html)" 0 "a page of failures has no section without figures"
has run.html "<code>ipf-sched constant:rate=20,for=300ms,warmup poisson:rate=40,for=700ms,name=low poisson:rate=90,for=700ms,name=high -t trace --seed 3</code><code>ipf-fire -u $URL --name &#39;the run&#39; -t trace schedule</code>" \
	"the commands are those of the headers, quoted for a shell"
head -c $(($(wc -c <results) / 2)) results >half.results
run "$report" -f html -o cut.html half.results
status_is 3 "a cut stream ends with 3"
has cut.html 'half.results: cut after' "the page of a cut stream begins with the cut"

# ---- tiles ----------------------------------------------------------------------------------------------------------
# the figure read first is marked like the same figure in a table, and shows its value if failures counted
tiles() { sed -n '/<dl class="summary">/,/<\/section>/p' "$1" | sed 's/<[^>]*>/ /g' | tr -s ' \n' ' '; }
"$report" -f html -o one.html "$TESTS/data/report/one.results" 2>"$ERR"
matches "$(tiles one.html)" 'TTFT from due, p50 100~ ms p99 100~, mean 100 .*~ too few samples' "a tile of one request marks its p50"
"$report" -f html --percentiles 50,90 -o failed.html "$TESTS/data/report/mixed.results" 2>"$ERR"
matches "$(tiles failed.html)" 'TTFT from due, p50 135~ ms p90 305~, mean 177; p50 with failures: 175; open ' "failures make a tile's p50 another one"
"$report" -f html --percentiles 90 -o failed.html "$TESTS/data/report/mixed.results" 2>"$ERR"
matches "$(tiles failed.html)" 'TTFT from due, p90 305~ ms mean 177; p90 with failures: infinite' "a tile with failures has an infinite percentile"

# ---- the same bytes -------------------------------------------------------------------------------------------------
"$report" -f html --reproducible -o a.html results 2>"$ERR"
"$report" -f html --reproducible -o b.html results 2>"$ERR"
same a.html b.html "--reproducible gives the same bytes"
t0=$(plain results | head -1 | jq -r '.from[0].t0')
is "$(grep -l -e "$t0" run.html a.html)" run.html "--reproducible leaves out the dates"

# ---- hostile names --------------------------------------------------------------------------------------------------
hostile='</script><script>alert(1)</script>"'"'"'`&amp;<!--'
dangerous=$'\\u202e\\u2028\\u001b[31m\\n'
plain results | head -1 | jq -c --arg name "$hostile" --argjson bad "\"$dangerous\"" '
	(.. | objects | select(.spec? and .name? == "low")) |= (.name = $name + $bad | .spec = $name)
	| (.. | objects | select(.spec? and .name? == "high")).name = "t" * 400
	| (.. | objects | select(has("argv")) | .argv) = ["-u", $name, "a b", "it'"'"'s", $bad]
	| (.. | objects | select(has("target")) | .target) = "javascript:" + $name
	| (.. | objects | select(has("model")) | .model) = $name
	| .name = $name + $bad | .[$name] = $bad' >header
body results | sed 's/"model":"[a-z]*"/"model":"<img src=x onerror=alert(1)>"/; s/"finish":"length"/"finish":"<b>"/' >lines
seal header lines >hostile.results
page_of hostile hostile.results "names can be anything"
has hostile.html "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&#96;&amp;amp;&lt;!--" "names are shown on the page as they are"
if command -v gnuplot >/dev/null; then
	has hostile.html '\u003c/script>' "names in the data of the plots cannot end their element"
else
	skip "names in the data of the plots cannot end their element" "gnuplot is not installed"
fi
is "$(grep -c '<script>alert\|<img\|<b>' hostile.html)" 0 "names on the page are never elements"
has hostile.html "&#39;a b&#39; &#39;it&#39;\\&#39;&#39;s&#39; \$&#39;\\xe2\\x80\\xae" "arguments are those that a shell needs"

# ---- without gnuplot ------------------------------------------------------------------------------------------------
mkdir broken
PATH=$here/bare run "$report" -f html results
status_is 0 "the page without gnuplot ends with 0"
stderr_is "ipf-report: gnuplot is not installed: the report has no plots" "ipf-report says that the page has no plots"
cp "$OUT" bare.html
is "$(python3 "$TESTS/helpers/html_page.py" bare.html)$(grep -c '<svg\|id="plots"' bare.html)" 0 "the page is whole but for the plots"
printf '#!/bin/sh\necho "gnuplot: broken" >&2\nexit 1\n' >broken/gnuplot
chmod +x broken/gnuplot
PATH=$here/broken:$PATH run "$report" -f html -o none.html results
status_is 1 "a gnuplot that fails"
complains ipf-report "gnuplot failed: gnuplot: broken" "ipf-report says why gnuplot failed"
if command -v gnuplot >/dev/null; then
	between "$(grep -c '<svg ' run.html)" 8 100 "the page has its plots"
	is "$(grep -c '<svg ' run.html)" "$(grep -c '<desc ' run.html)" "plots of the page have descriptions"
else
	skip "the page has its plots" "gnuplot is not installed"
fi

# ---- in a browser ---------------------------------------------------------------------------------------------------
if command -v chromium >/dev/null; then
	is "$(python3 "$TESTS/helpers/html_browser.py" run.html errors.html hostile.html bare.html 2>&1)" "" \
		"Chromium shows the page without message and request, with room, contrast in light and dark, and tables that sort"
	sed 's/<main>/<main><img src="http:\/\/127.0.0.1:9\/x" alt=""><pre style="width:3000px"><\/pre>/' run.html >bad.html
	contains "$(python3 "$TESTS/helpers/html_browser.py" bad.html 2>&1)" "Content Security Policy" "Chromium refuses sources that are not the page's"
else
	skip "Chromium shows the page without message and request, with room, contrast and tables that sort" "chromium is not installed"
fi
