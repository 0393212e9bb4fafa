#!/bin/bash
# Metrics of servers while a run lasts: the server's counts equal the client's, and no misbehaving server delays a row
# or ends the run.
. "$TESTS/tap.sh"
PATH=$BIN:$PATH
. "$TESTS/scraped.sh"

samples() { # RESULTS JQ-FILTER
	body "$1" | jq -c 'select(.sample == "server")' | jq -c "$2"
}

end_server() { # RESULTS JQ-FILTER
	plain "$1" | tail -1 | jq -c ".end.server | $2"
}

metrics_server() { # NAME MODE [FILE]: $METRICS is its URL, err.NAME its log
	peer_start "$TESTS/metrics_server.py" "$2" ${3+"$3"}
	ln -s "$PEER_SAID.err" "err.$1"
	METRICS=$PEER_URL
}

# ---- a whole run against the simulated server -------------------------------------------------------------------------

# Answers have the server's own times of each request.
server_start --log server.log --request-metrics --seed 3 --step-base 35ms --step-per-seq 0 --prefill-rate 1000M
ipf-prep -n 60 synthetic --output-tokens uniform:8-24 -o t.trace
ipf-sched --seed 3 poisson:rate=40,n=60 -o s.sched
scraped_options=(--metric 'vllm:iteration_*')
scraped_begin live.results s.sched -t t.trace -u "$URL" -- sim="$URL"
wait "$scraped_run" || not_ok "a run with scrapes succeeds" "$(cat live.results.err)"
is "$(cat live.results.err)" "" "a run with scrapes has no messages"
samples live.results . >sim.samples
requests live.results >live.requests
logged() { [ "$(wc -l <server.log)" -ge 60 ]; }
wait_for logged
for counter in output_tokens input_tokens; do
	is "$(jq ".counters.$counter // 0" sim.samples | jq -s add)" "$(jq -s "map(.$counter) | add" live.requests)" "$counter: the server's are the client's"
done
is "$(jq '.counters.output_tokens // 0' sim.samples | jq -s add)" "$(jq -s 'map(.output_tokens) | add' server.log)" \
	"output_tokens: the scrapes have all that the server's log has"
is "$(jq '.counters.requests_ok // 0' sim.samples | jq -s add)" 60 "requests: the server's are the client's"
is "$(jq -r '.histograms // {} | keys[]' sim.samples | grep -c '^vllm:iteration_')" "$(jq -s 'map(select(.histograms)) | length' sim.samples)" \
	"--metric: each sample has the histogram of another name"
is "$(head -1 sim.samples | jq -c '[has("gauges"), has("counters"), has("interval_ns")]')" "[true,false,false]" \
	"the first scrape has gauges only"
is "$(jq -s 'map(.t_ns) | . == sort' sim.samples)" true "samples are in order"

# Histograms, bucket by bucket, against the times the server says with each answer. Gaps between tokens are not said, but their sum is.
cat >told.jq <<'END'
{ttft_ns: map(.server_queue_ns + .server_prefill_ns), queue_ns: map(.server_queue_ns), prefill_ns: map(.server_prefill_ns),
	decode_ns: map(.server_decode_ns), e2e_ns: map(.server_queue_ns + .server_prefill_ns + .server_decode_ns),
	tpot_ns: map(.server_decode_ns / (.output_tokens - 1)), request_output_tokens: map(.output_tokens)}
END
jq -s -f told.jq live.requests >told
sum_of() { # HISTOGRAM: of all samples, its upper bounds (null: none) and counts
	jq -s -c --arg name "$1" '[.[].histograms | select(.) | .[$name].buckets] | transpose | map([.[0][0], (map(.[1]) | add)])' sim.samples
}
for name in ttft_ns queue_ns prefill_ns decode_ns e2e_ns tpot_ns request_output_tokens; do
	is "$(sum_of $name)" "$(jq -c --arg name $name --argjson buckets "$(sum_of $name)" '.[$name] as $values | ($buckets | map(.[0])) as $bounds
		| [range($bounds | length) as $k | [$bounds[$k], ([$values[] | select(($k == 0 or . > $bounds[$k - 1]) and ($bounds[$k] == null or . <= $bounds[$k]))] | length)]]' told)" \
		"$name: each bucket has the requests whose time, as the server said with the answer, is in it"
done
is "$(jq -s -c '[.[].histograms | select(.) | .itl_ns.count] | add' sim.samples)" "$(jq -s 'map(.output_tokens - 1) | add' live.requests)" \
	"itl_ns: a gap for each token after a first one"
is "$(jq -s --argjson told "$(jq '.decode_ns | add' told)" '[.[].histograms | select(.) | .itl_ns.sum] | add - $told | fabs < 1000' sim.samples)" true \
	"itl_ns: gaps last as long as the server says that decoding did"
is "$(jq -s -c 'map(.ttft_ns >= .server_queue_ns + .server_prefill_ns) | unique' live.requests)" "[true]" "TTFT at the client is not shorter than at the server"
is "$(end_server live.results '.targets[0] | [.target, .server, .failed, .scrapes >= 2, (.missing | index("spec_drafts") != null)]')" \
	'["sim","vllm",0,true,true]' "the trailer lists the target and what it lacks"
is "$(end_server live.results '.targets[0].scrapes')" "$(wc -l <sim.samples)" "the trailer counts the scrapes"

# ---- the same bytes from a file, but for the samples -------------------------------------------------------------------

ipf-collect --every 200ms -o file.results live.results.records
body live.results | grep -v '^{"sample":"server"' >live.rows
body file.results >file.rows
same live.rows file.rows "rows are the same without scrapes"

