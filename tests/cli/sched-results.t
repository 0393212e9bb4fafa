#!/bin/bash
# Stages coming from earlier results, or from a file: sweep:from=, search:, rates:file=. The runs are made up here, so the
# server's capacity is known.
. "$TESTS/tap.sh"

# results FILE SPEC KIND RATE ROWS…: one stage, with the rows of standard input
results() {
	sed 's/$//' >rows
	{
		printf '{"ipf":"results","version":1,"tool":"test","stages":[{"name":"s","kind":"%s","spec":"x","begin_ns":0,"end_ns":10000000000,"arrivals":%d,"first_n":0,"rate":%s,"measured":true}]}\n' \
			"$2" "$(wc -l <rows)" "$3"
		cat rows
		trailer rows
	} >"$1"
}

# 50 answers a second from 2 s on, asked for 80 a second.
awk 'BEGIN { for (i = 0; i < 800; i++) printf "{\"n\":%d,\"req\":%d,\"stage\":0,\"ok\":true,\"start_ns\":%.0f,\"end_ns\":%.0f}\n", i, i % 300, i * 12.5e6, 2e9 + i * 20e6 }' |
	results saturated.results constant 80.0
run "$BIN/ipf-sched" sweep:from=saturated.results,points=5,upto=1.4,for=60s
status_is 0 "a sweep from results"
is "$(head -1 "$OUT" |
	jq -r '[.stages[].rate | . * 100 | round / 100] | join(" ")')" "5 39.39 47.5 60 70" "rates around what was sustained, denser near it"
is "$(head -1 "$OUT" | jq -r '.from[0].ipf')" results "the header says what it was made of"
is "$(tail -1 "$OUT" | jq -r '.end.from[0].sha256')" "$(sha256sum rows |
	cut -d' ' -f1)" "the trailer has the digest of the results"
matches "$(cat "$ERR")" 'saturated.results: stage s: sustained 50/s, .* \(95 % confidence\)' "ipf-sched says how certain the sustained rate is"
# Closed stages: 5 a second with one user, 50 a second with 40, as many as a server of ten has.
awk 'BEGIN { for (i = 0; i < 100; i++) printf "{\"n\":%d,\"req\":0,\"stage\":0,\"ok\":true,\"start_ns\":%.0f,\"end_ns\":%.0f}\n", i, i * 2e8, (i + 1) * 2e8
	for (i = 100; i < 1100; i++) printf "{\"n\":%d,\"req\":0,\"stage\":1,\"ok\":true,\"start_ns\":%.0f,\"end_ns\":%.0f}\n", i, 2e10 + (i - 140) * 2e7, 2e10 + i * 2e7 }' >rows
{
	printf '{"ipf":"results","version":1,"tool":"test","stages":['
	printf '{"name":"few","kind":"closed","spec":"x","begin_ns":0,"end_ns":20000000000,"arrivals":100,"first_n":0,"slots":1,"closed":true,"measured":true},'
	printf '{"name":"many","kind":"closed","spec":"x","begin_ns":20000000000,"end_ns":40000000000,"arrivals":1000,"first_n":100,"slots":40,"closed":true,"measured":true}]}\n'
	cat rows
	trailer rows
} >users.results
run "$BIN/ipf-sched" sweep:from=users.results,closed,n=50
status_is 0 "a sweep over users from results"
is "$(head -1 "$OUT" |
	jq -r '[.stages[].slots] | join(" ")')" "1 4 7 8 9 10 11 12" "numbers of users around the knee, each once"
