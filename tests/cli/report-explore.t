#!/bin/bash
# ipf-report -f html: the plots and tables of a page as a reader explores them: values, the requests behind points, series, ranges, filters.
# The second part needs Chromium; IPF_AXE=…/axe.min.js (npm axe-core) adds a checker of accessibility.
. "$TESTS/tap.sh"
command -v gnuplot >/dev/null || skip_all "gnuplot is not installed"
data=$TESTS/data/report
report=$BIN/ipf-report

# A run with failures and pauses, whose windows are steps of the time line.
server_start --step-base 2ms --step-per-seq 200us --max-batch 8 --fail status:share=0.05 --fail stall:share=0.02,pause=100ms
"$BIN/ipf-prep" synthetic -n 200 --input-tokens uniform:20-800 --output-tokens uniform:2-20 --seed 1 -o trace 2>"$ERR"
"$BIN/ipf-sched" constant:rate=20,for=500ms,warmup poisson:rate=40,for=1s,name=low poisson:rate=70,for=1s,name='<b>high' -t trace --seed 3 -o schedule
"$BIN/ipf-fire" -q -u "$URL" -t trace schedule | "$BIN/ipf-collect" -q --every 100ms -o results
server_stop
run "$report" -q -f html -o page.html results
status_is 0 "a page is made"

# ---- the file -------------------------------------------------------------------------------------------------------
# The page without its script, its style of controls and its data: what readers without script see.
growth() { # PAGE: its size by that, in percent
	python3 -c 'import re, sys
page = open(sys.argv[1], encoding="utf-8").read()
rest = re.sub(r"(?s)<script.*?</script>", "", page)
print(round(100 * len(page.encode()) / len(rest.encode())))' "$1"
}
for file in results "$data/mixed.results" "$data/one.results" "$data/errors.results"; do
	"$report" -q -f html -o size.html "$file"
	between "$(growth size.html)" 100 130 "script and data of a page add at most 30 %: $(basename "$file")"
done
"$report" -q -f json -o page.json results
"$report" -q -f html -o saved.html page.json
same page.html saved.html "a saved report makes the same page"
values() { python3 -c 'import json, re, sys
print(re.search(r"(?s)id=\"plot-values\">(.*?)</script>", open(sys.argv[1]).read()).group(1))' page.html; }
values page.html >values.json
is "$(jq -c '[.outliers.failed, (.outliers.keys | index("ok")) as $ok | [.outliers.rows[] | select(.[$ok] == 0)] | length]' values.json)" \
	"$(plain results | jq -sc '[.[] | select(.ok == false)] | [length, ([length, 40] | min)]')" "failed requests are counted, and at most 40 are in the page"
is "$(jq -c '[.outliers.rows[][0]] == ([.outliers.rows[][0]] | unique)' values.json)" true "a request is once in the page"
slowest=$(plain results | jq -s '[.[] | select(.n and .ok and .stage == 2)] | max_by(.e2e_ns + .start_ns - .due_ns).n')
yes_if "the slowest request of a stage is in the page" jq -e --argjson n "$slowest" 'any(.outliers.rows[]; .[0] == $n)' values.json
is "$(grep -c '<button\|<input\|role="slider"' page.html)" 0 "a page without script has no controls"

# ---- a report from elsewhere ----------------------------------------------------------------------------------------
jq -c '.plots[].panels[].series[]?.name = "</script><img src=x>" | .outliers.requests[].stage = "<!--<script>" | .plots[0].panels[0].x = [7]
	| .plots[1].panels[0].series = "no" | .outliers.requests[0].n = {}
	| del(.plots[3].panels[0].x.name, .plots[] .range.end_s) | .outliers.requests[1:][].e2e_ms = "7"' page.json >hostile.json
run "$report" -q -f html -o hostile.html hostile.json
status_is 0 "a report with other members makes a page"
is "$(python3 "$TESTS/helpers/html_page.py" hostile.html 2>&1)" "" "the page of a report with hostile names is well-formed"

# ---- in use ---------------------------------------------------------------------------------------------------------
command -v chromium >/dev/null || {
	skip "a reader sees values and requests, hides series, selects a range and filters, by pointer and keys" "chromium is not installed"
	exit
}
is "$(plain results >rows && python3 "$TESTS/helpers/html_drive.py" page.html rows 2>&1)" "" \
	"a reader sees values and requests, hides series, selects a range and filters, by pointer and keys"
is "$(python3 "$TESTS/helpers/html_browser.py" hostile.html 2>&1)" "" "hostile names do not become elements"
sed 's/"area":\[105.6,/"area":[125.6,/g' page.html >bad.html
contains "$(python3 "$TESTS/helpers/html_drive.py" bad.html rows 2>&1)" "the pointer at a point of a line" "a scale that differs from gnuplot's is found"
[ -n "${IPF_AXE:-}" ] || skip "axe-core finds no violation" "IPF_AXE is not set"
