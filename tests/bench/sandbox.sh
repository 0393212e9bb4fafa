#!/bin/bash
# The cost of --sandbox: CPU time of an event with many streams, of a request over kept and over fresh connections, and of the records'
# rows, against the same without it, in turn.
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"
# shellcheck source-path=SCRIPTDIR
. "$BENCH/raw.sh"
seconds=${BENCH_SECONDS:-3}

in_turn() { # NAME STAGE ARGUMENTS OF ipf-fire…
	for _ in $(seq "$rounds"); do
		fire "${@:2}" >>"$1.without"
		fire "${@:2}" --sandbox >>"$1.with"
	done
}
compare() { # NAME FIGURE TEXT UNIT MOST
	local without with
	without=$(median "$2" "$1.without") with=$(median "$2" "$1.with")
	row "$3" "$(printf '%.2f' "$with") us/$4" "$(printf '%.2f' "$without") us/$4 without" "$(awk -v a="$with" -v b="$without" 'BEGIN { printf "%.3f", a / b }')" "< $5"
}

EVENTS=100
raw_start --events $EVENTS --first 50ms --gap 10ms
in_turn streams "closed:users=300,for=${seconds}s"
compare streams cpu_us_event "--sandbox, 300 streams" event 1.1
server_stop "$SERVER"
EVENTS=1
raw_start --events $EVENTS
in_turn kept "closed:users=64,for=${seconds}s"
compare kept cpu_us_request "--sandbox, short answers" request 1.1
in_turn fresh "closed:users=16,for=${seconds}s" --connections fresh
compare fresh cpu_us_request "--sandbox, a connection for each request" request 1.2
