#!/bin/bash
# ipf-report's figures from samples of servers and accelerators, of streams made by hand.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
export IPF_REPORT_FULL=1 # all sections of the text
data=$TESTS/data/report
report=$BIN/ipf-report


# 60 requests of 100 and 20 tokens, five a second for 12 s: TTFT 50 ms, then a token each 10 ms.
head -1 "$data/one.results" >header
rows() { # FROM TO: their numbers
	jq -nc --argjson from "$1" --argjson to "$2" 'range($from; $to) | { n: ., stage: 0, ok: true, due_ns: (. * 200000000), start_ns: (. * 200000000),
		end_ns: (. * 200000000 + 241000000), ttfb_ns: 49000000, ttft_ns: 50000000, e2e_ns: 240000000, tpot_ns: 10000000, events: 20, coalesced: 0, stalls: 0,
		input_tokens: 100, input_tokens_usage: 100, output_tokens: 20, output_tokens_usage: 20, tokens_source: "usage", finish: "length" }'
}
# A server that saw them all, asked each second from one second before to two seconds after.
samples() { # TARGET REQUESTS-A-SECOND
	jq -nc --arg target "$1" --argjson n "$2" 'range(-1; 15) as $t | (if $t >= 1 and $t <= 12 then $n else 0 end) as $k
		| { sample: "server", t_ns: ($t * 1000000000), target: $target, server: "vllm", interval_ns: 1000000000,
		gauges: { running: (if $k > 0 then 1 + $t % 2 else 0 end), waiting: 0, kv_cache_usage: ($k / 100), replicas_ready: 2 },
		counters: { requests_ok: $k, input_tokens: (100 * $k), output_tokens: (20 * $k), preemptions: 0, cache_query_tokens: (100 * $k), cache_hit_tokens: (10 * $k) },
		histograms: {
			ttft_ns: { count: $k, sum: (50000000 * $k), buckets: [[40000000, 0], [60000000, $k], [null, 0]] },
			tpot_ns: { count: $k, sum: (10000000 * $k), buckets: [[10000000, $k], [25000000, 0], [null, 0]] },
			e2e_ns: { count: $k, sum: (240000000 * $k), buckets: [[300000000, $k], [null, 0]] },
			queue_ns: { count: $k, sum: (2000000 * $k), buckets: [[300000000, $k], [null, 0]] } } }
		| if $t == -1 then del(.interval_ns, .counters, .histograms) else . end'
}
gpus() {
	jq -nc 'range(0; 13) as $t | range(0; 2) as $i | { sample: "gpu", t_ns: ($t * 1000000000), source: "nvml", host: "node-1", device: "GPU-\($i)", index: $i,
		model: "NVIDIA H200", utilization: 0.5, memory_used_bytes: (64 * 1073741824), memory_total_bytes: (141 * 1073741824), memory_bandwidth: 0.25,
		power_w: (300 + 100 * $i), energy_j: (1000 + (300 + 100 * $i) * $t), temperature_c: 61 }'
}
in_time() { jq -sc 'sort_by(.t_ns // .end_ns)[]'; }

{
	rows 0 60
	samples replica-a 5
	gpus
} | in_time >body
energy='"accelerators":[{"source":"nvml","host":"node-1","device":"GPU-0","energy_j":3650.5,"valid":true,"idle_power_w":75},
	{"source":"nvml","host":"node-1","device":"GPU-1","energy_j":4850,"valid":false,"reasons":["gap","counter_mismatch"]}],'
