#!/bin/bash
# Are two sending threads faster? Where there are cores to spare for them and for several servers, events a second; elsewhere only the
# cost of an event with two threads sharing the client's core.
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"
# shellcheck source-path=SCRIPTDIR
. "$BENCH/raw.sh"
seconds=${BENCH_SECONDS:-3}

paced() { # THREADS
	fire "closed:users=1000,for=${seconds}s" --threads "$1" >>"paced.$1"
}
flat_out() { # THREADS
	fire "closed:users=1000,for=${seconds}s" --threads "$1" >>"flat.$1"
}
in_turn() { # MEASUREMENT
	for _ in $(seq "$rounds"); do
		"$1" 1
		"$1" 2
	done
}

# Four servers on cores of their own, and six cores for the client.
if [ ${#others[@]} -ge 9 ]; then
	client_cores=$(IFS=, && echo "${others[*]:3}")
	EVENTS=200
	raw_start --share --events $EVENTS
	raw_more "${others[@]:0:3}" -- --events $EVENTS
	in_turn flat_out
	one=$(median events_s flat.1) two=$(median events_s flat.2)
	row "1,000 streams, two sending threads" "$(rounded "$two") events/s" "$(rounded "$one") events/s with one" "$(ratio "$two" "$one")" "> 1.7"
else
	row "1,000 streams, two sending threads" "skipped: needs ten cores" - - -
fi

EVENTS=100
raw_start --events $EVENTS --first 50ms --gap 10ms
in_turn paced
one=$(median cpu_us_event paced.1) two=$(median cpu_us_event paced.2)
row "1,000 streams of 100 events/s, CPU with two threads" "$(rounded "$two" 2) us an event" "$(rounded "$one" 2) us with one" "$(ratio "$two" "$one")" "< 1.05"
