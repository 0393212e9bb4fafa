#!/bin/bash
# ipf-twin predict: a schedule against a model of a server, in virtual time. Every time follows by arithmetic from the file of the twin.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

trace() { # FILE LINE…: a trace of these requests
	local file=$1
	shift
	printf '%s\n' "$@" >lines
	trace_of lines >"$file"
}
predict() { # ARGUMENTS: rows
	run ipf-twin predict -q "$@" -o records --force
	status_is 0 "ipf-twin predict $*"
	jq -c 'select(.n != null)' records >rows
}
ms() { jq -c '[.n, .start_ns / 1e6, .first_byte_ns / 1e6, .end_ns / 1e6]' rows | tr '\n' ' '; } # number, start, first token, end

# A step takes 10 ms, 1 ms for each sequence in it, and 1 ms for each 10 tokens of prompts; a request takes 3 ms besides.
plain="model=m/1 step_base_ns=10000000 step_per_sequence_ns=1000000 prefill_tokens_per_s=10000 overhead_ns=3000000"
# shellcheck disable=SC2086 # words
twin plain.twin $plain

# ---- one request ----
trace one.trace '{"id":"a","prompt":"Once upon a time","input_tokens":100,"output_tokens":3,"tags":["x"]}'
ipf-sched -q constant:rate=1,n=1 -t one.trace -o one.sched
predict plain.twin one.sched
is "$(jq -c '[.start_ns, .sent_ns, .first_byte_ns, .end_ns, .due_ns, .ready_ns, .slot_ns]' rows)" \
	'[0,0,24000000,46000000,0,0,null]' "overhead, a step with the prompt, two more steps"
is "$(jq -c .reads rows)" '[[24000000,10,24000000],[35000000,10,35000000],[46000000,53,46000000]]' "a read for each token"
is "$(jq -r .body rows)" '{"t":"a"}
{"t":"a"}
{"t":"a"}
{"finish":"length","input":100,"output":3}' "a predicted response has an event for each token"
is "$(jq -c '[.id, .model, .status, .streamed, .tags, .asked_input_tokens, .asked_output_tokens, .connection]' rows)" \
	'["a","m/1",200,true,["x"],100,3,null]' "the rest is the trace's"
is "$(head -1 records | jq -c '[.target, .clock, .api.name, .model, .predicted.twin, .predicted.sha256, .predicted.model, .predicted.requests,
	.predicted.steps, .predicted.replicas, .predicted.seed]')" \
	"[\"twin: plain.twin\",\"virtual\",\"twin\",\"m/1\",\"plain.twin\",\"$(sha256sum plain.twin | cut -d' ' -f1)\",\"m/1\",7,90,1,1]" \
	"the header says what predicted it"
is "$(grep -c '"client"' records)" 0 "predicted records have no lines on a client"
yes_if "the stream is whole" whole records
yes_if "--check finds nothing in predicted records" ipf-collect --check records
ipf-collect -q records -o results
is "$(jq -c 'select(.n != null) | [.ok, .ttft_ns, .tpot_ns, .itl_mean_ns, .e2e_ns, .input_tokens, .output_tokens, .tokens_source, .finish]' results)" \
	'[true,24000000,11000000,11000000,46000000,100,3,"usage","length"]' "the results have the same times, to the nanosecond"
is "$(head -1 results | jq -c '.from[0].predicted.twin')" '"plain.twin"' "results say that they are predicted"
predict plain.twin -m other --name why one.sched
is "$(jq -r .model rows) $(head -1 records | jq -r .name)" "other why" "--model and --name"
IPF_TWIN_FORCE='' run ipf-twin predict -q plain.twin one.sched -o records
status_is 2 "records are not replaced without --force"
run sh -c "ipf-twin predict -q plain.twin one.sched | ipf-collect -q -"
is "$(jq -c 'select(.n != null) | .e2e_ns' "$OUT")" 46000000 "a pipe gives the same latency"

run ipf-twin predict plain.twin one.sched --progress -v -o records --force
matches "$(cat "$ERR")" "^ipf-twin: 1 request started in 46 ms, 0 failed" "-v: the length of the run is virtual, too"

