#!/bin/sh
# A search: search.sh ANSWER TRACE STAGE SEED URL OPTIONS-OF-ipf-collect OPTION-OF-ipf-fire… [-- OPTION-OF-ipf-collect-meanwhile…]
# A stage after another, each from the results of the ones before, until ipf-sched has the answer. Stages that are there are not sent again.
# shellcheck disable=SC3013,SC3067 # test -nt and -O, which every sh of Linux has
answer=$1 trace=$2 stage=$3 seed=$4 url=$5 collect=$6
shift 6
here=$(dirname "$0")
folder=$(dirname "$answer")
. "$here/runs.sh"

# The results so far are kept as the arguments of -r in a list that may have spaces; "$@" are the options of ipf-fire.
next_stage() { # SCHEDULE NUMBER OPTION…: 10 with the answer on standard output
	schedule=$1 last=$2
	set --
	k=1
	while [ $k -lt "$last" ]; do
		set -- "$@" -r "$folder/stage-$k.results.zst"
		k=$((k + 1))
	done
	if [ -n "${V:-}" ]; then echo "+ ipf-sched $stage $* -t $trace --seed $seed -o $schedule" >&2; fi
	ipf-sched "$stage" "$@" -t "$trace" --seed "$seed" -o "$folder/part.schedule" || return
	mv -f "$folder/part.schedule" "$schedule"
}

row() { # NUMBER: of the curve of its results, after the number; before the first one, the names
	ipf-report -f csv --curve "$folder/stage-$1.results.zst" | tr -d '\r' | awk -v n="$1" 'NR == 1 { if (n == 1) print "n," $0; next } { print n "," $0 }'
}

i=0
mkdir -p "$folder" || exit
: >"$folder/part.search.csv" || exit
newer=$folder/search.set
[ "$trace" -nt "$newer" ] && newer=$trace
while :; do
	i=$((i + 1))
	this=$folder/stage-$i
	if ! [ "$this.schedule" -nt "$newer" ]; then
		text=$(next_stage "$this.schedule" $i)
		status=$?
		[ $status -ne 10 ] || break
		[ $status -eq 0 ] || exit $status
	fi
	results_of "$this" "$this.schedule" "$trace" "$url" "$collect" "$@"
	row $i >>"$folder/part.search.csv" || exit
	newer=$this.results.zst
done
mv -f "$folder/part.search.csv" "$folder/search.csv" || exit
printf '%s\n' "$text" | tee "$folder/part.answer.txt" && mv -f "$folder/part.answer.txt" "$answer"
