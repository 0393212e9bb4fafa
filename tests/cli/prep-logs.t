#!/bin/bash
# Logs of servers and gateways: the members read, however they were written, and the messages for wrong ones.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters
prep=$BIN/ipf-prep
data=$TESTS/data/prep

# ---- JSON over several lines ----
cat >log.json <<'LOG'
[{"timestamp": 1, "request": {"messages": [
  {"role": "user", "content": [
    {"type": "text", "text": "One\ntwo"}]}],
  "tools": [
    {"type": "function",
     "function": {"name": "f"}}],
  "response_format": {
    "type": "json_object"}},
  "response": {"choices": [{"message": {"content": "Yes."}}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 2}}}]
LOG
jq -c '.[]' log.json >lines.jsonl
jq -c '.[] | .request |= tojson | .response |= tojson' log.json >texts.jsonl
jq --arg request "$(jq '.[].request' log.json)" -c '.[] | .request = $request' log.json >inner.jsonl
"$prep" openai-log lines.jsonl -q -o lines.trace
for file in log.json texts.jsonl inner.jsonl; do
	run "$prep" openai-log $file -q -o out.trace
	status_is 0 "$file is read"
	is "$(wc -l <out.trace)" 3 "$file: a request is one line"
	is "$(body out.trace | jq -cS .)" "$(body lines.trace | jq -cS .)" "$file: it is the same as of JSON Lines"
done
printf '[{"prompt":"one\ntwo","output":"x"}]' >broken.json
run "$prep" jsonl broken.json
status_is 3 "a line feed within a string is not JSON"

# ---- times without a difference ----
printf '%s\n' '{"time":1,"request":{"prompt":"a"}}' '{"time":-9e9,"request":{"prompt":"a"}}' '{"time":9e9,"request":{"prompt":"a"}}' >far.jsonl
run "$prep" openai-log far.jsonl -o far.trace
status_is 3 "times of other centuries are refused"
is "$(body far.trace | jq -s length)" 1 "the other records are read"
stderr_contains "far.jsonl:2: time: expected a number or a time such as 2023-11-16T18:15:46Z, got -9e9" "ipf-prep names line and field of a wrong time"

# ---- every log is anonymized and fitted like any other source ----
shared() { # SOURCE FILE REQUESTS WORD: no such word is in the shared part
	run "$prep" anonymize "$1" "$2" -q -o shared.jsonl
	status_is 0 "$1: it is anonymized"
	is "$(wc -l <shared.jsonl)" "$3" "$1: every request is in the anonymous file"
	is "$(grep -c "$4" shared.jsonl)" 0 "$1: the anonymous file has no texts"
	run "$prep" fit "$1" "$2" -q -o model.json
	status_is 0 "$1: a model is fitted"
	is "$(jq .requests model.json)" "$3" "$1: the model is of all requests"
}

head -7 "$data/litellm-log.jsonl" >litellm.jsonl
shared litellm-log litellm.jsonl 6 "Oslo\|weather\|chat-large\|s-9"
shared litellm-log "$data/litellm-spend.json" 5 "Oslo\|weather\|chat-large"
grep -v "cut off" "$data/sglang.log" >sglang.log
shared sglang-log sglang.log 6 "there\|upon\|c-1"
shared sglang-log "$data/sglang-json.log" 4 "there\|upon\|c-1"
head -6 "$data/sagemaker.jsonl" >sagemaker.jsonl
shared sagemaker-capture sagemaker.jsonl 5 "weather\|upon\|Software"
run "$prep" anonymize dynamo-trace "$data/dynamo-trace.jsonl" -f trace -q -o shared.trace
is "$(body shared.trace | jq -s -c 'map(.parents | length) | sort')" "[0,0,0,1,1,1,3]" "dynamo-trace: parents of requests are shared"
shared dynamo-trace "$data/dynamo-trace.jsonl" 7 "run-42\|m-large\|user_message\|14879255164371896291"
shared envoy-access "$data/envoy-gateway.jsonl" 5 "m-large\|s-1\|curl\|127.0.0.1"
"$prep" tgi-log "$data/tgi.log" --input-tokens 8 -q -o tgi.trace
run "$prep" anonymize tgi.trace -q -o shared.jsonl
is "$status $(wc -l <shared.jsonl) $(grep -c lora-a shared.jsonl)" "0 4 0" "tgi-log: a trace with prompts is anonymized"
run "$prep" fit tgi.trace -q -o model.json
is "$status $(jq .requests model.json)" "0 4" "tgi-log: a model is fitted"

