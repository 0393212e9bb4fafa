#!/bin/bash
# A shorter form of long/coverage.t: intervals and findings of runs whose truth is known, with a fixed seed. Each case was wrong once.
. "$TESTS/tap.sh"

command -v python3 >/dev/null || skip_all "python3 is not installed"
covers() { # REPETITIONS CASE TEXT
	yes_if "$3" python3 "$TESTS/helpers/coverage.py" --repetitions "$1" "$BIN/ipf-report" "$2"
	sed 's/^/# /' tap.yes_if
}
covers 40 two:iid:30:runs=3,spread=0.3,seeds "three runs of each side with other seeds: the run is what was repeated"
covers 40 two:iid:10 "60 to 140 requests of one schedule"
covers 40 two:iid:10:long=60 "a short side and a long one"
covers 20 two:burst:60:seeds "bursts that are long beside the run"
covers 20 one:burst:300 "bursts of one run that are long beside it"
covers 40 one:related:300 "neighbours that resemble each other"
covers 40 two:iid:30:slower=1.2 "a server slower by a fifth is found"
