#!/bin/bash
# Each call of ipf-prep and its commands fails once.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/once.sh"

once_inputs
declare -A known
once 0 ipf-prep sharegpt --reproducible -q -n 3 "$(realpath "$ROOT/examples/chat.json")" -o out.trace
once 0 ipf-prep jsonl --reproducible -q "$PWD/some.jsonl" -o out.zst
once 0 ipf-prep sharegpt --reproducible -q "$TESTS/data/prep/parquet/lmsys.parquet"
once 0 ipf-prep csv --reproducible -q --field prompt=/prompt "$PWD/some.csv"
once 0 ipf-prep mooncake --reproducible -q "$PWD/blocks.jsonl"
once 0 ipf-prep synthetic --reproducible -n 3
once 0 ipf-prep jsonl --reproducible -q -t "$TESTS/data/tokenizer/gpt2.json" "$PWD/some.jsonl"
once 0 ipf-prep tokenize -t "$TESTS/data/tokenizer/gpt2.json" "$PWD/texts" -o ids
once 0 ipf-prep tokenize -t "$TESTS/data/tokenizer/gpt2.json" --threads 2 --count "$PWD/texts"
once 0 ipf-prep fit --reproducible mooncake "$PWD/blocks.jsonl" -o model.json
once 0 ipf-prep anonymize trace "$PWD/chat.trace" -q --salt-file "$PWD/salt" -o out.trace
once 0 ipf-prep anonymize mooncake "$PWD/blocks.jsonl" -q --salt-file "$PWD/salt" --jitter 1s --k 2
once 0 ipf-prep stat "$PWD/chat.trace"
once 0 ipf-prep stat "$PWD/chat.trace" --against "$PWD/chat.trace"
once 3 ipf-prep stat "$PWD/chat.sched"
# The first case of each format in data/prep
data=$(cd "$TESTS/data/prep" && pwd)
while IFS='|' read -r name status arguments _; do
	case $name in '' | '#'*) continue ;; esac
	words=()
	for word in $arguments; do
		case ${#words[@]}:$word in 0:[!.]*) ;; *) [ ! -e "$data/$word" ] || word=$data/$word ;; esac
		words+=("$word")
	done
	[ -n "${known[${words[0]}]:-}" ] || once "$status" ipf-prep --reproducible "${words[@]}"
	known[${words[0]}]=1
done <"$data/cases"
# Some failures crash libarchive and liblzma, or end the program with a line of libarchive, which is theirs to mend.
once_known=': signal 11, no trailer, .*at [^ ]*/lib(archive|lzma)\.so|at [^ ]*/lib(archive|lzma)\.so.*said: AddressSanitizer:DEADLYSIGNAL|said: Fatal Internal Error in libarchive: (Out of|No) memory'
for packed in some.jsonl.gz some.jsonl.xz some.zip; do
	once 0 ipf-prep jsonl --reproducible -q "$PWD/$packed"
done
