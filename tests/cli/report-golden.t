#!/bin/sh
# ipf-report's output for small results streams, made by hand, against the expected one. (A change that is meant: run this
# with IPF_UPDATE=1, and read the difference before committing it.)
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
export IPF_REPORT_FULL=1 # all sections of the text
data=$TESTS/data/report
report=$BIN/ipf-report


run "$report" --slo ttft=150ms,p50:e2e=1s "$data/mixed.results"
status_is 0 "a mixed run is reported"
golden mixed.txt "the text of a mixed run is the golden one"
is "$(awk '{ gsub(/[^ -~]/, "?") } length > 80' "$OUT")" "" "the text of a mixed run fits into 80 columns"
run "$report" --by model "$data/mixed.results"
golden mixed-models.txt "the text by model is the golden one"
run "$report" --percentiles 99,p50,99.9,75,25,10 "$data/mixed.results"
golden mixed-percentiles.txt "the text with other percentiles is the golden one"
is "$(awk '{ gsub(/[^ -~]/, "?") } length > 80' "$OUT")" "" "the text with other percentiles fits into 80 columns"
run "$report" -f json --slo ttft=150ms,p50:e2e=1s --by model "$data/mixed.results"
jq 'del(.run.versions)' "$OUT" >plain && mv plain "$OUT"
golden mixed.json "JSON of a mixed run is the golden one"
run "$report" -f csv --slo ttft=150ms,p50:e2e=1s --by model "$data/mixed.results"
golden mixed.csv "CSV of a mixed run is the golden one"

# Two servers of one run: every third request went to the second.
head -1 "$data/mixed.results" |
	jq -c '.from[0].targets = ["http://10.0.0.1:8000/v1/chat/completions", "http://10.0.0.2:8000/v1/chat/completions"]
	| .from[0].target = (.from[0].targets | join(", "))' >header
sed -e 1d -e '$d' "$data/mixed.results" |
	jq -c 'if .n then .target = (.n % 3 == 2 | if . then 1 else 0 end) else . end' >body
seal header body >two.results
run "$report" --by target two.results
golden mixed-targets.txt "the text by target is the golden one"
run "$report" -f csv --by target --percentiles 50 two.results
golden mixed-targets.csv "CSV by target is the golden one"
"$report" -f json two.results >two.json
"$report" -f json "$data/mixed.results" >mixed.json
is "$(jq -c '[.total.by_target | to_entries[] | [.key, .value.requests.ok + .value.requests.failed]]' two.json)" \
	'[["http://10.0.0.1:8000/v1/chat/completions",9],["http://10.0.0.2:8000/v1/chat/completions",6]]' "the JSON has them unasked"
is "$(jq -c '[.. | objects | select(has("by_target"))] | length' two.json)" 5 "JSON has targets for each stage and the total"
is "$(jq -Sc 'del(.. | .by_target?) | del(.run, .plots)' two.json)" "$(jq -Sc 'del(.run, .plots)' mixed.json)" "JSON without targets is the same as before"
is "$(jq -c '[.. | objects | select(has("by_target"))]' mixed.json)" "[]" "one target has no figures of its own"
"$report" --by target "$data/mixed.results" >one.txt
"$report" "$data/mixed.results" >none.txt
same one.txt none.txt "--by target changes nothing for one target"
# Two clients, each with a server of its own.
jq -c '.from[0].target = "http://10.0.0.2:8000/v1/chat/completions"' <"$data/mixed.results" | head -1 >other
sed -e 1d -e '$d' "$data/mixed.results" >rows
seal other rows >elsewhere.results
is "$("$report" -q -f json "$data/mixed.results" elsewhere.results |
	jq -c '[.total.by_target[] | .requests.ok + .requests.failed]')" "[15,15]" \
	"clients that were sent to different servers are told apart"
# Names needing more than their column, and such that begin or end another.
for urls in '["https://inference-a.models.example:8443/v1", "https://inference-b.models.example:8443/v1"]|https://inference-a.models.example:8443/v1|inference-a.models.example:8443' \
	'["http://h/v1", "http://h/b/v1"]|http://h/v1|http://h/v1' '["http://h/a/v1", "http://h/b/v1"]|http://h/a/v1|a'; do
	IFS='|' read -r list first shown <<-END
		$urls
	END
	jq -c --argjson list "$list" '.from[0].targets = $list' header >other
	seal other body >other.results
	"$report" --by target other.results >out
	is "$(sed -n '/^Targets/,/^$/s/^  \([^ ]*\).*/\1/p' out | sed -n '2p')" "$shown" "$first is shown as $shown"
	is "$(awk '{ gsub(/[^ -~]/, "?") } length > 80' out)" "" "a run with the name $shown fits into 80 columns"
done

for name in closed one empty errors; do
	run "$report" --slo ttft=150ms,p50:e2e=1s "$data/$name.results"
	status_is 0 "$name: is reported"
	golden $name.txt "$name: the text is the golden one"
done
run "$report" "$data/shard-1.results" "$data/shard-2.results"
golden shards.txt "two shards as one"
run "$report" "$data/one.results" "$data/one.results"
golden repeats.txt "a repeat as one"
stderr_contains "has requests of the same records as" "ipf-report warns of the same file twice"
run "$report" definitions
status_is 0 "definitions ends with 0"
golden definitions.txt "definitions are the golden ones"

