#!/bin/bash
# The formats of ipf-report for other readers, read back: every number is that of the JSON report, and names cannot be anything else.
. "$TESTS/tap.sh"
export IPF_REPORT_FULL=1 # all sections of the text
data=$TESTS/data/report
report=$BIN/ipf-report
formats=(json csv md requests-csv requests-jsonl junit prometheus openmetrics)

all() { # NAME OPTION…: every format of NAME.results, in the folder NAME
	mkdir -p "$1"
	for format in "${formats[@]}"; do
		"$report" -f "$format" --slo ttft=150ms,p50:e2e=1s "${@:2}" "$1.results" >"$1/$format" || return 1
	done
}
agree() { # NAME TEXT
	python3 "$TESTS/helpers/report_formats.py" "$1" "$1.results" >differs 2>&1
	is "$(head -5 differs)" "" "$2"
}
for name in mixed errors empty one closed; do
	cp "$data/$name.results" .
	yes_if "$name: is written in every format" all $name --meta commit=5f3a9c1 --meta "formula==1+1"
	agree $name "$name: every number agrees with JSON and with the rows"
done
yes_if "failures as infinite latencies" all mixed --errors-as-inf --percentiles 50,99.9
agree mixed "failures as infinite latencies agree in every format"
head -c $(($(wc -c <"$data/mixed.results") * 60 / 100)) "$data/mixed.results" >cut.results
run "$report" -q -f md cut.results
status_is 3 "a stream that was cut ends with 3"
is "$(sed -n 3p "$OUT")" "### Incomplete" "Markdown begins with the cut"
contains "$(sed -n 5p "$OUT")" "cut.results: cut after" "Markdown has the reason of the cut"
is "$("$report" -q -f prometheus cut.results 2>&- | grep '^ipf_run_finished')" "ipf_run_finished 0" "Prometheus says that the run is not finished"

# ---- groups ----
python3 "$TESTS/helpers/queue_results.py" 30^200:12 >many.results
python3 "$TESTS/helpers/exports.py" make sessions.results
for by in model sessions:session replica time=1s input-tokens=3 many:time=100ms; do
	name=mixed
	case $by in *:*) name=${by%:*} ;; esac
	mkdir -p by
	for format in json md; do "$report" -f "$format" --by "${by#*:}" $name.results >by/$format; done
	is "$(python3 "$TESTS/helpers/report_formats.py" md by 2>&1)" "" "$name: Markdown has the figures of --by ${by#*:}"
done
matches "$(cat by/md)" '^The first 40 of [0-9]{2,3}; the JSON report has all\.$' "Markdown has at most 40 groups"
is "$("$report" -f md mixed.results | grep -c '^### By ')" 0 "Markdown without --by has no groups"
for format in requests-csv junit prometheus openmetrics; do
	run "$report" --by model -f $format mixed.results
	status_is 2 "$format has no groups"
	complains ipf-report "--by: -f $format has no groups; use text, json, csv, html, md or sql" "ipf-report lists the formats with groups"
done
for format in vllm mlperf; do
	run "$report" export $format --by model mixed.results
	status_is 2 "$format has no groups"
	complains "ipf-report export" "--by: $format has no groups; use json, csv or sql" "ipf-report export lists the formats with groups"
done
run "$report" --by model -f csv --curve mixed.results
status_is 2 "a curve with --by ends with 2"
complains ipf-report "--by and --curve exclude each other" "ipf-report says that --by and --curve exclude each other"
run "$report" certificate --by model mixed.results
status_is 2 "certificate --by ends with 2"
complains "ipf-report certificate" "unknown option --by" "certificate does not know --by"
run "$report" --by stage -f junit mixed.results
status_is 0 "--by stage means none"

# ---- by other readers ----
if command -v promtool >/dev/null; then
	for name in mixed errors empty one closed; do
		run promtool check metrics <$name/prometheus
		is "$(cat "$OUT" "$ERR")" "" "$name: promtool finds nothing wrong"
	done
else
	skip "promtool finds nothing wrong" "prometheus is not installed"
fi
is "$(grep -v '^#' mixed/openmetrics)" "$(grep -v '^#' mixed/prometheus)" "OpenMetrics has the same samples"
is "$(tail -1 mixed/openmetrics)" "# EOF" "OpenMetrics end with their mark"
is "$(grep -c '^# UNIT ipf_ttft_seconds seconds$' mixed/openmetrics)" 1 "OpenMetrics have units"
is "$(head -1 mixed/requests-csv | tr -d '\r' | tr ',' '\n' | sort | uniq -d)" "" "the columns of requests-csv have a name each"

# ---- how to repeat it ----
jq -c '.argv = ["--name", "a b", "x", "it'\''s", "$(touch pwned)"]' <(head -1 mixed.results) >header
sed -e 1d -e '$d' mixed.results >body
seal header body >argv.results
is "$("$report" -f md argv.results | grep '^    ')" "    ipf-collect --name 'a b' x 'it'\\''s' '\$(touch pwned)'" "Markdown has the commands, quoted for a shell"