seal header body | sed "s/\"end\":{/&$(echo "$energy" | tr -d '\n\t')/" >equal.results
run "$report" equal.results
status_is 0 "a run with samples is reported"
golden servers.txt "the text of samples is the golden one"
sed 's/"idle_power_w":75/&,"idle_from":"lowest"/' equal.results >lowest.results
is "$("$report" lowest.results | grep -c ' <75')" 1 "the lowest power of a busy device is a bound of its idle power"
run "$report" -f json equal.results
is "$(jq -c '.server | [.running.max, .waiting.max, .output_tokens.sum, .hit_rate, .preemptions]' "$OUT")" '[2,0,1200,0.1,0]' "JSON has the server's figures"
is "$(jq -c ".server | [.replicas_ready.mean, .targets[0].replicas_ready.max]" "$OUT")" "[2,2]" "JSON has the replicas that were ready"
is "$(jq -c '.server.comparison | [.requests, .output_tokens, .ttft_ms.client.p50, .ttft_ms.server.p50[1:], .ttft_ms.server.mean]' "$OUT")" \
	'[{"client":60,"server":60},{"client":1200,"server":1200},50,[40,60],50]' "JSON has the client's figures next to the server's"
is "$(jq -c .server.comparison.differences "$OUT")" null "figures of client and server do not differ"
is "$(jq -c '[.accelerators[] | [.index, .utilization.mean, .power_w.mean, .energy.energy_j, .energy.valid, .memory_used_bytes.max]]' "$OUT")" \
	'[[0,0.5,300,3650.5,true,68719476736],[1,0.5,400,4850,false,68719476736]]' "JSON has the accelerators"

differences() { # JQ-PROGRAM: the kinds of differences after that change to the samples
	jq -c "$1" body >changed
	seal header changed >changed.results
	"$report" -f json changed.results | jq -c '[.server.comparison.differences[]?.kind]'
}
is "$(differences 'if .sample == "server" and .counters then .counters |= map_values(. * 2) else . end')" \
	'["more-requests","more-output-tokens"]' "requests of another client are named as a difference"
is "$(differences 'if .sample == "server" and .counters then .counters |= map_values(. / 2) else . end')" \
	'["fewer-requests","fewer-output-tokens"]' "requests that the server did not see are named as a difference"
is "$(differences 'if .n then .ttft_ns += 100000000 | .ttfb_ns += 100000000 | .e2e_ns += 100000000 | .end_ns += 100000000 else . end')" \
	'["ttft-longer"]' "a delay in front of the server is named as a difference"
is "$(differences 'if .n then .ttft_ns += 8000000 | .e2e_ns += 8000000 else . end')" '[]' "a difference within a bucket is not named"
is "$(differences 'if .sample == "server" and .counters then .counters.input_tokens *= 1.07 else del(.input_tokens_usage) | if .n then .tokens_source = "tokenizer" else . end end')" \
	'["template-tokens"]' "a chat template is named as a difference"
is "$(differences 'if .n then .asked_input_tokens = 93 else . end')" '["template-tokens"]' "a chat template that only the trace lacks is named"
is "$(differences 'if .n then .cached_tokens = 50 else . end')" '["hit-rate"]' "another hit rate is named as a difference"
# A restart of the server at 6 s, when its counters had 2 of each 5 requests since the sample before.
restart='if .sample == "server" and .t_ns == 6000000000 then .resets = 9 | .counters |= map_values(. * 2 / 5) else . end'
is "$(differences "$restart")" '["fewer-requests","fewer-output-tokens"]' "counts that a restart lost are missing"
is "$("$report" -f json changed.results | jq -c '.server | [.targets[0].restarts, .targets[0].restarted_s], (.comparison.differences[].text | sub("^.*: "; ""))' | sort -u)" \
	"$(printf '%s\n' '"the server restarted, and its counts after the last reading before are lost"' '[1,6]')" "the restart is named as the cause"
for words in "" --full; do
	matches "$(IPF_REPORT_FULL='' "$report" $words changed.results | tr -s ' \n' ' ')" \
		"restarted replica-a: the server restarted during the run: its counters fell at 6(\.0+)? s" "the report ${words:-without options} says when the server restarted"
