#!/bin/bash
# The small histograms of the text report: the shape of each latency between its least value and p99.
. "$TESTS/tap.sh"
export IPF_REPORT_FULL=1 # all sections of the text
report=$BIN/ipf-report
head -1 "$TESTS/data/report/one.results" >header
rows() { # COUNT: three of four answers from a cache, after 20 ms; the others after 200 ms; E2E from 100 to 400 ms evenly
	jq -nc --argjson count "$1" 'range($count) as $n | (if $n % 4 == 3 then 200000000 else 20000000 end) as $ttft
		| (100000000 + ($n * 300000000 / $count | floor)) as $e2e | ($n * 10000000) as $due
		| {n: $n, stage: 0, ok: true, due_ns: $due, start_ns: $due, end_ns: ($due + $e2e), lag_ns: 0, ttft_ns: $ttft, e2e_ns: $e2e,
			tpot_ns: 5000000, events: 5, output_tokens: 5, tokens_source: "usage"}' >body
	seal header body
}
rows 440 >run.results
"$report" run.results >run.txt
shape() { # LABEL FILE: its line
	awk -v label="$1" '/^Shape/ { on = 1; next } !NF { on = 0 } on && $1 == label' "$2"
}
is "$(shape TTFT run.txt)" "  TTFT             20.0 █                                          ▃ 200" "two peaks: the lower one is three times as high"
is "$(shape TPOT run.txt)" "" "a metric whose values are all equal has no shape"
"$report" -f json run.results >run.json
is "$(shape E2E run.txt | awk '{ print $2, $NF }')" "$(jq -r '.total.latency.e2e_ms.from_due | "\(.min) \(.p99)"' run.json | awk '{ printf "%.0f %.0f", $1, $2 }')" "the shape reaches from the least value to p99"
is "$(shape E2E run.txt | awk '{ print $3 }' | sed -E 's/▇|█//g')" "" "even values have bars of about the same height"
"$report" --ascii run.results >ascii.txt
is "$(shape TTFT ascii.txt)" "  TTFT             20.0 #                                          - 200" "--ascii draws with ASCII characters"
is "$(LC_ALL=C grep -c '[^ -~]' ascii.txt)" 0 "--ascii prints no other characters"
is "$(sed -E 's/…|▁|▂|▃|▄|▅|▆|▇|█/./g' run.txt | awk 'length > 80')" "" "shapes fit into 80 columns"
rows 99 >few.results
is "$("$report" few.results | grep -c '^Shape')" 0 "fewer than 100 requests have no shape"
