#!/bin/bash
# Are comparisons right about real runs? Pairs of short runs against ipf-sim, whose steps vary and which pauses: the same server, one
# slower by 5 %, one by 1 %. How many runs a comparison asks for is held against how many it takes: comparisons of so many runs of each
# side, drawn from all of them. COMPARE_PAIRS=20, COMPARE_SECONDS=10, COMPARE_AT_ONCE=4 (runs at the same time, each with a server; 4 at
# most, since runs of one side overlapping are parts of one run).
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"

pairs=${COMPARE_PAIRS:-20} seconds=${COMPARE_SECONDS:-10} at_once=${COMPARE_AT_ONCE:-4}
ipf-prep synthetic -q -n 400 --input-tokens uniform:50-400 --output-tokens uniform:10-30 --seed 1 -o t.trace
ipf-sched -q "poisson:rate=60,for=500ms,warmup" "poisson:rate=60,for=${seconds}s" -t t.trace --seed 1 -o t.sched

# A run against a server of its own: NAME, the number of its noise, by how much its steps are longer. An INVALID one, as where other
# processes held the client up, is no run: up to COMPARE_TRIES (3).
one() {
	for _ in $(seq "${COMPARE_TRIES:-3}"); do
		try "$@"
		[ "$(ipf-report -q -f json "$1.results" | jq -r .verdict.status)" != INVALID ] && return
		echo "$1" >>invalid
	done
}
try() {
	local name=$1 noise=$2 pid
	us() { awk -v f="$2" -v x="$1" 'BEGIN { printf "%dus", x * f }'; }
	rm -f "$name.port"
	ipf-sim --port 0 --step-base "$(us 8000 "$3")" --step-per-seq "$(us 100 "$3")" --prefill-rate "$(awk -v f="$3" 'BEGIN { printf "%d", 50000 / f }')" \
		--jitter 10% --pause 30ms/2s --seed "$noise" --die-with-parent >"$name.port" 2>/dev/null &
	pid=$!
	wait_for test -s "$name.port"
	ipf-fire -q --force -u "$(sed 's/.* //' "$name.port")" -m sim -t t.trace t.sched -o "$name.records" 2>"$name.said" || cat "$name.said" >&2
	kill "$pid"
	wait "$pid" 2>/dev/null || true
	ipf-collect -q -t approx "$name.records" -o "$name.results" && rm "$name.records"
}

running=0
begin() { # NAME NOISE FACTOR
	one "$@" &
	running=$((running + 1))
	if [ "$running" -ge "$at_once" ]; then
		wait
		running=0
	fi
}
for k in $(seq "$pairs"); do
	begin "base$k" $((10 * k)) 1
	begin "same$k" $((10 * k + 1)) 1
	begin "five$k" $((10 * k + 2)) 1.05
	begin "one$k" $((10 * k + 3)) 1.01
done
wait

python3 "$BENCH/compare_tally.py" "$pairs"
