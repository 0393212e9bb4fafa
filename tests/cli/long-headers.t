#!/bin/bash
# A server beside the run answers with a line longer than libcurl takes: the transfer fails, and nothing else.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

server_start
small_run 3
echo 'def answer(path, headers, body): return 200, {}, ("X-Long", "x" * 300000)' >long.py
peer_start "$TESTS/helpers/canned_server.py" long.py
said="a line of the response is too long"
run ipf-collect -q --otlp "$PEER_URL" chat.records -o long.results
status_is 0 "ipf-collect --otlp: the results are whole"
is "$(tail -1 long.results | jq -r '.end.publish[0].last_error')" "$said" "ipf-collect --otlp: the trailer says why"
run ipf-prep sharegpt "$PEER_URL/chat.json" -o none.trace
status_is 1 "ipf-prep ends with 1"
stderr_is "ipf-prep: $PEER_URL/chat.json: $said" "ipf-prep says why"
run ipf-fire -u "$PEER_URL" -m sim -t chat.trace chat.sched --wait-ready 1s -o none.records
status_is 1 "ipf-fire --wait-ready ends with 1"
matches "$(cat "$ERR")" "not ready after .*: $said" "ipf-fire --wait-ready says why"
run ipf-report --push "$PEER_URL/metrics" chat.results -o report.txt
contains "$(cat "$ERR")" "$said" "ipf-report --push says why"
yes_if "ipf-report --push writes the report all the same" test -s report.txt
