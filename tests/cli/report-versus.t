#!/bin/bash
# Client against server, in whole runs: ipf-sim is scraped while ipf-fire sends, and the differences between the two are named with
# their possible causes.
. "$TESTS/tap.sh"
export IPF_REPORT_FULL=1 # all sections of the text
PATH=$BIN:$PATH
. "$TESTS/scraped.sh"
ipf-prep -q synthetic -n 40 --input-tokens 40 --output-tokens 10 -t approx -o t.trace
ipf-sched -q constant:rate=20,n=40 -t t.trace -o t.sched

# A run through URLs that scrapes others, in the background: those of other servers go on at the same time.
declare -A runs
begin() { # NAME URL-TO-SEND-TO… -- URL-TO-SCRAPE…
	local name=$1 to=()
	shift
	while [ "$1" != -- ]; do to+=(-u "$1") && shift; done
	scraped_begin "$name.results" t.sched -t t.trace "${to[@]}" "$@"
	runs[$name]=$scraped_run
}
ended() { # NAME: its results, and $found, the kinds of differences
	local name=$1
	wait "${runs[$name]}" || not_ok "$name: the run" "$(cat "$name.results.err")"
	ipf-report -q -f json "$name.results" >"$name.json"
	ipf-report -q --ascii "$name.results" >"$name.txt"
	found=$(jq -c '[.server.comparison.differences[]?.kind]' "$name.json")
	is "$(awk 'length > 80' "$name.txt")" "" "$name: the text has 80 columns"
}
text() { tr -s ' \n' ' ' <"$1.txt"; }
compared() { jq -c '.server.comparison | '"$2" "$1.json"; }

# Both sides count all of them: the servers are scraped before the first request and after the last one.
same_sums() { # NAME FIGURE OF-A-REQUEST
	is "$(compared "$1" "[.$2.client, .$2.server] | map(. / $3)")" "[40,40]" "$1: $2 of all requests are compared, and agree"
}
# How long a busy machine holds up the client or the server is a difference of latencies, and real; unit/test_report_server_comparison has those that agree.
numbers() { jq -c 'map(select(endswith("requests") or endswith("tokens") or . == "hit-rate"))' <<<"$found"; }

# ---- nothing between them ----

server_start --seed 3 --step-base 4ms
SIM=$URL
begin equal "$SIM" -- "$SIM"
ended equal
is "$(numbers)" "[]" "client and server agree: no number differs"
same_sums equal requests 1
same_sums equal output_tokens 10
same_sums equal input_tokens 40
is "$(compared equal '.queue_ms.server >= 0')" true "the mean queue is not negative"
contains "$(cat equal.txt)" "Client and server, ms" "the text shows them side by side"
is "$(grep -c "^  differs" equal.txt)" "$(jq length <<<"$found")" "the text names as many differences as there are"

# ---- a slow way ----

peer_start "$TESTS/helpers/delaying_proxy.py" "${SIM##*:}" 300
begin slow "$PEER_URL" -- "$SIM"
server_start --seed 3 --step-base 4ms --template-tokens 7
begin template "$URL" -- "$URL"
server_start --seed 3 --step-base 4ms
ONE=$URL
server_start --seed 4 --step-base 4ms
begin replicas "$ONE" "$URL" -- "$ONE"
ended slow
contains "$found" '"ttft-longer"' "a proxy that takes 300 ms"
at_least "$(compared slow '.ttft_ms.client.mean - .ttft_ms.server.mean')" 290 "TTFT differs by what the proxy takes, or more"
matches "$(text slow)" "differs TTFT is [0-9.e+]+ ms longer at the client, .* on average; the first byte came after [0-9.e+]+ ms, and a connection took [0-9.e+-]+ ms to open: .*a proxy, or a queue in front of the server" \
	"the text names a proxy and the evidence"
is "$(numbers)" "[]" "a proxy changes no number"

# ---- another client ----

ipf-sched -q constant:rate=40,for=1h -t t.trace --seed 9 -o other.sched
ipf-fire -q -m sim -u "$SIM" -t t.trace other.sched -o other.records &
other=$!
stop_at_exit $other
begin shared "$SIM" -- "$SIM"
wait "${runs[replicas]}"
begin both "$ONE" "$URL" -- "$ONE" "$URL"
ended shared
kill -INT $other
wait $other
is "$(jq -c 'index("more-requests") != null and index("more-output-tokens") != null' <<<"$found")" true "another client of the server gives more requests and tokens"
matches "$(text shared)" "the server counted [0-9]+ requests, this client had [0-9]+: another client uses the server" "the text names another client of the server"

# ---- a chat template ----

ended template
is "$(jq -c 'map(select(. == "template-tokens" or . == "more-input-tokens"))' <<<"$found")" '["template-tokens"]' "a chat template, once"
contains "$(text template)" "each request has 7 input tokens more at the server than in the trace: a chat template or special tokens" "the text has the tokens of the template"

# ---- an unscraped replica ----

ended replicas
is "$(jq -c 'index("fewer-requests") != null and index("fewer-output-tokens") != null' <<<"$found")" true "a replica that is not scraped gives fewer requests and tokens"
contains "$(text replicas)" "a replica is not scraped" "the text says that a replica is not scraped"
ended both
is "$(numbers)" "[]" "both replicas have the numbers of the client"
is "$(compared both .requests.client)" 40 "every request to both replicas is compared"
