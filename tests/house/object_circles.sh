#!/bin/sh
# Circles of source files: object_circles.sh BUILD prints those objects needing each other's functions, however far around, of lib and of each
# program named in PROGRAMS, and exits with 1 if there are any. A file understood without the others can be changed without them.
#
# ipf-report is not among them: its lists of formats and of commands name files using helpers beside the list.
set -eu
build=$1
cd "$(dirname "$0")/../.."
edges=$(mktemp)
trap 'rm -f "$edges"' EXIT
for program in ${PROGRAMS:-ipf-prep ipf-sched ipf-fire ipf-collect ipf-twin}; do
	# each line of nm: FILE: SYMBOL TYPE …
	find lib "$program" -name '*.c' | sort | sed "s,^,$build/,; s,c\$,o," | xargs nm -A -P | awk '
		{ file = $1; sub(/:$/, "", file) }
		$3 ~ /^[TDBRVW]$/ { owner[$2] = file }
		$3 == "U" { needs[++n] = file " " $2 }
		END {
			for (i = 1; i <= n; i++) {
				split(needs[i], part, " ")
				if (part[2] in owner && owner[part[2]] != part[1])
					print part[1], owner[part[2]]
			}
		}' | sort -u >"$edges"
	[ -s "$edges" ] || { echo "$program: there are no objects in $build" && exit 1; }
	if circles=$(tsort "$edges" 2>&1 >/dev/null) && [ -z "$circles" ]; then continue; fi
	printf '%s: %s\n' "$program" "$circles"
	exit 1
done
