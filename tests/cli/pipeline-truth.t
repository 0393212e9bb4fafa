#!/bin/bash
# Figures against a server whose figures are known: every step takes 20 ms whatever is in it, and prompts 1000 tokens a second. In virtual time they
# are exact; against the simulated server, where a busy machine adds to them, none is too short.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/together.sh"

# 100 tokens in and 21 out: the first token after 100 + 20 ms, 20 gaps of 20 ms, 520 ms in all.
for i in 1 2 3 4 5 6; do
	printf '{"question":"%s","answer":"%s"}\n' "$(printf '%0400d' $i)" "$(printf '%084d' 0)"
done >fixed.jsonl
ipf-prep jsonl --field prompt=/question --field output=/answer fixed.jsonl -q -o fixed.trace
is "$(body fixed.trace | jq -c '[.input_tokens, .output_tokens]' | sort | uniq -c |
	tr -s ' ')" " 6 [100,21]" "lengths are counted in approx tokens"
twin server.twin step_base_ns=20000000 step_per_sequence_ns=0 prefill_tokens_per_s=1000 step_tokens=100000

ms() { jq -c "$1 | if . == null then \"absent\" else . end" report.json | tr -d '"'; }
made() { # SCHEDULE COMMAND…: report.json
	"${@:2}" -q -t fixed.trace "$1" | ipf-collect -q -t approx -o run.results
	ipf-report -f json run.results >report.json
}

# ---- in virtual time ----
ipf-sched closed:users=1,n=4 -t fixed.trace -q -o closed.sched
made closed.sched ipf-twin predict server.twin
is "$(ms '.total.latency | [.ttft_ms.from_start, .tpot_ms, .itl_ms, .e2e_ms.from_start, .ntpot_ms] | map([.min, .p50, .max] | map(. * 10 | round / 10))')" \
	"[[120,120,120],[20,20,20],[20,20,20],[520,520,520],[24.8,24.8,24.8]]" \
	"closed loop: TTFT is prefill and a step, TPOT and ITL are a step, E2E is 20 steps more, and NTPOT divides it among 21 tokens"
is "$(ms '.total | [.in_flight.mean, .throughput.output_tokens_per_s] | map(. * 100 | round)')" "[100,4038]" \
	"closed loop: one request is in flight, and makes 21 tokens each 520 ms"
is "$(ms .total.latency.ttft_ms.from_due)" absent "closed loop: no latency from due"
is "$(ms .total.lag_ms.n)" absent "closed loop: no lateness"
# Two slots for six requests at once: waves of two, of which a step computes both prompts: 220 ms, then 20 steps.
ipf-sched burst:slots=2,n=6 -t fixed.trace -q -o slots.sched
made slots.sched ipf-twin predict server.twin
is "$(ms '.total | [.in_flight.max, .latency.e2e_ms.from_start.max, .latency.e2e_ms.from_due.max, .slot_wait_ms.max] | map(round)')" "[2,620,1860,1240]" \
	"two slots: two are in flight, the last wave waits for two others, and the slots say why"
ipf-sched burst:n=200 -t fixed.trace -q -o burst.sched
made burst.sched ipf-twin predict server.twin
is "$(ms '[.total.requests.scheduled, .total.requests.ok, .total.in_flight.max]')" "[200,200,200]" "a burst of 200 is in flight at once"

# ---- against the simulated server ----
server_start --step-base 20ms --step-per-seq 0 --prefill-rate 1000 --step-tokens 100000 --no-prefix-cache
made closed.sched ipf-fire -u "$URL"
is "$(ms '.total.requests | [.scheduled, .started, .ok, .failed]')" "[4,4,4,0]" "closed loop at the server: all requests are ok"
at_least "$(ms .total.latency.ttft_ms.from_start.min)" 119.9 "no TTFT at the server is shorter than prefill and a step"
at_least "$(ms .total.latency.e2e_ms.from_start.min)" 519.9 "no E2E at the server is shorter than 20 steps more"
at_least "$(ms .total.latency.ntpot_ms.min)" 24.7 "no NTPOT at the server is shorter than E2E divided by 21 tokens"
is "$(ms '.total.tokens | [.input.mean, .output.mean, .source]')" "[100,21,usage]" "tokens are the server's count"
is "$(ms .total.latency.ttft_ms.from_due)" absent "a closed loop at the server has no latency from due"
is "$(ms .total.lag_ms.n)" absent "a closed loop at the server has no lateness"
between "$(ms .total.in_flight.mean)" 0 1.000001 "one user has at most one request in flight"
hold
made slots.sched ipf-fire -u "$URL" &
made=$!
release 2
wait $made
is "$(ms .total.in_flight.max)" 2 "two slots at the server: two are in flight"
at_least "$(ms .total.latency.e2e_ms.from_start.min)" 519.9 "two slots at the server: each takes at least as long as alone"
at_least "$(ms .total.latency.e2e_ms.from_due.max)" 1559.7 "two slots at the server: from due, the last wave waits for two others"
at_least "$(ms .total.slot_wait_ms.max)" 1039.8 "two slots at the server: the slots say why"

# 200 connections at once, to a server answering when all have come.
server_start --step-base 5ms --step-per-seq 0
hold
made burst.sched ipf-fire -u "$URL" &
made=$!
release 200
wait $made
is "$(ms '[.total.requests.scheduled, .total.requests.ok, .total.in_flight.max]')" "[200,200,200]" "a burst of 200 is sent at once and answered"
