#!/bin/bash
# A run whose stages differ in load has one verdict on its objectives, the same everywhere: in text, page and Markdown, in JSON, in JUnit, in the message
# of --strict, in a saved report. It is computed from the rows a second time here. Nothing of it is made of all stages together.
. "$TESTS/tap.sh"
report=$BIN/ipf-report
made() { python3 "$TESTS/helpers/queue_results.py" "$@"; }
line() { sed -n '/^  objectives  /,/^[^ ]*$/p' "$1" | tr -s ' \n' ' ' | sed 's/ By load.*//; s/^ objectives //; s/ $//'; }

made 20:30 rest:1 40:15 rest:1 80:10 rest:1 95:10 rest:1 110:10 rest:1 130:10 >sweep.results
slo=p99:ttft=100ms
"$report" --slo $slo sweep.results >text
"$report" -f json --slo $slo sweep.results >json
"$report" -f md --slo $slo sweep.results >md
"$report" -f html --slo $slo sweep.results >html
matches "$(line text)" '^met up to [0-9.]*/s in poisson-4, [0-9.]* % below the capacity; first missed at [0-9.]*/s in poisson-6; on a straight line between them until [0-9.]*/s$' "the text has one line on the objectives"
contains "$(cat md)" "- objectives: $(line text)" "Markdown has the line on the objectives"
contains "$(cat html)" "<dt>objectives</dt><dd>$(line text)</dd>" "the page has the line on the objectives"
contains "$(cat html)" "<span class=\"more\">$(line text)</span>" "the tile has the line on the objectives"
run "$report" --strict --slo $slo sweep.results
status_is 4 "--strict: a load missed them"
complains ipf-report "objectives: $(line text) (--strict)" "--strict fails with the line on the objectives"
run "$report" --strict json
status_is 4 "a saved report is judged like its results"
complains ipf-report "objectives: $(line text) (--strict)" "--strict of a saved report fails with the line on the objectives"
run "$report" --strict --slo p99:ttft=1h sweep.results
status_is 0 "--strict: all loads meet them"
contains "$("$report" --slo p99:ttft=1h sweep.results | tr -s ' \n' ' ')" "in poisson-10, the highest rate" "the text names the highest rate that met the objectives"

# From the rows: the percentile of each stage by its due time, and where a straight line crosses the limit.
cat >again.py <<'END'
import json, math, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
limit, p = float(sys.argv[2]), float(sys.argv[3])
stages, needed = lines[0]["stages"], math.ceil(math.log(0.01) / math.log(p / 100))
loads = []
for i, stage in enumerate(stages):
    values = sorted(math.inf if not row["ok"] else (row["ttft_ns"] + row["lag_ns"]) / 1e6 for row in lines[1:-1] if row.get("stage") == i)
    if not stage["measured"] or not values: continue
    at = p / 100 * (len(values) - 1)
    low, part = int(at), at - int(at)
    value = values[low] if part == 0 else values[low] + (values[low + 1] - values[low]) * part if values[low + 1] < math.inf else math.inf
    beyond, q = sum(v > limit for v in values), 1 - p / 100
    chance = 1 - sum(math.comb(len(values), k) * q ** k * (1 - q) ** (len(values) - k) for k in range(beyond))
    state = ("met" if value <= limit else "missed") if len(values) >= needed else "missed" if value > limit and chance < 0.01 else "too few requests"
    loads.append((len(values) * 1e9 / (stage["end_ns"] - stage["begin_ns"]), stage["name"], state, value))
loads.sort()
first = next((load for load in loads if load[2] == "missed"), None)
met = [load for load in loads if load[2] == "met" and (not first or load[0] < first[0])]
between = None
if met and first and first[3] < math.inf: between = met[-1][0] + (first[0] - met[-1][0]) * (limit - met[-1][3]) / (first[3] - met[-1][3])
print(json.dumps([met[-1][1] if met else None, first and first[1], between and round(between, 3), [load[2] for load in loads]]))
END
seeds=$([ -n "$IPF_LONG" ] && echo 20 || echo 4)
different=
for seed in $(seq "$seeds"); do
	case $((seed % 4)) in
	0) stages="20:3 40:3 80:3 110:3 130:3" fail=0 ;; # too few
	1) stages="30:20 60:10 80:10 120:8" fail=0 ;;
	2) stages="30:20 60:10 80:10 120:8" fail=0.02 ;; # failures miss p99
	3) stages="120:8 30:20 90:8 95:8 60:10" fail=0 ;; # not in the order of the load
	esac
	# shellcheck disable=SC2086 # several stages
	made --spread --seed "$seed" --fail $fail $stages >some.results
	for p in 90 99; do
		for limit in 1 30 120 400 5000; do
			"$report" -q -f json --slo p$p:ttft=${limit}ms some.results |
				jq -c '.objectives | [.met.stage, .missed.stage, (.between | if . then . * 1000 | round / 1000 else . end), (.loads | map(.state))]' >ours
			python3 again.py some.results $limit $p | jq -c . >theirs
			cmp -s ours theirs || different+="seed $seed p$p $limit ms: $(cat ours) $(cat theirs); "
		done
	done
done
is "$different" "" "the verdict of random sweeps, computed again"