# ---- closed loops ----
trace four.trace '{"id":"a","prompt":"a","input_tokens":100,"output_tokens":1}' '{"id":"b","prompt":"b","input_tokens":100,"output_tokens":2}' \
	'{"id":"c","prompt":"c","input_tokens":100,"output_tokens":1}' '{"id":"d","prompt":"d","input_tokens":100,"output_tokens":1}'
ipf-sched -q closed:n=4,users=2 -t four.trace -o closed.sched
predict plain.twin closed.sched
# two prompts at once: 3 + 10 + 2 + 20; b's second token: 11 ms; c waits for that step, d for c's
is "$(ms)" "[0,0,35,35] [1,0,35,46] [2,35,67,67] [3,46,88,88] " "two users: who is done takes the next request at that moment"
ipf-sched -q closed:users=2,for=1s -t four.trace -o cycle.sched
predict plain.twin cycle.sched
between "$(wc -l <rows)" 40 80 "a closed loop goes on until its stage ends"
is "$(jq -s -c 'map(.start_ns) | max < 1e9' rows)" true "a closed loop starts nothing after the end of its stage"
is "$(tail -1 records | jq -c '.end.stages')" '[{"begin_ns":0,"end_ns":1000000000}]' "the trailer has the times of the stage"
predict plain.twin --replicas 2 closed.sched
is "$(ms)" "[0,0,24,24] [1,0,24,35] [2,24,48,48] [3,35,59,59] " "two replicas compute side by side"
is "$(jq -c '[.n, .target]' rows | tr '\n' ' ') $(head -1 records | jq -c '[.targets, .balance, .predicted.replicas]')" \
	'[0,0] [1,1] [2,0] [3,1]  [["twin: plain.twin #1","twin: plain.twin #2"],"round-robin",2]' "two replicas take turns"
predict plain.twin --replicas 2 --balance least closed.sched
is "$(jq -c '[.n, .target]' rows | tr '\n' ' ')" '[0,0] [1,1] [2,0] [3,1] ' "--balance least chooses the replica with the fewest in flight"
yes_if "targets have no violation" ipf-collect --check records

# ---- replicas coming and go ----
states() { jq -c 'select(.sample) | [.t_ns / 1e9, .gauges.replicas_ready, .gauges.replicas_desired]' records | tr '\n' ' '; }
# shellcheck disable=SC2086 # words
twin scaled.twin $plain most_sequences=8
trace many.trace '{"id":"a","prompt":"Once upon a time","input_tokens":100,"output_tokens":50}'
ipf-sched -q poisson:rate=2,for=40s,name=before poisson:rate=30,for=40s,name=spike poisson:rate=2,for=60s,name=after -t many.trace -o spike.sched
predict scaled.twin --replicas 1:4,delay=10s,idle=15s spike.sched
is "$(head -1 records | jq -cS .predicted.replicas)" '{"delay_ns":10000000000,"idle_ns":15000000000,"max":4,"min":1,"on":"load","scale_at":8}' "the header has the rule"
is "$(states | head -c 8)" "[0,1,1] " "scaling begins with one replica"
yes_if "a new replica is ready after the delay" jq -se '[.[] | select(.sample)] | [(.[1:4][] | .t_ns + 10e9)] == [.[4:7][].t_ns] and
	(map([.gauges.replicas_ready, .gauges.replicas_desired])[1:7] == [[1,2],[1,3],[1,4],[2,4],[3,4],[4,4]]) and (.[1].t_ns / 1e9 | . > 40 and . < 42)' records
