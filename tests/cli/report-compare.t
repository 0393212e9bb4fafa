#!/bin/bash
# Comparing two sides: their kinds, their differences, the findings, and refusals. tests/unit/test_report_difference.c counts how
# often intervals and findings are right.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
report=$BIN/ipf-report
made() { python3 "$TESTS/helpers/compare_results.py" "$@"; }
for k in 1 2 3; do
	made --seed $k >a$k.results
	made --seed 1$k --slower 1.2 --http 2 --target http://other:8000/v1 >b$k.results
done

# ---- a slower server ----
run "$report" compare a1.results a2.results a3.results -- b1.results b2.results b3.results
status_is 0 "a comparison of three runs a side"
cp "$OUT" slower.txt
contains "$(cat slower.txt)" "new is slower: " "a server that is slower by 20 % is slower"
matches "$(cat slower.txt)" '^  TPOT p50, ms +1[0-9.]+ +1[0-9.]+ +\+2[0-9] % +\+[0-9.]+ to \+[0-9.]+ %' "the text has change and interval of a figure"
is "$(awk '/^Settings/ {s = NR} /^Result/ {r = NR} /TTFT mean/ {f = NR} END {print (r > 0 && r < s && s < f)}' slower.txt)" 1 \
	"the result comes first, then settings that differ, then the figures"
contains "$(grep -A2 '^  server' slower.txt)" "http://other:8000/v1" "servers that differ are named"
is "$(grep -A2 '^  HTTP' slower.txt | tr -s ' \n' ' ')" " HTTP 1.1 2 " "a protocol that differs is named"
is "$(awk 'length($0) > 80' slower.txt)" "" "no line of the comparison is longer than 80 columns"
"$report" compare -f json a?.results -- b?.results >slower.json
is "$(jq -c '[.outcome, .paired, .noise, .base.runs, .new.runs, .limits.tests]' slower.json)" '["slower",true,"runs",3,3,16]' "JSON says that the new side is slower"
is "$(jq '[.figures[] | select(.finding == "slower") | .low > 0 and .p_adjusted < 0.05 and .change >= 0.02] | all' slower.json)" true \
	"slower figures are significant, and at least the least effect"
is "$("$report" compare -f json b?.results -- a?.results | jq -r .outcome)" faster "swapped sides are faster"
alone=$("$report" -f json a?.results | jq -c '.total | [.latency.ttft_ms.from_due.p99, .latency.itl_ms.mean, .latency.itl_ms.p99, .latency.tpot_ms.mean, .latency.e2e_ms.from_due.p50, .throughput.output_tokens_per_s]')
is "$(jq -c '[.figures[] | select(.name | IN("ttft.p99", "itl.mean", "itl.p99", "tpot.mean", "e2e.p50", "output_tokens")) | .base] | map(. * 1e6 | round)' slower.json)" \
	"$(echo "$alone" | jq -c 'map(. * 1e6 | round)')" "figures are those of the report of a side"
is "$(jq '[.figures[] | .base_runs | values | length] | unique' -c slower.json)" "[3]" "figures have a value for every run of a side"

is "$(jq -c '[.figures[] | select(.name | startswith("itl")) | [.name, .finding, has("low")]]' slower.json)" \
	'[["itl.mean","slower",true],["itl.p50","not judged",false],["itl.p90","not judged",false],["itl.p99","not judged",false]]' \
	"compare judges the mean of ITL and not its percentiles"

# ---- large numbers ----
made --seed 1 --slower 3000 >slowest.results
"$report" compare --fail-if 'tpot.mean > +5%' a1.results slowest.results >slowest.txt 2>slowest.err
"$report" compare -f md a1.results slowest.results >slowest.md 2>/dev/null
is "$(cat slowest.txt slowest.err slowest.md | grep -cE '[0-9]e[+]?[0-9]')" 0 "no number has an exponent"
contains "$(cat slowest.err)" "+1,001,889 %, 95 % interval above +923,928 %, p < 0.001 (15.2 to 152,428 ms)" "thousands are separated"

