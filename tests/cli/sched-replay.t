#!/bin/sh
# Recorded arrivals: each request once, at its time divided by the speed.
. "$TESTS/tap.sh"
DATA=$TESTS/data/sched

replay() { # SPEC TRACE
	run "$BIN/ipf-sched" "$1" -t "$2"
	status_is 0 "ipf-sched $1 -t $(basename "$2")"
	body "$OUT" >lines
}

replay replay "$DATA/recorded.trace"
is "$(jq -r .at_ns lines |
	tr '\n' ' ')" "0 100 250000000 250000000 999999999 1000000001 1500000000 3000000000 " "recorded times as they are"
is "$(jq -r .req lines | tr '\n' ' ')" "0 1 2 3 4 5 6 7 " "a replay sends every request once"
replay replay:speed=1.25 "$DATA/recorded.trace"
is "$(jq -r .at_ns lines |
	tr '\n' ' ')" "0 80 200000000 200000000 799999999 800000001 1200000000 2400000000 " "divided by the speed, to the nearest nanosecond"
replay replay:from=250ms,to=1s,speed=0.5 "$DATA/recorded.trace"
is "$(jq -r '[.req, .at_ns] | join(" ")' lines |
	tr '\n' ',')" "2 0,3 0,4 1499999998," "a slice counts from its own beginning"

replay replay:idle=500ms "$DATA/recorded.trace"
is "$(jq -r .at_ns lines |
	tr '\n' ' ')" "0 100 250000000 250000000 750000000 750000002 1250000001 1750000001 " "long gaps are cut"
replay replay:idle=500ms,speed=2 "$DATA/recorded.trace"
is "$(jq -r .at_ns lines |
	tr '\n' ' ')" "0 50 125000000 125000000 375000000 375000001 625000001 875000001 " "idle= counts in the trace's time, before the speed divides it"
replay replay:loop,from=250ms,to=1s,n=7 "$DATA/recorded.trace"
is "$(jq -r '[.req, .at_ns] | join(" ")' lines | tr '\n' ',')" \
	"2 0,3 0,4 749999999,2 750000000,3 750000000,4 1499999999,2 1500000000," "a slice is gone round, each round a length of it later"
for k in 1 2; do "$BIN/ipf-sched" replay:loop,from=250ms,to=1s,n=7 -t "$DATA/recorded.trace" --shard $k/2 |
	body /dev/stdin; done | jq -s -c 'sort_by(.n)[]' >union
jq -c . lines >whole
same union whole "shards of a slice that goes round are the whole"
run "$BIN/ipf-sched" replay:rate=4 -t "$DATA/recorded.trace"
is "$(head -1 "$OUT" |
	jq -c '[.stages[0].end_ns, (.stages[0].rate * 1e6 | round)]')" "[2000000000,4000000]" "a replay at a rate has that rate"
is "$(body "$OUT" | jq -s -c '[.[].req]')" "[0,1,2,3,4,5,6,7]" "a replay at a rate sends every request once"
matches "$(cat "$ERR")" 'time is scaled: 1\.714 times as fast as the recorded 2\.333/s' "ipf-sched says how the recorded time is scaled"
run "$BIN/ipf-sched" replay:rate=4,speed=2 -t "$DATA/recorded.trace"
status_is 2 "a rate and a speed are one too many"

# Fewer of them, or more, at their recorded times.
replay replay:rate=1.2,by=thin "$DATA/recorded.trace"
is "$(jq -s 'length' lines)" 4 "by=thin keeps as many arrivals as the rate needs"
jq -c '[.req, .at_ns]' lines >kept
replay replay "$DATA/recorded.trace"
is "$(jq -c '[.req, .at_ns]' lines | grep -cxFf kept)" 4 "by=thin keeps the recorded times"
run "$BIN/ipf-sched" replay:rate=1.2,by=thin -t "$DATA/recorded.trace"
is "$(head -1 "$OUT" |
	jq -c '.stages[0] | [.by, .rate, (.recorded_rate * 1000 | round), .arrivals, .end_ns]')" '["thin",1.2,2333,4,3428571429]' "the header says what was kept"
