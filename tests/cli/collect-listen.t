#!/bin/bash
# ipf-collect --listen: the formats served, and that no client changes the results.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

server_start --fail status:share=0.2
small_run 24
mkfifo records
field() { # HEADER FILE
	tr -d '\r' <"$2" | sed -n "s/^$1: //Ip"
}

# Collects from a pipe kept open, so the run is not over: $AT is where it listens.
live_start() { # OPTION…
	ipf-collect "$@" -o live.results <records 2>live.err &
	COLLECT=$!
	stop_at_exit $COLLECT
	exec 3>records
	sed '$d' chat.records >&3
	wait_for grep -q 'metrics at' live.err || not_ok "--listen starts" "$(cat live.err)"
	AT=$(grep -o 'http://[^/]*' live.err)
	wait_for all_read || not_ok "--listen reads the records so far" "$(curl -s "$AT/metrics" | head -5)"
}
all_read() {
	[ "$(curl -s "$AT/metrics" | awk '/^ipf_requests_total/ { n += $2 } END { print n }')" = 24 ]
}
live_end() {
	sed -n '$p' chat.records >&3
	exec 3>&-
	status=0
	wait $COLLECT || status=$?
}

# ---- responses ----
live_start --listen :0
is "$(sed 's/[0-9]*\/metrics/PORT/' live.err)" "ipf-collect: metrics at http://127.0.0.1:PORT" "the port that was chosen is printed"
curl -s -D head "$AT/metrics" -o text
is "$(field content-type head)" "text/plain; version=0.0.4; charset=utf-8" "the classic text without a wish"
value() { # SERIES
	sed -n "s/^$1 //p" text
}
is "$(value 'ipf_requests_total{outcome="ok",stage="constant"}') $(value 'ipf_requests_total{outcome="http-status",stage="constant"}')" \
	"$(jq -s -r 'map(select(.n != null)) | "\(map(select(.n != null and .ok)) | length) \(map(select(.n != null and .error.kind == "http-status")) | length)"' chat.results)" \
	"requests by outcome"
is "$(value 'ipf_output_tokens_total{stage="constant"}')" "$(jq -s 'map(select(.n != null and .ok).output_tokens) | add' chat.results)" "metrics count the output tokens"
is "$(value 'ipf_requests_scheduled{stage="constant"}') $(value ipf_requests_due_total) $(value ipf_requests_started_total) $(value ipf_run_finished)" "24 24 24 0" \
	"scheduled, due, started, not finished"
is "$(grep -c 'ipf_verdict_status{question="load_delivered"}' text)" 0 "metrics say nothing of the load delivered before the end" # exact: it is not there before the end
is "$(grep '^ipf_run_info' text)" "ipf_run_info{api=\"openai-chat\",model=\"sim\",name=\"chat\",target=\"$URL/v1/chat/completions\"} 1" "metrics describe the run"
is "$(curl -s "$AT/healthz") $(curl -s "$AT/" | grep -c 'href="/metrics"')" "ok 1" "/healthz and /"
is "$(curl -s -o /dev/null -w '%{http_code}' "$AT/nothing") $(curl -s -o /dev/null -w '%{http_code}' -d x "$AT/metrics") $(curl -s -I \
	-o /dev/null -w '%{http_code}' "$AT/metrics")" "404 405 200" "--listen answers another path, a POST and a HEAD"

# ---- formats ----
curl -s -D head -H 'Accept: application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5' "$AT/metrics" -o openmetrics
is "$(field content-type head)" "application/openmetrics-text; version=1.0.0; charset=utf-8" "OpenMetrics, to those who prefer it"
is "$(tail -1 openmetrics)" "# EOF" "OpenMetrics end with their mark"
is "$(grep -v '^#' openmetrics | sort)" "$(grep -v '^#' text | sort)" "OpenMetrics have the same series"
curl -s -D head "$AT/metrics" -o protobuf \
	-H 'Accept: application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,text/plain;q=0.5'
is "$(field content-type head)" "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited" \
	"protocol buffers, to those who prefer them"
decoded() { # TEXT WHAT FILE EXPECTED
	run python3 "$TESTS/helpers/prometheus_messages.py" "$2" "$3"
	if [ "$status" = 77 ]; then skip "$1" "python3-protobuf is not installed"; else stdout_is "$4" "$1"; fi
}
decoded "both forms of protocol buffers have the same series" families protobuf "$(grep -v '^#' text | sort)"
decoded "native buckets are those of the rows" native protobuf "$({
	grep 'inter_token' text | grep -q . && python3 "$TESTS/helpers/prometheus_messages.py" native protobuf | grep '^ipf_inter'
	python3 "$TESTS/helpers/prometheus_messages.py" buckets chat.results
} | sort)"
if command -v promtool >/dev/null; then
	run promtool check metrics <text
	is "$(cat "$OUT" "$ERR")" "" "promtool finds nothing wrong"
