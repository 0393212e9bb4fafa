#!/bin/bash
# The formats of ipf-report for other readers, read back: every number is that of the JSON report, and names cannot be anything else.
. "$TESTS/tap.sh"
. "$TESTS/data/report/seal.sh"
data=$TESTS/data/report
report=$BIN/ipf-report
formats=(json csv md requests-csv junit prometheus openmetrics)

all() { # NAME OPTION…: every format of NAME.results, in the folder NAME
	mkdir -p "$1"
	for format in "${formats[@]}"; do
		"$report" -f "$format" --slo ttft=150ms,p50:e2e=1s "${@:2}" "$1.results" >"$1/$format" || return 1
	done
}
agree() { # NAME TEXT
	python3 "$TESTS/cli/report_formats.py" "$1" "$1.results" >differs 2>&1
	is "$(head -5 differs)" "" "$2"
}
for name in mixed errors empty one closed; do
	cp "$data/$name.results" .
	yes_if "$name: is written in every format" all $name --meta commit=5f3a9c1 --meta "formula==1+1"
	agree $name "$name: every number agrees with JSON and with the rows"
done
yes_if "failures as infinite latencies" all mixed --errors-as-inf --percentiles 50,99.9
agree mixed "are infinite in every format"
head -c $(($(wc -c <"$data/mixed.results") * 60 / 100)) "$data/mixed.results" >cut.results
run "$report" -q -f md cut.results
status_is 3 "a stream that was cut ends with 3"
contains "$(sed -n 3p "$OUT")" "**Incomplete**: cut.results: cut after" "and Markdown says so first"
is "$("$report" -q -f prometheus cut.results 2>&- | grep '^ipf_run_finished')" "ipf_run_finished 0" "as do the metrics"

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
is "$(tail -1 mixed/openmetrics)" "# EOF" "and ends in its mark"
is "$(grep -c '^# UNIT ipf_ttft_seconds seconds$' mixed/openmetrics)" 1 "with units"
is "$(head -1 mixed/requests-csv | tr -d '\r' | tr ',' '\n' | sort | uniq -d)" "" "the columns of requests-csv have a name each"

# ---- how to repeat it ----
jq -c '.argv = ["--name", "a b", "x", "it'\''s", "$(touch pwned)"]' <(head -1 mixed.results) >header
sed -e 1d -e '$d' mixed.results >body
seal header body >argv.results
is "$("$report" -f md argv.results | grep '^    ')" "    ipf-collect --name 'a b' x 'it'\\''s' '\$(touch pwned)'" "Markdown has the commands, quoted for a shell"

# ---- names that are not what they seem ----
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
agree evil "and every number agrees"
is "$(LC_ALL=C tr -d '\n\r' <evil/md | LC_ALL=C tr -dc '\000-\037' | wc -c | tr -d ' ')" 0 "Markdown has no control characters"
is "$(grep -oE '<[^>]*>?' evil/md | grep -vxE '</?(code|details|summary)>' | head -3)" "" "nor a tag of theirs"
is "$(sed 's/`[^`]*`//g;s/&#[0-9]*;//g' evil/md | grep -c '@\|#[0-9]')" 0 "and notifies nobody"
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
	is "$(promtool check metrics <evil/prometheus 2>&1)" "" "which promtool reads"
fi
