#!/bin/bash
# The way between client and server: real runs without a cause have no finding. How long a busy machine holds up client or server is a finding, and
# real: this is for a machine that is idle. cli/collect-transport has each cause, and runs in virtual time.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

ipf-prep synthetic -n 60 --input-tokens 40 --output-tokens 40 -q -o forty.trace
nothing() { # TEXT SCHEDULE ARGUMENTS OF ipf-fire…
	local seed
	for seed in 1 2 3 4; do
		ipf-sched -q --seed $seed "$2" -t forty.trace -o clean.sched
		ipf-fire -q --force -m sim -u "$URL" "${@:3}" -t forty.trace clean.sched | ipf-collect -q - >clean.results
		is "$(tail -1 clean.results | jq -c '[.end.transport[]?.finding]')" "[]" "$1, seed $seed: no finding"
	done
}
server_start --step-base 6ms
nothing "an open loop" poisson:rate=60,n=60
nothing "a closed loop" closed:users=6,n=24
nothing "a connection each, on purpose" constant:rate=60,n=40 --connections fresh
server_start --step-base 40ms
nothing "steps of 40 ms" burst:n=8
server_start --step-base 20ms --prefill-rate 20k
nothing "steps that prompts make longer" poisson:rate=30,n=30
