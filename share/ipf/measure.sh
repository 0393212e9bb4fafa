#!/bin/sh
# A run: measure.sh RECORDS URL ARGUMENT-OF-ipf-fire… [-- ARGUMENT-OF-ipf-collect…]
# The records are written to part.RECORDS in the same folder, for the caller to rename. Records that are there, whole or of an
# interrupted run, are kept under another name. Runs against the same server never overlap: one waits for the other.
#
# With --, ipf-collect follows the records while they are written; RECORDS, such as a-1.records.zst, gets a-1.live.zst beside it.
# When its results are complete before the run is (--until-stable), the run ends. The records are whole whatever becomes of it.
# shellcheck disable=SC3013,SC3067 # test -nt and -O, which every sh of Linux has
records=$1 url=$2
shift 2
folder=$(dirname "$records")
name=$(basename "$records")
stem=${name%records.zst}
live=${stem}live.zst

if [ -z "$url" ]; then
	echo "ipf-fire: URL is missing: the server, as in URL=http://localhost:8000" >&2
	exit 2
fi

# Gives the files of a run other names: PREFIX-1.NAME, PREFIX-2.NAME, …, with the same number.
keep() { # PART PREFIX WHY: part. or nothing
	[ -e "$folder/$1$name" ] || [ -e "$folder/$1$live" ] || return 0
	kept=1
	while [ -e "$folder/$2-$kept.$name" ] || [ -e "$folder/$2-$kept.$live" ]; do kept=$((kept + 1)); done
	for file in "$live" "$name"; do
		[ ! -e "$folder/$1$file" ] || mv "$folder/$1$file" "$folder/$2-$kept.$file" || exit 1
	done
	echo "kept $3 as $folder/$2-$kept.$name" >&2
}

shown() { # COMMAND…: for a person, without the password of a URL
	printf '+ %s\n' "$*" | sed 's,//[^/@ ]*@,//,g' >&2
}

fire() { # ARGUMENT-OF-ipf-fire… [-- …]: in place of this shell
	count=0
	for argument; do
		shift
		if [ "$argument" = -- ]; then
			shift $(($# - count))
			break
		fi
		set -- "$@" "$argument"
		count=$((count + 1))
	done
	[ ${#title} -gt 200 ] || set -- --name "$title" "$@"
	set -- ipf-fire -u "$url" "$@" -o "$folder/part.$name"
	if [ -n "${V:-}" ]; then shown "$@"; else echo "ipf-fire: $records" >&2; fi
	exec "$@"
}

# tail ends with the run, so that ipf-collect reads all of it. Signals are for ipf-fire.
follow() { # PID-OF-ipf-fire ARGUMENT-OF-ipf-fire… -- ARGUMENT-OF-ipf-collect…
	trap '' INT TERM HUP
	run=$1
	while [ "$1" != -- ]; do shift; done
	shift
	set -- ipf-collect "$@" -o "$folder/part.$live"
	if [ -n "${V:-}" ]; then shown "$@"; fi
	tail -s 0.1 -F -c +1 --pid="$run" "$folder/part.$name" 2>/dev/null | "$@"
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

# The lock is named after host and port, in a folder that is ours alone; descriptor 9 holds it until the programs end.
server=$(printf '%s\n' "$url" | sed -E 's,^[a-z0-9+]*://,,; s,^[^/@]*@,,; s,/.*,,' | cksum | tr ' ' -)
locks=${XDG_RUNTIME_DIR:-${TMPDIR:-/tmp}}/ipf-$(id -u)
if command -v flock >/dev/null && { mkdir -m 700 "$locks" 2>/dev/null || { [ -d "$locks" ] && [ ! -L "$locks" ] && [ -O "$locks" ]; }; }; then
	exec 9>>"$locks/$server.lock" || exit 1
	if ! flock -n 9; then
		echo "ipf-fire: waiting for another run against $(printf '%s\n' "$url" | sed 's,//[^/@]*@,//,')" >&2
		flock 9 || exit 1
	fi
fi

mkdir -p "$folder" || exit 1
# The name of the run: the folder's, and compare-a-1 for a-1.records.zst in it.
title=$(basename "$(cd "$folder" && pwd)")${stem:+-${stem%.}}
keep part. interrupted "the records of an interrupted run"
keep "" earlier "the records of an earlier run"
following=
for argument; do [ "$argument" != -- ] || following=1; done
[ -n "$following" ] || fire "$@"

# A signal ends the run in order, and what it interrupts does not become RECORDS. ipf-fire may get it from the terminal as well, and
# counts both as one.
signalled='' ended='' fire=''
trap 'signalled=${signalled}x ended=143; kill "$fire" 2>/dev/null' TERM HUP
trap 'signalled=${signalled}x ended=130; kill "$fire" 2>/dev/null' INT
(fire --no-progress "$@") &
fire=$!
(follow "$fire" "$@") &
attend $!
collected=$status
# stable, or never begun: bad options, an address that is taken
if [ "$collected" -eq 0 ] || ! [ -e "$folder/part.$live" ]; then kill "$fire" 2>/dev/null; fi
attend "$fire"
[ -z "$ended" ] || exit "$ended"
[ "$status" -eq 0 ] || exit "$status"
if [ "$collected" -eq 0 ]; then
	mv "$folder/part.$live" "$folder/$live"
elif [ -e "$folder/part.$live" ]; then
	echo "ipf-collect: failed while the run lasted: $records is whole, but has no samples; for those up to then:" \
		"ipf-collect $records --samples $folder/part.$live" >&2
else
	exit "$collected"
fi
