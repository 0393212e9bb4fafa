#!/bin/bash
# ipf-prep capture on captures whose packets are known (helpers/packets.py): records, traces, counts, options, faults.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
packets() { python3 "$TESTS/helpers/packets.py" "$1" "$1"; }
requests_of() { plain "$1" | sed -e 1d -e '$d'; }
observed() { plain "$1" | tail -1 | jq -c ".end.observed$2"; }

# ---- records ----------------------------------------------------------------------------------------------------------------------------
packets mixed
run ipf-prep capture mixed --records mixed.records -o mixed.trace
status_is 0 "a capture is read"
contains "$(cat "$ERR")" "5 requests in" "people get the number of requests"
contains "$(cat "$ERR")" "2 other requests" "people get the number of other requests"
run ipf-collect --check mixed.records
status_is 0 "its records are valid"
is "$(plain mixed.records | head -1 | jq -c '[.observed.by, .clock, .api.name, [.apis[].name], .targets, .t0_unix_ns]')" \
	'["capture","capture","openai-chat",["openai-chat","openai-completions"],["10.0.0.2:8000","10.0.0.3:8000"],1790000000000000000]' \
	"the header has the APIs and servers that were seen"
is "$(requests_of mixed.records | jq -c '[.n, .api, .target, .status, .streamed, .session, .error.kind]')" '[0,null,0,200,true,"s1",null]
[1,null,0,200,null,"s1",null]
[3,1,1,200,null,null,null]
[4,null,1,503,true,null,null]
[6,null,0,200,true,null,"hung-up"]' "a record for each request of a known API"
is "$(requests_of mixed.records | head -1 | jq -c '[.start_ns, .sent_ns, .first_byte_ns, [.reads[][0]], .end_ns]')" \
	'[3000000,3000000,4000000,[5000000,6000000,7000000,8000000],9000000]' "times are those of the packets"
is "$(requests_of mixed.records | jq -c '[.connection.id, .connection.reused]' | tr '\n' ' ')" '[0,false] [0,true] [1,false] [1,true] [2,false] ' \
	"connections and their reuse are known"
is "$(observed mixed.records '.other_requests')" '{"GET /metrics":1,"POST /v1/embeddings":1}' "other requests are counted by method and path"
is "$(observed mixed.records '.connections')" '{"HTTP/1.1":3}' "connections are counted by protocol"
is "$(grep -c SECRET mixed.records mixed.trace | tr '\n' ' ')" "mixed.records:0 mixed.trace:0 " "credentials and cookies are in neither stream"

ipf-collect -q mixed.records -o mixed.results
is "$(requests mixed.results | jq -c '[.ok, .ttft_ns, .e2e_ns, .output_tokens]' | head -3)" '[true,2000000,4000000,3]
[true,null,1000000,3]
[true,null,1000000,5]' "results are computed with the API of each request"
run ipf-report -f json mixed.results
is "$(jq -c '[.verdict.observed, (.verdict.checks[] | [.name, .status])]' "$OUT")" \
	'[true,["load_delivered","N/A"],["capture","OK"],["server_answers","INVALID"],["enough_samples","DOUBTFUL"]]' "the capture is judged instead of a client" # exact: the packets have made times
is "$(jq -c '.total.requests | [.ok, .failed, .hung_up]' "$OUT")" '[3,1,1]' "a client that left is no failure"

# ---- the trace --------------------------------------------------------------------------------------------------------------------------
is "$(requests_of mixed.trace | jq -c '[.id, .at_ns, .session, .turn, .output_tokens, .hang_up_ns, .recorded_ttft_ns, .recorded_e2e_ns]')" \
	'["c0",0,"s1",0,1,null,2000000,4000000]
["c1",7000000,"s1",1,3,null,null,1000000]
["c3",14000000,null,null,5,null,null,1000000]
["c4",16000000,null,null,128,null,null,null]
["c6",23000000,null,null,1,3000000,null,null]' "the trace has arrivals, sessions, lengths, hang-ups and recorded latencies"
packets turns
ipf-prep capture turns -q -o turns.trace
is "$(requests_of turns.trace | jq -c '[.id, .session, .turn]')" '["c0","c0",0]
["c2","c0",1]
["c3","c0",2]
["c4","c0",3]
["c1",null,null]' "growing messages make a session, and a request alone has none"
ipf-prep capture mixed -q --keep-header X-Tenant -o kept.trace
is "$(requests_of kept.trace | jq -c '.headers' | sort | uniq -c | tr -s ' ')" ' 4 null
 1 {"X-Tenant":"t"}' "a header that is wanted is in the trace"
run ipf-prep capture mixed -q --keep-header authorization
status_is 2 "a credential cannot be kept"
contains "$(cat "$ERR")" "authorization is a credential" "the message says that it is one"
run ipf-prep anonymize capture mixed -q --report anonymous.txt -o anonymous.jsonl
status_is 0 "a capture is anonymized in one step"
is "$(grep -lE 'content|SECRET|three' anonymous.jsonl anonymous.txt)" "" "no text of a request is written"
is "$(wc -l <anonymous.jsonl)" 5 "each request is in the anonymized trace"

