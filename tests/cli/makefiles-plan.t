#!/bin/bash
# plan.mk: how many servers a recorded trace needs in each window, by a twin of one of them; in virtual time, so every machine has the same
# answer.
. "$TESTS/tap.sh"
SHARE=$(cd "$TESTS/../share/ipf" && pwd)
PATH=$BIN:$PATH
export PATH XDG_RUNTIME_DIR=$PWD
unset MAKEFLAGS MAKELEVEL MODEL DATA V
mkdir "a folder"
cd "a folder" || exit

# Batches of 4 steps of 10 ms: 100 tokens of prompt and 20 of answer take 10 + 20 * 10 / 4 ms, so one server can do 16.7 a second.
cat >server.json <<'END'
{"ipf": "twin", "version": 1, "parameters": {"step_base_ns": {"value": 10000000}, "step_per_sequence_ns": {"value": 0},
 "prefill_tokens_per_s": {"value": 10000}, "most_sequences": {"value": 4}}, "fit": {"error": {"ttft": {"p50": 0.05, "p99": 0.5}}}}
END
# 10 a second, 30 a second, nothing, 1 a second: each for 20 s.
python3 - >trace.csv <<'END'
print("TIMESTAMP,ContextTokens,GeneratedTokens")
for begin, rate in ((0, 10), (20, 30), (60, 1)):
    for i in range(20 * rate):
        t = begin + i / rate
        print("2026-01-01 00:%02d:%010.7f,100,20" % (t // 60, t % 60))
END
plan() { run make -s -f "$SHARE/plan.mk" TWIN=server.json DATA=trace.csv SOURCE=azure SLO=p90:ttft=100ms,p90:e2e=2s EVERY=20 "$@"; }
mkdir counted
cat >counted/ipf-fire <<END
#!/bin/sh
echo "\$@" | sed -E 's/.*--replicas ([0-9]+).*window-([0-9]+).*/\\2 \\1/' >>fired
exec "$BIN/ipf-fire" "\$@"
END
chmod +x counted/ipf-fire
PATH="$PWD/counted:$PATH" plan PRICE=3600
status_is 0 "make plan ends with 0"
is "$(sort fired | uniq -d)" "" "no number of replicas is predicted twice for a window"
is "$(jq -c '[.windows[] | [.from_s, .requests_per_s, .replicas, .cost]]' plan/plan.json)" '[[0,10,1,20],[20,30,2,40],[40,0,0,0],[60,1,1,20]]' \
	"plan.json has the least number for every window, and its cost"
is "$(jq -c '[.predicted, .twin, .peak, .cost, .cost_fixed]' plan/plan.json)" '[true,"server.json",2,80,160]' "plan.json has the cost of all windows, and of the peak all the time"
is "$(tail -n +2 plan/plan.csv | cut -d, -f1-3 | tr '\n' ' ')" "0,10,1 20,30,2 40,0,0 60,1,1 " "plan.csv has the replicas"
is "$(cat plan/plan.txt)" "$(cat "$OUT")" "make plan shows plan.txt"
is "$(awk '$1 == 20 { print $2, $3 }' plan/plan.txt)" "30.00 2" "plan.txt has the figures of plan.json"
contains "$(cat plan/plan.txt)" "PREDICTED by server.json" "plan.txt says that it is predicted"
matches "$(cat plan/plan.txt)" '^  predicted +by server.json, ' "plan.txt has the error of the twin"
is "$(jq -c '.extrapolated' plan/plan.json)" "$(ipf-report export json -q plan/plan.results.zst | jq -c '.run.predicted.extrapolated // []')" "plan.json has what exceeds the runs of the twin, as the report does"
is "$(grep -c 'beyond here the prediction is a guess' plan/plan.txt)" "$(jq '.extrapolated | length' plan/plan.json)" "plan.txt names every extrapolation"
contains "$(cat plan/plan.html)" PREDICTED "plan.html says that it is predicted"
is "$(zstd -dcq plan/plan.results.zst | head -1 | jq -c '[.name, (.from[0].from[0].stages | map(.name))]')" '["plan",["from-0s","from-20s","rest","from-60s"]]' "a stage for each window"
is "$(zstd -dcq plan/plan.results.zst | head -1 | jq -c '[.predicted.replicas[][1]]')" '[1,2,2,1]' "stages of the one run have their planned replicas"
is "$(jq -c '[.one_run.windows, .one_run.met]' plan/plan.json) $(grep -c '3 of 3 with requests meet the objectives: plan.html' plan/plan.txt)" '[3,3] 1' "windows of the one run all meet the objectives"
is "$(jq -c '[.windows[] | .replicas_low <= .replicas and .replicas <= .replicas_high] | all' plan/plan.json)" true "the twin's error makes an interval of each"
is "$(find plan -name 'part.*')" "" "make plan leaves no part of a file"
plan PRICE=3600
is "$status $(grep -c window "$ERR")" "0 0" "make plan has nothing to do the second time"

plan OUT=twice TRAFFIC=2
is "$(jq -c '[.windows[].replicas]' twice/plan.json)" '[2,4,0,1]' "twice the traffic needs twice as many"
plan OUT=long OUTPUT=2
is "$(jq -c '[.output, .input, .cache, .windows[].replicas]' long/plan.json)" '[2,1,1,2,4,0,1]' "answers twice as long need twice as many"
contains "$(cat long/plan.txt)" "traffic times 1, answers times 2" "plan.txt has the factors of traffic and answers"
contains "$(cat long/plan.html)" "output_tokens=x2" "plan.html has the factor of answers"

# ---- the variants ----
# A KV cache of 24 blocks holds three requests of 120 tokens.
jq '.parameters.kv_blocks.value = 24' server.json >tight.json
plan OUT=if TWIN=tight.json PRICE=2 what-if
status_is 0 "make what-if ends with 0"
is "$(jq -c '[.cases[].case]' if/what-if.json)" '["as it is","traffic times 2","prompts times 2","KV cache times 0.5","KV cache times 2"]' "what-if.json has the cases"
is "$(jq -c '[.cases[] | .peak_low <= .peak and .peak <= .peak_high and .replica_hours_low <= .replica_hours and .replica_hours <= .replica_hours_high] | all' if/what-if.json)" \
	true "cases of what-if have the interval of the twin's error"
is "$(jq -c '[.cases[].peak] | [.[1] > .[0], .[2] > .[0], .[3] > .[0], .[4] <= .[0]]' if/what-if.json)" '[true,true,true,true]' "more load and less cache need more, more cache needs no more"
is "$(jq -c '.cases[0] | [.peak, .replica_hours, .cost]' if/what-if.json)" "$(jq -c '[.peak, .replica_hours, .cost]' if/plan.json)" "the first is the plan"
for one in traffic-2:1:traffic:2 input-2:2:input:2 cache-0.5:3:cache:0.5 cache-2:4:cache:2; do
	IFS=: read -r folder case key value <<<"$one"
	is "$(jq -c --argjson case "$case" '.cases[$case] | [.peak, .replica_hours, .cost]' if/what-if.json) $(jq ".$key" "if/what-if/$folder/plan.json")" \
		"$(jq -c '[.peak, .replica_hours, .cost]' "if/what-if/$folder/plan.json") $value" "$folder has a plan with the same sums"
done
is "$(jq -r '.cases[] | [.case, .peak, .peak_low, .peak_high, .replica_hours, .replica_hours_low, .replica_hours_high, .cost, .cost_low, .cost_high] | map(tostring) | join(",")' if/what-if.json)" \
	"$(tail -n +2 if/what-if.csv)" "what-if.csv has the sums"
contains "$(cat "$OUT")" "$(cat if/what-if.txt)" "make what-if shows what-if.txt"
is "$(awk 'length > 80' if/what-if.txt)" "" "what-if.txt fits into 80 columns"
is "$(find if -name 'part.*')" "" "make what-if leaves no part of a file"
plan OUT=if TWIN=tight.json PRICE=2 what-if
is "$status $(grep -c "what if" "$ERR")" "0 0" "make what-if has nothing to do the second time"
plan OUT=vague MOST=1 what-if
is "$(jq -c '[.cases[].peak]' vague/what-if.json)" '[null,null,null,null,null]' "unknown cases of what-if have no number"
contains "$(cat vague/what-if.txt)" "?: more than 1 replicas (MOST=), or the twin does not know the size of the KV cache." "what-if.txt says why a number is unknown"

plan OUT=few MOST=1
status_is 0 "make plan ends with 0 if MOST is too low"
is "$(jq -c '[.windows[].replicas]' few/plan.json)" '[1,null,0,1]' "make plan makes up no number if MOST is too low"
contains "$(cat few/plan.txt)" "More than 1 replicas are needed, or no number of them meets the objectives" "plan.txt says that MOST is too low"

plan OUT=bad SLO=ttft=1s
status_is 2 "an objective without a percentile"
contains "$(cat "$ERR")" 'plan.mk: SLO: expected objectives on percentiles, such as p99:ttft=2s, got "ttft=1s"' "make plan refuses an objective without a percentile"
plan OUT=bad CACHE=2
status_is 2 "a cache of which the twin knows nothing"
contains "$(cat "$ERR")" "--assume: kv_blocks: the twin does not know it" "ipf-twin says that kv_blocks is unknown"
plan OUT=bad INPUT=uniform:1-2
contains "$(cat "$ERR")" 'plan.mk: INPUT: expected a number above 0, got "uniform:1-2"' "INPUT is a factor here"
plan OUT=bad EVERY=1h
status_is 2 "EVERY with a unit ends with 2"
contains "$(cat "$ERR")" 'plan.mk: EVERY: expected a number above 0, got "1h"' "make plan names EVERY"
run make -s -f "$SHARE/plan.mk" DATA=trace.csv
contains "$(cat "$ERR")" "TWIN is missing" "a twin is needed"