done
differences "$restart | if .sample == \"server\" and .t_ns == 9000000000 then .resets = 1 else . end" >kinds
contains "$("$report" changed.results | tr -s ' \n' ' ')" "replica-a: the server restarted 2 times during the run: its counters fell, the first time at 6" "two restarts are counted"
is "$("$report" equal.results | grep -c restart)" 0 "a server that did not restart has no such sentence"
# Requests the client gave up are in the server's latencies and not in the client's: no other client is needed to explain
# that.
differences 'if .sample == "server" and .histograms then .histograms.ttft_ns |= (.sum *= 3 | .buckets = [[100000000, 0], [200000000, .count], [null, 0]])
	elif .n and .n >= 40 then { n, stage, ok: false, due_ns, start_ns, end_ns, input_tokens, events: 0, error: { kind: "timeout", text: "no answer" } } else . end' >kinds
is "$(cat kinds)" '["more-output-tokens","ttft-shorter"]' "requests this client gave up"
is "$("$report" -f json changed.results | jq -r '.server.comparison.differences[].text | sub("^.*: "; "")' | sort -u)" \
	"$(printf '%s\n' "20 requests this client gave up (timed out, disconnected or cancelled, 20 of them before a first token)" \
		"the server's figures include 20 requests this client gave up (timed out, disconnected or cancelled, 20 of them before a first token)")" "the text names disconnects as the cause of a difference"
# Only a half of the run is known: what ended in it is compared.
is "$(differences 'select(.sample != "server" or (.t_ns >= 3000000000 and .t_ns <= 9000000000)) | if .sample == "server" and .t_ns == 3000000000 then del(.interval_ns, .counters, .histograms) else . end')" \
	'[]' "requests outside of the scraped time do not count"

# The client's gaps have quantiles if the scrapes cover all of the run; how long a connection took is evidence.
gaps='{"histogram":"itl_ns","stage":0,"count":1140,"min":10000000,"max":10000000,"sum":11400000000,"buckets":[[7778,1140]]}'
jq -c 'if .sample == "server" and .histograms then .histograms.itl_ns = .histograms.tpot_ns elif .n and .n < 2 then .connect_ns = 400000 - .n else . end' body >timed
{ cat timed && echo "$gaps"; } >changed
seal header changed >changed.results
run "$report" -f json changed.results
is "$(jq -c '.server.comparison | .connect_ms, (.itl_ms.client | .n, .p50, .p90, .p99)' "$OUT" | tr '\n' ' ')" '0.399999 1140 10 10 10 ' "quantiles of ITL at the client, and the time of a connection"
run "$report" changed.results
is "$(sed -n '/^  ITL  *client/p;/^  network/p' "$OUT" | tail -2 | tr -s ' \n' ' ')" " network 0.400 ms at least to open a connection: about one round trip ITL client 10.0 10.0 10.0 10.0 " "the text has ITL at the client and the time of a connection"
# The bounds of the gaps are no gaps, nor are the gaps of each model others than those of the stage.
{
	cat changed
	for kind in itl_low_ns itl_high_ns; do echo "$gaps" | sed "s/itl_ns/$kind/"; done
	echo "$gaps" | sed 's/"stage":0/&,"model":"m"/'
} >all-kinds
seal header all-kinds >all-kinds.results
is "$("$report" -f json all-kinds.results | jq -c '[.total.latency.itl_ms, .server.comparison.itl_ms.client] | map([.n, .mean])')" '[[1140,10],[1140,10]]' "gaps in three kinds of samples count once"
jq -c 'select(.sample != "server" or .t_ns >= 3000000000)' changed >part
seal header part >part.results
is "$("$report" -f json part.results | jq -c '.server.comparison.itl_ms.client | [.n < 1140, .p50]')" "[true,null]" "histograms of a part of the time give no quantiles"
jq -c 'if .n then .ttft_ns += 100000000 | .ttfb_ns += 100000000 | .e2e_ns += 100000000 | .end_ns += 100000000 else . end' timed >changed
seal header changed >changed.results
matches "$("$report" -f json changed.results | jq -r '.server.comparison.differences[].text')" 'a connection took 0.4 ms to open: a proxy, or a queue in front of the server; not the network' "a delay that a short round trip does not explain"