# ---- a cache that only one side found warm ----
with_cached() { # FILE SHARE: as if the server had had this share of each prompt in its prefix cache
	head -1 "$1" >header
	sed -e 1d -e '$d' "$1" | jq -c "if .n != null then .input_tokens //= 100 | .cached_tokens = (.input_tokens * $2 | floor) else . end" >body
	seal header body
}
with_cached a1.results 0.1 >cold.results
with_cached b1.results 0.9 >warm.results
run "$report" compare cold.results warm.results
matches "$(tr -s ' \n' ' ' <"$OUT")" "cache (9.9|10.0) % of the input tokens of base were in the server's prefix cache, (90.0|89.9) % of those of new" \
	"caches in another state are named beside the result"
is "$(grep -nE '^(  cache|What changed|Settings)' "$OUT" | head -1 | cut -d: -f2 | cut -c1-7)" "  cache" "the state of caches comes before figures"
run "$report" compare cold.results cold.results
is "$(grep -c "prefix cache" "$OUT")" 0 "caches in the same state are not"
is "$(grep -c "do not compare" "$OUT")" 0 "answers of the same length are not mentioned"
for length in 0.7:'(29|3[01])[0-9.]* % fewer' 1.5:'[45][0-9.]+ % more'; do
	made --output ${length%%:*} >length.results
	run "$report" compare a1.results length.results
	matches "$(tr -s ' \n' ' ' <"$OUT")" "lengths answers of new have ${length#*:} output tokens \([0-9.]+ instead of [0-9.]+ on average\): E2E and tokens per second do not compare" \
		"answers of another length are said"
	is "$(grep -nE '^(  lengths|What changed|Settings)' "$OUT" | head -1 | cut -d: -f2 | cut -c1-9)" "  lengths" "answers of another length come before figures"
done
run "$report" compare -f html a1.results b1.results
matches "$(sed -n '/id="result"/,/id="settings"/p' "$OUT")" 'verdict DOUBTFUL \([a-z, ]+\)' "the page begins with the doubts about each side"

# ---- the same server ----
found=0
for k in 4 5 6 7 8 9; do
	made --seed $k >other.results
	case $("$report" compare -f json a1.results -- other.results | jq -r .outcome) in
	"not enough runs" | "no difference") ;;
	*) found=$((found + 1)) ;;
	esac
done
is "$found" 0 "two runs of one server do not differ, with six seeds"
"$report" compare -f json a1.results -- a2.results >alike.json
is "$(jq -c '[.noise, ([.figures[] | select(.finding == "not enough runs") | .runs_needed > 1 or .p < 0.05] | all)]' alike.json)" '["blocks",true]' \
	"one run a side has noise from blocks, and more runs are asked for"
contains "$("$report" compare a1.results -- a2.results)" "give several runs of each side" "the text asks for several runs of each side"
is "$("$report" compare -f json --min-effect 60% a1.results a2.results | jq -c '[.outcome, .limits.min_effect]')" '["no difference",0.6]' \
	"a greater least effect; two results need no --"
"$report" compare -f json a1.results -- a1.results >itself.json
is "$(jq -c '[.same_records, .outcome, ([.figures[].p | values] | unique)]' itself.json)" '[true,"no difference",[1]]' "a run does not differ from itself"

# ---- other requests, sessions, failures ----
made --schedule 2 >c.results
"$report" compare -f json a1.results -- c.results >unpaired.json
is "$(jq .paired unpaired.json)" false "runs of other schedules are not paired"
is "$(jq '[.settings[] | select(.name == "results.trace" or .name == "results.trace.sha256" or .name == "schedule.seed")] | length' unpaired.json)" 2 "trace and seed are named"
width() { jq '.figures[] | select(.name == "tpot.p50") | .high - .low' "$1"; }
is "$(awk -v a="$(width alike.json)" -v b="$(width unpaired.json)" 'BEGIN {print (b > a)}')" 1 "unpaired runs have wider intervals"
made --sessions 8 >s1.results
made --sessions 8 --seed 2 >s2.results
is "$("$report" compare -f json s1.results -- s2.results | jq -c '[.outcome != "slower", .outcome != "faster"]')" "[true,true]" "runs with sessions"
made --fail 0.04 --seed 3 >f.results
is "$("$report" compare -f json a1.results -- f.results | jq -c '.figures[] | select(.name == "failures") | [.finding, .interval_of, .base]')" \
	'["more","difference",0]' "failures are compared as shares"
