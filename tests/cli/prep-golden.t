#!/bin/sh
# Each format on small inputs of every form it reads, and on bad ones: the whole trace and all messages, compared with those in
# tests/data/prep. GOLDEN=update writes the expected ones anew: review the difference.
. "$TESTS/tap.sh"

data=$TESTS/data/prep
cd "$data" || exit 1

while IFS='|' read -r name wanted arguments unread; do
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
	is "$(tail -n 1 "$OUT" | jq -r '[.end.unread[]?.member] | unique | join(" ")')" "$unread" "$name: the members that were not used"
	if [ -e "$name.err" ]; then
		same "$ERR" "$name.err" "$name: the messages"
	else
		stderr_is "" "$name: nothing is said"
	fi
done <cases
