#!/bin/bash
# Calls failing once: a sample of those in `make check-faults`, and all that have failed before.
: "${IPF_STEP:=3}" "${IPF_STEP_MEMORY:=23}"
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/once.sh"

once_inputs
once 0 ipf-sched --reproducible burst:n=3 -q -o out.zst
once 0 ipf-prep jsonl --reproducible -q -t "$TESTS/data/tokenizer/gpt2.json" "$PWD/some.jsonl"
once 0 ipf-prep anonymize mooncake "$PWD/blocks.jsonl" -q --salt-file "$PWD/salt" --jitter 1s --k 2
once 0 ipf-collect --reproducible "$PWD/chat.records.zst" -o out.zst
once 0 ipf-report --by model "$PWD/chat.results"
once 3 ipf-prep stat "$PWD/chat.sched"
once 2 ipf-sched --seed 3 poisson:rate=5,n=2 "constant:rate=4,nn=3"

once_step=1
once_kinds=${once_kinds#*allocation }
[ "$once_kinds" != allocation ] || exit
once_kinds="read open stat short" # an archive's, where reading fails: libarchive takes it for the end or for another format
for packed in some.jsonl.gz some.jsonl.xz some.zip; do
	once 0 ipf-prep jsonl --reproducible -q "$PWD/$packed"
done
ipf-report -f json chat.results -o saved.json
once_kinds="read open access" # a saved report's, which is looked at before it is read: it is no report of another kind
once 0 ipf-report "$PWD/saved.json"
once_kinds="write close" # stdio forgets why it could not write
once 0 ipf-prep fit --reproducible mooncake "$PWD/blocks.jsonl" -o model.json
once 0 ipf-collect --explain "$PWD/chat.records" -o explained
once 0 ipf-prep --list
once_kinds="stat write" # a picture not drawn, and nothing said
once 0 ipf-sched stat --plot rate.svg "$PWD/chat.sched"
once_kinds="write" # a request the kernel refuses to send, though the connection stays: it must not wait for an answer
FAIL_LOOSE=1 once 0 ipf-fire -q -m sim -u "$URL" -t "$PWD/short.trace" "$PWD/short.sched"
once_kinds=allocation # libarchive ends the program itself where it gets no memory, as ipf-prep(1) says
once_step=41
once_known='said: Fatal Internal Error in libarchive: (Out of|No) memory|: signal 11, no trailer, .*at [^ ]*/lib(archive|lzma)\.so'
once 0 ipf-prep jsonl --reproducible -q "$PWD/some.zip"
