#!/bin/bash
# ipf-collect --push: where figures go and how, and targets that hang, refuse or fail, which change neither the results nor the exit status.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

server_start
small_run
body chat.results >plain.body
peer_start "$TESTS/helpers/push_target.py" log
AT=$PEER_URL

# Collects with these options. The results must be those without them.
push() { # TEXT OPTION…
	local text=$1
	shift
	rm -f log
	run ipf-collect "$@" -o pushed.results chat.records
	status_is 0 "$text: the exit status is that of the run"
	body pushed.results >pushed.body
	same plain.body pushed.body "$text: the results are the same"
	touch log
}
published() { # JQ
	jq -c "select(.end).end.publish | $1" pushed.results
}

# ---- a Pushgateway ----
push "a Pushgateway" --push "pushgateway=$AT/ok"
is "$(cut -d ' ' -f 1,2,4,5 log | sort -u)" "PUT /ok/metrics/job/ipf/instance/$(hostname)/run/chat text/plain -" "a Pushgateway gets the grouping"
stderr_is "" "ipf-collect has no messages if all pushes arrive"
is "$(published '[.[0] | .kind, .failed, .last_error, (.sent > 0)]')" '["pushgateway",0,null,true]' "the trailer says so, too"
is "$(published '.[0].push')" "\"$AT/ok\"" "the trailer has the URL of the push"
push "a grouping in the URL" --push "$AT/metrics/job/mine/run/a"
is "$(cut -d ' ' -f 2 log | sort -u)" "/metrics/job/mine/run/a" "a grouping in the URL stays"
jq -c 'if .ipf then .name = "a/b c" else . end' chat.records >slash.records
rm -f log
run ipf-collect --push "$AT/metrics" slash.records
is "$(cut -d ' ' -f 2 log | sort -u)" "/metrics/job/ipf/instance/$(hostname)/run@base64/$(printf 'a/b c' | base64)" "a name with a slash goes as base64"

