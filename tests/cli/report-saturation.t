#!/bin/bash
# The capacity a sweep or a ramp shows, against servers whose capacity is known: made-up ones with 20 seeds or 2 (IPF_LONG=1: 20), and one in virtual time
# with 20.
. "$TESTS/tap.sh"
export IPF_REPORT_FULL=1 # all sections of the text
report=$BIN/ipf-report
made() { python3 "$TESTS/helpers/queue_results.py" "$@"; }
answer='.saturation | [.status, .requests_per_s, .ci95[0], .ci95[1], .points_below, .points_above] | @tsv'

# ---- made-up servers: ten requests at a time, 0.1 s each ----
sweep="20:10 40:10 60:10 80:10 95:10 110:10 130:10"
few=$([ -n "$IPF_LONG" ] && echo 20 || echo 2)
held() { # SEEDS ARGUMENTS: how many are saturated within 5 % of 100/s
	for seed in $(seq "$1"); do
		made --seed "$seed" "${@:2}" | "$report" -f json | jq -r "$answer"
	done | awk -F '\t' '$1 == "saturated" && $2 >= 95 && $2 <= 105' | wc -l
}
# shellcheck disable=SC2086 # several stages
between "$(held 20 ${sweep//:10/:5})" 19 20 "a sweep without rests: the capacity within 5 % in 19 of 20 seeds"
between "$(held "$few" --refuse 20 20:10 rest:1 50:10 rest:1 80:10 rest:1 120:10 rest:1 160:10)" $((few * 19 / 20)) "$few" "a server that refuses what it cannot serve"
between "$(held "$few" 10-150:100)" $((few * 19 / 20)) "$few" "a ramp shows the capacity within 5 %"
none() { # ARGUMENTS: how many of the seeds are not saturated
	for seed in $(seq "$few"); do
		made --seed "$seed" "$@" | "$report" -f json | jq -r "$answer"
	done | grep -c '^not saturated'
}
is "$(none 20:10 40:10 60:10 80:10)" "$few" "a sweep that does not reach it says so for each seed"
is "$(none --spread 10-80:60)" "$few" "a ramp that does not reach the capacity says so for each seed"

made --spread --seed 2 40:1 60:1 110:1 | "$report" | tr -s ' \n' ' ' >short.txt
contains "$(cat short.txt)" 'not saturated: of 111 requests/s offered, 95.0/s were completed, by chance as far as stages this short can tell' \
	"a loss by chance is no saturation"

# A server still busy with earlier stages has not broken down: the completions in a window are its throughput.
made 50:10 250:10 rest:2 200:10 300:10 >busy.results
"$report" -f json busy.results >busy.json
is "$(jq -c '[.stages[] | .rate.completed * .window_s + 0.5 | floor]' busy.json)" "$(jq -sc '[.[] | select(.n != null and .ok) | .end_ns / 1000000000] as $ends
	| [[0, 10], [10, 20], [20, 22], [22, 32], [32, 42]] | map(. as $w | [$ends[] | select(. >= $w[0] and . < $w[1])] | length)' busy.results)" "completed is what ended in the window"
between "$(jq '[.stages[1:][].rate.completed] | min' busy.json)" 98 102 "a server with a backlog completes as much as it can"
is "$(jq -c '.stages[4] | [.rate.completed_own, .throughput.output_tokens_per_s / .rate.completed]' busy.json)" "[0,10]" "requests completed with a backlog are of earlier stages"
is "$("$report" export csv --curve busy.results | awk -F, 'NR > 1 { printf "%d", ($3 > 40 && $4 > 400) }')" 1111 "the curve has the requests completed with a backlog"
contains "$("$report" busy.results | tr -s ' \n' ' ')" "poisson-3: the server was still busy with requests of earlier stages" "a note names the stage with a backlog"
made --seed 2 --t0 1795156240123000000 50:10 250:10 rest:2 200:10 300:10 >later.results
"$report" -q -f json busy.results later.results >both.json
"$report" -f json later.results >later.json
is "$(jq -c '.repeats.figures[] | select(.name == "requests") | .of_runs | map(. * 100 | round)' both.json)" \
	"$(jq -sc 'map(.total.rate.completed * 100 | round)' busy.json later.json)" "repeats count the same"