made --fail 0.3 --seed 3 >bad.results
run "$report" compare a1.results -- bad.results
status_is 4 "a run whose verdict is INVALID is not compared"
contains "$(cat "$OUT")" "not compared: the verdict of new is INVALID" "the result says that the verdict is INVALID"
is "$(grep -c 'TTFT' "$OUT")" 0 "sides that are not compared have no figure"
is "$("$report" compare -f json bad.results -- a1.results 2>/dev/null | jq -c '[.outcome, .figures]')" '["not compared",[]]' "JSON of sides that are not compared has no figure"

# ---- settings of each run ----
made --seed 5 --http 2 >h2.results
is "$("$report" compare -f json a1.results a3.results -- a2.results h2.results | jq -c .settings)" \
	'[{"name":"records.http","base":"1.1","new":"1.1 (run 1); 2 (run 2)"}]' "a run in the middle of a side that is other is named"
made --seed 2 --definition vllm >defined.results
is "$("$report" compare -f json a1.results -- defined.results | jq -c .settings)" '[{"name":"definitions","base":"ipf","new":"vllm 1.0"}]' \
	"definitions of another tool are named"

# ---- files of other tools, few requests, cut results ----
"$report" compare -f json a1.results -- "$TESTS/data/imports/aiperf-0.13.0.json" >imported.json
is "$(jq -c '[.outcome, .new.imported, .new.verdict.status, .settings[0].new, ([.figures[] | has("low")] | any), (.figures[0] | has("change"))]' imported.json)" \
	'["not judged","AIPerf","UNKNOWN","AIPerf",false,true]' "figures that another tool states: changes without intervals"
"$report" compare "$TESTS/data/imports/aiperf-0.13.0.jsonl" -- "$TESTS/data/imports/aiperf-0.13.0.jsonl" >few.txt
contains "$(cat few.txt)" "not judged" "twelve requests are too few to judge"
made --requests 1 >single.results
"$report" compare single.results -- single.results >few.txt
is "$(grep -c '1 run, 1 request; verdict' few.txt)$(grep -c -E '(slower|faster)$' few.txt)" 20 "one request is compared without findings"
head -300 a1.results >cut.results
run "$report" compare a1.results -- cut.results
status_is 3 "results that are cut"
contains "$(cat "$OUT")" "base" "cut results are compared as far as they go"
run "$report" compare a1.results -- missing.results
status_is 1 "results that do not exist"
is "$(cat "$OUT")" "" "give no comparison"

# ---- conditions ----
gate() { # STATUS CONDITION [NEW…]
	run "$report" compare --fail-if "$2" a1.results a2.results a3.results -- "${@:3}"
	status_is "$1" "--fail-if '$2' ends with $1"
}
gate 4 'tpot.p50 > +10%' b1.results b2.results b3.results
contains "$(cat "$ERR")" "--fail-if tpot.p50 > +10%: +2" "ipf-report names the condition that failed, with the change"
contains "$(cat "$OUT")" "failed      tpot.p50 > +10%: +2" "the text has the condition that failed"
gate 0 'tpot.p50 > +50%' b1.results b2.results b3.results
contains "$(cat "$OUT")" "passed      tpot.p50 > +50%: +2" "the text has the condition that passed"
gate 4 'tpot.p50>+1ms certain' b1.results b2.results b3.results
gate 0 'tpot.p50 > +22% certain' b1.results b2.results b3.results
gate 4 'ttft.p99 > +50% possible' b1.results b2.results b3.results
gate 0 'ttft.p99 > +50%' b1.results b2.results b3.results
gate 4 'tpot.p50 > 15ms' b1.results b2.results b3.results
gate 0 'requests < 5' b1.results b2.results b3.results
gate 0 'tpot.p50 < -10%' b1.results b2.results b3.results
gate 4 'failures > +1%' f.results
gate 4 'failures > 2%' f.results
gate 4 'goodput < -5%' b1.results
contains "$(cat "$ERR")" "a side does not have the figure" "a figure that does not exist fails"
gate 4 'tpot.p50 < -20%' "$TESTS/data/imports/aiperf-0.13.0.json"
contains "$(cat "$ERR")" "noise not known" "conditions without noise are decided by the change"

