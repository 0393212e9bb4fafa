#!/bin/bash
# Each call of ipf-fire fails once.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/once.sh"

once_inputs
# Threads and connections: the calls are others each time.
export FAIL_LOOSE=1
once 0 ipf-fire -q -m sim -u "$URL" -t "$PWD/chat.trace" "$PWD/chat.sched"
once 0 ipf-fire -q -m sim -u "$URL" -t "$PWD/chat.trace" "$PWD/chat.sched" -o out.zst
