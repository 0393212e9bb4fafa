#!/bin/sh
# The Makefile: outdated files are built and nothing else, and install puts everything where a user looks.
. "$TESTS/tap.sh"

[ -z "${SANITIZE:-}" ] || skip_all "the same under every sanitizer"
mkdir tree
(cd "$TESTS/.." && tar -cf - --exclude=.build Makefile lib libipf ipf-* share examples/grafana examples/library) |
	tar -xf - -C tree
# The build for these tests has shown that everything compiles: objects come from there, with the flags they have, but for one program and a room of
# lib. Elsewhere, or with other flags, everything is compiled here.
tests_build=$BUILD
unset BUILD prefix DESTDIR
if [ "$tests_build" = "$(cd "$TESTS/.." && pwd)/.build" ]; then
	mkdir tree/.build
	(cd "$tests_build" && tar -cf - flags lib libipf ipf-* library) | tar -xf - -C tree/.build
	find tree/ipf-sched tree/lib/stats -name '*.c' -exec touch {} +
	cc=$(sed -n '1s/ -std=c11 .*//p' "$tests_build/flags")
	werror=$(grep -o -e -Werror "$tests_build/flags" | head -1)
	cflags=$(sed -nE '1s/.* -D_FORTIFY_SOURCE=3( -Werror)? ?(.*) -pthread .*/\2/p' "$tests_build/flags")
	build() { run make --no-print-directory -j2 CC="$cc" WERROR="$werror" CFLAGS="$cflags" "$@"; }
else
	build() { run make --no-print-directory -j2 CFLAGS="-O0 -g0" "$@"; }
fi
cd tree || exit 1

build
status_is 0 "make builds from its sources"
stderr_is "" "a build from sources has no warnings"
build
is "$(grep -v 'Nothing to be done' "$OUT")" "" "a second build does nothing"

build -n
is "$(grep -v 'Nothing to be done' "$OUT")" "" "make -n after a build has nothing to do"
build -n BUILD="$PWD/.build" V=1 -W lib/error.h
contains "$(cat "$OUT")" " -o .build/bin/ipf-fire" "the folder's absolute name is the same folder"
build -n V=1 -W lib/error.h
contains "$(cat "$OUT")" " -c -o .build/lib/stream/stream_read.o" "a changed header rebuilds the sources that include it"
contains "$(cat "$OUT")" " -o .build/bin/ipf-fire" "a changed header links the programs again"
touch ipf-sched/main.c
build
is "$(grep -c 'CC ' "$OUT")" 1 "one changed source is one compilation"
is "$(grep 'LD ' "$OUT" | tr -s ' ')" " LD .build/bin/ipf-sched" "one changed source links one program"
touch lib/api/apis/openai-chat.json
build
contains "$(cat "$OUT")" "lib/api/api_builtin.c" "a changed API descriptor is compiled in again"
run make -n CFLAGS="-O0 -DOTHER" V=1
is "$(grep -c -e ' -c -o ' "$OUT")" "$(find lib libipf ipf-* .build/lib .build/ipf-report .build/ipf-prep -name '*.c' | wc -l)" \
	"other flags rebuild everything"
run make -n SANITIZE=address
contains "$(cat "$OUT")" ".build/address/bin/ipf-fire" "a sanitized build has a folder of its own"
build V=1 -W lib/stats/rng.c
contains "$(cat "$OUT")" " -o .build/lib/stats/rng.o" "V=1 shows the commands"

run make help
sed -n 's/^\.PHONY: //p' Makefile | tr ' ' '\n' | grep -v FORCE >targets
while read -r target; do
	matches "$(cat "$OUT")" "make $target +[a-z]" "make help tells what $target does"
done <targets

build install DESTDIR="$PWD/stage" prefix=/usr
status_is 0 "make install works"
for program in prep sched fire collect report twin sim; do
	is "$("stage/usr/bin/ipf-$program" --version 2>&1 | head -1 |
		cut -d ' ' -f 1)" "ipf-$program" "ipf-$program is installed and runs"
	yes_if "the manual page of ipf-$program is installed" test -s "stage/usr/share/man/man1/ipf-$program.1"
	yes_if "the completion of ipf-$program for bash is installed and readable" bash -n "stage/usr/share/bash-completion/completions/ipf-$program"
	is "$(head -1 "stage/usr/share/zsh/site-functions/_ipf-$program")" "#compdef ipf-$program" "the completion of ipf-$program for zsh is installed"
	matches "$(cat "stage/usr/share/fish/vendor_completions.d/ipf-$program.fish")" "^complete -c ipf-$program .*-l help" "the completion of ipf-$program for fish is installed"
done
for page in 5/ipf-trace.5 5/ipf-schedule.5 5/ipf-records.5 5/ipf-results.5 7/ipf.7; do
	yes_if "man$page is installed" test -s "stage/usr/share/man/man$page"
done
is "$(cd stage/usr/share/ipf && echo *.mk)" "answers.mk autoscale.mk batch.mk cache.mk capacity.mk common.mk compare.mk lora.mk observe.mk plan.mk profile.mk record.mk replay.mk run.mk study.mk" \
	"the makefiles are installed"
is "$(cd stage/usr/share/ipf/schema && echo *)" \
	"certificate.schema.json comparison.schema.json gateway.schema.json model.schema.json records.schema.json report.schema.json results.schema.json schedule.schema.json trace.schema.json" "the schemas are installed"
run env PATH=/usr/bin:/bin make -f "$PWD/stage/usr/share/ipf/run.mk" -C "$PWD/stage" trace REQUESTS=5 INPUT=8
status_is 0 "an installed makefile finds the programs that were installed with it"
yes_if "an installed makefile uses the installed programs" rm -r stage/run
is "$(cd stage/usr/share/ipf/grafana && echo *)" "$(cd examples/grafana && echo *.md *.json)" "dashboards are installed"
is "$(cd stage/usr/share/ipf/library && echo *)" "$(cd examples/library && echo *)" "programs that use the library are installed"
build uninstall DESTDIR="$PWD/stage" prefix=/usr
is "$(find stage -type f)" "" "make uninstall takes all of it away"
run make clean
yes_if "make clean removes the build folder" test ! -e .build
