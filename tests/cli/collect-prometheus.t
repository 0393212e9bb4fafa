#!/bin/bash
# The run's figures in a real Prometheus and a real Pushgateway: scraped in the classic and the native form, by remote write, and pushed.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/prometheus.sh"

command -v prometheus >/dev/null || skip_all "prometheus is not installed"

# ---- a run: two stages, and some requests fail ----
server_start --seed 5 --fail status:share=0.1
ipf-prep sharegpt "$ROOT/examples/chat.json" -o t.trace
ipf-sched -q constant:rate=40,n=20 constant:rate=60,n=40 -t t.trace -o s.sched
ipf-fire -q -m sim -u "$URL" -t t.trace s.sched -o run.records
ipf-collect run.records -o plain.results
rows=$(jq -c 'select(.n != null)' plain.results | wc -l)
is "$rows" 60 "the run has 60 rows"

# ---- collected live: its last record comes, its end does not ----
mkfifo records
ready=$(free_ports 1)
prometheus_start native "127.0.0.1:$ready" --enable-feature=native-histograms
native=$PROMETHEUS
prometheus_start classic "127.0.0.1:$ready"
classic=$PROMETHEUS
gateway=
if command -v prometheus-pushgateway >/dev/null; then
	pushgateway_start
	gateway=$GATEWAY
fi
ipf-collect --listen "127.0.0.1:$ready" --linger 10m --push "$native/api/v1/write" --push "remote-write=$classic/api/v1/write" \
	${gateway:+--push "$gateway"} -o live.results <records 2>live.err &
collect=$!
exec 3>records
sed '$d' run.records >&3

figures() { # TEXT URL SELECTOR FORM [RESULTS]
	run python3 "$TESTS/helpers/prometheus_figures.py" --wait 120 "$2" "$3" "$4" "${5:-plain.results}"
	stdout_is "" "$1"
}
figures "Prometheus scrapes the classic form" "$classic" 'job="live"' classic
figures "Prometheus scrapes native histograms" "$native" 'job="live"' native
figures "remote write: classic" "$classic" 'job="ipf"' classic
figures "remote write: classic, where native ones go as well" "$native" 'job="ipf"' classic
figures "remote write: native histograms" "$native" 'job="ipf"' native
if [ -n "$gateway" ]; then
	curl -s "$gateway/metrics" >pushed
	is "$(awk '/^ipf_requests_total/ { n += $2 } END { print n }' pushed)" "$rows" "the Pushgateway has the requests"
	is "$(awk '/^ipf_output_tokens_total/ { n += $2 } END { print n }' pushed)" \
		"$(jq -s 'map(select(.n != null and .ok and .output_tokens != null).output_tokens) | add' plain.results)" "the Pushgateway has the tokens"
	contains "$(grep '^ipf_run_finished' pushed)" "instance=\"$(hostname)\",job=\"ipf\",run=\"run\"} 0" "the Pushgateway has the job, host and name"
else
	skip "the Pushgateway has the requests" "prometheus-pushgateway is not installed"
fi
curl -s "http://127.0.0.1:$ready/metrics" >text
run promtool check metrics <text
is "$(cat "$OUT" "$ERR")" "" "promtool finds nothing wrong"

# ---- the end: a last push, a last scrape; a Pushgateway gone does not matter ----
[ -z "$gateway" ] || tap_stop "$GATEWAY_PID"
sed -n '$p' run.records >&3
exec 3>&-
status=0
wait "$collect" || status=$?
status_is 0 "the run ends well"
value_is() { # URL PROMQL VALUE
	[ "$(curl -s --data-urlencode "query=$2" "$1/api/v1/query" | jq -r '.data.result[0].value[1]')" = "$3" ]
}
yes_if "remote write has the end" wait_for value_is "$native" 'ipf_run_finished{job="ipf"}' 1
worst=$(jq 'select(.end).end.verdict.status | {OK: 0, DOUBTFUL: 1, INVALID: 2}[.]' plain.results) # exact: the published verdict is of the same records
yes_if "remote write has the verdict" wait_for value_is "$classic" 'max(ipf_verdict_status{job="ipf"})' "$worst"
yes_if "the last scrape has it, too" wait_for value_is "$classic" 'max_over_time(ipf_run_finished{job="live"}[1h])' 1
body plain.results >plain.body
body live.results >live.body
same plain.body live.body "the rows are those of a run that nobody watches"
is "$(jq -c 'select(.end).end | del(.publish, .sha256, .from)' live.results)" \
	"$(jq -c 'select(.end).end | del(.sha256, .from)' plain.results)" "the trailer is that of an unwatched run but for what was published"
is "$(jq -c 'select(.end).end.publish | map([.kind // "listen", .native_histograms])' live.results)" \
	"[[\"listen\",null],[\"remote-write\",true],[\"remote-write\",false]${gateway:+,[\"pushgateway\",null]}]" "the trailer says what was"
if [ -n "$gateway" ]; then
	contains "$(cat live.err)" "ipf-collect: --push $gateway: " "a Pushgateway that is gone is reported"
	is "$(grep -c push live.err)" 1 "a missing Pushgateway is reported once"
else
	skip "a Pushgateway that is gone is reported" "prometheus-pushgateway is not installed"
fi
