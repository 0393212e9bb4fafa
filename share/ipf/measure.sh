#!/bin/sh
# A run: measure.sh RECORDS URL ARGUMENT-OF-ipf-fire…
# The records are written to part.RECORDS in the same folder, for the caller to rename. Records that are there, whole or of an
# interrupted run, are kept under another name. Runs against the same server never overlap: one waits for the other.
# shellcheck disable=SC3013,SC3067 # test -nt and -O, which every sh of Linux has
records=$1 url=$2
shift 2
folder=$(dirname "$records")
name=$(basename "$records")

if [ -z "$url" ]; then
	echo "ipf-fire: URL is missing: the server, as in URL=http://localhost:8000" >&2
	exit 2
fi

# Gives a file another name: PREFIX-1.NAME, PREFIX-2.NAME, …
keep() { # FILE PREFIX WHY
	[ -e "$1" ] || return 0
	kept=1
	while [ -e "$folder/$2-$kept.$name" ]; do kept=$((kept + 1)); done
	mv "$1" "$folder/$2-$kept.$name" || exit 1
	echo "kept $3 as $folder/$2-$kept.$name" >&2
}

# The lock is named after host and port, in a folder that is ours alone; descriptor 9 holds it until ipf-fire ends.
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
keep "$folder/part.$name" interrupted "the records of an interrupted run"
keep "$records" earlier "the records of an earlier run"
if [ -n "${V:-}" ]; then
	echo "+ ipf-fire -u $(printf '%s\n' "$url" | sed 's,//[^/@]*@,//,') $* -o $folder/part.$name" >&2
else
	echo "ipf-fire: $records" >&2
fi
exec ipf-fire -u "$url" "$@" -o "$folder/part.$name"
