#!/bin/bash
# How late do requests start coming at times of their own? Poisson arrivals, the server on another core where there is one. In turn with
# ipf-fire's lag it measures a bare client's at the same rate on the same core, and a process's that only sleeps until a time: the
# machine's own part.
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"
# shellcheck source-path=SCRIPTDIR
. "$BENCH/raw.sh"
seconds=${BENCH_SECONDS:-6}

measure() { # RATE
	local i
	for i in $(seq "$rounds"); do
		on_client "$BUILD/bench/sleeper" 2 >>"slept.$1"
		bare --rate "$1" --for "${seconds}s" >>"bare.$1"
		fire "poisson:rate=$1,for=${seconds}s" >fire.run
		lag_of raw.records.zst >>"fire.$1"
		echo "$1/s, round $i: $(tail -n 1 "bare.$1" | jq -c '.lag_us') bare, $(tail -n 1 "fire.$1" |
			jq -c '.lag_us')" >&2
	done
}

show() { # RATE PERCENTILE GOAL
	local fire bare slept
	fire=$(jq -s --arg p "$2" 'map(.lag_us[$p]) | sort | .[length / 2 | floor]' "fire.$1")
	bare=$(jq -s --arg p "$2" 'map(.lag_us[$p]) | sort | .[length / 2 | floor]' "bare.$1")
	slept=$(awk -v p="$2" '{ print $(p == "p50" ? 1 : p == "p99" ? 2 : 3) }' "slept.$1" | sort -n |
		sed -n "$(((rounds + 1) / 2))p")
	row "lag $2 at $1 requests/s" "$(rounded "$fire") us" "$(rounded "$bare") us bare, $(rounded "$slept") us asleep" "$(ratio "$fire" "$bare")" "$3"
}

raw_start --events 1 --first 10ms
for rate in 1000 5000; do
	measure $rate
	for percentile in p50 p99 p99.9; do show $rate $percentile "< 1.10"; done
done
