#!/bin/bash
# ipf-twin fit: an input that is no run of one server gives a reason and no twin. (unit/test_twin_fit.c compares twins with
# servers whose parameters are known.)
. "$TESTS/tap.sh"
data=$TESTS/data/report
report=$BIN/ipf-report
PATH=$BIN:$PATH

refused() { # TEXT REASON RESULTS…
	local text=$1 reason=$2
	shift 2
	run ipf-twin fit -q "$@"
	status_is 3 "ipf-twin refuses to fit: $text"
	complains ipf-twin "$reason" "ipf-twin says why it does not fit: $text"
	is "$(cat "$OUT")" "" "ipf-twin writes no twin: $text"
}
refused "a run without the times of events" "closed.results: a twin requires the times of all events, which 16 of 16 requests do not have (ipf-collect --events)" \
	"$data/closed.results"
refused "a run that is INVALID" "errors.results: no twin of a run whose verdict is INVALID (server_answers)" "$data/errors.results"
refused "an empty one" "empty.results: no twin of a run whose verdict is INVALID (load_delivered)" "$data/empty.results"

# ---- a twin of a known server --------------------------------------------------------------------------------
# In virtual time, a server of these parameters answers a ramp to beyond its saturation; a twin fitted to it predicts other loads as they
# come out at that server. The whole pipeline, the same on every machine.
cat >truth.json <<'END'
{"ipf": "twin", "version": 1, "parameters": {
  "step_base_ns": {"value": 9000000}, "step_per_sequence_ns": {"value": 300000}, "prefill_tokens_per_s": {"value": 15000},
  "step_tokens": {"value": 400}, "most_sequences": {"value": 24}, "step_jitter": {"value": 0.04}, "overhead_ns": {"value": 400000}}}
END
"$BIN/ipf-prep" synthetic -q -n 2000 --input-tokens uniform:20-900 --output-tokens uniform:10-60 --seed 5 -o trace
at() { # NAME TWIN SEED STAGE…: the JSON report of the schedule
	local name=$1 twin=$2 seed=$3
	shift 3
	"$BIN/ipf-sched" -q "$@" -t trace --seed 3 -o "$name.schedule"
	"$BIN/ipf-twin" predict -q --reproducible "$twin" --seed "$seed" -t trace "$name.schedule" 2>"$ERR" |
		"$BIN/ipf-collect" -q --events -o "$name.results" 2>"$ERR"
	"$report" -q -f json "$name.results" >"$name.json" 2>"$ERR"
}
# One request has too few gaps between tokens.
mv trace whole.trace
"$BIN/ipf-prep" synthetic -q -n 1 --input-tokens 20 --output-tokens 8 -o trace
at one truth.json 1 closed:users=1,n=1
mv whole.trace trace
refused "one request" "one.results: too little for a twin: 7 gaps between tokens, 50 are needed" one.results

at ramp truth.json 1 poisson:rate=2,for=20s poisson:rate=8,for=20s poisson:rate=14,for=20s poisson:rate=30,for=15s
run ipf-twin fit -q ramp.results
status_is 0 "a ramp has a twin"
cp "$OUT" twin.json
is "$(jq -c '[.ipf, .version, (.from | length), .fit.requests > 500, .fit.error.e2e.p50 < 0.05]' twin.json)" '["twin",1,1,true,true]' "fitted from all of it"
is "$(jq -c --slurpfile truth truth.json '[.parameters as $p | $truth[0].parameters | to_entries[] |
	select(.key != "step_jitter" and .key != "overhead_ns") | select(($p[.key].value / .value.value - 1 | fabs) > 0.03) | .key]' twin.json)" '[]' "parameters of the twin are those of the server"
is "$(jq -c '.parameters.step_jitter.value | . > 0.035 and . < 0.045' twin.json)" true "the jitter of the twin is that of the server"
is "$(jq -c '.parameters | map(select((.value == null) == (.not_known == null))) | length' twin.json)" 0 "every parameter has a value, or a reason why not"
is "$(jq -c '.parameters | map(select(.value != null and (.low > .value or .high < .value))) | length' twin.json)" 0 "known parameters have an interval around their value"

