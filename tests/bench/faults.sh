#!/bin/bash
# Does it matter to the requests when nobody takes the records? 1,000 requests a second, Poisson: with an ordinary file; with a reader
# stopping for ten seconds; and with a disk filling up. Lag of the same requests, and whether the output is complete.
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"
# shellcheck source-path=SCRIPTDIR
. "$BENCH/raw.sh"
seconds=${BENCH_SECONDS:-12}
room=16384 # KiB of disk

p99() {
	jq '.lag_us.p99' "$1"
}
compare() { # WHAT FILE
	row "$1, lag p99" "$(rounded "$(p99 "$2")") us" "$(rounded "$(p99 lag.file)") us to a file" "$(ratio "$(p99 "$2")" "$(p99 lag.file)")" "< 1.5"
}

raw_start --events 20 --first 10ms --gap 1ms
ipf-sched -q "poisson:rate=1000,for=${seconds}s" -t raw.trace -o raw.sched
fired() {
	on_client ipf-fire -q -u "$URL" -m raw -t raw.trace raw.sched "$@"
}
fired -o file.records
lag_of file.records >lag.file

fired | { head -c 100000; sleep 10; cat; } >stopped.records
lag_of stopped.records >lag.stopped
compare "a reader that stops for 10 s" lag.stopped
requests=$(grep -c '"status":200' stopped.records)
row "the same, records" "$requests" "$(grep -c '"status":200' file.records) to a file" "$(ratio "$requests" "$(grep -c '"status":200' file.records)")" ">= 1"

# A disk of its own where allowed, else a limit on the file's size, which fails in the same place.
mkdir full
status=0
if mount -t tmpfs -o size=${room}k none full 2>/dev/null; then
	fired -o full/records 2>full.said || status=$?
	cp full/records full.records
	umount full
else
	(trap '' XFSZ && ulimit -f $room && fired -o full/records) 2>full.said || status=$?
	cp full/records full.records
fi
echo "the full disk: exit status $status, $(cat full.said)" >&2
# The last line may be cut: it is the one without room.
sed -n '$!p' full.records >full.whole
broken=$(jq -c . full.whole 2>&1 >/dev/null | wc -l)
lag=$(jq -n '[inputs | select(.n) | .start_ns - ([.ready_ns, .slot_ns // 0] | max)] | sort | .[length * 0.99 | floor] / 1000' full.whole)
early=$(head -n "$(wc -l <full.whole)" file.records |
	jq -n '[inputs | select(.n) | .start_ns - ([.ready_ns, .slot_ns // 0] | max)] | sort | .[length * 0.99 | floor] / 1000')
row "a disk that fills up, lag p99 until then" "$(rounded "$lag") us" "$(rounded "$early") us of as many to a file" "$(ratio "$lag" "$early")" "< 1.5"
row "the same, records written before that are broken" "$broken of $(grep -c '"n":' full.whole)" - - "<= 0" "$broken"
