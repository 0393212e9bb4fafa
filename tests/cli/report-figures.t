#!/bin/bash
# Every figure of the JSON against a computation of its own, in jq, from the same rows.
. "$TESTS/tap.sh"
export IPF_REPORT_FULL=1 # all sections of the text
data=$TESTS/data/report
report=$BIN/ipf-report

# An open-loop run of 400 requests in two stages, drawn by a small generator: heavy tails, failures, absent figures.
jq -c '.stages = [{"name":"a","kind":"poisson","spec":"poisson:rate=20,for=10s","begin_ns":0,"end_ns":10000000000,"arrivals":200,"first_n":0,"measured":true},
	{"name":"b","kind":"poisson","spec":"poisson:rate=40,for=5s","begin_ns":10000000000,"end_ns":15000000000,"arrivals":200,"first_n":200,"measured":true}]
	| .from[0].from[0].stages = .stages' <(head -1 "$data/one.results") >header
awk 'function rnd() { x = (x * 16807) % 2147483647; return x / 2147483647 }
	BEGIN { x = 20240229
	for (n = 0; n < 400; n++) {
		stage = n >= 200; due = int((stage ? 10 + (n - 200) / 40 : n / 20) * 1e9)
		lag = int(-log(rnd()) * 2e5); ttft = int(2e7 - log(rnd()) * 8e7); out = 1 + int(rnd() * rnd() * 90); gap = int(1e7 + rnd() * 2e7)
		e2e = ttft + gap * (out - 1); start = due + lag
		printf "{\"n\":%d,\"stage\":%d,\"ok\":%s,\"due_ns\":%.0f,\"ready_ns\":%.0f,\"start_ns\":%.0f,\"end_ns\":%.0f,\"lag_ns\":%d,\"client_lag_ns\":%d", n, stage, (bad = rnd() < 0.03) ? "false" : "true", due, due, start, start + e2e + 100000, lag, lag
		if (rnd() < 0.2) printf ",\"slot_wait_ns\":%d", lag / 2
		printf ",\"ttfb_ns\":%d,\"ttft_ns\":%d,\"e2e_ns\":%.0f,\"stream_ns\":%.0f", ttft - 1000, ttft, e2e, e2e + 100000
		if (rnd() < 0.9) printf ",\"ttfa_ns\":%d", ttft
		if (out > 1) printf ",\"ttst_ns\":%d,\"tpot_ns\":%d,\"itl_max_ns\":%d", gap, gap, gap * 3
		printf ",\"ntpot_ns\":%.0f,\"events\":%d,\"input_tokens\":%d,\"output_tokens\":%d,\"output_tokens_usage\":%d,\"tokens_source\":\"usage\",\"asked_output_tokens\":%d", e2e / out, out, 10 + rnd() * 1000, out, out, out + int(rnd() * 3)
		if (rnd() < 0.7) printf ",\"output_tokens_tokenizer\":%d", out + int(rnd() * 3) - 1
		if (rnd() < 0.5) printf ",\"cached_tokens\":%d", rnd() * 10
		if (n % 3 == 0) printf ",\"image_tokens\":%d,\"audio_tokens\":0,\"output_audio_tokens\":%d", n, n % 7
		printf ",\"finish\":\"%s\"%s}\n", rnd() < 0.8 ? "stop" : "length", bad ? ",\"error\":{\"kind\":\"" (rnd() < 0.5 ? "cut" : "timeout") "\"}" : ""
	} }' >body
seal header body >drawn.results

for file in drawn.results "$data/mixed.results" "$data/closed.results" "$data/one.results"; do
	name=$(basename "$file" .results)
	jq -s --argjson slo_ms 150 -f "$data/block.jq" "$file" >want.json
	run "$report" -f json --slo ttft=150ms "$file"
	status_is 0 "$name: is reported"
	cp "$OUT" got.json
	between "$(jq '[paths(type == "number")] | length' want.json)" 300 100000 "$name: 300 figures or more are compared"
	is "$(jq -nr --slurpfile want want.json --slurpfile got got.json -f "$data/differs.jq")" "" "$name: every one is right"
done

# Tokens of images and audio: sums, and nothing where the server reports 0.
is "$("$report" -f json drawn.results | jq -c '.total.tokens | [.image, .audio, .output_audio]')" "$(jq -cs '[.[] | select(.ok)] |
	[(map(.image_tokens) | add), null, (map(.output_audio_tokens) | add)]' drawn.results)" "tokens of images and audio are added up"
"$report" drawn.results | tr -s ' ' | tr -d , >text
contains "$(cat text)" "images $("$report" -f json drawn.results | jq .total.tokens.image) of the input tokens as the server reports" "the text has the tokens of images"
is "$(grep -c '^ *audio' text)" 1 "the text has audio only where there is some"

