#!/bin/bash
# ipf-collect --otlp: a span for each request, as the rows say, and receivers that hang, refuse or fail, which change neither the
# results nor the exit status.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
. "$TESTS/fixture.sh"

mkdir got
python3 "$TESTS/helpers/otlp_receiver.py" serve got >receiver.port 2>receiver.err &
RECEIVER=$!
stop_at_exit $RECEIVER
wait_for tap_port_or_gone receiver.port $RECEIVER || true
[ -s receiver.port ] || skip_all "python3-protobuf is not installed"
AT=http://127.0.0.1:$(cat receiver.port)
server_start --fail status:share=0.1
steps() {
	run ipf-prep sharegpt "$ROOT/examples/chat.json" --turns all --output-tokens 20 --sessions 8 -o chat.trace && [ "$status" = 0 ] &&
		run ipf-sched constant:rate=60,n=30 -t chat.trace -o chat.sched && [ "$status" = 0 ] &&
		run ipf-fire -u "$URL" -m sim -t chat.trace chat.sched --cancel 20%@30ms -o chat.records && [ "$status" = 0 ] &&
		run ipf-collect chat.records -o chat.results && [ "$status" = 0 ]
}
steps || {
	not_ok "a run to send" "$(cat "$ERR")"
	exit 1
}
body chat.results >plain.body
ROWS=$(jq -s 'map(select(.n != null)) | length' plain.body)

