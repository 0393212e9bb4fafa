#!/bin/bash
# A run a twin predicted: the results say so, checks of a client, clocks or the network do not apply, error bars have the error of the twin,
# and predicted runs never mix with measured ones.
. "$TESTS/tap.sh"
export IPF_REPORT_FULL=1 # all sections of the text
. "$TESTS/fixture.sh"

# RUN.records as if a twin had predicted it: no lines about the client, in the header the members of ipf-twin predict.
errors='{"ttft":{"p50":0.02,"p99":0.08},"tpot":{"p50":0.01,"p99":0.05},"e2e":{"p50":0.03,"p99":0.3}}'
predict() { # RUN NAME [SHA256] [ERRORS] [EXTRAPOLATED]
	head -1 "$1.records" | jq -c --argjson error "${4:-$errors}" --arg sha "${3:-aa}" '
		del(.system_clock, .t0_clock_ns, .host) | .stamps = "user" |
		.predicted = {twin: "llama.twin", sha256: $sha, model: "llama", requests: 12345, steps: 678901, error: $error, from: [], replicas: 1, seed: 1}' >"$2.header"
	sed -e 1d -e '$d' "$1.records" | grep -v '^{"client"' >"$2.body"
	seal "$2.header" "$2.body" >"$2.records"
	sed -i "\$s/\"end\":{/&\"extrapolated\":${5:-[]},/" "$2.records"
	ipf-collect -q "$2.records" -o "$2.results"
}

small_run 40
# A busy machine's additions are taken out of it: the verdict on the run as measured would depend on it.
mv chat.records live.records
python3 "$TESTS/helpers/calm.py" live.records >chat.records
ipf-collect -q chat.records -o chat.results
predict chat twin aa "$errors" '["most_sequences","kv_blocks"]'

# ---- ipf-collect
is "$(head -1 twin.results | jq -c '.predicted | [.twin, .sha256, .requests, .error.e2e.p99]')" '["llama.twin","aa",12345,0.3]' "results have what the records say"
is "$(tail -1 twin.results | jq -c '.end | [.extrapolated, .verdict.predicted, has("transport"), has("clocks")]')" \
	'[["most_sequences","kv_blocks"],true,false,false]' "results have what the prediction exceeded, and no finding of a network"
is "$(tail -1 twin.results | jq -c '.end.verdict.checks[1] | [.name, .status, .detail]')" \
	'["client_headroom","N/A","not applicable: predicted"]' "the client of a predicted run is not judged" # exact: virtual time
is "$(head -1 twin.results | jq -c '.series | has("t0_unix_ns")')" false "virtual time has no date"
is "$(tail -1 chat.results | jq -c '.end | [has("extrapolated"), (.verdict | has("predicted"))]')" '[false,false]' "a measured run has neither"
run ipf-collect -v --every 100ms twin.records -o windows.results
is "$status $(cat "$ERR")" "0 ipf-collect: 40 requests, 0 failed" "ipf-collect warns of nothing that does not apply"
is "$(grep -c '^{"window"' windows.results)" "$(ipf-collect -q --every 100ms chat.records | grep -c '^{"window"')" "windows are as ever"
run ipf-collect --explain twin.records
is "$status $(grep -c '^request ' "$OUT")" "0 40" "--explain shows it"
run ipf-collect --check twin.records
is "$status $(tail -1 "$OUT")" "0 twin.records: 0 violations in 40 requests and 0 lines about the client" "--check finds nothing"
for option in --scrape=http://127.0.0.1:9 --prometheus=http://127.0.0.1:9 --samples=chat.results --otlp=http://127.0.0.1:9; do
	run ipf-collect "$option" twin.records -o other.results
	is "$status" 2 "${option%%=*}: ipf-collect refuses it for predicted records"
	stderr_contains "${option%%=*}: a twin predicted the run of twin.records: there is no server whose figures belong to it" "${option%%=*}: the reason"
