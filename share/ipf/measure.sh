#!/bin/sh
# Measures: measure.sh RECORDS COMMAND…, such as measure.sh run/records.zst ipf-fire -u URL -t run/trace.zst run/schedule
# COMMAND, whose last argument is the schedule, writes part.RECORDS in the same folder, which becomes RECORDS when it is complete. Existing
# records, also those of an interrupted run, are kept under another name. Runs against one server (URL) wait for each other.
#
# With SCRAPE, GPU, PROMETHEUS, LISTEN, PUSH, LIVE_OPTIONS or UNTIL_STABLE, ipf-collect follows the run and writes a-1.live.zst for
# a-1.records.zst; with UNTIL_STABLE, its end ends the run. If it fails, the records are complete nevertheless. RUNS: how many such runs follow.
# STAGE_OF: the caller names the step.
# shellcheck disable=SC3067,SC3013 # test -O and -nt, which every sh of Linux has
records=$1
shift
folder=$(dirname "$records")
name=$(basename "$records")
part=$folder/part.$name
live=${name%records.zst}live.zst
schedule=
for schedule; do :; done

# Renames the files of a run: PREFIX-1.NAME, PREFIX-2.NAME, …, with the same number.
keep() { # PART PREFIX TEXT: part. or nothing
	[ -e "$folder/$1$name" ] || [ -e "$folder/$1$live" ] || return 0
	kept=1
	while [ -e "$folder/$2-$kept.$name" ] || [ -e "$folder/$2-$kept.$live" ]; do kept=$((kept + 1)); done
	for file in "$live" "$name"; do
		[ ! -e "$folder/$1$file" ] || mv "$folder/$1$file" "$folder/$2-$kept.$file" || exit 1
	done
	echo "kept $3 as $folder/$2-$kept.$name" >&2
}

# The number of requests of the schedule, from its first line; none for a closed loop ending with its time.
planned() {
	head -1 "$schedule" | jq -r '.stages | if any(.cycle) then empty else map(.arrivals) | add end'
}

