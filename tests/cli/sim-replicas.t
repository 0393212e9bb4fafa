#!/usr/bin/env bash
# The simulated autoscaler: replicas come after a delay when the load is high, go when it is low, and do the work.
. "$TESTS/tap.sh"

kube() { curl -sS -m 120 "$URL/kube/metrics" | sed -n "s/^kube_$1{.*} //p"; }
state() { echo "$(kube deployment_spec_replicas) $(kube deployment_status_replicas_ready) $(kube deployment_status_replicas_unavailable)"; }
state_is() { [ "$(state)" = "$1" ]; }
running() { curl -s "$URL/metrics" | sed -n 's/^vllm:num_requests_running{.*} //p' | tr '\n' ' '; }
running_is() { [ "$(running)" = "$1" ]; }
load() { # REQUESTS going on for long
	clients=()
	for _ in $(seq "$1"); do
		curl -sN -o /dev/null "$URL/v1/completions" -d '{"prompt":"x","max_tokens":100000,"stream":true}' &
		clients+=($!)
		stop_at_exit $!
	done
}

# Replicas taking an hour are not ready, and those taking no time soon are.
server_start --replicas 1:3,delay=1h,scale-at=2,idle=1s --max-batch 2 --step-base 5ms --gpus 1
is "$(state)" "1 1 0" "the autoscaler begins with the least number"
load 5
yes_if "more are added at once, and are not ready" wait_for state_is "3 1 2"
is "$(running)" "2 " "only two requests run at first"
between "$(kube horizontalpodautoscaler_status_desired_replicas)" 3 3 "the autoscaler wants as many replicas as the rule says"
kill "${clients[@]}"
server_stop
server_start --replicas 1:3,delay=1ms,scale-at=2,idle=1s --max-batch 2 --step-base 5ms --gpus 1
load 5
yes_if "replicas are ready after the delay" wait_for state_is "3 3 0"
yes_if "every request runs, with a series for each replica" wait_for running_is "2 2 1 "
power() { curl -s "$URL/dcgm/metrics" | sed -n 's/^DCGM_FI_DEV_POWER_USAGE{.*hostname="sim-2".*} //p'; }
busy() { [ "$(power)" = 600.000000 ]; }
yes_if "the third replica has its device" wait_for busy
is "$(curl -s "$URL/triton/metrics" | sed -n 's/^nv_trt_llm_request_metrics{request_type="max".*} //p')" 6 "the batch is three times as large"
kill "${clients[@]}"
yes_if "replicas go when the load is gone" wait_for state_is "1 1 0"
is "$(curl -s "$URL/kube/metrics" | grep -vcE '^(# (HELP|TYPE) kube_[a-z_]+ .*|kube_[a-z_]+\{namespace="default",(deployment|horizontalpodautoscaler)="sim"\} [0-9]+)$')" 0 "every line is one of kube-state-metrics'"

# ---- from nothing ----
server_start --replicas 0:1,delay=1s,idle=200ms --log log.ndjson
is "$(state)" "0 0 0" "the autoscaler may begin without a replica"
curl -s -m 120 -o "$OUT" "$URL/v1/completions" -d '{"prompt":"x","max_tokens":3}'
is "$(jq .usage.completion_tokens "$OUT")" 3 "a request waits for the first"
wait_for test -s log.ndjson
at_least "$(jq '(.first_token_ns - .arrival_ns) / 1e6' log.ndjson)" 1008 "a first token from no replica takes the delay, and then a step"
yes_if "the last replica goes again" wait_for state_is "0 0 0"

server_start
is "$(state)" "1 1 0" "a server without --replicas has one"
for wrong in 2:1 1 1:100 1:2,x=1 1:2,delay=5; do
	run "$BIN/ipf-sim" --replicas "$wrong"
	status_is 2 "--replicas $wrong is refused"
done
run "$BIN/ipf-sim" --replicas 1:64 --kv-blocks 60M
status_is 2 "more than memory could hold is refused"
