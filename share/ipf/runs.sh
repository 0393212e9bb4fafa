# For scripts of several runs, which source it; $here is the folder of the scripts, $trace the trace.
# shellcheck shell=sh
# shellcheck disable=SC3013,SC3067,SC2154 # test -nt, which every sh of Linux has; $here, $trace
child=
ended=
trap 'ended=143; [ -z "$child" ] || kill "$child" 2>/dev/null' TERM HUP
trap 'ended=130; [ -z "$child" ] || kill "$child" 2>/dev/null' INT

# Runs a program, which a signal to this script ends too.
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

# Measures STEM.schedule and makes STEM.results.zst, unless the records are newer than FILE and the results newer than the settings.
results_of() { # STEM FILE COMMAND…: of ipf-fire
	stem=$1 newer=$2
	shift 2
	if ! [ "$stem.records.zst" -nt "$newer" ]; then
		attended sh "$here/measure.sh" "$stem.records.zst" "$@" -t "$trace" "$stem.schedule" || exit
	fi
	if [ "$stem.results.zst" -nt "$stem.records.zst" ] && ! [ "$(dirname "$stem")/collect.set" -nt "$stem.results.zst" ]; then return; fi
	set -- env -S "ipf-collect $COLLECT_OPTIONS" ${TOKENIZER:+-t "$TOKENIZER"}
	[ ! -e "$stem.live.zst" ] || set -- "$@" --samples "$stem.live.zst"
	"$@" -o "$stem.results.zst" "$stem.records.zst" || { rm -f "$stem.results.zst"; exit 1; }
}
