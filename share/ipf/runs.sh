# For scripts that need several runs: source it with $here, the folder of the scripts. POSIX sh.
# shellcheck shell=sh
# shellcheck disable=SC3013,SC3067,SC2154 # test -nt and -O, which every sh of Linux has; $here
child=
trap 'ended=143; [ -z "$child" ] || kill "$child" 2>/dev/null' TERM HUP
trap 'ended=130; [ -z "$child" ] || kill "$child" 2>/dev/null' INT
ended=

# Runs a program that a signal to this script ends, too.
attended() { # PROGRAM ARGUMENT…
	"$@" &
	child=$!
	wait $child
	attended_status=$?
	# a signal interrupts the wait, not the program
	while [ -n "$ended" ] && kill -0 $child 2>/dev/null; do wait $child; attended_status=$?; done
	child=
	[ -z "$ended" ] || exit $ended
	return $attended_status
}

# Results of a run, unless they are there and newer than FILE: STEM.schedule gives STEM.records.zst and STEM.results.zst. COLLECT are
# options of ipf-collect as text of the shell; what is older than the file collect.set of the folder was made with others.
results_of() { # STEM FILE TRACE URL COLLECT OPTION-OF-ipf-fire… [-- OPTION-OF-ipf-collect…]: see measure.sh
	stem=$1 newer=$2 trace=$3 url=$4 collect=$5
	shift 5
	if ! [ "$stem.records.zst" -nt "$newer" ]; then
		attended sh "$here/measure.sh" "$stem.records.zst" "$url" -t "$trace" "$stem.schedule" "$@" || exit
		mv "$(dirname "$stem")/part.$(basename "$stem").records.zst" "$stem.records.zst" || exit
	fi
	settings=$(dirname "$stem")/collect.set
	[ "$stem.results.zst" -nt "$stem.records.zst" ] && ! [ "$settings" -nt "$stem.results.zst" ] ||
		eval 'sh "$here/collect.sh" "$stem.results.zst" "$stem.records.zst"' "$collect" || exit
}
