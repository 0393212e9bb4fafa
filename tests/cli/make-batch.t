#!/bin/bash
# batch.mk: requests are handed over as a file, the status is asked for, and the makespan is the server's.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
{ command -v jq && command -v curl; } >/dev/null || skip_all "jq or curl is not installed"

ipf-prep synthetic -n 20 --input-tokens 16 --output-tokens 9 -q -o b.trace
server() { # MODE
	: >log
	peer_start "$TESTS/helpers/batch_server.py" log secret-key "$@"
	URL=$PEER_URL
}
batch() { # VARIABLES…
	OPENAI_API_KEY=secret-key run make -f "$ROOT/share/ipf/batch.mk" URL="$URL" MODEL=m TRACE=b.trace POLL=0.2 "$@"
}

server
batch PRICE=2,4
status_is 0 "make batch ends with 0"
is "$(jq -c '[.status, .requests, .ok, .failed, .unanswered]' batch/report.json)" '["completed",20,18,2,0]' "answers and failures are counted"
is "$(jq -c '[.server.validating_s, .server.in_progress_s, .server.finalizing_s, .server.makespan_s]' batch/report.json)" "[1,2,1,4]" "phases by the server's clock"
at_least "$(jq '.makespan_s * 10 | floor' batch/report.json)" 40 "the makespan by our clock is that of the server or more"
want=$(jq -s -c '[.[] | select(.custom_id | endswith("7") | not) | .body.messages[].content | length] | add' batch/requests.jsonl)
is "$(jq -c '[.input_tokens, .output_tokens]' batch/report.json)" "[$want,54]" "tokens are those of the usage"
is "$(jq '.cost * 1e6 | round' batch/report.json)" $((want * 2 + 54 * 4)) "tokens cost the price of each kind"
is "$(jq -c '[.custom_id, .method, .url, .body.model, .body.max_tokens, (.body.messages | length)]' batch/requests.jsonl | head -1)" \
	'["1","POST","/v1/chat/completions","m",9,1]' "requests are those of the trace"
contains "$(cat "$OUT")" "requests    20: 18 answered, 2 failed, 0 without an answer" "people are told"
is "$(jq -r .status batch/progress.jsonl | uniq | tr '\n' ' ')" "validating in_progress finalizing completed " "progress.jsonl has every status"
yes_if "the key is in no file" sh -c '! grep -rq secret-key batch "$1" "$2"' sh "$OUT" "$ERR"
before=$(wc -l <log)
batch PRICE=1
is "$(wc -l <log)" "$before" "another price needs no server"
is "$(jq '.cost * 1e6 | round' batch/report.json)" "$want" "another price changes the report"
kill $PEER

# An interrupted call is continued: the batch is not submitted again.
server slow
batch OUT=slow TIMEOUT=1
status_is 2 "a batch that does not end in time"
stderr_contains "after TIMEOUT seconds; the next call goes on waiting" "a batch that does not end in time says so"
batch OUT=slow TIMEOUT=1
is "$(grep -c 'POST /v1/batches' log)" 1 "the next call goes on waiting for it"
kill $PEER

server failed
batch OUT=failed
status_is 2 "a batch whose input is refused"
stderr_contains "failed: line 3 is no request" "make batch says why the input was refused"
kill $PEER

server lost
batch OUT=lost
is "$(jq -c '[.ok, .failed, .unanswered]' lost/report.json)" "[17,2,1]" "an answer that is missing, and one that came twice"
kill $PEER

server
OPENAI_API_KEY=wrong run make -f "$ROOT/share/ipf/batch.mk" URL="$URL" TRACE=b.trace OUT=wrong
status_is 2 "a wrong key"
stderr_contains "wrong key" "a wrong key has the server's words"
ipf-prep synthetic -n 2 --images 1x8x8 -q -o i.trace
OPENAI_API_KEY=secret-key run make -f "$ROOT/share/ipf/batch.mk" URL="$URL" TRACE=i.trace OUT=images
stderr_contains "cannot be part of a batch" "images are refused"