is "$(head -1 "$OUT" | jq -r '[.stages[].closed] | all')" true "stages of a sweep over users are closed"
matches "$(cat "$ERR")" 'stage few: 5/s with 1 user: the knee is at 10 users' "ipf-sched says where the knee is"
# COUNT answers of the fewest users, which are USERS, a second apart by GAP: a slow server has few of them in a minute.
slow() { # COUNT USERS GAP
	awk -v count="$1" -v gap="$3" '{ split($0, part, /[:,]/); if (/"stage":1/ || part[2] < count) { if (/"stage":0/) sub(/"end_ns":[0-9]*/, sprintf("\"end_ns\":%.0f", (part[2] + 1) * gap * 1e9)); print } }' users.rows >rows
	{
		head -1 users.results | sed "s/\"slots\":1,/\"slots\":$2,/"
		cat rows
		trailer rows
	} >slow.results
	run "$BIN/ipf-sched" sweep:from=slow.results,closed,n=50
}
body users.results >users.rows
slow 12 1 0.2
matches "$(cat "$ERR")" 'stage few: 5/s with 1 user: the knee is at 10 users$' "a dozen answers of one user are enough"
slow 7 1 0.2
status_is 3 "seven are not"
slow 40 9 0.02
matches "$(cat "$ERR")" 'stage few: 50/s with 9 users: .*; these users already kept the server busy, and the knee may be lower' "a server that was never idle does not show where its knee is"
run "$BIN/ipf-sched" sweep:from=saturated.results,closed,n=50
status_is 3 "a sweep over users requires closed stages in the results"
run "$BIN/ipf-sched" sweep:rates=5,closed,n=50
status_is 2 "a closed sweep requires results"
head -60 saturated.results >cut.results
run "$BIN/ipf-sched" sweep:from=cut.results,for=60s
status_is 3 "results that were cut are refused"

# A server with its first token within 100 ms up to 20 requests a second.
i=0
set --
: >next.sched
while run "$BIN/ipf-sched" search:slo=p90:ttft=100ms,low=2,high=100,for=10s "$@" -o next.sched; [ "$status" = 0 ] &&
	[ "$i" -lt 40 ]; do
	i=$((i + 1))
	rate=$(head -1 next.sched | jq '.stages[0].rate')
	awk -v r="$rate" -v i="$i" 'BEGIN { for (k = 0; k < 100; k++) printf "{\"n\":%d,\"req\":%d,\"stage\":0,\"ok\":true,\"start_ns\":%d,\"end_ns\":%d,\"ttft_ns\":%d}\n", k, k, k, k + i, r <= 20 ? 50e6 : 150e6 }' |
		results "run$i.results" poisson "$rate"
	set -- "$@" -r "run$i.results"
done
status_is 10 "a search ends with 10 when it knows"
between "$i" 6 20 "a search takes about a dozen stages"
between "$(sed 's, .*,,' "$OUT")" 19 21 "a search finds the rate"
matches "$(cat "$OUT")" '^[0-9.]+ requests/s meet p90 TTFT < 100 ms \(between [0-9.]+ and [0-9.]+, 95 %\); [0-9.]+/s do not \(150 ms\)$' "the answer has its interval"
is "$(head -1 next.sched | jq -r '.from | length')" "$((i - 1))" "schedules of a search name all earlier results"
run "$BIN/ipf-sched" poisson:rate=1,n=1 -r run1.results
status_is 2 "results without a search are wrong usage"
complains ipf-sched "-r requires a search" "ipf-sched says that -r requires a search"

# Responses that were not streamed have no TTFT: a goal on it would pass for met.
unstreamed() { # HOW MANY OF 100
	awk -v u="$1" 'BEGIN { for (k = 0; k < 100; k++) printf "{\"n\":%d,\"req\":%d,\"stage\":0,\"ok\":true,\"start_ns\":%d,\"end_ns\":%d,%s\"e2e_ns\":50000000}\n", k, k, k, k + 1, k < u ? "\"not_streamed\":\"ignored\"," : "\"ttft_ns\":50000000," }' |
		results whole.results poisson 20
}
unstreamed 100
for goal in ttft ttfa tpot itl_mean; do
	run "$BIN/ipf-sched" search:slo=p90:e2e=1s,p90:$goal=100ms,low=2,high=100,for=10s -r whole.results
	status_is 3 "responses that were not streamed cannot meet a goal on $goal"
	complains ipf-sched "whole.results: $goal cannot be a goal: 100 of 100 responses" "ipf-sched says that $goal cannot be a goal"
