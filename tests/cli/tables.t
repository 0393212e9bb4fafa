#!/bin/sh
# Generated tables and dashboards equal their scripts' output.
. "$TESTS/tap.sh"

command -v python3 >/dev/null || skip_all "python3 is not installed"
[ -z "${SANITIZE:-}" ] || skip_all "the same with every sanitizer"
"$TESTS/house/tables.sh" >tables 2>&1
while IFS=: read -r outcome table why; do
	case $outcome in
	same) ok "$table is what its script makes" ;;
	skipped) skip "$table is what its script makes" "$why" ;;
	*) not_ok "$table is what its script makes" "$why" ;;
	esac
done <tables
yes_if "tables.sh lists tables to compare" test -s tables