between "$(jq -s '[.[] | select(.sample)] | .[-2].t_ns / 1e9' records)" 95 140 "one replica is left after the spike and its backlog" # exact: the run is virtual
is "$(states | tr ' ' '\n' | grep . | tail -1 | jq -c '.[1:]')" '[1,1]' "one replica is left at the end"
yes_if "samples are no violation" ipf-collect --check records
fire_again() { ipf-twin predict -q --reproducible --force scaled.twin --replicas 1:4,delay=10s,idle=15s spike.sched -o "$1"; }
mkdir twice
fire_again b.records && fire_again twice/b.records
same b.records twice/b.records "scaling has the same times in a second call"
ipf-collect -q records -o results
is "$(grep -c '"sample":"server"' results)" "$(grep -c '"sample":"server"' records)" "the results have the samples"
ipf-report -f json --slo ttft=1s results >report.json
is "$(jq -c '.autoscaling.events[0] | [.event, .stage, .begin_s, .replicas_before, .replicas_most, .added_after_s]' report.json)" '["spike","spike",40,1,4,10]' \
	"the report has its analysis"
IPF_REPORT_FULL=1 run ipf-report --slo ttft=1s results
contains "$(cat "$OUT")" "replicas: 1 before, at most 4, the first was added after 10.0 s" "the text has the replicas"
contains "$(cat "$OUT")" "replicas ready" "among the figures of the server"
is "$(grep -c 'scrape' "$OUT")" 0 "the text says nothing of scrapes"
ttft() { jq --arg s "$1" '.stages[] | select(.name == $s).latency.ttft_ms | .from_start.p50 // .p50' report.json; }
between "$(jq -s "$(ttft spike) / $(ttft before)" /dev/null)" 5 1000 "requests wait in the spike"
ipf-report -q -f json --slo ttft=1s --window stage results >/dev/null
jq -s 'map(select(.n != null and .due_ns >= 70e9 and .due_ns < 80e9).target) | unique | length' records >used
is "$(cat used)" 4 "requests after the spike go to all four replicas"
is "$(jq -s 'map(select(.n != null and .due_ns < 40e9).target) | unique | @json' records)" '"[0]"' "requests before the spike go to the first replica"
run ipf-report plot --slo ttft=1s plots results
yes_if "the time line has the replicas" grep -q replicas_ready plots/timeline.tsv

ipf-sched -q constant:rate=10,n=40 -t many.trace -o even.sched
predict scaled.twin --replicas 1,3@2s,0@3s --timeout 20s even.sched
is "$(head -1 records | jq -c .predicted.replicas) $(states)" '[[0,1],[2000000000,3],[3000000000,0]] [0,1,1] [2,3,3] [3,0,0] [23.9,0,0] ' "a series, and its times"
is "$(jq -s -c 'map(select(.n != null and .start_ns < 3e9)) | map(.error) | unique' records)" '[null]' "requests to a server that is removed are answered" # exact: virtual
is "$(jq -c 'select(.n != null and .start_ns >= 3e9) | [.error.kind, .target, .status, .end_ns - .start_ns]' records | sort | uniq -c | tr -s ' ')" \
	' 10 ["timeout",null,null,20000000000]' "--timeout counts the time without a server"
yes_if "--check passes timeouts without a server" ipf-collect --check records
predict scaled.twin --replicas 2,0@1s,2@5s --timeout 3500ms even.sched
is "$(jq -s -c 'map(select(.target == null) | .start_ns / 1e9)' rows)" '[1,1.1,1.2,1.3,1.4]' "later requests get a server"
predict scaled.twin --replicas 1,0@1s --timeout 0 --grace 10s even.sched
is "$(jq -c 'select(.error) | [.error.kind, .end_ns]' rows | sort | uniq -c | tr -s ' ')" ' 30 ["cancelled",13903000000]' "a run without a server ends after --grace"
ipf-sched -q constant:rate=1,n=1 -t many.trace -o single.sched
predict scaled.twin --replicas 0:1,delay=4s single.sched
is "$(ms)" "[0,0,4024,4563] " "a request to no server takes overhead, delay and a step"
predict scaled.twin --replicas 0:1,delay=4s --cancel 100%@1s single.sched
is "$(jq -c '[.error.kind, .end_ns]' rows) $(states)" '["hung-up",1000000000] [0,0,0] [0.003,0,1] [1,0,1] ' "a client can leave before one is ready"