# ---- remote write ----
mkdir received
python3 "$TESTS/helpers/prometheus_messages.py" serve received >write.port &
WRITE=$!
stop_at_exit $WRITE
if wait_for test -s write.port; then
	began=$(date +%s%3N) # exact: compared with times the program writes
	push "remote write" --push "http://127.0.0.1:$(cat write.port)/api/v1/write"
	jq -s '[.[].series[]]' received/*.json >series
	is "$(jq -c '[.[0].headers | .["content-type"], .["content-encoding"], .["x-prometheus-remote-write-version"]]' -s received/0001.json)" \
		'["application/x-protobuf","snappy","0.1.0"]' "remote write has its headers"
	is "$(jq 'all(.[]; .sorted)' series)" true "labels are sorted"
	is "$(jq -c 'map(.labels | [.job, .instance, .run]) | unique' series)" "[[\"ipf\",\"$(hostname)\",\"chat\"]]" "every series has the target's"
	is "$(jq 'map(select(.labels.__name__ == "ipf_requests_total" and .labels.outcome == "ok").samples[-1][0]) | last' series)" 12 "remote write has the requests"
	is "$(jq 'map(select(.labels.__name__ == "ipf_output_tokens_total").samples[-1][0]) | last' series)" \
		"$(jq -s 'map(select(.n != null and .ok).output_tokens) | add' plain.body)" "remote write has the tokens"
	is "$(jq -c 'map(select(.labels.__name__ == "ipf_time_to_first_token_seconds").histograms[-1] | .[:2]) | last' series)" "[12,12]" "remote write has native histograms"
	is "$(jq 'map(select(.labels.__name__ == "ipf_time_to_first_token_seconds_bucket" and .labels.le == "+Inf").samples[-1][0]) | last' series)" \
		12 "remote write has classic histograms"
	between "$(jq 'map(.samples[], .histograms[] | .[-1]) | max' series)" "$began" "$(date +%s%3N)" "times of remote write are in ms since 1970" # exact: between two readings of the same clock
	yes_if "remote write has metadata" jq -e '.metadata > 10' received/0001.json
else
	skip "remote write has its headers" "python3-protobuf is not installed"
fi

# ---- failing targets ----
push "status 400" --push "remote-write=$AT/400"
complains ipf-collect "--push $AT/400: HTTP status 400: status 400 for None" "a target that refuses is reported once"
is "$(published '[.[0] | .kind, .sent, .last_error]')" '["remote-write",0,"HTTP status 400: status 400 for None"]' "the trailer has the last error of a target that refuses"
push "status 400, quietly" -q --push "remote-write=$AT/400"
stderr_is "" "-q says nothing"
push "status 429" --push "$AT/429/api/v1/write"
is "$(published '[.[0] | .failed, .last_error[:15]]')" '[0,"HTTP status 429"]' "status 429 is tried again after its Retry-After"
push "status 500" --push "$AT/500/metrics"
is "$(published '[.[0] | .sent, .last_error[:15]]')" '[0,"HTTP status 500"]' "status 500 is given up after some tries"
between "$(wc -l <log)" 2 10 "tries at status 500 are few"
push "a server that comes back" --push "$AT/late/metrics"
is "$(published '[.[0] | .sent > 0, .failed]')" '[true,0]' "a server that comes back gets the figures in the end"
push "a server that hangs" --push "$AT/hang/api/v1/write" --push "$AT/ok/metrics"
is "$(published 'map(.sent > 0)')" '[false,true]' "a target that hangs delays no other"
complains ipf-collect "--push $AT/hang/api/v1/write: " "a target that hangs is reported"
push "an answer without end" --push "$AT/endless/metrics"
push "nothing that listens" --push http://127.0.0.1:1/metrics
complains ipf-collect "--push http://127.0.0.1:1/metrics: " "a port without a listener is reported once"

# ---- keys ----
secret=sesame-4711
printf '%s\n' "$secret" >key
push "a token in a file" --push "$AT/401/metrics" --push-key-file key
is "$(cut -d ' ' -f 5- log | sort -u)" "Bearer $secret" "a key is sent as a bearer token"
PUSH_KEY=me:$secret push "user and password in a variable" --push "$AT/ok/metrics" --push-key-env PUSH_KEY
is "$(cut -d ' ' -f 5- log | sort -u)" "Basic $(printf 'me:%s' "$secret" | base64)" "go as basic"
PUSH_KEY=me:$secret push "a target that repeats the key" --push "$AT/403/metrics" --push-key-env PUSH_KEY
is "$(cat pushed.results "$ERR" | grep -cF -e "$secret" -e "$(printf 'me:%s' "$secret" | base64)")" 0 "no output contains the key"
refused() { # TEXT PART OPTION…
	fails_with 2 "$2" ipf-collect "${@:3}" chat.records
	is "$(grep -c "$secret" "$ERR")" 0 "$1 is refused without showing a secret"
}
refused "a key over plain http" "over https only" --push http://gateway.example/metrics --push-key-file key
refused "a password in the URL" "not in the URL" --push "http://me:$secret@127.0.0.1/metrics"
refused "a key without a target" "requires --push" --push-key-file key
refused "a variable that is not set" "--push-key-env" --push "$AT/ok/metrics" --push-key-env "$secret"
refused "two keys" "cannot be combined" --push "$AT/ok/metrics" --push-key-env HOME --push-key-file key
: >empty
refused "an empty key" "--push-key-file" --push "$AT/ok/metrics" --push-key-file empty
refused "a path that says nothing" "say which kind" --push "$AT/ingest"
refused "no URL" "expected an http or https URL" --push pushgateway=localhost:9091
refused "another scheme" "expected an http or https URL" --push ftp://localhost/metrics
run ipf-collect --push "$AT/ok/metrics" --push-key-file missing chat.records
status_is 1 "a file that is missing"
complains ipf-collect "missing: cannot open" "a missing file of --push is named"
mapfile -t nine < <(yes -- "--push=$AT/ok/metrics" | head -9)
run ipf-collect "${nine[@]}" chat.records
status_is 2 "nine targets of --push end with 2"
