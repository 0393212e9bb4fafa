#!/bin/sh
# Stages as a user asks for them, read with jq.
. "$TESTS/tap.sh"
DATA=$TESTS/data/sched

sched() { # ARGUMENTS…: $OUT, and its arrivals in `arrivals`, one "n at req stage" a line
	run "$BIN/ipf-sched" "$@"
	status_is 0 "ipf-sched $* ends with 0"
	body "$OUT" | jq -r '[.n, .at_ns, .req, .stage] | map(. // "-") | join(" ")' >arrivals
}
stage() { # INDEX FILTER
	head -1 "$OUT" | jq -c ".stages[$1] | $2"
}

sched constant:rate=1000,for=10s
is "$(wc -l <arrivals | tr -d ' ')" 10000 "a constant rate gives rate × time arrivals"
is "$(awk '$2 != NR * 1000000 - 1000000' arrivals | wc -l |
	tr -d ' ')" 0 "constant arrivals are at whole milliseconds, the first at 0"
is "$(stage 0 '[.begin_ns, .end_ns, .rate == 1000, .arrivals, .first_n, .measured]')" "[0,10000000000,true,10000,0,true]" "the header has begin, end, rate and count"

sched constant:rate=7,n=7000
is "$(awk 'NR > 1 { g = $2 - at; if (g < 142857142 || g > 142857143) print } { at = $2 }' arrivals)" "" \
	"gaps of a constant rate differ by one nanosecond at most"
is "$(tail -1 arrivals)" "6999 999857142857 6999 0" "errors of gaps do not add up"
is "$(stage 0 .end_ns)" 1000000000000 "n arrivals last n gaps"

sched poisson:rate=200,for=60s --seed 5
between "$(wc -l <arrivals)" 11562 12438 "a Poisson stage has its mean number of arrivals, within four deviations"
is "$(awk '$2 < at || $2 >= 60000000000 { print } { at = $2 }' arrivals)" "" "Poisson arrivals are in order, all within the stage"
cp "$OUT" first
sched poisson:rate=200,for=60s --seed 5 --reproducible
body first >first.body
body "$OUT" >second.body
same first.body second.body "the same seed gives the same arrivals"
cp "$OUT" first
run "$BIN/ipf-sched" poisson:rate=200,for=60s --seed 5 --reproducible
same "$OUT" first "--reproducible gives the same bytes"
sched poisson:rate=200,for=60s --seed 6
body "$OUT" >third.body
yes_if "another seed gives other arrivals" sh -c '! cmp -s second.body third.body'

# Another stage in front: same draws, another beginning.
sched rest:for=5s poisson:rate=200,for=60s --seed 5
is "$(awk '{ printf "%.0f\n", $2 - 5000000000 }' arrivals | sha256sum)" "$(jq .at_ns second.body |
	sha256sum)" "a stage in front changes no draw of the next"

sched constant:rate=2,for=1s,warmup,name=warm rest:for=1s closed:users=4,n=3 burst:n=2
is "$(tr '\n' ',' <arrivals)" "0 0 0 0,1 500000000 1 0,2 - 2 2,3 - 3 2,4 - 4 2,5 2000000000 5 3,6 2000000000 6 3," "stages follow one another"
is "$(stage 0 '[.name, .measured]')" '["warm",false]' "a warm-up is not measured"
is "$(stage 1 '[.kind, .measured, .arrivals]')" '["rest",false,0]' "a rest is not measured"
is "$(stage 2 '[.closed, .slots, .cycle, .end_ns]')" '[true,4,null,null]' "a closed loop of n requests ends with the last"

sched closed:users=4,for=30s constant:rate=1,n=1 -t "$DATA/five.trace"
is "$(stage 0 '[.closed, .slots, .cycle, .end_ns, .arrivals]')" '[true,4,true,30000000000,5]' "a closed loop of some time goes round the trace"
is "$(stage 1 '[.first_n, .begin_ns]')" '[4294967296,30000000000]' "a closed loop leaves numbers for its rounds"