# The order of the rows is nobody's business.
sort -r body >turned
seal header turned >turned.results
"$report" -f json --slo ttft=150ms drawn.results | jq "del(.run.digest)" >a.json
"$report" -f json --slo ttft=150ms turned.results | jq "del(.run.digest)" >b.json
same a.json b.json "rows in another order give the same report"

# Percentiles of percentiles would be wrong: three parts together give the whole's.
for part in 0 1 2; do
	awk -v p=$part 'NR % 3 == p' body >some
	seal header some >part-$part.results
done
"$report" -f json --slo ttft=150ms part-0.results part-1.results part-2.results >c.json
for path in .total .stages '(.verdict | del(.checks[0].delivered))'; do
	is "$(jq -c "$path" c.json)" "$(jq -c "$path" a.json)" "shards pooled say what the whole says: $path"
done
# Repeats: twice the requests in twice the time.
"$report" -f json --slo ttft=150ms drawn.results drawn.results >twice.json
is "$(jq -c '.total | [.requests.started, .requests.scheduled, .window_s]' twice.json)" "$(jq -c '.total | [.requests.started * 2, .requests.scheduled * 2, .window_s * 2]' a.json)" "repeats add up"
for path in .rate .throughput .in_flight .latency.ttft_ms.from_start.p50 .latency.ttft_ms.from_start.max; do
	is "$(jq -c ".total$path" twice.json)" "$(jq -c ".total$path" a.json)" "repeats have the figures of one run at .total$path"
done

# Confidence interval: 20 batch means in the order of the starts, Student's t with 19 degrees of freedom.
jq -s '[.[] | select(.n != null and .ok and .stage == 0)] | sort_by(.start_ns) | map(.ttft_ns / 1000000) | length as $n
	| [range(20) as $i | .[($n * $i / 20 | floor):($n * ($i + 1) / 20 | floor)] | add / length] | (add / 20) as $mean
	| { mean: $mean, half: (2.093024 * ((map((. - $mean) * (. - $mean)) | add / 19 | sqrt) / (20 | sqrt))) }' drawn.results >ci.json
got=$(jq -c '.stages[0].latency.ttft_ms.from_start.ci95' a.json)
between "$(jq -n --argjson got "$got" '$got[1] - $got[0]')" "$(jq '1.6 * .half' ci.json)" "$(jq '2.4 * .half' ci.json)" "the confidence interval is as wide as the batch means are apart"

# --window drain: until the last request of a stage ended, which includes other stages' completions by then.
run "$report" -f json --window drain "$data/mixed.results"
is "$(jq -c '.stages[1] | [.window_s, .rate.completed, .rate.completed_own]' "$OUT")" "$(jq -cs '([.[] | select(.stage == 1) | .end_ns] | max) as $last
	| ((($last - 2000000000) / 1000 | round) / 1000000) as $w | [.[] | select(.ok and .end_ns >= 2000000000 and .end_ns <= $last)] as $all
	| [$w] + ([$all, ($all | map(select(.stage == 1)))] | map(length / $w * 1000000 | round / 1000000))' "$data/mixed.results")" \
	"--window drain lasts until the stage's last request ended"

# --errors-as-inf: 3 of 15 requests failed, so no more than the lower four fifths are finite.
run "$report" -f json --errors-as-inf --percentiles 50,80,90 --slo p50:ttft=1s,p90:ttft=1s "$data/mixed.results"
is "$(jq -c '.total.latency.ttft_ms.from_start | [.n, .p50, .p80, .p90, .max, .mean]' "$OUT")" '[15,100,"inf","inf","inf",null]' "failures lie at infinity"
is "$(jq -c '[.total.goodput.objectives[].value_ms]' "$OUT")" '[100.1,"inf"]' "objectives count failures as infinite"
is "$(jq -c '.total.latency.itl_ms.n' "$OUT")" 64 "pooled gaps do not count failures"

# Nothing is 0 or null that does not exist.
for name in one empty errors closed; do
	"$report" -f json "$data/$name.results" >out.json
	is "$(jq -c '[paths(. == null)]' out.json)" "[]" "$name: nothing is null"
done
"$report" -f json "$data/one.results" >out.json
is "$(jq -c '[.total | .rate.achieved, .latency.ttft_ms.from_start.ci95, .slot_wait_ms, .tokens.reasoning] | map(select(. != null))' out.json)" "[]" "one request has no rate, interval and slot wait"
"$report" -f json "$data/closed.results" >out.json
is "$(jq -c '[.total | .rate.offered, .latency.ttft_ms.from_due, .lag_ms, .requests.scheduled] | map(select(. != null))' out.json)" "[]" "closed loop has no due time, no lag, no offered rate"
"$report" -f json "$data/errors.results" >out.json
is "$(jq -c '[.total.latency, .total.tokens, .total.requests.failed, .total.rate.completed]' out.json)" "[{},{},4,0]" "a run that failed has no latency and a rate of 0"

