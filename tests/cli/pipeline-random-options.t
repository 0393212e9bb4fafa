#!/bin/bash
# Every trace and schedule that random options produce is read by the next program: limits hold for the writer, too. Options may be
# refused, with status 2 and nothing written.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

random_rounds 60
RANDOM=${seed:?by random_rounds}
pick() { # WORD…
	local words=("$@")
	picked=${words[RANDOM % ${#words[@]}]}
}
# A value for a key, from usual to absurd.
number() { pick 1 2 7 40 0 3.5 1e3 1k 16777216 16777217 20000000 4294967296 1e12 1e18 9e99 -1; }
duration() { pick 1s 2s 10ms 1ns 0s 1m 20s 100d 30000d 1e9s; }
small() { pick 1 2 5 20 1000; }

# A stage of ipf-sched, in $stage; its number of requests stays small, so only the values of other keys grow.
random_stage() {
	local kind key keys="slots name"
	pick constant poisson gamma weibull burst closed ramp sine onoff replay rest
	kind=$picked
	stage=$kind:
	small
	[ $((RANDOM % 4)) != 0 ] || number
	case $kind in
	constant | poisson) stage+=rate=$picked ;;
	gamma) stage+=rate=$picked && pick 0.5 1 3 100 1e6 && stage+=,cv=$picked ;;
	weibull) stage+=rate=$picked && pick 0.1 0.5 && stage+=,cv=$picked ;;
	burst) stage+=slots=$picked && keys=name ;;
	closed) stage+=users=$picked && keys="rampup think name rate" ;;
	ramp) stage+=from=$picked && small && stage+=,to=$picked && pick 1ns 10ms 1s 2s 20s && stage+=,for=$picked ;;
	sine) stage+=low=1,high=$picked,every=2s ;;
	onoff) stage+=peak=$picked,on=1s,off=1s ;;
	replay) stage+=rate=$picked ;;
	rest) duration && stage+=for=$picked && keys=name ;;
	esac
	small && case $kind in ramp | rest) ;; *) stage+=,n=$picked ;; esac
	for key in $keys; do
		[ $((RANDOM % 3)) = 0 ] || continue
		case $key in
		slots | rate) number ;;
		name) pick a "b c" x-1_y "$(printf 'x%.0s' {1..300})" 'q"=\\x' ;;
		*) duration ;;
		esac
		stage+=,$key=$picked
	done
}

random_prep() { # into $options
	options=(-n $((RANDOM % 20 + 1)))
	[ $((RANDOM % 2)) = 0 ] || { pick 1 16 uniform:1-64 normal:50,500 lognormal:40,1e9 1e9 0 && options+=(--input-tokens "$picked"); }
	[ $((RANDOM % 2)) = 0 ] || { pick 1 16 uniform:1-64 normal:50,500 1e9 1e15 9e18 && options+=(--output-tokens "$picked"); }
	[ $((RANDOM % 3)) != 0 ] || { pick 1 2 5 uniform:1-4 && options+=(--turns "$picked"); }
	[ $((RANDOM % 3)) != 0 ] || { pick 0s 2s uniform:1s-5s 1e9s 100000d && options+=(--wait "$picked"); }
	[ $((RANDOM % 3)) != 0 ] || { pick a=1 a=0.5,b=0.5 'q"=1' && options+=(--models "$picked"); }
	[ $((RANDOM % 3)) != 0 ] || { pick 1x16 3x16,none=50% 1x0 && options+=(--prefixes "$picked"); }
	[ $((RANDOM % 3)) != 0 ] || { pick ttft=500ms ttft=1ns,tpot=1e9s && options+=(--slo "$picked"); }
	pick messages text ids none && options+=(--prompt "$picked")
}

