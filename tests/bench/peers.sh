#!/bin/bash
# Other clients against the same server as ipf-fire, on the same core, one after another. First requests a second with short answers; then
# streams whose every send the server writes down: how far off are the TTFT and ITL each client reports? PEERS names a folder with bin/
# and lib/, made as in README.md; missing clients are skipped.
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"
# shellcheck source-path=SCRIPTDIR
. "$BENCH/raw.sh"
seconds=${BENCH_SECONDS:-3}
loads=${PEERS_LOADS:-100 1000}
if [ -z "${PEERS:-}" ]; then
	row "other clients" "skipped: PEERS names no folder of them" - - -
	exit 0
fi
PATH=$PATH:$PEERS/bin
SGLANG_BENCH=$(find "$PEERS/lib" -name '_bench*.so' | head -1)
VLLM_CLIENT=$PEERS/lib/endpoint_request_func.py
export SGLANG_BENCH VLLM_CLIENT
body='{"model":"raw","messages":[{"role":"user","content":"Tell me."}],"stream":true}'
printf '%s' "$body" >body.json

has() { # NAME: of a peer
	case $1 in
	ipf-fire | bareclient) true ;;
	sglang-rust) [ -n "$SGLANG_BENCH" ] ;;
	vllm-python) [ -e "$VLLM_CLIENT" ] && command -v peers-python >/dev/null ;;
	vllm-rust) command -v vllm-rs >/dev/null ;;
	*) command -v "$1" >/dev/null ;;
	esac
}

wanted() { # NAME…: those of PEERS_NAMES, where it is set, and ipf-fire, which they are compared with
	local name
	for name; do
		case " ipf-fire ${PEERS_NAMES:-$name} " in *" $name "*) echo "$name" ;; esac
	done
}

within() { # COMMAND…
	timeout "${PEERS_TIMEOUT:-120}" "$@"
}

# ---- short answers: prints requests a second ----

rate_of() { # NAME CONNECTIONS
	local c=$2
	case $1 in
	ipf-fire) fire "closed:users=$c,for=${seconds}s" | jq .requests_s ;;
	bareclient) "$BUILD/bench/bareclient" --port "$PORT" -c "$c" --for "${seconds}s" | jq .requests_s ;;
	wrk)
		printf 'wrk.method = "POST"\nwrk.body = [[%s]]\nwrk.headers["Content-Type"] = "application/json"\n' "$body" \
			>wrk.lua
		within wrk -t 1 -c "$c" -d "${seconds}s" -s wrk.lua "$CHAT" | awk '/^Requests\/sec/ { print $2 }'
		;;
	h2load) within h2load --h1 -t 1 -c "$c" -D "$seconds" -d body.json -H 'content-type: application/json' "$CHAT" |
		sed -n 's/^finished in .*, \([0-9.]*\) req\/s,.*/\1/p' ;;
	hey) within hey -z "${seconds}s" -c "$c" -m POST -T application/json -D body.json "$CHAT" |
		awk '/Requests\/sec/ { print $2 }' ;;
	oha) within oha -z "${seconds}s" -c "$c" --no-tui --output-format json -m POST -T application/json -D body.json "$CHAT" | jq .summary.requestsPerSec ;;
	k6)
		k6_script
		within k6 run -q --vus "$c" --duration "${seconds}s" --summary-export k6.json k6.js >/dev/null &&
			jq .metrics.http_reqs.rate k6.json
		;;
	esac
}

k6_script() {
	cat >k6.js <<-EOF
		import http from 'k6/http';
		export const options = { summaryTrendStats: ['avg', 'p(99)'] };
		export default function () { http.post('$CHAT', '$body', { headers: { 'Content-Type': 'application/json' } }); }
	EOF
}

# ---- streams: prints {"ttft": {"mean", "p99"}, "itl": {"mean", "p99"}} in ms, as far as the client tells ----

