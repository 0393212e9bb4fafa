#!/bin/sh
# A search: search.sh ANSWER TRACE STAGE COMMAND…, with a command of ipf-fire
# Measures a stage after another, each from the results of the stages before it, until ipf-sched has the answer. Existing stages are kept.
# shellcheck disable=SC3013,SC3067 # test -nt, which every sh of Linux has
answer=$1 trace=$2 stage=$3
shift 3
here=$(dirname "$0")
folder=$(dirname "$answer")
. "$here/runs.sh"

next_stage() { # SCHEDULE NUMBER: 10 with the answer on standard output
	schedule=$1 last=$2
	set --
	k=1
	while [ $k -lt "$last" ]; do
		set -- "$@" -r "$folder/stage-$k.results.zst"
		k=$((k + 1))
	done
	ipf-sched "$stage" "$@" -t "$trace" --seed "$SEED" -o "$folder/part.schedule" || return
	mv -f "$folder/part.schedule" "$schedule"
}

row() { # NUMBER: of the curve of its results, after the number; before the first one, the names
	ipf-report -f csv --curve "$folder/stage-$1.results.zst" | tr -d '\r' | awk -v n="$1" 'NR == 1 { if (n == 1) print "n," $0; next } { print n "," $0 }'
}

i=0
: >"$folder/part.search.csv" || exit
newer=$folder/run.set
[ "$trace" -nt "$newer" ] && newer=$trace
while :; do
	i=$((i + 1))
	this=$folder/stage-$i
	if ! [ "$this.schedule" -nt "$newer" ]; then
		text=$(next_stage "$this.schedule" $i)
		status=$?
		[ $status -ne 10 ] || break
		[ $status -eq 0 ] || exit $status
		[ $i -gt 1 ] || echo "$folder: stages of $FOR at rates from $LOW to $HIGH/s, one after another, until the answer is known" >&2
	fi
	results_of "$this" "$this.schedule" "$@"
	row $i >>"$folder/part.search.csv" || exit
	newer=$this.results.zst
done
mv -f "$folder/part.search.csv" "$folder/search.csv" || exit
printf '%s\n' "$text" | tee "$folder/part.answer.txt" && mv -f "$folder/part.answer.txt" "$answer"
