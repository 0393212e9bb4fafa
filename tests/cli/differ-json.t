#!/bin/sh
# Random JSON and what is nearly JSON: our reader, Python's and jq accept and refuse the same, and read the same values.
. "$TESTS/tap.sh"

command -v python3 >/dev/null && python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' || skip_all "python3 is not installed"
random_rounds 4
for seed in $(seq "$seed" $((seed + rounds - 1))); do
	run python3 "$TESTS/helpers/random_json.py" "$seed" 3000 "$BUILD/tests/readers"
	matches "$(tail -1 "$OUT")" '^[0-9]{4} accepted, [0-9]{4} refused, .*, 0 differ$' "seed $seed: 3000 documents: $(tail -1 "$OUT")"
	[ "$status" = 0 ] && [ "$tap_failed" = 0 ] || {
		head -5 "$OUT" "$ERR" | cut -c 1-2000 | sed 's/^/# /'
		exit 1
	}
done
