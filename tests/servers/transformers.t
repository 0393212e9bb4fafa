#!/bin/bash
# Hugging Face's `transformers serve` on the CPU, with a small model of random weights: chat, completions and Responses.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/servers/servers.sh"

venv_vllm
"$vllm/bin/python" "$TESTS/servers/tiny_model.py" model || exit 1
export HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1
serve /health "$vllm/bin/transformers" serve "$PWD/model" --device cpu --dtype float32 --host 127.0.0.1 --port PORT
echo "# transformers $(version_of vllm/v transformers)"
TOKENIZER=model/tokenizer.json NEAR_MS=60 matrix "$SERVED" "$PWD/model"
also openai-completions openai-responses
