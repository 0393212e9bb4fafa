#!/bin/bash
# A real inference engine: llama.cpp's server, with a model of random weights. What we count has to be what it counts, and the times that we
# see have to fit those that it took. IPF_LLAMA_SERVER=…/llama-server says where it is.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

[ -x "${IPF_LLAMA_SERVER:-}" ] || skip_all "no engine (IPF_LLAMA_SERVER names llama.cpp's server)"
python3 "$TESTS/random_model.py" "$TESTS/data/tokenizer/gpt2.json" >model.gguf || exit 1

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
port=$(free_port)
URL=http://127.0.0.1:$port
"$IPF_LLAMA_SERVER" -m model.gguf --host 127.0.0.1 --port "$port" -np 4 -c 8192 -t 1 --metrics --no-webui --no-warmup >server.log 2>&1 &
stop_at_exit $!

ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens 24 -o chat.trace
ipf-sched constant:rate=20,n=24 -t chat.trace -o chat.sched

counter() { curl -s "$URL/metrics" | awk -v name="llamacpp:$1" '$1 == name { printf "%d", $2 }'; }
counts() { [ "$(counter tokens_predicted_total)" -ge "$1" ]; }

for api in openai-chat openai-completions llama-cpp anthropic-messages openai-responses; do
	for form in streamed whole; do
		more=()
		[ $form = streamed ] || more+=(--no-stream)
		[ $api != llama-cpp ] || more+=(--exact-output)
		made=$(counter tokens_predicted_total) read=$(counter prompt_tokens_total)
		name=$api-$form
		# the engine closes the connection after each stream, whatever it says
		run ipf-fire --connections fresh --wait-ready 60s -u "$URL" -m random --api $api "${more[@]}" --param cache_prompt=false -t chat.trace chat.sched -o $name.records
		status_is 0 "$api, $form: a run"
		ipf-collect --text $name.records -o $name.results
		body $name.results | jq -c 'select(.n != null)' >$name.rows
		is "$(jq -s 'map(select(.ok)) | length' $name.rows)" 24 "$api, $form: every request is answered"
		ours=$(jq -s 'map(.output_tokens // 0) | add' $name.rows)
		wait_for 5 counts "$((made + ours))"
		is "$ours" "$(($(counter tokens_predicted_total) - made))" "$api, $form: as many output tokens as the engine counts"
		what="$api, $form: as many of the prompts, but for those in its cache"
		# some of its answers begin without the event that has this count
		if [ "$(jq -s 'all(.input_tokens_usage)' $name.rows)" = true ]; then
			is "$(jq -s 'map(.input_tokens - (.cached_tokens // 0)) | add' $name.rows)" "$(($(counter prompt_tokens_total) - read))" "$what"
		else
			skip "$what" "the engine did not tell them"
		fi
	done
done

# The length that was asked for, to the token.
is "$(jq -s -c 'map(.output_tokens == .asked_output_tokens) | unique' llama-cpp-streamed.rows)" "[true]" "exact lengths are exact"

# One long answer at a time: what the engine says that decoding took is what we see from the first event to the last.
ipf-prep sharegpt "$ROOT/examples/chat.json" -n 5 --output-tokens 1000 -o long.trace
ipf-sched closed:users=1,n=5 -t long.trace -o long.sched
ipf-fire -q --connections fresh -u "$URL" -m random --api llama-cpp --exact-output -t long.trace long.sched |
	ipf-collect -o long.results
body long.results |
	jq -s '[.[] | select(.n != null) | (.e2e_ns - .ttft_ns) / .server_decode_ns] | sort | .[length / 2 | floor]' >ratio
# within two in a hundred where nobody else is at work
between "$(cat ratio)" 0.95 1.05 "the engine's times are ours ($(cat ratio))"
