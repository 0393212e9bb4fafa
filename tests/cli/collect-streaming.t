#!/bin/bash
# Responses in one piece have no first token, so no TTFT, TTFA and ITL: the row says why, the report says it, the verdict doubts a run in
# which streaming was asked for, and an objective on such a figure is neither met nor missed.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
export IPF_REPORT_FULL=1 # all sections of the text

server_start --step-base 1ms --step-per-seq 0
for i in $(seq 20); do printf '{"id":"%s","prompt":"Hi","input_tokens":1,"output_tokens":9}\n' "$i"; done >lines
printf '{"ipf":"trace","version":1,"tool":"by hand"}\n' >header
seal header lines >twenty.trace
sed 's/"output_tokens":9/"output_tokens":1/' lines >lines.1
seal header lines.1 >one-token.trace
for trace in twenty one-token; do "$BIN/ipf-sched" -q burst:n=20 -t $trace.trace -o $trace.sched; done

results() { # NAME TRACE API ARGUMENTS…
	local name=$1 trace=$2 api=$3 base=$URL/$3
	shift 3
	[ "$api" != openai-chat ] || base=$URL
	"$BIN/ipf-fire" -q -u "$base" -m sim --api "$api" -t "$trace.trace" "$trace.sched" "$@" | "$BIN/ipf-collect" -q --deadline 1000s -o "$name.results"
	"$BIN/ipf-report" -q -f json --slo ttft=1h,e2e=1h,p50:ttft=1h "$name.results" >"$name.json"
	"$BIN/ipf-report" -q --slo ttft=1h,e2e=1h,p50:ttft=1h "$name.results" | tr '\n' ' ' | tr -s ' ' >"$name.txt"
}
figures='.total | [.requests.ok, .latency.ttft_ms.from_start.n, .latency.ttfa_ms.from_start.n, .latency.itl_ms.n, .latency.tpot_ms.n,
	.fluidity.share, .latency.e2e_ms.from_start.n, .not_streamed]'

results streamed twenty openai-chat
is "$(jq -c "$figures" streamed.json)" '[20,20,20,160,20,1,20,null]' "a streamed run has all figures"
is "$(jq -c '.total.goodput | [.good, .of, .unmeasured, .share]' streamed.json)" '[20,20,null,1]' "a streamed run has a goodput"

while IFS='|' read -r name reason arguments said; do
	eval "results $name twenty $arguments"
	is "$(jq -c "$figures" "$name.json")" "[20,null,null,null,null,null,20,{\"$reason\":20}]" "$name: only E2E, and the reason"
	contains "$(cat "$name.txt")" "no TTFT, TTFA, ITL and TPOT for 20 of 20 responses, which came as a whole: $said" \
		"$name: the report gives the reason"
	is "$(jq -c '.total.goodput | [.requests_per_s, .share, .unmeasured, (.objectives | map(.share, .value_ms, .unmeasured))]' "$name.json")" \
		'[null,null,20,[null,null,20,1,null,null,null,null,20]]' "$name: an objective on TTFT is neither met nor missed"
	contains "$(cat "$name.txt")" "Goodput not measurable: 20 requests not streamed ttft=1h not measurable: not streamed e2e=1h 100" \
		"$name: the report says that objectives on TTFT are not measured"
	matches "$("$BIN/ipf-report" -q -f csv --slo ttft=1h "$name.results" | head -1)" 'slo_ttft=1h_share' "$name: CSV has its columns"
	is "$(jq -r '.total.throughput.output_tokens_per_s | type' "$name.json")" "$([ $name = unavailable ] && echo null || echo number)" \
		"$name: throughput needs no first token, but a count"
done <<'END'
not-asked|not-asked|openai-chat --no-stream|streaming was not requested
ignored|ignored|openai-chat -H "X-Sim: whole"|the server ignored the request for streaming
unavailable|no-streaming|sax|the API has no streaming
lines|ignored|ollama -H "X-Sim: whole"|the server ignored the request for streaming
END
is "$(jq -c '.total.tokens | [.output, .source]' unavailable.json)" '[null,"none"]' "a response in one piece without usage is not one token"
contains "$(cat unavailable.txt)" "counted by none (20 answers; ipf-collect -t counts them)" "the report says that tokens are counted by none"
matches "$("$BIN/ipf-report" -q -f json unavailable.results | jq .total.throughput.input_tokens_per_s)" "^[0-9.]+$" "the report has the input throughput of responses in one piece"
is "$(jq -c '.verdict.checks[] | select(.name == "server_answers") | [.status, .stream_ignored]' ignored.json)" '["DOUBTFUL",20]' \
	"the verdict doubts a server that ignores the request"
matches "$(jq -r '.verdict.checks[2].detail' ignored.json)" 'streaming was requested, but 20 responses \(100.* %\) came as a whole and have no TTFT' \
	"the verdict says how often streaming was ignored"
is "$(jq -c '.verdict.checks[] | select(.name == "server_answers") | .status' not-asked.json)" '"OK"' "the verdict does not doubt responses that were not to be streamed"
"$BIN/ipf-report" -q -f json --errors-as-inf ignored.results >inf.json
is "$(jq -c '.total.latency.ttft_ms.from_start' inf.json)" null "--errors-as-inf gives no TTFT to responses in one piece"

# A few of many: they are left out of the goodput, and above one in a hundred there is none.
head -1 streamed.results >header
sed -e 1d -e '$d' streamed.results | grep '"n":' >some
for i in 1 2 3 4 5 6 7 8 9 10; do sed "s/\"n\":/\"n\":$i/" some; done >rows
few() { # HOW MANY
	jq -c --argjson few "$1" 'if input_line_number <= $few then del(.ttft_ns, .ttfa_ns) | .not_streamed = "ignored" else . end' rows >body
	seal header body >few.results
	"$BIN/ipf-report" -q -f json --slo ttft=1h few.results
}
is "$(few 2 | jq -c '.total.goodput | [.good, .of, .unmeasured, .share]')" '[198,198,2,1]' "goodput leaves out one unmeasured response in a hundred"
is "$(few 3 | jq -c '.total.goodput | [.unmeasured, .share, .requests_per_s]')" '[3,null,null]' "more, and there is no goodput"

results one one-token openai-chat
is "$(jq -c '.total | [.requests.ok, .latency.ttft_ms.from_start.n, .not_streamed, .goodput.share]' one.json)" '[20,20,null,1]' \
	"streamed answers of one token have a TTFT"
results coalesced twenty openai-chat -H 'X-Sim: coalesce;events=99'
is "$(jq -c '.total | [.requests.ok, .latency.ttft_ms.from_start.n, .not_streamed]' coalesced.json)" '[20,20,null]' \
	"a stream that comes in one read was streamed"
results lumped twenty openai-chat -H 'X-Sim: multi;tokens=9'
is "$(jq -c '.verdict.checks[] | select(.name == "server_answers") | [.status, .single_event]' lumped.json)" '["DOUBTFUL",1]' \
	"streams of a single event for all tokens are doubted"
"$BIN/ipf-fire" -q -u "$URL" -m sim --api openai-chat --no-stream -t twenty.trace twenty.sched | "$BIN/ipf-collect" --explain >explained
is "$(grep -c 'not streamed ("not-asked"): no TTFT' explained)" 20 "--explain says so"
