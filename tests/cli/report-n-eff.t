#!/bin/bash
# The effective sample size and the interval of the mean, against an implementation of its own in Python.
. "$TESTS/tap.sh"
export IPF_REPORT_FULL=1 # all sections of the text
report=$BIN/ipf-report

if python3 -c 'import numpy' 2>/dev/null; then how=NumPy; else
	how="plain Python"
	skip "comparison with NumPy" "Python has no numpy: plain Python takes its place"
fi
for case in "1 0 500" "2 0.5 1000" "3 0.8 2000" "4 0.95 2000" "5 -0.4 600" "6 0.8 200 skewed" "7 0.9 60 skewed"; do
	# shellcheck disable=SC2086 # words
	python3 "$TESTS/helpers/time_series.py" rows $case >rows
	seal <(head -1 "$TESTS/data/report/one.results") rows >run.results
	"$report" -q -f json run.results >run.json
	yes_if "seed, correlation and length $case: n_eff and ci95 agree with $how" \
		python3 "$TESTS/helpers/time_series.py" check rows run.json
	cat tap.yes_if
done

# As many as 39 have neither, 40 have.
for count in 39 40; do
	python3 "$TESTS/helpers/time_series.py" rows 1 0 $count >rows
	seal <(head -1 "$TESTS/data/report/one.results") rows >run.results
	is "$("$report" -q -f json run.results | jq -c '.total.latency.ttft_ms.from_start | [has("n_eff"), has("ci95")]')" \
		"$([ $count = 40 ] && echo '[true,true]' || echo '[false,false]')" "$count samples"
done
# A latency that only rises tells next to nothing about its mean.
jq -c '.ttft_ns = .n * 1000000' rows >ramp
seal <(head -1 "$TESTS/data/report/one.results") ramp >run.results
is "$("$report" -q -f json run.results | jq -c '.total.latency.ttft_ms.from_start | [.n_eff < 4, has("ci95")]')" '[true,false]' \
	"a ramp has no interval"