done
run "$BIN/ipf-sched" search:slo=p90:e2e=100ms,low=2,high=100,for=10s -r whole.results
status_is 0 "a goal on E2E can be judged"
unstreamed 1
run "$BIN/ipf-sched" search:slo=p90:ttft=100ms,low=2,high=100,for=10s -r whole.results
status_is 0 "a single response in one piece does not matter"

run "$BIN/ipf-sched" search:slo=p90:ttft=100ms,low=2,high=100,for=10s -r run1.results -r run2.results -r ./run1.results
status_is 3 "a run that is given twice is refused"
complains ipf-sched "./run1.results: given twice" "ipf-sched names the run that is given twice"
# Two shards of one run, collected together, are the whole; one of them is not.
shards() { # INDEX…: results collected from these shards
	local from="" index
	for index; do from="$from,{\"ipf\":\"records\",\"tool\":\"t\",\"from\":[{\"ipf\":\"schedule\",\"tool\":\"t\",\"shard\":{\"index\":$index,\"of\":2},\"stages\":$(head -1 run1.results | jq -c '.stages | map(.rate /= 2)')}]}"; done
	{ head -1 run1.results | jq -c --argjson from "[${from#,}]" '.from = $from | .stages[0].rate /= 2' &&
		sed 1d run1.results; } >shards.results
	run "$BIN/ipf-sched" search:slo=p90:ttft=100ms,low=2,high=100,for=10s -r shards.results
}
run "$BIN/ipf-sched" search:slo=p90:ttft=100ms,low=2,high=100,for=10s -r run1.results
whole=$(head -1 "$OUT" | jq '.stages[0].rate')
shards 1 2
status_is 0 "a search takes results of all shards"
is "$(head -1 "$OUT" | jq '.stages[0].rate')" "$whole" "results of all shards give the whole rate"
shards 2
status_is 3 "results of one shard are refused"
shards 2 2
status_is 3 "results of one shard given twice are refused"

# A run's own state: one that was interrupted is no stage of a search, and one of a late client is reported.
rows() { # LATENESS OF EACH TENTH REQUEST, ns; or of each OTHER
	awk -v late="$1" -v each="${2:-10}" 'BEGIN { for (k = 0; k < 100; k++) printf "{\"n\":%d,\"req\":%d,\"stage\":0,\"ok\":true,\"start_ns\":%d,\"end_ns\":%.0f,\"ttft_ns\":50000000,\"client_lag_ns\":%d}\n", k, (k + 950) % 1000, k, k * 1e8 + 1, k % each ? 1000 : late }'
}
search() { # RESULTS…
	run "$BIN/ipf-sched" search:slo=p90:ttft=100ms,low=2,high=100,for=10s,most=1 "${@/#/-r}"
}
rows 1000 | results whole.results poisson 14
sed 's/^{"end":{/&"incomplete":"interrupted: 100 requests were started",/' whole.results >part.results
search part.results
status_is 3 "a search refuses a run that was interrupted"
complains ipf-sched "part.results: the run is incomplete: interrupted: 100 requests were started" "ipf-sched says that the run is incomplete"
run "$BIN/ipf-sched" sweep:from=part.results,for=60s
matches "$(cat "$ERR")" 'sustained 10/s.*; the run is incomplete: interrupted' "a sweep says it"
search whole.results
is "$(grep -c late "$OUT")" 0 "a client that was in time is no matter"
rows 30000000 | results late.results poisson 14
search late.results
status_is 10 "a late client's stage counts if it met the goals"
is "$(grep -c late "$OUT")" 0 "the answer does not mention a late client that met the goals"
run "$BIN/ipf-sched" sweep:from=late.results,for=60s
contains "$(cat "$ERR")" "; the client itself was late, and may be the limit" "a sweep says that the client was late"
# 130 ms late: requests missing their limit by that alone say nothing, and the stage is repeated. A server missing it besides has missed
# it, and goals met in spite of a late client are met.
rows 130000000 5 | sed 's/"client_lag_ns":130000000/"lag_ns":130000000,&/' | results spoilt.results poisson 14
rows 130000000 5 | sed 's/"ttft_ns":50000000/"ttft_ns":500000000/' | results slow-server.results poisson 14
run "$BIN/ipf-sched" search:slo=p90:ttft=100ms,low=2,high=100,for=10s -r slow-server.results
is "$(grep -c 'not count' "$ERR")" 0 "a late client does not excuse a slow server"
run "$BIN/ipf-sched" search:slo=p90:ttft=100ms,low=2,high=100,for=10s -r spoilt.results
contains "$(cat "$ERR")" "14 requests/s missed p90 TTFT < 100 ms (180 ms): does not count, the client was late" "a stage that the client spoilt is told"
between "$(head -1 "$OUT" | jq '.stages[0].rate')" 14.1 14.2 "a stage that the client spoilt is tried again"
search spoilt.results
contains "$(cat "$OUT")" "; the client was late in 1 stage, which does not count, from 14/s on: use a faster one, or several (--shard)" "the answer names its load"
rows 130000000 | results good.results poisson 14
run "$BIN/ipf-sched" search:slo=p90:ttft=100ms,low=2,high=100,for=10s -r good.results
between "$(head -1 "$OUT" | jq '.stages[0].rate')" 20 100 "goals that were met in spite of a late client are met"
# Requests never started are failures: four of five were here.
awk 'BEGIN { for (k = 0; k < 100; k++) if (k % 5) printf "{\"n\":%d,\"req\":%d,\"stage\":0,\"ok\":false,\"error\":{\"kind\":\"connect\",\"text\":\"x\"}}\n", k, k; else printf "{\"n\":%d,\"req\":%d,\"stage\":0,\"ok\":true,\"start_ns\":%d,\"end_ns\":%d,\"ttft_ns\":50000000}\n", k, k, k, k + 1 }' |
	results never.results poisson 14
