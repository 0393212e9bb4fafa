#!/bin/sh
# Rules of the house that a machine can hold: sizes, layers, and calls that we do without.
. "$TESTS/tap.sh"
cd "$TESTS/.." || exit 1

c_files=$(find lib ipf-* tests -name '*.c' -o -name '*.h' | grep -v '^tests/unit/' | sort)
# shellcheck disable=SC2086 # one word a file, here and below
is "$(wc -l $c_files | awk '$2 != "total" && $1 > 600 { print $2 ": " $1 " lines" }')" "" "no source is longer than 600 lines"
# shellcheck disable=SC2086
is "$(awk 'FNR == 1 { inside = 0 } /^\{/ { start = FNR; inside = 1 } /^\}/ && inside { inside = 0; if (FNR - start > 90) print FILENAME ":" start }' $c_files)" \
	"" "no function is longer than 90 lines"
is "$(grep -nE '(^|[^a-z_])(printf|puts|putchar|perror|exit|_exit)\(' lib/*.c)" "" "lib neither prints nor exits"
# shellcheck disable=SC2086
is "$(grep -nwE '(sprintf|vsprintf|gets|strtok|atoi|atol|atof|system|popen|gettimeofday|usleep)\(' $c_files | grep -v '"')" "" "calls that we do without"
# shellcheck disable=SC2086
is "$(grep -nE '(TODO|FIXME|HACK)' $c_files Makefile README.md examples/* ipf-*/*.1 lib/*.[57])" "" "nothing is put off"
for room in prep sched fire collect report; do
	is "$(grep -hoE '^#include "[^"]+"' ipf-$room/*.c ipf-$room/*.h | sort -u | cut -d '"' -f 2 |
		while read -r header; do test -e "ipf-$room/$header" || test -e "lib/$header" || echo "$header"; done)" "" \
		"ipf-$room includes from lib and from itself only"
done
is "$(grep -lE '^#include <curl/' lib/*.c ipf-*/*.c ipf-*/*.h | grep -v '^ipf-fire/\|^ipf-prep/download.c$\|^ipf-prep/template.c$')" "" \
	"only ipf-fire knows libcurl, what loads datasets, and what asks for the tokens of a chat template"
if git ls-files --error-unmatch Makefile >/dev/null 2>&1; then
	# what begins as programs, objects and archives do
	is "$(git ls-files -z | xargs -0 grep -lE --binary-files=text "$(printf '^(\177ELF|!<arch>)')" -m 1 --)" "" "nothing that was built is kept in the repository"
else
	skip "nothing that was built is kept in the repository" "this is no checkout of it"
fi
if command -v shellcheck >/dev/null; then
	# shellcheck disable=SC2046
	is "$(shellcheck -S warning tests/*.sh tests/run tests/bench/run tests/bench/*.sh examples/*.sh $(grep -lE '^#!.*(sh|bash)$' tests/cli/*.t) 2>&1)" "" \
		"shellcheck has nothing to say"
else
	skip "shell scripts are well-formed" "shellcheck is not installed"
fi
