#!/bin/sh
# The table of compare.mk: comparison.sh CSV ROUND…, from a-ROUND.report.json and b-ROUND.report.json in the same folder; a text is
# made beside it. A difference counts as one if the rounds of A and B do not overlap.
csv=$1
shift
folder=$(dirname "$csv")
figures() { # SIDE ROUND
	jq -r --arg side "$1" '.total | {"completed, per s": .rate.completed, "output tokens, per s": .throughput.output_tokens_per_s,
		"failed": .requests.failed} + ((.latency.ttft_ms | .from_due // .from_start) | {"TTFT p50, ms": .p50, "TTFT p99, ms": .p99})
		+ (.latency.tpot_ms | {"TPOT p50, ms": .p50, "TPOT p99, ms": .p99})
		+ ((.latency.e2e_ms | .from_due // .from_start) | {"E2E p50, ms": .p50, "E2E p99, ms": .p99})
		| to_entries[] | select(.value != null) | "\($side)\t\(.key)\t\(.value)"' "$folder/$1-$2.report.json"
}
for round; do
	figures a "$round" && figures b "$round" || exit
done >"$folder/part.figures" || exit

awk -F '\t' -v csv="$folder/part.comparison.csv" -v rounds=$# '
	!($2 in seen) { seen[$2] = 1; order[++n] = $2 }
	{ k = $1 SUBSEP $2; sum[k] += $3; count[k]++
	  if (count[k] == 1 || $3 < low[k]) low[k] = $3
	  if (count[k] == 1 || $3 > high[k]) high[k] = $3 }
	END {
		print "\"figure\",\"a\",\"b\",\"b_to_a_percent\",\"a_min\",\"a_max\",\"b_min\",\"b_max\",\"differs\"" > csv
		printf "%-22s %12s %12s %10s   %s\n", "mean of " rounds " rounds", "A", "B", "B to A", "rounds of A; of B"
		for (i = 1; i <= n; i++) {
			f = order[i]; a = "a" SUBSEP f; b = "b" SUBSEP f
			if (!count[a] || !count[b]) continue
			ma = sum[a] / count[a]; mb = sum[b] / count[b]
			percent = ma > 0 ? sprintf("%+.1f", (mb / ma - 1) * 100) : ""
			apart = high[a] < low[b] || high[b] < low[a]
			printf "\"%s\",%.6g,%.6g,%s,%.6g,%.6g,%.6g,%.6g,%s\n", f, ma, mb, percent, low[a], high[a], low[b], high[b], apart ? "true" : "false" > csv
			printf "%-22s %12.4g %12.4g %9s   %.4g to %.4g; %.4g to %.4g%s\n", f, ma, mb, percent == "" ? "-" : percent "%", low[a], high[a], low[b], high[b], apart ? "" : "  (overlap)"
		}
	}' "$folder/part.figures" >"$folder/part.comparison.txt" || exit
rm -f "$folder/part.figures"
mv -f "$folder/part.comparison.txt" "$folder/comparison.txt" && mv -f "$folder/part.comparison.csv" "$csv" && cat "$folder/comparison.txt"
