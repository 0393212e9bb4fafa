#!/bin/bash
# llama.cpp's server (of PyPI's xllamacpp, which has it as a library), with a small model of random weights: our counts have to be its
# counts, in each of its APIs, and the times we see have to fit its own.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/servers/servers.sh"

llama_start
export KEY=secret
# It closes the connection after a stream, whatever it says: a request following at once is lost. Some of its sums depend on which requests
# are in one batch.
export CONNECTIONS=fresh
SAME_TEXT=no TOKENIZER=model/tokenizer.json WINDOW=2048 WRONG_MODEL=accepted matrix "$SERVED" tiny

# ---- each of its APIs, by its counters -------------------------------------------------------------------------------
counter() { curl -s -H "Authorization: Bearer $KEY" "$URL/metrics" | awk -v name="llamacpp:$1" '$1 == name { printf "%d", $2 }'; }
counts_tokens() { [ "$(counter tokens_predicted_total)" -ge "$1" ]; }

for API in openai-chat openai-completions llama-cpp anthropic-messages openai-responses; do
	for form in streamed whole; do
		more=(--param cache_prompt=false)
		[ $form = streamed ] || more+=(--no-stream)
		[ $API != llama-cpp ] || more+=(--exact-output)
		made=$(counter tokens_predicted_total) read=$(counter prompt_tokens_total)
		fired "$API-$form" "constant:rate=20,n=20" "${more[@]}"
		is "$(counts "$API-$form")" "[20,0]" "$API, $form: every request is answered"
		rows "$API-$form.results" >"$API-$form.rows"
		ours=$(jq -s 'map(.output_tokens // 0) | add' "$API-$form.rows")
		wait_for counts_tokens "$((made + ours))"
		is "$ours" "$(($(counter tokens_predicted_total) - made))" "$API, $form: as many output tokens as the server counts"
		is "$(jq -s 'map(.input_tokens - (.cached_tokens // 0)) | add' "$API-$form.rows")" "$(($(counter prompt_tokens_total) - read))" \
			"$API, $form: as many of the prompts, but for those in its cache"
	done
done
is "$(jq -s -c 'map(.output_tokens == .asked_output_tokens) | unique' llama-cpp-streamed.rows)" "[true]" "exact lengths are exact"

# One long answer at a time: the server's own times of reading and writing are the ones we see.
API=llama-cpp
ipf-prep synthetic -n 5 --input-tokens 40 --output-tokens 1000 -q -o long-answers.trace
TRACE=long-answers.trace fired long-answers "closed:users=1,n=5" --exact-output
median() { rows long-answers.results | jq -s "[.[] | $1] | sort | .[length / 2 | floor]"; }
ratio=$(median '(.e2e_ns - .ttft_ns) / .server_decode_ns')
between "$ratio" 0.95 1.05 "the server's times of decoding are ours ($ratio)"
http=$(median '(.ttft_ns - .server_prefill_ns) / 1e6')
between "$http" 0 5 "our TTFT has its time of the prompt, and some of HTTP and of the first token ($http ms)"