# ---- misbehaving servers ----------------------------------------------------------------------------------------------

ipf-sched --seed 3 poisson:rate=30,n=60 -o s.sched
printf 'secret-of-the-test\n' >token
# The run ends when SERVER was asked three times.
asked() { # SERVER
	[ "$(grep -c request "err.$1")" -ge 3 ]
}
ends_when_asked() { # SERVER
	sed -u -n -e '$w last' -e '$!p'
	wait_for asked "$1"
	cat last
}
# The answers of the first run never come or hang; those of the second are whole, broken or too large, however long it takes.
misbehave() { # RESULTS SERVER-TO-BE-ASKED TIMEOUT TARGETS OF ipf-collect…
	ipf-fire -q -u "$URL" -t t.trace s.sched | ends_when_asked "$2" |
		ipf-collect "${@:4}" --every 200ms --scrape-timeout "$3" --metric 'own*' -o "$1" 2>"$1.err" || not_ok "$1: the run succeeds" "$(cat "$1.err")"
	is "$(cat "$1.err")" "" "$1: a run with servers that misbehave has no messages"
	is "$(body "$1" | jq -s 'map(select(.n != null and .ok)) | length')" 60 "$1: the run has all rows"
}
targets=()
for mode in head body late; do
	metrics_server $mode $mode
	targets+=(--scrape "$mode=$METRICS")
done
misbehave silent.results late 2s "${targets[@]}"
targets=()
for mode in good dies garbage big endless bomb escapes redirect resets; do
	metrics_server $mode $mode "$URL/metrics"
	targets+=(--scrape "$mode=$METRICS")
done
metrics_server bearer bearer token
misbehave bad.results resets 10m "${targets[@]}" --scrape bearer="$METRICS" --scrape nothing=http://user:password@127.0.0.1:1 --scrape-bearer token
for mode in head body late; do
	matches "$(end_server silent.results ".targets[] | select(.target == \"$mode\").last_error")" time "the trailer names what is wrong with $mode"
done
matches "$(samples silent.results 'select(.target == "late" and .error)')" '"t_ns"' "a failure is a line of the results"
for expected in "dies:closed" "garbage:no metrics: line 1" "big:more than 8 MiB" "endless:more than 8 MiB" "bomb:more than 8 MiB" \
	"redirect:HTTP status 302" "nothing:connect"; do
	matches "$(end_server bad.results ".targets[] | select(.target == \"${expected%%:*}\").last_error")" "${expected#*:}" \
		"the trailer names what is wrong with ${expected%%:*}"
done
for name in good escapes resets bearer; do
	is "$(end_server bad.results ".targets[] | select(.target == \"$name\") | [.failed, .server]")" '[0,"vllm"]' "$name is scraped"
done
is "$(samples bad.results 'select(.target == "good").counters.output_tokens // empty' | sort -u)" 1000 "every sample of $name has the increase"
is "$(samples bad.results 'select(.target == "resets").counters.output_tokens // empty' | sort -u | xargs)" "10 1000" \
	"a counter that begins again"
is "$(end_server bad.results '.targets[] | select(.target == "resets").restarts')" "$(samples bad.results 'select(.target == "resets").resets // empty' | wc -l)" \
	"the trailer counts the restarts of the server"
is "$(end_server bad.results '[.targets[] | select(.restarts).target]')" '["resets"]' "no other server restarted"
is "$(plain bad.results | grep -c "$(printf '\033')")" 0 "no escape sequence comes through"
is "$(plain bad.results | grep -c -e secret-of-the-test -e password)" 0 "results contain no secret"

# ---- refusals -------------------------------------------------------------------------------------------------------

run "$BIN/ipf-collect" --scrape "$URL" live.results.records
status_is 2 "records that are complete are refused"
complains ipf-collect "--scrape" "complete records are refused in one line"
for wrong in ftp://h/x h:80 "a=" "http://"; do
	run "$BIN/ipf-collect" --scrape "$wrong" live.results.records
	status_is 2 "--scrape $wrong is refused"
	complains ipf-collect "expected [NAME=]URL with http or https, got" "--scrape $wrong is refused in one line"
done
run "$BIN/ipf-collect" --scrape http://h/a --scrape http://h/b live.results.records
complains ipf-collect '"h:80" twice' "two targets of one name are refused"
run "$BIN/ipf-collect" --scrape http://h/a --scrape-bearer missing live.results.records
complains ipf-collect "missing: cannot open" "a bearer file that is missing"
run "$BIN/ipf-collect" --scrape http://h/a --scrape-bearer '!echo two words' live.results.records
status_is 2 "a bearer of two words is refused"
run "$BIN/ipf-collect" --scrape http://h/a --scrape-bearer '!exit 7' live.results.records
complains ipf-collect "failed with status 7" "a command that fails"

# ---- the manual page -------------------------------------------------------------------------------------------------------

known=$(sed -n -e 's/.*NAME("\([^"]*\)").*/\1/p' -e 's/.*BY_POSITION(".*", "\(.*\)").*/\1/p' "$TESTS/../lib/metrics/server_metrics.c" | sort -u)
sed -n '/^\.Sh SERVER METRICS/,/^\.Sh EXAMPLES/p' "$TESTS/../ipf-collect/ipf-metrics.5" | tr ' ' '\n' >written
for name in $known; do
	grep -qxF -e "$name" written || not_ok "ipf-metrics(5) has $name"
done
between "$(echo "$known" | wc -l)" 100 500 "the manual page has all known names"
