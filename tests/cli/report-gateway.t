#!/bin/bash
# The time that a gateway adds (ipf-report gateway): records of both sides whose truth is known, then real proxies and real packets.
. "$TESTS/tap.sh"
PATH=$BIN:$PATH
api=$TESTS/../lib/api/apis/openai-chat.json

lacks() { # TEXT PART DESCRIPTION
	case $1 in *"$2"*) not_ok "$3" "has: $2" ;; *) ok "$3" ;; esac
}
truth() { # NAME=VALUE…: front.results and back.results
	python3 "$TESTS/helpers/gateway_truth.py" "$api" front.records back.records "$@"
	collect --events
}
collect() { # OPTIONS
	for side in front back; do
		ipf-collect -q "$@" $side.records -o $side.results
	done
}
json() { # JQ
	ipf-report gateway -f json front.results -- back.results | jq -c "$1"
}
near() { # MEMBER US: all of this distribution is so much, within 20 us
	json "[.added_ms.$1 | .mean, .p50, .p90, .p99 | . * 1000 - $2 | fabs <= 20] | unique" # exact: the test wrote the times
}

# ---- the added time ----
truth n=100 forward=200 event=500
is "$(near event 500)" "[true]" "each event takes 500 us"
is "$(near ttft 700)" "[true]" "the first token takes 200 us more until it is sent on"
is "$(near forward 200)" "[true]" "a request is sent on after 200 us"
is "$(near return 500)" "[true]" "the first token comes back in 500 us"
is "$(near e2e 700)" "[true]" "the end is 700 us later"
is "$(json '[.added_ms.requests, .added_ms.ttft.n, .added_ms.event.n, .pairing.by]')" '[100,100,800,{"request_id":100}]' "all requests and events are counted"
is "$(json '[.front.observed, .back.observed, .front.requests, .back.requests, .clock.one, .clock.outside]')" '[true,true,100,100,true,0]' "both sides are described"
is "$(json '[.windows.list | length >= 10 and length <= 21, (map(.requests) | add) == 100, (map(.ttft_p50_ms * 10 | round) | unique) == [7]]')" '[true,true,true]' \
	"windows over time have all requests"
is "$(json '[has("retries"), .own_answers.requests, .pairing.without_front, .events.same, .events.merged, .events.split]')" '[false,0,0,100,0,0]' "nothing else is reported"
collect
is "$(json '[(.added_ms | has("event")), .added_ms.ttft.n]')" '[false,100]' "without the times of events, TTFT is there"
contains "$(ipf-report gateway front.results -- back.results)" "ipf-collect --events" "the text says how to get the times of events"

# ---- keys ----
for id in request trace response none; do
	truth n=60 vary=1 id=$id
	key=${id}_id
	[ $id != none ] || key=content
	is "$(json '[.pairing.paired, (.pairing.by | map_values(. == 60) | tojson), .pairing.ambiguous_front]')" "[60,\"{\\\"$key\\\":true}\",0]" \
		"requests are paired by: $key"
	is "$(near ttft 700)" "[true]" "TTFT of requests paired by: $key"
done
truth n=40 id=none space=10
is "$(json '[.pairing.paired, .pairing.ambiguous_front, .pairing.ambiguous_back, .own_answers.requests, .pairing.without_front]')" '[0,40,40,0,0]' \
	"equal requests in flight at once are ambiguous, and not answered by the gateway"
contains "$(ipf-report gateway front.results -- back.results)" "40 in front and 40 behind" "the text has the number of ambiguous requests"

# ---- events ----
truth n=50 merge=2
is "$(json '.events | [.requests, .merged, .same, .split, .front, .back, .timed]')" '[50,50,0,0,200,400,50]' "two events in one are merged"
is "$(json '.added_ms.event | [.n, (.min * 100 | round), (.max * 100 | round), (.mean * 100 | round)]')" '[400,50,450,250]' "the first of two waits for the second"
contains "$(ipf-report gateway front.results -- back.results)" "50 of 50 answers have fewer events in front" "the text names merging"
truth n=50 split=2
is "$(json '.events | [.requests, .merged, .same, .split, .front, .back]')" '[50,0,0,50,800,400]' "one event in two is split"
is "$(near event 500)" "[true]" "the time of a split event is that of its last part"
contains "$(ipf-report gateway front.results -- back.results)" "50 of 50 answers have more events in front" "the text names splitting"

# ---- retries, own answers, others ----
truth n=100 retries=3 failovers=2 limited=6 cached=4 alone=5
is "$(json '.retries | [.requests, .behind, .answered, .same_target, .failover, .at_once, .until_last_ms.p50]')" '[5,10,5,3,2,0,10]' "retries and failovers"
is "$(json '.own_answers | [.requests, .ok, .rate_limited, .other, .statuses]')" '[10,4,6,0,{"200":4,"429":6}]' "answers of the gateway itself, by status"
is "$(json '[.pairing.paired, .pairing.without_front, .added_ms.requests]')" '[105,5,100]' "added time is that of requests passed on once"
is "$(near ttft 700)" "[true]" "retries are in no added time"
said=$(ipf-report gateway front.results -- back.results)
for text in "3 requests to the same server" "2 requests to another server" "4 with a complete answer" "6 with status 429" "5 requests without one in front" "OBSERVED"; do
	contains "$said" "$text" "the text says: $text"
done
is "$(awk 'length > 82' <<<"$said" | LC_ALL=C.UTF-8 awk 'length > 80')" "" "the text fits into 80 columns"

