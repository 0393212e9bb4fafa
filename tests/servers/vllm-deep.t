#!/bin/bash
# vLLM on the CPU, at depth: adapters, its prefix cache, disconnects, runs until stable, a search for its capacity, spans of client and server, its own benchmark
# on the same load; then speculation, and then a cache so small that requests are preempted, with priorities.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/servers/servers.sh"

counter() { curl -s "$URL/metrics" | awk -v name="vllm:$1" 'index($1, name "{") == 1 { sum += $2 } END { printf "%d", sum }'; }
idle() { [ "$(counter num_requests_running)$(counter num_requests_waiting)" = 00 ]; }
watched() { # NAME STAGE ARGUMENTS OF ipf-fire…: with its metrics
	local name=$1 stage=$2
	shift 2
	ipf-sched -q "$stage" -t "${TRACE:-prompts.trace}" -o "$name.sched"
	asked "$name.sched" "$@" 2>"$ERR" | ipf-collect -q --scrape "vllm=$URL" --every 200ms -o "$name.results" 2>>"$ERR"
	ipf-report -q -f json "$name.results" >"$name.json" 2>>"$ERR"
}

mkdir spans
python3 "$TESTS/helpers/otlp_receiver.py" serve spans >spans.port 2>spans.said &
receiver=$!
stop_at_exit $receiver
wait_for tap_port_or_gone spans.port $receiver || true
[ -s spans.port ] || skip_all "no receiver of spans (python3-protobuf): $(tail -1 spans.said)"
spans_port=$(cat spans.port)
export OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf OTEL_BSP_SCHEDULE_DELAY=200
vllm_start --enable-lora --max-lora-rank 8 --max-loras 2 --lora-modules "a=$PWD/lora-a" "b=$PWD/lora-b" --enable-prompt-tokens-details \
	--otlp-traces-endpoint "http://127.0.0.1:$spans_port/ok/v1/traces"
URL=$SERVED MODEL=tiny
ipf-prep synthetic -n 40 --input-tokens 40 --output-tokens 16 -t model/tokenizer.json -q -o prompts.trace

# ---- two adapters beside the model -----------------------------------------------------------------------------------
ipf-prep synthetic -n 60 --input-tokens 40 --output-tokens 16 -t model/tokenizer.json --models tiny=0.4,a=0.3,b=0.3 -q -o adapters.trace
MODEL='' TRACE=adapters.trace watched adapters constant:rate=6,n=60
is "$(counts adapters)" "[60,0]" "adapters: all are answered"
is "$(rows adapters.results | jq -r .model | sort | uniq -c | awk '{ print $2 "=" $1 }')" \
	"$(prompts adapters.trace | jq -r .model | sort | uniq -c | awk '{ print $2 "=" $1 }')" "adapters: each by the name that was asked for"

# ---- prefix cache: whole blocks, by its counters and by usage --------------------------------------------------------
ipf-prep synthetic -n 40 --input-tokens 200 --output-tokens 8 -t model/tokenizer.json --prefixes 2x160 -q -o shared.trace
queried=$(counter prefix_cache_queries_total) hit=$(counter prefix_cache_hits_total)
TRACE=shared.trace watched shared constant:rate=4,n=40
is "$(counts shared)" "[40,0]" "prefix cache: all are answered"
hits=$(($(counter prefix_cache_hits_total) - hit))
is "$(rows shared.results | jq -s 'map(.cached_tokens // 0) | add')" "$hits" "prefix cache: usage has as many cached tokens as its counter ($hits)"
block=$(ipf-report -q -f json --trace shared.trace shared.results | jq .cache.block_tokens)
is "$(rows shared.results | jq -s --argjson block "$block" 'all((.cached_tokens // 0) % $block == 0)')" true "prefix cache: cached tokens are whole blocks of $block"
possible=$(ipf-report -q -f json --trace shared.trace shared.results | jq .cache.reported.ideal_tokens)
is "$hits" "$possible" "prefix cache: as many as its blocks allow, by the trace"
echo "# prefix cache: $hits of $(($(counter prefix_cache_queries_total) - queried)) tokens were found"

# ---- a client that leaves: it stops generating -----------------------------------------------------------------------
made=$(counter generation_tokens_total)
ipf-prep synthetic -n 10 --input-tokens 20 --output-tokens 1500 -t model/tokenizer.json -q -o long.trace
TRACE=long.trace fired leaving constant:rate=10,n=10 --exact-output --cancel 100%@700ms
is "$(jq -c .total.requests.hung_up leaving.json)" 10 "disconnects: all left"
wait_for idle
between "$(($(counter generation_tokens_total) - made))" 10 9000 "disconnects: it stopped generating, at $(($(counter generation_tokens_total) - made)) of 15,000 tokens"

# ---- until stable, and the sustained rate ----------------------------------------------------------------------------
ipf-sched -q closed:users=4,for=120s -t prompts.trace |
	asked -t prompts.trace 2>>"$ERR" | ipf-collect --until-stable 50%,windows=3,window=4s -o stable.results 2>stable.said
