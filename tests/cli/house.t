#!/bin/sh
# Rules of the house a machine can hold: sizes, layers, and calls we do without.
. "$TESTS/tap.sh"
work=$PWD
cd "$TESTS/.." || exit 1

c_files=$(find lib libipf ipf-* tests examples -name '*.c' -o -name '*.h' | sort)
# shellcheck disable=SC2086 # one word a file, here and below
is "$(awk -f "$TESTS/house/functions.awk" $c_files)" "" "no function has more than 60 lines or six parameters"
# shellcheck disable=SC2046
is "$(grep -nE '(^|[^a-z_])(printf|puts|putchar|perror|exit|_exit)\(' $(find lib -name "*.c"))" "" "lib neither prints nor exits"
# shellcheck disable=SC2086
is "$(grep -nwE '(sprintf|vsprintf|gets|strtok|atoi|atol|atof|system|popen|gettimeofday|usleep)\(' $c_files |
	grep -v '"')" "" "calls that we do without"
# shellcheck disable=SC2086,SC2046
is "$(grep -nE '\b(TODO|FIXME|HACK)\b' $c_files Makefile README.md examples/* $(manual_pages) ipf-*/*.in)" "" "nothing is put off"
for room in prep sched fire collect report twin sim; do
	is "$(grep -rhoE '^#include "[^"]+"' ipf-$room | sort -u | cut -d '"' -f 2 |
		while read -r header; do test -e "ipf-$room/$header" || test -e "lib/$header" || echo "$header"; done)" "" \
		"ipf-$room includes by path, from lib and from itself only"
done
is "$(for room in ipf-*; do
	find lib "$room" -name '*.c' | sed 's,.*/,,' | sort | uniq -d | sed "s,^,$room and lib: ,"
	find lib "$room" -name '*.h' | sed 's,.*/,,' | sort | uniq -d | sed "s,^,$room and lib: ,"
done)" "" "no file name occurs twice within a program and lib"
operator=examples/kubernetes/operator/source
is "$(grep -rhoE '^#include "[^"]+"' $operator | sort -u | cut -d '"' -f 2 |
	while read -r header; do test -e "$operator/$header" || test -e "lib/$header" || echo "$header"; done)" "" \
	"the operator includes by path, from lib and from itself only"
is "$(find lib libipf ipf-* -name '*private*.h')" "" "no header is private to files that were one"
sh "$TESTS/house/include_graph.sh" --check >"$work/graph" 2>&1
is "$?$(cat "$work/graph")" 0 "folders include each other without a circle"
sh "$TESTS/house/object_circles.sh" "$BUILD" >"$work/circles" 2>&1
is "$?$(cat "$work/circles")" 0 "files do not need each other's functions in a circle"
is "$(grep -rlE '^#include <curl/' lib libipf ipf-* |
	grep -v '^ipf-fire/\|^libipf/runs.c$\|^lib/hub/download.c$\|^lib/http/\|^lib/push/\|^ipf-prep/config/chat_template.c$\|^ipf-collect/scrape/\|^ipf-collect/publish/publish.c$\|^ipf-report/delivery/\|^ipf-report/upload/\|^lib/aws/')" "" \
	"only ipf-fire knows libcurl, what downloads, what asks for the tokens of a chat template, what scrapes, and what sends figures and reports"
is "$(python3 "$TESTS/house/clock.py" "$TESTS"/cli/*.t "$TESTS"/*.sh "$TESTS"/*.py "$TESTS"/helpers/*.py)" "" "no test depends on how fast this machine is"
is "$(python3 "$TESTS/house/clock.py" "$TESTS/house/clock.examples" | cut -d : -f 2 | tr '\n' ' ')" "2 3 4 5 6 7 8 " "tests that depend on time are found"
# the others are run by sh
is "$(for test in "$TESTS"/*/*.t; do
	! head -n 1 "$test" | grep -q bash || test -x "$test" || echo "$test"
done)" "" "tests for bash are executable"
if git ls-files --error-unmatch Makefile >/dev/null 2>&1; then
	# the first bytes of programs, objects and archives
	is "$(git ls-files -z |
		xargs -0 grep -lE --binary-files=text "$(printf '^(\177ELF|!<arch>)')" -m 1 --)" "" "nothing that was built is kept in the repository"
else
	skip "nothing that was built is kept in the repository" "this is no checkout of it"
fi
