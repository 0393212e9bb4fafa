#!/bin/sh
# Generates tables and dashboards again by the scripts beside them, and compares: make_NAME.py makes the one file naming it. Prints a
# line per file; exits with 1 if one differs. A script whose sources of data are not installed exits with 2, and is reported as skipped.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
for script in lib/*/make_*.py examples/*/make_*.py; do
	table=$(grep -lF "$(basename "$script")" "${script%/*}"/*.[ch] "${script%/*}"/*.json 2>/dev/null)
	status=0
	python3 "$script" >"$work/table" 2>"$work/error" || status=$?
	if [ $status -eq 2 ]; then
		echo "skipped: $table: $(head -1 "$work/error")"
	elif [ $status -eq 0 ] && cmp -s "$work/table" "$table"; then
		echo "same: $table"
	else
		failed=1
		echo "different: $table: $script ended with $status: $(head -1 "$work/error")"
	fi
done
exit $failed
