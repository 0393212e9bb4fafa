#!/bin/bash
# The formats against published data, if a folder of it is beside the checkout.
. "$TESTS/tap.sh"
prep=$BIN/ipf-prep
[ -n "${SHARED:-}" ] && [ -d "$SHARED/data" ] || skip_all "no folder of sample data"
data=$SHARED/data

have() { # FILE: there, or the reason to skip
	[ -e "$data/$1" ] || { skip "$1" "not in this folder"; return 1; }
}

# ---- datasets: every record is one of those that are known, or known not to be ----
while read -r source file records requests turns; do
	have "datasets/$file" || continue
	run "$prep" "$source" "$data/datasets/$file" -v -o one.trace.zst
	status_is 0 "$file is read"
	is "$("$prep" auto "$data/datasets/$file" -n 1 | head -1 | jq -r .source)" "$source" "$file: auto knows it"
	contains "$(cat "$ERR")" "$records records read, $requests requests written" "$file: all of it"
	[ "$turns" != - ] || continue
	run "$prep" "$source" "$data/datasets/$file" --turns all -o all.trace.zst
	is "$(body all.trace.zst | wc -l)" "$turns" "$file: the number of turns"
	is "$(body all.trace.zst | jq -r .id | sort | uniq -d | wc -l)" 0 "$file: no id twice"
done <<'FILES'
sharegpt sharegpt/ShareGPT_V3.head3.json 3 3 8
sharegpt sharegpt/dummy_conversation.json 500 500 1000
sharegpt sharegpt/glaive_toolcall_en_demo.json 300 300 957
sharegpt sharegpt/sharegpt_zh.head300.jsonl 300 300 1511
sharegpt sharegpt/single_conversation.json 1 1 6
sharegpt sharegpt/lmbenchmark_warmup.json 55 55 -
alpaca alpaca/alpaca_en_demo.json 999 999 -
alpaca alpaca/code_alpaca_2k.json 2017 2015 -
alpaca alpaca/seed_tasks.jsonl 175 175 -
openorca openorca/openorca.head1.jsonl 1 1 -
openorca openorca/openorca_rows_page.json 1 1 -
llm-load-test llm_load_test/dataset.json 1 2 -
llm-load-test llm_load_test/python_code_alpaca_subset.jsonl.zst 1863 1862 -
llm-load-test llm_load_test/SISO_normal_granite-3.1-8b-instruct.jsonl.zst 4001 4000 -
quac quac/train_v0.2.sample.json 1 5 39
quac quac/val_v0.2.sample.json 1 5 41
quac quac/quac_sample.json 1 2 12
mtbench questions/mt_bench_question.jsonl 80 80 160
mtbench questions/vicuna_bench_question.jsonl 80 80 80
mtbench questions/spec_bench_question.jsonl 480 480 560
mtbench questions/cnn_dailymail_question.jsonl 80 80 80
mtbench questions/arena_hard_v0.1_question.jsonl 500 500 500
gsm8k questions/gsm8k_test.jsonl 1319 1319 -
humaneval questions/HumanEval.jsonl.gz 164 164 -
oasst oasst/en_100_tree.jsonl 100 100 903
oasst oasst/en_message.head20.jsonl 20 20 -
openai-batch openai_batch/vllm_openai_example_batch.jsonl 2 2 -
openai-batch openai_batch/production_stack_batch.jsonl 2 2 -
openai-batch openai_batch/aibrix_sample_job_input.jsonl 10 10 -
jsonl tools/bfcl_calib.head100.jsonl 100 100 -
jsonl tools/reason_tool_use_demo_50.jsonl 50 50 -
mlperf-samples mlperf_endpoints/ds_samples.jsonl 5 5 -
FILES

# ---- lengths recorded in tokens come through: mean, p50, p99 of prompts and answers ----
while read -r file lengths; do
	have "datasets/$file" || continue
	"$prep" auto "$data/datasets/$file" | "$prep" stat -f json >stat.json
	is "$(jq -r '[.input_tokens, .output_tokens | (.mean * 10 | round / 10), .p50, .p99] | join(" ")' stat.json)" "$lengths" \
		"$file: lengths"
done <<'FILES'
llm_load_test/python_code_alpaca_subset.jsonl.zst 180.9 129 1472 121.8 72 1239
llm_load_test/SISO_normal_granite-3.1-8b-instruct.jsonl.zst 126.9 127 204 127.5 127 201
FILES

# ---- the filter of vLLM's benchmark, held against the rule written anew ----
file=$data/datasets/sharegpt/sharegpt_zh.head300.jsonl
if have "${file#"$data/"}"; then
	jq -c 'def tokens: (utf8bytelength + 3) / 4 | floor;
		select((.conversations | length) >= 2) | [.conversations[0].value, .conversations[1].value]
		| select((.[0] | tokens) >= 4 and (.[1] | tokens) >= 4 and (.[0] | tokens) <= 1024 and (.[0] | tokens) + (.[1] | tokens) <= 2048)
		| [.[0], (.[0] | tokens), (.[1] | tokens)]' "$file" >expected
	run "$prep" sharegpt "$file" --preset vllm-sharegpt -o preset.trace
	body preset.trace | jq -c '[.messages[0].content, .input_tokens, .output_tokens]' >got
	same got expected "vLLM's filter keeps the same requests"
	isnt "$(wc -l <got)" 300 "vLLM's filter leaves some requests out"
fi
