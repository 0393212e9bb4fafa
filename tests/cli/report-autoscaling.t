#!/bin/bash
# Reactions to spikes and ramps: when objectives were missed and met again, the requests beyond them, and the replicas; against a server
# whose replicas are known, and a script that judges the windows again.
. "$TESTS/tap.sh"
export IPF_REPORT_FULL=1 # all sections of the text
report=$BIN/ipf-report
made() { python3 "$TESTS/helpers/queue_results.py" "$@"; }
events() { "$report" -f json --slo e2e=500ms "$@" | jq '.autoscaling'; }

# A replica serves 100 requests/s. 150/s are too many for one; two more come 10 s after the spike has begun.
made --replicas 0=1,50=3 20:40 150:40 20:40 >scaled.results
events scaled.results >scaled.json
is "$(jq -c '[.window_s, (.events | length)] + (.events[0] | [.event, .stage, .begin_s, .replicas_before, .replicas_most, .added_after_s])' scaled.json)" \
	'[1,1,"spike","poisson-1",40,1,3,10]' "a spike between two stages, and its replicas"
between "$(jq '.events[0].missed_after_s' scaled.json)" 0 5 "the objectives were missed soon"
between "$(jq '.events[0].met_after_s' scaled.json)" 10 20 "objectives are met after the replicas came"
between "$(jq '.events[0].rate_before' scaled.json)" 15 27 "the rate before"
between "$(jq '.events[0].rate_peak' scaled.json)" 150 190 "the event has the rate at its peak"
between "$(jq '.events[0].replicas_enough' scaled.json)" 2 4 "replicas that would have been enough"
is "$(jq -c '.no_replicas_enough' scaled.json)" null "the number of replicas that would have been enough is known"

# The same, judged again.
cat >judge.py <<'END'
import json

rows = sorted((row for row in map(json.loads, open("scaled.results")) if "n" in row), key=lambda row: row["due_ns"])
rows = [row for row in rows if row["due_ns"] >= 40e9]
missed = [row for row in rows if not row["ok"] or row["e2e_ns"] > 500e6]
def met(second):
    own = [row for row in rows if int(row["due_ns"] // 1e9) == second]
    return not own or sum(row["e2e_ns"] <= 500e6 for row in own) >= 0.99 * len(own)
seconds = range(40, 120)
first = next(s for s in seconds if not met(s))
after = next(row["due_ns"] for row in missed if row["due_ns"] >= first * 1e9) / 1e9 - 40
again = next(s for s in seconds if s > first and met(s) and met(s + 1) and met(s + 2)) - 40
print(json.dumps([len(rows), len(missed), sum(row["output_tokens"] for row in missed), round(after, 6), again]))
END
is "$(jq -c '.events[0] | [.requests, .missed_requests, .missed_output_tokens, .missed_after_s, .met_after_s]' scaled.json)" \
	"$(python3 judge.py | jq -c .)" "a script finds the same times and debt"
is "$("$report" -f json --slo p99:e2e=500ms scaled.results | jq -c '.autoscaling.events[0] | [.missed_requests, .met_after_s]')" \
	"$(jq -c '.events[0] | [.missed_requests, .met_after_s]' scaled.json)" "an objective on p99 of the same time"
run "$report" --slo e2e=500ms scaled.results
matches "$(cat "$OUT")" '^  spike       poisson-1, at 40.0 s: from [0-9.]*/s to 1[0-9]*/s$' "text has the spike"
matches "$(cat "$OUT")" '^              missed the objectives after [0-9.]* s, met them after 1[0-9.]* s$' "text has the times of the spike"
matches "$(cat "$OUT")" '^              time to recover: [0-9.]* s$' "the time to recover"
is "$(jq '.events[0] | (.met_after_s - .missed_after_s - .recovery_s | fabs) < 1e-6' scaled.json)" true "the time to recover is the time between missed and met"
matches "$(cat "$OUT")" "^              SLO debt: [0-9,]* of [0-9,]* requests, with [0-9,]* output tokens$" "text has the debt"
matches "$(cat "$OUT")" '^              replicas: 1 before, at most 3, the first was added after' "text has the replicas"
is "$(sed -E 's/…|▁|▂|▃|▄|▅|▆|▇|█/./g' "$OUT" | awk '{ gsub(/[^ -~]/, "?") } length > 80')" "" "text of the spike fits into 80 columns"

# Spikes of a stage, and a ramp.
made --replicas 0=2 20^150:60 20:20 10-250:60 >both.results
events both.results >both.json
is "$(jq -c '[.events[] | [.event, .stage, .begin_s]]' both.json)" '[["spike","spike-0",40],["ramp","ramp-2",80]]' "a spike at the end of its period, and a ramp"
is "$(jq -c '.events[0] | [.missed_after_s, .met_after_s, .missed_requests]' both.json)" '[null,null,0]' "two replicas meet the objectives at 150/s"
is "$(jq -c '.events[1] | [.missed_after_s > 30, .met_after_s, .added_after_s]' both.json)" '[true,null,null]' "two replicas miss the objectives at 250/s, and none is added"
between "$(jq .rate_per_replica both.json)" 75 110 "the rate of a replica at which they are met"
is "$(jq .events[1].replicas_enough both.json)" 3 "three would have been enough"

# ---- unknown values ----
made 20^150:60 20:20 >bare.results
is "$(events bare.results | jq -r .no_replicas_enough)" "no samples of the replicas (ipf-collect --scrape, --prometheus)" "the report says that samples of replicas are missing"
is "$("$report" -f json bare.results | jq -c '.autoscaling | [.no_replicas_enough, (.events[0] | has("missed_requests"))]')" \
	'["no objectives are given (--slo)",false]' "the report says that objectives are missing"
# one server: a spike, and not a word about replicas, which nobody saw
run "$report" --slo e2e=500ms bare.results
matches "$(cat "$OUT")" '^Spikes  ' "a spike without replicas is called a spike"
is "$(grep -ciE "replica|autoscaling" "$OUT")" 0 "nobody asked for replicas"
run "$report" --section autoscaling --slo e2e=500ms bare.results
contains "$(cat "$OUT")" "the replicas needed are unknown: no samples of the replicas" "asked for, the reason is given"
head -1 both.results >header
sed -e 1d -e '$d' both.results | jq -c 'if .n != null then del(.ttft_ns, .tpot_ns) + { not_streamed: "not-asked" } else . end' >body
seal header body >whole.results
is "$("$report" -f json --slo p95:ttft=1s whole.results | jq -r .autoscaling.no_replicas_enough)" "no request has the figures of the objectives" \
	"objectives that no answer can be judged by"
is "$("$report" -f json both.results | jq -c '[.autoscaling.events[].event]')" '["spike"]' "a ramp without objectives is no event"
made 10:10 40:10 80:10 >sweep.results
is "$(events sweep.results)" null "a sweep has no spikes"
made 80:10 20:10 >falls.results
is "$(events falls.results)" null "a load that only falls has no spike"
sed '1s/1795156140123000000/1795156940123000000/' scaled.results >again.results
is "$("$report" -q -f json --slo e2e=500ms scaled.results again.results 2>/dev/null | jq .autoscaling)" null "repeats have no time in common"
made --fail 1 20:20 60:20 20:20 >failed.results
is "$(events failed.results | jq -c '.events[0] | [.missed_before, .missed_after_s < 1, .missed_requests == .requests, .missed_output_tokens]')" '[true,true,true,0]' \
	"a server that only fails"