matches "$(cat "$ERR")" 'thinned: 4 of 8 arrivals' "ipf-sched says how many arrivals were thinned"
replay replay:rate=1.2,by=thin,loop,n=12 "$DATA/recorded.trace"
is "$(jq -s -c '[.[].req] | .[0:4] == .[4:8] and .[0:4] == .[8:12]' lines)" true "by=thin keeps the same arrivals in each round"
replay replay:rate=6,by=copies "$DATA/recorded.trace"
is "$(jq -s -c 'map(.copy // 0) | group_by(.) | map(length)' lines)" "[8,8,5]" "by=copies sends whole copies and a part of another"
is "$(jq -s -c '[.[].at_ns] | . == sort and .[-1] < 3428571429' lines)" true "by=copies keeps the order and the length of the recording"
jq -s -c '[.[] | select(.copy == 1)] | sort_by(.req) | .[0].at_ns as $zero | map((.at_ns - $zero + 3428571429) % 3428571429)' lines >shifted
is "$(cat shifted)" "[0,100,250000000,250000000,999999999,1000000001,1500000000,3000000000]" "a copy is the recording, shifted and wrapped"
for k in 1 2 3; \
	do "$BIN/ipf-sched" replay:rate=6,by=copies,loop,n=50 poisson:rate=5,n=3 -q -t "$DATA/recorded.trace" --shard $k/3 \
	| body /dev/stdin; done |
	jq -s -c 'sort_by(.n)[]' >union
"$BIN/ipf-sched" replay:rate=6,by=copies,loop,n=50 poisson:rate=5,n=3 -q -t "$DATA/recorded.trace" | body /dev/stdin |
	jq -c . >whole
same union whole "copies in shards, and a stage behind them"
for spec in rate=3,by=thin rate=1,by=copies rate=200,by=copies by=thin rate=3,by=luck; do
	run "$BIN/ipf-sched" "replay:$spec" -t "$DATA/recorded.trace"
	status_is 2 "$spec is refused"
done
complains ipf-sched 'stage 1 (replay): by: expected one of time, thin and copies, got "luck"' "ipf-sched says what by= may be"

# trace FILE: lines of standard input
trace() {
	cat >made
	trace_of made >"$1"
}

# Sessions of two turns stay together, and a turn keeps its distance from the first one also where a copy wraps.
awk 'BEGIN { for (s = 0; s < 20; s++) for (t = 0; t < 2; t++)
	printf "{\"id\":\"%d.%d\",\"session\":\"s%d\",\"turn\":%d,\"prompt\":\"p\",\"at_ns\":%d}\n", s, t, s, t, s * 1000 + t * 300 }' | trace sessions.trace
for spec in rate=500k,by=thin rate=2.5M,by=copies; do
	replay "replay:$spec" sessions.trace
	is "$(jq -s -c '[range(0; length; 2) as $i | .[$i] as $a | .[$i + 1] as $b | $b.after == [$a.n] and $b.req == $a.req + 1 and
		$a.copy == $b.copy and $b.at_ns == $a.at_ns + 300] | all and length == '"$([ "${spec#*thin}" = "$spec" ] &&
			echo 50 || echo 10)" lines)" true "$spec: sessions whole"
done

# Dispersion of the counts in windows of a second, of bursts of 0.2 s.
per_second() { body "$1" | jq .at_ns |
	awk '{ c[w = int($1 / 1e9)]++; if (w > most) most = w } END { for (w = 0; w <= most; w++) { s += c[w]; q += c[w] * c[w] }
	m = s / (most + 1); print (q / (most + 1) - m * m) / m }'; }
# several SPEC TRACE: the mean of twelve seeds
several() { for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do "$BIN/ipf-sched" "$1" -q -t "$2" --seed $seed >one.sched &&
	per_second one.sched; done | awk '{ s += $1 } END { print s / NR }'; }
"$BIN/ipf-sched" onoff:peak=200,base=1,on=200ms,off=5s,for=10m -q | body /dev/stdin |
	jq -r '"{\"id\":\"r\(.n)\",\"prompt\":\"p\",\"at_ns\":\(.at_ns)}"' | trace bursts.trace
"$BIN/ipf-sched" replay -q -t bursts.trace >one.sched
per_second one.sched >recorded
rate=$(head -1 one.sched | jq '.stages[0].rate')
# excess BY TIMES SHARE TEXT: at so many times the recorded rate, this share of the rate over 1 is kept
excess() {
	got=$(several "replay:rate=$(awk -v r="$rate" -v times="$2" 'BEGIN { printf "%.9g", r * times }'),by=$1" bursts.trace)
	between "$got" "$(awk -v s="$3" '{ print 0.95 * (1 + ($1 - 1) * s) }' recorded)" "$(awk -v s="$3" '{ print 1.05 * (1 + ($1 - 1) * s) }' recorded)" "$4"
}
excess copies 2 1 "copies of bursts keep the index of dispersion"
excess copies 1.5 0.8333 "a thinned copy has less of the excess"
excess thin 0.5 0.5 "half of them have half of the excess"

run "$BIN/ipf-sched" replay:to=250ms replay:from=250ms -t "$DATA/recorded.trace"
is "$(body "$OUT" | jq -r '[.n, .req, .at_ns] | join(" ")' | tr '\n' ',')" \
	"0 0 0,1 1 100,2 2 250000000,3 3 250000000,4 4 999999999,5 5 1000000001,6 6 1500000000,7 7 3000000000," "two slices are the whole"