is "$("$report" compare -f json busy.results -- later.results | jq -c '.figures[] | select(.name == "requests") | [.base, .new] | map(. * 100 + 0.001 | round)')" \
	"$(jq -sc 'map(.total.rate.completed * 100 + 0.001 | round)' busy.json later.json)" "comparisons count completed requests like reports"

# The highest load is told with the figures the table has of that stage.
for ((seed = 1; seed <= 4; seed++)); do
	made --spread --seed $seed 20:4 30:4 50:4 70:4 40:4 >some.results
	"$report" some.results >some.txt
	stage=$("$report" -f json some.results | jq -r '.saturation | select(.highest.offered == ([.points[].offered] | max)) | .highest.stage')
	sed -n "/^Stages/,/^\$/s/^  $stage  *\([0-9.]*\)  *\([0-9.]*\) .*/\1 \2/p" some.txt | head -1 >wanted
	sed -n 's/^  capacity    not saturated: of \([0-9.]*\) requests\/s offered, \([0-9.]*\)\/s were .*/\1 \2/p' some.txt >told
	matches "$(cat told)" "^[0-9]" "seed $seed: the text says that the server is not saturated"
	is "$(cat told)" "$(cat wanted)" "seed $seed: the highest load as in the table"
done

why() { # ARGUMENTS: status and reason
	made "$@" | "$report" -f json | jq -r '.saturation | "\(.status): \(.reason)"'
}
is "$(why 20:10 200:10)" "not known: 2 usable rates, and 3 are needed" "two rates are not enough"
is "$(why 150-10:60)" "not known: 0 usable rates, and 3 are needed: 1 left out: the ramp falls" "a ramp must rise"
contains "$(why --fail 0.3 20:10 50:10 80:10 120:10 160:10)" "not known: completions do not follow the offered rate" "failures at every rate are no capacity"
contains "$(why --service 8 --servers 2000 20:10 40:10 60:10 80:10)" "the stage is too short for its latencies" "latencies as long as the stage"
is "$(why 50:10)" "null: null" "one rate is no curve"
made 20:10 40:10 | "$report" >two.txt
matches "$(cat two.txt)" '^  capacity    unknown: 2 usable rates, and 3 are needed$' "text says that two rates are too few"
made 50:10 | "$report" >one.txt
is "$(grep -c '^Saturation' one.txt)" 0 "text says nothing of one rate"

# ---- closed loops: the same server, whose slots ten users fill ----
loops="closed=2:10 closed=5:10 closed=8:10 closed=16:10 closed=32:10"
# shellcheck disable=SC2086
between "$(held "$few" --spread $loops)" $((few * 19 / 20)) "$few" "closed loops: the capacity within 5 %"
is "$(none --spread closed=2:5 closed=5:5 closed=8:5)" "$few" "users that do not reach it"
# shellcheck disable=SC2086
made $loops >loops.results
run "$report" --slo e2e=250ms loops.results
matches "$(cat "$OUT")" '^  capacity    (99\.[0-9]|100) requests/s \((9[0-9.]*|100) to 10[0-9.]*\)$' "closed loops in text"
matches "$(cat "$OUT")" '^              from (9\.9[0-9]|10\.0) users on \([0-9.]* to [0-9.]*\)$' "the users that fill the server's slots"
matches "$(cat "$OUT")" '^              first exceeded by [0-9]+ users, [0-9.]+/s in closed-3$' "the first stage with more"
matches "$(cat "$OUT")" '^  objectives  met up to 16 users, [0-9.]*/s in closed-3' "the most users within the objectives"
"$report" -f json --slo e2e=250ms loops.results >loops.json
is "$(jq -c '.objectives as $o | .saturation | [.status, .highest_users, (.points | map(.users)), $o.met.users, .exceeded_by.users, .falls_beyond, .slope_beyond]' loops.json)" \
	'["saturated",32,[2,5,8,16,32],16,16,false,null]' "closed loops in JSON"