# Collects with these options. The results must be those without them.
otlp() { # TEXT OPTION…
	local text=$1
	shift
	rm -f got/*
	run ipf-collect "$@" -o sent.results chat.records
	status_is 0 "$text: the exit status is that of the run"
	body sent.results >sent.body
	same plain.body sent.body "$text: the results are the same"
}
published() { # JQ
	jq -c "select(.end).end.publish | $1" sent.results
}
received() { # JQ, on the list of requests
	jq -s -c "$1" got/*.json
}
# How many spans were received, and how many of them once.
arrivals() {
	received '[.[].parts[].spans[].span] | [length, (unique | length)]'
}
agrees() { # RECORDS RESULTS TEXT
	run python3 "$TESTS/helpers/otlp_receiver.py" compare "$1" "$2" got/*.json
	stdout_is "" "$3"
	stderr_is "" "$3: no other difference"
}

# ---- requests ----
otlp "a collector" --otlp "$AT"
agrees chat.records chat.results "a span for each request says what its row does"
stderr_is "" "ipf-collect has no messages if all spans arrive"
is "$(published .)" "[{\"otlp\":\"$AT\",\"sent\":$ROWS,\"failed\":0}]" "the trailer counts them"
is "$(received 'map([.path, .headers["content-type"]]) | unique')" '[["/v1/traces","application/x-protobuf"]]' "a URL without a path gets the default one"
between "$(jq -s 'map(select(.n != null and .error.kind == "hung-up")) | length' plain.body)" 1 30 "some requests were cancelled"
between "$(jq -s 'map(select(.n != null and .error.kind == "http-status")) | length' plain.body)" 1 30 "some requests failed"
between "$(jq -s 'map(select(.session) | .session) | group_by(.) | map(length) | max' plain.body)" 2 30 "some are turns of a session"
received '[.[].parts[] | .resource, .spans]' >first
ipf-collect --text chat.records | jq -r 'select(.n and (.text | length) > 12) | .text[:12]' >texts
jq -r 'select(.messages) | .messages[].content[:12]' chat.trace >>texts
between "$(wc -l <texts)" 20 1000 "answers and prompts have texts"
is "$(grep -cFf texts first)" 0 "spans do not contain texts"
sed -n '/^\.Sh SPANS/,/^\.Sh SERVER/s/^\.It Va //p' "$ROOT/ipf-collect/ipf-metrics.5" | sed 's/ , /\n/g' | sort >described
{
	jq -r 'if type == "array" then .[] | (.attributes | keys[]), .events[][0] else keys[] end' <<<"$(jq -c '.[]' first)"
	cat "$ROOT"/ipf-collect/publish/otlp_*.c | grep -oE '"(gen_ai|server|http|error|ipf|service|host)\.[a-z_.]+"|OWN\([a-z0-9_]+\)' |
		sed 's/OWN(\(.*\))/ipf.\1/; s/"//g' | grep -v -e '^ipf.member_$' -e '\.$'
} | sort -u >sent
is "$(diff described sent)" "" "ipf-metrics(5) describes every attribute and event"
run "${PYTHON:-python3}" "$TESTS/helpers/otlp_receiver.py" spans got/*.pb
if [ "$status" = 77 ]; then
	skip "OpenTelemetry's own messages agree" "the Python package opentelemetry-proto is not installed (PYTHON)"
else
	is "$(jq -S -c . "$OUT")" "$(jq -S -c .parts got/*.json)" "OpenTelemetry's own messages agree"
fi
otlp "sent again" --otlp "$AT/ok/here?tenant=1"
is "$(received 'map(.path) | unique')" '["/ok/here?tenant=1"]' "a path is taken as it is"
received '[.[].parts[] | .resource, .spans]' >second
same first second "records sent twice have the same ids"

# ---- live ----
rm -f got/*
mkfifo pipe
ipf-collect --otlp "$AT" -o live.results <pipe 2>live.err &
COLLECT=$!
stop_at_exit $COLLECT
exec 3>pipe
sed '$d' chat.records >&3
arrived() {
	[ "$(received '[.[].parts[].spans[]] | length' 2>/dev/null)" = "$ROWS" ]
}
yes_if "spans arrive while the run lasts" wait_for arrived
sed -n '$p' chat.records >&3
exec 3>&-
status=0
wait $COLLECT || status=$?
status_is 0 "a run with --otlp ends with 0"
agrees chat.records live.results "spans of a live run are those of its rows"

# ---- the server's spans below the client's ----
cat >tracing.py <<'END'
def answer(path, headers, body):
    print(headers["traceparent"] + "\n", end="", flush=True)  # one write: there are several threads
    return 200, {}
END
peer_start "$TESTS/helpers/canned_server.py" tracing.py
traceparents=$PEER_SAID
for run in 1 2; do
	ipf-sched burst:n=3 closed:users=2,n=5 -q -t chat.trace |
		ipf-fire -q -u "$PEER_URL" -m sim -H 'traceparent: $traceparent' -t chat.trace -o traced$run.records
done
rm -f got/*
run ipf-collect --otlp "$AT" traced1.records traced2.records -o traced.results
is "$(sed 1d "$traceparents" | wc -l)" "$(cat traced1.records traced2.records | grep -c '^{"n":')" "every request has a traceparent"
received '.[].parts[].spans[] | "00-\(.trace)-\(.span)-01"' | tr -d '"' | sort >spans
sed 1d "$traceparents" | sort >sent
is "$(comm -13 spans sent | wc -l)" 0 "traceparents have the ids of the spans"
is "$(sort -u spans | wc -l)" "$(wc -l <spans)" "span ids of two runs differ"

# ---- several inputs, several batches ----
jq -c 'if .ipf then . else empty end' chat.records >many.head
jq -c 'select(.n == 1)' chat.records >many.row
for start in 1 2; do
	jq -c ".t0_unix_ns += $start * 1000000000 | .name = \"many\"" many.head
	seq 700 | jq -c --slurpfile row many.row ".  as \$n | \$row[0] + {n: (\$n + $start * 10000), session: \"s\"}"
done | awk '/"ipf"/ { file = "many" ++i ".records" } { print > file }'
rm -f got/*
run ipf-collect --otlp "$AT" many1.records many2.records -o many.results
status_is 3 "two runs that were cut"
is "$(received '[[.[].parts[].spans[]] | length, (map(.span) | unique | length), (map(.trace) | unique | length)]')" "[1400,1400,2]" \
	"cut runs have all their spans, and a trace for every session"
is "$(received '[.[].parts[] | .resource["service.instance.id"]] | unique | length')" 2 "two cut runs are two instances"
is "$(received 'map(.parts[0].spans | length) | max <= 512')" true "a batch has at most 512 spans"

# ---- failing receivers ----
otlp "busy" --otlp "$AT/busy"
is "$(published '.[0] | [.sent, .failed]')" "[$ROWS,0]" "a busy receiver gets the spans after its Retry-After"
otlp "status 502" --otlp "$AT/502"
is "$(published '.[0] | [.sent, .failed]')" "[0,$ROWS]" "spans are given up after some tries at status 502"
between "$(received length)" 2 10 "tries at status 502 are few"
stderr_contains "--otlp $AT/502: $ROWS of $ROWS spans not delivered: HTTP status 502" "ipf-collect says at the end how many spans were not delivered"
for final in 400 500 413; do
	otlp "status $final" --otlp "$AT/$final"
	is "$(arrivals) $(published '.[0] | [.failed, .last_error]')" "[$ROWS,$ROWS] [$ROWS,\"HTTP status $final: not for None\"]" "status $final is final"
done
otlp "quietly" -q --otlp "$AT/400"
stderr_is "" "-q says nothing"
otlp "partial success" --otlp "$AT/partial"
LOST=$((2 * $(received length)))
is "$(arrivals) $(published '.[0] | [.sent, .failed, .rejected, .last_error]')" \
	"[$ROWS,$ROWS] [$((ROWS - LOST)),0,$LOST,\"2 spans rejected: two are too many\"]" "rejected spans are counted and not sent again"
stderr_contains "$LOST of $ROWS spans not delivered: 2 spans rejected: two are too many" "rejected spans are reported"
otlp "an answer that is no message" --otlp "$AT/garbage"
is "$(published '.[0] | [.sent, .failed]')" "[$ROWS,0]" "a response that is no message is a success"
otlp "an answer without end" --otlp "$AT/endless"
is "$(arrivals) $(published '.[0] | [.failed, .last_error]')" "[$ROWS,$ROWS] [$ROWS,\"the response is too long\"]" "a response without end is final"
otlp "nothing that listens" --otlp http://127.0.0.1:1
stderr_contains "--otlp http://127.0.0.1:1: $ROWS of $ROWS spans not delivered: " "a port without a listener is reported"
otlp "a receiver that hangs, beside one that does not" --otlp "$AT/hang" --push "$AT/400/metrics"
is "$(published 'map([.otlp != null, .failed > 0, .sent])')" "[[false,true,0],[true,true,0]]" "a receiver that hangs is given up, and the other gets its figures"
stderr_contains "not delivered: no response in time" "a receiver that hangs is reported"

# ---- keys ----
secret=sesame-4711
printf '%s\n' "$secret" >key
otlp "a token in a file" --otlp "$AT/401" --otlp-key-file key
is "$(received 'map(.headers.authorization) | unique')" "[\"Bearer $secret\"]" "a key is sent as a bearer token"
is "$(cat sent.results "$ERR" | grep -cF -e "$secret")" 0 "no output contains the secret"
OTLP_KEY=me:$secret otlp "user and password in a variable" --otlp "$AT" --otlp-key-env OTLP_KEY
is "$(received 'map(.headers.authorization) | unique')" "[\"Basic $(printf 'me:%s' "$secret" | base64)\"]" "go as basic"
refused() { # TEXT PART OPTION…
	fails_with 2 "$2" ipf-collect "${@:3}" chat.records
	is "$(grep -c "$secret" "$ERR")" 0 "$1 is refused without showing a secret"
}
refused "a key over plain http" "--otlp: a key is sent over https only" --otlp http://collector.example --otlp-key-file key
refused "a password in the URL" "--otlp: give the user and password by --otlp-key-file" --otlp "http://me:$secret@127.0.0.1"
refused "a key without a target" "--otlp-key-file requires --otlp" --otlp-key-file key
refused "two keys" "--otlp-key-file cannot be combined" --otlp "$AT" --otlp-key-env HOME --otlp-key-file key
refused "another scheme" "--otlp: expected an http or https URL" --otlp grpc://localhost:4317
refused "no scheme" "--otlp: expected an http or https URL" --otlp localhost:4318
jq -c 'if .ipf then del(.t0_unix_ns) else . end' chat.records >timeless.records
run ipf-collect --otlp "$AT" timeless.records
status_is 3 "records without their start"
complains ipf-collect "timeless.records:1: t0_unix_ns: missing, but --otlp needs it" "--otlp refuses records without their start"

# ---- a real collector ----
if [ -n "${IPF_OTELCOL:-}" ]; then
	. "$TESTS/prometheus.sh"
	COLLECTOR=$(free_ports 1)
	cat >collector.yaml <<-END
		receivers: {otlp: {protocols: {http: {endpoint: "127.0.0.1:$COLLECTOR"}}}}
		exporters: {otlphttp: {endpoint: "$AT", encoding: json, compression: none}}
		service: {telemetry: {metrics: {level: none}}, pipelines: {traces: {receivers: [otlp], exporters: [otlphttp]}}}
	END
	"$IPF_OTELCOL" --config collector.yaml >collector.log 2>&1 &
	stop_at_exit $!
	ready() {
		grep -q 'Everything is ready' collector.log
	}
	wait_for ready || not_ok "the collector starts" "$(tail -5 collector.log)"
	otlp "a real collector" --otlp "http://127.0.0.1:$COLLECTOR"
	is "$(published '.[0] | [.sent, .failed]')" "[$ROWS,0]" "the collector takes every span"
	wait_for arrived || true
	agrees chat.records chat.results "the collector sends spans on as they were"
else
	skip "a real collector takes every span" "IPF_OTELCOL does not name one"
fi
