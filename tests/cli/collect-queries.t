#!/bin/bash
# ipf-collect --prometheus: a Prometheus's metrics of a run become the samples of scrapes of the servers, live and later; and no
# answer of it, whatever it is, ends a run.
. "$TESTS/tap.sh"

samples() { # RESULTS JQ-FILTER
	body "$1" | grep '^{"sample":"server"' | jq -c "$2"
}
end_of() { # RESULTS FILTER
	plain "$1" | tail -1 | jq -c ".end | $2"
}
collect() { # RESULTS ARGUMENTS…
	local results=$1
	shift
	run "$BIN/ipf-collect" -o "$results" "$@" run.records
}

server_start --seed 3 --replicas 2:2
"$BIN/ipf-prep" -n 60 synthetic -o t.trace
"$BIN/ipf-sched" --seed 3 poisson:rate=30,n=60 -o s.sched

# ---- a real Prometheus ------------------------------------------------------------------------------------------------

with_prometheus() {
	port=$(free_ports 1)
	cat >prometheus.yml <<-END
		global: {scrape_interval: 1s, scrape_timeout: 1s}
		scrape_configs:
		  - {job_name: sim, static_configs: [{targets: ["${URL#http://}"], labels: {namespace: models}}]}
		  - {job_name: kube, metrics_path: /kube/metrics, static_configs: [{targets: ["${URL#http://}"]}]}
	END
	prometheus --config.file=prometheus.yml --storage.tsdb.path=tsdb --web.listen-address=127.0.0.1:"$port" >prometheus.log 2>&1 &
	local pid=$!
	stop_at_exit $pid
	PROMETHEUS=http://127.0.0.1:$port
	value() { # EXPRESSION
		curl -sS -m 120 -G --data-urlencode "query=$1" "$PROMETHEUS/api/v1/query" | jq -r '.data.result[0].value[1] // "none"'
	}
	has() { [ "$(value "$1")" = "$2" ]; }
	scraped() { has 'sum(vllm:request_success_total)' 0 && has 'count(kube_deployment_status_replicas_ready)' 1; }
	wait_for scraped || not_ok "Prometheus scrapes the simulated server" "$(tail -5 prometheus.log)"

	"$BIN/ipf-fire" -q -u "$URL" -t t.trace s.sched | tee run.records |
		"$BIN/ipf-collect" --prometheus "$PROMETHEUS" --job sim --namespace models -o live.results 2>"$ERR" ||
		not_ok "a live run" "$(cat "$ERR")"
	is "$(cat "$ERR")" "" "a live run that asks Prometheus at its end"
	yes_if "a live run has samples of the server" test "$(samples live.results 'select(.server == "vllm")' | wc -l)" -ge 2
	is "$(body live.results | grep -c '^{"n":')" 60 "a live run has all rows"
	is "$(end_of live.results '[.prometheus.error, .prometheus.targets[0].server]')" '[null,"vllm"]' "the trailer names the target"

	wait_for has 'sum(vllm:request_success_total)' 60 || not_ok "Prometheus has all requests"
	# whatever a busy machine delayed: the step has to be longer than that
	collect file.results --prometheus "$PROMETHEUS" --job sim --every 30s
	status_is 0 "records from a file are asked for later"
	stderr_is "" "--prometheus with a file of records has no messages"
	for pair in "output_tokens output_tokens" "input_tokens input_tokens"; do
		# shellcheck disable=SC2086 # two words
		set -- $pair
		is "$(samples file.results ".counters.$1 // 0" | jq -s add)" "$(body file.results | jq -s "map(select(.n != null).$2) | add")" \
			"$1: the server's are the client's"
	done
	is "$(samples file.results '.histograms.ttft_ns.count // 0' | jq -s add)" 60 "a histogram has each request"
	is "$(samples file.results '[.histograms.ttft_ns.buckets[]?[1]] | add // 0' | jq -s add)" 60 "the buckets of the histogram hold every request"
	is "$(samples file.results .target | sort -u)" "\"${URL#http://}\"" "the target is the instance"
	is "$(samples file.results '.t_ns % 30000000000' | sort -u)" 0 "samples are at multiples of --every"
	is "$(samples file.results 'has("interval_ns")' | head -1)" false "the first has no increases"

	collect own.results --prometheus "$PROMETHEUS" --job sim --every 30s --metric 'vllm:iteration_*' --metric 'process_*_total' --metric go_goroutines
	status_is 0 "--metric applies to what Prometheus has"
	stderr_is "" "--metric with Prometheus has no messages"
	contains "$(samples own.results '.histograms | keys?')" '"vllm:iteration_tokens_total"' "a histogram under its own name"
	is "$(samples own.results '.histograms["vllm:iteration_tokens_total"].count // 0' | jq -s add)" \
		"$(value 'sum(vllm:iteration_tokens_total_count{job="sim"})')" "a histogram under its own name has the count of Prometheus"
	is "$(samples own.results '.histograms["vllm:iteration_tokens_total"] // {} | has("buckets") == has("sum")' | sort -u)" true "a histogram under its own name has buckets"
	is "$(samples own.results 'del(.histograms["vllm:iteration_tokens_total"]) | .gauges, .counters, .histograms' | cksum)" \
		"$(samples file.results '.gauges, .counters, .histograms' | cksum)" "a histogram under its own name leaves the known metrics as they were"

	collect kube.results --prometheus "$PROMETHEUS" --job kube --every 30s
	is "$(samples kube.results '[.server, .gauges.replicas_ready, .gauges.replicas_desired]' | sort -u)" '["kubernetes",2,2]' \
		"metrics of Kubernetes are known"

	collect query.results --prometheus "$PROMETHEUS/" --every 100ms --query replicas_ready=kube_deployment_status_replicas_ready \
		--query 'up=count by (job) (up)' --query 'nan=vector(NaN)' --query 'bad=sum(' --query 'absent=no_such_metric'
	status_is 0 "a wrong expression does not end the program"
	complains ipf-collect 'bad: bad_data: ' "a wrong expression is reported in one line"
	is "$(samples query.results '[.target, .gauges]' | sort -u)" '["prometheus",{"replicas_ready":2,"up":2}]' \
		"an expression is a gauge, and several series are added"
	between "$(samples query.results . | wc -l)" 10 10000 "the expression has a value at each step"
	is "$(samples query.results .t_ns | jq -s '. == sort and . == unique')" true "samples of a query are in order"
	is "$(end_of query.results '[.prometheus.queries[] | [.name, .points > 9, has("error")]]')" \
		'[["replicas_ready",true,false],["up",true,false],["nan",false,false],["bad",false,true],["absent",false,false]]' \
		"the trailer has the expressions and what came of them"
	"$BIN/ipf-report" -f json query.results >report.json || not_ok "ipf-report reads results with queries"
	collect none.results --prometheus "$PROMETHEUS" --query absent=no_such_metric
	complains ipf-collect "absent: no data" "an expression without data is named"
	collect none.results --prometheus "$PROMETHEUS" --job nobody
	complains ipf-collect "no data of known metrics" "a job without data is named"
	"$BIN/ipf-collect" -o plain.results run.records
	is "$(body query.results | grep -c '^{"n":')" 60 "rows are written nevertheless"

	# more steps than Prometheus answers at once: a run of 1500 steps is made of the records
	python3 - <<-'END'
		import json
		lines = [json.loads(line) for line in open("run.records")]
		lines[0]["t0_unix_ns"] -= 1500 * 10**9
		max((line for line in lines if "n" in line), key=lambda line: line["end_ns"])["end_ns"] += 1500 * 10**9
		with open("long.records", "w") as out:
		    out.writelines(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n" for line in lines)
	END
	run "$BIN/ipf-collect" -o long.results --prometheus "$PROMETHEUS" --query 'time=time()' long.records
	between "$(samples long.results .t_ns | wc -l)" 1500 "$(jq -s 'map(.end_ns | numbers) | max / 1e9 + 5 | floor' long.records)" "a long run is asked for in parts" # exact: steps of the recorded run
	is "$(samples long.results '.gauges.time - .t_ns / 1e9 | round' | sort -u | wc -l)" 1 "values of a long run are at their times"
	tap_stop $pid
}
if command -v prometheus >/dev/null; then
	with_prometheus
else
	skip "a real Prometheus" "Debian's package prometheus is not installed"
	"$BIN/ipf-fire" -q -u "$URL" -t t.trace s.sched >run.records
fi

# ---- answers that are none --------------------------------------------------------------------------------------------

fake() { # MODE: $PROMETHEUS is its URL
	peer_start "$TESTS/prometheus_server.py" "$1"
	PROMETHEUS=$PEER_URL
}
fails() { # MODE TEXT ARGUMENTS…
	local mode=$1 text=$2
	shift 2
	fake "$mode"
	for query in "" "--query=a=up"; do
		collect "$mode.results" --prometheus "$PROMETHEUS" ${query:+"${query%%=*}" "${query#*=}"} "$@"
		status_is 0 "$mode ${query:+with --query}: the results are written"
		complains ipf-collect "--prometheus: $PROMETHEUS" "$mode ${query:+with --query}: ipf-collect says what is wrong"
		stderr_contains "$text" "ipf-collect names the reason: $text"
		is "$(body "$mode.results" | grep -c '^{"n":')" 60 "$mode: the results have all rows"
		yes_if "$mode: the trailer has the error" test "$(end_of "$mode.results" '.prometheus.error | length')" -gt 5
	done
	is "$(plain "$mode.results" | grep -c "$(printf '\033')")" 0 "$mode: no escape sequence comes through"
}
fails bad "bad_data: invalid"
fails denied "HTTP status 401"
fails unavailable "unavailable: try later"
fails redirect "HTTP status 302 (redirects are not followed)"
fails garbage "no answer of the Prometheus API"
fails vector "no answer of the Prometheus API"
fails empty "no data"
fails huge "answer of more than 32 MiB"
fails hang "timed out" --prometheus-timeout 300ms
fails dies "ransfer closed"
collect refused.results --prometheus http://user:password@127.0.0.1:1
complains ipf-collect "onnect" "a port where nobody listens"
is "$(plain refused.results | grep -c password)" 0 "results do not contain the password"

printf 'secret-of-the-test\n' >token
fake bearer
for token in token '!cat token'; do
	collect bearer.results --prometheus "$PROMETHEUS" --query a=up --prometheus-bearer "$token"
	stderr_is "" "a token from $token is sent"
	is "$(samples bearer.results '.gauges.a' | sort -u)" 7 "a token from $token gets the answer"
done
is "$(plain bearer.results | grep -c secret-of-the-test)" 0 "results do not contain the token"

# ---- the samples are taken over, too ----------------------------------------------------------------------------------

collect again.results --samples bearer.results
same <(body again.results | sort) <(body bearer.results | sort) "--samples takes them over"
is "$(end_of again.results .prometheus)" "$(end_of bearer.results .prometheus)" "--samples takes over the trailer's member"

# ---- refusals --------------------------------------------------------------------------------------------------

refused() { # PART ARGUMENTS…
	local part=$1
	shift
	collect refused.results "$@"
	status_is 2 "$*: status 2"
	complains ipf-collect "$part" "$*: one message"
}
refused "expected a URL" --prometheus ftp://h
refused "expected a URL" --prometheus 'http://h/?a=b'
refused "expected NAME=PROMQL" --prometheus http://h --query up
refused "expected NAME=PROMQL" --prometheus http://h --query =up
refused '"a" twice' --prometheus http://h --query a=up --query a=down
refused "need --prometheus" --query a=up
refused "need --prometheus" --job a
refused "are not for --query" --prometheus http://h --query a=up --job b
refused "is not for --query" --prometheus http://h --query a=up --metric b
refused "--metric needs --scrape or --prometheus" --metric 'vllm:*'
refused "--scrape-bearer needs --scrape" --scrape-bearer token --prometheus http://h
refused "would count servers twice" --prometheus http://h --scrape http://h
refused "not with --prometheus" --prometheus http://h --samples bearer.results
refused "whole milliseconds" --prometheus http://h --every 100500us
refused "at least 1ms" --prometheus http://h --prometheus-timeout 0s
sed '1s/"t0_unix_ns":[0-9]*,//' run.records >undated.records
run "$BIN/ipf-collect" --prometheus http://h undated.records
status_is 3 "records without the time of their start: status 3"
complains ipf-collect "undated.records:1: t0_unix_ns: missing" "records without the time of their start are reported in one line"
