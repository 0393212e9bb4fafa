#!/bin/bash
# The text report's figures of each stage and model, the least and the median of every metric, and the server's own times.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
export IPF_REPORT_FULL=1 # all sections of the text
data=$TESTS/data/report
report=$BIN/ipf-report

# A stage of 10 s with 20 requests of model a and 10 of model b, then one of 5 s with 10 of b only. a answers within 100 ms, b in 300 ms.
jq -c '.stages = [{"name":"first","kind":"constant","spec":"constant:rate=3,for=10s","begin_ns":0,"end_ns":10000000000,"arrivals":30,"first_n":0,"measured":true},
	{"name":"second","kind":"constant","spec":"constant:rate=2,for=5s","begin_ns":10000000000,"end_ns":15000000000,"arrivals":10,"first_n":30,"measured":true}]
	| .from[0].from[0].stages = .stages' <(head -1 "$data/one.results") >header
jq -nc 'range(40) as $n | ($n >= 30) as $late | (if $late or $n % 3 == 2 then "model-b" else "model-a" end) as $model
	| (if $late then 10000000000 + ($n - 30) * 500000000 else $n * 333000000 end) as $due
	| (if $model == "model-a" then 90000000 + $n * 100000 else 300000000 end) as $ttft | ($ttft + 40000000) as $e2e
	| {n: $n, stage: (if $late then 1 else 0 end), model: $model, ok: true, due_ns: $due, ready_ns: $due, start_ns: $due,
		end_ns: ($due + $e2e), lag_ns: 0, client_lag_ns: 0, ttfb_ns: $ttft, ttft_ns: $ttft, ttfa_ns: $ttft, e2e_ns: $e2e, stream_ns: $e2e,
		tpot_ns: 10000000, itl_mean_ns: 10000000, ntpot_ns: 20000000, events: 5, input_tokens: 100, output_tokens: 5, tokens_source: "usage",
		finish: "stop"}' >body
seal header body >two.results

section() { # TITLE FILE: the lines of a table, without its heads
	awk -v title="$1" 'index($0, title) == 1 { on = 1; next } !NF { on = 0 } on && /^  [^ ]/' "$2"
}
row() { # TITLE LABEL FILE: the figures of a row, one blank between them
	section "$1" "$3" | awk -v label="$2" '$1 == label' | tr -s ' ' | tr -d '~' | sed 's/^ //'
}
fits() { # FILE WHAT
	is "$(sed -E 's/…|▁|▂|▃|▄|▅|▆|▇|█/./g' "$1" | awk '{ gsub(/[^ -~]/, "?") } length > 80')" "" "$2: no line is longer than 80 columns"
}

run "$report" --by model --slo ttft=200ms two.results
status_is 0 "two models, two stages"
cp "$OUT" two.txt
fits two.txt "the report by model"
is "$("$report" -f json two.results | jq -c '.total | [.rate.completed, .throughput.input_tokens_per_s, .throughput.output_tokens_per_s | . * 100 | round]')" "[267,26667,1333]" "requests, input and output tokens per second"
is "$(section Stages two.txt | awk '{ print $1 }' | tr '\n' ' ')" "first second total " "the stages are stages"
is "$(section Models two.txt | awk '{ print $1 }' | tr '\n' ' ')" "model-a model-b " "models have their table"
contains "$("$report" --by input-tokens=10 "$TESTS/data/report/mixed.results" | tr -s ' \n' ' ')" \
	"no ITL by input: the results keep the gaps between tokens of all requests together" "--by input-tokens says why there is no ITL"
