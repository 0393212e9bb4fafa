#!/bin/bash
# Clients hanging up on purpose, and those waiting for the first token only so long.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

# 30 tokens, 100 ms apart: those leaving after 1.5 s have seen some tokens, and none has seen the end, unless a machine stands still for longer than a second.
server_start --log server.log --step-base 100ms --step-per-seq 0 --prefill-rate 1000M
ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens 30 -n 10 -q -o chat.trace
ipf-sched constant:rate=400,n=200 -t chat.trace -q -o chat.sched

fire() { # ARGUMENTS OF ipf-fire…: rows
	: >server.log
	run ipf-fire -m sim -t chat.trace chat.sched -u "$URL" "$@"
	status_is 0 "ipf-fire $* ends with 0"
	requests "$OUT" >rows
}
# The same in virtual time: rows, whose times follow from the file of the twin to the nanosecond.
twin some.twin model=m step_base_ns=10000000 step_per_sequence_ns=0 prefill_tokens_per_s=1000000000 overhead_ns=0
virtual() { # TRACE SCHEDULE ARGUMENTS OF ipf-fire…
	run ipf-twin predict -q some.twin -t "$@"
	status_is 0 "ipf-twin predict $*"
	requests "$OUT" >rows
}
lost() { jq -s -c '[.[] | select(.error.kind == "hung-up") | .n] | sort' rows; }

fire --cancel 20%@1500ms
cp "$OUT" first.records
between "$(lost | jq length)" 20 60 "about a fifth hang up"
is "$(wc -l <rows)" 200 "every request has a row when some hang up"
is "$(jq -c '.error.kind' rows | sort -u | tr '\n' ' ')" '"hung-up" null ' "requests that do not hang up are answered"
is "$(jq -c 'select(.error) | [.status, .error.text, (.body | contains("data: ")), (.body | contains("[DONE]"))]' rows \
	| sort -u)" \
	'[200,"simulated client disconnect (--cancel)",true,false]' "disconnected requests keep the response so far"
is "$(jq -c 'select(.error) | (.end_ns - .start_ns) / 1e6 | . >= 1500' rows |
	sort -u)" true "no request hangs up before its time"
gone() { [ "$(grep -c '"cancelled":true' server.log)" = "$(lost | jq length)" ]; }
yes_if "the server sees so many clients go" wait_for gone
is "$(head -1 "$OUT" | jq -c .cancel)" '["20%@1500ms"]' "the header says it"
ipf-collect -q first.records -o first.results
is "$(body first.results |
	jq -s -c 'map(select(.n != null and (.ok | not)) | .error.kind) | unique')" '["hung-up"]' "results have the kind hung-up"
ipf-report -f json first.results >report.json
ipf-report -f json --slo e2e=1h first.results >goals.json
is "$(jq -c --argjson lost "$(lost |
	jq length)" '.total.goodput | [.share, .of == 200 - $lost, .left_out == $lost, .objectives[0].share]' goals.json)" '[1,true,true,1]' \
	"disconnects do not lower the share of goodput"
matches "$(ipf-report --slo e2e=1h first.results)" "^ +$(lost |
	jq length) excluded: disconnected on purpose" "the goodput says how many requests are left out"
# A search going on from such a run: all answered was good, so the next rate is higher.
ipf-sched search:slo=p50:e2e=10s,low=20,high=100,for=1s -t chat.trace -q -o try.sched
run ipf-twin predict -q some.twin -t chat.trace try.sched --cancel 30%@50ms -o try.records
ipf-collect -q try.records -o try.results
between "$(body try.results | grep -c '"hung-up"')" 5 40 "some of the stage of a search hang up"
ipf-sched search:slo=p50:e2e=10s,low=20,high=100,for=1s -t chat.trace -r try.results -q -o next.sched
between "$(jq -s 'map(select(.ipf).stages[0].rate) | .[1] - .[0]' <(head -1 try.sched) <(head -1 next.sched))" 5 60 "disconnects count neither for nor against the goals of a search"
cp first.records copy.records
run ipf-collect -q first.records copy.records
status_is 3 "the records of a run are not taken twice"
complains ipf-collect "the same run as in first.records" "ipf-collect names the file of the same run"
is "$(jq -c --argjson lost "$(lost |
	jq length)" '.verdict.checks[] | select(.name == "server_answers") | [.status, .error_share, .failed, .hung_up == $lost, .errors]' report.json)" \
	'["OK",0,0,true,{}]' "disconnects are no failures of the server"
is "$(jq -c --argjson lost "$(lost |
	jq length)" '.total.requests | [.scheduled, .started, .failed, .hung_up == $lost, .ok + .hung_up, .errors]' report.json)" \
	'[200,200,0,true,200,{}]' "JSON accounts for every request once"
matches "$(ipf-report first.results)" "^ +$(lost |
	jq length) more: disconnected by ipf-fire on purpose" "the text counts the disconnects"
matches "$(ipf-collect -v first.records 2>&1 >/dev/null)" "200 requests, 0 failed; $(lost |
	jq length) disconnected on purpose" "ipf-collect -v counts the disconnects"
ipf-report -f json --errors-as-inf --percentiles 50,99 --slo p99:e2e=1h first.results >inf.json
is "$(jq -c '.total | [.latency.ttft_ms.from_start.n == .requests.ok, (.latency.e2e_ms.from_due.max | type == "number" and . < 1e300), .goodput.objectives[0].met]' inf.json)" '[true,true,true]' \
	"--errors-as-inf leaves them out, too"