# Evenly spaced along the area under a sine, which awk knows, too: k arrivals have come by the k-th.
"$BIN/ipf-sched" sine:low=0,high=100k,every=2s,for=2s,process=constant >sine.sched
is "$(body sine.sched |
	awk -F'[:,]' '{ k = $2; t = $4 / 1e9; pi = atan2(0, -1); e = (50000 * t - 50000 * sin(pi * t) / pi - k) / (50000 * (1 - cos(pi * t)) + 1e-9) * 1e9
	if (k > 10 && (e > 0.6 || e < -0.6)) far++
	if ($4 < before) back++
	before = $4 } END { print NR, far + 0, back + 0 }')" "100000 0 0" "the arrivals of a sine are right to half a nanosecond, and in order"

# It is unknown how far closed stages of some time get: the rest of the trace is shared out among them by their times.
awk 'BEGIN { for (i = 0; i < 100; i++) printf "{\"id\":\"r%d\",\"prompt\":\"p%d\"}\n", i, i }' >hundred.lines
trace_of hundred.lines >hundred.trace
begins() { # STAGE…: the first req of each stage
	"$BIN/ipf-sched" "$@" -t hundred.trace >begins.sched
	body begins.sched | jq -s -c '[group_by(.stage)[][0].req]'
}
is "$(begins closed:users=4,for=10s,warmup closed:users=4,for=30s)" "[0,25]" "a closed warm-up leaves to the stage after it what it does not need"
is "$(begins constant:rate=1,n=5 closed:users=4,for=10s,warmup closed:users=4,for=30s rest:for=1s burst:n=15 closed:users=1,n=4)" "[0,5,24,81,96]" \
	"stages of a known number have that, the others share the rest"
is "$(begins closed:users=1..8,steps=4,for=5s)" "[0,25,50,75]" "steps of users have other requests each"
is "$(begins sweep:users=1,2,for=5s,rest=1s)" "[0,50]" "sweeps over users have other requests each"
is "$(begins constant:rate=1,n=150 closed:users=1,for=5s burst:n=1)" "[0,50,50]" "a trace that others use up is shared out whole"

sched poisson:rate=1,n=7 burst -t "$DATA/five.trace"
is "$(awk '{ printf "%s", $3 }' arrivals)" 012340123401 "requests go on where the stage before stopped, and wrap at the trace's end"
is "$(head -1 "$OUT" | jq -r .trace.requests)" 5 "the header counts the trace"
is "$(head -1 "$OUT" | jq -r .trace.sha256)" "$(body "$DATA/five.trace" | sha256sum |
	cut -d' ' -f1)" "the header has the digest of the trace"
is "$(head -1 "$OUT" | jq -r '.from[0].ipf')" trace "the header has the trace's header"
is "$(tail -1 "$OUT" | jq -r '.end.from[0].sha256')" "$(body "$DATA/five.trace" | sha256sum |
	cut -d' ' -f1)" "the trailer has the digest too"

"$BIN/ipf-sched" poisson:rate=10,n=50 -o out.zst
is "$(zstd -dcq out.zst | wc -l | tr -d ' ')" 52 "-o NAME.zst compresses"

run "$BIN/ipf-sched" poisson:rate=10,n=9 closed:users=2 -t "$DATA/five.trace" -v -o /dev/null
sed -i '/ the schedule goes round the trace: /d' "$ERR"
is "$(sed 's| in [^,]*, beginning at [^,]*||;s|, until the last request has ended||' "$ERR" | tr '\n' ';')" \
	"ipf-sched: stage poisson: 9 arrivals, planned 10/s, 1.80 passes through the trace;ipf-sched: stage closed: 5 arrivals;" "-v tells the plan"
run "$BIN/ipf-sched" poisson:rate=10,n=9 -v -q -o /dev/null
stderr_is "" "-q wins over it"

sched sweep:rates=1,2,for=3s,drain,cooldown sweep:users=2,3,n=3,overlap
is "$(head -1 "$OUT" |
	jq -c '.stages | map([.drain, .measured, .overlap])')" "[[true,false,null],[true,false,null],[null,true,true],[null,true,true]]" \
	"stages of a sweep all have its keys"
