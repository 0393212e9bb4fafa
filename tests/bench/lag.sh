#!/bin/sh
# How late does ipf-fire start requests? 100 a second, Poisson, the simulated server on the same cores. The baseline is how late
# a process is, at the same time, that only sleeps until a time.
set -eu
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"

seconds=${LAG_SECONDS:-30}
ipf-prep sharegpt "$TESTS/../examples/chat.json" -q -o chat.trace.zst
ipf-sched "poisson:rate=100,for=${seconds}s" -t chat.trace.zst -o chat.sched
# shellcheck disable=SC2119
server_start
"$BUILD/bench/sleeper" "$seconds" >slept &
ipf-fire -q -u "$URL" -m sim -t chat.trace.zst chat.sched -o chat.records.zst
wait $!
ipf-collect -q chat.records.zst -o chat.results.zst
ipf-report -f json chat.results.zst >report.json

read -r slept50 slept99 slept999 <slept
jq -r --argjson slept "{\"p50\":$slept50,\"p99\":$slept99,\"p99.9\":$slept999}" '
	.total as $t | ["p50", "p99", "p99.9"][] as $p | ($t.lag_ms[$p] * 1000) as $us
	| [ "lag \($p) at 100 requests/s, \($t.requests.started) sent", "\($us | round) us", "\($slept[$p] | round) us asleep",
	    "\($us / $slept[$p] * 100 | round / 100)" ]
	  + (if $p == "p99" then ["< 1000 us", (if $us < 1000 then "met" else "missed" end)] else ["-", "-"] end)
	| @tsv' report.json
