#!/bin/bash
# --by session, time=TIME and input-tokens=COUNT, against a script that groups the rows again.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
export IPF_REPORT_FULL=1 # all sections of the text
report=$BIN/ipf-report
python3 "$TESTS/helpers/queue_results.py" --fail 0.03 --spread 40:10 rest:2 90:10 >made.results
head -1 made.results >header
sed -e 1d -e '$d' made.results | jq -c '.input_tokens = (.n * 7919 % 37) * 10 | .session = "s\(.n % 60)"' >body
seal header body >run.results

cat >groups.py <<'END'
import json
import math
import sys

rows = [json.loads(line) for line in open("run.results")][1:-1]
kind, value = sys.argv[1], float(sys.argv[2])
tokens = sorted(row["input_tokens"] for row in rows)
edges = [tokens[len(tokens) * k // int(value)] for k in range(1, int(value))] if kind == "input_tokens" else []
groups = {}
for row in rows:
    if kind == "time":
        key = "%g s" % (row["due_ns"] // (value * 1e9) * value)
    elif kind == "session":
        key = row["session"]
    else:
        key = sum(edge <= row["input_tokens"] for edge in sorted(set(edges)))
    groups.setdefault(key, []).append(row)
answer = {}
for key, own in groups.items():
    if kind == "input_tokens":
        own_tokens = [row["input_tokens"] for row in own]
        key = "%d-%d" % (min(own_tokens), max(own_tokens))
    good = sum(row["ok"] and row["e2e_ns"] + row["lag_ns"] <= 200e6 for row in own)
    times = sorted(row["e2e_ns"] for row in own if row["ok"])
    rank = 0.9 * (len(times) - 1)
    p90 = times[math.floor(rank)] + (rank % 1) * (times[math.ceil(rank)] - times[math.floor(rank)])
    answer[key] = [sum(row["ok"] for row in own), sum(not row["ok"] for row in own), good, round(p90 / 1e6, 3)]
print(json.dumps(answer, sort_keys=True))
END
for by in time:3 session:0 input_tokens:5; do
	kind=${by%:*} value=${by#*:}
	case $kind in
	time) option=time=3s ;;
	session) option=session ;;
	*) option=input-tokens=5 ;;
	esac
	"$report" -f json --slo e2e=200ms --by $option run.results >"$kind.json"
	jq -cS ".total.by_$kind | map_values([.requests.ok, .requests.failed, .goodput.good, (.latency.e2e_ms.from_start.p90 * 1000 | round / 1000)])" "$kind.json" >ours
	python3 groups.py "$kind" "$value" | jq -cS . >theirs
	same ours theirs "--by $option: counts, goodput and p90 of each group"
	"$report" --slo e2e=200ms --by $option run.results >"$kind.txt"
	is "$(sed -E 's/…|▁|▂|▃|▄|▅|▆|▇|█/./g' "$kind.txt" | awk '{ gsub(/[^ -~]/, "?") } length > 80')" "" "groups by $option fit into 80 columns"
	is "$("$report" -f csv --by $option run.results | tr -d '\r' | head -1 | cut -d , -f 1,2)" "stage,$kind" "a column in CSV"
	is "$("$report" -f csv --by $option run.results | tr -d '\r' | grep -c '^total,[^,]')" "$(jq length theirs)" "CSV has a row for each group of $option"
done
is "$(jq -c '[.total.by_input_tokens[] | .requests | .ok + .failed] | (max - min) < 0.15 * add' input_tokens.json)" true "bins have about equal counts"
is "$(jq -c '[.total.by_time | to_entries[] | select(.value.rate.offered != null) | .key] | length' time.json)" "$(jq '.total.by_time | length' time.json)" "every window has its offered rate"
between "$(jq '.total.by_time["3 s"].rate.offered' time.json)" 25 55 "the offered rate of the last window is over its own length"
is "$(jq -c '[.total.by_time[].in_flight.mean] | unique' time.json)" '[null]' "windows by due time have nothing in flight"
matches "$(cat session.txt)" '^  the first 40 of 60; the JSON report has all$' "text shows some sessions, and says how many there are"
is "$("$report" -f json run.results | jq -c '[.. | objects | select(has("by_session") or has("by_time"))]')" "[]" "JSON has no groups unless asked"
for wrong in time=0 time=x time=1us input-tokens=1 input-tokens=x input-tokens=2000 replicas; do
	run "$report" --by "$wrong" run.results
	status_is 2 "--by $wrong is refused"
	is "$(wc -l <"$ERR" | tr -d ' ')" 1 "--by $wrong is refused in one line"
done
# A million groups are not held in memory, and are counted.
jq -c '.session = "each-\(.n)"' body >many
jq -c '.stages |= [range(60) as $i | .[0] | .name = "s\($i)"]' header >stages
seal stages many >many.results
"$report" -f json --by session many.results 2>/dev/null | jq -c '.total | [(.by_session | length) + .groups_left_out, .groups_left_out > 0]' >left_out
is "$(cat left_out)" "[$(wc -l <body | tr -d ' '),true]" "groups beyond a limit are left out and counted"