times_of() { # NAME STREAMS REQUESTS
	local c=$2 n=$3
	case $1 in
	ipf-fire)
		fire "closed:users=$c,n=$n" >fire.run
		ipf-collect -q raw.records.zst -o raw.results.zst
		ipf-report -f json raw.results.zst |
			jq -c '.total.latency | {ttft: .ttft_ms.from_start, itl: .itl_ms} | map_values({mean, p99})'
		;;
	vllm-rust)
		rm -f vllm.json
		within vllm-rs bench serve --backend openai-chat --base-url "$URL" --endpoint /v1/chat/completions --model raw --tokenizer "$PWD/words" --dataset-name random \
			--random-input-len 16 --random-output-len 100 --num-prompts "$n" --max-concurrency "$c" --disable-tqdm --no-steady-state \
			--percentile-metrics ttft,itl --save-result --result-filename vllm.json >&2
		jq -c '{ttft: {mean: .mean_ttft_ms, p99: .p99_ttft_ms}, itl: {mean: .mean_itl_ms, p99: .p99_itl_ms}}' vllm.json
		;;
	vllm-python) within peers-python "$BENCH/peers/vllm_python.py" "$URL" "$c" "$n" ;;
	sglang-rust)
		rm -f sglang.json
		within peers-python "$BENCH/peers/sglang_rust.py" --backend vllm-chat --base-url "$URL" --dataset-name random-ids --model raw --tokenizer "$PWD/words" \
			--random-input-len 16 --random-output-len 100 --num-prompts "$n" --max-concurrency "$c" --disable-tqdm --disable-retokenize --output-file sglang.json >&2
		jq -c '{ttft: {mean: .mean_ttft_ms, p99: .p99_ttft_ms}, itl: {mean: .mean_itl_ms, p99: .p99_itl_ms}}' sglang.json
		;;
	guidellm)
		within guidellm run --backend "kind=openai_http,target=$URL,model=raw" --profile "kind=concurrent,streams=$c" --constraint "kind=max_requests,count=$n" \
			--data kind=csv_file,path=prompts.csv --output kind=json,path=guidellm.json --disable-console >&2
		jq -c '.benchmarks[0].metrics | {ttft: .time_to_first_token_ms, itl: .inter_token_latency_ms} | map_values(.successful | {mean, p99: .percentiles.p99})' guidellm.json
		;;
	aiperf)
		rm -rf aiperf.out
		within aiperf profile -m raw -u "$URL" --endpoint-type chat --streaming --concurrency "$c" --request-count "$n" --tokenizer "$PWD/words" --use-server-token-count \
			--ui none --artifact-dir aiperf.out --synthetic-input-tokens-mean 16 --output-tokens-mean 100 >&2
		jq -c '{ttft: .time_to_first_token, itl: .inter_chunk_latency} | map_values({mean: .avg, p99})' aiperf.out/profile_export_aiperf.json
		;;
	inference-perf)
		rm -rf inference-perf.out
		cat >inference-perf.yaml <<-EOF
			api: {type: chat, streaming: true}
			data: {type: mock}
			load: {type: concurrent, num_workers: 1, worker_max_concurrency: $c, stages: [{num_requests: $n, concurrency_level: $c}]}
			server: {type: vllm, model_name: raw, base_url: "$URL", ignore_eos: true}
			tokenizer: {pretrained_model_name_or_path: $PWD/words}
			report: {request_lifecycle: {summary: true, per_stage: false, per_request: false, percentiles: [50, 99]}}
			storage: {local_storage: {path: inference-perf.out}}
		EOF
		within inference-perf --config_file inference-perf.yaml >&2
		jq -c '.successes.latency | {ttft: .time_to_first_token, itl: .inter_token_latency} | map_values({mean: (.mean * 1000), p99: (.p99 * 1000)})' \
			inference-perf.out/summary_lifecycle_metrics.json
		;;
	k6)
		k6_script
		within k6 run -q --vus "$c" --iterations "$n" --summary-export k6.json k6.js >/dev/null
		jq -c '.metrics.http_req_waiting | {ttft: {mean: .avg, p99: ."p(99)"}}' k6.json
		;;
	esac
}