is "$(section 'By model, ms' two.txt | awk '/^  model/ { print $1 }' | tr '\n' ' ')" "model-a model-b " "the table of latencies has both models"
contains "$(section 'By model, ms' two.txt | tr -s ' \n' ' ')" "no ITL: the results have no gaps between tokens; TPOT is the mean gap of a request" "the table of latencies says why there is no ITL"
is "$(row Models model-a two.txt | cut -d ' ' -f 2)" 1.33 "20 requests in 15 s are offered to a"
is "$(row Models model-b two.txt | cut -d ' ' -f 2)" 1.33 "20 requests in 15 s are offered to b"
# Columns without room in a table of the text follow below it: achieved, input tokens/s, goodput, share.
rest() { # LABEL
	awk '/^ +requests\/s +tokens\/s +goodput$/ { on = 1; next } !NF { on = 0 } on' two.txt | awk -v label="$1" '$1 == label' | tr -s ' ' | sed 's/^ //' | cut -d ' ' -f 1,3-
}
is "$(rest model-a)" "model-a 133 1.33 100.0 %" "goodput of a is 100 %"
is "$(rest model-b)" "model-b 133 0 0.0 %" "goodput of b is 0"
is "$(rest first)" "first 300 2.00 66.7 %" "two thirds of the first stage"
is "$(rest second)" "second 200 0 0.0 %" "goodput of the second stage is 0"
"$report" -f json --slo ttft=200ms two.results >two.json
is "$(jq -c '[.stages[] | .by_model | map_values(.rate.offered)]' two.json)" '[{"model-a":2,"model-b":1},{"model-b":2}]' "offered to each model in each stage"
is "$(jq -c '.total.by_model | map_values([(.rate.offered * 3 | round), .requests.scheduled])' two.json)" '{"model-a":[4,20],"model-b":[4,20]}' "the total has the offered rate of both models"
"$report" --by model --slo p90:ttft=200ms,p90:tpot=9ms two.results >missed.txt
is "$(grep ' missed p90' missed.txt | tr -s ' ')" " model model-a missed p90:tpot=9ms (10.0 ms)
 model model-b missed p90:ttft=200ms (300 ms), p90:tpot=9ms (10.0" "the text says which objectives each model missed"
"$report" --by model --slo p90:ttft=2s two.results >met.txt
contains "$(cat met.txt)" "each model met all objectives of percentiles" "the text says that each model met its objectives"
"$report" --by model two.results >plain.txt
is "$(grep -c goodput plain.txt)" 0 "the text without objectives has no goodput"
IPF_REPORT_FULL='' "$report" two.results >none.txt
matches "$(cat none.txt)" '2 models: --by model shows each' "the text without --by names --by model"

# A request that never began could be of any model.
sed '$d' body >less
seal header less >less.results
"$report" -f json less.results >less.json
is "$(jq -c '[.stages[0].by_model["model-a"].rate.offered, .stages[1].by_model["model-b"].rate.offered,
	.stages[1].rate.offered, .total.by_model["model-a"].rate.offered]' less.json)" '[2,null,2,null]' "one request without a result leaves the offered rate of its model unknown"

# ---- gaps of each model ----
# In the second stage is only b, so the histogram of the stage is its own. The first has both.
gaps() { # STAGE MODEL COUNT of 10 ms, COUNT of 20 ms
	jq -nc --argjson stage "$1" --arg model "$2" --argjson a "$3" --argjson b "$4" '{histogram: "itl_ns", stage: $stage} +
		(if $model == "" then {} else {model: $model} end) + {count: ($a + $b), min: (if $a > 0 then 10000000 else 20000000 end),
		max: (if $b > 0 then 20000000 else 10000000 end), sum: (10000000 * $a + 20000000 * $b),
		buckets: [if $a > 0 then [7778, $a] else empty end, if $b > 0 then [8290, $b] else empty end]}'
}
{ cat body && gaps 0 '' 80 40 && gaps 1 '' 0 40; } >stages_only
{ cat body && gaps 0 '' 80 40 && gaps 0 model-a 80 0 && gaps 0 model-b 0 40 && gaps 1 '' 0 40; } >each
{ cat each && gaps 1 model-b 0 40; } >twice
for kind in stages_only each twice; do
	seal header $kind >$kind.results
	"$report" -f json $kind.results >$kind.json
	"$report" --by model $kind.results >$kind.txt
done
figures='[(.stages[], .total) | .by_model | map_values(.latency.itl_ms | [.n, .mean])]'
is "$(jq -c "$figures" each.json)" \
	'[{"model-a":[80,10],"model-b":[40,20]},{"model-b":[40,20]},{"model-a":[80,10],"model-b":[80,20]}]' "gaps of each model, pooled over stages"
is "$(jq -c "$figures" twice.json)" "$(jq -c "$figures" each.json)" "a model alone in its stage counts once"
is "$(jq -c "$figures" stages_only.json)" \
	'[{"model-a":[null,null],"model-b":[null,null]},{"model-b":[40,20]},{"model-a":[null,null],"model-b":[null,null]}]' "gaps of some stages are not those of the total"
is "$(row 'By model, ms' model-a each.txt | cut -d ' ' -f 4,5)" "10.0 10.0" "p50 and p99 of the gaps of a"
is "$(row 'By model, ms' model-b each.txt | cut -d ' ' -f 4)" 20.0 "p50 of the gaps of b"
is "$(row 'By model, ms' model-b stages_only.txt | cut -d ' ' -f 4,5)" "- -" "unknown gaps are dashes"
"$report" -q -f json each.results stages_only.results >mixed.json
is "$(jq -c '.total.by_model | map_values(.latency.itl_ms.n)' mixed.json)" '{"model-a":null,"model-b":null}' "gaps of some inputs are not those of the total"

