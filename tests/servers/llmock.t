#!/bin/bash
# LLMock (PyPI's llmock): the APIs of ten providers, whose limits and faults a client must understand.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/servers/servers.sh"

venv llmock llmock==0.2.2
llmock() { serve /v1/models "$servers/llmock/bin/llmock" serve --host 127.0.0.1 --port PORT --tool-mode off "$@"; }
kinds() { jq -c '[.errors[] | [.kind, .status, .count]]' "$1.json"; }

llmock --context-window 3000
WINDOW=3000 WRONG_MODEL=accepted SESSIONS=no matrix "$SERVED" gpt-4o
also openai-responses
URL=$SERVED/anthropic MODEL=claude-sonnet-4-5 also anthropic-messages
URL=$SERVED/gemini MODEL=gemini-2.5-flash also gemini
API=openai-embeddings MODEL=text-embedding-3-small fired embeddings constant:rate=20,n=20
is "$(counts embeddings)" "[20,0]" "openai-embeddings: all are answered"
serve_stop

# ---- its times: 50 ms before an answer, 10 between words -------------------------------------------------------------
llmock --latency-ms 50 --stream-chunk-delay-ms 10
URL=$SERVED
fired timed constant:rate=4,n=20
between "$(jq .total.latency.ttft_ms.from_start.p50 timed.json)" 50 75 "times: its latency is in TTFT"
between "$(jq .total.latency.itl_ms.p50 timed.json)" 10 12 "times: its pauses are ITL"
serve_stop

# ---- its limits and faults -------------------------------------------------------------------------------------------
llmock --rpm 10
URL=$SERVED
fired limited constant:rate=20,n=20 --record-header Retry-After
is "$(kinds limited)" "[[\"http-status\",429,$(jq .total.requests.failed limited.json)]]" "10 requests a minute: the others are refused, by 429"
between "$(jq .total.requests.ok limited.json)" 9 10 "10 requests a minute: are answered, or 9 beside the question for its models"
between "$(zstd -qdcf limited.records | grep '"status":429' | grep -ci '"retry-after"')" 10 11 "10 requests a minute: it says when to come again"
serve_stop
for fault in disconnect:cut truncate:cut malformed:malformed stall:timeout; do
	llmock --stream-fault "${fault%:*}=1" --stream-stall-seconds 5
	URL=$SERVED
	fired "${fault%:*}" constant:rate=20,n=5 --timeout 2s
	is "$(counts "${fault%:*}")" "[0,5]" "fault ${fault%:*}: every answer fails"
	is "$(kinds "${fault%:*}" | jq -r 'map(.[0]) | unique | join(" ")')" "${fault#*:}" "fault ${fault%:*}: as ${fault#*:}"
	serve_stop
done