# ---- sessions, and prompts beginning alike ----
text=$(printf 'words and more %.0s' $(seq 64)) # 960 bytes: 240 tokens, 15 blocks
trace chat.trace \
	"{\"id\":\"a\",\"session\":\"s\",\"turn\":0,\"messages\":[{\"role\":\"user\",\"content\":\"$text\"}],\"input_tokens\":240,\"output_tokens\":17,\"answer\":\"$(printf 'answer, %.0s' $(seq 8))\"}" \
	"{\"id\":\"b\",\"session\":\"s\",\"turn\":1,\"context\":\"session\",\"messages\":[{\"role\":\"user\",\"content\":\"and now?\"}],\"input_tokens\":258,\"output_tokens\":1,\"wait_ns\":100000000}"
ipf-sched -q constant:rate=1,n=1 -t chat.trace -o chat.sched
predict plain.twin chat.sched
# 3 + 11 + 24, then 16 steps; 100 ms; 3 + 11 + 25.8
is "$(ms)" "[0,0,38,214] [1,314,353.8,353.8] " "a turn follows the answer, after its wait"
# shellcheck disable=SC2086 # words
twin cached.twin $plain prefix_cache=1
predict cached.twin chat.sched
is "$(ms)" "[0,0,38,214] [1,314,329.8,329.8] " "tokens shared with the turn before are not computed again"
is "$(jq -r '.body | split("\n")[-2] | fromjson | .cached' rows | tr '\n' ' ')" "0 240 " "tokens shared with the turn before count as cached"
predict cached.twin --history live chat.sched
is "$(jq -r '.body | split("\n")[-2] | fromjson | .cached' rows | tr '\n' ' ')" "0 256 " "--history live shares the answer as well"
same_prompt="{\"id\":\"%s\",\"prompt\":\"$text\",\"input_tokens\":480,\"output_tokens\":1}"
# shellcheck disable=SC2059 # the format is ours
trace twice.trace "$(printf "$same_prompt" a)" "$(printf "$same_prompt" b)"
ipf-sched -q constant:rate=1,n=2 -t twice.trace -o twice.sched
predict cached.twin twice.sched
is "$(jq -r '.body | split("\n")[-2] | fromjson | .cached' rows | tr '\n' ' ')" "0 464 " "recorded blocks of other tokens are cached in proportion"
predict cached.twin --assume input_tokens=x2 twice.sched
is "$(jq -r '.body | split("\n")[-2] | fromjson | .cached' rows | tr '\n' ' ')" "0 944 " "--assume input_tokens scales the shared part"

# ---- disconnecting clients ----
trace long.trace '{"id":"a","prompt":"x","input_tokens":10,"output_tokens":100}'
ipf-sched -q constant:rate=1,n=4 -t long.trace -o long.sched
predict plain.twin --timeout 100ms long.sched
is "$(jq -c '[.error.kind, .error.text, .end_ns - .start_ns, (.reads | length)]' rows | sort -u)" \
	'["timeout","not answered within 100 ms",100000000,8]' "--timeout, with what had come before"
predict plain.twin --first-token-timeout 10ms long.sched
is "$(jq -c '[.error.kind, .error.text, .end_ns - .start_ns, .status, .body]' rows | sort -u)" \
	'["timeout","no first token within 10 ms",10000000,null,null]' "--first-token-timeout ends a request without a token"
predict plain.twin --first-token-timeout 20ms long.sched
is "$(jq -c .error.kind rows | sort -u)" null "--first-token-timeout spares a response that has begun"
predict plain.twin --cancel 50%@200ms long.sched
is "$(jq -c 'select(.error) | [.error.kind, .end_ns - .start_ns]' rows | sort -u)" '["hung-up",200000000]' "--cancel ends a request at its time"
server_start --step-base 1ms
ipf-fire -q -u "$URL" -m sim --cancel 50%@1ms long.sched -o real.records
is "$(jq -c 'select(.error) | .n' rows | sort)" "$(jq -c 'select(.error) | .n' real.records | sort)" \
	"--cancel chooses the requests that it chooses against a server"