run "$BIN/ipf-sched" replay -t "$DATA/five.trace"
status_is 3 "a trace without recorded arrivals ends with 3"
complains ipf-sched "five.trace: no request has an at_ns" "ipf-sched says that no request has an arrival"
run "$BIN/ipf-sched" replay
status_is 2 "replay without a trace ends with 2"
run "$BIN/ipf-sched" replay:from=1h -t "$DATA/recorded.trace"
status_is 3 "a slice without arrivals ends with 3"
complains ipf-sched "no arrival was recorded" "ipf-sched says that no arrival was recorded"
sed '3s/"at_ns":100/"at_ns":900000000/' "$DATA/recorded.trace" >unsorted.trace
run "$BIN/ipf-sched" replay -t unsorted.trace
status_is 3 "arrivals out of order end with 3"

# Times in which nothing is due are announced.
gaps() { # AT_S…: a trace with requests at these times
	for at in "$@"; do printf '{"id":"%s","prompt":"hello","output_tokens":3,"at_ns":%s000000000}\n' "$at" "$at"; done >gaps.lines
	trace_of gaps.lines >gaps.trace
}
gaps 5400 5401 12601 12602
run "$BIN/ipf-sched" replay -t gaps.trace -o gaps.sched
stderr_is "ipf-sched: stage replay: the first request is due 1 h 30 m after the stage begins; from= or idle= skips this gap
ipf-sched: stage replay: no request is due for 2 h 0 m, from 1 h 30 m of the schedule on; idle= shortens such gaps" "gaps of a replay are announced"
run "$BIN/ipf-sched" replay -q -t gaps.trace -o gaps.sched
stderr_is "" "-q announces no gaps"
run "$BIN/ipf-sched" replay:from=90m,to=91m -t gaps.trace -o gaps.sched
stderr_is "" "a replay that begins at its first request has no gap"
run "$BIN/ipf-sched" replay:idle=1m -t gaps.trace -o gaps.sched
stderr_is "" "idle= shortens gaps below those that are announced"
gaps 60 61 3660
run "$BIN/ipf-sched" replay -t gaps.trace -o gaps.sched
stderr_is "" "a first request after a minute and a gap below an hour are not announced"
run "$BIN/ipf-sched" rest:for=2h constant:rate=1,n=2
stderr_is "" "a rest is not announced: it was asked for"

# A recorded hour, where sample data stands beside the checkout.
azure=$SHARED/data/traces/azure/AzureLLMInferenceTrace_conv.csv
if [ -z "$SHARED" ] || [ ! -r "$azure" ]; then
	skip "a recorded hour is replayed" "no sample data"
elif [ ! -x "$BIN/ipf-prep" ]; then
	skip "a recorded hour is replayed" "ipf-prep is not built"
else
	"$BIN/ipf-prep" azure "$azure" -o azure.trace.zst
	replay replay:speed=4 azure.trace.zst
	# TIMESTAMP,ContextTokens,GeneratedTokens: times of day with seven digits of a second
	awk -F '[ ,:]' 'NR > 1 { t = ($2 * 3600 + $3 * 60) * 10000000 + $4 * 10000000; if (NR == 2) zero = t; printf "%.0f\n", (t - zero) * 25 }' \
		"$azure" >expected
	jq .at_ns lines >got
	same got expected "every recorded arrival at a quarter of its time, to the 100 ns of the recording"
	# Dispersion of the counts in 600 windows of the whole.
	dispersion() \
		{ awk '{ t[NR] = $1; if ($1 > most) most = $1 } END { for (i = 1; i <= NR; i++) c[int(t[i] / (most + 1) * 600)]++
		for (w = 0; w < 600; w++) { s += c[w]; q += c[w] * c[w] } m = s / 600; print (q / 600 - m * m) / m }'; }
	run "$BIN/ipf-sched" replay:rate=50 -t azure.trace.zst
	body "$OUT" | jq .at_ns | dispersion >scaled
	dispersion <expected >as_recorded
	between "$(cat scaled)" "$(awk '{ print $1 * 0.95 }' as_recorded)" "$(awk '{ print $1 * 1.05 }' as_recorded)" "a replay at 50/s keeps the index of dispersion"
	run "$BIN/ipf-sched" replay -q -t azure.trace.zst
	per_second "$OUT" >recorded
	between "$(several replay:rate=11,by=copies azure.trace.zst)" "$(awk '{ print $1 * 0.95 }' recorded)" "$(awk '{ print $1 * 1.05 }' recorded)" \
		"two copies laid over each other keep it, on the average of seeds"
fi
