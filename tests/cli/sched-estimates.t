#!/bin/bash
# sweep:from= does not build on an estimate saying next to nothing.
. "$TESTS/tap.sh"
sched=$BIN/ipf-sched

# FILE of results: stages as JSON members, and a row for each "STAGE START END [FAILED]" in seconds.
results() { # FILE STAGE…: rows on standard input
	local file=$1 stages
	shift
	stages=$(printf ',%s' "$@")
	awk '{ printf "{\"n\":%d,\"req\":0,\"stage\":%d,\"ok\":%s,\"start_ns\":%.0f,\"end_ns\":%.0f%s}\n", NR - 1, $1, $4 ? "false" : "true", $2 * 1e9, $3 * 1e9, $4 ? ",\"error\":{\"kind\":\"timeout\"}" : "" }' >rows
	{
		printf '{"ipf":"results","version":1,"tool":"test","stages":[%s]}\n' "${stages#,}"
		cat rows
		trailer rows
	} >"$file"
}
stage() { # NAME KIND [MEMBERS]
	printf '{"name":"%s","kind":"%s","spec":"x","begin_ns":0,"arrivals":200,"first_n":0,"measured":true%s}' "$1" "$2" "${3:-}"
}
# Answers of stage STAGE coming in waves of SIZE, at random times within LENGTH seconds from BEGIN.
waves() { # STAGE COUNT SIZE BEGIN LENGTH SEED
	awk -v s="$1" -v n="$2" -v size="$3" -v begin="$4" -v length_s="$5" -v x="$6" 'BEGIN {
		for (i = 0; i < n; i++) { if (i % size == 0) { x = x * 16807 % 2147483647; t = begin + length_s * x / 2147483647 } print s, begin, t + i * 1e-6 } }'
}
refused() { fails_with 3 "$1" "$sched" "${@:2}"; } # PART ARGUMENTS…

# ---- a short burst ----
for seed in 1 2 3; do
	waves 0 200 40 0.1 0.05 $seed | results burst.results "$(stage s burst)"
	refused "burst.results: stage s: sustained" sweep:from=burst.results,for=10s
	matches "$(cat "$ERR")" '(is too uncertain|no server sustains): run a stage with about [0-9]+ s of answers \([0-9]+ requests at this rate\), or take it as it is with --force' "ipf-sched says how many answers would be enough"
done
run "$sched" sweep:from=burst.results,for=1s --force
status_is 0 "--force takes it"
stderr_contains "; this is too uncertain to plan by" "--force warns of the uncertain estimate"
isnt "$(head -1 "$OUT" | jq '.stages | length')" 0 "--force writes the sweep"
is "$(head -1 "$OUT" | jq -c '.argv | index("--force") != null')" true "the header of the sweep has --force"

# Answers to requests the server computed all at the same time.
awk 'BEGIN { for (i = 0; i < 1000; i++) print 0, 0, 1 + i / 4000 }' | results batch.results "$(stage s burst)"
refused "sustained 4000/s, but over 0.25 s, less than a request takes (1.02 s), which no server sustains: run a stage with about 11 s" sweep:from=batch.results,for=1s

# The run the message asks for is enough, for the same server.
for process in 4 10 25; do # answers in waves of this size
	waves 0 120 $process 0 3 7 | results short.results "$(stage s burst)"
	run "$sched" sweep:from=short.results,for=1s -o /dev/null
	enough=$(sed -n 's/.* about \([0-9]*\) s of answers.*/\1/p' "$ERR")
	[ "$status" = 0 ] && enough=10
	waves 0 $((40 * enough)) $process 0 "$enough" 7 | results long.results "$(stage s burst)"
	run "$sched" sweep:from=long.results,for=1s -o /dev/null
	status_is 0 "waves of $process: $enough s of answers are enough"
done

# ---- too few, too close, too many failures ----
awk 'BEGIN { for (i = 0; i < 59; i++) print 0, 0, i / 50 }' | results few.results "$(stage s burst)"
refused "the 60 successful answers that the sustained rate requires, but at most 59" sweep:from=few.results,for=10s
awk 'BEGIN { for (i = 0; i < 500; i++) print 0, 0, i / 50, i % 10 != 0 }' | results failed.results "$(stage s burst)"
refused "but at most 50: run a longer stage" sweep:from=failed.results,for=10s
awk 'BEGIN { for (i = 0; i < 200; i++) print 0, 0, 1 }' | results once.results "$(stage s burst)"
refused "200 answers came too close together to show a rate" sweep:from=once.results,for=10s
run "$sched" sweep:from=once.results,for=10s --force
status_is 3 "--force does not invent an estimate"

# ---- a good stage beside a poor one with a higher rate ----
{ waves 0 200 40 0 0.05 3; awk 'BEGIN { for (i = 0; i < 1000; i++) print 1, 5, 5 + i / 50 }'; } |
	results both.results "$(stage poor burst)" "$(stage good burst)"
run "$sched" sweep:from=both.results,for=10s
status_is 0 "one good stage is enough"
stderr_contains "stage good: sustained 50/s" "the good stage gives the estimate"

# ---- enormous sweeps ----
awk 'BEGIN { for (i = 0; i < 2000; i++) print 0, 0, i / 2000 }' | results fast.results "$(stage s burst)"
refused "requests, more than 10000000: shorten for=" sweep:from=fast.results,for=1h
refused "requests, more than 10000000" sweep:from=fast.results,for=10s,points=1000,upto=100
run "$sched" sweep:from=fast.results,for=10s -o /dev/null
status_is 0 "a small sweep of the same run is written"
users() { printf ',"slots":%d,"closed":true' "$1"; }
awk 'BEGIN { for (i = 0; i < 100; i++) print 0, 0, i * 2; for (i = 0; i < 1000; i++) print 1, 200, 200 + i * 0.01 }' |
	results users.results "$(stage one closed "$(users 1)")" "$(stage two closed "$(users 2)")"
refused "the knee would be at 200 users, more than 10 times the 2 that were measured" sweep:from=users.results,closed,for=10s
run "$sched" sweep:from=users.results,closed,n=1000 --force -o /dev/null
status_is 0 "--force takes that too"

run "$sched" stat --force few.results
status_is 2 "--force is for writing a schedule"
