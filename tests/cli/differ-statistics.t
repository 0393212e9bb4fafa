#!/bin/bash
# The statistics of random rows, computed a second time with exact fractions, and with NumPy where it is installed.
. "$TESTS/tap.sh"

command -v python3 >/dev/null || skip_all "python3 is not installed"
# Debian's python3 comes first in the PATH of tests; PYTHON may be one with NumPy.
python=${PYTHON:-python3}
"$python" -c 'import numpy' 2>/dev/null || skip "comparison with NumPy" "$python has no numpy: exact fractions are compared alone"
again() { "$python" "$TESTS/helpers/random_statistics.py" "$@"; }
agrees() { # TEXT
	matches "$(tail -1 "$OUT")" '^[0-9]{2,} compared.*, 0 differ$' "$1: $(tail -1 "$OUT")" && [ "$tap_failed" = 0 ] && return
	head -8 "$OUT" "$ERR" | cut -c 1-400 | sed 's/^/# /'
	exit 1
}
compare() { # SEED
	for side in base new; do
		python3 "$TESTS/helpers/compare_results.py" --seed $(($1 * 2 + ${#side})) --schedule "$1" --requests 200 >$side.results
		sed -e 1d -e '$d' $side.results >$side.rows
	done
	"$BIN/ipf-report" compare -f json base.results new.results >comparison.json
	run again compare base.rows new.rows comparison.json
	agrees "seed $1: the comparison"
}
compare 12 # the interval of TTFT p50 excluded 0, while p was 0.52
random_rounds 6
for seed in $(seq "$seed" $((seed + rounds - 1))); do
	again rows "$seed" >rows
	seal <(head -1 "$TESTS/data/report/one.results") rows >run.results
	"$BIN/ipf-report" -q -f json --percentiles "$(again percentiles "$seed")" run.results >run.json
	run again check "$seed" rows run.json
	agrees "seed $seed: the report"
	[ $((seed % 3)) != 0 ] || compare "$seed"
done
