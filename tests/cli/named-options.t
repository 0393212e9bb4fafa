#!/bin/bash
# An option that a message, a comment, a page or a document names with its program exists. Renames leave such texts behind.
. "$TESTS/tap.sh"

[ -z "${SANITIZE:-}" ] || skip_all "the same with every sanitizer"
for program in ipf-prep ipf-sched ipf-fire ipf-collect ipf-report ipf-twin ipf-sim; do
	case $program in
	ipf-prep | ipf-sched) commands=stat ;;
	*) commands=$("$BIN/$program" --help | awk '/^Commands,/ { here = 1; next } here && /^  [a-z]/ { print $1 } here && /^$/ { exit }') ;;
	esac
	for command in "" $commands; do options_of "$program" "$command"; done >"$program.options"
done

# The options of FILE… that no help has, as "ipf-report compare --option". A command counts as one only with its program.
unknown() {
	grep -ohE 'ipf-(prep|sched|fire|collect|report|twin|sim)( [a-z]+)? --[a-z][a-z-]*[a-z]' "$@" | sort -u | while read -r program rest; do
		grep -qxF -- "${rest##* }" "$program.options" || echo "$program $rest"
	done
}
cd "$TESTS/.." || exit 1
mapfile -t sources < <(find README.md HACKING.md lib libipf ipf-* share examples -type f ! -name '*.pyc')
cd - >/dev/null || exit 1
at_least "${#sources[@]}" 1000 "the sources are found"
at_least "$(cd "$TESTS/.." && grep -ohE 'ipf-[a-z]+( [a-z]+)? --[a-z]+' "${sources[@]}" | wc -l)" 200 "the sources name options"
is "$(unknown "${sources[@]/#/$TESTS/../}")" "" "options that sources name exist"
printf '%s\n' 'see ipf-report --certificate' 'or ipf-twin predict --replicas 2' 'or ipf-fire --replicas 2' >text
is "$(unknown text)" "ipf-fire --replicas
ipf-report --certificate" "an option of another program, and one that is gone, are found"
