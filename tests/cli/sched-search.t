#!/bin/sh
# Searches and sweeps against a server whose capacity is known: do they find it, and do their headers stay small?
# tests/bench/search.sh has more seeds.
. "$TESTS/tap.sh"
PATH=$BIN:$PATH
# shellcheck source=tests/queue_model.sh
. "$TESTS/queue_model.sh"

for stage in poisson:rate=150,for=8s burst:n=600 gamma:rate=140,cv=2,for=8s; do
	for seed in 1 2; do
		found=$(queue_sustained $seed "$stage")
		between "${found:-0}" 97 103 "sweep, $stage, seed $seed: the capacity of $QUEUE_CAPACITY/s within 3 % ($found)"
	done
done

truth=$(queue_truth)
between "$truth" 90 110 "the rate to be found: $truth/s"
near=0
for seed in 1 2 3 4 5; do
	read -r answer least most stages <<-END
		$(queue_search $seed search:slo=p90:ttft=150ms,low=10,high=1000,for=4s)
	END
	near=$((near + $(awk -v a="${answer:-0}" -v t="$truth" 'BEGIN { print (a >= t / 1.05 && a <= t * 1.05) ? 1 : 0 }')))
	printf '# seed %s: %s/s, %s to %s, after %s stages\n' "$seed" "$answer" "$least" "$most" "$stages"
	yes_if "seed $seed: known within 60 stages" [ "${stages:-60}" -lt 60 ]
done
between $near 4 5 "the answers are within the precision of 5 %: $near of 5"

# Each run is made of all before it: their headers stand side by side, not in one another.
head -1 next.sched | wc -c >size
between "$(cat size)" 1000 60000 "the header of the last of so many runs is no book"
is "$(head -1 next.sched |
	jq '[.. | objects | select(.ipf == "results")] | length')" "$((stages - 1))" "the header of the last run has every earlier run once"

# ---- within a time --------------------------------------------------------------------------------------------------
# The interval holds the rate the server carries for an hour. Chance is in the arrivals alone: a seed has the same answer everywhere.
timed=search:slo=p90:ttft=150ms,time=3m
truth=$(queue_steady_truth 0.90 150)
covering=0
rm -f run*.results
for seed in 1 2 3 4 5; do
	read -r answer least most stages <<-END
		$(queue_search $seed $timed)
	END
	covering=$((covering + $(awk -v l="${least:-0}" -v m="${most:-0}" -v t="$truth" 'BEGIN { print (l <= t && t <= m) ? 1 : 0 }')))
	printf '# seed %s: %s/s, %s to %s, after %s stages; true is %s/s\n' "$seed" "$answer" "$least" "$most" "$stages" "$truth"
	spent=$(for results in run?.results run??.results; do
		[ -f "$results" ] && body "$results" | jq -s 'map(.end_ns) | max / 1e9 + 1'
	done | awk '{ sum += $1 } END { print sum }')
	between "$spent" 60 180 "seed $seed: the stages take at most the time, with a second between them"
	rm -f run*.results
done
between $covering 4 5 "the intervals hold the truth: $covering of 5"

# The first stage says the plan, and the stages of the second phase have enough requests after a warm-up.
run ipf-sched $timed --seed 1 -o next.sched
is "$(cat "$ERR")" "ipf-sched: at most 3 min: short stages, from 1.667 requests/s up, until one misses p90 TTFT < 150 ms; then stages near the limit, of 44 requests or more, as a p90 needs" \
	"a search says its plan"
set --
n=0
while ipf-sched $timed --seed 1 "$@" -q -o next.sched >answer; do
	n=$((n + 1))
	queue_model next.sched run$n.results
	set -- "$@" -r run$n.results
done
is "$(head -1 next.sched | jq -c '.stages | map([.measured, .arrivals >= 44])[-1]')" "[true,true]" "the last stage is long enough for its percentile"
is "$(head -1 next.sched | jq -c '.stages | map(.measured)')" "[false,true]" "the last stage begins after a warm-up"
matches "$(cat answer)" '^[0-9.]+ requests/s meet p90 TTFT < 150 ms \(between [0-9.]+ and [0-9.]+, 95 %\); [0-9.]+/s do not \([0-9.]+ m?s\)$' "the answer is one line"
run ipf-sched $timed,most=1 --seed 1 -r run1.results -r run2.results -r run3.results
status_is 10 "a search that is stopped early answers"
matches "$(cat "$OUT")" '^at least [0-9.]+ requests/s meet p90 TTFT < 150 ms \([0-9.]+ ms\); stopped after 3 stages$' "a search that is stopped says what is known"