# ---- undecided differences ----
made --requests 60 --seed 4 >few.results
open=(a1.results -- few.results)
run "$report" compare --fail-if 'ttft.p99 > +5%' --fail-if 'tpot.p90 > +5%' --fail-if 'e2e.mean > +1%' --fail-if 'requests < -90%' "${open[@]}"
status_is 4 "undecided conditions end with 4"
contains "$(tr -s ' \n' ' ' <"$OUT")" "undecided ttft.p99 > +5%: too few independent requests to know the noise: -" "a percentile beyond the requests is undecided"
contains "$(tr -s ' \n' ' ' <"$OUT")" "undecided tpot.p90 > +5%: too few requests or runs to say how large the change can be: -" "a small change of few requests is undecided"
contains "$(tr -s ' \n' ' ' <"$OUT")" "undecided e2e.mean > +1%: the change is beyond the limit, but noise alone can explain it: +" "a change that noise can explain is undecided"
contains "$(cat "$OUT")" "passed      requests < -90%" "a known change passes next to undecided ones"
contains "$(cat "$ERR")" "--fail-if ttft.p99 > +5%: undecided: too few" "the message says why"
run "$report" compare --undecided pass --fail-if 'ttft.p99 > +5%' "${open[@]}"
status_is 0 "--undecided pass ends with 0"
contains "$(cat "$OUT")" "undecided   ttft.p99 > +5%" "passes, and is still called undecided"
for choice in fail:true:4 pass:false:0; do
	IFS=: read -r choice failed expected <<<"$choice"
	run "$report" compare -f json --undecided "$choice" --fail-if 'ttft.p99 > +5%' "${open[@]}"
	is "$status $(jq -c '.fail_if[] | [.failed, .undecided]' "$OUT")" "$expected [$failed,true]" "JSON with --undecided $choice"
done
run "$report" compare -f junit --fail-if 'ttft.p99 > +5%' "${open[@]}"
contains "$(cat "$OUT")" '<failure type="difference" message="undecided: too few' "JUnit: a failure"
run "$report" compare -f junit --undecided pass --fail-if 'ttft.p99 > +5%' "${open[@]}"
contains "$(cat "$OUT")" '<skipped message="undecided: too few' "JUnit has a skipped case with --undecided pass"
"$report" compare -f md --fail-if 'ttft.p99 > +5%' "${open[@]}" >open.md 2>/dev/null
contains "$(cat open.md)" "- ttft.p99 &#62; +5% **undecided**: " "Markdown has the undecided condition"
run "$report" compare --fail-if 'ttft.p99 > +5% estimate' --fail-if 'ttft.p50 > +500% certain' "${open[@]}"
status_is 0 "estimate and certain are decided"
run "$report" compare --fail-if 'tpot.p50 < -2000% certain' a1.results -- "$TESTS/data/imports/aiperf-0.13.0.json"
contains "$(cat "$OUT")" "undecided   tpot.p50 < -2000% certain: the change has no interval" "certain without an interval is undecided"

# ---- one value for each figure ----
# Interval and p of a condition are those of the table, whatever else is tested; how many runs its own limit needs is said.
"$report" compare --fail-if 'e2e.mean > +1%' --fail-if 'tpot.p90 > +5%' --fail-if 'ttft.mean > +3%' --fail-if 'failures > +1%' -f json "${open[@]}" >conditions.json 2>/dev/null
"$report" compare --fail-if 'e2e.mean > +1%' --fail-if 'tpot.p90 > +5%' --fail-if 'ttft.mean > +3%' --fail-if 'failures > +1%' "${open[@]}" 2>/dev/null |
	tr -s ' \n' ' ' >conditions.txt
