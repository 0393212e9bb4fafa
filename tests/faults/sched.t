#!/bin/bash
# Each call of ipf-sched fails once.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/once.sh"

once_inputs
once 0 ipf-sched --reproducible poisson:rate=40,n=3 ramp:from=1,to=9,for=1s -t "$PWD/chat.trace"
once 0 ipf-sched --reproducible burst:n=3 -o out.sched
once 0 ipf-sched --reproducible burst:n=3 -q -o out.zst # compressed: an abandoned output must not compress without a
                                                        # buffer
once 0 ipf-sched stat "$PWD/chat.sched"
once 0 ipf-sched stat --plot rate.svg "$PWD/chat.sched"
once 0 ipf-sched --list
once 2 ipf-sched --seed 3 poisson:rate=5,n=2 "constant:rate=4,nn=3"
once 3 ipf-sched stat "$PWD/chat.trace"