# The same requests in the file of another tool's client, with its gaps between tokens: the same twin. Its times are seconds in decimals.
grep '^{"n"' ramp.results | jq -cs --slurpfile file "$TESTS/data/imports/vllm-0.33.0.json" '$file[0] + {
	ttfts: map(.ttft_ns / 1e9), itls: map(.event_ns as $t | [range(1; $t | length) | ($t[.] - $t[. - 1]) / 1e9]), latencies: map(.e2e_ns / 1e9),
	start_times: map(1000 + .start_ns / 1e9), queue_times: map(0), input_lens: map(.input_tokens), output_lens: map(.output_tokens), errors: map(""),
	generated_texts: map("x"), num_prompts: length, completed: length, failed: 0, duration: 75, max_concurrency: null, request_rate: 10}' >vllm.json
run ipf-twin fit -q --from vllm vllm.json
status_is 0 "a file of vLLM's benchmark has a twin"
is "$(jq -c --slurpfile own twin.json '[.parameters as $p | $own[0].parameters | to_entries[] | select(.value.value) |
	select(.key | IN("step_base_ns", "step_per_sequence_ns", "prefill_tokens_per_s", "step_tokens", "most_sequences")) |
	select(($p[.key].value / .value.value - 1 | fabs) > 0.01) | .key]' "$OUT")" '[]' "a file of vLLM's benchmark gives the parameters of our own results"

near() { # TEXT: truth and predicted are close
	is "$(jq -nc --slurpfile a truth-run.json --slurpfile b twin-run.json '[("ttft_ms", "tpot_ms", "e2e_ms") as $m | (["p50", 0.05], ["p99", 0.12]) as [$p, $most] |
		($b[0].total.latency[$m] | (.from_start // .)[$p]) / ($a[0].total.latency[$m] | (.from_start // .)[$p]) - 1 |
		select(fabs > $most) | [$m, $p, .]]')" '[]' "$1: latencies within 5 % at p50 and 12 % at p99"
	is "$(jq -nc --slurpfile a truth-run.json --slurpfile b twin-run.json '$b[0].total.throughput.output_tokens_per_s / $a[0].total.throughput.output_tokens_per_s - 1 | fabs < 0.03')" true \
		"$1: throughput within 3 %"
}
for load in constant:rate=6,for=60s poisson:rate=15,for=40s poisson:rate=40,for=20s closed:users=16,for=40s closed:users=40,for=40s; do
	at truth-run truth.json 7 "$load"
	at twin-run twin.json 8 "$load"
	near "$load"
done
is "$(jq -r '.verdict.predicted' twin-run.json)" true "the report of ipf-twin predict says that it is predicted"

# Several servers of a kind: how they were chosen is part of their twin.
"$BIN/ipf-sched" -q poisson:rate=30,for=30s -t trace --seed 3 -o many.schedule
for way in least round-robin; do
	"$BIN/ipf-twin" predict -q truth.json --replicas 3 --balance $way -t trace many.schedule | "$BIN/ipf-collect" -q --events -o many.results
	run ipf-twin fit -q many.results
	is "$(jq -c '[.balancing.value, .balancing.share > 0.95]' "$OUT")" "[\"$way\",true]" "servers that are chosen $way"
	cp "$OUT" "$way.json"
done
is "$("$BIN/ipf-twin" predict -q least.json --replicas 3 -t trace many.schedule | head -1 | jq -r .balance)" least "ipf-twin chooses servers as the fitted run did: $way"
is "$("$BIN/ipf-twin" predict -q least.json --replicas 3 --balance session -t trace many.schedule | head -1 | jq -r .balance)" session "--balance replaces the choice of the twin"

# Two servers, one of which is half as fast, have no common one.
jq '.parameters.step_base_ns.value = 18000000' truth.json >slow.json
at slow slow.json 1 poisson:rate=2,for=20s poisson:rate=5,for=20s
measured=0
for name in ramp slow again; do # as if they had been measured, one after another
	[ -e $name.results ] || at again truth.json 2 poisson:rate=4,for=20s poisson:rate=12,for=20s
	measured=$((measured + 1))
	plain $name.results | head -1 | jq -c --argjson k $measured 'walk(if type == "object" then del(.predicted) | if .t0_unix_ns then .t0_unix_ns = $k * 1000000000000 else . end else . end)' >header
	body $name.results >lines
	seal header lines >measured-$name.results
done
refused "two different servers" "no twin of several different servers: steps of one take" measured-ramp.results measured-slow.results
run ipf-twin fit -q measured-ramp.results measured-again.results
status_is 0 "runs of one server have one, whatever their schedules"
is "$(jq -c '[(.from | length), .fit.requests > 700]' "$OUT")" '[2,true]' "a twin of two runs uses all of their requests"
