#!/bin/bash
# Each call of ipf-fire fails once.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/once.sh"

once_inputs
# Threads and connections: the calls are others each time.
export FAIL_LOOSE=1
once 0 ipf-fire -q -m sim -u "$URL" -t "$PWD/short.trace" "$PWD/short.sched"
once_known='not ready after' # in the words of libcurl
once 0 ipf-fire -q -m sim -u "$URL" -t "$PWD/short.trace" "$PWD/short.sched" --wait-ready 1s -o out.zst
once 0 ipf-fire --list-apis
once_known='^$'
unset FAIL_LOOSE
