#!/bin/sh
# Nothing coming from outside speaks to the terminal: no escape sequence, no reordered line, nothing that cannot be seen.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
command -v python3 >/dev/null || skip_all "python3 is not installed"

small_run 4
for stream in trace sched records results; do
	plain chat.$stream >plain.$stream && mv plain.$stream chat.$stream
done
cp "$ROOT/examples/chat.json" .
python3 "$TESTS/helpers/terminal_canaries.py" "$BIN" "$PWD" || tap_failed=1