# ---- hostile records: each is refused by its line and member, or read, and the next one is read ----
lengths=() # options for the data read
one() { # SOURCE RECORD: between two good ones of the file good.jsonl
	{ head -1 good.jsonl; printf '%s\n' "$2"; tail -1 good.jsonl; } >data
	rm -f out.trace
	run "$prep" "$1" data "${lengths[@]}" -o out.trace
}
refused() { # SOURCE RECORD MESSAGE
	one "$1" "$2"
	status_is 3 "$1: $3: status 3"
	contains "$(head -1 "$ERR")" "data:2: $3" "$1: the message has $3"
	is "$(body out.trace | wc -l)" 2 "$1: $3: the others are read"
}
taken() { # SOURCE RECORD JQ EXPECTED TEXT: a member of the second request
	one "$1" "$2"
	status_is 0 "$1: $5: status 0"
	is "$(body out.trace | sed -n 2p | jq -c "$3")" "$4" "$1: the request has the value: $5"
}
left_out() { # SOURCE RECORD WHY
	one "$1" "$2"
	status_is 0 "$1: $3: status 0"
	is "$(tail -1 out.trace | jq -c '.end.left_out')" "{\"$3\":1}" "$1: the trailer counts $3"
}

head -2 "$data/litellm-log.jsonl" | jq -c '.session_id = ""' >good.jsonl
litellm() { # JQ: the first record, changed
	head -1 good.jsonl | jq -c ".startTime += 1 | $1"
}
refused litellm-log 7 'record: expected an object, got 7'
refused litellm-log "$(litellm '.startTime = null')" 'startTime: missing'
refused litellm-log "$(litellm '.startTime = 1e300')" 'startTime: expected a number or a time'
refused litellm-log "$(litellm '.model_group = []')" 'model_group: expected a name'
refused litellm-log "$(litellm '.session_id = {}')" 'session_id: expected a name'
refused litellm-log "$(litellm '.trace_id = true')" 'trace_id: expected a name'
refused litellm-log "$(litellm '.completion_tokens = "4"')" 'completion_tokens: expected'
refused litellm-log "$(litellm '.prompt_tokens = -1')" 'prompt_tokens: expected'
refused litellm-log "$(litellm '.messages[0].content = 5')" 'messages/0/content: expected a string or a list'
refused litellm-log "$(litellm '.model_parameters.max_tokens = "all"')" 'max_tokens: expected'
refused litellm-log "$(litellm '.proxy_server_request = "{not json"')" 'proxy_server_request: expected an object'
refused litellm-log "$(litellm '.endTime = "soon"')" 'endTime: expected a number or a time'
refused litellm-log "$(litellm '.request_duration_ms = -750')" 'request_duration_ms: expected a number of 0 or more, got -750'
latencies='[.recorded_ttft_ns, .recorded_e2e_ns]'
streamed='.stream = true | .startTime = 1767607300.5 | .endTime = 1767607302.5'
taken litellm-log "$(litellm "$streamed | .completionStartTime = 1767607301")" "$latencies" '[500000000,2000000000]' "latencies count from the start"
taken litellm-log "$(litellm "$streamed | .stream = false | .completionStartTime = 1767607301")" "$latencies" '[null,2000000000]' \
	"an answer that was not streamed has no time to its first token"
taken litellm-log "$(litellm "$streamed | .completionStartTime = 1767607303")" "$latencies" '[null,2000000000]' "a first token after the end is left out"
taken litellm-log "$(litellm "$streamed | .completionStartTime = 1767607301 | .status = \"failure\"")" "$latencies" '[null,null]' \
	"a failure has no latencies"
