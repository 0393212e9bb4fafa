#!/bin/sh
# Each source on small inputs of every shape that it knows, and on wrong ones: the whole trace and all that is said, held against
# what tests/data/prep says. GOLDEN=update writes the expectations anew; look at the difference before believing it.
. "$TESTS/tap.sh"

data=$TESTS/data/prep
cd "$data" || exit 1

while IFS='|' read -r name wanted arguments; do
	case $name in '' | '#'*) continue ;; esac
	# shellcheck disable=SC2086 # arguments are words
	run "$BIN/ipf-prep" --reproducible $arguments
	status_is "$wanted" "$name: exit status"
	if [ "${GOLDEN:-}" = update ]; then
		cp "$OUT" "$name.out"
		rm -f "$name.err"
		[ ! -s "$ERR" ] || cp "$ERR" "$name.err"
	fi
	same "$OUT" "$name.out" "$name: the trace"
	if [ -e "$name.err" ]; then
		same "$ERR" "$name.err" "$name: what is said"
	else
		stderr_is "" "$name: nothing is said"
	fi
done <cases
