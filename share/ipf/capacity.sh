#!/bin/sh
# A search: capacity.sh ANSWER TRACE STAGE COMMAND…, with a command of ipf-fire
# Measures a stage after another, each from the results of the stages before it, until ipf-sched has the answer. Existing stages are kept:
# after an interruption, the same call goes on.
# shellcheck disable=SC3013,SC3067 # test -nt, which every sh of Linux has
answer=$1 trace=$2 stage=$3
shift 3
here=$(dirname "$0")
folder=$(dirname "$answer")
. "$here/runs.sh"

# ipf-sched and `interrupted` below print the next step; measure.sh does not.
export STAGE_OF=capacity

# Runs ipf-sched with the results of the first stages.
schedule() { # STAGE COUNT ARGUMENT…
	search=$1 count=$2
	shift 2
	k=1
	while [ $k -le "$count" ]; do
		set -- "$@" -r "$folder/stage-$k.results.zst"
		k=$((k + 1))
	done
	[ "$NEW_PROMPTS" = 0 ] || set -- "$@" --new-prompts
	ipf-sched "$search" "$@" -t "$trace" --seed "$SEED"
}

row() { # NUMBER: of the curve of its results, after the number; before the first one, the names
	ipf-report -f csv --curve "$folder/stage-$1.results.zst" | tr -d '\r' | awk -v n="$1" 'NR == 1 { if (n == 1) print "n," $0; next } { print n "," $0 }'
}

i=0
interrupted() { # the stages before this one are complete
	[ -n "$ended" ] || return
	known=
	[ "$i" -le 1 ] || known=$(schedule "$stage,most=1" $((i - 1)) -q 2>/dev/null)
	printf 'interrupted in stage %s%s\n' "$i" "${known:+; so far: $known}" >&2
	printf 'to go on: %s\n' "${IPF_CALL:-the same call}" >&2
}
trap interrupted EXIT

printf '%s: stages to %s\n' "$folder" "$(printf '%s\n' "$URL" | sed 's,//[^/@]*@,//,')" >&2
: >"$folder/part.stages.csv" || exit
newer=$folder/run.set
[ "$trace" -nt "$newer" ] && newer=$trace
while :; do
	i=$((i + 1))
	this=$folder/stage-$i
	if ! [ "$this.schedule" -nt "$newer" ]; then
		text=$(schedule "$stage" $((i - 1)) -o "$folder/part.schedule")
		status=$?
		[ $status -ne 10 ] || break
		[ $status -eq 0 ] || exit $status
		mv -f "$folder/part.schedule" "$this.schedule" || exit
	fi
	results_of "$this" "$this.schedule" "$@"
	row $i >>"$folder/part.stages.csv" || exit
	newer=$this.results.zst
done
mv -f "$folder/part.stages.csv" "$folder/stages.csv" || exit
# The keys of ipf-sched are options of ipf.
[ -z "${IPF_CALL:-}" ] || text=$(printf '%s\n' "$text" | sed -E 's/(or|use) time=/\1 --time /; s/ high= asks/ --high asks/')
printf '%s\n' "$text" | tee "$folder/part.answer.txt" && mv -f "$folder/part.answer.txt" "$answer"