trace gone.trace '{"id":"a","prompt":"x","input_tokens":10,"output_tokens":100,"hang_up_ns":30000000}'
ipf-sched -q constant:rate=1,n=1 -t gone.trace -o gone.sched
predict plain.twin gone.sched
is "$(jq -c '[.error.text, .end_ns]' rows)" '["the recorded client disconnected then",30000000]' "recorded disconnects end a request"
predict plain.twin --cancel none gone.sched
is "$(jq -c .error rows)" null "--cancel none ignores recorded disconnects"
run ipf-twin predict plain.twin --timeout 100ms --stop-on errors=2 long.sched -o records --force
status_is 1 "--stop-on ends the run"
contains "$(cat "$ERR")" "stopped: 2 of 2 requests failed (--stop-on errors=2)" "ipf-twin names --stop-on"
is "$(jq -c 'select(.n != null) | .n' records | tr '\n' ' ')" "0 1 " "--stop-on errors=2 ends after the second"

predict plain.twin --max-answer 340 long.sched
is "$(jq -c '[.error.kind, .error.text, (.reads | length)]' rows | sort -u)" \
	'["too-large","the answer exceeds 340 bytes (--max-answer)",11]' "--max-answer cuts an answer"
run ipf-twin predict -q plain.twin --memory 1000 long.sched -o records
status_is 1 "--memory ends the run"
contains "$(cat "$ERR")" "stopped: requests in flight exceed 1000 bytes (--memory)" "ipf-twin names --memory"
is "$(tail -1 records | jq -r .end.incomplete)" "stopped: requests in flight exceed 1000 bytes (--memory)" "the trailer names --memory"

# ---- requests a server would refuse ----
# shellcheck disable=SC2086 # words
twin small.twin $plain kv_blocks=8
trace mixed.trace '{"id":"a","prompt":"x","input_tokens":1000,"output_tokens":1}' '{"id":"b","prompt":"x","input_tokens":10,"output_tokens":1}'
ipf-sched -q constant:rate=1,n=2 -t mixed.trace -o mixed.sched
run ipf-twin predict small.twin mixed.sched -o records --force
status_is 0 "a request that is too long for the cache"
contains "$(cat "$ERR")" "1000 input and 1 output tokens exceed the KV cache of the twin, 128 tokens" "fails, which is said"
ipf-collect -q records -o results
is "$(jq -c 'select(.n != null) | [.ok, .error.kind, .error.status]' results | tr '\n' ' ')" \
	'[false,"http-status",400] [true,null,null] ' "a request too long for the cache has status 400, and others succeed"
ipf-sched -q closed:users=2,for=100ms -t mixed.trace -o refused.sched
predict small.twin refused.sched
between "$(wc -l <rows)" 10 400 "a closed loop of them ends"
trace bare.trace '{"id":"a","prompt":"x","input_tokens":10}'
ipf-sched -q constant:rate=1,n=1 -t bare.trace -o bare.sched
run ipf-twin predict -q plain.twin bare.sched -o records --force
status_is 3 "a trace without output_tokens ends with 3"
contains "$(cat "$ERR")" "request 0 of the trace: output_tokens: missing" "the request is named"
trace said.trace '{"id":"a","prompt":"12345678","answer":"123456789"}'
ipf-sched -q constant:rate=1,n=1 -t said.trace -o said.sched
predict plain.twin said.sched
is "$(jq -r '.body | split("\n")[-2]' rows)" '{"finish":"length","input":2,"output":3}' "lengths of texts, where the trace has none"

# ---- chance ----
# shellcheck disable=SC2086 # words
twin noisy.twin $plain step_jitter=0.2
noisy() { ipf-twin predict -q noisy.twin --reproducible --force "$@"; }
mkdir again
noisy --seed 5 closed.sched -o a.records
noisy --seed 5 closed.sched -o again/a.records
noisy --seed 6 closed.sched -o c.records
same a.records again/a.records "the same seed gives the same bytes"
isnt "$(jq -c .end_ns a.records)" "$(jq -c .end_ns c.records)" "another seed gives other times"
is "$(head -1 a.records | jq -c '[.t0_unix_ns, .created, .host, .predicted.seed]')" '[0,null,null,5]' "--reproducible: no time of this machine"
ipf-sched -q closed:n=4,users=2 --seed 9 -t four.trace -o nine.sched
noisy nine.sched -o d.records
is "$(head -1 d.records | jq .predicted.seed)" 9 "the default is the schedule's seed"

