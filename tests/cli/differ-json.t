#!/bin/sh
# Random JSON and near-JSON: our reader, Python's and jq accept and refuse the same, and read the same values.
. "$TESTS/tap.sh"

command -v python3 >/dev/null && python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' || skip_all "python3 is not installed"
random_rounds 4
random_against random_json.py 3000 documents '^[0-9]{4} accepted, [0-9]{4} refused, .*, 0 differ$'