# A goal that no load meets, a time too short for a percentile or for a limit.
answer_of() { # STAGE: the last output of a whole search
	rm -f run*.results
	n=0
	set -- "$1"
	while run ipf-sched "$@" -q -o next.sched && [ "$status" = 0 ] && [ "$n" -lt 40 ]; do
		n=$((n + 1))
		queue_model next.sched run$n.results
		set -- "$@" -r run$n.results
	done
}
answer_of search:slo=p90:e2e=50ms
is "$status $(cat "$OUT")" "10 not even 1 request/s meets p90 E2E < 50 ms (100 ms): requests running alone take as long" "a goal that the server never meets"
answer_of search:slo=p99:ttft=150ms,high=4,time=3m
is "$status" 10 "459 requests at 4/s need more than three minutes"
matches "$(cat "$OUT")" '^at least 4 requests/s meet p99 TTFT < 150 ms \([0-9.]+ ms\); a p99 needs 459 requests, so a stage at 4/s takes [0-9]+ min.* with its warm-up, and [0-9]+ .* are left: use p95 \(90 requests\) or time=[0-9]+m$' "the answer says so, and what fits"
run ipf-sched search:slo=p99:ttft=150ms,low=0.01,high=0.02
status_is 2 "a time that is too short from the beginning is wrong usage"
stderr_contains "time: a p99 needs 459 requests" "ipf-sched says how many requests a p99 needs"
answer_of search:slo=p90:ttft=20s,time=60s
matches "$(cat "$OUT")" '; a queue exceeds a limit of 20 s only in a long stage' "a long limit does not fit into a short time"
answer_of search:slo=p90:e2e=2s,time=5m,low=50,high=90
matches "$(cat "$OUT")" '^at least 90 requests/s meet p90 E2E < 2 s \([0-9.]+ ms\), and high= asks for no more' "the upper bound is all that is asked"

# A client that is late in every stage: its stages are repeated, but not until `most`.
for length in for=4s n=200 time=3m; do
	rm -f run*.results
	n=0
	set -- search:slo=p90:ttft=150ms,low=10,high=1000,$length
	while run ipf-sched "$@" -q -o next.sched && [ "$status" = 0 ] && [ "$n" -lt 40 ]; do
		n=$((n + 1))
		queue_model next.sched run.results
		body run.results | jq -c '.lag_ns = 2e8 | .client_lag_ns = 2e8 | .start_ns += 2e8 | .end_ns += 2e8' >rows
		seal run.results rows >run$n.results
		set -- "$@" -r run$n.results
	done
	is "$status" 10 "$length: a search whose client is always late ends"
	between "$n" 4 5 "$length: it ends after four stages that do not count"
	contains "$(cat "$OUT")" "the client was late in 4 stages, which do not count" "$length: the answer names the client"
done

# An objective on each request counts at 99 %. A server failing at the first stage fails at any load, and each of two goals is named.
run ipf-sched search:slo=ttft=1s --seed 1 -o next.sched
contains "$(cat "$ERR")" "until one misses p99 TTFT < 1 s" "an objective on each request is one on the p99"
ipf-sched search:slo=p90:ttft=1s --seed 1 -q -o next.sched
queue_model next.sched all.results
for failed in 1 2; do
	sed '1d;$d' all.results | awk -v failed=$failed 'NR % failed == 0 { sub(/"ok":true/, "\"ok\":false,\"error\":{\"kind\":\"http-status\",\"text\":\"x\",\"status\":503}") } { print }' >rows
	seal all.results rows >failing.results
	run ipf-sched search:slo=p90:ttft=1s --seed 1 -r failing.results
	status_is 4 "a first stage in which 1 of $failed requests failed ends the search"
	stderr_contains "most often http-status 503: failures ended the search, not the objective p90 TTFT < 1 s" "ipf-sched says that failures ended the search"
done
