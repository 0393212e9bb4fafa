#!/bin/bash
# Numbers of tokens that cannot be (above 2^40, near 2^63) are refused with their line, by every program reading them; the largest that
# can be go through all of them.
. "$TESTS/tap.sh"

export XDG_CACHE_HOME=$PWD/cache PATH=$BIN:$PATH
most=1099511627776 above=1099511627777 huge=9223372036854775807 beyond=9223372036854775808

# ---- ipf-prep ----
bad() { # SOURCE PART FORMAT (of printf, with a %s): a record with a length that cannot be
	local source=$1 part=$2 number
	for number in $above $huge $beyond 1e30; do
		# shellcheck disable=SC2059 # it is a format
		printf "$3" "$number" >data
		run ipf-prep "$source" data -o out.trace
		status_is 3 "$source, $number: status 3"
		contains "$(head -1 "$ERR")" "data:$part" "$source, $number: says where"
		contains "$(head -1 "$ERR")" "${number:0:12}" "$source, $number: the message has the number"
		is "$(body out.trace | jq -c 'select(.input_tokens > 1e12 or .output_tokens > 1e12)')" "" "$source, $number: it is not in the trace"
	done
}
bad jsonl "2: output_tokens: expected a number of tokens from 0 to 2^40, got" '{"prompt":"a"}\n{"prompt":"b","output_tokens":%s}\n'
bad csv "2: " 'prompt,output_tokens\nb,%s\n'
bad azure "2: GeneratedTokens" 'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,4,%s\n'
bad burstgpt "2: Request tokens" 'Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,%s,1,2,API log\n'
bad vidur "2: num_prefill_tokens" 'num_prefill_tokens,num_decode_tokens\n%s,2\n'
bad mooncake "1: output_length" '{"timestamp":0,"input_length":12,"output_length":%s,"hash_ids":[1]}\n'
bad qwen-bailian "1: output_length" '{"chat_id":1,"parent_chat_id":-1,"timestamp":0,"input_length":12,"output_length":%s,"type":"text","turn":1,"hash_ids":[1]}\n'
bad aibrix "1: Output Length" '{"timestamp":0,"requests":[{"Prompt Length":3,"Output Length":%s}]}\n'
bad llmservingsim "1: output_toks" '{"arrival_time_ns":0,"input_toks":3,"output_toks":%s}\n'
bad weka "1: out" '{"id":"c","models":["m"],"block_size":4,"hash_id_scope":"local","requests":[{"t":0,"type":"n","model":"m","in":8,"out":%s,"hash_ids":[1,2]}]}\n'
bad tracelab "2: " 'session_id,prefix_len,input_len,output_len,tool_wait_after_ms,arrival_time\na,0,5,%s,0,0\n'
bad openai-batch "1: max_tokens" '{"custom_id":"a","method":"POST","url":"/v1/completions","body":{"model":"m","prompt":"Hi","max_tokens":%s}}\n'
bad openai-log "1: completion_tokens" '{"timestamp":0,"request":{"messages":[{"role":"user","content":"Hi"}]},"response":{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":1,"completion_tokens":%s}}}\n'
bad litellm-log "1: prompt_tokens" '{"call_type":"completion","startTime":0,"messages":[{"role":"user","content":"Hi"}],"prompt_tokens":%s}\n'
bad sglang-log "1: max_new_tokens" '{"event": "request.received", "rid": "a", "obj": {"rid": "a", "return_logprob": false, "text": "Hi", "sampling_params": {"max_new_tokens": %s}}}\n'
bad sagemaker-capture "1: max_new_tokens" '{"captureData":{"endpointInput":{"data":"{\\"inputs\\":\\"Hi\\",\\"parameters\\":{\\"max_new_tokens\\":%s}}","encoding":"JSON"}},"eventMetadata":{"inferenceTime":"2026-04-29T00:03:18Z"}}\n'
bad trace "2: output_tokens" '{"ipf":"trace","version":1,"prompts":"none"}\n{"id":"a","input_tokens":1,"output_tokens":%s}\n{"end":{"lines":1}}\n'
bad dynamo-trace "1: input_tokens" '{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":9,"request":{"request_received_ms":1,"output_tokens":1,"input_tokens":%s}}\n'
bad envoy-access "1: input_tokens" '{"start_time":"2026-11-26T08:51:39.546Z","input_tokens":%s,"output_tokens":1}\n'
bad mlperf-samples "1: tok_ref_output_len" '{"text_input":"a","tok_input_len":1,"ref_output":"b","tok_ref_output_len":%s}\n'
bad sharegpt "1: output_length" '{"input":"a","output_length":%s}\n'

