#!/bin/bash
# Each call of ipf-twin's commands fails once.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/once.sh"

once_inputs
twin twin.json step_base_ns=1000000 step_per_sequence_ns=1000 prefix_cache=1
ipf-sched -q ramp:from=5,to=60,for=2s -t chat.trace -o ramp.sched
ipf-twin predict -q twin.json -t chat.trace ramp.sched -o ramp.records
ipf-collect -q --events ramp.records -o ramp.results
once 0 ipf-twin predict -q "$PWD/twin.json" "$PWD/short.sched" -t "$PWD/short.trace" --cancel 50%@1ms --replicas 2 --reproducible -o out.records
once 0 ipf-twin fit -q --reproducible "$PWD/ramp.results" -o out.json
once 0 ipf-twin why -q "$PWD/twin.json" "$PWD/ramp.results" -o out.json
