#!/bin/sh
# Which folder includes which: the layers of the house, as a graph for Graphviz.
#
#   include_graph.sh             prints it in the DOT language: include_graph.sh | dot -Tsvg -o graph.svg
#   include_graph.sh --text      one line per folder: its includes, lowest folders last
#   include_graph.sh --check     prints the circles and exits with 1 if there are any
set -eu
cd "$(dirname "$0")/../.."

edges=$(mktemp)
trap 'rm -f "$edges"' EXIT

# Each line: including folder, included folder. lib's own files (buffer, error, …) are the folder lib; main.c and the files beside
# it are the program's own folder. libipf, the library for others, is above the programs' rooms it uses.
operator=examples/kubernetes/operator/source
[ -d "$operator" ] || operator=
# shellcheck disable=SC2086 # one folder, or none
find lib libipf ipf-* $operator -name '*.[ch]' | sort | while read -r file; do
	room=${file%%/*}
	[ "$room" != examples ] || room=$operator
	sed -n 's/^#include "\([^"]*\)".*/\1/p' "$file" | while read -r header; do
		if [ "$room" != lib ] && [ -e "$room/$header" ]; then
			target=$room/$header
		elif [ "${file%/*}" = libipf ] && [ ! -e "lib/$header" ]; then
			target=$(ls ipf-*/"$header")
		else
			target=lib/$header
		fi
		[ "${file%/*}" = "${target%/*}" ] || echo "${file%/*} ${target%/*}"
	done
done | sort -u >"$edges"

case ${1:-} in
--check)
	if circles=$(tsort "$edges" 2>&1 >/dev/null) && [ -z "$circles" ]; then exit 0; fi
	printf '%s\n' "$circles"
	exit 1
	;;
--text)
	tsort "$edges" | while read -r folder; do
		printf '%s:%s\n' "$folder" "$(awk -v f="$folder" '$1 == f { printf " %s", $2 }' "$edges")"
	done
	;;
*)
	echo 'digraph ipf {'
	echo '	rankdir = TB; node [shape = box, fontname = "sans-serif"];'
	for room in ipf-* libipf $operator lib; do
		printf '\tsubgraph "cluster_%s" { label = "%s";' "$room" "$room"
		find "$room" -name '*.c' | sed 's,/[^/]*$,,' | sort -u | while read -r folder; \
			do printf ' "%s";' "$folder"; done
		echo ' }'
	done
	awk '{ printf "\t\"%s\" -> \"%s\";\n", $1, $2 }' "$edges"
	echo '}'
	;;
esac
