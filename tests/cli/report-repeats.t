#!/bin/bash
# Several runs of one schedule in a report: each run by itself, the spread between runs, intervals over runs, and which run is an outlier.
. "$TESTS/tap.sh"
export IPF_REPORT_FULL=1 # all sections of the text
report=$BIN/ipf-report
made() { python3 "$TESTS/helpers/compare_results.py" --requests 200 "$@"; }
for k in 1 2 3 4 5; do made --seed $k >r$k.results; done
made --seed 6 --slower 1.3 >slow.results
made --seed 7 --fail 0.1 >failed.results
json() { "$report" -q -f json "$@" 2>"$ERR"; }

# ---- figures of each run are those of its own report ----
runs=(r1.results r2.results slow.results failed.results)
json --slo ttft=40ms "${runs[@]}" >all.json
is "$(jq -c '[.repeats.runs, .repeats.one_schedule]' all.json)" '[["r1.results","r2.results","slow.results","failed.results"],true]' "runs of one schedule are repeats"
wanted='[.total | .latency.ttft_ms.from_due.mean, .latency.ttft_ms.from_due.p50, .latency.ttft_ms.from_due.p99, .latency.itl_ms.mean, .latency.tpot_ms.mean,
	.latency.tpot_ms.p50, .latency.tpot_ms.p99, .latency.e2e_ms.from_due.mean, .latency.e2e_ms.from_due.p50, .latency.e2e_ms.from_due.p99,
	.throughput.requests_per_s, .throughput.output_tokens_per_s, .goodput.requests_per_s, .requests.failed / (.requests.ok + .requests.failed)]'
for run in "${runs[@]}"; do json --slo ttft=40ms "$run" | jq "$wanted"; done | jq -s transpose >alone.json
is "$(jq -c '.repeats.figures | length' all.json)" 14 "repeats have fourteen figures"
is "$(jq -cn --slurpfile all all.json --slurpfile alone alone.json \
	'[range(0; 14) as $i | range(0; 4) as $r | ($all[0].repeats.figures[$i].of_runs[$r] - $alone[0][$i][$r]) | fabs > 1e-4] | any')" false \
	"figures of a run are those of its own report"
python3 - all.json >said <<'END'
import json, statistics, sys
T = {1: 12.7062, 2: 4.30265, 3: 3.18245}  # Student's t at 97.5 %
for f in json.load(open(sys.argv[1]))["repeats"]["figures"]:
    mean, std, n = statistics.mean(f["of_runs"]), statistics.stdev(f["of_runs"]), len(f["of_runs"])
    half = T[n - 1] * std / n ** 0.5
    for name, got, value in (("mean", f["mean"], mean), ("std", f["std"], std), ("low", f["ci95"][0], max(0, mean - half)), ("high", f["ci95"][1], mean + half)):
        if abs(got - value) > 1e-4 * abs(value) + 2e-6: print(f["name"], name, got, value)
END
is "$(cat said)" "" "mean, spread and interval are those of Student's t"
is "$(json --window drain r1.results r2.results | jq -c '[.repeats.figures[] | select(.name == "requests") | .of_runs[0]] | map(. * 1e4 | round)')" \
	"$(json --window drain r1.results | jq -c '[.total.throughput.requests_per_s * 1e4 | round]')" "rates are those of --window"
made --seed 8 --fail 0.5 >half.results
is "$(json r1.results half.results | jq -c '[.repeats.figures[] | select(.name == "failures" or .unit == "") | .ci95]')" "[[0,1]]" \
	"two runs say next to nothing of a share, which lies between 0 and 1"

# ---- outliers ----
json r?.results slow.results >outlier.json
is "$(jq -c '[.repeats.figures[] | select(.name | endswith("p50")) | .outlier]' outlier.json)" "[6,6,6]" "a slower run is an outlier"
is "$(json r?.results | jq -c '[.repeats.figures[].outlier | values]')" "[]" "runs of one server are none"
"$report" r?.results slow.results >outlier.txt 2>"$ERR"
matches "$(tr -s ' \n' ' ' <outlier.txt)" 'outlier run 6 \(slow.results\): .*TPOT p50 is [0-9.]+ ms, in the others [0-9.]+ to [0-9.]+' "text names the run, and says how the others are"
matches "$(cat outlier.txt)" '^  TPOT p50, ms +[0-9.]+ +[0-9.]+ to [0-9.]+ +[0-9.]+ % +[0-9.]+ +[0-9.]+$' "text has a row for each figure of the repeats"
is "$(sed -n '/^Repeats/,/^$/p' outlier.txt | awk 'length($0) > 80')" "" "the table of repeats fits into 80 columns"
contains "$("$report" -f md r?.results slow.results 2>"$ERR")" "- outlier: run 6 (slow.results): " "Markdown has them"
matches "$("$report" -f md r1.results r2.results 2>"$ERR")" '^\| TPOT p50, ms \| [0-9.]+ \| [0-9.]+ to [0-9.]+ \| [0-9.]+ % \| [0-9.]+ \| [0-9.]+ \|$' "Markdown has the figures of the repeats"
PATH=$(dirname "$(command -v python3)"):/bin "$report" -q -f html -o page.html r?.results slow.results 2>"$ERR"
json r?.results slow.results >page.json
is "$(python3 "$TESTS/helpers/html_page.py" page.html page.json 2>&1)" "" "the page is whole"
contains "$(cat page.html)" '<section id="repeats"' "the page has a section of repeats"
contains "$(cat page.html)" "run 6 (slow.results): " "the page names outliers"
is "$(grep -o 'id="runs-table".*' page.html | wc -l)$(grep -c '<th scope="row">6: slow.results' page.html)" 11 "the page shows each run"

# ---- runs other than repeats ----
sed '1s/"seed":1/"seed":2/' r2.results >other.results
is "$(json r1.results other.results | jq -c '[.repeats.one_schedule, (.repeats.figures | length) > 10]')" '[false,true]' "runs of other requests are told apart"
contains "$("$report" r1.results other.results 2>"$ERR")" "2 runs, not all of the same requests" "text says that requests of the runs differ"
is "$(json r1.results | jq -c .repeats)" null "one run has no repeats"
is "$(json r1.results r1.results | jq -c .repeats)" null "a run that is given twice has no repeats"
shards=("$TESTS/data/report/shard-1.results" "$TESTS/data/report/shard-2.results")
is "$(json "${shards[@]}" | jq -c .repeats)" null "shards are no repeats"