for name in e2e.mean ttft.mean failures; do
	p=$(jq -r --arg name "$name" '.figures[] | select(.name == $name) | .p | if . < 0.1 then . * 1000 | round / 1000 else . * 100 | round / 100 end' conditions.json)
	matches "$(jq -r --arg name "$name" '.fail_if[] | select(.condition | startswith($name)) | .detail' conditions.json)" "p = ${p%0}" "$name: p of the condition is that of the figure"
done
matches "$(cat conditions.txt)" '(\+1%|\+3%) needs [0-9,]+ runs of each side' "an undecided condition says how many runs its limit needs"
needs() { "$report" compare -f json --fail-if "e2e.mean > +$1" "${open[@]}" 2>/dev/null | jq -r '.fail_if[0].detail | capture("needs (?<n>[0-9,]+) run").n | gsub(","; "")'; }
table=$("$report" compare -f json --min-effect 1% "${open[@]}" | jq '.figures[] | select(.name == "e2e.mean") | .runs_needed')
between "$(needs 1%)" 2 "$table" "a single condition needs at most as many runs as the table"
contains "$("$report" compare --fail-if 'ttft.p99 > +5%' "${open[@]}" 2>/dev/null | tr -s ' \n' ' ')" "how many runs +5% needs is known from 3 of each side" "the text says that the number of needed runs is not known"

# ---- other loads, other traces ----
made --rate 14 >faster_load.results
"$report" compare a1.results faster_load.results | tr -s ' \n' ' ' >loads.txt
matches "$(cat loads.txt)" '^Result .* load not the same: base [^;]*; new [^;]*: the load may be the difference .* (What changed|Not enough|No difference)' "another load is named before any figure"
"$report" compare a1.results c.results | tr -s ' \n' ' ' >traces.txt
matches "$(cat traces.txt)" '^Result .* trace not the same: .* (What changed|Not enough|No difference)' "another trace is named before any figure"
for file in slower.txt loads.txt traces.txt; do is "$(grep -cE '(records|results|schedule)\.[a-z]' $file | sed 's/^[1-9].*/paths/')" 0 "$file: no paths of JSON"; done
"$report" compare -f html a1.results c.results >traces.html
is "$(sed 's/<[^>]*>//g' traces.html | grep -cE '(schedule|results)\.(trace|seed|stages)')" 0 "the page has no paths of JSON"

# ---- intervals that can be ----
impossible=
for seed in 1 2 3 4; do
	for share in 0.1 0.9; do with_cached a$((seed % 3 + 1)).results $share >cache-$share.results; done
	with_cached b1.results 0.5 >cache-0.5.results
	"$report" compare -f json cache-0.1.results cache-0.9.results -- cache-0.9.results cache-0.5.results 2>/dev/null >cache.json
	impossible+=$(jq -r '.figures[] | select(.unit == "share") | select((.low != null and .low < -1) or (.high != null and .high > 1) or (.visible != null and .visible > 1)) | .name' cache.json)
	impossible+=$("$report" compare cache-0.1.results cache-0.9.results -- cache-0.9.results cache-0.5.results 2>/dev/null | grep -E 'pp' | grep -E '[0-9],[0-9]{3} pp|[1-9][0-9]{3}|below \+[0-9]{3}' )
done
is "$impossible" "" "shares differ by 100 percentage points at most"

# ---- other formats ----
"$report" compare -f md --fail-if 'ttft.p50 > +5%' a?.results -- b?.results >slower.md 2>/dev/null
contains "$(sed -n 5p slower.md)" "**new is slower**: " "Markdown begins with the result"
matches "$(cat slower.md)" '^\| TPOT p50, ms \| [0-9.]+ \| [0-9.]+ \| \*\*\+[0-9]+ %\*\* \| .* \| &#60;0.001 \| \*\*slower\*\* \|' "Markdown has a table"
contains "$(cat slower.md)" "- ttft.p50 &#62; +5% **failed**: " "Markdown has the condition that failed"
"$report" compare -f junit a?.results -- b?.results >slower.xml
counts='import sys, xml.etree.ElementTree as e; s = e.parse(sys.argv[1]).getroot()[0]; print(s.get("tests"), int(s.get("failures")) > 5, len(s.findall("testcase")), len(s.findall("testcase/failure")) == int(s.get("failures")))'
is "$(python3 -c "$counts" slower.xml)" "19 True 19 True" "JUnit: figures that are worse fail"
"$report" compare -f junit --fail-if 'ttft.p50 > +5%' a?.results -- b?.results >gate.xml 2>/dev/null
is "$(python3 -c "$counts" gate.xml)" "20 False 20 True" "JUnit with conditions has only their failures"

