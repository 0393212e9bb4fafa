#!/bin/bash
# Reverse proxies that others wrote, before a simulated server: streams pass at once, nothing fails, and each one's addition to TTFT
# and ITL against the server asked directly, in turns.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/servers/servers.sh"
. "$TESTS/servers/proxies.sh"

server_start --step-base 4ms --step-per-seq 0
DIRECT=$URL
ipf-prep synthetic -n 200 --input-tokens 40 --output-tokens 20 -q -o prompts.trace

measured() { # NAME URL: $1.json
	URL=$2 MODEL=sim fired "$1" "poisson:rate=${RATE:-20},n=60"
}
median() { jq ".total.latency.$2 | (.from_start // .).p50" "$1.json"; }

through() { # NAME VERSION URL
	local name=$1
	measured direct "$DIRECT"
	measured "$name" "$3"
	all_answered "$name" "$name" 60
	between "$(connections "$name")" 1 20 "$name: connections are kept"
	is "$(jq -c '[.transport[]?.finding | select(test("buffer|merged|batched|held"))]' "$name.json")" "[]" "$name: streams pass as they come"
	between "$(jq -n "$(median "$name" ttft_ms) - $(median direct ttft_ms)")" -20 "${NEAR:-20}" "$name: the TTFT that it adds"
	printf '# %s %s adds to TTFT %s ms, to ITL %s ms at the median\n' "$name" "$2" \
		"$(jq -n "($(median "$name" ttft_ms) - $(median direct ttft_ms)) * 100 | round / 100")" \
		"$(jq -n "($(median "$name" itl_ms) - $(median direct itl_ms)) * 100 | round / 100")"
}

for proxy in nginx haproxy caddy envoy; do
	if ${proxy}_serve "$DIRECT"; then
		through $proxy "$(${proxy}_version)" "$SERVED"
		serve_stop
	else
		skip "$proxy" "not installed"
	fi
done

# ---- gateways and routers of model servers ---------------------------------------------------------------------------
# Their Python and their checks take longer: ITL and TTFT they add are shown, and only that streams pass is checked.
if litellm_there; then
	cat >litellm.yaml <<END
model_list:
  - model_name: sim
    litellm_params: {model: openai/sim, api_base: $DIRECT/v1, api_key: none}
END
	serve /v1/models "$servers/litellm/bin/litellm" --config litellm.yaml --host 127.0.0.1 --port PORT
	URL=$SERVED MODEL=sim asked -t prompts.trace --probe -o first.record 2>/dev/null # the first takes seconds
	RATE=3 NEAR=200 through litellm "$(version_of litellm litellm)" "$SERVED"
	MODEL=no-such-model URL=$SERVED fired wrong constant:rate=10,n=5
	refused wrong "litellm: a wrong model"
	serve_stop
else
	cat litellm.said
fi

(venv router vllm-router==0.1.17) >router.said
if [ -x "$servers/router/bin/vllm-router" ]; then
	server_start --step-base 4ms --step-per-seq 0 && second=$URL
	for policy in round_robin cache_aware; do
		serve /health "$servers/router/bin/vllm-router" --host 127.0.0.1 --port PORT --worker-urls "$DIRECT" "$second" --policy $policy \
			--prometheus-port "$(free_port)"
		wait_for answers "$SERVED/v1/models"
		[ $policy = cache_aware ] || through vllm-router "$(version_of router vllm-router)" "$SERVED"
		ipf-prep synthetic -n 200 --input-tokens 500 --output-tokens 8 --prefixes 8x400 --salt $policy -q -o shared.trace
		ipf-sched -q constant:rate=40,n=200 -t shared.trace -o shared.sched
		URL=$SERVED MODEL=sim asked shared.sched 2>/dev/null |
			ipf-collect -q --scrape "first=$DIRECT" --scrape "second=$second" --every 200ms -o "$policy.results" 2>/dev/null
		ipf-report -q -f json "$policy.results" >"$policy.json"
		is "$(counts $policy)" "[200,0]" "vllm-router, $policy: all are answered"
		shares=$(zstd -qdcf $policy.results | jq -nc '[inputs | select(.sample == "server")] | group_by(.target) | map(map(.counters.requests_ok // 0) | add)')
		between "$(jq -n "$shares | min / max")" "$([ $policy = round_robin ] && echo 0.8 || echo 0)" 1 "vllm-router, $policy: requests of each replica $shares"
		echo "# vllm-router, $policy: hit rate $(jq .server.hit_rate $policy.json), possible $(ipf-report -q -f json --trace shared.trace $policy.results | jq .cache.ideal_share)"
		serve_stop
	done
else
	cat router.said
fi