# ---- formats, encodings, damage ---------------------------------------------------------------------------------------------------------
packets mixed.pcapng
ipf-prep capture mixed.pcapng -q --records ng.records
is "$(requests_of ng.records | sha256sum)" "$(requests_of mixed.records | sha256sum)" "pcapng gives the same records as pcap"
is "$(observed ng.records '.dropped')" 40 "dropped packets are known from pcapng"
ipf-collect -q ng.records -o ng.results
contains "$(ipf-report -q ng.results | tr -s ' \n' ' ')" "the capture dropped 40 packets" "the report says that packets were dropped"
gzip -k mixed
ipf-prep auto mixed.gz -q -o auto.trace
is "$(requests_of auto.trace | sha256sum)" "$(requests_of mixed.trace | sha256sum)" "auto detects a capture, compressed or not"
packets v6
ipf-prep capture v6 -q --records v6.records
is "$(plain v6.records | sed -n 1p | jq -c .targets)" '["[::2]:8000"]' "IPv6 is read"
packets encoded
ipf-prep capture encoded -q --records encoded.records
is "$(requests_of encoded.records | jq -c '[(.reads | map(.[0])), (.body | length > 90), .headers]')" \
	'[[5000000,6000000,7000000,8000000],true,null]
[[11000000],false,{"content-encoding":"br"}]' "gzip is decoded event by event, an unknown encoding stays"
packets before
ipf-prep capture before -q --records before.records -o before.trace
is "$(requests_of before.records | jq -c '[.status, .error]')" '[null,{"kind":"unseen","text":"began before the capture"}]
[200,null]
[200,null]
[null,{"kind":"unseen","text":"still open at the end"}]' "requests at the edges of the capture are marked"
is "$(requests_of before.records | jq -c 'select(.error) | [.first_byte_ns, .reads, .body]' | sort -u)" '[null,null,null]' "a damaged request has no latency"
is "$(requests_of before.trace | jq -r .id | tr '\n' ' ')" "c1 c2 c3 " "a request that was sent whole is in the trace"
packets snapped
ipf-prep capture snapped -q --records snapped.records
is "$(requests_of snapped.records | jq -c '.error.text' | sort | uniq -c | tr -s ' ')" ' 5 "cut packets"' "cut packets damage their requests"
packets odd
ipf-prep capture odd -q --records odd.records
is "$(requests_of odd.records | jq -c '[.id, .status, .error.kind, .connection.reused, (.reads | length)]')" \
	'["c0",200,null,true,2]
["c1",200,null,false,3]
["c3",200,"cut",false,1]' "a port used again, a foreign reset and a close before the end are read as they were"
is "$(observed odd.records '.other_requests')" '{"OPTIONS /v1/chat/completions":1}' "the question of a browser is no request"
packets back
ipf-prep capture back -q --records back.records
is "$(requests_of back.records | jq -c '[.error.text, .end_ns >= .start_ns]')" '["times that go back",true]
[null,true]' "a clock that is set back damages the request it was set back in"
is "$(observed back.records '.backwards_ns')" 19000000 "the trailer has by how much the clock went back"
packets secrets
ipf-prep capture secrets -q --records secrets.records -o secrets.trace
is "$({ plain secrets.records; plain secrets.trace; } | grep -c SECRET)" 0 "credentials are in neither records nor trace"
is "$(requests_of secrets.records | wc -l)" 1 "the request with credentials is in the records"
packets others
run ipf-prep capture others --records others.records
is "$(observed others.records '.connections')" '{"HTTP/1.1":1,"TLS that began before the capture":1,"TLS without keys":1,"other":1}' \
	"connections of other protocols are counted by what they are"
contains "$(cat "$ERR")" "1 connections of TLS without keys" "people get them, too"
ipf-prep capture mixed -q --port 9000 --records none.records 2>/dev/null
is "$(observed none.records ' | [.requests, .other_packets > 0]')" '[0,true]' "other ports are not looked at"
ipf-prep capture mixed -q --api openai-embeddings --records e.records
is "$(requests_of e.records | jq -c .request_bytes)" "$(python3 -c 'print(len("{\"model\": \"e\", \"input\": \"five\"}"))')" "--api takes another API"

# ---- faults -----------------------------------------------------------------------------------------------------------------------------
head -c $(($(wc -c <mixed) - 10)) mixed >shortened
run ipf-prep capture shortened --records cut.records
status_is 3 "a capture that is cut gives status 3"
contains "$(cat "$ERR")" "ipf-prep: shortened: cut off: truncated dump file" "the message says so"
is "$(requests_of cut.records | wc -l)" 5 "everything before the cut is read"
contains "$(plain cut.records | tail -1)" '"incomplete":"the capture ends early' "the records say that the end is missing"
run ipf-prep capture "$TESTS/tap.sh"
status_is 3 "another file is refused"
contains "$(cat "$ERR")" "not a packet capture (pcap or pcapng)" "the message says what is expected"
packets two-links
run ipf-prep capture two-links --records two.records
status_is 3 "two kinds of link in one file are refused"
contains "$(cat "$ERR")" "ipf-prep: two-links: unsupported: " "the message says that they are not supported"
run ipf-prep sharegpt "$ROOT/examples/chat.json" --records x
status_is 2 "an option of captures is refused for another source"
cp mixed kept
run ipf-prep capture kept --records kept
status_is 2 "records are not written over the capture"
is "$(cmp mixed kept)" "" "the capture is whole"
run ipf-prep capture mixed --records one.file -o one.file
status_is 2 "records and trace are two files"
cp mixed keys
run ipf-prep capture mixed --keylog keys --records keys
status_is 2 "records are not written over the key log"
run ipf-prep capture mixed --port 70000
status_is 2 "a port above 65535 is refused"

# ---- live ---------------------------------------------------------------------------------------------------------------------------------
ipf-prep capture - -q --records - <mixed | ipf-collect -q -o live.results
is "$(requests live.results | jq -c '[.n, .ok]')" "$(requests mixed.results | jq -c '[.n, .ok]')" "a pipe of packets becomes a pipe of records"