left_out litellm-log "$(litellm '.call_type = 5')" "neither a chat nor a completion"
left_out litellm-log "$(litellm '.call_type = "aembedding"')" "neither a chat nor a completion"
left_out litellm-log "$(litellm '.messages = {} | .prompt_tokens = 0')" "neither the prompt nor its length"
taken litellm-log "$(litellm '.response = "not an object"')" '.output_tokens' 2 "an answer of another kind is no reason to refuse it"
taken litellm-log "$(litellm '.response = {choices: [[]]}')" '.output_tokens' 2 "a choice that is a list"
taken litellm-log "$(litellm '.messages = "Once"')" '.messages' '[{"role":"user","content":"Once"}]' "a prompt that is a text"
taken litellm-log "$(litellm '.call_type = "aresponses" | .messages = [{type: "function_call_output", output: "4"}]')" \
	'.input_tokens' 19 "items of the responses API give the length"
taken litellm-log "$(litellm '.metadata = null | .trace_id = 7')" '.session' null "a trace id of one request is no session"
taken litellm-log "$(litellm '.metadata.requester_metadata = {session_id: "m-1"}')" '.session' '"m-1"' "a session of the client's metadata"
taken litellm-log "$(litellm '.metadata = "text" | .trace_id = "trace-1"')" '.session' '"trace-1"' "a trace id of two is"
taken litellm-log "$(litellm '.model_group = "" | .model = ""')" '.model' null "no model"

# ---- lines of SGLang ----
finish() { # OBJECT OUT: a line of a request that finished
	printf "[2026-01-30 18:15:04] Finish: obj=GenerateReqInput(%s, return_logprob=False), out=%s" "$1" "$2"
}
meta="'meta_info': {'prompt_tokens': 9, 'completion_tokens': 4, 'e2e_latency': 1.5"
{ finish "rid='x', text='One'" "{$meta}}" && echo && finish "rid='y', text='Two'" "{$meta}}" && echo; } >good.jsonl
refused sglang-log "$(finish "rid='a" "{$meta}}")" 'cut off, or not a request as SGLang prints it'
refused sglang-log "$(finish "rid='a', text=" "{$meta}}")" 'cut off, or not a request as SGLang prints it'
refused sglang-log "$(finish "rid='a', b=$(printf '%0100d' 0 | tr 0 '[')" "{$meta}}")" 'cut off, or not a request as SGLang prints it'
refused sglang-log "$(finish "rid='a', b={1, 2}" "{$meta}}")" 'cut off, or not a request as SGLang prints it'
refused sglang-log "$(finish "rid='a'" "{$meta}} trailing")" 'cut off, or not a request as SGLang prints it'
refused sglang-log "$(finish "rid='a', b=1e" "{$meta}}")" 'not JSON'
refused sglang-log "$(finish "rid=None" "{$meta}}")" 'rid: missing'
refused sglang-log "$(finish "rid={}" "{$meta}}")" 'rid: expected a name'
refused sglang-log "$(finish "rid='a'" "{'meta_info': {'prompt_tokens': -9}}")" 'prompt_tokens: expected'
refused sglang-log "$(finish "rid='a'" "{$meta, 'request_received_ts': 1e300}}")" 'request_received_ts: expected'
refused sglang-log '{"event": "request.finished", "obj": {"rid": "a"' 'not JSON'
refused sglang-log "$(finish "rid='a'" "{'meta_info': {'request_received_ts': 4.4e9, 'e2e_latency': 1}}")" 'request_received_ts: expected a time from 1970 to 2100'
refused sglang-log "$(finish "rid='a'" "{'meta_info': {'e2e_latency': 9e9}}")" 'e2e_latency: expected at most a year'
left_out sglang-log "Finish: nothing" "no request"
left_out sglang-log '{"event": "request.other", "rid": "a", "obj": {"rid": "a", "return_logprob": false}}' "no request"
left_out sglang-log "$(finish "rid=['a', 'b']" "[{$meta}}]")" "no single generation"
left_out sglang-log "$(finish "rid='HEALTH_CHECK_7'" "{$meta}}")" "a health check"
left_out sglang-log "$(finish "rid='a'" "{}")" "neither the prompt nor its length (--input-tokens makes some)"
taken sglang-log "$(finish "rid='a', text='a' ... 'b', x=<object at 0x7>, y=f(1, 2), z=(1,), u=-1.5, v=float.nan" "{$meta}}")" \
	'.input_tokens' 9 "values of all kinds, and a prompt that was cut"
