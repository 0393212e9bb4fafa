#!/bin/bash
# Reports of random runs conserve their contents: requests, tokens, time in flight and windows add up, whichever way the records of several clients come
# together, and no rate is above the offered load and the backlog. SEED=… COUNT=… tries others.
. "$TESTS/tap.sh"
seed=${SEED:-1} count=${COUNT:-60}
echo "# SEED=$seed COUNT=$count"
is "$(python3 "$TESTS/helpers/random_runs.py" "$seed" "$count" "$BIN" "$TESTS/../lib/api/apis/openai-chat.json" 2>&1)" "$count runs" \
	"overlapping stages, warm-up, rest, drain, cut, failed, retried, hung up, several clients in any order: everything adds up"
