#!/bin/sh
# Small schedules, byte for byte: a change here changes everybody's repeatable runs.
#   UPDATE=1 tests/run cli/sched-golden    writes them anew
. "$TESTS/tap.sh"
DATA=$TESTS/data/sched
cp "$DATA"/*.trace .

golden() { # NAME ARGUMENTS…
	name=$1
	shift
	run "$BIN/ipf-sched" --reproducible "$@"
	status_is 0 "$name: ipf-sched $*"
	is "$(grep -v ' the schedule goes round the trace: ' "$ERR")" "" "$name: says nothing else"
	[ -z "${UPDATE:-}" ] || cp "$OUT" "$DATA/$name.sched"
	same "$OUT" "$DATA/$name.sched" "$name: the same bytes as ever"
}

golden constant constant:rate=3,n=7 constant:rate=300/m,for=1s,warmup,name=again
golden poisson poisson:rate=5,for=2s,slots=4 poisson:rate=5,for=2s --seed 42
golden gamma gamma:rate=5,cv=2,n=8 gamma:rate=5,cv=0.5,n=8
golden weibull weibull:rate=5,cv=1.5,n=5 uniform:rate=5,n=5 uniform:rate=5,cv=0.1,n=5
golden shapes ramp:from=0,to=8,for=3s steps:rates=1,0,4,each=2s,process=constant sine:low=1,high=9,every=4s,n=9 \
	spike:base=1,peak=20,every=2s,width=500ms,for=3s,process=gamma,cv=2 onoff:peak=10,on=1s,off=1s,n=9
golden burst burst burst:n=3,for=250ms rest:for=1s burst:n=2,slots=1 -t five.trace
golden closed closed:users=2,n=7 closed:users=3,for=5s poisson:rate=1,n=2 -t five.trace
golden replay replay:speed=2 replay:from=250ms,to=1s,speed=0.5 -t recorded.trace
golden sessions poisson:rate=4,n=6 replay:speed=0.5,to=5s -t sessions.trace --seed 7