taken sglang-log "$(finish "rid='a', text='<text: 9000 chars, blake2b=0f0f>'" "{$meta}}")" '.messages[0].content | test("chars")' false \
	"a prompt that was hashed is not sent"
taken sglang-log "$(finish "rid='a', text=\"\\x41\\u00e9\\n\\ud800\"" "{$meta}}")" '.messages[0].content' '"Aé\n�"' "escapes of Python"

# ---- records of SageMaker ----
sed -n '1p;3p' "$data/sagemaker.jsonl" >good.jsonl
capture() { # JQ: the second record, in base64, changed
	sed -n 2p "$data/sagemaker.jsonl" | jq -c "$1"
}
is "$("$prep" sagemaker-capture "$data/sagemaker.jsonl" -q 2>/dev/null | body /dev/stdin | sed -n 2,3p | jq -cS 'del(.id, .at_ns)' | uniq | wc -l)" 1 \
	"a record in base64 is read like the plain one"
refused sagemaker-capture "$(capture 'del(.eventMetadata)')" 'inferenceTime: missing'
refused sagemaker-capture "$(capture '.captureData.endpointInput.data = 7')" 'endpointInput: expected data as a string'
refused sagemaker-capture "$(capture '.captureData.endpointInput.data = "%%"')" 'endpointInput: expected data in base64'
refused sagemaker-capture "$(capture '.captureData.endpointOutput.data = "%%"')" 'endpointOutput: expected data in base64'
refused sagemaker-capture "$(capture '.captureData.endpointInput.data = ("{\"messages\":5}" | @base64)')" 'messages: expected a list'
refused sagemaker-capture "$(capture '.captureData.endpointOutput.data = ("{\"usage\":{\"prompt_tokens\":-1}}" | @base64)')" 'prompt_tokens: expected'
none="no chat, completion or text generation"
left_out sagemaker-capture "$(capture '.captureData = null')" "$none"
left_out sagemaker-capture "$(capture '.captureData.endpointInput.data = "/w=="')" "$none"
left_out sagemaker-capture "$(capture '.captureData.endpointInput.data = ("[{}]" | @base64)')" "$none"
left_out sagemaker-capture "$(capture '.captureData.endpointInput.data = ("{\"inputs\":[\"a\"]}" | @base64)')" "$none"
taken sagemaker-capture "$(capture '.captureData.endpointOutput.data = ""')" '.output_tokens' 50 "an answer without data"
taken sagemaker-capture "$(capture '.captureData.endpointOutput.data = ("[]" | @base64)')" '.output_tokens' 50 "an empty list of answers"