done
run ipf-collect twin.records chat.records -o mixed.results
is "$status $(cat "$ERR")" "3 ipf-collect: chat.records: was measured, but twin.records was predicted by a twin" "records of both kinds are not one run"
ipf-collect -q --listen 127.0.0.1:0 --linger 1h twin.records -o listen.results 2>listen.err &
listener=$!
stop_at_exit "$listener"
wait_for grep -q 'http://' listen.err
curl -s "$(grep -o 'http://[^ ]*' listen.err | head -1)" >metrics.txt
kill "$listener"
matches "$(cat metrics.txt)" '^ipf_run_info\{.*predicted="llama.twin"' "published metrics say by which twin"
is "$(grep -c '^ipf_verdict_status{question="client_headroom"' metrics.txt)" 0 "published metrics of a predicted run say nothing of a client" # exact: virtual time

# ---- the verdict of the report
run ipf-report twin.results
is "$status" 0 "a report of predicted results ends with 0"
cp "$OUT" twin.txt
matches "$(cat twin.txt)" '^Verdict +PREDICTED, DOUBTFUL$' "text says first that the run is predicted" # exact: virtual time
matches "$(cat twin.txt)" 'client headroom +N/A' "the client does not apply"
is "$(sed -n '/load delivered/,/client headroom/p' twin.txt | grep -c 'late')" 0 "the text of a prediction says nothing of late requests"
said=$(tr -s ' \n' '  ' <twin.txt)
contains "$said" "by llama.twin, fitted from 12,345 requests and 678,901 steps; its error on the runs it was fitted from: TTFT 2.0 % at p50, 8.0 % at p99; TPOT 1.0 % at p50, 5.0 % at p99; E2E 3.0 % at p50, 30.0 % at p99" "the text names the twin and its error"
contains "$said" "more sequences in flight than any run showed (most_sequences): beyond here the prediction is a guess" "the text says what is a guess"
contains "$said" "more of the KV cache in use than any run showed (kv_blocks): beyond" "the text names every guess"
is "$(awk '{ gsub(/[^ -~]+/, "x"); if (length > 80) n++ } END { print n + 0 }' twin.txt)" 0 "the text of a prediction fits into 80 columns"
is "$(ipf-report -q chat.results | grep -c PREDICTED)" 0 "a measured run says nothing of it"
for format in md html; do
	ipf-report -q -f $format twin.results >"twin.$format"
	matches "$(cat "twin.$format")" 'PREDICTED, DOUBTFUL' "$format says it"
	contains "$(sed 's,&#95;,_,g' "twin.$format")" 'any run showed (most_sequences)' "$format says what is a guess"
done
run ipf-report -f json --strict twin.results
is "$status" 0 "--strict judges what applies"
cp "$OUT" twin.json
judged=$(jq -c '.verdict | [.predicted, .status, (.checks | map(.status))]' twin.json)
is "$judged" '[true,"DOUBTFUL",["OK","N/A","OK","DOUBTFUL"]]' "JSON says that the run is predicted" # exact: virtual time
is "$(jq -c '.run | [.predicted.twin, .predicted.steps, .predicted.extrapolated, has("started")]' twin.json)" \
	'["llama.twin",678901,["most_sequences","kv_blocks"],false]' "JSON has the twin"
run ipf-report certificate twin.results
is "$status $(cat "$ERR")" "3 ipf-report: twin.results: was predicted by a twin: a certificate holds a client's measurements" "certificate refuses a prediction"
ipf-report -q -f junit twin.results >twin.xml
contains "$(cat twin.xml)" '<property name="predicted" value="llama.twin"/>' "JUnit has the twin"
contains "$(grep -A1 'name="client_headroom"' twin.xml)" '<skipped message="N/A: not applicable: predicted"/>' "JUnit skips what does not apply" # exact: virtual time
ipf-report -q -f prometheus twin.results >twin.prom
matches "$(cat twin.prom)" '^ipf_run_info\{.*predicted="llama.twin"' "a label for Prometheus"
is "$(grep -c '^ipf_verdict_status' twin.prom)" 3 "Prometheus has three answers of the verdict"
is "$(for run in twin chat; do ipf-report -q -f csv $run.results | head -1 | grep -c ',predicted'; done | tr -d '\n')" 10 "a column of CSV, if it is"
is "$(ipf-report -q -f sql twin.results | grep -c "'llama.twin'")" 1 "SQL has the twin"