matches "$(cat stable.said)" 'ipf-collect: stable from ' "--until-stable ends the run when it is stable"
run timeout 280 make -s -f "$ROOT/share/ipf/capacity.mk" URL="$URL" MODEL=tiny SLO=p90:ttft=500ms TIME=90s TRACE=prompts.trace
status_is 0 "capacity: it ends"
matches "$(cat capacity/answer.txt)" '[0-9]' "capacity: the answer is $(head -1 capacity/answer.txt)"

# ---- spans of client and server are one trace ------------------------------------------------------------------------
rm -f spans/*
ipf-sched -q constant:rate=4,n=10 -t prompts.trace -o spans.sched
asked spans.sched -H 'traceparent: $traceparent' 2>>"$ERR" | ipf-collect -q --otlp "http://127.0.0.1:$spans_port/ok" -o spans.results
span_names() { cat spans/*.json | jq -r ".parts[]?.spans[]? | select(.name == \"$1\") | .$2"; }
joined() { span_names llm_request parent | grep . | sort >parents && span_names "chat tiny" span | sort | comm -12 - parents | wc -l; }
all_joined() { [ "$(joined)" = 10 ]; }
wait_for all_joined
is "$(joined)" 10 "spans: each of its spans is a child of ours"

# ---- its own benchmark on the same load ------------------------------------------------------------------------------
ipf-prep synthetic -n 60 --input-tokens 40 --output-tokens 16 -t model/tokenizer.json -q -o beside.trace
TRACE=beside.trace watched beside constant:rate=4,n=60 --exact-output
timeout 200 "$vllm/bin/vllm" bench serve --backend openai-chat --endpoint /v1/chat/completions --base-url "$URL" --model tiny --tokenizer "$PWD/model" \
	--dataset-name random --random-input-len 40 --random-output-len 16 --num-prompts 60 --request-rate 4 --burstiness 1000 --ignore-eos \
	--save-result --result-filename bench.json >bench.said 2>&1
is "$(jq -c '[.completed, .total_output_tokens]' bench.json)" "[60,960]" "vllm bench serve: as many requests and tokens"
between "$(jq -n "$(jq .median_ttft_ms bench.json) / $(jq .total.latency.ttft_ms.from_start.p50 beside.json)")" 0.5 2 "vllm bench serve: TTFT, minutes later, is of that size"
echo "# vllm bench serve and ipf, medians in ms: TTFT $(jq .median_ttft_ms bench.json) $(jq .total.latency.ttft_ms.from_start.p50 beside.json), TPOT $(
	jq .median_tpot_ms bench.json) $(jq .total.latency.tpot_ms.p50 beside.json)"
ipf-report -q -f json bench.json >theirs.json && is "$(jq .total.requests.ok theirs.json)" 60 "vllm bench serve: its file is read"
serve_stop

# ---- speculation by n-grams ------------------------------------------------------------------------------------------
unset OTEL_EXPORTER_OTLP_TRACES_PROTOCOL
vllm_start --speculative-config '{"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 3, "prompt_lookup_min": 1}'
URL=$SERVED
ipf-prep synthetic -n 20 --input-tokens 40 --output-tokens 200 -t model/tokenizer.json -q -o speculated.trace
TRACE=speculated.trace watched speculated closed:users=2,n=20 --exact-output --param temperature=0
is "$(counts speculated)" "[20,0]" "speculation: all are answered"
is "$(rows speculated.results | jq -s 'map(.output_tokens) | unique')" "$(echo '[200]' | jq .)" "speculation: tokens are counted, not events"
drafted=$(counter spec_decode_num_draft_tokens_total) accepted=$(counter spec_decode_num_accepted_tokens_total)
between "$drafted" 1 1000000 "speculation: it drafted ($drafted, of which it accepted $accepted)"
near=$(jq -n "$accepted / $drafted - $(jq '.server.acceptance // .server.acceptance.mean' speculated.json) | fabs < 0.001")
is "$near" true "speculation: the report has its share of accepted tokens"
serve_stop

# ---- a cache of few blocks: preemption, and priorities ---------------------------------------------------------------
vllm_start --num-gpu-blocks-override 18 --max-num-seqs 16 --scheduling-policy priority --no-enable-prefix-caching
URL=$SERVED
ipf-prep synthetic -n 24 --input-tokens 40 --output-tokens 600 -t model/tokenizer.json -q -o crowd.trace
TRACE=crowd.trace watched preempted closed:users=16,n=24 --exact-output
is "$(counts preempted)" "[24,0]" "preemption: all are answered"
preempted=$(counter num_preemptions_total)
between "$preempted" 1 10000 "preemption: it preempted ($preempted)"
is "$(jq .server.preemptions preempted.json)" "$preempted" "preemption: the report has its counter"
ipf-prep synthetic -n 24 --input-tokens 40 --output-tokens 150 -t model/tokenizer.json -q -o short.trace
TRACE=short.trace fired low burst:n=24 --exact-output --param priority=10 &
TRACE=short.trace fired high constant:rate=2,n=6 --exact-output --param priority=0
wait %+ 2>/dev/null || wait $!
is "$(counts low)$(counts high)" "[24,0][6,0]" "priorities: all are answered"
low=$(jq .total.latency.e2e_ms.from_start.mean low.json) high=$(jq .total.latency.e2e_ms.from_start.mean high.json)
is "$(jq -n "$high < $low")" true "priorities: those of high priority take less time ($high ms, others $low ms)"
