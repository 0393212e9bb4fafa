#!/bin/bash
# ipf-fire sends the trace's requests by the schedule, and records them.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

server_start --log server.log
ipf-prep sharegpt "$ROOT/examples/chat.json" --max-output 12 -q -o chat.trace
ipf-sched constant:rate=50,for=1s -t chat.trace -o chat.sched

# ---- on time ----
run ipf-fire -u "$URL" -m sim -t chat.trace chat.sched -o chat.records
status_is 0 "fifty requests at 50/s"
stderr_is "" "ipf-fire has no messages if all goes well"
yes_if "the records are whole" whole chat.records
requests chat.records >rows
is "$(wc -l <rows)" 50 "a line for each"
is "$(jq -s -c 'map(.n) | sort == [range(50)]' rows)" true "requests are recorded once each"
is "$(jq -s 'map(select(.status == 200 and .error == null)) | length' rows)" 50 "every request succeeds"
is "$(jq -s -c '[.[] | .due_ns == .n * 20000000] | all' rows)" true "due at equal distances"
is "$(jq -s -c '[.[] | .start_ns >= .due_ns and .ready_ns == .due_ns and .slot_ns == null] | all' rows)" true "never early, and nothing held them back"
is "$(jq -s -c '[.[] | .start_ns <= .sent_ns and .sent_ns <= .first_byte_ns and .first_byte_ns <= .reads[0][0] and .reads[-1][0] <= .end_ns] | all' rows)" true \
	"sent, answered and ended in this order"
is "$(jq -s -c '[.[] | [.reads[] | .[0]] as $t | $t == ($t | sort)] | all' rows)" true "reads are in order"
is "$(jq -s -c '[.[] | (.reads | map(.[1]) | add) == (.body | utf8bytelength)] | all' rows)" true "reads have as many bytes as the body"
is "$(jq -s -c '[.[] | if .connection.reused then .connect_ns == null else .connect_ns > .start_ns and .connect_ns < .first_byte_ns end] | all' rows)" true \
	"a new connection is opened before the first byte, a kept one is not opened"
is "$(jq -s -c '[.[] | .streamed and .asked_output_tokens > 0 and .asked_input_tokens > 0 and .model == "sim" and .id != null] | all' rows)" true \
	"rows have the lengths asked for, the model and an id"

# ---- which trace ----
# the schedule names the file it was made for; the present one must be this trace
ipf-sched -q constant:rate=500,n=5 -t chat.trace | ipf-fire -q -u "$URL" -m sim >piped.records
is "$(body piped.records | jq -c 'select(.n != null and .status == 200)' | wc -l)" 5 "ipf-fire finds the trace that the schedule names"
mkdir elsewhere
(cd elsewhere && ipf-fire -q -u "$URL" -m sim ../chat.sched >none.records 2>"$ERR")
is "$?" 1 "a trace in another folder is not found"
contains "$(cat "$ERR")" "ipf-fire: chat.trace: cannot open" "ipf-fire names the trace that it cannot open"
cp chat.trace first.trace
ipf-sched -q constant:rate=500,n=5 -t first.trace -o moved.sched
ipf-prep sharegpt "$ROOT/examples/chat.json" --max-output 3 -q -o first.trace
run ipf-fire -q -u "$URL" -m sim moved.sched
status_is 3 "ipf-fire refuses another trace at the place of the schedule's"
complains ipf-fire "not the trace that the schedule was made for" "ipf-fire says that the trace is not the schedule's"
ipf-sched -q --reproducible constant:rate=500,n=5 -t chat.trace -o nameless.sched
run ipf-fire -q -u "$URL" -m sim nameless.sched
status_is 2 "a schedule that names none requires -t"
complains ipf-fire "--trace is required: the schedule does not name its trace" "ipf-fire says that --trace is required"

# ---- the header and the lines between ----
head -1 chat.records >header
is "$(jq -c '[.ipf, .version, .target, .api.name, .model, .streamed, .clock, .timeout_ns, (.limits.files > 0), (.host.name | length > 0), (.t0_unix_ns > 0)]' header)" \
	"[\"records\",1,\"$URL/v1/chat/completions\",\"openai-chat\",\"sim\",true,\"CLOCK_MONOTONIC\",600000000000,true,true,true]" "the header describes the run"
