#!/bin/bash
# Several servers behind one run: the work of each by its own counters, compared with the servers' logs; prefill and decode workers told apart;
# the effect of keeping sessions together on the prefix caches, beside taking turns.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
. "$TESTS/fixture.sh"
. "$TESTS/scraped.sh"

# Sessions of six turns with long contexts: the same server has them in its cache, another has not.
ipf-prep synthetic --sessions 12 --turns 6 --wait 1ms --input-tokens 600 --output-tokens 4 -q -o s.trace
N=$(body s.trace | grep -c '"id"')
ipf-sched "closed:users=3,n=$N" -t s.trace -q -o s.sched
servers() {
	server_start --log a.log --step-base 2ms
	A=$URL A_PID=$SERVER
	server_start --log b.log --step-base 2ms
	B=$URL B_PID=$SERVER
	: >a.log
	: >b.log
}
fire() { # NAME BALANCE
	servers
	scraped_begin "$1.results" s.sched -t s.trace -u "$A" -u "$B" --balance "$2" -- a="$A" b="$B"
	wait $scraped_run || not_ok "$1: the run" "$(cat "$1.results.err")"
	ipf-report -f json --window drain "$1.results" >"$1.json"
	cp a.log "$1.a"
	cp b.log "$1.b"
	server_stop "$A_PID"
	server_stop "$B_PID"
}
log_says() { # LOG: requests, input tokens found in the cache, in thousandths
	jq -s -c '[length, (map(.cached_tokens) | add) / (map(.prompt_tokens) | add) * 1000 | round]' "$1"
}
told() { # NAME TARGET
	jq -c --arg target "$2" '.server.targets[] | select(.target == $target) | [.requests, (.hit_rate * 1000 | round)]' "$1.json"
}
for balance in round-robin session; do
	fire $balance $balance
	for target in a b; do
		is "$(told $balance $target)" "$(log_says $balance.$target)" "$balance: requests and hit rate of $target are those of its log"
	done
	is "$(jq -c '.server.balance | map([.targets, .requests * 1000 | round]) | .[0]' $balance.json)" \
		"$(jq -n -c --argjson a "$(wc -l <$balance.a)" --argjson b "$(wc -l <$balance.b)" '[2, ([$a, $b] | max) * 2 / ($a + $b) * 1000] | map(round)')" \
		"$balance: how evenly they were loaded"
done
rate() { jq '.server.hit_rate * 1000 | round' "$1.json"; }
between "$(rate session)" $(($(rate round-robin) + 20)) 1000 "sessions that stay find more in the caches ($(rate session) and $(rate round-robin) thousandths)"
ipf-report --section server session.results | tr -s ' \n' ' ' >text
contains "$(cat text)" "Work of the targets" "a table has both side by side"
# The same in virtual time, where no verdict depends on this machine.
twin two.twin step_base_ns=2000000 step_per_sequence_ns=0 prefix_cache=1
for balance in round-robin session; do
	ipf-twin predict -q two.twin --replicas 2 --balance $balance -t s.trace s.sched | ipf-collect -q -o "virtual-$balance.results"
done
run ipf-report compare --window drain virtual-round-robin.results virtual-session.results
contains "$(tr -s ' ' <"$OUT")" "cached input tokens" "a comparison of two ways to balance has the cached tokens"

# Prefill workers stop after the first token, decode workers do not.
ipf-prep synthetic -n 40 --input-tokens 60 --output-tokens 1 -q -o prefill.trace
ipf-prep synthetic -n 40 --input-tokens 60 --output-tokens 30 -q -o decode.trace
ipf-sched constant:rate=20,n=40 -t decode.trace -q -o d.sched
ipf-sched constant:rate=20,n=40 -t prefill.trace -q -o p.sched
servers
ipf-fire -m sim -t prefill.trace p.sched -u "$A" -q -o prefill.records &
first=$!
stop_at_exit $first
ipf-fire -m sim -t decode.trace d.sched -u "$B" -q | ipf-collect --scrape p="$A/metrics" --scrape d="$B/metrics" --every 100ms -q -o pd.results
wait $first
is "$(ipf-report -f json pd.results | jq -c '.server.targets | map([.target, .role]) | sort')" '[["d","decode"],["p","prefill"]]' "roles by what they generate"
is "$(ipf-report -f json round-robin.results | jq -c '.server.targets | map(.role)')" '[null,null]' "servers without roles have none"