announce() {
	requests=$(planned)
	head -1 "$schedule" | jq -r --arg start "$records: ${requests:+$requests }requests" --arg server "$server" --argjson runs "${RUNS:-1}" '
		def time: round | if . < 120 then "\(.) s" else "\(. / 60 | floor) min \(. % 60) s" end;
		(.stages | map(.end_ns // 0) | max / 1e9) as $s |
		$start + (if $s > 0 then " in \($s | time)" else "" end) + " to " + $server
		+ (if $runs > 1 and $s > 0 then " (\($runs) such runs: \($s * $runs | time))" else "" end)' >&2
}

# Does the next call send the rest of an interrupted one? Samples of servers are of a whole run.
goes_on() { [ "${CONTINUE:-0}" != 0 ] && [ -z "${SCRAPE:-}${GPU:-}${PROMETHEUS:-}${LISTEN:-}${PUSH:-}${LIVE_OPTIONS:-}${UNTIL_STABLE:-}" ]; }
parts() { ls "$folder"/cut-[0-9]*."$name" 2>/dev/null; }

interrupted() {
	[ -s "$part" ] && [ -z "${STAGE_OF:-}" ] || return
	of=$(planned)
	if [ "$name" = records.zst ]; then show="${IPF_COMMAND:-make -f $MAKEFILE} report OUT=$folder"; else show="ipf-collect $part | ipf-report"; fi
	if goes_on; then next="sends the rest"; else next="measures anew"; fi
	echo "interrupted after $(($(date +%s) - begin)) s: $(ipf-collect -q "$part" 2>/dev/null | grep -c '^{"n":')${of:+ of $of} requests are in $part;" \
		"\`$show\` reports them, the same call again $next" >&2
}

# Waits for a program, however often a signal interrupts that; $status is its exit status.
attend() { # PID
	while :; do
		signals=$signalled
		wait "$1"
		status=$?
		[ "$signals" != "$signalled" ] || return 0
	done
}

# Follows the records of a run. tail ends with the run, so ipf-collect reads all of them. Signals are for ipf-fire.
follow() { # PID-OF-ipf-fire
	trap '' INT TERM HUP
	run=$1
	set -f --
	for server in $SCRAPE; do set -- "$@" --scrape "$server"; done
	for gpu in $GPU; do set -- "$@" --gpu "$gpu"; done
	for target in $PUSH; do set -- "$@" --push "$target"; done
	tail -s 0.1 -F -c +1 --pid="$run" "$part" 2>/dev/null |
		env -S "ipf-collect $LIVE_OPTIONS $COLLECT_OPTIONS" "$@" ${PROMETHEUS:+--prometheus "$PROMETHEUS"} ${LISTEN:+--listen "$LISTEN"} \
			${UNTIL_STABLE:+--until-stable "$UNTIL_STABLE"} ${TOKENIZER:+-t "$TOKENIZER"} -o "$folder/part.$live"
}

# The lock is named after host and port, in a folder of ours alone; descriptor 9 holds it until the programs end.
server=$(printf '%s\n' "$URL" | sed 's,//[^/@]*@,//,')
lock=$(printf '%s\n' "$server" | sed -E 's,^[a-z0-9+]*://,,; s,/.*,,' | cksum | tr ' ' -)
locks=${XDG_RUNTIME_DIR:-${TMPDIR:-/tmp}}/ipf-$(id -u)
if command -v flock >/dev/null && { mkdir -m 700 "$locks" 2>/dev/null || { [ -d "$locks" ] && [ ! -L "$locks" ] && [ -O "$locks" ]; }; }; then
	exec 9>>"$locks/$lock.lock" || exit 1
	if ! flock -n 9; then
		echo "$records: waiting for another run against $server" >&2
		flock 9 || exit 1
	fi
fi

# An interrupted run of the same schedule goes on (CONTINUE): its parts become cut-1.RECORDS, cut-2.RECORDS, …
if goes_on && [ -s "$part" ] && [ "$part" -nt "$schedule" ]; then
	mv "$part" "$folder/cut-$(($(parts | wc -l) + 1)).$name" || exit 1
	for cut in $(parts); do set -- "$@" --continue "$cut"; done
	echo "$records: continues an interrupted run; CONTINUE=0 measures anew" >&2
else
	for cut in $(parts); do
		kept=1
		while [ -e "$folder/earlier-cut-$kept.$name" ]; do kept=$((kept + 1)); done
		mv "$cut" "$folder/earlier-cut-$kept.$name" || exit 1
	done
fi
# Wrong objectives are found before anything is sent: /dev/null is no results, which ends with another status.
if [ -n "${SLO:-}" ] && [ -z "${STAGE_OF:-}" ]; then
	why=$(ipf-report -q --slo "$SLO" -o /dev/null /dev/null 2>&1)
	[ $? -ne 2 ] || { printf '%s\n' "$why" >&2 && exit 2; }
fi
keep part. interrupted "the records of an interrupted run"
keep "" earlier "the records of an earlier run"
if [ -n "${STAGE_OF:-}" ]; then set -- "$@" -q; else announce; fi
# The name of the run: the folder's, and compare-a-1 for a-1.records.zst in it.
title=$(basename "$(cd "$folder" && pwd)") stem=${name%records.zst}
title=$title${stem:+-${stem%.}}
[ ${#title} -gt 200 ] || set -- "$@" --name "$title"
following=${SCRAPE:-}${GPU:-}${PROMETHEUS:-}${LISTEN:-}${PUSH:-}${LIVE_OPTIONS:-}${UNTIL_STABLE:-}
[ -z "$following" ] || set -- "$@" --no-progress

# A signal ends the run in order, and interrupted records do not become RECORDS. ipf-fire may get it from the terminal too, and counts both
# as one.
signalled='' ended='' begin=$(date +%s)
trap 'signalled=${signalled}x ended=143; kill "$fire" 2>/dev/null' TERM HUP
trap 'signalled=${signalled}x ended=130; kill "$fire" 2>/dev/null' INT
fire=
"$@" -o "$part" &
fire=$!
collected=0
if [ -n "$following" ]; then
	(follow "$fire") &
	attend $!
	collected=$status
	# stable, or never begun: bad options, a taken address
	if [ "$collected" -eq 0 ] || ! [ -e "$folder/part.$live" ]; then kill "$fire" 2>/dev/null; fi
fi
attend "$fire"
if [ -n "$ended" ]; then
	interrupted
	exit "$ended"
fi
if [ "$status" -eq 5 ]; then
	echo "every request failed: the run was stopped; \`ipf-collect --explain --where failed $part\` shows why" >&2
fi
[ "$status" -eq 0 ] || exit "$status"
# In the background of a script, signals are ignored here, and not by ipf-fire: its records then tell of an interruption.
if [ -n "$(sh -c 'kill -INT $$; echo ignored')" ] && ipf-collect -q "$part" 2>/dev/null | tail -n 1 | jq -e .end.incomplete >/dev/null; then
	interrupted
	exit 130
fi
if [ "$collected" -ne 0 ] && ! [ -e "$folder/part.$live" ]; then exit "$collected"; fi
mv "$part" "$records" || exit
if [ "$collected" -ne 0 ]; then
	echo "ipf-collect: failed while the run lasted: $records is complete, but has no samples; for those up to then:" \
		"ipf-collect $records --samples $folder/part.$live" >&2
elif [ -n "$following" ]; then
	mv "$folder/part.$live" "$folder/$live"
fi
