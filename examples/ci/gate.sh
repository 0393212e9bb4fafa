#!/usr/bin/env bash
# A regression gate: gate.sh BASELINE NEW REPORT
#
# BASELINE and NEW are folders with a folder for each run, which has results.zst. They are compared, and REPORT gets the comparison as
# comparison.txt, .md (for a comment), .xml (JUnit) and .html. FAIL_IF has the conditions, one a line; see CONDITIONS in ipf-report-compare(1).
# With UNDECIDED=pass, an undecided condition passes.
#
# Exit status: 0 passed, or there is no baseline yet; 4 a condition holds or is undecided, or a run was not valid (its verdict says why); else
# as in ipf-report-compare(1).
set -euo pipefail
baseline=$1 new=$2 report=$3
shopt -s nullglob
base=("$baseline"/*/results.zst)
runs=("$new"/*/results.zst)
if [ ${#runs[@]} -eq 0 ]; then
	echo "gate: no results in $new" >&2
	exit 2
fi
mkdir -p "$report"
conditions=()

if [ ${#base[@]} -eq 0 ]; then
	echo "gate: there is no baseline: the runs are reported alone"
	show=(ipf-report) wanted=(--strict "${runs[@]}")
else
	while read -r condition; do
		[ -z "$condition" ] || conditions+=(--fail-if "$condition")
	done <<<"${FAIL_IF:-}"
	show=(ipf-report compare) wanted=(--undecided "${UNDECIDED:-fail}" "${conditions[@]}" "${base[@]}" -- "${runs[@]}")
fi
status=0
"${show[@]}" -f text -o "$report/comparison.txt" "${wanted[@]}" || status=$?
cat "$report/comparison.txt"
# The same again, with the same messages and the same status.
for format in md:md junit:xml html:html; do
	"${show[@]}" -f "${format%:*}" -o "$report/comparison.${format#*:}" "${wanted[@]}" 2>/dev/null || [ $? -eq $status ] || status=1
done
exit $status
