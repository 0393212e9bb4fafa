#!/bin/bash
# Random options of ipf-fire and ipf-collect give the same results, messages and statuses with --sandbox as without.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/attack.sh"

# To look for leaks, the sanitizer starts a process that traces the program, which --sandbox refuses.
[ -z "${SANITIZE:-}" ] || export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
server_start --step-base 500us
small_run 12
ipf-sched burst:n=12 -t chat.trace -q -o chat.sched # a run takes as long as the server does
run ipf-collect --sandbox chat.records
[ "$status" != 1 ] || ! grep -q "no filters\? of system calls" "$ERR" || skip_all "the machine has no filters of system calls"

random_rounds 2
export PATH
for seed in $(seq "${seed:?by random_rounds}" $((seed + rounds - 1))); do
	attacked "seed $seed" '^5 pipelines, .* 0 differ$' sandbox_twice.py "$seed" 5 "$URL" "$TESTS/.."
done
