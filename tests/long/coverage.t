#!/bin/bash
# How often are the claims of reports and comparisons about their certainty true? helpers/coverage.py makes runs of known laws, and counts.
# REPETITIONS=200; cli/report-coverage.t is a shorter form.
. "$TESTS/tap.sh"

one=(iid:10 few:10 iid:300 related:60 related:300 heavy:30 heavy:300 busy80:300 busy80:1000 busy95:300 burst:300 burst:600)
two=(iid:10 few:10 iid:300 iid:10:long=150 iid:10:seeds related:60 related:300 related:300:seeds heavy:100 heavy:100:seeds busy80:100 busy80:300:seeds
	busy95:100 busy95:300:seeds burst:60 burst:60:seeds burst:300 burst:300:seeds rare:60 rare:60:seeds never:6 iid:60:slower=1.1)
for spread in 0 0.035 0.3; do two+=("iid:30:runs=3,spread=$spread" "iid:30:runs=3,spread=$spread,seeds" "busy80:60:runs=3,spread=$spread,seeds"); done
two+=("iid:30:runs=3,spread=0.035,slower=1.3")
for case in "${one[@]/#/one:}" "${two[@]/#/two:}"; do
	yes_if "$case" python3 "$TESTS/helpers/coverage.py" --repetitions "${REPETITIONS:-200}" "$BIN/ipf-report" "$case"
	sed 's/^/# /' tap.yes_if
done
