#!/bin/sh
# Finds out what a server can sustain:
#   saturate.sh RESULTS TRACE FIRST MOST IN-FLIGHT SEED URL OPTIONS-OF-ipf-collect OPTION-OF-ipf-fire… [-- OPTION-OF-ipf-collect-meanwhile…]
# Bursts of FIRST requests and then of twice as many each time, until one tells the sustained rate: ipf-sched takes the rates of a sweep
# from its results, and all of its answers took about as long as at that rate (in a burst that is too small, most answers come at once).
# The bursts are kept: after an interruption, the next one is the one that was interrupted.
# shellcheck disable=SC3013,SC3067 # test -nt and -O, which every sh of Linux has
results=$1 trace=$2 n=$3 most=$4 slots=$5 seed=$6 url=$7 collect=$8
shift 8
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

while :; do
	burst=$folder/burst-$n
	# what is older than the settings is of other ones
	[ "$burst.schedule" -nt "$folder/saturate.set" ] && [ "$burst.schedule" -nt "$trace" ] ||
		sh "$here/step.sh" "$burst.schedule" ipf-sched "burst:n=$n,slots=$slots" -t "$trace" --seed "$seed" || exit
	results_of "$burst" "$burst.schedule" "$trace" "$url" "$collect" "$@"
	if [ "$(ipf-report -f json "$burst.results.zst" | jq .total.requests.ok)" = 0 ]; then
		echo "saturate: no request of the burst was answered: ipf-report $burst.results.zst shows the errors" >&2
		exit 1
	fi
	tells_rate "$burst.results.zst" && break
	n=$((n * 2))
	if [ "$n" -gt "$most" ]; then
		echo "saturate: a larger burst is needed (MOST): $why" >&2
		exit 1
	fi
	echo "saturate: too few: $why" >&2
done
echo "saturate: $why" >&2
cp "$burst.results.zst" "$folder/part.saturate.results.zst" && mv -f "$folder/part.saturate.results.zst" "$results"
