#!/bin/bash
# --price and the energy of accelerators: per token and request, and of the good ones, against a script; and why they are not known.
. "$TESTS/tap.sh"
export IPF_REPORT_FULL=1 # all sections of the text
report=$BIN/ipf-report
python3 "$TESTS/helpers/queue_results.py" --fail 0.1 --spread 50:20 80:20 >made.results
head -1 made.results >header
sed -e 1d -e '$d' made.results >rows
gpu() { # DEVICE SOURCE T: a sample
	printf '{"sample":"gpu","t_ns":%s,"source":"%s","host":"h","device":"%s","index":0,"model":"GPU","power_w":400}\n' "$3" "$2" "$1"
}
entry() { # DEVICE ENERGY VALID: in the trailer
	printf '{"device":"%s","source":"nvml","host":"h","energy_j":%s,"valid":%s,"from_ns":0,"to_ns":40000000000,"reasons":[%s]}' "$1" "$2" "$3" \
		"$([ "$3" = true ] || echo '"gap"')"
}
with_energy() { # FILE ENTRIES: results with two devices
	{ gpu A nvml 1000 && gpu B nvml 1000 && cat rows; } >body
	{ cat header body && trailer body "\"accelerators\":[$2]"; } >"$1"
}
with_energy two.results "$(entry A 16000 true),$(entry B 12000 true)"
with_energy bad.results "$(entry A 16000 true),$(entry B 12000 false)"

cat >cost.py <<'END'
import json

rows = [json.loads(line) for line in open("rows")]
price, seconds, energy = 2.5 * 2 / 3600, 40.0, 28000.0
ended = [row for row in rows if row["ok"] and row["end_ns"] < 40e9]
good = [row for row in ended if row["e2e_ns"] <= 100e6]
ok = [row for row in rows if row["ok"]]
all_good = [row for row in ok if row["e2e_ns"] <= 100e6]
tokens = lambda some: sum(row["output_tokens"] for row in some)
# for ten events, evenly from the first to the last
came = lambda row: sum(row["start_ns"] + row["ttft_ns"] + i * (row["e2e_ns"] - row["ttft_ns"]) / 9 < 40e9 for i in range(10))
arrived = lambda some: sum(came(row) for row in some)
print(json.dumps({
    "per_output_token": price * seconds / arrived(ok), "per_good_output_token": price * seconds / arrived(all_good),
    "per_request": price * seconds / len(ended), "per_good_request": price * seconds / len(good), "power_w": energy / seconds,
    "j_per_output_token": energy / tokens(ok), "j_per_good_output_token": energy / tokens(all_good), "j_per_request": energy / len(ok)}))
END
"$report" -f json --price 'EUR 2.5/gpu/h' --slo e2e=100ms two.results | jq .cost >cost.json
is "$(jq -c '[.currency, .gpus, .per_hour, .energy_j]' cost.json)" '["EUR",2,5,28000]' "two GPUs at 2.50"
python3 cost.py >expected.json
jq -n --slurpfile a cost.json --slurpfile b expected.json '$b[0] | to_entries[] | [.key, ((($a[0][.key] // 0) / .value - 1) | fabs < 1e-9)] | @tsv' -r >compared
is "$(grep -c true compared)" 8 "eight figures, as a script computes them"
is "$(grep -v true compared)" "" "no figure differs from the script"
is "$(jq '.per_million_output_tokens / .per_output_token | round' cost.json)" 1000000 "a million tokens"
run "$report" --price 'EUR 2.5/gpu/h' --slo e2e=100ms two.results
matches "$(cat "$OUT")" '^  price       EUR 5.00 an hour for 2 GPUs; [0-9.]* per million output tokens;' "text has the price"
matches "$(cat "$OUT")" '^  energy      [0-9,.]* J; 700 W; [0-9.]* J per output token;' "text has the energy"
is "$(sed -E 's/…|▁|▂|▃|▄|▅|▆|▇|█/./g' "$OUT" | awk '{ gsub(/[^ -~]/, "?") } length > 80')" "" "the section on cost fits into 80 columns"

# ---- unknown values, and why ----
why() { "$report" -f json "$@" | jq -r '.cost | [.no_price, .no_energy, .no_good] | map(. // "-") | join("; ")'; }
is "$(why --price 5/h two.results)" "-; -; no objectives are given (--slo)" "no request is good without objectives"
is "$(why --price 5/h --slo p95:e2e=1s two.results)" "-; -; no objective for each request is given (--slo ttft=500ms)" "an objective on a percentile makes no request good"
is "$(why --price 5/h --slo e2e=1us two.results)" "-; -; no request met its objectives" "the reason says that no request met its objectives"
is "$(why --price 5/h --slo e2e=1s bad.results)" "-; the energy is not valid: gap; -" "one device without valid energy gives the reason"
is "$(why --price 5/gpu/h --slo e2e=1s made.results)" "the number of GPUs is not known (ipf-collect --gpu); -; -" "a price for each GPU, and none known"
is "$("$report" -f json made.results | jq .cost)" null "results without price and accelerators have no cost"
is "$("$report" made.results | grep -c '^Cost')" 0 "text without price and accelerators has no cost"
matches "$("$report" --price 5/h made.results)" '^  energy      unknown: no accelerators were sampled' "text says what is missing"
is "$("$report" -f json --price 5/h made.results | jq -c '.cost | [.per_hour, .currency, .per_good_output_token]')" '[5,null,null]' "a price of the endpoint has no currency"
# Two sources of one machine, and two shards that sample it, count once.
{ gpu A nvml 1000 && gpu GPU-0 dcgm 1000 && cat rows; } >body
seal header body >twice.results
is "$("$report" -f json --price 2/gpu/h twice.results | jq .cost.gpus)" 1 "a device that two sources report counts once"
# A warm-up is not measured: only the energy of measured stages counts.
jq -c '.stages[0].measured = false | .from[0].from[0].stages[0].measured = false' header >warm
{ gpu A nvml 1000 && cat rows; } >body
{
	cat warm body
	trailer body "\"accelerators\":[$(entry A 16000 true |
		jq -c '.stages = [{"stage":1,"name":"poisson-1","energy_j":9000,"valid":true,"from_ns":20000000000,"to_ns":40000000000}]')]"
} >warm.results
is "$("$report" -f json warm.results | jq -c '.cost | [.energy_j, .power_w]')" '[9000,450]' "the energy of the measured stage"

for wrong in 5 x/h 5/gpu EUR/h 'EUR  5/h' '€ 5/h' 'TOOLONGNAME 5/h' '' -5/h 5/h/gpu; do
	run "$report" --price "$wrong" made.results
	status_is 2 "--price \"$wrong\" is refused"
done
complains ipf-report 'expected a price per hour such as 2.5/h, 2.5/gpu/h or "EUR 2.5/h"' "--price is refused in one line"
