#!/bin/bash
# Impossible numbers in streams: status 3 with line and field, not an overflow, an allocation of gigabytes or a figure.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

small_run 4
for stream in sched trace records results; do plain chat.$stream >plain.$stream; done
# The stream with a member's number replaced where it first occurs, and the trailer made anew.
changed() { # FILE KEY NUMBER
	sed -e '$d' "$1" | awk -v key="\"$2\":" -v number="$3" '
		!done && (at = index($0, key)) {
			rest = substr($0, at + length(key))
			sub(/^-?[0-9.eE+-]+/, "", rest)
			$0 = substr($0, 1, at - 1) key number rest
			done = 1
		} { print }' >changed.all
	sed 1d changed.all >changed.lines
	seal changed.all changed.lines
}
refused() { # FILE KEY NUMBER LINE COMMAND…
	local file=$1 key=$2 number=$3 line=$4
	shift 4
	changed "$file" "$key" "$number" >changed
	run "$@" changed
	status_is 3 "$1: $key $number"
	complains "$1" "$key: " "$1 names the member with a wrong number"
	[ -z "$line" ] || complains "$1" "changed:$line: " "$1 names the line with a wrong number"
}

sed '1s/"arrivals"/"closed":true,"slots":1,"arrivals"/' plain.sched >closed.sched
for number in 2147483648 9223372036854775807 16777217; do
	refused closed.sched slots $number 1 ipf-sched stat
	refused closed.sched slots $number 1 ipf-fire -q -u "$URL" -m sim -t chat.trace
done
for key in begin_ns end_ns arrivals first_n; do
	refused plain.sched $key 9223372036854775807 1 ipf-sched stat
done
refused plain.sched rate 1e308 1 ipf-sched stat
refused plain.sched at_ns 9223372036854775807 2 ipf-sched stat
for number in 1e308 1e13 1e400; do
	refused plain.records send $number '' ipf-collect
	refused plain.results send $number '' ipf-report
done
refused plain.trace output_tokens 9223372036854775807 2 ipf-prep stat
refused plain.trace input_tokens 2305843009213693952 2 ipf-prep stat
run ipf-sched closed:users=3G,n=4 -t chat.trace
status_is 2 "ipf-sched refuses 3G users"
