#!/usr/bin/env bash
# The simulated server as curl sees it: endpoints, HTTP, errors, its log, and how it begins and ends.
. "$TESTS/tap.sh"

post() { # PATH BODY [CURL OPTIONS…]: the body in $OUT, the status in $code
	local path=$1 body=$2
	shift 2
	code=$(curl -sS -m 120 -o "$OUT" -w '%{http_code}' "$@" -d "$body" "$URL$path" 2>"$ERR")
}
events() { sed -n 's/^data: //p' "$OUT" | grep -v '^\[DONE\]$'; }
text() { events | jq -j '.choices[0] | (.delta.content? // .text? // "")'; }

server_start --log log.ndjson --step-base 1ms -v
chat='{"messages":[{"role":"user","content":"hello world"}],"max_tokens":7'

# ---- answers ----
post /v1/chat/completions "$chat"',"stream":true,"stream_options":{"include_usage":true}}' -N -H 'X-Request-Id: first'
is "$code" 200 "a streamed chat is answered"
is "$(text | wc -c | tr -d ' ')" 28 "seven tokens are 28 bytes"
text >first.text
is "$(events | jq -s -c 'map(select((.choices[0].delta.content // "") != "")) | length')" 7 "a streamed chat of seven tokens has seven events"
is "$(events | tail -1 |
	jq -c '[.choices, .usage.prompt_tokens, .usage.completion_tokens]')" '[[],3,7]' "usage comes last, in a chunk without choices"
is "$(events | jq -r '.choices[0].finish_reason // empty')" length "a streamed chat finishes with length"
is "$(grep -c '^data: \[DONE\]$' "$OUT")" 1 "a streamed chat ends with [DONE]"

post /v1/chat/completions "$chat}"
is "$(jq -c '[.object, .choices[0].message.role, .usage.completion_tokens, (.choices[0].message.content | length)]' "$OUT")" \
	'["chat.completion","assistant",7,28]' "a whole chat says the same"
is "$(jq -j '.choices[0].message.content' "$OUT")" "$(cat first.text)" "a whole chat has the same words"
post /v1/completions '{"prompt":[1,2,3,4,5],"max_tokens":3}'
is "$(jq -c '[.object, .usage.prompt_tokens, (.choices[0].text | length)]' "$OUT")" '["text_completion",5,12]' "token ids are counted"
post /v1/completions '{"prompt":"hello","stream":true,"max_tokens":3}' -N
is "$(text | wc -c | tr -d ' ')" 12 "a streamed completion"
is "$(events | jq -s 'map(has("usage")) | any')" false "usage is not sent unless asked for"
printf '{"prompt":"%s","max_tokens":2}' "$(head -c 300000 /dev/zero | tr '\0' x)" >big.json
post /v1/completions @big.json -H 'Transfer-Encoding: chunked'
is "$(jq .usage.prompt_tokens "$OUT")" 75000 "a large body in chunks"
post /v1/completions @big.json -H 'Expect: 100-continue'
is "$code $(jq .usage.prompt_tokens_details.cached_tokens "$OUT")" "200 74992" "a body after 100 Continue is found in the prefix cache"
post /v1/completions '{"prompt":"hello","stream":true,"max_tokens":3}' -N --http1.0
is "$code $(text | wc -c | tr -d ' ')" "200 12" "HTTP/1.0 gets it without chunks"
post /tokenize '{"prompt":"hello"}'
is "$(jq .count "$OUT")" 2 "five bytes are two tokens"
is "$(curl -s "$URL/v1/models" | jq -c '.data | map([.id, .root, .parent, .max_model_len])')" '[["sim","sim",null,131072]]' "the model has a name"

# ---- tokens, as vLLM's client asks for them ----
is "$(jq -c '[.max_model_len, (.tokens | length), .token_strs]' "$OUT")" '[131072,2,null]' "the tokens are listed"
while read -r body strs; do
	post /tokenize "$body"
	is "$code $(jq '.count == (.tokens | length)' "$OUT")" "200 true" "count is the number of tokens: $body"
	is "$(jq -c '[.token_strs] | flatten(1)' "$OUT")" "$strs" "/tokenize gives the texts of the tokens"
	jq -c '{tokens}' "$OUT" >tokens.json
	post /detokenize @tokens.json
	is "$code $(jq -c '[keys, .prompt]' "$OUT")" "200 [[\"prompt\"],$(jq -c '.prompt // ([.messages[].content] | add)' <<<"$body")]" "/detokenize gives the text again"