# Two URLs, each with its own server, of which the second is slow in front.
sed 's|"target":"http://127.0.0.1:8000/v1/chat/completions"|"targets":["http://127.0.0.1:8000/v1/chat/completions","http://10.0.0.2:8000/v1/chat/completions"]|' header >two-header
{
	rows 0 60 | jq -c '.target = 0 | .connect_ns = 200000'
	rows 0 60 | jq -c '.n += 60 | .target = 1 | .connect_ns = 98000000 | .ttft_ns += 100000000 | .ttfb_ns += 100000000 | .e2e_ns += 100000000 | .end_ns += 100000000'
	samples here 5
	samples there 5
} | in_time >body
described='"server":{"targets":[{"target":"here","url":"http://127.0.0.1:8000/metrics"},{"target":"there","url":"http://10.0.0.2:8000/metrics"}]},'
seal two-header body | sed "s|\"end\":{|&$described|" >two.results
run "$report" -f json two.results
is "$(jq -c '.server.targets[].comparison | [.requests, .ttft_ms.client.mean, .ttft_ms.server.mean, .connect_ms, [.differences[]?.kind]]' "$OUT" | tr '\n' ' ')" \
	'[{"client":60,"server":60},50,50,0.2,[]] [{"client":60,"server":60},150,50,98,["ttft-longer"]] ' "servers are compared with the requests to their URLs"
is "$(jq -c '.server.comparison.requests' "$OUT")" '{"client":120,"server":120}' "the comparison of the whole has all requests"
run "$report" two.results
is "$(sed -n '/^Client \/ server/,/^$/p' "$OUT" | tr -s ' \n' ' ')" \
	"Client / server, means requests TTFT, ms TPOT, ms here 60 / 60 50 / 50 10 / 10 there 60 / 60 150 / 50 10 / 10 differs there: TTFT is 100 ms longer at the client, 150 against 50 ms on average; the first byte came after 149 ms, and a connection took 98 ms to open: the network " \
	"the text says which server differs and that the network is the cause"
sed 's/"connect_ns":98000000/"connect_ns":400000/' body >near-body
seal two-header near-body | sed "s|\"end\":{|&$described|" >near.results
matches "$("$report" -f json near.results | jq -r '.server.targets[1].comparison.differences[].text')" \
	"took 0.4 ms to open: the server's own HTTP layer, in which its figures do not begin yet, or a queue there; not the network" \
	"the text names the HTTP layer of a server that was asked directly"
sed "s|http://10.0.0.2:8000/metrics|http://127.0.0.1:8000/metrics|" two.results >shared.results
is "$("$report" -f json shared.results | jq -c '[.server.targets[] | has("comparison")]')" "[false,false]" "targets at one URL have no comparison"

# Two shards that scrape the same server, and each a server of its own.
at() { # T0_UNIX_NS: the header of a run beginning then
	sed "s/\"tool\":\"ipf-fire 0.1.0\"/&,\"t0_unix_ns\":$1/" header
}
at 1000000000000000000 >header-1
at 1000000000500000000 >header-2
for shard in 1 2; do
	rows $((30 * shard - 30)) $((30 * shard)) >some
	{ cat some && samples shared 5 && samples "own-$shard" 1; } | in_time >body-$shard
	seal header-$shard body-$shard >shard-$shard.results
done
run "$report" -f json shard-1.results shard-2.results
is "$(jq -c '[.server.targets[] | [.target, .counts]]' "$OUT")" '[["shared",null],["own-1",null],["shared",false],["own-2",null]]' \
	"a target that two shards scraped counts once"
is "$(jq -c '.server.comparison.requests' "$OUT")" '{"client":60,"server":84}' "the server's figures have the other target"