# ---- the page ----
page_of() { # NAME TEXT ARGUMENTS: a page that is whole and has the figures of JSON
	"$report" compare -f html "${@:3}" >"$1.html" 2>/dev/null
	"$report" compare -f json "${@:3}" >"$1.json" 2>/dev/null
	is "$(python3 "$TESTS/helpers/html_page.py" "$1.html" 2>&1; python3 "$TESTS/helpers/compare_page.py" "$1.html" "$1.json" 2>&1)" "" "page and JSON agree: $2"
}
page_of slower "a page has the settings, conditions and figures of JSON, and is accessible" --fail-if 'ttft.p50 > +5%' --fail-if 'requests < -20%' a?.results -- b?.results
page_of alike "the page of one run a side has the settings, conditions and figures of JSON, and is accessible" a1.results -- a2.results
page_of bad "the page of sides that are not compared has no figures" a1.results -- bad.results
page_of open "undecided conditions are so on the page" --fail-if 'ttft.p99 > +5%' --undecided pass a1.results -- few.results
contains "$(cat open.html)" "--undecided pass a1.results" "the page has --undecided in its command"
page_of imported "the page of another tool's file has no intervals" a1.results -- "$TESTS/data/imports/aiperf-0.13.0.json"
sed 's/data-v="/&1/' slower.html >wrong.html
isnt "$(python3 "$TESTS/helpers/compare_page.py" wrong.html slower.json 2>&1)" "" "a number that differs is found"
contains "$(cat slower.html)" '<code>ipf-report compare --min-effect 2% --fail-if &#39;ttft.p50 &gt; +5%&#39; --fail-if &#39;requests &lt; -20%&#39; a1.results' \
	"the page has the command of the comparison"
made --target '</script><script>alert(1)</script>"&' --http '<b>' >hostile.results
page_of hostile "names can be anything" a1.results -- hostile.results
is "$(grep -c '<script>alert\|<b>' hostile.html)" 0 "names on the page are never elements"
if command -v chromium >/dev/null; then
	is "$(python3 "$TESTS/helpers/html_browser.py" slower.html hostile.html 2>&1)" "" "Chromium shows the page without message and request, with room and contrast"
else
	skip "Chromium shows the page without message and request, with room and contrast" "chromium is not installed"
fi

# ---- refused ----
refused() { # TEXT ARGUMENTS
	run "$report" "${@:2}"
	status_is 2 "compare ${*:2} ends with 2"
	contains "$(cat "$ERR")" "$1" "compare says: $1"
}
refused "expected BASE… -- NEW…" compare a1.results
refused "expected BASE… -- NEW…" compare a1.results --
refused "expected BASE… -- NEW…" compare -- a1.results a2.results
refused "expected BASE… -- NEW…" compare a1.results a2.results a3.results
refused "--fail-if: options come before --" compare a1.results -- a2.results --fail-if 'ttft.p99 > +5%'
refused "-f: options come before --" compare a1.results -- -f json a2.results
refused "--min-effect" compare --min-effect 0 a1.results a2.results
for wrong in 'x > 5' 'ttft.p99 > 5%' 'ttft.p99 = 3ms' 'ttft.p99 > +5% often' 'ttft.p99 > 500ms certain' 'requests > +5x' 'failures > 3' 'ttft.p99 > +5%%' 'ttft.p99 >'; do
	refused "--fail-if \"$wrong\": " compare --fail-if "$wrong" a1.results a2.results
done
refused "-f: expected text, json, md, html or junit" compare -f csv a1.results a2.results
refused "unknown option --by" compare --by model a1.results a2.results
