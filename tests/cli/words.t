#!/bin/sh
# Pages, messages and help are in plain technical English, and names of tests are statements, as far as lists of words can tell; the checks work.
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

# shellcheck disable=SC2016 # backquotes are Markdown's
{
	echo '/* What the buffer holds. Returns the bytes that `read` gave. */'
	echo 'int length; // of a line, as "what that" says'
	echo '/* Returns the length. See `what`(3).'
	echo ' *'
	echo ' *     what that is: code'
	echo ' */'
	echo 'void report(const char *name) { fail("%s: the values that the file has are in no order", name); }'
} >breaches.c
is "$(python3 "$TESTS/house/prose.py" --list breaches.c | cut -d : -f 2 | tr '\n' ' ')" "1 1 2 7 " "prose.py finds What, Of and that in comments and messages, not in code"
python3 "$TESTS/house/prose.py" breaches.c >figures
is "$?" 1 "prose.py fails above its limits"
is "$(grep -c 'breaches.c 2' figures)" 3 "prose.py names the worst files of each rule"
printf '%s ' one two three four five six seven eight nine ten >words
echo "$(cat words words words)more." >long.md
is "$(python3 "$TESTS/house/prose.py" --list long.md | wc -l)" 1 "prose.py finds a sentence over 30 words"
echo '/* Returns the length of a line. */' >short.c
python3 "$TESTS/house/prose.py" short.c >figures
is "$?" 0 "prose.py accepts a short comment"