is "$(ipf-report -q -f csv --curve twin.results | head -1 | grep -c ',predicted')" 1 "the curve has a column for the twin"
run ipf-report export mlperf twin.results
is "$status $(cat "$ERR")" "0 ipf-report: llama.twin predicted the run: no server was measured, which mlperf does not say" \
	"a format without room for it makes a note"
contains "$(cat "$OUT")" "1 warning encountered" "mlperf counts no warning for what does not apply"
run ipf-report -f md twin.results
is "$(cat "$ERR")" "" "a format that names the twin has no message"
run ipf-report twin.json
contains "$(tr -s ' \n' '  ' <"$OUT")" "PREDICTED, DOUBTFUL" "a saved report says it"
contains "$(tr -s ' \n' '  ' <"$OUT")" "more sequences in flight than any run showed (most_sequences)" "a saved report says what is a guess"
is "$(ipf-report -q twin.results | grep -c -E 'event times|calibrat|late by client')" 0 "text describes neither clock nor client of a prediction"

# ---- error bars: a client would add nothing in virtual time but 1 us and, in ITL, the width of a bucket
is "$(sed -n 's/.*"first_early_ns":\([0-9]*\),"last_early_ns":\([0-9]*\).*/\1 \2/p' twin.results | sort -u)" "0 0" "events of virtual time came when they came"
wider() { # BAR VERSION STATISTIC ERROR OWN TEXT: OWN of a value in ms
	is "$(jq -c --arg bar "$1" --argjson path "$2" --arg key "$3" --argjson error "$4" '
		def at(what): .total | getpath([what, $bar] + $path);
		at("latency")[$key] as $v | at("accuracy") as $a | ($v | '"$5"') as $own | ($own * $own + $error * $error * $v * $v | sqrt) as $half |
		[$v - $a.low[$key] - $half, $a.high[$key] - $v - $half, $a.error[$key] - $half] | map(fabs < 3e-6)' still.json)" '[true,true,true]' "$6"
}
sed -E 's/"sending_ns":[0-9]+/"sending_ns":0/; s/"client_lag_ns":[0-9]+/"client_lag_ns":0/; s/"setup_ns":[0-9]+,"send_waits":[0-9]+,//' twin.results >still.all
sed -e 1d -e '$d' still.all >still.body
head -1 still.all >still.header
seal still.header still.body >still.results
ipf-report -q -f json still.results >still.json
wider ttft_ms '["from_start"]' p50 0.02 1e-3 "TTFT at p50"
wider ttft_ms '["from_due"]' p90 0.02 1e-3 "TTFT at p90, by the error at p50"
wider ttft_ms '["from_start"]' p99 0.08 1e-3 "TTFT at p99"
wider e2e_ms '["from_start"]' mean 0.03 1e-3 "the mean of E2E"
wider e2e_ms '["from_due"]' max 0.3 1e-3 "E2E at most"
wider itl_ms '[]' p50 0.01 '. / 1024 + 1e-3' "ITL, by the error of TPOT"
wider itl_ms '[]' p99 0.05 '. / 1024 + 1e-3' "ITL at p99"
is "$(jq '.total | .accuracy.tpot_ms.error.p50 / .latency.tpot_ms.p50 | . > 0.0099 and . < 0.0111' still.json)" true "TPOT has the error of the twin"
ipf-report -q -f json chat.results >chat.json
is "$(jq -s 'map(.total.latency.e2e_ms.from_start | .mean - .ci95[0]) | .[1] > .[0] and .[1] >= 0' chat.json twin.json)" true "the interval of a mean is wider, too"
contains "$(cat twin.txt)" "Error of the prediction, ms" "text says whose error it is"
is "$(grep -c 'it may have come earlier' twin.txt)" 0 "text seeks no cause in the client"
sed -E 's/"(sending|first_early|last_early)_ns":[0-9]+,//g; /"itl_[a-z]*_ns","stage"/d' twin.results | sed -e 1d -e '$d' >silent.body
head -1 twin.results >silent.header
seal silent.header silent.body >silent.results
ipf-report -q -f json silent.results >silent.json
is "$(jq '.total | (.accuracy.e2e_ms.from_start.error.p99 / .latency.e2e_ms.from_start.p99 - 0.3 | fabs) < 1e-6' silent.json)" true "rows without a client's lag add nothing to the error"
predict chat vague aa '{"ttft":{"p50":0.02,"p99":0.08},"tpot":{"p50":null}}'
run ipf-report -f json vague.results
is "$(jq -c '.total.accuracy | keys' "$OUT")" '["ttft_ms"]' "an error that is not known makes no error bars"
is "$(jq -c '.total.latency | [.ttft_ms.from_start, .e2e_ms.from_start] | map(has("ci95"))' "$OUT")" "$(jq -c '.total.latency | [(.ttft_ms.from_start | has("ci95")), false]' chat.json)" "an unknown error makes no interval of a mean"
contains "$(ipf-report -q vague.results | tr -s ' \n' '  ')" "TPOT not known, so it has no error bars; E2E not known, so it" "text says that the error of TPOT and E2E is unknown"