# Nothing is judged over all stages together.
is "$(jq -c '[.total.goodput.objectives[] | has("met")]' json)" '[false]' "the total is not judged"
is "$(jq -c '[.stages[] | select(.measured) | .goodput.objectives[0] | .met] == [.objectives.loads[].state == "met"]' json)" true "stages are judged as loads"
"$report" -f junit --slo $slo sweep.results >junit
is "$(grep -c 'ipf.objectives.total' junit)" 0 "JUnit has no case of all stages"
is "$(grep -c 'ipf.objectives.stage' junit)" 6 "JUnit has a case of each stage"
is "$(grep -c 'missed' text)" 4 "text says missed in the line, and of three loads"
is "$(grep -o 'class="more">[^<]*' html | sed 's/.*>//' | head -4 | sed 's/.*; //' | sort -u | tr '\n' '|')" "none failed, in all stages|poisson-4|" "tiles are of the highest load that met them"
is "$("$report" -f html sweep.results | grep -o 'class="more">[^<]*' | sed 's/.*; //' | sed -n 2p)" "poisson-6" "tiles without objectives are of the highest load that was completed"
made 40:10 >one.results
is "$("$report" -f html one.results | grep -o 'class="more">[^<]*' | sed -n 2p)" 'class="more">39.7 offered' "tiles of one load are of the run"
is "$("$report" -f json --slo $slo one.results | jq -c '[.objectives, .total.goodput.objectives[0].met]')" '[null,true]' "a run of one load is judged as a whole"

# Loads that cannot be judged do not count as missed.
made --service 3 --servers 100 10:4 20:4 30:4 >short.results
is "$("$report" --slo p90:ttft=1ms short.results >short; line short)" "3 rates not judged (poisson-0: the stage is too short for its latencies)" "stages that are too short"
is "$("$report" -f json --slo p90:ttft=1ms short.results | jq -c '.objectives | [.met, .missed, (.loads | map(.state))]')" '[null,null,[null,null,null]]' "JSON does not judge stages that are too short"
run "$report" --strict --slo p90:ttft=1ms short.results
status_is 4 "--strict: no load could be judged"
made 20:1 40:1 80:10 95:10 110:10 >few.results
"$report" --slo $slo few.results >few
matches "$(line few)" 'met up to [0-9.]*/s in poisson-2, .*; 2 rates not judged \(poisson-0: [0-9]* requests, and p99 needs 459\)$' "loads with too few requests"
made --fail 0.5 20:2 40:2 80:2 >failed.results
"$report" --slo p50:ttft=1h,p99:ttft=1h failed.results >failed
matches "$(line failed)" '^missed at the lowest rate, [0-9.]*/s in poisson-0$' "failures miss a p99, also few of them"

# Ramps, closed loops, repeats with their own users, several objectives.
made 10-150:100 >ramp.results
"$report" --slo p99:ttft=100ms ramp.results >ramp
matches "$(line ramp)" '^met up to [0-9.]*/s in ramp-0, [0-9.]* s after its beginning, ' "a ramp is judged in pieces"
is "$("$report" -f json --slo p99:ttft=100ms ramp.results | jq -c '[.stages[0].goodput.objectives[0].met, .total.goodput.objectives[0].met]')" '[null,null]' "never as a whole"
made closed=4:20 closed=8:10 closed=16:10 closed=32:10 >loops.results
"$report" --slo p99:e2e=250ms loops.results >loops
matches "$(line loops)" '^met up to 16 users, [0-9.]*/s in closed-2, [0-9.]* % below the capacity; first missed at 32 users, [0-9.]*/s in closed-3; on a straight line between them until [0-9.]* users$' "closed loops by their users"
is "$(grep -A3 '^By load' loops | head -2 | tail -1 | awk '{ print $1 }')" users "the table of closed loops has users"

# ---- plots ----
"$report" plot --plot-format svg --slo p99:ttft=100ms,e2e=300ms plots sweep.results 2>/dev/null
for plot in rate-ttft cdf-ttft heat-ttft; do matches "$(cat plots/$plot.gp)" '^set arrow 60 from .*100.* nohead' "$plot has a line at the objective"; done
for plot in rate-e2e cdf-e2e heat-e2e; do matches "$(cat plots/$plot.gp)" '^set arrow 60 from .*300.* nohead' "$plot has one"; done
is "$(grep -l '^set arrow 60' plots/*.gp | wc -l)" 6 "other plots have no line at the objective"
is "$(grep -L "^set label 3 .*127.0.0.1:8000" plots/*.gp)" "" "plots name the server"
contains "$(cat html)" '<p class="when">http://127.0.0.1:8000' "the page names it, too"

# ---- rests are no loads ----
is "$(sed -n '/^Stages/,/^$/p' text | grep -c rest)" 0 "rests are not shown as stages with rates"
is "$(sed -n '/^Stages/,/^$/p' text | grep -c 'brackets')" 0 "stages without rests mention no brackets"
head -1 sweep.results | jq -c '(.. | .stages? // empty) |= map(if .name == "rest-1" then .name = "chat primer" | .kind = "closed" else . end)' >header
sed -e 1d -e '$d' sweep.results >body
seal header body >primer.results
"$report" primer.results >primer
is "$(sed -n '/^Stages/,/^$/p' primer | grep -c primer)" 0 "primers are not shown as stages"
is "$(jq -c '[.stages[] | .kind] | index("rest") != null' json)" true "JSON has the rests"

# ---- windows too short for their latencies ----
is "$(tr -s ' \n' ' ' <short | grep -o 'ended within the stage\|in flight at its begin' | tr '\n' ' ')" "ended within the stage " "two rates of a stage are explained once"
made --service 1 --servers 100 20:20 40:20 60:20 >long.results
"$report" long.results >long
is "$(grep -c 'in flight at its begin' long)" 0 "rates that agree are not explained"
