#!/bin/sh
# How good are the answers of searches and sweeps? Twenty seeds each, against a server whose capacity is known (queue_model.sh, the same
# on every machine).
set -eu

seeds=${SEARCH_SEEDS:-20}
# shellcheck source=tests/queue_model.sh
. "$TESTS/queue_model.sh"

row() { # WHAT GOOD OF
	awk -v OFS='\t' -v what="$1" -v good="$2" -v of="$3" 'BEGIN { print what, good " of " of, "-", "-", ">= 19 of 20", (good >= of * 0.95) ? "met" : "missed" }'
}
within() { # VALUE TRUTH SHARE: 1 or 0
	awk -v a="${1:-0}" -v t="$2" -v s="$3" 'BEGIN { print (a >= t / (1 + s) && a <= t * (1 + s)) ? 1 : 0 }'
}

good=0 covered=0 stages=0 seed=0
truth=$(queue_truth)
while [ $seed -lt "$seeds" ]; do
	seed=$((seed + 1))
	read -r answer least most tried <<-END
		$(queue_search $seed)
	END
	echo "search, seed $seed: $answer/s, $least to $most, after $tried stages; true is $truth" >&2
	good=$((good + $(within "${answer:-0}" "$truth" 0.05)))
	covered=$((covered + $(awk -v l="${least:-0}" -v m="${most:-0}" -v t="$truth" 'BEGIN { print (l <= t && t <= m) ? 1 : 0 }')))
	stages=$((stages + ${tried:-0}))
done
row "search: within 5 % of $truth/s, $((stages / seeds)) stages on average" $good "$seeds"
row "search: its interval holds it" $covered "$seeds"

for stage in poisson:rate=150,for=10s burst:n=1000; do
	good=0 seed=0
	while [ $seed -lt "$seeds" ]; do
		seed=$((seed + 1))
		good=$((good + $(within "$(queue_sustained $seed "$stage")" $QUEUE_CAPACITY 0.03)))
	done
	row "sweep of $stage: within 3 % of $QUEUE_CAPACITY/s" $good "$seeds"
done
