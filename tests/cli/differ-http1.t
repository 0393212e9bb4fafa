#!/bin/sh
# Random HTTP/1.1 responses, with a few bytes changed: our reader and curl agree what is whole, and on every byte of it, but for listed reasons.
. "$TESTS/tap.sh"

command -v python3 >/dev/null || skip_all "python3 is not installed"
case $(curl --version 2>/dev/null) in
"curl 7.88."*) ;;
*) skip_all "the lists have what curl 7.88 says" ;;
esac
random_rounds 2
for seed in $(seq "$seed" $((seed + rounds - 1))); do
	run python3 "$TESTS/helpers/random_responses.py" "$seed" 600 "$BUILD/tests/readers"
	matches "$(tail -1 "$OUT")" '^[0-9]+ complete, .*, 0 differ$' "seed $seed: 600 responses: $(tail -1 "$OUT")"
	[ "$status" = 0 ] && [ "$tap_failed" = 0 ] || {
		head -5 "$OUT" "$ERR" | cut -c 1-2000 | sed 's/^/# /'
		exit 1
	}
done
