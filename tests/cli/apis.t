#!/bin/bash
# One trace and one schedule against every kind of server built in: requests arrive, and answers are understood, streamed and
# whole. The simulated server speaks them all, each under its name.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

server_start --step-base 8ms --step-per-seq 0 --log server.log
for i in 1 2 3 4; do
	printf '{"id":"r%d","prompt":"Nr. %d: \\"say\\"\\n\\u00e9 %s","input_tokens":%d,"output_tokens":%d}\n' $i $i "$(printf '%0*d' $((4 * i)) 0)" \
		$((4 + i)) $((5 + i))
done >lines
trace_of lines >four.trace
ipf-sched -q constant:rate=200,n=4 -t four.trace -o four.sched
while read -r line; do jq -j .prompt <<<"$line" | sha256sum | cut -d' ' -f1; done <lines |
	jq -Rsc 'split("\n")[:-1]' >prompts

# The whole comparison with the server's own account of it, in one go: a line of TAP for each check.
cat >checks.jq <<'END'
def holds($text; filter; $want): [.[] | filter] | unique as $got
	| if $got == [$want] then "ok - \($what): \($text)" else "not ok - \($what): \($text)\n#   got:      \($got)\n#   expected: \($want), four times" end;
def text_checks:
	holds("the text is what the server sent"; .row.text == .server.text and (.row.text | length > 0); true),
	holds("as many tokens"; [.row.output_tokens == .row.asked_output_tokens, .server.max_tokens == .row.asked_output_tokens, .row.tokens_source]; [true, true, $source]),
	holds("and events"; .row.events == (if $streamed then .row.output_tokens else 1 end); true),
	holds("by every count"; [.row.output_tokens_tokenizer == .row.output_tokens, .row.input_tokens_usage == .server.prompt_tokens]; [true, $input]);

($header[0].t0_clock_ns) as $t0
| [inputs | select(.n != null)] | sort_by(.n) | map(. as $row | ($log | map(select(.id == $row.id))[0]) as $server
	| {row: $row, server: $server, prompt: $prompts[0][$row.n],
	   late_ms: (($t0 + $row.start_ns + ($row.ttft_ns // $row.e2e_ns) - $server.first_token_ns) / 1e6)})
| holds("four requests"; (.row.n | . >= 0 and . < 4); true),
  holds("all are answered as asked"; [.row.ok, .server.status, .server.stream]; [true, 200, $streamed]),
  holds("the prompt arrives"; .prompt == .server.prompt_sha256; true),
  if $tokens then text_checks else holds("a vector has no tokens"; [.row.output_tokens, .row.input_tokens_usage == .server.prompt_tokens, .row.events]; [null, true, 1]) end,
  holds("finish reason"; [.row.finish, .row.finish_server]; $finish),
  holds("streamed or not"; [.row.ttft_ns == null, .row.not_streamed != null]; (if $streamed then [false, false] else [true, true] end)),
  holds("no first token comes before the server sent it"; .late_ms >= -0.2; true)
END

# The server logs a request after it has sent the end of its answer.
logged() { [ "$(wc -l <server.log)" -ge "$1" ]; }

# Runs against one API, with further arguments for ipf-fire.
understood() { # API MODE SOURCE INPUT FINISH ARGUMENTS…
	local base=$URL/$1
	case $1 in openai-chat | openai-completions) base=$URL ;; esac
	: >server.log
	if ! ipf-fire -q -u "$base" -m m/1 --api "$1" -H 'X-Request-Id: $id' -t four.trace four.sched "${@:6}" -o records ||
		! ipf-collect -q -t approx --text records -o results; then
		not_ok "$1, $2: a run"
		return
	fi
	wait_for logged 4
	jq -n -r --slurpfile prompts prompts --slurpfile log server.log --slurpfile header <(head -1 records) --arg what "$1, $2" --arg source "$3" \
		--argjson input "$4" --argjson finish "$5" --argjson streamed "$([ "$2" = streamed ] && echo true ||
		echo false)" \
		--argjson tokens "$([ "$1" = openai-embeddings ] && echo false || echo true)" -f checks.jq results >checked ||
		echo "not ok - $1, $2: checks" >>checked
	cat checked
	! grep -q '^not ok' checked || tap_failed=1
}

while read -r api modes source input finish; do
	for mode in ${modes/,/ }; do
		# no stream is asked for where there is none
		case $modes,$mode in streamed,whole,whole) also=--no-stream ;; *) also= ;; esac
		understood "$api" "$mode" "$source" "$input" "$finish" $also
	done
	echo "$api" >>tested
done <<'END'
openai-chat        streamed,whole usage     true  ["length",null]
openai-completions streamed,whole usage     true  ["length",null]
openai-responses   streamed,whole usage     true  ["length","max_output_tokens"]
openai-embeddings  whole          usage     true  [null,null]
anthropic-messages streamed,whole usage     true  ["length","max_tokens"]
vllm-generate      streamed,whole tokenizer false [null,null]
tgi                streamed,whole usage     true  ["length",null]
triton-generate    streamed,whole tokenizer false [null,null]
triton-vllm        streamed,whole tokenizer false [null,null]
kserve-http        whole          tokenizer false [null,null]
sglang             streamed,whole usage     true  ["length",null]
llama-cpp          streamed,whole usage     true  ["length","limit"]
ollama             streamed,whole usage     true  ["length",null]
ollama-chat        streamed,whole usage     true  ["length",null]
jetstream-http     streamed       tokenizer false [null,null]
jetstream-gke      streamed,whole tokenizer false [null,null]
sax                whole          tokenizer false ["length",null]
sax-gke            whole          tokenizer false [null,null]
naive-transformers whole          tokenizer false [null,null]
caikit-http        streamed,whole usage     true  ["length","MAX_TOKENS"]
deepspeed-mii      streamed,whole tokenizer false [null,null]
nim                streamed,whole usage     true  ["length",null]
gemini             streamed,whole usage     true  ["length","MAX_TOKENS"]
END
is "$(ipf-fire --list-apis | cut -d' ' -f1 | grep -vE 'grpc|bedrock|groq|vllm-tokens|sagemaker|vertex|^twin$|cohere|rerank|ranking|score|^tei-|transcr|translat|speech' | sort)" "$(sort tested)" \
	"every built-in API was tried here or in a test of its own"
