#!/bin/sh
# The table of cache.mk: cache.sh CSV SHARE…, from hit-SHARE.report.json in the same folder.
csv=$1
shift
folder=$(dirname "$csv")
part=$folder/part.cache.csv
echo '"hit_rate","cached_share","possible_share","completed_per_s","failed","ttft_p50_ms","ttft_p99_ms","tpot_p50_ms","tpot_p99_ms","e2e_p50_ms"' >"$part" || exit
for share; do
	jq -r --arg share "$share" '.cache.ideal_share as $possible | .total | [($share | tonumber? // $share), .tokens.cached_share, $possible, .rate.completed, .requests.failed,
		((.latency.ttft_ms | .from_due // .from_start) | .p50, .p99), (.latency.tpot_ms | .p50, .p99),
		((.latency.e2e_ms | .from_due // .from_start) | .p50)] | @csv' "$folder/hit-$share.report.json" >>"$part" || exit
done
mv -f "$part" "$csv" && cat "$csv"