# ---- changed parameters ----
predict plain.twin --assume prefill_tokens_per_s=x2 --assume step_base_ns=5000000 one.sched
is "$(ms)" '[0,0,14,26] ' "a prompt in half the time, shorter steps: 3 + 5 + 1 + 5, then 6 each"
is "$(head -1 records | jq -c .predicted.assumed)" '{"prefill_tokens_per_s":20000,"step_base_ns":5000000}' "the header has what was assumed"
predict plain.twin --assume input_tokens=x2 --assume output_tokens=x0.5 one.sched
is "$(ms)" '[0,0,34,45] ' "prompts of twice as many tokens, answers of half as many: 3 + 20 + 11, then 11"
is "$(ipf-collect -q records | jq -c 'select(.n != null) | [.input_tokens, .asked_input_tokens, .output_tokens, .asked_output_tokens]')" '[200,200,2,2]' "results have the assumed lengths as asked for"
is "$(head -1 records | jq -c .predicted.assumed)" '{"input_tokens":"x2","output_tokens":"x0.5"}' "the header has the assumed lengths"
predict plain.twin --assume input_tokens=x1 one.sched
is "$(head -1 records | jq -c '.predicted | has("assumed")')" false "a factor of 1 is not an assumption"
predict plain.twin --assume most_sequences=1 closed.sched
is "$(tail -1 records | jq -c .end.extrapolated)" '[]' "an assumed parameter is not extrapolated"

# ---- loads not seen before ----
sed 's/"overhead_ns"/"most_sequences":{"not_known":"never more","at_least":1},&/' plain.twin >seen.twin
predict seen.twin closed.sched
is "$(tail -1 records | jq -c .end.extrapolated)" '["most_sequences"]' "more in flight than were seen is said"
predict seen.twin one.sched
is "$(tail -1 records | jq -c .end.extrapolated)" '[]' "a run within the fitted one extrapolates nothing"

# ---- contradicting options and files ----
refused() { # STATUS TEXT ARGUMENT…
	local want=$1 text=$2
	shift 2
	run ipf-twin predict "$@" -o refused.records
	is "$status $(head -1 "$ERR")" "$want $text" "ipf-twin predict $*"
}
refused 2 "ipf-twin predict: unknown option --url: ipf-fire -u names the server" plain.twin --url "$URL" one.sched
refused 2 'ipf-twin: --assume: a twin has no parameter "speed" (ipf-twin(1))' plain.twin --assume speed=x2 one.sched
refused 2 "ipf-twin: --assume: kv_blocks: the twin does not know it, so it has no multiple: give a value" plain.twin --assume kv_blocks=x2 one.sched
refused 2 "ipf-twin: --assume: input_tokens is given twice" plain.twin --assume input_tokens=x2 --assume input_tokens=x2 one.sched
refused 2 "ipf-twin: --assume: overhead_ns is given twice" plain.twin --assume overhead_ns=1 --assume overhead_ns=2 one.sched
refused 2 "ipf-twin predict: --replicas: minimum is 1, got 0" plain.twin --replicas 0 one.sched
refused 2 "ipf-twin predict: --replicas: maximum is 1024, got 1025" plain.twin --replicas 1025 one.sched
refused 2 'ipf-twin predict: --replicas: expected MIN:MAX of at most 1024 replicas such as 1:4, got "4:1"' plain.twin --replicas 4:1 one.sched
refused 2 'ipf-twin predict: --replicas: unknown key "dealy"' plain.twin --replicas 1:4,dealy=1s one.sched
refused 2 'ipf-twin predict: --replicas: expected N@TIME such as 5@1h of at most 1024 replicas, got "5"' plain.twin --replicas 1,5 one.sched
refused 2 'ipf-twin predict: --replicas: the times of a series ascend, got "3@1h" after one that is as late' plain.twin --replicas 2,5@2h,3@1h one.sched
refused 1 "ipf-twin: none.twin: cannot open: No such file or directory" none.twin one.sched
echo '{"ipf":"twin","version":1,"parameters":{}}' >empty.twin
refused 3 "ipf-twin: empty.twin: parameters: step_base_ns and step_per_sequence_ns must be known" empty.twin one.sched
IPF_TWIN_REPLICAS=2 run ipf-twin predict -q plain.twin one.sched -o environment.records
is "$(head -1 environment.records | jq .predicted.replicas)" 2 "a variable of the environment sets an option"