done <<-'END'
	{"prompt":"hello\u0020world","return_token_strs":true} ["hell","o wo","rld"]
	{"prompt":"hello","model":"any","add_special_tokens":false,"return_token_strs":false} [null]
	{"prompt":"","return_token_strs":true} []
	{"prompt":"a\u0000\u0000","return_token_strs":true} ["a\u0000\u0000"]
	{"prompt":"\u0000\u0000\u0000\u0000","return_token_strs":true} ["\u0000\u0000\u0000\u0000"]
	{"prompt":"\ud83d\ude00\u00e9\u6f22","return_token_strs":null} [null]
	{"prompt":"na\u00efve","return_token_strs":true} ["naï","ve"]
	{"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"yes"}],"add_generation_prompt":true,"return_token_strs":true} ["hell","o","yes"]
END
post /tokenize '{"prompt":"xxx漢","return_token_strs":true}'
is "$(jq -c '[.count, (.token_strs | length), (.token_strs | add | contains("\ufffd"))]' "$OUT")" '[2,2,true]' "a character that is cut is replaced in its texts"
jq -c '{prompt: .tokens, max_tokens: 1}' "$OUT" >ids.json
post /v1/completions @ids.json
is "$code $(jq .usage.prompt_tokens "$OUT")" "200 2" "the ids are accepted as a prompt"
is "$(curl -s -o /dev/null -w '%{http_code}' "$URL/health?x=1")" 200 "/health is 200"

# ---- errors ----
while read -r expected path body; do
	post "$path" "$body"
	is "$code $(jq -r .error.code "$OUT")" "$expected $expected" "$expected for $path $body"
done <<-'END'
	400 /v1/chat/completions {"messages":
	400 /v1/chat/completions {}
	400 /v1/completions {"prompt":"x","max_tokens":"many"}
	400 /v1/completions {"prompt":"x","max_tokens":200000}
	400 /v1/completions {"prompt":"x","sim":"cot"}
	400 /tokenize {}
	400 /tokenize []
	400 /tokenize {"prompt":7}
	400 /tokenize {"prompt":["a","b"]}
	400 /tokenize {"messages":[]}
	400 /tokenize {"prompt":"x","return_token_strs":"yes"}
	400 /detokenize {}
	400 /detokenize {"tokens":"x"}
	400 /detokenize {"tokens":[-1]}
	400 /detokenize {"tokens":[1.5]}
	400 /detokenize {"tokens":[4294967296]}
	405 /v1/models {}
	404 /v2 {}
	405 /health {}
END
post /v1/completions '{"prompt":"x","max_tokens":200000}'
contains "$(jq -r .error.message "$OUT")" "maximum context length is 131072" "a request that is too long gets the reason"

# ---- connections ----
exec 3<>"/dev/tcp/127.0.0.1/${URL##*:}"
printf 'GET /health HTTP/1.1\r\nHost: a\r\n\r\nGET /nix HTTP/1.1\r\nHost: a\r\n\r\nGET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n' >&3
is "$(grep -ao 'HTTP/1.1 [0-9]*' <&3 | cut -d' ' -f2 |
	tr '\n' ' ')" "200 404 200 " "requests in a row on one connection are answered in turn"
exec 3<&-
exec 3<>"/dev/tcp/127.0.0.1/${URL##*:}"
printf 'what is this\r\n\r\n' >&3
contains "$(cat <&3)" "HTTP/1.1 400 " "a line that is not HTTP gets 400, and the connection ends"
exec 3<&-
curl -sS -o /dev/null -o /dev/null -w '%{num_connects}\n' "$URL/health" "$URL/v1/models" >connects
is "$(tr '\n' ' ' <connects)" "1 0 " "a connection is kept"
curl -sN -o /dev/null "$URL/v1/completions" -H 'X-Request-Id: gone' -d '{"prompt":"x","max_tokens":100000,"stream":true}' &
gone=$!
stop_at_exit $gone
begun() { [ "$(curl -s "$URL/metrics" | sed -n 's/^vllm:time_to_first_token_seconds_count{.*} //p')" = 9 ]; }
yes_if "a long answer begins" wait_for begun
kill $gone
wait $gone 2>/dev/null
left() { grep '"id":"gone"' log.ndjson | jq -e .cancelled && [ "$(curl -s "$URL/metrics" |
	sed -n 's/^vllm:num_requests_running{.*} //p')" = 0 ]; }
yes_if "a client that hangs up is taken off the engine" wait_for left

# ---- the log and the metrics ----
line=$(grep '"id":"first"' log.ndjson)
is "$(jq -c '[.status,.stream,.prompt_tokens,.output_tokens,.max_tokens,.finish,.path]' <<<"$line")" \
	'[200,true,3,7,7,"length","/v1/chat/completions"]' "a request's line says what came of it"
is "$(jq -r .prompt_sha256 <<<"$line")" "$(printf 'hello world' | sha256sum | cut -d' ' -f1)" "the log has the prompt's digest"
is "$(jq '.arrival_ns <= .head_ns and .head_ns < .first_token_ns and .first_token_ns < .last_token_ns and .last_token_ns <= .end_ns' <<<"$line")" \
	true "the log has its times in order"
at_least "$(jq '(.last_token_ns - .arrival_ns) / 1e6' <<<"$line")" 7.1 "seven tokens take seven steps of 1.02 ms, never early"
curl -s "$URL/metrics" >metrics
is "$(sed -n 's/^vllm:request_success_total{.*finished_reason="length".*} //p' metrics)" 8 "eight requests came to their end"
is "$(sed -n 's/^vllm:time_to_first_token_seconds_count{.*} //p' metrics)" 9 "nine had a first token"
is "$(sed -n 's/^vllm:prefix_cache_hits_total{.*} //p' metrics)" 74992 "the prefix cache's hits"
is "$(grep -c '^# TYPE vllm:.* histogram$' metrics)" 14 "metrics have fourteen histograms"
is "$(sed -n 's/^vllm:e2e_request_latency_seconds_bucket{.*le="+Inf"} //p' metrics)" \
	"$(sed -n 's/^vllm:e2e_request_latency_seconds_count{.*} //p' metrics)" "the last bucket holds every request"
is "$(grep -vcE '^(# (HELP|TYPE) .*|(vllm:[a-z0-9_]+\{[^}]*\}|ipf_sim_scrapes_total) [0-9.e+-]+)$' metrics)" 0 "every line is one of Prometheus'"

# ---- the end ----
kill -TERM "$SERVER"
wait "$SERVER"
is $? 0 "SIGTERM ends it with 0"
matches "$(cat "$SERVER_ERR")" "^ipf-sim: .* requests \(" "-v says what was served"
is "$(jq -s 'length == (map(.n) | unique | length)' log.ndjson)" true "the log has a line for each request"

# ---- options ----
server_start --model m --api-key secret --max-model-len 100 --template-tokens 5 --default-tokens 4
key='Authorization: Bearer secret'
post /v1/completions '{"model":"m","prompt":"x"}'
is "$code" 401 "a request without the key gets 401"
post /v1/completions '{"model":"m","prompt":"x"}' -H "$key"
is "$code $(jq .usage.completion_tokens "$OUT")" "200 4" "the key, and the default length"
post /v1/completions '{"model":"other","prompt":"x"}' -H "$key"
is "$code" 404 "another model gets 404"
post /v1/completions '{"model":"m","prompt":"x","max_tokens":100}' -H "$key"
is "$code" 400 "longer than the context"
post /v1/chat/completions '{"model":"m","messages":[{"role":"system","content":"x"},{"role":"user","content":"x"}]}' -H "$key"
is "$(jq .usage.prompt_tokens "$OUT")" 12 "tokens of the template"
post /tokenize '{"model":"other","prompt":"x"}' -H "$key"
is "$code $(jq -r .error.message "$OUT")" '404 The model `other` does not exist.' "/tokenize of another model gets 404"
post /detokenize '{"model":"other","tokens":[]}' -H "$key"
is "$code" 404 "/detokenize of another model gets 404"
post /tokenize '{"messages":[{"role":"user","content":"x"}]}' -H "$key"
is "$code $(jq -c '[.count, (.tokens | length)]' "$OUT")" "200 [6,6]" "the template's tokens are among them"
jq -c '{tokens}' "$OUT" >tokens.json
post /detokenize @tokens.json -H "$key"
is "$(jq -c . "$OUT")" '{"prompt":"x"}' "tokens of the template have no text"
post /detokenize '{"tokens":[]}'
is "$code" 401 "/detokenize requires the key"
server_start -m base -m lora-a --model lora-b
is "$(curl -s "$URL/v1/models" | jq -c '.data | map(.id)')" '["base","lora-a","lora-b"]' "several models are listed"
for model in base lora-b lora-c; do
	post /v1/completions "{\"model\":\"$model\",\"prompt\":\"x\",\"max_tokens\":1}"
	is "$code $(jq -r '.model // empty' "$OUT")" "$([ $model = lora-c ] && echo "404 " || echo "200 $model")" "$model is served, or not"
done
server_start --loading 1h --eos-mean 5 --role-early
post /v1/completions '{"prompt":"x"}'
is "$code $(curl -s -o /dev/null -w '%{http_code}' "$URL/health")" "503 503" "a server that loads answers 503"

# ---- those who are slow ----
server_start --step-base 1ms --out-limit 64KiB -v
exec 3<>"/dev/tcp/127.0.0.1/${URL##*:}"
slow='{"prompt":"x","max_tokens":5000,"stream":true,"sim":"pad"}'
printf 'POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s' ${#slow} "$slow" >&3
dropped() { [ "$(curl -s "$URL/metrics" |
	sed -n 's/^vllm:request_success_total{.*finished_reason="abort".*} //p')" = 1 ]; }
yes_if "a reader that never reads is dropped" wait_for dropped
exec 3<&-
server_stop "$SERVER"
contains "$(cat "$SERVER_ERR")" " 1 readers too slow" "ipf-sim counts the reader that was too slow"
bash -c 'ulimit -n 24; exec "$0" --step-base 1ms --max-time 1h' "$BIN/ipf-sim" >few.out &
stop_at_exit $!
wait_for test -s few.out
URL=$(sed 's/.* on //' few.out)
codes=$(curl -s --parallel --parallel-immediate --parallel-max 60 -H 'Connection: close' -d '{"prompt":"x","max_tokens":50}' \
	-o /dev/null -w '%{http_code}\n' "$URL/v1/completions?[1-60]")
is "$(sort <<<"$codes" | uniq -c | tr -s ' ')" " 60 200" "more clients than descriptors wait their turn"

server_start
run "$BIN/ipf-sim" --port "${URL##*:}"
status_is 1 "a port that is taken"
complains ipf-sim "port ${URL##*:}: Address already in use" "ipf-sim names the port that is taken"
run "$BIN/ipf-sim" --max-time 10ms
status_is 0 "--max-time ends it"
is "$(sed 's/[0-9]*$//' "$OUT")" "listening on http://127.0.0.1:" "ipf-sim prints one line before it ends"
run sh -c '"$1" --max-time 5s >/dev/full' sh "$BIN/ipf-sim"
status_is 1 "a full disk under its line"
for wrong in "--port 70000" "--step-base 5" "--fail cot" "--fail cut:x=1" "--max-batch 0" "operand" "--prefill-rate 0" "--nix"; do
	# shellcheck disable=SC2086 # two words
	run "$BIN/ipf-sim" $wrong
	status_is 2 "$wrong is refused"
done
run "$BIN/ipf-sim" --log /nowhere/log
status_is 1 "a log that can't be opened"
# Its parent, a shell, ends at once; it has to follow.
sh -c '"$1" --die-with-parent --max-time 1h >orphan.out 2>&1 & echo $! >orphan.pid; while ! [ -s orphan.out ]; do sleep 0.01; done' sh "$BIN/ipf-sim"
stop_at_exit "$(cat orphan.pid)"
yes_if "--die-with-parent: it ends with its parent" wait_for sh -c "! kill -0 $(cat orphan.pid)"

# ---- its description ----
"$BIN/ipf-sim" --list-modes | cut -d' ' -f1 >modes
is "$(while read -r mode; do grep -qE "^\| .*\`$mode\`.* \|" "$TESTS/../ipf-sim/README.md" ||
	echo "$mode"; done <modes)" "" "ipf-sim/README.md has every mode"

# ---- ids in answers ----
server_start --step-base 1ms
for body in '{"prompt":[1,2,3],"max_tokens":3,"return_token_ids":true' '{"messages":[{"role":"user","content":"hello"}],"max_tokens":3,"return_token_ids":true'; do
	api=completions
	case $body in *messages*) api=chat/completions ;; esac
	post /v1/$api "$body}"
	jq -c '[.choices[0] | .token_ids, (.message.content? // .text)]' "$OUT" >whole
	prompt=$(jq -c '.prompt_token_ids // .choices[0].prompt_token_ids' "$OUT")
	is "$(jq -c '.[0] | length' whole) $(jq length <<<"$prompt") $(jq .usage.prompt_tokens "$OUT")" "3 $(jq .usage.prompt_tokens "$OUT") $(jq .usage.prompt_tokens "$OUT")" \
		"$api: as many ids as tokens"
	jq -c '{tokens: .[0]}' whole >tokens.json
	jq -r '.[1]' whole >whole.text
	post /detokenize @tokens.json
	is "$(jq -r .prompt "$OUT")" "$(cat whole.text)" "the ids are those of the text"
	post /v1/$api "$body,\"stream\":true}" -N
	is "$(events | jq -s -c 'map(.choices[0].token_ids // []) | add')" "$(jq -c '.[0]' whole)" "streamed, the same ones"
	is "$(events | jq -s -c 'map(.prompt_token_ids // .choices[0].prompt_token_ids // empty)')" "[$prompt]" "a streamed answer has the ids of the prompt once"
done
post /v1/completions '{"prompt":"hello","max_tokens":3}'
is "$(grep -c token_ids "$OUT")" 0 "ids are not sent unless asked for"
