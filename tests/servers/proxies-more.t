#!/bin/bash
# Proxies' work besides passing streams on: HTTP/2, limits of rates, time-outs, retries; and ipf's messages about it.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/servers/servers.sh"
. "$TESTS/servers/proxies.sh"

ipf-prep synthetic -n 60 --input-tokens 40 --output-tokens 20 -q -o prompts.trace
MODEL=sim
behind() { # WHAT PROXY ARGUMENTS OF its start…
	local what=$1 proxy=$2
	shift 2
	"${proxy}_serve" "$@" || { skip "$proxy: $what" "not installed" && return 1; }
	URL=$SERVED name=$proxy-$what
}
kinds() { jq -c '[.errors[] | [.kind, .status]] | unique' "$1.json"; }
retry_after() { zstd -qdcf "$1.records" | grep '"status":429' | grep -ci '"retry-after"'; }

# ---- HTTP/2: all requests on one connection --------------------------------------------------------------------------
server_start --step-base 1ms --step-per-seq 0
DIRECT=$URL
multiplexed() {
	fired "$name" poisson:rate=20,n=60 --http 2-prior
	all_answered "${name%-*}" "$name" 60
	is "$(connections "$name")" 1 "$name: one connection carries all requests"
	serve_stop
}
behind http2 nginx "$DIRECT" '' '' http2 && multiplexed
behind http2 haproxy "$DIRECT" '' 'proto h2' && multiplexed
behind http2 caddy "$DIRECT" && multiplexed
behind http2 envoy "$DIRECT" && multiplexed

# ---- limits: 429 with Retry-After ------------------------------------------------------------------------------------
limited() {
	fired "$name" constant:rate=30,n=60 --record-header Retry-After
	between "$(jq .total.requests.failed "$name.json")" 10 59 "$name: some are refused"
	is "$(kinds "$name")" '[["http-status",429]]' "$name: refusals have status 429"
	between "$(retry_after "$name")" 10 59 "$name: refusals have Retry-After"
	serve_stop
}
behind limit nginx "$DIRECT" 'limit_req_zone $binary_remote_addr zone=all:1m rate=5r/s; limit_req_status 429;' \
	'limit_req zone=all; add_header Retry-After 1 always;' && limited
behind limit haproxy "$DIRECT" 'stick-table type ip size 1k expire 10s store http_req_rate(1s)
	http-request track-sc0 src
	http-request return status 429 hdr Retry-After 1 if { sc_http_req_rate(0) gt 5 }' && limited
behind limit envoy "$DIRECT" 'timeout: 0s' '{name: envoy.filters.http.local_ratelimit, typed_config: {
	"@type": type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit, stat_prefix: all,
	token_bucket: {max_tokens: 5, tokens_per_fill: 5, fill_interval: 1s}, filter_enabled: {default_value: {numerator: 100}},
	filter_enforced: {default_value: {numerator: 100}}, response_headers_to_add: [{header: {key: Retry-After, value: "1"}}]}}' && limited

# ---- time-outs: a stream taking longer, or pauses ----------------------------------------------------------------
server_start --step-base 1ms --step-per-seq 0 --fail stall:after=5,pause=5s
STALLS=$URL
timed_out() {
	fired "$name" constant:rate=10,n=5
	is "$(counts "$name")" "[0,5]" "$name: no answer is called whole"
	matches "$(kinds "$name")" '^\[\["(cut|reset|http2)",200\]\]$' "$name: answers are cut off"
	is "$(rows "$name.results" | jq -s 'all(.events >= 5 and .end_ns - .start_ns < 4e9)')" true "$name: behind what came, before the server goes on"
	serve_stop
}
behind timeout nginx "$STALLS" '' 'proxy_read_timeout 1s;' && timed_out
behind timeout haproxy "$STALLS" 'timeout server 1s' && timed_out
behind timeout caddy "$STALLS" 'transport http {
			read_timeout 1s
		}' && timed_out
behind timeout envoy "$STALLS" 'timeout: 1s' && timed_out

# ---- retries: a server refusing a third of all requests ----------------------------------------------------------
server_start --step-base 1ms --step-per-seq 0 --fail status:share=0.3
FAILS=$URL
retried() {
	fired "$name" constant:rate=20,n=60
	is "$(counts "$name")" "[60,0]" "$name: all are answered, which the server did not do"
	serve_stop
}
URL=$FAILS fired unhelped constant:rate=20,n=60
between "$(jq .total.requests.failed unhelped.json)" 5 40 "requests without a proxy fail in part"
behind retry haproxy "$FAILS" 'retry-on 503
	retries 12' && retried
behind retry envoy "$FAILS" 'timeout: 0s, retry_policy: {retry_on: 5xx, num_retries: 12, retry_back_off: {base_interval: 0.001s, max_interval: 0.01s}}' && retried