is "$("$report" -f csv --curve loops.results | tr -d '\r' | cut -d , -f 18 | tr '\n' ' ')" "users 2 5 8 16 32 " "the curve of closed loops has users"
"$report" -f html -o loops.html --slo e2e=250ms loops.results
contains "$(cat loops.html)" "met up to 16 users" "HTML has the users that met the objectives"
matches "$(made closed=2:5 closed=5:5 closed=8:5 | "$report")" "not saturated: 8 users, the most, complete (79|80)[.0-9]* requests/s" "text says that users did not saturate the server"
matches "$(made --slower 1.5 closed=2:5 closed=5:5 closed=9:5 closed=16:5 closed=20:5 | "$report")" "beyond it the throughput falls: 6[67][.0-9]*/s with 20 users" "more users that complete less"
contains "$(made closed=20:5 closed=30:5 closed=40:5 | "$report")" "the fewest users reach it" "a server that is always full"
is "$(why closed=2:5 closed=20:5)" "not known: 2 usable numbers of users, and 3 are needed" "two numbers of users are not enough"
is "$(why closed=5:5 closed=5:5)" "null: null" "one number of users is no curve"
is "$(made closed=2:5 closed=8:5 20:5 40:5 80:5 | "$report" -f json | jq -c '.saturation.points | map(.users) | unique')" "[null]" "rates are preferred to users"

# Shards: the same results, divided among two clients, say the same. 2, 5, 8, 16 and 32 users are 1, 3, 4, 8 and 16 of the first one.
for k in 1 2; do
	head -1 loops.results | jq -c --argjson k $k '(.. | .stages? // empty) |= map(.all_arrivals = .arrivals | .arrivals = (.arrivals + 2 - $k) / 2 | .arrivals |= floor |
		.slots = ((.slots + 2 - $k) / 2 | floor)) | .from[0].from[0].shard = {index: $k, of: 2}' >header
	sed -e 1d -e '$d' loops.results | jq -c --argjson k $k 'select(.n % 2 == $k - 1)' >body
	seal header body >shard$k.results
done
jq -c '.from[0]' header >second && head -1 shard1.results | jq -c --slurpfile second second '.from += $second' >header
sed -e 1d -e '$d' loops.results >body
seal header body >both.results # as ipf-collect makes it of the records of both
is "$(head -1 shard1.results | jq -c '[.stages[].slots]')$(head -1 shard2.results | jq -c '[.stages[].slots]')" "[1,3,4,8,16][1,2,4,8,16]" "shards of closed loops"
for files in "shard1.results shard2.results" "shard2.results shard1.results" both.results; do
	# shellcheck disable=SC2086 # several files
	"$report" -f json --slo e2e=250ms $files >shards.json
	is "$(jq -c .saturation shards.json)" "$(jq -c .saturation loops.json)" "$files: the saturation of the run that was not divided"
	# shellcheck disable=SC2086
	is "$("$report" -f csv --curve $files | tr -d '\r' | cut -d , -f 18 | tr '\n' ' ')" "users 2 5 8 16 32 " "$files: the curve has all users"
	# shellcheck disable=SC2086
	is "$("$report" export guidellm --reproducible $files | jq -c '[.benchmarks[].config.strategy.streams]')" "[2,5,8,16,32]" "$files: guidellm has all users"
done
mkdir bare # without gnuplot, there are the data
PATH=$PWD/bare "$report" -q --plots plots shard1.results shard2.results -o /dev/null
is "$(grep -v '^#' plots/rate-throughput.tsv | cut -f 1 | xargs)" "2 5 8 16 32" "$files: plots have the users"
is "$("$report" -f json shard1.results | jq -c '.saturation | [.status, .reason]')" '["not known","the load was not delivered: see the verdict"]' \
	"one shard says nothing of the capacity"

