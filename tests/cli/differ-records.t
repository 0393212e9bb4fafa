#!/bin/sh
# Random records, understood a second time: every row, every window and every histogram of gaps has to agree.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

command -v python3 >/dev/null && python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' ||
	skip_all "python3 is not installed"
random_rounds 3
for seed in $(seq "$seed" $((seed + rounds - 1))); do
	python3 "$TESTS/helpers/random_records.py" "$seed" 700 "$ROOT/lib/api/apis/openai-chat.json" >random.records
	run ipf-collect --check random.records
	status_is 0 "seed $seed: the records are valid" || cat "$OUT"
	every=$((seed % 3 * 130 + 100))
	run ipf-collect -q --every ${every}ms random.records -o random.results
	status_is 0 "seed $seed: ipf-collect understands them"
	run python3 "$TESTS/helpers/second_opinion.py" random.records random.results
	is "$(tail -3 "$OUT" | sed 's/^[0-9]* //')" "$(printf '%s\n' 'bins of positions, 0 differ' 'windows, 0 differ' 'rows, 0 differ')" \
		"seed $seed: a second opinion is the same"
	[ "$tap_failed" = 0 ] || {
		grep -vE ', 0 differ$' "$OUT" | head -20 | cut -c 1-600 | sed 's/^/# /'
		exit 1
	}
done
