#!/bin/bash
# How fast are records understood? The baseline is jq, which does the least of the same: cuts each body into events, parses
# them, and sums up the characters of the answers.
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"
# shellcheck source=tests/bench/peak.sh
. "$BENCH/peak.sh"

requests=${COLLECT_REQUESTS:-5000}
events=200

# One record a line, each with its answer in as many reads as events; about 50 kB.
jq -nc --argjson events $events --argjson requests "$requests" '
	def event: "data: \(tojson)\n\n";
	[range($events) | {id: "chatcmpl-7f3a9b2c4d5e6f708192a3b4c5d6e7f8", object: "chat.completion.chunk", created: 1763620000, model: "llama-3.1-8b",
		choices: [{index: 0, delta: {content: " word\(.)"}, logprobs: null, finish_reason: null}]} | event] as $texts
	| ($texts + [({choices: [], usage: {prompt_tokens: 512, completion_tokens: $events}} | event), "data: [DONE]\n\n"]) as $all
	| ($all | add) as $body | range($requests) as $n | ($n * 10000000) as $start
	| {n: $n, req: $n, stage: 0, due_ns: $start, ready_ns: $start, start_ns: ($start + 41000), first_byte_ns: ($start + 9000000),
	   end_ns: ($start + 10000000 * ($all | length)), status: 200, streamed: true,
	   reads: [range($all | length) as $i | [$start + 10000000 * $i, ($all[$i] | utf8bytelength), $start + 10000000 * $i + 900]],
	   body: $body}' >body.ndjson
jq -c '{ipf: "records", version: 1, tool: "ipf-fire 0.1.0", argv: [], api: .}' "$TESTS/../lib/api/apis/openai-chat.json" >header
seal header body.ndjson >records

# CPU time, since others may be busy on the machine: both take one core.
seconds() { # COMMAND…
	local TIMEFORMAT='%U %S'
	{ time "$@" 2>/dev/null; } 2>&1 | awk '{ printf "%.3f", $1 + $2 }'
}

with_jq() {
	head -n $((requests / 10)) body.ndjson |
		jq -c '[.body / "\n\n" | .[] | select(startswith("data: {")) | .[6:] | fromjson
		| .choices[0].delta.content // "" | length] | add' >/dev/null
}

taken=$(seconds ipf-collect records -o results)
baseline=$(seconds with_jq)
[ "$(grep -c '"ok":true' results)" = "$requests" ]
awk -v OFS='\t' -v n="$requests" -v e=$events -v s="$taken" -v b="$baseline" -v bytes="$(wc -c <records)" 'BEGIN {
	b *= 10 # a tenth of the records
	print "collect, answers of " e " events", sprintf("%.0f requests/s", n / s), sprintf("%.0f requests/s jq", n / b), sprintf("%.1f", b / s), "> 5",
		(b / s > 5 ? "met" : "missed")
	print "the same, events", sprintf("%.2f M/s, %.0f MB/s", n * e / s / 1e6, bytes / s / 1e6), sprintf("%.3f M/s jq", n * e / b / 1e6), "-", "> 1 M/s", (n * e / s > 1e6 ? "met" : "missed")
}'

# ---- from a generator: with a tokenizer, the cost of windows, and memory ----
api=$TESTS/../lib/api/apis/openai-chat.json
"$BUILD/bench/recordgen" "$api" "$requests" $events $((requests / 500 + 1)) >generated
day=$((24 * 3600)) many=${COLLECT_MANY:-100000}

peak_mb() { # REQUESTS EVENTS SECONDS: of ipf-collect with windows of 100 ms
	ipf-collect -q --every 100ms -o /dev/null < <("$BUILD/bench/recordgen" "$api" "$@") &
	wait_peak $!
}
tokens=$(seconds ipf-collect -t approx --itl token generated -o results)
fine=$(seconds ipf-collect --every 100ms generated -o results)
coarse=$(seconds ipf-collect --every 1h generated -o results)
short=$(peak_mb $((many / 10)) $events 1000)
long=$(peak_mb "$many" 2 "$day")
awk -v OFS='\t' -v e=$((requests * events)) -v t="$tokens" -v fine="$fine" -v coarse="$coarse" -v short="$short" -v long="$long" -v n="$many" 'BEGIN {
	print "with -t approx --itl token", sprintf("%.2f M events/s", e / t / 1e6), "-", "-", "> 0.5 M/s", (e / t > 5e5 ? "met" : "missed")
	print "windows of 100 ms", sprintf("%.2f s", fine), sprintf("%.2f s with one window", coarse), sprintf("%.2f", fine / coarse), "< 1.1", (fine / coarse < 1.1 ? "met" : "missed")
	print "peak memory, " n / 10 " answers of 200 events", short " MB", "-", "-", "< 256 MB", (short < 256 ? "met" : "missed")
	print "peak memory, " n " requests in 24 h, windows of 100 ms", long " MB", "-", "-", "< 256 MB", (long < 256 ? "met" : "missed")
}'