else
	skip "promtool finds nothing wrong" "prometheus is not installed"
fi

sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' text | sort >published
sed -n '/^\.Sh METRICS/,/^\.Sh SPANS/s/^\.It Va ipf/ipf/p' "$ROOT/ipf-collect/ipf-metrics.5" | sed 's/ , /\n/g' | sort >described
is "$(comm -23 published described)" "" "ipf-metrics(5) describes every metric"
is "$(comm -13 published described)" ipf_reasoning_tokens_total "every published metric is described"

# ---- hostile clients ----
run python3 "$TESTS/helpers/hostile_scraper.py" 127.0.0.1 "${AT##*:}"
status_is 0 "slow, silent and broken clients keep nobody out; a thousand scrapes"
live_end
status_is 0 "a run that is scraped ends with its status"
body chat.results >plain.body
body live.results >live.body
same plain.body live.body "a run that is scraped has the same rows"
between "$(jq 'select(.end).end.publish[0].scrapes' live.results)" 1000 5000 "the trailer counts the scrapes"

# ---- the end ----
local=127.0.0.1
! python3 -c 'import socket; socket.create_server(("::1", 0), family=socket.AF_INET6)' 2>/dev/null || local='[::1]'
live_start --listen "$local:0" --linger 1h
sed -n '$p' chat.records >&3
exec 3>&-
# Scrapers whose time is over: one leaves before the final figures are sent, one before it has read them.
cat >leaves.py <<'X'
import socket, sys
host, port, when = sys.argv[1].rsplit(":", 1)[0].strip("[]"), int(sys.argv[1].rsplit(":", 1)[1]), sys.argv[2]
s = socket.create_connection((host, port), timeout=120)
s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nX-Prometheus-Scrape-Timeout-Seconds: 10\r\n\r\n")
while when == "unread" and b"ipf_run_finished 1" not in s.recv(1 << 20, socket.MSG_PEEK):
    pass
s.close()
X
yes_if "the run has ended" wait_for sh -c "curl -s '$AT/healthz' >/dev/null && [ -s live.results ] && tail -1 live.results | grep -q '\"end\"'"
for when in unread unread early; do python3 leaves.py "${AT#http://}" $when; done
kill -0 $COLLECT
is $? 0 "--linger goes on after scrapes whose clients have not read the final figures"
# One in time: its next scrape says so.
cat >stays.py <<'X'
import http.client, sys
c = http.client.HTTPConnection(sys.argv[1], timeout=120)
for _ in range(2):
    c.request("GET", "/metrics", headers={"X-Prometheus-Scrape-Timeout-Seconds": "10"})
    print(c.getresponse().read().decode())
X
python3 stays.py "${AT#http://}" >final
contains "$(cat final)" "ipf_run_finished 1" "--linger waits for a last scrape"
yes_if "--linger ends after a client has the final figures" wait_for tap_gone $COLLECT
is "$(whole live.results && echo whole)" whole "the results are complete by then"

# ---- addresses ----
python3 -c 'import socket, time; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); print(s.getsockname()[1], flush=True); time.sleep(100000)' >taken &
stop_at_exit $!
wait_for test -s taken
run ipf-collect --listen "127.0.0.1:$(cat taken)" chat.records
status_is 1 "an address that is taken"
complains ipf-collect "--listen 127.0.0.1:$(cat taken): Address already in use" "a taken address is reported in one line"
is "$(wc -c <"$OUT" | tr -d ' ')" 0 "a taken address is reported before anything is read"
run ipf-collect --listen 0.0.0.0:0 -o out.results chat.records
status_is 0 "ipf-collect listens on all addresses"
contains "$(cat "$ERR")" ", for every machine that reaches this address" "ipf-collect points out an address that every machine reaches"
for wrong in 9464 localhost localhost: localhost:http 127.0.0.1:65536 127.0.0.1:-1 '::1:9464' '[::1]' '[]:1' '[::1:1'; do
	run ipf-collect --listen "$wrong" chat.records
	status_is 2 "--listen $wrong is refused"
	complains ipf-collect "--listen" "--listen $wrong is refused in one line"
done
run ipf-collect --linger 1s chat.records
status_is 2 "--linger requires --listen"
