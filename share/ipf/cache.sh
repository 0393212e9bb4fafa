#!/bin/sh
# The table of cache.mk: cache.sh CSV SHARE…, from hit-SHARE.report.json in the same folder. Shares are of the prompts of the requests for
# which the server reports its cache.
csv=$1
shift
folder=$(dirname "$csv")
part=$folder/part.cache.csv
echo '"hit_rate","cached_share","possible_share","completed_per_s","failed","ttft_p50_ms","ttft_p99_ms","tpot_p50_ms","tpot_p99_ms","e2e_p50_ms"' >"$part" || exit
for share; do
	jq -r --arg share "$share" '(.cache.reported // .cache) as $of | .total | [($share | tonumber? // $share),
		$of.share, (if $of.prompt_tokens then $of.ideal_tokens / $of.prompt_tokens else null end), .rate.completed, .requests.failed,
		((.latency.ttft_ms | .from_due // .from_start) | .p50, .p99), (.latency.tpot_ms | .p50, .p99),
		((.latency.e2e_ms | .from_due // .from_start) | .p50)] | @csv' "$folder/hit-$share.report.json" >>"$part" || exit
done
mv -f "$part" "$csv" && awk -F , '
	function percent(x) { return x == "" ? "-" : sprintf("%.1f %%", 100 * x) }
	function time(x) { return x == "" ? "-" : sprintf("%.4g", x) }
	NR == 1 { printf "%8s %9s %9s %8s %7s %14s %14s\n", "asked", "possible", "found", "done/s", "failed", "TTFT p50 p99", "TPOT p50 p99"; next }
	{ printf "%8s %9s %9s %8.4g %7s %14s %14s\n", percent($1), percent($3), percent($2), $4, $5, time($6) " " time($7), time($8) " " time($9); less += $3 != "" && $3 < $1 - 0.01 }
	END {
		print "TTFT and TPOT in ms; possible: for a cache without a limit, by the requests that were sent"
		if (less) print "Less than asked is possible because the first prompt of each group is new: send more requests."
	}' "$csv"