# Two clients at the same time, each with a schedule of its own: rates add up. The same one after the other: they do not.
at() { # T0_UNIX_NS: drawn.results, begun then
	head -1 drawn.results | sed "s/\"tool\":\"ipf-fire 0.1.0\"/&,\"t0_unix_ns\":$1/" >header
	seal header body
}
at 1000000000000000000 >first.results
at 1000000001000000000 >second.results
at 1000000060000000000 >third.results
"$report" -f json first.results second.results >together.json
"$report" -f json first.results third.results >after.json
figures='.total | [.requests.scheduled, .window_s, .rate.offered, .rate.completed, .throughput.output_tokens_per_s]'
near='| map(. * 1000 | round / 1000)'
is "$(jq -c "$figures$near" together.json)" "$(jq -c "$figures | [.[0] * 2, .[1], .[2] * 2, .[3] * 2, .[4] * 2]$near" a.json)" "rates of simultaneous runs add up"
is "$(jq -c "$figures$near" after.json)" "$(jq -c "$figures | [.[0] * 2, .[1] * 2, .[2], .[3], .[4]]$near" a.json)" "windows of runs in a row add up"

# Where ipf-fire noted when a stage really began, that counts: here 500 ms later than one would think, so the first of three ended before it.
head -1 "$data/mixed.results" >header
sed -e 1d -e '$d' "$data/mixed.results" >body
seal header body |
	sed 's/"end":{/&"from":[{"ipf":"records","stages":[{"begin_ns":0},{"begin_ns":2000000000},{"begin_ns":12000000000},{"begin_ns":12851000000}]}],/' >seen.results
"$report" -f json seen.results >out.json
is "$(jq -c '.stages[3] | [.window_s, .rate.completed]' out.json)" "[3,0.666667]" "a stage begins when it was seen to begin"
is "$("$report" -f json "$data/mixed.results" |
	jq -c '.stages[3] | [.window_s, .rate.completed]')" "[3,1]" "else after what came before it"
is "$("$report" -f json "$data/mixed.results" |
	jq -c '[.total.by_model | to_entries[] | [.key, .value.requests.ok + .value.requests.failed]]')" \
	'[["llama-3.1-8b",13],["lora-a",2]]' "several models: each has figures of its own"
is "$("$report" -f json "$data/one.results" | jq -c .total.by_model)" null "one model has no figures of its own"

# ---- whose count of the input it is ---------------------------------------------------------------------------------
# from `one`, as many answers as there are lines in rows, each with a prompt of 200 tokens in the trace
jq -c '(.. | objects | select(.ipf == "schedule")).from = [{"ipf":"trace","version":1,"tool":"ipf-prep 0.1.0","argv":["synthetic"],"tokenizer":{"name":"approx","exact":false}}]' \
	<(head -1 "$data/one.results") >header
counted() { # JQ: its result for the one row
	sed -n '/^{"n"/p' "$data/one.results" | jq -c ".asked_input_tokens = 200 | .input_tokens = 200 | $1" >body
	seal header body >counted.results
	"$report" "${@:2}" counted.results 2>"$ERR" | tr -s ' \n' ' '
}
counted 'del(.input_tokens_usage)' >silent
contains "$(cat silent)" "input not reported by the server: as the trace has it" "a server without usage has reported no input"
is "$(counted 'del(.input_tokens_usage)' -f json | jq -c '.total.tokens.residual.input_minus_asked, .verdict.checks[2].input_share')" "$(printf 'null\nnull')" \
	"a server without usage gives no residual of the input"
is "$(counted '.input_tokens_usage = 0' -f json | jq -c .total.tokens.residual.input_minus_asked)" null "a usage of 0 gives no residual of the input"
counted '.input_tokens_usage = 985' >off
contains "$(cat off)" "the trace estimated its tokens, the server counted 492.5 % of that: ipf-prep -t TOKENIZER counts them" "an estimate that is far off is named"
contains "$(cat off)" "server answers DOUBTFUL prompts had 492.5 % of the tokens in the trace" "the verdict doubts an estimate that is far off"
counted '.input_tokens_usage = 245' >near
contains "$(cat near)" "server answers OK" "a template is not"
is "$(counted '.events = 1 | .not_streamed = "not-asked" | .output_tokens_usage = 180' -f json | jq -c .total.tokens.residual.output_usage_minus_events)" null \
	"whole answers have no events to compare with"