run "$BIN/ipf-sched" search:slo=p90:ttft=100ms,low=2,high=100,for=10s -r never.results
is "$(head -1 "$OUT" | jq '.stages[0].rate')" 2 "requests that never started met nothing, and the lowest load shows whether the load is the cause"
contains "$(cat "$ERR")" "stage s: 80 % of 100 requests failed, most often connect: next is the lowest load" "ipf-sched says which failures lead to the lowest load"
# A server answering fast or with an error: it is no matter of load, unless it answers at a lower one.
failing() { # RATE FAILED TTFT-NS FILE
	awk -v failed="$2" -v ttft="$3" 'BEGIN { for (k = 0; k < 600; k++) if (k % 600 < failed) printf "{\"n\":%d,\"req\":%d,\"stage\":0,\"ok\":false,\"error\":{\"kind\":\"http-status\",\"text\":\"x\",\"status\":503},\"start_ns\":%d,\"end_ns\":%d}\n", k, k, k, k + 1; else printf "{\"n\":%d,\"req\":%d,\"stage\":0,\"ok\":true,\"start_ns\":%d,\"end_ns\":%d,\"ttft_ns\":%.0f}\n", k, k, k, k + 1, ttft }' |
		results "$4" poisson "$1"
}
p99() { run "$BIN/ipf-sched" search:slo=p99:ttft=100ms,low=2,high=100,for=10s "${@/#/-r}"; }
failing 14 510 5e6 high.results
failing 2 516 5e6 low.results
p99 high.results low.results
status_is 4 "failures at the lowest load end a search without an answer"
is "$(cat "$OUT" "$ERR")" "ipf-sched: low.results: stage s: 86 % of 600 requests failed, most often http-status 503: failures ended the search, not the objective p99 TTFT < 100 ms" "ipf-sched says that failures ended the search"
failing 2 12 5e6 few.results
p99 few.results
status_is 4 "few failures that alone miss the goal end a search"
failing 2 12 5e8 slow.results
p99 slow.results
status_is 0 "latencies that miss the goal do not end a search"
failing 2 0 5e6 good.results
p99 high.results good.results
status_is 0 "failures of a higher load are its limit"
between "$(head -1 "$OUT" | jq '.stages[0].rate')" 2.1 14 "failures of a higher load are searched for their limit"
run "$BIN/ipf-sched" search:slo=p99:ttft=100ms,low=2,high=100,for=10s,most=2 -r high.results -r good.results
contains "$(cat "$OUT")" "; 14/s do not (85 % of 600 requests failed); failures, not latencies, decide from 14/s on: 85 % of 600 requests failed, most often http-status 503" "the answer says that failures decide"
run "$BIN/ipf-sched" search:slo=p99:ttft=100ms,low=2,high=100,for=10s,most=1 -r high.results
status_is 4 "a search that ends before the lowest load was tried has no answer either"
# The trace goes on where the last run stopped, also where it had begun again.
awk 'BEGIN { for (i = 0; i < 1000; i++) printf "{\"id\":\"r%d\",\"prompt\":\"p\"}\n", i }' >lines
trace_of lines >many.trace
run "$BIN/ipf-sched" search:slo=p90:ttft=100ms,low=2,high=100,for=10s -r whole.results -t many.trace
is "$(body "$OUT" | head -1 | jq .req)" 50 "the next stage of a search goes on in the trace"
run "$BIN/ipf-sched" sweep:from=whole.results,for=10s -t many.trace
is "$(body "$OUT" | head -1 | jq .req)" 50 "a sweep goes on in the trace"