# ---- ends early ----
mkfifo slow
ipf-twin predict plain.twin -t four.trace slow -o early.records 2>early.err &
fire_pid=$!
exec 7>slow
head -3 closed.sched >&7 # a header and two arrivals, and no end
# The records begin, and it has taken all written and waits for more.
begun()
{
	[ -s early.records ] && [ "$(unread 7)" = 0 ] && [ "$(cut -d' ' -f3 /proc/$fire_pid/stat)" = S ]
}
unread() # FD
{
	python3 -c 'import fcntl, struct, sys, termios; print(*struct.unpack("i", fcntl.ioctl(int(sys.argv[1]), termios.FIONREAD, bytes(4))))' "$1"
}
yes_if "a run that waits for its schedule" wait_for begun
kill -INT $fire_pid
wait $fire_pid
is $? 0 "ipf-twin ends with a signal while it waits"
exec 7>&-
is "$(tail -1 early.records | jq -c '[.end.interrupted, .end.incomplete]')" '[true,"interrupted: 2 requests were started"]' "records of an interrupted prediction say so"
yes_if "records of an interrupted prediction are whole" whole early.records
ipf-sched -q closed:users=50,for=1h -t four.trace -o endless.sched
run sh -c "{ ipf-twin predict plain.twin endless.sched; echo \$? >fire.status; } | head -1 >/dev/null"
is "$(cat fire.status) $(cat "$ERR")" "0 " "a run ends when nobody reads its records"

# ---- beside a server ----
server_stop
server_start --step-base 15ms --step-per-seq 500us --prefill-rate 10k --max-batch 8 --no-prefix-cache
twin beside.twin model=m/1 step_base_ns=15000000 step_per_sequence_ns=500000 prefill_tokens_per_s=10000 most_sequences=8
ipf-prep -q synthetic -n 60 --input-tokens 100 --output-tokens 20 -o beside.trace
ipf-sched -q poisson:rate=15,n=60 -t beside.trace -o beside.sched
ipf-fire -q -u "$URL" -m sim beside.sched -o beside.records
predict beside.twin beside.sched
for of in beside.records records; do ipf-collect -q $of -o results && ipf-report -f json results >$of.json; done
for metric in ttft tpot e2e; do
	at_least "$(jq -s --arg m $metric 'map(.total.latency[$m + "_ms"] | .from_start.p50 // .p50) | .[0] / .[1]' beside.records.json records.json)" 0.9 \
		"the median $metric of a server is what was predicted, or more where the machine is busy"
done

# ---- a stage with a cold cache ----
ipf-prep prefix -q -n 4 --hit-rate 0.5 --groups 1 --input-tokens 320 --output-tokens 1 -o shared.trace
twin cached.twin $plain prefix_cache=1
cached() { ipf-collect -q records | jq -c 'select(.n != null) | .cached_tokens' | tr '\n' ' '; } # a number for each request
ipf-sched -q closed:users=1,n=4 closed:users=1,n=4 -t shared.trace -o shared.sched
predict cached.twin shared.sched -t shared.trace
asis=$(cached)
ipf-sched -q closed:users=1,n=4 closed:users=1,n=4,cache=cold -t shared.trace -o shared.sched
predict cached.twin shared.sched -t shared.trace
is "$(cached)" "$(cached | cut -d ' ' -f 1-4) $(cached | cut -d ' ' -f 1-4) " "a predicted stage with a cold cache finds as much as the first"
isnt "$asis" "$(cached)" "without the reset, it finds more"