# ---- events of Dynamo ----
sed -n '2p;8p' "$data/dynamo-trace.jsonl" >good.jsonl
dynamo() { # JQ: the first event, changed
	head -1 good.jsonl | jq -c ".event.request.request_received_ms += 9000 | $1"
}
refused dynamo-trace 7 'record: expected an object, got 7'
refused dynamo-trace "$(dynamo '.event = []')" 'event: expected an object'
refused dynamo-trace "$(dynamo '.event.request = "a"')" 'request: expected an object'
refused dynamo-trace "$(dynamo '.event.event_time_unix_ms = null')" 'event_time_unix_ms: missing'
refused dynamo-trace "$(dynamo '.event.request |= del(.request_received_ms, .total_time_ms)')" 'request_received_ms: missing'
refused dynamo-trace "$(dynamo '.event.request.request_received_ms = 1e300')" 'request_received_ms: expected a number or a time'
refused dynamo-trace "$(dynamo '.event.request.total_time_ms = -1')" 'total_time_ms: expected a number of 0 or more'
refused dynamo-trace "$(dynamo '.event.request.total_time_ms = 4e10')" 'total_time_ms: expected at most a year'
refused dynamo-trace "$(dynamo '.event.request.output_tokens = "4"')" 'output_tokens: expected'
refused dynamo-trace "$(dynamo '.event.request.model = {}')" 'model: expected a name'
refused dynamo-trace "$(dynamo '.event.request.replay = 5')" 'replay: expected an object'
refused dynamo-trace "$(dynamo '.event.request.replay.input_length = -4')" 'input_length: expected'
refused dynamo-trace "$(dynamo '.event.request.replay.trace_block_size = 0')" 'trace_block_size: expected 1 to 1048576 tokens, got 0'
refused dynamo-trace "$(dynamo 'del(.event.request.replay.trace_block_size)')" 'trace_block_size: missing'
refused dynamo-trace "$(dynamo '.event.request.replay.input_sequence_hashes = {}')" 'input_sequence_hashes: expected a list'
refused dynamo-trace "$(dynamo '.event.request.replay.input_sequence_hashes[1] = 1.5')" 'input_sequence_hashes: expected 64-bit integers'
refused dynamo-trace "$(dynamo '.event.request.replay.input_sequence_hashes |= .[1:]')" 'input_sequence_hashes: expected length 3 for input_length 40, got 2'
refused dynamo-trace "$(dynamo '.event.agent_context = "run"')" 'agent_context: expected an object'
refused dynamo-trace "$(dynamo '.event.agent_context = {}')" 'session_id: missing'
refused dynamo-trace "$(dynamo '.event.agent_context.session_id = ""')" 'session_id: expected a name'
refused dynamo-trace "$(dynamo '.event.agent_context.parent_session_id = []')" 'parent_session_id: expected a name'
refused dynamo-trace "$(dynamo '.event.agent_context = {trajectory_id: "t"}')" 'session_id: missing'
refused dynamo-trace "$(dynamo '.event.agent_context = {workflow_id: "w", program_id: []}')" 'program_id: expected a name'
left_out dynamo-trace "$(dynamo '.event.event_type = 5')" "not the end of a request"
left_out dynamo-trace "$(dynamo '.event.request |= del(.replay, .input_tokens)')" "no length of the prompt"
left_out dynamo-trace "$(dynamo '.event.request.replay |= {trace_block_size: 16, input_length: 0, input_sequence_hashes: []}')" "no length of the prompt"
of_9s() { # JQ EXPECTED TEXT: a member of the request arriving after 9 seconds, the last of the trace
	is "$(body out.trace | jq -c "select(.at_ns == 9000000000) | $1")" "$2" "dynamo-trace: $3"
}
one dynamo-trace "$(dynamo '.event.agent_context |= {session_id, parent_session_id: .session_id}')"
of_9s '[.session, .parents]' '["run-42:planner",["run-42:planner/2"]]' "no agent is above itself"
one dynamo-trace "$(dynamo '.event.request.finish_reason_metadata |= {backend_finish_reason: "cancelled", tool_calls: 4}')"
of_9s '.tags' '{"failed":true,"cached_tokens":0,"input_trigger":"user_message"}' "cancelled by the backend"
one dynamo-trace "$(dynamo '.event.agent_context = null | .event.request.total_time_ms = null')"
of_9s '[.session, .wait_ns, .parents]' '[null,null,null]' "no session"
chain() { # NAME PARENT MS: a request of a second
	dynamo ".event.request.request_received_ms += $3 - 9000 | .event.agent_context = {session_id: \"$1\", parent_session_id: \"$2\"}"
}
{ chain a b 0 && chain b c 2000 && chain c a 4000 && chain a b 4500 && chain d e 9000; } >circle.jsonl
run "$prep" dynamo-trace circle.jsonl -q -o out.trace
is "$(body out.trace | jq -c '[.id, .session, .parents]' | tr '\n' ' ')" \
	'["a/0","c",null] ["b/0","c",["a/0"]] ["c/0","c",["b/0"]] ["a/1","c",["a/0"]] ["d/0","e",null] ' \
	"dynamo-trace: agents in a circle are one session, the link that closes it is ignored"

{ chain main "" 0 && chain sub main 500; } | jq -c 'del(.event.agent_context.parent_session_id | select(. == ""))' >overlap.jsonl
run "$prep" dynamo-trace overlap.jsonl -o out.trace
stderr_contains '1 request: it began while the first one was running, and waits for its end instead' "dynamo-trace: a sub-agent that began during the first request"
is "$(body out.trace | jq -c '[.id, .wait_ns, .parents]' | tr '\n' ' ')" '["main/0",null,null] ["sub/0",0,["main/0"]] ' "a later request waits for the sub-agent"
run "$BIN/ipf-sched" replay -t out.trace -o out.sched
status_is 0 "a session with sub-agents has one first request and can be scheduled"

