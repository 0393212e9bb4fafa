#!/bin/sh
# ipf-collect --check: records of ipf-fire and of another load generator pass; all faults are named.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

small_run 6
run ipf-collect --check chat.records
status_is 0 "records of ipf-fire have no violation"
matches "$(cat "$OUT")" "^chat.records: 0 violations in 6 requests and [1-9][0-9]* lines? about the client$" "--check prints a summary of the records of ipf-fire"

# ---- another generator ---------------------------------------------------------------------------------------------

run python3 "$ROOT/examples/library/generator.py" "$URL" sim 8 40
status_is 0 "the example generator runs"
cp "$OUT" mine.records
run ipf-collect --check --api openai-chat mine.records
status_is 0 "records of the example generator have no violation"
is "$(cat "$OUT" "$ERR")" "mine.records: 0 violations in 8 requests and 0 lines about the client" "--check prints a summary of the records of the example generator"
run ipf-collect --api openai-chat mine.records -o mine.results
status_is 0 "ipf-collect reads them"
is "$(grep -c '"ok":true.*"ttft_ns":[1-9]' mine.results)" 8 "rows of the example generator have latencies"
run ipf-report -f json mine.results
status_is 0 "ipf-report reads the results of the example generator"
is "$(jq -c '.total.requests.ok' "$OUT")" 8 "the report counts all requests of the example generator"
run ipf-collect --check mine.records
status_is 3 "--check without --api ends with 3"
is "$(head -1 "$OUT")" "mine.records:1: api: missing: expected the API descriptor as ipf-api(5) describes it (or give its name with --api)" \
	"the header needs a descriptor"
complains ipf-collect "1 violation of ipf-records(5)" "the lack of a descriptor is a violation"

# ---- violations ----------------------------------------------------------------------------------------------------

# Each of these lines has one, in this order.
violations() {
	cat <<'X'
{"ipf":"records","version":1,"tool":"x 1","t0_unix_ns":1,"stages":[{"name":"a","kind":"burst","spec":"burst:n=1","begin_ns":0,"arrivals":1,"first_n":0}],"targets":["http://a","http://b"]}
{"n":0,"req":0,"stage":0,"target":0,"ready_ns":5,"start_ns":5,"status":200,"first_byte_ns":6,"end_ns":7,"reads":[[6,2,6]],"body":"ok"}
{"n":0,"req":0,"stage":0,"target":1,"ready_ns":5,"start_ns":5,"status":200,"first_byte_ns":6,"end_ns":7}
{"n":2,"req":0,"stage":1,"target":1,"ready_ns":5,"start_ns":5,"status":200,"first_byte_ns":6,"end_ns":7}
{"n":3,"req":0,"stage":0,"target":2,"ready_ns":5,"start_ns":5,"status":200,"first_byte_ns":6,"end_ns":7}
{"n":4,"req":0,"stage":0,"target":1,"ready_ns":5,"start_ns":4,"status":200,"first_byte_ns":6,"end_ns":7}
{"n":5,"req":0,"stage":0,"target":1,"ready_ns":5,"start_ns":5,"status":200,"first_byte_ns":8,"end_ns":7}
{"n":6,"req":0,"stage":0,"target":1,"ready_ns":5,"start_ns":5,"status":200,"first_byte_ns":6,"end_ns":9,"reads":[[8,1,8],[7,1,8]],"body":"ok"}
{"n":7,"req":0,"stage":0,"target":1,"ready_ns":5,"start_ns":5,"status":200,"first_byte_ns":6,"end_ns":9,"reads":[[8,1,8]],"body":"ok"}
{"n":8,"req":0,"stage":0,"target":1,"ready_ns":5,"start_ns":5,"first_byte_ns":6,"end_ns":9}
{"n":9,"req":0,"stage":0,"target":1,"ready_ns":5,"start_ns":5,"end_ns":9,"error":{"kind":"bored","text":"x"}}
{"n":10,"req":0,"stage":0,"target":1,"ready_ns":5,"start_ns":"now","end_ns":9,"status":200}
{"n":11,"stage":0,"target":1,"ready_ns":5,"start_ns":5,"status":200,"first_byte_ns":6,"end_ns":7}
{"n":12,"req":0,"stage":0,"target":1,"start_ns":5,"status":200,"first_byte_ns":6,"end_ns":7}
{"n":13,"req":0,"stage":0,"target":1,"ready_ns":5,"start_ns":5,"status":200,"end_ns":7}
not JSON
{"client":{"t_ns":1}}
X
}
violations >bad.records
run ipf-collect --check --api openai-chat bad.records
status_is 3 "--check of bad records ends with 3"
stdout_is 'bad.records:3: n: expected a unique number, got 0 again
bad.records:4: stage: expected less than 1, the number of stages, got 1
bad.records:5: target: expected less than 2, the number of "targets", got 2
bad.records:6: start_ns: expected ready_ns (5) or more, got 4
bad.records:7: end_ns: expected first_byte_ns (8) or more, got 7
bad.records:8: reads[1]: expected the time of the read before it (8) or more, got 7
bad.records:9: reads: their sum is 1 bytes, but the body has 2
bad.records:10: status: missing: expected the status of the response, or an error
bad.records:11: error.kind: expected a kind of error that ipf-records(5) lists, got "bored"
bad.records:12: start_ns: expected an integer, got "now"
bad.records:13: req: missing: expected the index of the request in the trace
bad.records:14: ready_ns: missing: expected the due time, or in a closed loop the time at which a slot was free
bad.records:15: first_byte_ns: missing, but there is a status
bad.records:16: not JSON: expected a value at byte 0
bad.records: cut after 16 good lines: the trailer is missing
bad.records: 15 violations in 15 requests and 1 line about the client' "--check names violations line by line up to the end"
complains ipf-collect "15 violations of ipf-records(5)" "--check counts the violations"