# ---- servers and sessions ----
truth n=120 sessions=12 roaming=3 servers=3
is "$(json '.sessions | [.sessions, .one_target, .later_requests]')" '[12,9,108]' "sessions that stay at one server"
is "$(json '.sessions.same_target_share * 100 | round')" 75 "the share of later requests where the one before went"
is "$(json '[(.targets.list | map(.requests) | add), (.targets.list | length), .targets.jain_index > 0.9]')" '[120,3,true]' "requests by server"

# ---- clocks ----
truth n=50 shift=500000
is "$(json '[.clock.one, .clock.outside, .pairing.paired, (.added_ms | has("event"), has("forward"))]')" '[false,50,50,false,false]' "two clocks are found"
is "$(near ttft 700)" "[true]" "durations need no common clock"
contains "$(ipf-report gateway front.results -- back.results)" "two: 50 of 50 requests are not within their partners" "the text says that there are two clocks"

# ---- a side that is cut, requests outside of the other side ----
truth n=100
plain back.results | head -60 >cut.results
run ipf-report gateway -f json front.results -- cut.results
status_is 3 "a cut side"
is "$(jq -c '[(.back.incomplete | length), .added_ms.requests > 20]' "$OUT")" '[1,true]' "the part that was read is reported"
is "$(jq -c '[.own_answers.outside > 0, .own_answers.requests]' "$OUT")" '[true,0]' "requests beyond the end of the other side are not called answered by the gateway"

# ---- wrong use, formats ----
contains "$(ipf-report gateway back.results -- front.results)" "are the sides in the right" "swapped sides are named"
plain back.results | head -1 >header
: >nothing
seal header nothing >empty.results
run ipf-report gateway front.results empty.results
status_is 0 "a side without requests"
contains "$(cat "$OUT")" "No request was paired" "the text says that nothing was paired"
run ipf-report gateway front.results
status_is 2 "one operand"
stderr_contains "expected FRONT… -- BACK…" "the message has both operands"
twin as.twin model=sim step_base_ns=10000000 step_per_sequence_ns=500000 prefill_tokens_per_s=20000
ipf-prep synthetic -n 10 --reproducible -q -o p.trace
ipf-sched poisson:rate=8,n=10 -t p.trace --reproducible -q -o p.sched
ipf-twin predict as.twin -t p.trace p.sched -q -o p.records
ipf-collect -q p.records -o p.results
run ipf-report gateway front.results -- p.results
status_is 3 "predicted results"
stderr_contains "expected results of a capture or of a run" "the message says that a time is missing"
for name in page.html page.md page.json; do
	ipf-report gateway front.results back.results -o $name
	yes_if "the format of $name is that of its name" test -s $name
done
contains "$(cat page.html)" "</html>" "the page is complete"
contains "$(cat page.html)" "Added by the gateway" "the page has the table"
contains "$(cat page.md)" "| first token |" "Markdown has the table"

# ---- real proxies and real packets ----
packets="two proxies before ipf-sim, seen by tcpdump"
if [ "$(id -u)" != 0 ] || ! command -v tcpdump >/dev/null; then
	skip "$packets" "requires tcpdump and root"
	exit
fi
server_start --step-base 5ms
back=${URL##*:}
ipf-prep synthetic -n 20 --input-tokens 50 --output-tokens 20 -q -o real.trace
ipf-sched closed:users=2 -t real.trace -q -o real.sched
captured_all() { # PORT: the packets of all answers are in the file
	[ "$(ipf-prep capture -q --port "$1" real.pcap --records - 2>/dev/null | grep -c '^{"n":.*DONE')" = 20 ]
}
through() { # SCRIPT ARGUMENTS…: front.results and back.results
	peer_start "$TESTS/helpers/$1" "$back" "${@:2}"
	local front=${PEER_URL##*:}
	rm -f real.pcap
	tcpdump -i lo -w real.pcap -U "tcp port $front or tcp port $back" 2>tcpdump.err &
	local dump=$!
	stop_at_exit $dump
	wait_for grep -q 'listening on' tcpdump.err
	ipf-fire -q --force -u "$PEER_URL" -m sim -t real.trace real.sched -o real.records
	wait_for captured_all "$front"
	wait_for captured_all "$back"
	kill $dump
	wait $dump 2>/dev/null
	ipf-prep capture -q --port "$front" real.pcap --records front.records
	ipf-prep capture -q --port "$back" real.pcap --records back.records
	collect --events
	peer_stop
}
through delaying_proxy.py 0.5
is "$(json '[.pairing.paired, .pairing.by, .clock.one]')" '[20,{"response_id":20},true]' "$packets: all are paired by the id of the response"
is "$(json '.added_ms | [.ttft.p50, .event.p50, .e2e.p50] | map(. >= 0.5) | unique')" '[true]' "$packets: a proxy that holds each event for 500 us adds as much"
is "$(json '.events.merged + .events.split')" 0 "$packets: it keeps events as they are"
through merging_proxy.py
is "$(json '[.pairing.paired, .pairing.by]')" '[20,{"response_id":20}]' "$packets: those of a merging proxy are paired"
is "$(json '[.events.merged, .events.front, .events.back, .events.timed]')" '[20,200,400,20]' "$packets: two events in one are merged"
at_least "$(json '.added_ms.event.p90 * 1000 | round')" 4000 "$packets: the first of two waits for the next one"
server_stop
