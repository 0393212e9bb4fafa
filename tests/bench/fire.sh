#!/bin/bash
# How much can one core send and receive? ipf-fire, the whole program with its recording, against a bare client of the same server on the
# same core: streamed events, and short answers.
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"
# shellcheck source-path=SCRIPTDIR
. "$BENCH/raw.sh"
seconds=${BENCH_SECONDS:-2}

# Both in turn, several times, each with so many connections; into the files bare.NAME and fire.NAME.
measure() { # NAME CONNECTIONS EVENTS [ARGUMENTS OF rawserver…]
	local i
	EVENTS=$3
	raw_start --events "$EVENTS" "${@:4}"
	for i in $(seq "$rounds"); do
		bare -c "$2" --for "${seconds}s" >>"bare.$1"
		fire "closed:users=$2,for=${seconds}s" >>"fire.$1"
		echo "$1, round $i: $(tail -n 1 "bare.$1" | jq -c '[.requests_s, .events_s, .cpu_us_event, .failed]') bare," \
			"$(tail -n 1 "fire.$1" | jq -c '[.requests_s, .events_s, .cpu_us_event, .failed]')" >&2
	done
	server_stop
}

# The rest of the CPU time renders requests and records answers.
sending() { # NAME MEMBER UNIT: of the sending threads alone
	local send all
	send=$(median "send_$2" "fire.$1")
	all=$(median "cpu_$2" "fire.$1")
	row "  of that, sending and receiving" "$(rounded "$send" 2) $3" "$(rounded "$all" 2) $3 in all" "$(ratio "$send" "$all")" -
}

show() { # NAME WHAT MEMBER UNIT GOAL
	local fire bare
	fire=$(median "$3" "fire.$1")
	bare=$(median "$3" "bare.$1")
	row "$2" "$(rounded "$fire" "${DIGITS:-0}") $4" "$(rounded "$bare" "${DIGITS:-0}") $4 bare" "$(ratio "$fire" "$bare")" "$5"
}

# The bare client keeps the server from sleeping, and does not pay for waking it up; on a virtual machine that is up to a fifth of the CPU time of
# who is slower. The server stays awake for both; the rows after those show it when it sleeps.
for connections in 64 1000; do
	measure $connections $connections 1 --awake
	show $connections "short answers, $connections connections" requests_s requests/s "> 0.$((connections == 64 ? 60 : 75))"
	DIGITS=1 show $connections "the same, CPU" cpu_us_request "us a request" -
	sending $connections us_request "us a request"
	measure $connections.sleepy $connections 1
	show $connections.sleepy "the same, of a server that sleeps" requests_s requests/s -
done
measure streams 1000 200
measure crowd 10000 50
show streams "1,000 streams" events_s events/s "> 0.85"
DIGITS=2 show streams "the same, CPU" cpu_us_event "us an event" -
sending streams us_event "us an event"
show crowd "10,000 streams" events_s events/s "> 0.85"
row "the same, against 1,000" "$(rounded "$(median events_s fire.crowd)") events/s" "$(rounded "$(median events_s fire.streams)") events/s" \
	"$(ratio "$(median events_s fire.crowd)" "$(median events_s fire.streams)")" "> 0.80"
DIGITS=2 show crowd "the same, CPU" cpu_us_event "us an event" -
sending crowd us_event "us an event"