is "$(jq -c '[.from[] | .ipf]' header)" '["schedule","trace"]' "the header of records has the headers of its inputs"
is "$(tail -1 chat.records | jq -c '[.end.from[] | .ipf, .lines]')" "[\"schedule\",50,\"trace\",$(body chat.trace |
	wc -l)]" "the trailer tells what was read"
is "$(tail -1 chat.records | jq -c '.end.stages')" '[{"begin_ns":0,"end_ns":1000000000}]' "the trailer says when stages were"
body chat.records | jq -c 'select(.client) | .client' >clients
body chat.records | jq -s -c '[.[] | select(.client) | .t_ns] | [., .[1:]] | transpose | map(select(.[1]) | .[1] - .[0])' >apart
is "$(jq -c '.[:-1] | all(. > 900000000)' apart)" true "a line about the client at most each second, and one at the end"
is "$(tail -1 clients |
	jq -c '[.due, .started, .done, .failed, .in_flight, .waiting, .queue, (.cpu.send > 0), (.loop_lag_ns.max >= 0), (.bytes > 0)]')" \
	'[50,50,50,0,0,0,0,true,true,true]' "the last one has it all"
is "$(jq -s -c '[(map(.client_lag_ns.count // 0) | add), ([.[] | .client_lag_ns | objects | .p50 <= .p99 and .p99 <= .p999 and .p999 <= .max and .within_1ms <= 1] | all)]' clients)" '[50,true]' \
	"every start is in one of their lags"
is "$(jq -s -c '.[-1] | [.starved >= 0, .unrendered >= 0, (.fullness | keys)]' clients)" '[true,true,["record","render"]]' \
	"a line about the client counts what was missing when it was due"
is "$(jq -s -c '[.[] | .loop_lag_ns.max >= (.loop_lag_ns.p99 // 0)] | all' clients)" true "a line about the client has how late the loop was"
is "$(jq -s -c '[.[] | .ready | objects | .mean >= 1 and .max >= .mean] | all and length > 0' clients)" true "a line about the client has how many requests were ready"
if [ -r /proc/self/schedstat ]; then
	is "$(jq -s -c '[.[].run_queue | [.send, .record, .render] | all(. >= 0)] | all' clients)" true "a line about the client has how long threads waited for a processor"
	is "$(jq -s -c '[.[].run_queue.send] | . == sort' clients)" true "waiting for processors only grows"
else
	is "$(jq -s -c 'map(.run_queue) | unique' clients)" '[null]' "waiting for processors is left out if the system does not tell it"
fi
tail -1 chat.records | jq -c .end.client >whole.client
is "$(jq -c '.client_lag_ns.count' whole.client)" 50 "the trailer has them over the whole run"
is "$(jq -c --slurpfile lines clients '.client_lag_ns.max == ([$lines[].client_lag_ns.max // 0] | max)' whole.client)" true "the trailer has the greatest lag of all lines"
if [ "$(jq -r .stamps header)" = kernel ]; then
	is "$(jq -s -c '(map(.delay_ns.count // 0) | add) == (.[-1].stamps.kernel + .[-1].stamps.rejected) and .[-1].stamps.none == 0 and .[-1].stamps.kernel > 0' clients)" true \
		"the delay of every read that the kernel stamped"
else
	is "$(jq -s -c 'map(.stamps) | unique' clients)" '[null]' "records have no stamps if the kernel gives none"
fi
run ipf-fire -u "$URL" -m sim -t chat.trace --reproducible "$PWD/chat.sched"
is "$(head -1 "$OUT" |
	jq -c '[.host, .created, (.argv | index("chat.sched") != null)]')" '[null,null,true]' "--reproducible leaves out host, date and folders"

# ---- requests ----
ipf-sched burst:n=3 -t chat.trace -o three.sched
ask() { # ARGUMENTS: three requests; $OUT are the records
	run ipf-fire -u "$URL" -t chat.trace three.sched "$@"
	status_is 0 "ipf-fire $* ends with 0"
}
ask -m sim --record-header CONTENT-type --record-header no-such
is "$(body "$OUT" | jq -c 'select(.n != null) | .headers' |
	sort -u)" '{"content-type":"text/event-stream; charset=utf-8"}' "--record-header keeps headers"
ask -m sim --no-stream --param 'stop=["$x"]' --exact-output
is "$(body "$OUT" | jq -c 'select(.n != null) | [.streamed, .status, (.body | fromjson | .object)]' |
	sort -u)" '[null,200,"chat.completion"]' "--no-stream asks for whole answers"
