#!/bin/sh
# What users read is in plain technical English, as far as a list of words can tell; and the check itself works.
. "$TESTS/tap.sh"

[ -z "${SANITIZE:-}" ] || skip_all "the same with every sanitizer"
is "$("$TESTS/house/words.sh")" "" "README, manual pages and --help avoid the words of tests/house/words.txt"
echo 'Nobody hangs up over and over.' >bad.md
is "$("$TESTS/house/words.sh" "$PWD/bad.md" | wc -l)" 3 "a page that has such words is found"
echo 'A client disconnects three times.' >good.md
is "$("$TESTS/house/words.sh" "$PWD/good.md")" "" "a page that has none of the words passes"
