#!/bin/bash
# Clients that disconnect (--cancel): what the server still generated for them, by its counters, against its log.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

requests() { body "$1" | jq -c 'select(.n != null)'; }
ipf-prep synthetic -n 200 --input-tokens 20 --output-tokens 40 --reproducible -q -o t.trace
# Answers take 200 ms; those of a third are given up after 60 ms. After them come some that are not: the last scrape sees all that the server made.
ipf-sched constant:rate=100,n=160 rest:for=300ms constant:rate=100,n=10 -t t.trace -q -o t.sched

for mode in on off; do
	rm -f sim.log
	[ $mode = on ] && goes=(--generate-on) || goes=()
	server_start --step-base 5ms --step-per-seq 0 --prefill-rate 1000M --log sim.log "${goes[@]}"
	ipf-fire -q -u "$URL" -m sim -t t.trace t.sched --cancel 30%@60ms | ipf-collect -q --scrape "$URL/metrics" -o $mode.results
	server_stop
	run ipf-report -f json $mode.results
	jq -c '.server.comparison' "$OUT" >comparison
	given_up=$(requests $mode.results | jq -s 'map(select(.error.kind == "hung-up")) | length')
	between "$given_up" 25 80 "generate-$mode: requests were given up"
	is "$(jq .unreceived.requests comparison)" "$given_up" "generate-$mode: the report has their number"
	# The server's own account, and what came.
	made=$(jq -s 'map(.generated_tokens // .output_tokens) | add' sim.log)
	came=$(requests $mode.results | jq -s 'map(.output_tokens // 0) | add')
	counted=$(jq '.output_tokens.server | round' comparison)
	between "$counted" $((made - 80)) "$made" "generate-$mode: the last scrape has all that the log has, but for what two answers still got after it"
	is "$(jq '.unreceived.tokens | round' comparison)" $((counted - came)) "generate-$mode: tokens that were generated and not received"
	is "$(jq --argjson m "$counted" --argjson c "$came" '.unreceived.share - ($m - $c) / $m | fabs < 1e-5' comparison)" true "generate-$mode: with their share"
	is "$(jq '.unreceived.received' comparison)" "$(requests $mode.results | jq -s 'map(select(.error.kind == "hung-up") | .output_tokens // 0) | add')" \
		"generate-$mode: and what came of them"
	eval "more_$mode=$((made - came))"
done
# shellcheck disable=SC2154 # set by eval
between "$more_on" $((given_up * 20)) $((given_up * 40)) "a server that goes on makes most of each answer for nobody"
# shellcheck disable=SC2154
between "$more_off" 0 $((given_up * 4)) "one that stops loses a token or two of each"
run ipf-report --full --section server on.results
contains "$(tr -s ' \n' ' ' <"$OUT")" "tokens more than were received" "the text says so"
