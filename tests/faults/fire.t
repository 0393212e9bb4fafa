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
twin twin.json step_base_ns=1000000 step_per_sequence_ns=1000 prefix_cache=1
once 0 ipf-twin predict -q "$PWD/twin.json" "$PWD/short.sched" -t "$PWD/short.trace" --cancel 50%@1ms --replicas 2 --reproducible -o out.records