# ---- lines of Envoy's access log ----
sed -n '2p;4p' "$data/envoy-gateway.jsonl" >good.jsonl
access() { # JQ: the first line, changed
	head -1 good.jsonl | jq -c ".start_time = \"2026-11-27T00:00:00Z\" | $1"
}
refused envoy-access '"line"' 'record: expected an object, got "line"'
refused envoy-access "$(access 'del(.start_time)')" 'start_time: missing'
refused envoy-access "$(access 'del(.start_time) | .time = "yesterday"')" 'time: expected a number or a time'
refused envoy-access "$(access '.response_code = "OK"')" 'response_code: expected a whole number from 0 to 2^40, got "OK"'
refused envoy-access "$(access '.response_code = {}')" 'response_code: expected a whole number'
refused envoy-access "$(access '.response_flags = 7')" 'response_flags: expected a string'
refused envoy-access "$(access '.bytes_received = -1')" 'bytes_received: expected a whole number'
refused envoy-access "$(access '.bytes_sent = 1.5')" 'bytes_sent: expected a whole number'
refused envoy-access "$(access '.["session.id"] = []')" 'session.id: expected a name'
refused envoy-access "$(access '.duration = "fast"')" 'duration: expected a whole number'
refused envoy-access "$(access '.path = {}')" 'path: expected a name'
refused envoy-access "$(access '.["gen_ai.request.model"] = true')" 'gen_ai.request.model: expected a name'
refused envoy-access "$(access '.["gen_ai.usage.output_tokens"] = "99999999999999999999"')" 'gen_ai.usage.output_tokens: expected a whole number'
refused envoy-access "$(access '.token_latency_ttft = -1')" 'token_latency_ttft: expected a number of 0 or more, got -1'
refused envoy-access "$(access '.token_latency_ttft = "soon"')" 'token_latency_ttft: expected a number of 0 or more, got "soon"'
left_out envoy-access "$(access '.path = "/v1/models"')" "not the path of a generation"
left_out envoy-access "$(access '.path = "?x=/v1/completions"')" "not the path of a generation"
left_out envoy-access "$(access '.bytes_received = 0')" "no body"
left_out envoy-access "$(access 'del(.["gen_ai.usage.input_tokens"])')" "no length of the prompt (--input-tokens makes some)"
left_out envoy-access "$(access '.["gen_ai.usage.input_tokens"] = "0"')" "no length of the prompt (--input-tokens makes some)"
of_late() { # SOURCE JQ EXPECTED TEXT: of the changed line, which is hours later
	is "$(body out.trace | jq -c "select(.at_ns > 3600e9) | $2")" "$3" "$1: $4"
}
for none in null '""' '"-"'; do
	one envoy-access "$(access ".[\"session.id\"] = $none | .path = $none | .response_flags = $none | .[\"gen_ai.request.model\"] = $none")"
	of_late envoy-access '[.session, .model, .tags.failed]' '[null,null,null]' "$none is no value"
done
one envoy-access "$(access '.response_code = "0" | .["gen_ai.usage.input_tokens"] = "31" | .bytes_received = "20"')"
of_late envoy-access '[.input_tokens, .tags]' '[31,{"failed":true,"bytes_received":20,"bytes_sent":60}]' "numbers may be strings; status 0: no response"
for flags in DC DR UT,DC; do
	one envoy-access "$(access ".response_flags = \"$flags\" | .response_code = 0 | .duration = \"401\"")"
	of_late envoy-access '[.hang_up_ns, .tags.failed]' '[401000000,null]' "$flags: the client disconnected"