# Targets that fail, and names a terminal must not get.
{
	rows 0 60
	samples good 5
	jq -nc 'range(0; 12) | { sample: "server", t_ns: (. * 1000000000), target: "bad\u001b[31m\u202etarget", error: "refused\u0007 \u001b]0;x" }'
	jq -nc '{ sample: "gpu", t_ns: 0, host: "h\u001b[2J", device: "d", model: "m\u009b31m\n", utilization: 1 }'
} | in_time >body
seal header body | sed 's|"end":{|&"server":{"targets":[{"target":"good","url":"http://127.0.0.1:8000/metrics","missing":["swapped","spec_drafts"]}]},|' >hostile.results
run "$report" -v hostile.results
golden servers-hostile.txt "failed targets and hostile names are shown safely"
is "$(sed 's/°/o/' "$OUT" | awk '{ gsub(/[^ -~]/, "?") } length > 80')" "" "failed targets fit into 80 columns"
is "$(LC_ALL=C tr -d '\n' <"$OUT" | LC_ALL=C tr -cd '\000-\037\177' | wc -c)" 0 "hostile names of targets have no control characters"
run "$report" -f json hostile.results
is "$(jq -c '[.server.targets[] | [.scrapes, .failed]]' "$OUT")" '[[16,0],[12,12]]' "failed scrapes are counted"

# Answers a Prometheus did not give.
asked() { # MEMBERS-OF-prometheus: $OUT is the text, $PWD/asked.json the JSON
	seal header body | sed "s|\"end\":{|&\"prometheus\":{\"url\":\"http://p:9090\",\"requests\":3,\"samples\":0,$1},|" >asked.results
	"$report" -f json asked.results >asked.json
	run "$report" asked.results
}
prometheus_lines() { sed -n '/^  prometheus/,/^ \{,2\}[^ ]/p' "$OUT" | grep -v '^ \{,2\}[^ p]' | tr -s ' \n' ' '; }
rows 0 60 >body
asked '"error":"unavailable: try\\u001b[31m later","targets":[]'
is "$(grep -A1 '^Server' "$OUT" | tr -s ' \n' ' ')" 'Server prometheus http://p:9090: unavailable: try\x1b[31m later ' "the text has the error of a Prometheus without samples"
is "$(jq -c '.server.prometheus[0] | [.url, .error]' asked.json)" '["http://p:9090","unavailable: try\u001b[31m later"]' "JSON has the error of a Prometheus"
{ rows 0 60 && samples good 5; } | in_time >body
asked '"error":"bad: bad_data: parse error","queries":[{"name":"bad","query":"sum(","points":0,"error":"bad_data: parse error"},{"name":"up","query":"up","points":7},{"name":"none","query":"x","points":0,"error":"no data"}]'
is "$(prometheus_lines)" " prometheus bad: bad_data: parse error prometheus none: no data " "the text has the error of each expression"
asked '"queries":[{"name":"up","query":"up","points":7}]'
is "$(grep -c prometheus "$OUT")" 0 "the text has no line on Prometheus if all was answered"

# A line that is no sample is refused, with its place.
echo '{"sample":"server","t_ns":1,"target":"a","gauges":{"running":"many"}}' >body
seal header body >bad.results
run "$report" bad.results
status_is 3 "a bad sample is an error"
stderr_contains "bad.results:2: gauges: running: expected a number" "ipf-report names line and field of a bad sample"

# Triton counts times without buckets: a mean, and no percentiles. Where not even a sum is known, nothing is.
{ rows 0 60; samples replica-a 5 | jq -c 'if .histograms then .histograms[] |= del(.buckets) | .histograms.tpot_ns |= del(.sum) else . end'; } | in_time >sums
seal header sums >sums.results
run "$report" -f json sums.results
status_is 0 "a server whose histograms have no buckets is reported"
is "$(jq -c '.server.comparison | [.ttft_ms.server.mean, .ttft_ms.server.p50, .tpot_ms.server]' "$OUT")" '[50,null,null]' "histograms without buckets give means and no percentiles"
run "$report" sums.results
status_is 0 "text of histograms without buckets ends with 0"
run "$report" -f html sums.results
status_is 0 "the page of histograms without buckets ends with 0"