# ---- runs of different kinds
predict chat other bb
for pair in "twin chat|chat.results: was measured, but twin.results was predicted by a twin" \
	"chat twin|twin.results: was predicted by a twin, but chat.results was measured" \
	"twin other|other.results: was predicted by another twin (llama.twin) than twin.results (llama.twin)"; do
	read -r first second <<<"${pair%%|*}"
	run ipf-report "$first.results" "$second.results"
	is "$status $(cat "$ERR")" "3 ipf-report: ${pair#*|}" "ipf-report refuses $first with $second"
	run ipf-sched search:slo=p99:e2e=5s,low=1,high=200,for=60s -t chat.trace -r "$first.results" -r "$second.results"
	is "$status $(cat "$ERR")" "3 ipf-sched: ${pair#*|}" "ipf-sched refuses a search of $first and $second"
done
run ipf-report compare twin.results chat.results -- chat.results
is "$status" 3 "compare refuses a side of prediction and measurement"
predict chat again
run ipf-report -f json again.results twin.results
is "$(jq -r '.run.pooled' "$OUT")" repeats "two predictions of a schedule are repeats, whenever they were made"
contains "$(jq -r '.verdict.checks[0].detail' "$OUT")" "has requests of the same records as again.results: they count twice" "the verdict sees a prediction that is given twice"

# ---- measured against predicted
run ipf-report compare chat.results -- twin.results
is "$status" 0 "compare of measured and predicted ends with 0"
contains "$(tr -s ' \n' '  ' <"$OUT")" "PREDICTED: new by llama.twin, not measured; the error of the twin is not in the intervals of the changes" "compare says that new is predicted"
contains "$(tr -s ' \n' '  ' <"$OUT")" "DOUBTFUL (enough samples)" "the client of a prediction gives no doubt"
contains "$(ipf-report compare twin.results -- chat.results | tr -s ' \n' '  ')" "PREDICTED: base by" "compare says that base is predicted"
contains "$(ipf-report compare twin.results -- other.results | tr -s ' \n' '  ')" "PREDICTED: both sides by llama.twin and llama.twin" "compare says that both sides are predicted"
is "$(ipf-report compare chat.results -- chat.results | grep -c PREDICTED)" 0 "compare of measured runs says nothing of predictions"
is "$(ipf-report compare -f json chat.results -- twin.results | jq -c '.settings | map(select(.name | test("predicted")))')" \
	'[{"name":"predicted","new":"llama.twin"}]' "the twin is a setting"
is "$(ipf-report compare -f json twin.results -- other.results | jq -c '.settings | map(select(.name | test("predicted")))')" \
	'[{"base":"aa","name":"predicted.sha256","new":"bb"}]' "settings have the difference of two twins"
for format in md html; do
	contains "$(ipf-report compare -f $format chat.results -- twin.results)" "PREDICTED: new by llama.twin" "$format says it"
done
contains "$(ipf-report compare -f junit chat.results -- twin.results)" '<property name="predicted" value="PREDICTED: new by llama.twin' "JUnit says that new is predicted"
is "$(ipf-report compare -f json chat.results -- twin.results | jq -c '[(.base | has("predicted")), .new.predicted.twin]')" '[false,"llama.twin"]' "JSON says that new is predicted"