printf '{"prompt":"b","output_tokens":%s}\n' $most $most $most >data
run ipf-prep jsonl data -v -o most.trace
status_is 0 "the largest number that can be"
contains "$(cat "$ERR")" "3298534883328 out" "the sum of the largest numbers is reported"
is "$(ipf-prep stat -f json most.trace | jq .output_tokens.max)" $most "ipf-prep stat has it"
printf '{"conversations":[{"from":"human","value":"a"},{"from":"gpt","value":"b"}]}\n' >s.jsonl
for tokens in 1073741825 $huge; do
	run ipf-prep sharegpt s.jsonl --template-tokens 1,$tokens
	status_is 2 "--template-tokens 1,$tokens: status 2"
done

# ---- the streams ----
trace() { # MEMBERS OF A REQUEST
	printf '{"ipf":"trace","version":1,"tool":"test"}\n{"id":"1","prompt":"a",%s}\n{"end":{"lines":1}}\n' "$1" >bad.trace
}
refuses() { # PART COMMAND…
	local part=$1
	shift
	run "$@"
	status_is 3 "$1 $2: status 3"
	complains "$1" "$part" "$1: says where and what"
}
for number in $above $huge; do
	for member in input_tokens output_tokens; do
		trace "\"$member\":$number"
		refuses "bad.trace:2: $member: expected a number of tokens from 0 to 2^40, got $number" ipf-prep stat bad.trace
		refuses "bad.trace:2: $member" ipf-sched constant:rate=1,n=1 -t bad.trace
	done
	for tokens in "$number" "[$number]" "[-1]"; do
		trace "\"input_tokens\":5,\"blocks\":{\"ids\":[1],\"tokens\":$tokens}"
		refuses "bad.trace:2: blocks.tokens: expected" ipf-prep stat bad.trace
	done
done
printf '{"ipf":"trace","version":1,"prompts":"none"}\n{"id":"1","output_tokens":1}\n{"end":{"lines":1}}\n' >bad.trace
none="bad.trace:2: input_tokens: expected the length of a prompt that is not in the trace, got none"
for command in stat anonymize fit; do
	refuses "$none" ipf-prep "$command" bad.trace -o out
done
refuses "$none" ipf-sched constant:rate=1,n=1 -t bad.trace
server_start
ipf-prep jsonl <(printf '{"prompt":"a","output_tokens":3}\n') -o good.trace
ipf-sched -q constant:rate=100,n=1 -t good.trace -o good.sched
ipf-fire -q -u "$URL" -t good.trace good.sched -o good.records
ipf-collect -q good.records -o good.results
for number in $above $huge; do
	plain good.records | sed "s/\"asked_output_tokens\":3/\"asked_output_tokens\":$number/; \$d" >bad.records
	run ipf-collect bad.records -o /dev/null
	contains "$(cat "$ERR")" "asked_output_tokens: expected a number of tokens from 0 to 2^40, got $number" "ipf-collect, $number: the line is refused"
	status_is 3 "ipf-collect, $number: status 3"
	plain good.results | sed "s/\"output_tokens\":3/\"output_tokens\":$number/; \$d" >bad.results
	run ipf-report bad.results
	contains "$(cat "$ERR")" "output_tokens: " "ipf-report, $number: the line is refused"
	status_is 3 "ipf-report, $number: status 3"
done
server_stop

# ---- compressed data ending early: the missing part is reported ----
for i in $(seq 300); do printf 'Question %d?\n' "$i"; done >text
for how in gzip xz bzip2 zstd; do
	command -v $how >/dev/null || { skip "$how that is cut" "no $how"; continue; }
	$how -c <text >whole
	size=$(wc -c <whole)
	wrong=0
	for cut in $((size - 1)) $((size - 2)) $((size - 4)) $((size - 7)) $((size - 8)) $((size - 9)) $((size - 20)) $((size / 2)) 30; do
		head -c "$cut" whole >data
		run ipf-prep text data -o out.trace
		[ "$status" = 3 ] && [ "$(wc -l <"$ERR")" = 1 ] && ! grep -q -i 'null\|no progress' "$ERR" || wrong=$((wrong + 1))
	done
	is $wrong 0 "$how, cut at nine places: status 3 and a reason"
done