echo '{"ipf":"records","version":1}' >head.records
run ipf-collect --check head.records chat.records
status_is 3 "a header alone"
is "$(cut -d : -f 1-3 "$OUT" | head -5)" "head.records:1: t0_unix_ns
head.records:1: tool
head.records:1: api
head.records:1: stages
head.records: cut after 0 good lines: the trailer is missing" "--check lists the members that a header lacks"
contains "$(tail -1 "$OUT")" "chat.records: 0 violations" "--check goes on with the next input"
for stages in '[{}]' '[1]' '[{"begin_ns":0,"arrivals":1,"first_n":0}]'; do
	echo '{"ipf":"records","version":1,"tool":"x 1","t0_unix_ns":1,"stages":'"$stages}" >stages.records
	run ipf-collect --check --api openai-chat stages.records
	head -1 "$OUT"
done >stages
is "$(cat stages)" 'stages.records:1: stages[0].begin_ns: missing: a stage requires begin_ns, arrivals and first_n
stages.records:1: stages[0]: expected an object as in ipf-schedule(5)
stages.records:1: stages[0].name: missing: expected its name in reports' "--check says what a stage lacks, and the page that describes it"
run ipf-collect --check chat.trace
status_is 3 "--check of another stream ends with 3"
contains "$(cat "$OUT")" 'chat.trace:1: expected an ipf records stream, got "trace"' "--check names another kind of stream"
run ipf-collect --check nowhere
status_is 1 "a file that is not there"
complains ipf-collect "nowhere: cannot open" "ipf-collect says that it cannot open a missing file"
run ipf-collect --check --explain chat.records
status_is 2 "two ways of reading at once are refused"
printf '{"n":0}\n%.0s' $(seq 1200) >many
{ head -1 chat.records && cat many; } >many.records
run ipf-collect --check many.records
contains "$(tail -2 "$OUT" | head -1)" "and " "more than a thousand violations are counted only"
is "$(wc -l <"$OUT")" 1002 "the output of many violations is bounded"
[ ! -e /dev/full ] || {
	run sh -c '"$1" --check bad.records >/dev/full' - "$BIN/ipf-collect"
	status_is 1 "a full disk is noticed"
}
