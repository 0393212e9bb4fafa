#!/bin/bash
# The converters against published data, where a folder of it lies beside the checkout.
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
	contains "$(cat "$ERR")" "$records records read, $requests requests written" "$file: all of it"
	[ "$turns" != - ] || continue
	run "$prep" "$source" "$data/datasets/$file" --turns all -o all.trace.zst
	is "$(body all.trace.zst | wc -l)" "$turns" "$file: so many turns"
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
jsonl questions/mt_bench_question.jsonl 80 80 -
jsonl questions/gsm8k_test.jsonl 1319 1319 -
jsonl questions/HumanEval.jsonl.gz 164 164 -
text sonnet/sonnet.txt 518 518 -
FILES
