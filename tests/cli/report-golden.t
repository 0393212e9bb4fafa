#!/bin/sh
# What ipf-report prints for small results streams, made by hand, against what it should print. (A change that is meant: run
# this with IPF_UPDATE=1, and read the difference before committing it.)
. "$TESTS/tap.sh"
data=$TESTS/data/report
report=$BIN/ipf-report

golden() { # FILE TEXT: $OUT against it
	if [ -n "$IPF_UPDATE" ]; then cp "$OUT" "$data/$1"; fi
	same "$OUT" "$data/$1" "$2"
}

run "$report" --slo ttft=150ms,p50:e2e=1s "$data/mixed.results"
status_is 0 "a mixed run is reported"
golden mixed.txt "as text"
is "$(awk '{ gsub(/[^ -~]/, "?") } length > 80' "$OUT")" "" "which fits 80 columns"
run "$report" --by model "$data/mixed.results"
golden mixed-models.txt "and for each model"
run "$report" --percentiles 99,p50,99.9,75,25,10 "$data/mixed.results"
golden mixed-percentiles.txt "and with other percentiles"
is "$(awk '{ gsub(/[^ -~]/, "?") } length > 80' "$OUT")" "" "which fits 80 columns as well"
run "$report" -f json --slo ttft=150ms,p50:e2e=1s --by model "$data/mixed.results"
jq 'del(.run.versions)' "$OUT" >plain && mv plain "$OUT"
golden mixed.json "as JSON"
run "$report" -f csv --slo ttft=150ms,p50:e2e=1s --by model "$data/mixed.results"
golden mixed.csv "as CSV"

for name in closed one empty errors; do
	run "$report" --slo ttft=150ms,p50:e2e=1s "$data/$name.results"
	status_is 0 "$name: is reported"
	golden $name.txt "$name: as text"
done
run "$report" "$data/shard-1.results" "$data/shard-2.results"
golden shards.txt "two shards as one"
run "$report" "$data/one.results" "$data/one.results"
golden repeats.txt "a repeat as one"
stderr_contains "the same requests as in" "but not in silence where it is the same file"
run "$report" --definitions
status_is 0 "--definitions ends with 0"
golden definitions.txt "with what each figure means"

# The manual says the same, word for word.
page=$TESTS/../ipf-report/ipf-report.1
sed -e '/^\.It Sy /s//@/' -e '/^\./d' -e 's/\\-/-/g' "$page" | tr '\n' ' ' | tr '@' '\n' | tr -s ' ' >manual
awk '/^[^ ]/ { next } /^  [^ ]/ { if (text != "") print text; text = $0; next } { sub(/^ */, ""); text = text " " $0 } END { print text }' "$OUT" |
	sed -e 's/^ *//' | tr -d '`' | tr -s ' ' >definitions
between "$(wc -l <definitions)" 50 100 "there are definitions to look for"
while read -r definition; do
	grep -qF -e "$definition" manual || echo "$definition"
done <definitions >missing
is "$(cat missing)" "" "ipf-report(1) has every definition"
