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
		$(queue_search $seed)
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
	jq '[.. | objects | select(.ipf == "results")] | length')" "$((stages - 1))" "and has each of the earlier runs once"
