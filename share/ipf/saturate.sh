#!/bin/sh
# The sustained rate of a server: saturate.sh RESULTS TRACE COMMAND…, with a command of ipf-fire Sends a burst of BURST requests and then of
# twice as many each time, at most MOST, until one tells the sustained rate: ipf-sched takes the rates of a sweep from its results, and all
# of its answers took about as long as at this rate (in a burst too small, most answers come at once). Existing bursts are kept: after an
# interruption, the next one is the interrupted one.
# shellcheck disable=SC3013,SC3067 # test -nt, which every sh of Linux has
results=$1 trace=$2 n=$BURST
shift 2
here=$(dirname "$0")
folder=$(dirname "$results")
. "$here/runs.sh"

tells_rate() { # RESULTS: else 1, and $why
	why=$(ipf-sched "sweep:from=$1,for=1s,points=2,upto=1" -t "$trace" -o "$folder/part.rate" 2>&1) || return 1
	sustained=$(head -1 "$folder/part.rate" | jq '.stages[-1].rate')
	rm -f "$folder/part.rate"
	overall=$(ipf-report -f json "$1" | jq '.total.requests.ok / .run.duration_s')
	why=$(LC_ALL=C printf '%s requests: %.1f/s while answers came, %.1f/s from the first start to the last end' "$n" "$sustained" "$overall")
	awk -v s="$sustained" -v o="$overall" 'BEGIN { exit !(s > 0 && s <= 1.5 * o) }'
}

case $BURST in '' | 0* | *[!0-9]*) echo "saturate: BURST: expected a number of requests, got \"$BURST\"" >&2 && exit 2 ;; esac
while :; do
	burst=$folder/burst-$n
	# a burst older than the settings had others
	[ "$burst.schedule" -nt "$folder/run.set" ] && [ "$burst.schedule" -nt "$trace" ] ||
		ipf-sched "burst:n=$n,slots=$IN_FLIGHT" -t "$trace" --seed "$SEED" -o "$burst.schedule" || { rm -f "$burst.schedule"; exit 1; }
	results_of "$burst" "$burst.schedule" "$@"
	if [ "$(ipf-report -f json "$burst.results.zst" | jq .total.requests.ok)" = 0 ]; then
		echo "saturate: no request of the burst was answered: ipf-report $burst.results.zst shows the errors" >&2
		exit 1
	fi
	tells_rate "$burst.results.zst" && break
	n=$((n * 2))
	if [ "$n" -gt "$MOST" ]; then
		echo "saturate: a larger burst is needed (MOST): $why" >&2
		exit 1
	fi
	echo "saturate: too few: $why" >&2
done
echo "saturate: $why" >&2
cp "$burst.results.zst" "$folder/part.saturate.results.zst" && mv -f "$folder/part.saturate.results.zst" "$results"