# COMMAND…: writes `new` within 20 s and bounded memory, or is refused; $made.
bad=
made_or_refused() {
	made=no
	rm -f new
	(ulimit -v 8000000 && exec "$@" -q -o new) >"$OUT" 2>"$ERR" </dev/null
	status=$?
	case $status in
	0) made=yes ;;
	2 | 3) [ ! -s new ] || bad+=" [$*: $status, but something is written]" ;;
	*) bad+=" [$*: $status $(head -c 200 "$ERR")]" ;;
	esac
}
reads() { # COMMAND…
	run "$@"
	[ "$status" = 0 ] && ! grep -qiE '(^|[^a-z])-?(nan|inf)([^a-z]|$)' "$OUT" || bad+=" [$* reads ${made_by}: $status $(head -c 200 "$ERR")]"
}

run ipf-prep sharegpt "$ROOT/examples/chat.json" -q -o chat.trace
schedules=0 traces=0
[ -z "${SANITIZE:-}" ] || ulimit() { :; }
for _ in $(seq "$rounds"); do
	random_stage
	words=("$stage")
	[ $((RANDOM % 3)) != 0 ] || { random_stage && words+=("$stage"); }
	[ $((RANDOM % 2)) != 0 ] || words+=(-t chat.trace)
	made_or_refused ipf-sched "${words[@]}"
	made_by="ipf-sched ${words[*]}"
	[ $made = no ] || { schedules=$((schedules + 1)) && reads ipf-sched stat new; }

	random_prep
	made_or_refused ipf-prep synthetic "${options[@]}"
	made_by="ipf-prep synthetic ${options[*]}"
	[ $made = no ] || {
		traces=$((traces + 1))
		mv new new.trace
		reads ipf-prep stat new.trace
		reads ipf-sched closed:users=1 -q -t new.trace -o new.sched
		reads ipf-sched stat new.sched
	}
done
is "$bad" "" "what random options write is read"
at_least "$schedules" $((rounds / 6)) "enough schedules are written"
at_least "$traces" $((rounds / 6)) "enough traces are written"

# ---- limits that were the reader's only ----------------------------------------------------------------------------

for stage in constant:rate=5,n=2,slots=20000000 poisson:rate=5,n=2,slots=4294967296 burst:n=3,slots=16777217; do
	run ipf-sched "$stage" -o new
	is "$status $(grep -c 'slots: expected at most 16777216' "$ERR")" "2 1" "ipf-sched refuses $stage"
done
run ipf-sched constant:rate=5,n=2,slots=16777216 -q -o new
run ipf-sched stat new
status_is 0 "the largest number of slots is read"
run ipf-sched constant:rate=1,n=4294967296 -o new
is "$status $(grep -c 'n: expected at most 1e+09 arrivals' "$ERR")" "2 1" "ipf-sched refuses a schedule of 200 GB at once"
run ipf-sched rest:for=20000d rest:for=20000d constant:rate=1,n=1 -o new
is "$status $(grep -c 'expected an integer below 2^61' "$ERR")" "2 1" "ipf-sched refuses a schedule of a century"

# ---- times that ipf-prep's readers of a trace refuse ------------------------------------------------------------------

for times in 0,2305843010 0,9223372036 -9000000000,9000000000; do
	printf 'at,prompt\n%s,a\n%s,b\n' "${times%,*}" "${times#*,}" >far.csv
	run ipf-prep csv --field at=/at --field prompt=/prompt far.csv -q -o far.trace
	is "$status $(grep -c 'ipf-prep: [^s]' "$ERR")" "3 1" "ipf-prep refuses arrivals at $times s"
done
printf 'at,prompt\n0,a\n2305843008,b\n' >far.csv
run ipf-prep csv --field at=/at --field prompt=/prompt far.csv -q -o far.trace
run ipf-prep stat far.trace
status_is 0 "arrivals 73 years apart are read back"
for stage in closed:users=5,n=2,think=30000d closed:users=1,n=30,process=gamma,cv=5,think=20000d rest:for=27000d; do
	rm -f new
	run ipf-sched "$stage" -o new
	is "$status $(grep -c '73 years' "$ERR")" "2 1" "ipf-sched refuses $stage, whose times no schedule can have"
done