done
one envoy-access "$(access '.response_flags = "DC" | .duration = null')"
of_late envoy-access '[.hang_up_ns, .tags.failed]' '[null,true]' "it is not known when: a failure"
one envoy-access "$(access '.response_flags = "UC,URX"')"
of_late envoy-access '[.hang_up_ns, .tags.failed]' '[null,true]' "the answer was cut"
one envoy-access "$(access '.token_latency_ttft = 20.5 | .duration = 401')"
of_late envoy-access '[.recorded_ttft_ns, .recorded_e2e_ns]' '[20500000,401000000]' "an AI gateway records both latencies"
one envoy-access "$(access '.token_latency_ttft = 0 | .duration = 401 | .response_flags = "DC"')"
of_late envoy-access '[.recorded_ttft_ns, .recorded_e2e_ns]' '[null,null]' "a client that left has no latencies"
one envoy-access "$(access '.response_flags = "DI,RFCF"')"
of_late envoy-access '.tags.failed' null "a delay or a cache is no failure"

# ---- records of any kind without a session ----
printf '%s\n' '{"p":"a","s":null,"at":0}' '{"p":"b","s":"x","at":1}' '{"p":"c","s":"","at":2}' '{"p":"d","s":"x","at":3}' >sessions.jsonl
run "$prep" jsonl sessions.jsonl --field prompt=p --field session=s --field at=at -q -o out.trace
status_is 0 "jsonl: a session that is null or empty"
is "$(body out.trace | jq -s -c 'map(.session) | sort')" '[null,null,"x","x"]' "jsonl: is no session"
printf 'p;s\na;\nb;x\nc;x\n' >sessions.csv
run "$prep" csv sessions.csv --field prompt=p --field session=s -q -o out.trace
is "$(body out.trace | jq -s -c 'map(.session) | sort')" '[null,"x","x"]' "csv: an empty column is no session"
printf '%s\n' '{"p":"a","s":null}' '{"p":"b"}' >sessions.jsonl
run "$prep" jsonl sessions.jsonl --field prompt=p --field session=s -o out.trace
status_is 3 "jsonl: a record without the member is refused"
contains "$(head -1 "$ERR")" "sessions.jsonl:2: s: missing" "jsonl: since the pointer may be wrong"
run "$prep" jsonl sessions.jsonl --field prompt=p --field session=t --field session=s -o out.trace
contains "$(head -1 "$ERR")" "sessions.jsonl:2: t: missing (also as s)" "jsonl: one pointer of two may lead to null"

# ---- lines of text-generation-inference ----
sed -n '3p;4p' "$data/tgi.log" >good.jsonl
tgi() { # JQ: the first line, changed
	head -1 good.jsonl | jq -c ".timestamp = \"2026-01-31T00:00:00Z\" | $1"
}
lengths=(--input-tokens 4)
refused tgi-log '[]' 'record: expected an object'
refused tgi-log "$(tgi '.timestamp = "now"')" 'timestamp: expected a number or a time'
refused tgi-log "$(tgi '.span.total_time = 1.5')" 'total_time: expected a string'
refused tgi-log "$(tgi '.span.parameters = {}')" 'parameters: expected a string'
refused tgi-log "$(tgi 'del(.span.inference_time)')" 'inference_time: missing'
for wrong in "" s 5 -1s 1.5.5s 1e9s 1m 1us "1 s" 999999999s 99999999999999999999s; do
	refused tgi-log "$(tgi ".span.time_per_token = \"$wrong\"")" 'time_per_token: expected a duration of at most a year'
done
left_out tgi-log "$(tgi '.message = 5')" "not the end of a request"
left_out tgi-log "$(tgi '.span = "generate"')" "not the end of a request"
left_out tgi-log "$(tgi 'del(.span.total_time)')" "not the end of a request"
one tgi-log "$(tgi '.span.inference_time = "2.5ms" | .span.time_per_token = "500µs"')"
of_late tgi-log '.output_tokens' 5 "milliseconds by microseconds"
one tgi-log "$(tgi '.span.time_per_token = "0ns"')"
of_late tgi-log '.output_tokens' 128 "no time by token: the length is not known"
one tgi-log "$(tgi '.span.parameters = "adapter_id: Some(\"a"')"
of_late tgi-log '.model' null "an adapter that is cut"
one tgi-log "$(tgi 'del(.span.parameters)')"
of_late tgi-log '.model' null "no parameters"