ask -m sim --api openai-completions
is "$(body "$OUT" | jq -c 'select(.n != null) | .status' | sort -u)" 200 "--api openai-completions succeeds"
ask --connections fresh
is "$(body "$OUT" | jq -c 'select(.n != null) | [.connection.reused, .model]' |
	sort -u)" '[false,"sim"]' "--connections fresh, and the server's only model"
jq -n --argjson api "$(jq -c .api header)" '$api | .path = "/v1/nowhere"' >mine.json
ask -m sim --api ./mine.json
is "$(body "$OUT" | jq -c 'select(.n != null) | .status' | sort -u)" 404 "a descriptor of our own"
is "$(head -1 "$OUT" | jq -r .api.path)" /v1/nowhere "the descriptor stands in the header"
run ipf-fire -v -u "$URL/v1/" -m sim -t chat.trace three.sched
status_is 0 "a base with a path"
is "$(body "$OUT" | jq -c 'select(.n != null) | .status' | sort -u)" 200 "a base path with /v1 is not doubled"
matches "$(cat "$ERR")" "3 requests started" "-v tells how it went"
run ipf-fire -u "$URL" -m sim -t chat.trace --progress chat.sched
matches "$(cat "$ERR")" "started [0-9]+/50.*in flight.*failed 0" "--progress shows how it goes"
run ipf-fire --list-apis
matches "$(cat "$OUT")" "^openai-chat +generate +OpenAI chat" "--list-apis lists them"

ipf-sched closed:users=1,n=4 -t chat.trace -o turns.sched
run ipf-fire -u "$URL" -m sim -t chat.trace turns.sched
is "$(body "$OUT" | jq -s -c 'map(select(.n != null)) | sort_by(.n) | map([.connection.reused, .connect_ns == null])')" \
	'[[false,false],[true,true],[true,true],[true,true]]' "a user keeps the connection of the request before"

# ---- keys ----
server_start --api-key k1
run env OPENAI_API_KEY=k1 ipf-fire -u "$URL" -m sim -t chat.trace three.sched
is "$(body "$OUT" | jq -c 'select(.n != null) | .status' | sort -u)" 200 "the key comes from the environment"
run env MINE=k1 ipf-fire -u "$URL" -m sim -t chat.trace three.sched --key-env MINE
is "$(body "$OUT" | jq -c 'select(.n != null) | .status' | sort -u)" 200 "--key-env names another variable"
is "$(grep -c k1 "$OUT")" 0 "records do not contain the key"
run ipf-fire -u "$URL" -m sim -t chat.trace three.sched -H "Authorization: Bearer k1"
is "$(body "$OUT" | jq -c 'select(.n != null) | .status' | sort -u)" 200 "a key as a header is accepted"
is "$(grep -c k1 "$OUT")" 0 "records do not contain the key of a header"
run env OPENAI_API_KEY=k2 ipf-fire -u "$URL" -m sim -t chat.trace three.sched
is "$(body "$OUT" | jq -c 'select(.n != null) | [.status, .error]' |
	sort -u)" '[401,null]' "a wrong key is answered, and that is no error of ours"
status_is 0 "a wrong key ends with 0"

# ---- a proxy in the environment would be measured unseen ----
run env http_proxy=http://127.0.0.1:1 ALL_PROXY=http://127.0.0.1:1 no_proxy= NO_PROXY= OPENAI_API_KEY=k1 ipf-fire -u "$URL" -m sim -t chat.trace three.sched
is "$(body "$OUT" | jq -c 'select(.n != null) | .status' | sort -u)" 200 "proxies of the environment are not used"
# ---- a name is looked up once ----
run env OPENAI_API_KEY=k1 ipf-fire -u "${URL/127.0.0.1/localhost}" -m sim -t chat.trace three.sched
is "$(body "$OUT" | jq -c 'select(.n != null) | [.status, .dns_ns]' |
	sort -u)" '[200,null]' "a name in place of an address"

# ---- many at once: the first go out, and their answers are seen, before the last has started ----
server_start
ipf-sched burst:n=200 -t chat.trace -o many.sched
run ipf-fire -u "$URL" -m sim -t chat.trace --threads 1 many.sched
status_is 0 "two hundred at once"
is "$(body "$OUT" |
	jq -s -c 'map(select(.n != null)) | (map(.start_ns) | max) as $last | [length, (map(select(.sent_ns < $last)) | length > 100)]')" "[200,true]" \
	"most had been sent when the last was started"
