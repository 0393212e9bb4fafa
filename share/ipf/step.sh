#!/bin/sh
# One step of a makefile: step.sh [--show] FILE PROGRAM ARGUMENT…
# PROGRAM writes with -o under another name, which becomes FILE when it is whole. --show: and is shown.
show=
[ "$1" != --show ] || { show=1; shift; }
file=$1
shift
folder=$(dirname "$file")
part=$folder/part.$(basename "$file")
mkdir -p "$folder" || exit 1
if [ -n "${V:-}" ]; then echo "+ $* -o $part" >&2; else echo "$1: $file" >&2; fi
"$@" -o "$part"
status=$?
if [ $status -ne 0 ]; then
	rm -f "$part"
	exit $status
fi
mv -f "$part" "$file" || exit 1
[ -z "$show" ] || cat "$file"