is "$(ipf-report -f csv first.results |
	awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } END { print $at["requests_failed"], $at["errors_hung_up"] }')" \
	"0 $(lost | jq length)" "CSV counts the disconnects"

again=$(lost)
fire --cancel 20%@1500ms
is "$(lost)" "$again" "the same requests hang up again"
ipf-sched constant:rate=400,n=200 --seed 2 -t chat.trace -q -o chat.sched
fire --cancel 20%@1500ms
isnt "$(lost)" "$again" "another seed makes other requests hang up"
fire --cancel 10%@500ms --cancel 20%@1500ms
between "$(lost | jq length)" 35 90 "several shares: their sum hangs up"
several=$(lost)
virtual chat.trace chat.sched --cancel 10%@50ms --cancel 20%@150ms
is "$(lost)" "$several" "the same requests hang up in virtual time"
is "$(jq -c 'select(.error) | .end_ns - .start_ns' rows | sort -un | tr '\n' ' ')" "50000000 150000000 " "several shares: each request hangs up at the time of its share"
between "$(jq -s 'map(select(.error and .end_ns - .start_ns == 50e6)) | length' rows)" 5 40 "several shares: about a tenth hangs up early" # exact: virtual time
fire --cancel 100%@10m
is "$(jq -c .error rows | sort -u)" null "a request that has ended before does not hang up"
fire --cancel 100%@0
is "$(jq -c .error.kind rows | sort | uniq -c | tr -s ' ')" ' 200 "hung-up"' "--cancel 100%@0 disconnects every request"
SLOW=$URL SLOW_SERVER=$SERVER
server_start --log server.log --step-base 1ms --step-per-seq 0 --prefill-rate 1000M
fire --cancel 50%@0 --connections 2
server_stop
URL=$SLOW SERVER=$SLOW_SERVER
is "$(jq -c .error.kind rows | sort -u | tr '\n' ' ')" '"hung-up" null ' "disconnected requests make room in a pool"
is "$(wc -l <rows)" 200 "a pool with disconnects serves every request"
for wrong in 5% @2s 5%@ 5@2s 101%@1s 5%@2 ten@1s; do
	run ipf-fire -q -u "$URL" -t chat.trace chat.sched --cancel "$wrong"
	status_is 2 "--cancel $wrong is refused"
done
run ipf-fire -q -u "$URL" -t chat.trace chat.sched --cancel 60%@1s --cancel 50%@2s
complains ipf-fire "--cancel: the shares exceed 100 %" "shares are of one whole"

# ---- as the recorded client did ----
# Every second request has a time, and later requests an earlier one: those starting together do not end in the order of their starts.
seq 0 49 | awk '{ printf "{\"id\":\"%d\",\"prompt\":\"Hello\",\"input_tokens\":2,\"output_tokens\":30%s}\n", $1, $1 % 2 ? "" : ",\"hang_up_ns\":" (250 - 4 * $1) * 1000000 }' >lines
trace_of lines >hung.trace
ipf-sched constant:rate=1000,n=50 -t hung.trace -q -o hung.sched
hung() {
	run ipf-fire -m sim -t hung.trace hung.sched -u "$URL" "$@"
	status_is 0 "ipf-fire with hang_up_ns $*"
	requests "$OUT" >rows
}
hung
is "$(jq -c 'select(.error) | [.n % 2, .error.kind, .error.text]' rows | sort | uniq -c | tr -s ' ')" \
	' 25 [0,"hung-up","the recorded client disconnected then"]' "recorded clients hang up again"
is "$(jq -c 'select(.error) | (.end_ns - .start_ns) / 1e6 >= 250 - 4 * .n' rows | sort -u)" true "no request hangs up before the recorded client did"
virtual hung.trace hung.sched
is "$(jq -c 'select(.error) | (.end_ns - .start_ns) / 1e6 == 250 - 4 * .n' rows | sort | uniq -c | tr -s ' ')" " 25 true" "requests in virtual time hang up exactly when the recorded client did"
hung --cancel none
is "$(jq -c .error rows | sort -u)$(head -1 "$OUT" | jq -c .cancel)" 'null["none"]' "--cancel none: all stay, and the header says it"
hung --cancel 100%@0
is "$(jq -r .error.text rows | sort | uniq -c | tr -s ' ')" " 50 simulated client disconnect (--cancel)" "the earlier of --cancel and hang_up_ns ends a request"

# ---- the first token ----
fire --first-token-timeout 10m
is "$(jq -c .error rows | sort -u)" null "an answer that begins may take as long as it likes"
fire --first-token-timeout 1500ms
is "$(jq -c 'select(.error) | [.error.kind, .reads]' rows | sort -u |
	grep -v '"timeout",null')" "" "--first-token-timeout ends only requests without a byte"
at_least "$(jq -s '[.[] | select(.error | not) | (.end_ns - .start_ns) / 1e6] | max' rows)" 2900 "answers that have begun go on well beyond --first-token-timeout"
server_stop
server_start --fail stall:after=0,pause=1h
fire --first-token-timeout 200ms --stop-after-failures 0
is "$(jq -c '[.error.kind, .error.text, .body]' rows |
	sort -u)" '["timeout","no first token within 200 ms",null]' "a response that does not begin is given up"
fire --first-token-timeout 300ms --no-stream --stop-after-failures 0
is "$(jq -c '.error.kind' rows | sort | uniq -c | tr -s ' ')" ' 200 "timeout"' "answers in one piece as well"
