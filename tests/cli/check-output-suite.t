#!/bin/sh
# ipf-collect --check-output with the official JSON-Schema-Test-Suite: JSON_SCHEMA_TEST_SUITE names its folder of tests (default: where Debian's
# package json-schema-test-suite has an old one).
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

suite=${JSON_SCHEMA_TEST_SUITE:-/usr/share/json-schema-test-suite/tests}
[ -d "$suite/draft7" ] || skip_all "no JSON-Schema-Test-Suite here (package json-schema-test-suite, or JSON_SCHEMA_TEST_SUITE)"

run python3 "$TESTS/helpers/schema_suite.py" "$suite"
status_is 0 "the suite runs"
matches "$(tail -1 "$OUT")" "^[1-9][0-9]{2,} right, [0-9]+ refused, 0 differ$" "the suite finds no difference: $(tail -1 "$OUT")"
is "$(sed '$d' "$OUT")" "" "a refused schema of the suite has a reason in the manual"