# ---- names looking like others ----
bad=(
	"a | b" "\`code\`" "**bold** _it_" "<script>alert(1)</script>" "</code>" "]]>" "&amp; &" "=1+1" "+1" "-1" "@SUM(A1)" " =1" $'\t=1' "a,b;\"c\""
	$'two\nlines' $'\e[31mred' "total" "#12" "@team" "\\" "\\\"" "{}\"} 1" "naïve 名"
)
printf '%s\0' "${bad[@]}" | jq -Rsc 'split("\u0000") | map(select(. != "")) | to_entries[] | .value as $v | { n: .key, stage: .key, ok: false, id: $v, model: $v, session: $v,
	finish: $v, start_ns: .key, end_ns: (.key + 1), error: { kind: "in-band", text: $v } }' >body
printf '%s\0' "${bad[@]}" | jq -Rsc --argjson header "$(head -1 "$data/one.results")" 'split("\u0000") | map(select(. != "")) as $bad | $header
	| .stages = [$bad | to_entries[] | { name: (.value | gsub("[\u0000-\u001f]"; "?")), kind: "constant", spec: .value, first_n: .key, begin_ns: (.key * 10), end_ns: (.key * 10 + 10), measured: true, arrivals: 1 }]
	| .name = $bad[0] | .api = $bad[1]' >header
seal header body >evil.results
yes_if "names that are something else elsewhere are written" all evil --meta 'k=a|`b`"<&>'
agree evil "every number agrees with hostile names"
is "$(LC_ALL=C tr -d '\n\r' <evil/md | LC_ALL=C tr -dc '\000-\037' | wc -c | tr -d ' ')" 0 "Markdown has no control characters"
is "$(grep -oE '<[^>]*>?' evil/md | grep -vxE '</?(code|details|summary)>' | head -3)" "" "Markdown has no tag of hostile names"
is "$(sed 's/`[^`]*`//g;s/&#[0-9]*;//g' evil/md | grep -c '@\|#[0-9]')" 0 "Markdown notifies no user"
yes_if "JUnit is XML" python3 -c 'import sys, xml.etree.ElementTree as e; e.parse(sys.argv[1])' evil/junit
is "$(python3 - <<-'END'
	import csv
	with open("evil/requests-csv", newline="") as f:
	    rows = list(csv.DictReader(f))
	wrong = [v for r in rows for k, v in r.items() if isinstance(v, str) and v.lstrip(" ")[:1] in "=+-@" and v and not v.lstrip("-").isdigit()]
	print(len(rows), wrong)
END
)" "${#bad[@]} []" "no cell of requests-csv is a formula"
is "$(grep -v '^#' evil/openmetrics | sed 's/ [^ ]*$//' | sort | uniq -d)" "" "every sample has labels of its own"
if command -v promtool >/dev/null; then
	is "$(promtool check metrics <evil/prometheus 2>&1)" "" "promtool reads hostile labels"
fi

# ---- the format of the output's name --------------------------------------------------------------------------------
one=$TESTS/data/report/one.results
for case in 'page.html:<!doctype html>' 'page.htm:<!doctype html>' 'notes.md:## ' 'run.json:{' 'run.csv:stage,' 'gate.xml:<?xml' 'run.sql:--' 'run.txt:Verdict' 'run:Verdict' 'a.html/run:Verdict'; do
	mkdir -p a.html
	"$BIN/ipf-report" -o "${case%%:*}" "$one" 2>"$ERR"
	begin=${case#*:}
	is "$(head -c ${#begin} "${case%%:*}" | tr A-Z a-z)" "$(tr A-Z a-z <<<"$begin")" "-o ${case%%:*} has the format of its name"
done
"$BIN/ipf-report" -o run.json.zst "$one" && is "$(zstd -qdc run.json.zst | head -c 1)" "{" "-o run.json.zst has the format of its name"
"$BIN/ipf-report" -f text -o text.html "$one" && is "$(head -c 7 text.html)" Verdict "-f takes precedence over the name"
"$BIN/ipf-report" compare -o two.md "$one" "$one" 2>"$ERR"
is "$(head -c 3 two.md)" "## " "compare -o has the format of its name"
"$BIN/ipf-report" certificate -o evidence.json "$one" 2>"$ERR"
is "$(head -c 1 evidence.json)" "{" "certificate -o has the format of its name"

# ---- suggestions ---------------------------------------------------------------------------------------------------
for case in '-f htlm:(did you mean html?)' '-f markdown:(did you mean md?)' '--html:(did you mean -f html?)' '--json:(did you mean -f json?)'; do
	# shellcheck disable=SC2086 # two words
	run "$BIN/ipf-report" ${case%%:*} "$one"
	status_is 2 "ipf-report ${case%%:*} ends with 2"
	contains "$(cat "$ERR")" "${case#*:}" "ipf-report suggests an option for ${case%%:*}"
done
printf '{"ipf":"records","version":1}\n' >early.records
printf '{"ipf":"trace","version":1}\n' >early.trace
for case in 'records:run ipf-collect first' 'trace:run ipf-sched, ipf-fire and ipf-collect first'; do
	run "$BIN/ipf-report" "early.${case%%:*}"
	status_is 3 "a ${case%%:*} stream is no results"
	contains "$(cat "$ERR")" "expected an ipf results stream, got \"${case%%:*}\": ${case#*:}" "ipf-report names the program that reads a ${case%%:*} stream"
done