is "$(stage 0 .spec)" '"poisson:rate=1,for=3s,cooldown,drain"' "specs of a sweep's stages have its keys"
sched sweep:rates=10,20,for=5s,rest=1s,process=constant sweep:users=2,n=3
is "$(head -1 "$OUT" | jq -c '.stages | map([.name, .kind, .begin_ns / 1e9, .arrivals])')" \
	'[["sweep 10/s","constant",0,50],["sweep rest 1","rest",5,0],["sweep 20/s","constant",6,100],["sweep 2 users","closed",11,3]]' \
	"a sweep is a stage for each rate or number of users"
sched poisson:rate=9,n=9 rest:for=1s poisson:rate=9,for=2s,cache=cold poisson:rate=9,n=9,cache=as-is
is "$(head -1 "$OUT" | jq -c '.stages | map([.drain, .cold])')" '[[true,null],[true,null],[null,true],[null,null]]' \
	"before a stage with a cold cache, all requests end"
sched sweep:rates=1,2,for=3s,cache=cold
is "$(head -1 "$OUT" | jq -c '.stages | map([.spec, .drain, .cold])')" \
	'[["poisson:rate=1,for=3s,cache=cold",true,true],["poisson:rate=2,for=3s,cache=cold",null,true]]' "each stage of a sweep has cache="
run "$BIN/ipf-sched" poisson:rate=9,n=9,cache=hot
stderr_contains "cache: expected cold or as-is, got \"hot\"" "cache= is cold or as-is"
run "$BIN/ipf-sched" burst:n=3,overlap poisson:rate=9,n=9,cache=cold
stderr_contains "cache=cold: cannot follow a stage with overlap" "cache=cold waits for all requests"
run "$BIN/ipf-sched" --shard 1/2 poisson:rate=9,n=9,cache=cold
stderr_contains "cache=cold: cannot be combined with --shard" "clients do not reset the cache of each other"
sched sweep:users=2,3,for=5s,rampup=2s -t "$DATA/five.trace"
is "$(head -1 "$OUT" | jq -c '.stages | map([.spec, .rampup_ns])')" '[["closed:users=2,for=5s,rampup=2s",2000000000],["closed:users=3,for=5s,rampup=2s",2000000000]]' \
	"new users of a sweep start one after another"
sched search:slo=p99:ttft=1s,low=1,high=9,users,for=5s,rampup=2s -t "$DATA/five.trace"
is "$(stage 0 .rampup_ns)" 2000000000 "a stage of a search has rampup="
for stage in sweep:rates=1,2,for=5s,rampup=2s search:slo=p99:ttft=1s,low=1,high=9,for=5s,rampup=2s; do
	run "$BIN/ipf-sched" "$stage"
	status_is 2 "ipf-sched $stage ends with 2"
	stderr_contains "rampup: requires users" "arrivals of an open loop have no users"
done
run "$BIN/ipf-sched" sweep:users=2,3,for=5s,rampup=6s
stderr_contains "rampup: expected at most for= (5 s), got 6 s" "rampup= is at most for="

sched steps:rates=2,0,3,each=10s,process=constant rest:for=1s
is "$(awk '{ n[int($2 / 1e10)]++ } END { print n[0], n[1] + 0, n[2] }' arrivals)" "20 0 30" "steps have their rates, one after another"
is "$(stage 0 .end_ns),$(stage 1 .begin_ns)" "30000000000,30000000000" "steps end after the last"
sched sine:low=0,high=40,every=10s,for=20s --seed 3
between "$(awk '$2 >= 3e9 && $2 < 7e9' arrivals | wc -l)" 92 188 "a sine begins low and is high half a period later"
between "$(awk '$2 < 1e9' arrivals | wc -l)" 0 6 "a sine has few arrivals in its valley"

run "$BIN/ipf-sched" --list
status_is 0 "--list ends with 0"
for kind in constant poisson gamma weibull uniform ramp steps sine spike onoff replay closed burst rest sweep; do
	yes_if "--list has $kind" grep -q "^$kind: " "$OUT"
done
is "$(awk 'length > 80' "$OUT")" "" "--list fits into 80 columns"