# Repeats with other users are points with their users, but no repeats.
for users in 2 5 8 16 32; do
	made "closed=$users:10" | sed "1s/1795156140123000000/$((1795156140 + users * 100))000000000/" >users$users.results
done
run "$report" -f json users2.results users5.results users8.results users16.results users32.results
is "$(jq -c '.saturation | [.status, (.points | map(.users))]' "$OUT")" '["saturated",[2,5,8,16,32]]' "a run for each number of users"
is "$(jq -r '.verdict.checks[0].status' "$OUT")" DOUBTFUL "runs with other users are no repeats of each other" # exact: times that are written
contains "$(jq -r '.verdict.checks[0].detail' "$OUT")" "users5.results has another load than users2.results in stage closed-0: the figures of both together describe neither" \
	"the verdict says that the runs have other loads"
is "$("$report" -f csv --curve users2.results users5.results | tr -d '\r' | cut -d , -f 18 | tr '\n' ' ')" "users  " "the curve of runs with different users has no users"
made closed=2:10 | sed "1s/1795156140123000000/1795156180000000000/" >again.results
is "$("$report" users2.results again.results | grep -c "another load")" 0 "repeats with the same load"
made --seed 2 20:10 | sed "1s/1795156140123000000/1795156180000000000/" >faster.results
made 10:10 | "$report" - faster.results >rates.txt
contains "$(tr -s ' \n' ' ' <rates.txt)" "has another load than" "runs at other rates are no repeats"

# The client waited for slots: its load, not the server, was the limit.
# shellcheck disable=SC2086
made $sweep >run.results
head -1 run.results >header
sed -e 1d -e '$d' run.results | jq -c 'if .stage < 5 then . else .slot_wait_ns = 50000000 end' >body
seal header body >slots.results
is "$("$report" -f json slots.results | jq -c '.saturation | [.status, ([.points[] | select(.left_out)] | length)]')" '["not saturated",2]' \
	"stages whose requests waited for slots are left out"
sed -e 1d -e '$d' run.results | jq -c '.client_lag_ns = 500000000' >body
seal header body >late.results
is "$("$report" -f json --slo e2e=1s late.results | jq -c '[.saturation.status, .objectives.headroom, .saturation.requests_per_s]')" '["not known",null,null]' "a client that was late says nothing of the server"
matches "$("$report" late.results)" '^  capacity    unknown: the load was not delivered: see the verdict$' "a client that was the limit"

# ---- the report ----
run "$report" --slo e2e=250ms run.results
status_is 0 "--slo of a sweep ends with 0"
matches "$(cat "$OUT")" '^  capacity    (99\.[0-9]|100) requests/s \(9[0-9.]* to 10[0-9]\), from 5 rates below and 2 above$' "the capacity, with its interval"
matches "$(cat "$OUT")" '^              first exceeded by [0-9.]+/s in poisson-5$' "the stage that exceeds it"
matches "$(tr -s ' \n' ' ' <"$OUT")" ' objectives met up to [0-9.]*/s in poisson-[34], [0-9.]* % below the capacity; first missed at [0-9.]*/s in poisson-[45]; on a straight line' "the highest rate within the objectives"
is "$(sed -E 's/…|▁|▂|▃|▄|▅|▆|▇|█/./g' "$OUT" | awk '{ gsub(/[^ -~]/, "?") } length > 80')" "" "the text of a sweep fits into 80 columns"
"$report" -f json --slo e2e=250ms run.results >run.json
is "$(jq -c '[.saturation.status, (.saturation.points | length), (.saturation.points | map(.offered) | . == sort), .objectives.all_met,
	(.objectives.headroom > 0), .objectives.met.state, .objectives.missed.state]' run.json)" '["saturated",7,true,false,true,"met","missed"]' "JSON has the saturation and the objectives"
