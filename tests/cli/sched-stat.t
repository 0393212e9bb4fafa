#!/bin/sh
# ipf-sched stat: the figures of a schedule.
. "$TESTS/tap.sh"
DATA=$TESTS/data/sched
sched=$BIN/ipf-sched

"$sched" constant:rate=8,for=10s,warmup poisson:rate=50,for=100s gamma:rate=20,cv=2,n=5000 closed:users=3,n=5 burst:n=4 >mixed.sched
run "$sched" stat mixed.sched
status_is 0 "stat FILE ends with 0"
stderr_is "" "stat has no messages"
contains "$(sed -n 1p "$OUT")" "5 stages, by ipf-sched " "stat begins with the whole schedule"
contains "$(cat "$OUT")" "constant: constant:rate=8,for=10s,warmup (not measured)
  arrivals     80 in 10 s, beginning at 0 s
  rate         8/s, planned 8/s
  over time    8 8 8 8 8 8 8 8 8 8 per second
  dispersion   0.15 over 200 ms
  gaps         mean 125 ms, cv 0.000, p50 125 ms, p99 125 ms, max 125 ms
  as claimed   yes: arrivals at k/rate" "stat describes every stage: rate, rate over time, gaps"
matches "$(cat "$OUT")" '^  arrivals     5, until the last request has ended, 3 at a time$' "a closed loop has no times"
matches "$(cat "$OUT")" '^  as claimed   yes: exponential gaps' "Poisson arrivals are called so"
matches "$(cat "$OUT")" '^  as claimed   yes: cv [0-9.]+ .* requested 2.000$' "gamma arrivals have the variation that was asked for"
"$sched" stat <mixed.sched >piped
same "$OUT" piped "standard input is read as well"
run "$sched" stat mixed.sched -o described
same described piped "-o writes to a file"

# Claims that are not true.
sed 's/constant:rate=8/poisson:rate=8/g' mixed.sched >lie.sched
"$sched" stat lie.sched >lie
matches "$(cat lie)" '^  as claimed   no: exponential gaps' "constant arrivals are not called Poisson"
sed 's/gamma:rate=20,cv=2/gamma:rate=20,cv=1/g' mixed.sched >lie.sched
"$sched" stat lie.sched >lie
matches "$(cat lie)" '^  as claimed   no: cv' "stat does not confirm another variation"
sed 's/constant:rate=8/constant:rate=8.001/g' mixed.sched >lie.sched
"$sched" stat lie.sched >lie
matches "$(cat lie)" '^  as claimed   no: arrivals at k/rate' "stat does not confirm another rate"
sed 's/constant:rate=8/invented:x=1/g' mixed.sched >other.sched
run "$sched" stat other.sched
status_is 0 "a kind of somebody else's claims nothing"
is "$(grep -c claimed "$OUT")" 2 "stat tests only what is claimed"

"$sched" sweep:rates=20,50,for=1m,rest=1s,process=constant sweep:users=2,3,n=30 | "$sched" stat >swept
is "$(grep -c 'as claimed   yes: arrivals at k/rate' swept)" 2 "stages of a sweep are held against their own rates"

run "$sched" stat "$DATA/sessions.sched"
matches "$(cat "$OUT")" 'arrivals     6 in .*, and 7 followers$' "followers are counted apart"
matches "$(sed -n 1p "$OUT")" 'for a trace of 9 requests' "the trace is named"

sed '$d' mixed.sched >cut.sched
run "$sched" stat cut.sched
status_is 3 "a cut schedule ends with 3"
complains ipf-sched "cut.sched" "stat names the cut schedule"
matches "$(cat "$OUT")" '^burst: burst:n=4$' "stat describes the good part of a cut schedule"
run "$sched" stat "$DATA/five.trace"
status_is 3 "a trace is no schedule"
run "$sched" stat a b
status_is 2 "stat takes one schedule"
run "$sched" stat -t "$DATA/five.trace" mixed.sched
status_is 2 "stat takes no trace"
misplaced() { # WORDS ARGUMENTS…
	words=$1
	shift
	run "$sched" stat "$@" mixed.sched
	status_is 2 "stat $*: wrong usage"
	complains ipf-sched "stat: $words" "stat $* names the argument"
}
misplaced '-r applies only to writing a schedule' -r some.results
misplaced '--shard applies only to writing a schedule' --shard 1/2
misplaced '--seed applies only to writing a schedule' --seed 7
status=0
"$sched" stat mixed.sched >/dev/full 2>"$ERR" || status=$?
status_is 1 "a full disk ends with 1"

"$BIN/ipf-sched" spike:base=5,peak=50,every=2m,width=20s,for=10m -o spikes.sched
if command -v gnuplot >/dev/null; then
	run "$BIN/ipf-sched" stat --plot rate.svg spikes.sched
	status_is 0 "stat --plot draws"
	contains "$(cat rate.svg)" '<rect x="0" y="0" width="1000" height="400" fill="#ffffff"/>' "the picture has a white background"
	contains "$(head -c 200 rate.svg)" "<svg" "stat --plot writes an SVG"
	run "$BIN/ipf-sched" stat --plot no/rate.png spikes.sched
	status_is 1 "a picture that cannot be written is an error"
	is "$(cat "$ERR")" "ipf-sched: no/rate.png: cannot open for writing: No such file or directory" "stat says why it cannot write the picture"
	"$BIN/ipf-sched" stat spikes.sched >plain
	same "$OUT" plain "standard output has nothing but the text"
	ln -s /dev/full full.png
	run "$BIN/ipf-sched" stat --plot full.png spikes.sched
	status_is 1 "a picture on a full disk ends with 1"
	complains ipf-sched "full.png: cannot write: No space left on device" "stat says that the disk of the picture is full"
	"$BIN/ipf-sched" rest:for=5s -o rest.sched
	run "$BIN/ipf-sched" stat --plot rest.png rest.sched
	status_is 0 "a schedule of nothing is drawn"
	is "$(cat "$ERR")" "" "the plot of an empty schedule has no messages"
else
	skip "stat --plot draws" "gnuplot is not installed"
fi
run "$BIN/ipf-sched" stat --plot rate.gif spikes.sched
status_is 2 "stat --plot refuses another format"
complains ipf-sched '--plot: expected a file name ending in .png or .svg, got "rate.gif"' "stat --plot names the formats"
mkdir -p bare && ln -sf "$(command -v sh)" bare/sh
PATH=$PWD/bare run "$BIN/ipf-sched" stat --plot rate.png spikes.sched
status_is 0 "stat --plot without gnuplot prints the text"
matches "$(/bin/cat "$ERR")" 'gnuplot is not installed: rate.png was not drawn' "stat says that gnuplot is missing"
