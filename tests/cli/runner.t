#!/bin/sh
# The runner itself: a failing test, dies, hangs, says nothing or is cut short must never pass for a good one.
. "$TESTS/tap.sh"

mkdir -p house/tests/cli house/build/bin house/build/unit house/tests/unit
cp "$TESTS/run" "$TESTS/tap.sh" house/tests
RUNNER=$PWD/house/tests/run

test_is() { # NAME: the script comes from standard input
	{ echo '#!/bin/sh'; cat; } >"house/tests/cli/$1.t"
	chmod +x "house/tests/cli/$1.t"
}
# Runs the tests of this name; their last line has to be this.
outcome() { # NAME EXPECTED TEXT
	run env BUILD="$PWD/house/build" SANITIZE= LIMIT="${LIMIT:-600}" JOBS=2 SHARED= "$RUNNER" "cli/$1"
	is "$(tail -1 "$OUT")" "$2" "$3"
}

test_is good <<'X'
. "$TESTS/tap.sh"
ok one
is a a two
contains abc b three
run sh -c 'echo out; echo err >&2; exit 3'
status_is 3 four
stdout_is out five
stderr_is err six
skip seven "no such thing here"
X
outcome good "6 passed, 0 failed, 1 skipped" "the runner counts passed and skipped tests"
is "$status" 0 "the runner ends with 0 when nothing failed"

test_is bad <<'X'
. "$TESTS/tap.sh"
ok one
is a b two
X
outcome bad "1 passed, 1 failed" "the runner counts a failed test"
is "$status" 1 "the runner ends with 1 when something failed"
matches "$(cat "$OUT")" "^failed: cli/bad$" "the runner names a file that failed"
contains "$(cat "$OUT")" "make check TESTS=cli/bad" "the runner prints how to run a failed file alone"
contains "$(cat house/build/failed/cli/bad.out)" "got:      a" "the runner keeps the output of a failed file"
yes_if "the runner keeps the folder of a failed file" test -d house/build/failed/cli/bad
contains "$(cat "$OUT")" "got:      a" "the runner shows the output of a file that failed"

test_is dies <<'X'
. "$TESTS/tap.sh"
ok one
exit 5
ok two
X
outcome dies "1 passed, 1 failed" "a file that ends with a status of its own has failed"

test_is silent <<'X'
true
X
outcome silent "0 passed, 1 failed" "a file without a test has failed"

test_is hangs <<'X'
. "$TESTS/tap.sh"
ok one
sleep 300 & wait
X
LIMIT=10 outcome hangs "1 passed, 1 failed" "a file that hangs is stopped and has failed"

test_is short <<'X'
echo 1..3
echo "ok 1 - one"
echo "ok 2 - two"
X
outcome short "2 passed, 1 failed" "fewer tests than planned have failed"

test_is reported <<'X'
. "$TESTS/tap.sh"
ok one
echo "heap-use-after-free" >"${ASAN_OPTIONS##*log_path=}.1" 2>/dev/null || :
report=${ASAN_OPTIONS#*log_path=}; echo "heap-use-after-free" >"${report%%:*}.77"
X
outcome reported "1 passed, 1 failed" "a sanitizer's report fails a test that noticed nothing"

test_is leaves_a_child <<'X'
. "$TESTS/tap.sh"
sleep 300 & stop_at_exit $!
echo $! >"$TESTS/child"
false || exit 1
X
outcome leaves_a_child "0 passed, 1 failed" "a test that gives up has failed"
yes_if "the runner stops what a failed test had started" sh -c "! kill -0 $(cat house/tests/child)"

run env BUILD="$PWD/house/build" SANITIZE= SHARED= ORDER=3 "$RUNNER" cli/good cli/bad cli/short
ran=$(grep -oE '^cli/(good|bad|short):' "$OUT" | sort | tr -d '\n')
is "$ran" "cli/bad:cli/good:cli/short:" "the runner runs each file once in random order, a failed one too"
test_is good-too <<'X'
echo ok one
X
outcome good "6 passed, 0 failed, 1 skipped" "the runner runs one file by its whole name, though another name begins so"
outcome goo "7 passed, 0 failed, 1 skipped" "the runner runs all files by a part of their name"

outcome nothing-of-this-name "" "an unknown name runs no test"
is "$status" 1 "an unknown name ends with 1"
