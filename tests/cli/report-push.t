#!/bin/bash
# ipf-report --push: the figures of a finished run to Pushgateways, targets that refuse or fail, and keys.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/prometheus.sh"

server_start
small_run
peer_start "$TESTS/helpers/push_target.py" log
ipf-report chat.results >plain.txt
ipf-report -f prometheus --meta commit=5f3a9c1 chat.results >figures
AT=$PEER_URL

# Reports with these options. The report must be that without them.
push() { # TEXT OPTION…
	local text=$1
	shift
	rm -f log
	run ipf-report "$@" --meta commit=5f3a9c1 chat.results
	sed /commit/d "$OUT" >pushed.txt
	same plain.txt pushed.txt "$text: the report is the same"
	touch log
}

# ---- requests ----
push "a target" --push "$AT/ok/metrics"
status_is 0 "the figures arrived"
stderr_is "" "--push has no messages if all goes well"
is "$(cat log)" "PUT /ok/metrics/job/ipf-report/run/chat $(wc -c <figures) text/plain -" "the grouping, and as many bytes as -f prometheus writes"
push "a grouping in the URL" --push "$AT/ok/metrics/job/nightly/branch/main"
is "$(cut -d ' ' -f 2 log)" /ok/metrics/job/nightly/branch/main "a grouping in the URL stays"
jq -c 'if .ipf then del(.name) else . end' chat.results >nameless.results
rm -f log
run ipf-report -q --push "$AT/ok/metrics" --push "pushgateway=$AT/ok/two" nameless.results
is "$(cut -d ' ' -f 2 log)" "$(printf '%s\n' /ok/metrics/job/ipf-report /ok/two/metrics/job/ipf-report)" "a run without a name, to two targets"
rm -f log
run ipf-report -f csv -o out.csv --push "$AT/ok/metrics" chat.results
stdout_is "" "a format for a file"
is "$(head -c 9 out.csv; cut -d ' ' -f 1 log)" "$(ipf-report -f csv chat.results | head -c 9)PUT" "-o writes the file and sends the figures"

# ---- a real one ----
if command -v prometheus-pushgateway >/dev/null; then
	pushgateway_start
	push "a Pushgateway" --push "$GATEWAY"
	status_is 0 "the Pushgateway takes the figures"
	curl -s "$GATEWAY/api/v1/metrics" >metrics.json
	is "$(jq -c '[.data[].labels]' metrics.json)" '[{"job":"ipf-report","run":"chat"}]' "the Pushgateway has one group"
	is "$(jq -c '.data[0].ipf_run_info.metrics[0].labels | [.meta_commit, .name]' metrics.json)" '["5f3a9c1","chat"]' "a note is a label"
	is "$(jq -r '[.data[0].ipf_requests_total.metrics[] | select(.labels.outcome == "ok").value | tonumber] | add' metrics.json)" 12 "the Pushgateway has the requests"
	is "$(jq -r '.data[0].ipf_e2e_seconds.metrics[] | select(.labels.stage == "total" and .labels.from == "start").count' metrics.json)" 12 "the Pushgateway has a distribution"
	ipf-report --slo ttft=1h,p99:e2e=1h --push "$GATEWAY" chat.results >/dev/null
	is "$(curl -s "$GATEWAY/api/v1/metrics" | jq -c '[.data | length, .[0].ipf_objective_met.metrics[0].value]')" '[1,"1"]' "a later report replaces it"
	ipf-collect -q --push "$GATEWAY" chat.records >/dev/null
	is "$(curl -s "$GATEWAY/api/v1/metrics" | jq -c '[.data[].labels.job] | sort')" '["ipf","ipf-report"]' "figures of ipf-collect stay in the Pushgateway"
else
	skip "the Pushgateway takes the figures" "prometheus-pushgateway is not installed"
fi

# ---- failing targets ----
push "status 400" --push "$AT/400/metrics"
status_is 1 "status 400 ends with 1"
complains ipf-report "--push $AT/400/metrics: HTTP status 400: status 400 for None" "status 400 is reported"
is "$(wc -l <log)" 1 "status 400 is final"
push "status 500" --push "$AT/500/metrics"
status_is 1 "status 500 in the end"
complains ipf-report "--push $AT/500/metrics: HTTP status 500: status 500 for None (tried 5 times)" "status 500 is reported with the tries"
is "$(wc -l <log)" 5 "status 500 is tried five times"
push "a server that comes back" --push "$AT/late/metrics"
status_is 0 "a server that comes back gets the figures in the end"
stderr_is "" "a target that recovers gives no message"
push "status 429" --push "$AT/429/metrics"
status_is 0 "status 429 is tried again after its Retry-After"
push "an answer without end" --push "$AT/endless/metrics"
complains ipf-report "the response is too long" "a response without end is reported"
push "nothing that listens" --push http://127.0.0.1:1/metrics
complains ipf-report "--push http://127.0.0.1:1/metrics: " "a port without a listener is reported"
push "two that fail, and one that does not" --push "$AT/400/metrics" --push "$AT/403/metrics" --push "$AT/ok/metrics"
status_is 1 "some that fail"
is "$(sed 's/: HTTP.*//' "$ERR" | sort)" "$(printf 'ipf-report: --push %s/metrics\n' "$AT/400" "$AT/403")" "targets that fail have a line each"
is "$(cut -d ' ' -f 2 log | tail -1)" /ok/metrics/job/ipf-report/run/chat "other targets get the figures"

# ---- bad runs ----
head -8 chat.results >cut.results
rm -f log
run ipf-report -q --push "$AT/ok/metrics" cut.results
status_is 3 "a cut stream"
is "$(wc -l <log)" 1 "figures of a cut stream are pushed"
rm -f log
run ipf-report --strict --slo p99:e2e=1ms --push "$AT/ok/metrics" chat.results
status_is 4 "a missed objective"
is "$(wc -l <log)" 1 "figures with a missed objective are pushed"
rm -f log
run ipf-report --strict --slo p99:e2e=1ms --push "$AT/400/metrics" chat.results
status_is 1 "a target that fails comes first"
run ipf-report --push "$AT/ok/metrics" -o /dev/full chat.results
status_is 1 "a report that cannot be written"
is "$(wc -l <log)" 1 "a report that cannot be written is not pushed"

# ---- keys ----
secret=sesame-4711
printf '%s\n' "$secret" >key
push "a token in a file" --push "$AT/ok/metrics" --push-key-file key
is "$(cut -d ' ' -f 5- log)" "Bearer $secret" "a key is sent as a bearer token"
PUSH_KEY=me:$secret push "user and password in a variable" --push "$AT/403/metrics" --push-key-env PUSH_KEY
is "$(cut -d ' ' -f 5- log)" "Basic $(printf 'me:%s' "$secret" | base64)" "go as basic"
is "$(grep -cF -e "$secret" -e "$(printf 'me:%s' "$secret" | base64)" "$ERR")" 0 "messages do not repeat the key"
refused() { # TEXT PART OPTION…
	fails_with 2 "$2" ipf-report "${@:3}" missing.results
	is "$(grep -c "$secret" "$ERR")" 0 "$1 is refused without showing a secret"
}
refused "a key over plain http" "over https only" --push http://gateway.example/metrics --push-key-file key
refused "a password in the URL" "not in the URL" --push "http://me:$secret@127.0.0.1/metrics"
refused "a key without a target" "requires --push" --push-key-file key
refused "remote write" "a report goes to a Pushgateway" --push "$AT/api/v1/write"
refused "remote write, by name" "a report goes to a Pushgateway" --push "remote-write=$AT/metrics"
