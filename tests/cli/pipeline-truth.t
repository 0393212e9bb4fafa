#!/bin/bash
# Figures against a server whose figures are known: every step takes 20 ms whatever is in it, and prompts 1000 tokens a second.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

server_start --step-base 20ms --step-per-seq 0 --prefill-rate 1000 --step-tokens 100000 --no-prefix-cache
# 100 tokens in and 21 out: the first token after 100 + 20 ms, 20 gaps of 20 ms, 520 ms in all.
for i in 1 2 3 4 5 6; do
	printf '{"question":"%s","answer":"%s"}\n' "$(printf '%0400d' $i)" "$(printf '%084d' 0)"
done >fixed.jsonl
ipf-prep jsonl --field prompt=/question --field output=/answer fixed.jsonl -q -o fixed.trace
is "$(body fixed.trace | jq -c '[.input_tokens, .output_tokens]' | sort | uniq -c |
	tr -s ' ')" " 6 [100,21]" "lengths are counted in approx tokens"

ms() { jq -r "$1 | if . == null then \"absent\" else . end" report.json; }
ipf-sched closed:users=1,n=4 -t fixed.trace -q -o closed.sched
ipf-fire -q -u "$URL" -t fixed.trace closed.sched | ipf-collect -q -t approx -o closed.results
ipf-report -f json closed.results >report.json
is "$(ms '.total.requests | [.scheduled, .started, .ok, .failed] | join(" ")')" "4 4 4 0" "closed loop: all requests are ok"
between "$(ms .total.latency.ttft_ms.from_start.p50)" 118 250 "TTFT is prefill and one step"
between "$(ms .total.latency.tpot_ms.p50)" 17 38 "TPOT is a step, or less where the first token came late"
between "$(ms .total.latency.itl_ms.p50)" 19 38 "so is the inter-token latency"
between "$(ms .total.latency.e2e_ms.from_start.p50)" 518 1000 "the end is 20 steps later"
between "$(ms .total.latency.ntpot_ms.p50)" 24.6 48 "NTPOT spreads it over 21 tokens"
is "$(ms '.total.tokens | [.input.mean, .output.mean, .source] | map(tostring) | join(" ")')" "100 21 usage" "tokens are the server's count"
is "$(ms .total.latency.ttft_ms.from_due)" absent "a closed loop has no latency from due"
is "$(ms .total.lag_ms.n)" absent "and no lateness" || :
between "$(ms .total.in_flight.mean)" 0.9 1.01 "one request is in flight"
between "$(ms .total.throughput.output_tokens_per_s)" 21 41 "21 tokens each 520 ms"

# Two slots for six requests at once: waves of two, and the wait counts from due, not from start.
ipf-sched burst:slots=2,n=6 -t fixed.trace -q -o slots.sched
ipf-fire -q -u "$URL" -t fixed.trace slots.sched | ipf-collect -q -o slots.results
ipf-report -f json slots.results >report.json
between "$(ms .total.in_flight.max)" 2 2 "two slots: never more than two in flight"
between "$(ms .total.latency.e2e_ms.from_start.max)" 518 1200 "from the start each takes what it takes"
between "$(ms .total.latency.e2e_ms.from_due.max)" 1550 3500 "from due the last wave waited for two others"
between "$(ms .total.slot_wait_ms.max)" 1030 2900 "and the slots say why"

# 200 connections at once, each answered after all prompts are computed.
server_start --step-base 5ms --step-per-seq 0
ipf-sched burst:n=200 -t fixed.trace -q -o burst.sched
ipf-fire -q -u "$URL" -t fixed.trace burst.sched | ipf-collect -q -o burst.results
ipf-report -f json burst.results >report.json
is "$(ms '.total.requests | [.scheduled, .ok] | join(" ")')" "200 200" "a burst of 200 is sent and answered"
between "$(ms .total.in_flight.max)" 190 200 "all at once"