is "$(jq -c '.objectives as $o | [$o.loads[] | select(.offered <= $o.met.offered) | .state] | index("missed")' run.json)" null "no lower rate missed the objectives"
is "$("$report" -f json run.results | jq -c .objectives)" null "JSON without --slo has no objectives"
"$report" -f json --slo e2e=1us run.results | jq -c '.objectives.met' >nothing
is "$(cat nothing)" null "no rate meets impossible objectives"
matches "$("$report" --slo e2e=1us run.results)" '^  objectives  missed at the lowest rate, [0-9.]*/s in poisson-0$' "text says that the lowest rate missed the objectives"
made --slower 1.5 20:10 40:10 55:10 80:10 100:10 120:10 140:10 | "$report" -f json >slower.json
between "$(jq .saturation.requests_per_s slower.json)" 60 80 "a server that is slower with a queue"
# Repeats: each is a point.
made --seed 2 20:10 40:10 60:10 80:10 95:10 110:10 130:10 | sed '1s/1795156140123000000/1795156940123000000/' >again.results
"$report" -q -f json run.results again.results >both.json
is "$(jq -c '.saturation | [.status, .points_below + .points_above]' both.json)" '["saturated",14]' "repeats have their points together"

# ---- the curve ----
"$report" -f csv --curve --slo e2e=250ms run.results >curve.csv
is "$(head -1 curve.csv | tr -d '\r')" "stage,offered_per_s,completed_per_s,output_tokens_per_s,in_flight,failed,ttft_p50_ms,ttft_p90_ms,ttft_p99_ms,tpot_p50_ms,tpot_p90_ms,tpot_p99_ms,e2e_p50_ms,e2e_p90_ms,e2e_p99_ms,goodput_per_s,good_share,users" \
	"the curve's names"
is "$(wc -l <curve.csv | tr -d ' ')" 8 "a row for each measured stage"
is "$(tr -d '\r' <curve.csv | awk -F , 'NR > 1 { printf "%s ", $2 }')" "$(jq -r '.stages[].rate.offered' run.json | tr '\n' ' ')" "the offered rates of the report"
is "$(tr -d '\r' <curve.csv | awk -F , 'NR > 1 { printf "%s ", $14 }')" "$(jq -r '.stages[].latency.e2e_ms.from_due.p90' run.json | tr '\n' ' ')" "the curve has the percentiles of the report"
is "$(tr -d '\r' <curve.csv | awk -F , 'NR > 1 { printf "%s ", $17 }')" "$(jq -r '.stages[].goodput.share' run.json | tr '\n' ' ')" "the curve has the goodput of the report"
"$report" -f csv --curve --percentiles 50 run.results >few.csv
is "$(cut -d , -f 1-15 few.csv | md5sum)" "$(cut -d , -f 1-15 curve.csv | md5sum)" "whatever --percentiles asks for"
run "$report" --curve run.results
status_is 2 "--curve without CSV"
complains ipf-report "--curve requires -f csv" "ipf-report says that --curve requires CSV"

# ---- a server in virtual time: ten requests at a time, ten tokens of 10 ms (tests/long/saturation.t has the simulated server) ----
twin server.twin step_base_ns=10000000 step_per_sequence_ns=0 prefill_tokens_per_s=1000000000 most_sequences=10
answers() { # STAGE…: the answer for each of twenty seeds
	for seed in $(seq 20); do
		"$BIN/ipf-prep" synthetic -q -n 800 --input-tokens 20 --output-tokens 10 --seed "$seed" -o some.trace
		"$BIN/ipf-sched" -q -t some.trace --seed "$seed" "$@" | "$BIN/ipf-twin" predict -q server.twin -t some.trace | "$BIN/ipf-collect" -q |
			"$report" -f json | jq -r "$answer"
	done
}
answers sweep:rates=40,80,130,160,for=1500ms,rest=200ms >said
at_least "$(awk -F '\t' '$1 == "saturated" && $2 >= 95 && $2 <= 105' said | wc -l)" 19 "the capacity of a server in virtual time within 5 %, for 19 of 20 seeds"
answers sweep:rates=20,50,80,for=1500ms,rest=200ms >said
is "$(grep -c '^not saturated' said)" 20 "a server in virtual time is not saturated, for each of 20 seeds"