# The clients' inputs: prompts, and a tokenizer to which every word is a token.
prepare() {
	mkdir -p words
	cat >words/tokenizer.json <<-'EOF'
		{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null, "pre_tokenizer": {"type": "WhitespaceSplit"},
		 "post_processor": null, "decoder": null, "model": {"type": "WordLevel", "unk_token": "x",
		 "vocab": {"x": 0, "a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7, "h": 8, "i": 9, "j": 10, "k": 11, "l": 12, "m": 13, "n": 14, "o": 15}}}
	EOF
	printf '{"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "x"}\n' >words/tokenizer_config.json
	{ echo prompt; for i in $(seq 5000); do echo "Tell me about the number $i."; done; } >prompts.csv
}

on_cores() ( # FUNCTION ARGUMENTS…: with all it starts
	taskset -cp "$client_cores" "$BASHPID" >/dev/null
	renice -n -10 "$BASHPID" >/dev/null 2>&1 || true # where ipf-fire may take it, so are they
	"$@" >peer.out 2>peer.said
)

# Prints the CPU seconds of all processes waited for; its output is in peer.out.
cpu_of() { # FUNCTION ARGUMENTS…
	local TIMEFORMAT='%U %S' status=0
	{ time on_cores "$@"; } 2>peer.time || status=$?
	[ $status = 0 ] || tail -n 5 peer.said >&2
	awk '{ print $1 + $2 }' peer.time
	return $status
}

# ---- the columns of the table ----

short_answers() { # CONNECTIONS
	local cpu rate name ours=''
	for name in $(wanted ipf-fire bareclient wrk h2load oha hey k6); do
		if ! has "$name"; then
			row "$name, $1 connections" "skipped: not here" - - - && continue
		fi
		cpu=$(cpu_of rate_of "$name" "$1") && rate=$(cat peer.out) || { row "$name, $1 connections" failed - - -; \
			continue; }
		[ -n "$ours" ] || ours=$rate
		row "$name, $1 connections" "$(awk -v r="$rate" -v c="$cpu" -v s="$seconds" 'BEGIN { printf "%.0f requests/s, %.1f us CPU each", r, c / r / s * 1e6 }')" \
			"$(rounded "$ours") requests/s ipf-fire" "$(ratio "$rate" "$ours")" -
	done
}

# How far are the client's figures from the server's? In ms.
off() { # MEMBER
	jq -rn --slurpfile told peer.out --slurpfile is server.sum --arg m "$1" '
		def off($p): $told[0][$m][$p] as $t | if $t == null then "-" else ($t - $is[0][$m + "_ms"][$p]) * 100 | round / 100 | if . > 0 then "+\(.)" else "\(.)" end end;
		"\(off("mean")) mean, \(off("p99")) p99"'
}

per_event() { # CPU SECONDS, THOSE OF A START, REQUESTS: in us
	awk -v c="$1" -v s="$2" -v n="$3" 'BEGIN { printf "%.1f", (c - s) / n / 100 * 1e6 }'
}

streams() { # STREAMS
	local cpu start sending name n=$((3 * $1)) ours_ttft='' ours_itl='' ours_cpu=''
	for name in $(wanted ipf-fire vllm-rust sglang-rust vllm-python aiperf guidellm inference-perf k6); do
		if ! has "$name"; then
			row "$name, $1 streams" "skipped: not here" - - - && continue
		fi
		# Starting costs as much as thousands of events: it is taken off.
		raw_start --events 1
		CHAT=$URL/v1/chat/completions
		start=$(cpu_of times_of "$name" 1 1) || start=0
		[ "$name" != ipf-fire ] || sending=$(jq .cpu_s fire.run)
		server_stop
		raw_start --events 100 --first 50ms --gap 10ms --log server.log
		CHAT=$URL/v1/chat/completions
		EVENTS=100
		cpu=$(cpu_of times_of "$name" "$1" "$n") || { row "$name, $1 streams" failed - - -; server_stop; continue; }
		server_stop
		"$RAW" --sum server.log >server.sum
		echo "$name, $1 streams: told $(cat peer.out), was $(cat server.sum)" >&2
		cpu=$(per_event "$cpu" "$start" "$n")
		[ -n "$ours_cpu" ] || { ours_ttft=$(off ttft) ours_itl=$(off itl) ours_cpu=$cpu; }
		row "$name, $1 streams: TTFT is off by, ms" "$(off ttft)" "$ours_ttft ipf-fire" - -
		row "  ITL is off by, ms" "$(off itl)" "$ours_itl ipf-fire" - -
		row "  CPU of an event" "$cpu us" "$ours_cpu us ipf-fire" "$(ratio "$cpu" "$ours_cpu")" -
		[ "$name" != ipf-fire ] || row "  of that, ipf-fire, which sends and records; the rest are schedule, metrics and report" \
			"$(per_event "$(jq .cpu_s fire.run)" "$sending" "$n") us" "$cpu us" "$(ratio "$(per_event "$(jq .cpu_s fire.run)" "$sending" "$n")" "$cpu")" -
	done
}

prepare
raw_start --events 1
CHAT=$URL/v1/chat/completions
short_answers 64
server_stop
for load in $loads; do streams "$load"; done