printf 'seconds,rate\n0,10\n10,30\n# a pause\n20s,0\n30,600/m\n40,10\n' >rates.csv
run "$BIN/ipf-sched" rates:file=rates.csv,process=constant
status_is 0 "rates from a file"
is "$(body "$OUT" |
	jq -s -c '[.[].at_ns / 1e10 | floor] | group_by(.) | map(length)')" "[100,300,100]" "rates of a file hold up to the next"
is "$(head -1 "$OUT" |
	jq -c '[.stages[0].rate, .stages[0].end_ns, .from[0].sha256]')" "[12.5,40000000000,\"$(sha256sum rates.csv |
	cut -d' ' -f1)\"]" \
	"the header has the mean rate, the end and the file's digest"
run "$BIN/ipf-sched" rates:file=rates.csv,process=constant,linear
is "$(body "$OUT" |
	jq -s -c '[.[].at_ns / 1e10 | floor] | group_by(.) | map(length)')" "[200,150,50,100]" "linear goes evenly from rate to rate"
run "$BIN/ipf-sched" rates:file=rates.csv,process=constant,for=50s
is "$(body "$OUT" | wc -l | tr -d ' ')" 600 "for= goes on with the last rate"
printf '\357\273\277 0,10\r\n10,30\r\n20,0\r\n' >rates.csv
run "$BIN/ipf-sched" rates:file=rates.csv,process=constant
is "$(head -1 "$OUT" |
	jq -c '[.stages[0].end_ns, .stages[0].arrivals]')" "[20000000000,400]" "a spreadsheet's mark and spaces before the first time are no heading"
printf -- '-10,5\n0,10\n' >rates.csv
run "$BIN/ipf-sched" rates:file=rates.csv
complains ipf-sched 'rates.csv:1: expected a time such as 60 (seconds) or 2m, got "-10"' "a time below 0 is no heading"
printf '0,1\n5,many\n' >rates.csv
run "$BIN/ipf-sched" rates:file=rates.csv
status_is 3 "a rate that is none ends with 3"
complains ipf-sched 'rates.csv:2: expected a rate such as 5, 1.5k or 300/m, got "many" (file= of stage 1 (rates))' "ipf-sched names line and stage of a wrong rate"
run "$BIN/ipf-sched" constant:rate=1,n=1 rates:file=missing.csv
status_is 1 "a file that is not there ends with 1"
complains ipf-sched 'missing.csv: cannot open: No such file or directory (file= of stage 2 (rates))' "ipf-sched names stage and file of missing rates"
