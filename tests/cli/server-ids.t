#!/bin/bash
# The server's own id of a request, with which its log is searched: in results, exports and --explain, from the answer and from its headers.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

ipf-prep sharegpt "$ROOT/examples/chat.json" -n 3 --output-tokens 2 -q -o chat.trace
ipf-sched burst -t chat.trace -q -o chat.sched
rows() { # OPTIONS OF ipf-fire…: rows, sorted by their number
	rm -f run.records run.results
	ipf-fire -q -u "$URL" -m sim -t chat.trace chat.sched -o run.records "$@"
	ipf-collect -q run.records -o run.results
	requests run.results >rows
}

# ---- in answers ----
server_start --step-base 1ms
has_ids() { # API ARGUMENTS OF jq: the ids of its answers, streamed and whole
	for stream in "" --no-stream; do
		# shellcheck disable=SC2086
		rows --api "$1" $stream
		is "$(jq -s -c 'map(.response_id // "") | '"$2" rows)" "$3" "$1 $stream: each answer has an id of the server"
	done
}
has_ids openai-chat '[(unique | length), all(.[]; startswith("chatcmpl-"))]' "[3,true]"
has_ids openai-completions '[(unique | length), all(.[]; startswith("cmpl-"))]' "[3,true]"
is "$(jq -s -c 'map(.request_id) | unique' rows)" "[null]" "a server without the header gives no id of the request"
server_stop

# ---- in headers ----
# A server failing every other request, with headers from the path; a header counts whatever its case.
cat >server.py <<'END'
names = {"/a": ["X-Request-Id"], "/b": ["request-id"], "/c": ["x-amzn-RequestId"], "/d": ["apim-request-id", "X-Request-ID"], "/e": []}
count = 0


def answer(path, headers, body):
    global count
    count += 1
    ids = [(name, "%s-%d" % (name.lower(), count)) for name in names[path[:2]]]
    if count % 2:
        return 200, {"id": "x", "choices": [{"index": 0, "message": {"content": "yes"}, "finish_reason": "stop"}],
                     "usage": {"prompt_tokens": 1, "completion_tokens": 1}}, *ids
    return 500, {"error": {"message": "no"}}, *ids
END
peer_start "$TESTS/helpers/canned_server.py" server.py
base=$PEER_URL
ipf-sched closed:users=1 -t chat.trace -q -o chat.sched
ids() { # PATH: the header's ids
	URL=$base/$1
	rows --no-stream --connections fresh
	jq -s -c 'map(.request_id // "none" | sub("-[0-9]+$"; "")) | unique' rows
}
is "$(ids a)" '["x-request-id"]' "the header x-request-id"
is "$(jq -s -c 'map([.ok, .request_id != null]) | unique' rows)" "[[false,true],[true,true]]" "failed requests have the id, too"
is "$(ids b)" '["request-id"]' "the header request-id"
is "$(ids c)" '["x-amzn-requestid"]' "the header x-amzn-requestid"
is "$(ids d)" '["x-request-id"]' "the header x-request-id before that of a gateway"
is "$(ids e)" '["none"]' "a failure without the headers has no id"
is "$(jq -s -c 'map(select(.ok).response_id) | unique' rows)" '["x"]' "the answer still says its id"

# ---- where they are found ----
ids a >/dev/null
failed=$(jq -r 'select(.ok | not) | .request_id' rows | head -1)
run ipf-collect --explain --where "id=$failed" run.records
is "$(grep -c '^request ' "$OUT")" 1 "--where id= finds a request by the server's id in the header"
contains "$(cat "$OUT")" "  request_id: \"$failed\"" "--explain shows the id of the header"
run ipf-collect --explain --where id=x run.records
at_least "$(grep -c '^request ' "$OUT")" 1 "--where id= finds requests by the id of the answer"
is "$(ipf-report export requests-csv run.results | sed -n 1p | tr , '\n' | grep -c -x -e response_id -e request_id)" 2 "requests-csv has both"
contains "$(ipf-report export requests-csv run.results)" "$failed" "requests-csv has the ids of failed requests"
contains "$(ipf-report export sql run.results)" "$failed" "SQL has the ids of failed requests"
contains "$(ipf-report run.results)" "ipf-collect --explain --where failed RECORDS shows them" "the report says how to list failed requests"
