#!/bin/bash
# Twins of real servers on the CPU, vLLM and llama.cpp, each with a small model of random weights: fitted from a ramp, they predict three rates
# and a closed loop that were not fitted. p50 within 10 %, p99 within 25 %, or within twice the distance of a second run of the same load. Wants an idle machine.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/servers/servers.sh"
export KEY=secret

prompts_for() { # NAME: no two traces have a prompt in common
	ipf-prep synthetic -q -n 4000 --input-tokens uniform:20-500 --output-tokens uniform:10-60 --salt "$1" -t model/tokenizer.json --seed 5 -o "$1.trace"
}

at() { # NAME TRACE STAGE…: measured; the results and the JSON report. Again, where another process kept the client from sending in time.
	local name=$1 trace=$2 try
	shift 2
	for try in 1 2 3; do
		measure "$name" "$trace" "$@"
		[ "$(jq -r '.verdict.checks[] | select(.name == "load_delivered") | .status' "$name.json")" = INVALID ] || return 0
		echo "# $name: try $try: the client was late"
	done
}

measure() {
	local name=$1 trace=$2
	shift 2
	ipf-sched -q "$@" -t "$trace.trace" --seed 3 -o "$name.schedule"
	ipf-fire -q --force -u "$SERVED" --key-env KEY -m tiny --exact-output --connections "${CONNECTIONS:-reuse}" --param temperature=0 "${MORE[@]}" -t "$trace.trace" -o "$name.records.zst" "$name.schedule"
	ipf-collect -q --events -t model/tokenizer.json -o "$name.results" "$name.records.zst"
	ipf-report -q -f json "$name.results" >"$name.json" 2>/dev/null
}

predict() { # NAME: the same schedule and trace
	ipf-twin predict -q twin.json -m tiny -t "$2.trace" "$1.schedule" | ipf-collect -q -o predicted.results
	ipf-report -q -f json predicted.results >predicted.json 2>/dev/null
}

# Each latency: predicted / measured - 1, and again / measured - 1, in per cent.
compared() {
	jq -nr --slurpfile a measured.json --slurpfile b predicted.json --slurpfile c again.json '
		def at($f; $m; $p): $f[0].total.latency[$m] | (.from_start // .)[$p];
		[("ttft_ms", "tpot_ms", "e2e_ms") as $m | ("p50", "p99") as $p | at($a; $m; $p) as $of |
			[$m, $p, (at($b; $m; $p) / $of - 1) * 100, (at($c; $m; $p) / $of - 1) * 100]]' |
		jq -c --argjson p50 10 --argjson p99 25 '.[] | . + [(.[2] | fabs) <= (if .[1] == "p50" then $p50 else $p99 end) or (.[2] | fabs) <= 2 * (.[3] | fabs)]'
}

twin_of() { # SERVER
	local top load
	for name in first ramp load again; do prompts_for "$1-$name"; done
	at first "$1-first" closed:users=6,n=60
	top=$(jq .total.throughput.requests_per_s first.json)
	local -a ramp=()
	for share in 0.15 0.4 0.7 1.0 1.3; do ramp+=("poisson:rate=$(jq -n "$top * $share"),for=20s"); done
	at ramp "$1-ramp" "${ramp[@]}"
	run ipf-twin fit -q ramp.results
	status_is 0 "$1: a twin of a ramp up to 1.3 times $top requests/s"
	cp "$OUT" twin.json
	jq -c '[.parameters | to_entries[] | {(.key): (.value.value // .value.not_known)}] | add' twin.json | sed 's/^/# /'
	jq -c .fit twin.json | sed 's/^/# /'
	for load in "poisson:rate=$(jq -n "$top * 0.3"),for=30s" "poisson:rate=$(jq -n "$top * 0.6"),for=30s" "poisson:rate=$(jq -n "$top * 0.85"),for=30s" closed:users=5,for=30s; do
		at measured "$1-load" "$load"
		at again "$1-again" "$load"
		cp measured.schedule predicted.schedule
		predict predicted "$1-load"
		compared >figures
		sed 's/^/#   /' figures
		is "$(jq -c 'select(.[4] | not) | .[:4]' figures)" "" "$1, $load: predicted"
	done
}

# ---- vLLM ----
if venv_vllm; then
	vllm_start --api-key secret --no-enable-prefix-caching
	MORE=()
	twin_of vllm
	serve_stop
fi

# ---- llama.cpp ----
llama_start
CONNECTIONS=fresh MORE=(--param cache_prompt=false)
twin_of llama-cpp
serve_stop
