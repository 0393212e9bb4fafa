#!/bin/sh
# What users read is in plain technical English, and names of tests are statements, as far as lists of words can tell; and the checks work.
. "$TESTS/tap.sh"

[ -z "${SANITIZE:-}" ] || skip_all "the same with every sanitizer"
is "$("$TESTS/house/words.sh")" "" "README, manual pages and --help avoid the words of tests/house/words.txt"
echo 'Nobody hangs up over and over.' >bad.md
is "$("$TESTS/house/words.sh" "$PWD/bad.md" | wc -l)" 3 "a page that has such words is found"
echo 'A client disconnects three times.' >good.md
is "$("$TESTS/house/words.sh" "$PWD/good.md")" "" "a page that has none of the words passes"

# ---- names of tests -------------------------------------------------------------------------------------------------
fragments() { awk -f "$TESTS/house/test_names.awk" "$@"; }
is "$(fragments "$TESTS"/*/*.t "$TESTS"/unit/*.c)" "" "names of tests are statements"
cat >bad.t <<'END'
is "$a" "a b" "and says why"
status_is 0 "with --force" # exact: virtual
yes_if "which is kept" test -e kept
stderr_is "" "… in one line"
is "$a" "an expected value" \
	"TTFT ignores a role-only chunk"
END
printf 'static void test_%s(void **state)\n' so_is_tpot tpot_ignores_it >bad.c
is "$(fragments bad.t bad.c | cut -d : -f 1-2 | tr '\n' ' ')" "bad.t:1 bad.t:2 bad.t:3 bad.t:4 bad.c:1 5 of 7 names of tests begin with such a word " \
	"names that begin with such a word are found"
{ grep TTFT bad.t && sed -n 2p bad.c && echo 'is "$a" b "by=thin keeps the times"'; } >good.t
is "$(fragments good.t)" "" "names that are statements pass"
