#!/bin/bash
# Disconnecting clients: the server's tokens for them afterwards, by its counters, against its log.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/scraped.sh"

# Answers take 2 s; a third are given up after 0.6 s. After them come some others: when they have ended, the server has no other work.
ipf-prep synthetic -n 170 --input-tokens 20 --output-tokens 40 --reproducible -q -o all.trace
body all.trace | jq -s -c 'to_entries[] | if .key < 160 and .key % 3 == 0 then .value.hang_up_ns = 600000000 else . end | .value // .' >lines
seal all.trace lines >t.trace
ipf-sched constant:rate=100,n=170 -t t.trace -q -o t.sched
given_up=54

for mode in on off; do
	rm -f sim.log
	[ $mode = on ] && goes=(--generate-on) || goes=()
	server_start --step-base 50ms --step-per-seq 0 --prefill-rate 1000M --log sim.log "${goes[@]}"
	scraped_begin $mode.results t.sched -t t.trace -u "$URL" -- "$URL"
	wait $scraped_run
	server_stop
	run ipf-report -f json $mode.results
	jq -c '.server.comparison' "$OUT" >comparison
	is "$(requests $mode.results | jq -s 'map(select(.error.kind == "hung-up")) | length')" $given_up "generate-$mode: requests were given up"
	is "$(jq .unreceived.requests comparison)" "$given_up" "generate-$mode: the report has their number"
	# The server's own account, and the bytes received.
	made=$(jq -s 'map(.generated_tokens // .output_tokens) | add' sim.log)
	came=$(requests $mode.results | jq -s 'map(.output_tokens // 0) | add')
	counted=$(jq '.output_tokens.server | round' comparison)
	is "$counted" "$made" "generate-$mode: the scrapes have all that the log has"
	is "$(jq '.unreceived.tokens | round' comparison)" $((counted - came)) "generate-$mode: tokens that were generated and not received"
	is "$(jq --argjson m "$counted" --argjson c "$came" '.unreceived.share - ($m - $c) / $m | fabs < 1e-5' comparison)" true "generate-$mode: the share of tokens not received"
	is "$(jq '.unreceived.received' comparison)" "$(requests $mode.results | jq -s 'map(select(.error.kind == "hung-up") | .output_tokens // 0) | add')" \
		"generate-$mode: tokens received before the disconnect"
	eval "more_$mode=$((made - came))"
done
# shellcheck disable=SC2154 # set by eval
between "$more_on" $((given_up * 20)) $((given_up * 40)) "a server that goes on makes most of each answer for nobody"
# shellcheck disable=SC2154
yes_if "a server that stops loses far fewer tokens than one that goes on: $more_off, $more_on" [ "$more_off" -lt $((more_on / 2)) ]
run ipf-report --full --section server on.results
contains "$(tr -s ' \n' ' ' <"$OUT")" "tokens more than were received" "the text says so"
