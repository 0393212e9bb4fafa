#!/bin/bash
# vLLM's router (PyPI's vllm-router) with two replicas of vLLM on the CPU: balance and hit rate by replica, by their own counters.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/servers/servers.sh"

venv router vllm-router==0.1.17
vllm_start --seed 1 && first=$SERVED
vllm_start --seed 1 && second=$SERVED
requests() { # REPLICA
	curl -s "$1/metrics" | awk 'index($1, "vllm:request_success_total{") == 1 { sum += $2 } END { printf "%d", sum }'
}
for policy in round_robin cache_aware; do
	serve /health "$servers/router/bin/vllm-router" --host 127.0.0.1 --port PORT --worker-urls "$first" "$second" --policy $policy \
		--prometheus-port "$(free_port)"
	wait_for answers "$SERVED/v1/models"
	URL=$SERVED MODEL=tiny a=$(requests "$first") b=$(requests "$second")
	ipf-prep synthetic -n 60 --input-tokens 100 --output-tokens 8 -t model/tokenizer.json --prefixes 6x300 --salt $policy -q -o shared.trace
	ipf-sched -q constant:rate=4,n=60 -t shared.trace -o shared.sched
	asked shared.sched 2>"$ERR" | ipf-collect -q --scrape "first=$first" --scrape "second=$second" --every 200ms -o "$policy.results" 2>>"$ERR"
	ipf-report -q -f json --trace shared.trace "$policy.results" >"$policy.json"
	is "$(counts $policy)" "[60,0]" "$policy: all are answered"
	a=$(($(requests "$first") - a)) b=$(($(requests "$second") - b))
	is $((a + b)) 60 "$policy: one replica gets every request ($a and $b)"
	between "$(jq '.server.hit_rate - .cache.ideal_share' $policy.json)" -1 0.001 "$policy: their caches find no more than one cache could"
	echo "# $policy: requests of each replica $a and $b, hit rate $(jq .server.hit_rate $policy.json), possible $(jq .cache.ideal_share $policy.json)"
	serve_stop
done
between "$(jq -n "$(jq .server.hit_rate cache_aware.json) - $(jq .server.hit_rate round_robin.json)")" 0 1 "cache_aware finds at least as much as round_robin"