# The whole way, from two models to their figures.
server_start -m model-a -m model-b
"$BIN/ipf-prep" synthetic -q -n 60 --input-tokens 20 --output-tokens uniform:2-9 --models model-a=0.5,model-b=0.5 -o t.trace
"$BIN/ipf-sched" -q -t t.trace constant:rate=100,for=300ms,name=one constant:rate=100,for=300ms,name=two |
	"$BIN/ipf-fire" -q -u "$URL" -t t.trace | "$BIN/ipf-collect" -q -o run.results
"$report" -q -f json run.results >run.json
"$report" -q --by model run.results >run.txt
is "$(jq -c '[(.stages[], .total) | ([.by_model[].latency.itl_ms.n] | add) == .latency.itl_ms.n]' run.json)" '[true,true,true]' "ipf-collect counts the gaps of each model"
is "$(jq -c '.total | ([.by_model[].rate.offered] | add | round) == (.rate.offered | round)' run.json)" true "offered rates of models add up"
is "$(jq -c '.total.by_model[].latency.itl_ms | .n > 0 and .min <= .p50 and .p50 <= .max' run.json | sort -u)" true "models have distributions of their gaps"
fits run.txt "a real run"

# ---- minimum, median ----
for percentiles in '' '--percentiles 99' '--percentiles 10,25' '--percentiles 50,90,99,99.9,99.99'; do
	# shellcheck disable=SC2086 # no or two words
	"$report" $percentiles --by model two.results >out
	is "$(sed -n '/^Latency/,/^By/p' out | grep -ow -e mean -e min -e max | sort -u | tr '\n' ' ')" "max mean min " "default $percentiles: mean, minimum and maximum"
	fits out "default $percentiles"
	last=$(sed -n '/^By model, ms/,/^ .*p/p' out | tail -1 | awk '{ print $NF }')
	# shellcheck disable=SC2086
	is "$(row 'By model, ms' model-a out | awk '{ print $NF }')" \
		"$("$report" -f json $percentiles --by model two.results | jq -r --arg p "$last" '.total.by_model["model-a"].latency.e2e_ms.from_due[$p] | round')" \
		"models have the last of the chosen percentiles"
done
is "$(row 'Latency, ms' TTFT two.txt | cut -d ' ' -f 4-7)" "196 90.0 196 300" "mean, least, median and p90 of TTFT"

# ---- the server's figures ----
is "$(grep -c 'As the server reports' two.txt)" 0 "the text has no server's times if it sends none"
jq -c '. + {server_queue_ns: (1000000 * (.n + 1)), server_prefill_ns: 5000000, server_total_ns: 40000000}' body >timed
jq -c 'if .n == 39 then .ok = false | .error = {kind: "cut"} else . end' timed >some
seal header some >server.results
run "$report" --by model server.results
fits "$OUT" "the report with the server's times"
is "$(section 'As the server reports, ms' "$OUT" | awk '{ print $1 }' | tr '\n' ' ')" "queue prefill total " "the text has the server's times in ms"
is "$(row 'As the server reports, ms' queue "$OUT" | cut -d ' ' -f 2-4)" "20.0 1.00 20.0" "mean, least and median; not of what failed"
"$report" -f json --errors-as-inf server.results >out.json
is "$(jq -c '.total.latency | [.server_queue_ms.max, .server_queue_ms.n, .server_total_ms.p50, .server_load_ms]' out.json)" "[39,39,40,null]" "JSON has the server's times, never infinite"
is "$(jq -c '.total.by_model["model-a"].latency.server_queue_ms.min' out.json)" 1 "JSON has the server's times of each model"
is "$("$report" -f csv server.results | head -1 | tr -d '\r' | tr ',' '\n' | grep -c '^server_.*_ms_\(n\|min\|p50\|max\)$')" 44 "CSV has the server's times"
matches "$("$report" --errors-as-inf --slo p99:ttft=1s server.results)" 'missed: among the failed requests$' "an infinite percentile says what it is"
run "$report" --slo server_queue=10ms server.results
status_is 2 "--slo server_queue ends with 2"
complains ipf-report 'got "server_queue=10ms"' "ipf-report refuses --slo server_queue by name"

# ---- numbers needing more than their column ----
jq -c '.ttft_ns += 123456789000000 | .e2e_ns += 9876543210000000 | .stream_ns = .e2e_ns | .input_tokens = 123456789 | .output_tokens = 987654321
	| .model += "-with-a-name-that-is-longer-than-any-column-of-this-report-could-ever-be-wide"' body >wide
seal header wide >wide.results
run "$report" --by model --slo ttft=200ms wide.results
status_is 0 "enormous figures are reported"
fits "$OUT" "enormous figures"
