#!/bin/bash
# The windows of a run in the report: the time line of the text, and "series" of the JSON.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
export IPF_REPORT_FULL=1 # all sections of the text
data=$TESTS/data/report
report=$BIN/ipf-report

header() { # T0_UNIX_NS EVERY_NS
	jq -c ".series = { every_ns: $2 }" <(head -1 "$data/one.results") | sed "s/\"tool\":\"ipf-fire 0.1.0\"/&,\"t0_unix_ns\":$1/"
}
# Windows FROM to TO, each with its number plus one as starts.
windows() { # FROM TO EVERY_NS
	jq -nc --argjson from "$1" --argjson to "$2" --argjson every "$3" 'range($from; $to) | { window: ., t_ns: (. * $every), length_ns: $every, stage: 0,
		started: (. + 1), ok: ., failed: (if . == 3 then { timeout: 2 } else null end), in_flight_ns: (2 * $every), output_tokens: (10 * .),
		ttft_ns: { count: 1, min: 100, max: 100, sum: 100, buckets: [[100, 1]] } } | del(.[] | nulls) | if .ok == 0 then del(.ok, .output_tokens) else . end'
}
make() { # NAME T0_UNIX_NS FROM TO EVERY_NS N
	header "$2" "$5" >header
	{
		sed -e 1d -e '$d' "$data/one.results" | jq -c "if .n then .n = $6 else . end"
		echo '{"sample":"client","t_ns":12000000000}'
		windows "$3" "$4" "$5"
	} >body
	seal header body >"$1.results"
}

make whole 1000000000000000000 0 12 1000000000 0
run "$report" --ascii whole.results
status_is 0 "a run with windows is reported"
is "$(sed -n '/^Time line/,/^$/p' "$OUT")" "Time line     12 s, in steps of 1 s
  started/s   .:--=++*%%## at most 12.0
  in flight   ############ at most 2.00
  tokens/s    ..:--=+**%## at most 110
  TTFT p99 ms ############ at most 0.000
  failed      ...#........ at most 2.00" "the text has a time line"
run "$report" whole.results
is "$(LC_ALL=C tr -d '\200-\277' <"$OUT" | LC_ALL=C awk 'length > 80')" "" "the time line fits into 80 columns"
contains "$(cat "$OUT")" "▁▂▃▃▄▅▅▆▇▇██" "the time line has blocks"
run "$report" -f json whole.results
is "$(jq -c '[.series | .every_s, (.windows | length), .windows[3].started, .windows[3].failed, .windows[3].in_flight, .windows[3].output_tokens, .windows[3].ttft_ms.n]' "$OUT")" \
	'[1,12,4,2,2,30,1]' "JSON has the windows"

# Two shards, the second 2 s later: its windows 0 and 1 are the first one's 2 and 3.
make late 1000000002000000000 0 12 1000000000 1
run "$report" -f json whole.results late.results
is "$(jq -c '[.series.windows | length, .[1].started, .[2].started, .[13].started]' "$OUT")" '[14,2,4,12]' "windows of shards add up on one clock"
make coarse 1000000002000000000 0 6 2000000000 1
run "$report" -f json whole.results coarse.results
is "$(jq -c '[.series | .every_s, (.windows | map(.started) | add)]' "$OUT")" '[2,99]' "windows of two lengths add up in the longer one"
# Repeats have no time in common.
make after 1000000900000000000 0 12 1000000000 1
run "$report" -f json whole.results after.results
is "$(jq -c .series "$OUT")" null "windows of repeats do not add up"
run "$report" "$data/one.results"
is "$(grep -c '^Time line' "$OUT")" 0 "results without windows have no time line"
make short 1000000000000000000 0 7 1000000000 0
run "$report" short.results
is "$(grep -c '^Time line' "$OUT")" 0 "results of few windows have no time line"
make long 1000000000000000000 0 1000 1000000000 0
run "$report" --ascii long.results
is "$(sed -n '/^  started/p' "$OUT" | cut -c 15-62 | tr -d ' ' | wc -c)" 49 "many windows become at most 48 steps"
sed -i 's/"window":1,/"window":"x",/' body
seal header body >bad.results
run "$report" bad.results
status_is 3 "a bad window is an error"
