#!/bin/bash
# The proxies of examples/record: a run of sessions with tools and response formats through each of them, its recording compared with the run, and
# the recording replayed against the server.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/servers/servers.sh"
. "$TESTS/servers/proxies.sh"

server_start --step-base 1ms --step-per-seq 0 -m sim
DIRECT=$URL
python3 "$TESTS/servers/recorded.py" make >requests.in
ipf-prep openai-log requests.in -q -o run.trace
ipf-sched -q replay -t run.trace -o run.sched

sends() { # URL: to a proxy
	URL=$1 MODEL=sim asked run.sched -H "X-Session: \$session" -o run.records 2>"$ERR"
	ipf-collect -q run.records | tee run.results | jq -s 'map(select(.n != null and .ok)) | length'
}

records_of() { # FILE: how many requests are in it, or in a folder
	if [ -d "$1" ]; then find "$1" -name '*.json' -size +0 | wc -l; elif [ -e "$1" ]; then wc -l <"$1"; else echo 0; fi
}
written() { [ "$(records_of "$1")" -ge "$2" ]; }

recorded() { # NAME FILE FORMAT MS LEAST: the requests in FILE; starts within MS at the median; fidelity of LEAST
	local name=$1 file=$2
	is "$(sends "$SERVED")" 24 "$name: all are answered"
	yes_if "$name: all are recorded" wait_for written "$file" 24
	run ipf-prep "$3" "$file" -o recorded.trace
	status_is 0 "$name: the recording is a trace"
	is "$(head -1 recorded.trace | jq -r .source)" "$3" "$name: its format"
	python3 "$TESTS/servers/recorded.py" differ run.trace run.results recorded.trace >differences
	is "$(jq -c .differences differences)" "[]" "$name: prompts, sessions, tools, response formats and lengths of answers are those of the run"
	is "$(tail -1 recorded.trace | jq -c .end.reuse.reusable_tokens)" "$(tail -1 run.trace | jq -c .end.reuse.reusable_tokens)" \
		"$name: prompts share what they shared"
	between "$(jq .median_ms differences)" 0 "$4" "$name: starts at the median within $4 ms of the run's"
	URL=$SERVED MODEL=other asked -t run.trace --probe -o wrong.record 2>/dev/null
	yes_if "$name: a wrong model is recorded" wait_for written "$file" 25
	is "$(ipf-prep -q "$3" "$file" | jq -r 'select(.tags.failed).model')" other "$name: a wrong model is a failure"
	TRACE=recorded.trace URL=$DIRECT MODEL=sim fired replayed replay
	ipf-report -q -f json --trace recorded.trace replayed.results >replayed.json
	is "$(counts replayed)" "[24,0]" "$name: its replay: all are answered"
	between "$(jq .fidelity.value replayed.json)" "$5" 1 "$name: its replay: fidelity"
	serve_stop
	printf '# %s: starts differ by %s ms at the median, %s at most; fidelity of the replay %s %s\n' "$name" "$(jq .median_ms differences)" \
		"$(jq .max_ms differences)" "$(jq .fidelity.value replayed.json)" "$(jq -c '.fidelity.causes // {} | map_values(.loss)' replayed.json)"
}

# Clients that leave in the middle of answers, by their own times, and their replay.
ipf-prep synthetic -n 20 --input-tokens 20 --output-tokens 400 -q -o long.trace
ipf-sched -q constant:rate=50,n=20 -t long.trace -o long.sched
left() { # NAME FILE FORMAT [OPTIONS of ipf-prep]
	local name=$1 file=$2 hung
	rm -f left*.records
	ipf-fire -q -m sim -t long.trace long.sched -u "$SERVED" --cancel 40%@150ms -o left.records
	hung=$(ipf-collect -q left.records | jq -s '[.[] | select(.error.kind == "hung-up")] | length')
	between "$hung" 2 18 "$name: some clients leave"
	serve_stop # Envoy keeps some lines until then
	is "$(records_of "$file")" 20 "$name: all are recorded"
	ipf-prep "${@:3:1}" "$file" -q "${@:4}" -o left.trace
	is "$(jq -s '[.[] | select(.hang_up_ns)] | length' left.trace)" "$hung" "$name: it says of as many that they left"
	between "$(jq -s '[.[].hang_up_ns // empty] | sort | .[length / 2 | floor] / 1e6' left.trace)" 149 170 "$name: recorded clients leave at the time of the run"
	is "$(jq -s '[.[] | select(.tags.failed)] | length' left.trace)" 0 "$name: none failed"
	ipf-sched -q replay -t left.trace -o left.sched
	ipf-fire -q -m sim -t left.trace left.sched -u "$DIRECT" -o left-again.records
	is "$(ipf-collect -q left-again.records | jq -s '[.[] | select(.error.kind == "hung-up")] | length')" "$hung" "$name: clients leave again in the replay"
}

if nginx_record "$DIRECT"; then
	recorded "nginx $(nginx_version)" requests.jsonl openai-log 1 0.99
	rm -f requests.jsonl
	nginx_record "$DIRECT"
	left nginx requests.jsonl openai-log
else
	skip nginx "not installed"
fi
rm -f requests.jsonl
if envoy_record "$DIRECT"; then
	recorded "Envoy $(envoy_version)" tap envoy-tap 1 0.99
	is "$(jq -s 'map(select(.status == 200 and .session_id != null and .duration_ms != null)) | length' access.jsonl)" 24 "Envoy: its access log has them"
	ipf-prep auto access.jsonl -q --input-tokens uniform:100-800 -o times.trace
	is "$(body times.trace | jq -s -c '[length, map(select(.session)) | length]')" \
		"$(jq -s -c 'map(select(.bytes_received > 0)) | [length, map(select(.session_id)) | length]' access.jsonl)" \
		"Envoy: its access log has arrivals and sessions"
	rm -rf tap access.jsonl
	envoy_record "$DIRECT"
	: >access.jsonl # the request that checked whether it is up
	left Envoy access.jsonl envoy-access --input-tokens 20 --output-tokens 400
else
	skip envoy "not installed"
fi
if litellm_record "$DIRECT"; then
	URL=$SERVED MODEL=sim asked -t run.trace --probe -o first.record 2>/dev/null # the first takes seconds
	wait_for written requests.jsonl 1
	: >requests.jsonl
	recorded "LiteLLM $(version_of litellm litellm)" requests.jsonl openai-log 200 0.9
else
	cat litellm.said
fi