# ---- the assumptions about the twin
assume() { # NAME JSON: NAME.results as predicted with this
	head -1 twin.records | jq -c --argjson assumed "$2" '.predicted.assumed = $assumed' >"$1.header"
	sed -e 1d -e '$d' twin.records >"$1.body"
	seal "$1.header" "$1.body" >"$1.records"
	ipf-collect -q "$1.records" -o "$1.results"
}
assume more '{"kv_blocks":9000}'
assume less '{"kv_blocks":4500,"step_jitter":0.5}'
by="llama.twin with kv_blocks=4500, step_jitter=0.5"
is "$(ipf-report -q -f json less.results | jq -c '.run.predicted | [.assumed, .by]')" "[{\"kv_blocks\":4500,\"step_jitter\":0.5},\"$by\"]" "JSON has what was assumed"
for format in text md html csv junit prometheus sql; do
	contains "$(ipf-report -q -f $format less.results | tr -s ' \n' '  ' | sed 's/&#95;/_/g')" "$by" "$format says it"
done
contains "$(ipf-report export vllm less.results 2>&1 >/dev/null)" "$by predicted the run" "the message about another format has the assumptions"
contains "$(ipf-report compare more.results -- less.results | tr -s ' \n' '  ')" "PREDICTED: both sides by llama.twin with kv_blocks=9000 and $by, not measured" "a comparison names both"
is "$(ipf-report compare -f json more.results -- less.results | jq -c '[.settings[] | select(.name | test("predicted"))]')" \
	'[{"base":"9000","name":"predicted.assumed.kv_blocks","new":"4500"},{"name":"predicted.assumed.step_jitter","new":"0.5"}]' "settings have the difference of the assumptions"
is "$(ipf-report compare -f json twin.results -- more.results | jq -c '[.settings[] | select(.name | test("predicted"))]')" \
	'[{"name":"predicted.assumed","new":"{\"kv_blocks\":9000}"}]' "settings have an assumption of one side"
run ipf-report more.results less.results
is "$status $(cat "$ERR")" "3 ipf-report: less.results: was predicted by another twin ($by) than more.results (llama.twin with kv_blocks=9000)" "predictions of different assumptions do not merge"

# ---- ipf-twin predict itself; shards it predicted one after another
printf '{"ipf":"twin","version":1,"model":"m/1","parameters":{%s,%s},"fit":{"requests":7,"steps":90}}\n' \
	'"step_base_ns":{"value":10000000},"step_per_sequence_ns":{"value":1000000},"step_jitter":{"value":0.1},"prefill_tokens_per_s":{"value":10000}' \
	'"most_sequences":{"not_known":"never more than 3","at_least":3}' >m.twin
ipf-twin predict -q m.twin -t chat.trace chat.sched -o real.records
ipf-collect -q real.records -o real.results
run ipf-report -f json real.results
is "$(jq -c '[.verdict.predicted, .run.predicted.twin, .run.predicted.extrapolated, .verdict.checks[1].status, .total.accuracy]' "$OUT")" \
	'[true,"m.twin",["most_sequences"],"N/A",null]' "records of ipf-twin predict are a prediction, without error bars if the error is unknown"
for shard in 1 2; do
	ipf-sched -q poisson:rate=2,n=40 --shard $shard/2 -t chat.trace -o shard.sched
	ipf-twin predict -q m.twin -t chat.trace shard.sched -o shard$shard.records
	sed -i "1s/\"t0_unix_ns\":[0-9]*/\"t0_unix_ns\":${shard}600000000000000000/" shard$shard.records # years apart
	ipf-collect -q shard$shard.records -o shard$shard.results
done
ipf-collect -q shard1.records shard2.records -o both.results
is "$(tail -1 both.results | jq -c '.end | [has("clocks"), .verdict.status]')" '[false,"INVALID"]' "shards that were predicted have no clocks" # exact: virtual time
apart="INVALID: the parts of the run were predicted apart: none of them met the load of the others"
for files in "shard1.results shard2.results" both.results; do
	# shellcheck disable=SC2086 # words
	run ipf-report -f json $files
	contains "$(jq -r '.verdict.checks[0] | "\(.status): \(.detail)"' "$OUT")" "$apart" "predicted shards predict no whole run: $files"
done
is "$(ipf-report -q -f json shard1.results shard2.results | jq -r '.run.pooled, .verdict.checks[0].detail' | grep -c 'began\|^shards$')" 1 "times of predictions are not compared"
