#!/bin/bash
# An intruder in a program with --sandbox makes random system calls with random arguments: each is refused, passes, or ends the program as
# ipf(7) and lib/sandbox/call_filter.h say.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/attack.sh"

[ -z "${SANITIZE:-}" ] || skip_all "sanitizers are loaded first"
[ "$(uname -m)" = x86_64 ] || skip_all "the intruder makes calls of x86-64"
command -v cc >/dev/null || skip_all "cc is not installed"
cc -E -dM -include sys/syscall.h -x c /dev/null >numbers
small_run 4
run ipf-collect --sandbox chat.records
[ "$status" != 1 ] || ! grep -q "no filters\? of system calls" "$ERR" || skip_all "the machine has no filters of system calls"

random_rounds 4
calls=0
attack() { # NEEDS COMMAND…
	attacked "seed $seed, ${2##*/} that may ${1//+/, }" '1 ended the process, 0 differ$' random_calls.py "$seed" 400 "$1" numbers "${@:2}"
	calls=$((calls + 401))
}
for seed in $(seq "${seed:?by random_rounds}" $((seed + rounds - 1))); do
	attack connect+priority+clock ipf-fire --sandbox -q -u "$URL" -m sim -t chat.trace chat.sched -o new.records
	attack none ipf-collect --sandbox chat.records -o new.results
	attack accept ipf-collect --sandbox --listen :0 chat.records -o new.results
	attack connect ipf-collect --sandbox --otlp "$URL" chat.records -o new.results
	attack connect+accept ipf-collect --sandbox --listen :0 --push "pushgateway=$URL" chat.records -o new.results
done
echo "# $calls calls"
