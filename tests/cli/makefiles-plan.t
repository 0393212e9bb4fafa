#!/bin/bash
# plan.mk: how many servers a recorded trace needs in each window, by a twin of one of them; in virtual time, so that every machine has the
# same answer.
. "$TESTS/tap.sh"
SHARE=$(cd "$TESTS/../share/ipf" && pwd)
PATH=$BIN:$PATH
export PATH XDG_RUNTIME_DIR=$PWD
unset MAKEFLAGS MAKELEVEL MODEL DATA V
mkdir "a folder"
cd "a folder" || exit

# Batches of 4 steps of 10 ms: 100 tokens of prompt and 20 of answer take 10 + 20 * 10 / 4 ms, so that one server can do 16.7 a second.
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
plan() { run make -f "$SHARE/plan.mk" TWIN=server.json DATA=trace.csv SOURCE=azure SLO=p90:ttft=100ms,p90:e2e=2s EVERY=20 "$@"; }
plan PRICE=3600
status_is 0 "a plan"
is "$(jq -c '[.windows[] | [.from_s, .requests_per_s, .replicas, .cost]]' plan/plan.json)" '[[0,10,1,20],[20,30,2,40],[40,0,0,0],[60,1,1,20]]' \
	"has the least number for each window, and what it costs"
is "$(jq -c '[.predicted, .twin, .peak, .cost, .cost_fixed]' plan/plan.json)" '[true,"server.json",2,80,160]' "and for all, beside the most of them all the time"
is "$(tail -n +2 plan/plan.csv | cut -d, -f1-3 | tr '\n' ' ')" "0,10,1 20,30,2 40,0,0 60,1,1 " "as CSV, too"
is "$(cat plan/plan.txt)" "$(cat "$OUT")" "and as text, which is shown"
is "$(awk '$1 == 20 { print $2, $3 }' plan/plan.txt)" "30.00 2" "with the same figures"
contains "$(cat plan/plan.txt)" "PREDICTED by server.json" "and says that it is predicted"
contains "$(cat plan/busiest.html)" PREDICTED "the busiest window has a page, which says it as well"
is "$(jq -c '[.windows[] | .replicas_low <= .replicas and .replicas <= .replicas_high] | all' plan/plan.json)" true "the twin's error makes an interval of each"
is "$(find plan -name 'part.*')" "" "nothing is left over"
plan PRICE=3600
is "$status $(grep -c window "$ERR")" "0 0" "then there is nothing to do"

plan OUT=twice TRAFFIC=2
is "$(jq -c '[.windows[].replicas]' twice/plan.json)" '[2,4,0,1]' "twice the traffic needs twice as many"
plan OUT=few MOST=1
status_is 0 "where the most are too few"
is "$(jq -c '[.windows[].replicas]' few/plan.json)" '[1,null,0,1]' "no number is made up"
contains "$(cat few/plan.txt)" "More than 1 replicas are needed, or no number of them meets the objectives" "it is said"

plan OUT=bad SLO=ttft=1s
status_is 2 "an objective without a percentile"
contains "$(cat "$ERR")" 'plan.mk: SLO: expected objectives on percentiles, such as p99:ttft=2s, got "ttft=1s"' "is refused"
plan OUT=bad EVERY=1h
status_is 2 "so is a time with a unit"
contains "$(cat "$ERR")" 'plan.mk: EVERY: expected a number above 0, got "1h"' "by its name"
run make -f "$SHARE/plan.mk" DATA=trace.csv
contains "$(cat "$ERR")" "TWIN is missing" "a twin is needed"
