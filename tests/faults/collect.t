#!/bin/bash
# Each call of ipf-collect fails once.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/once.sh"

once_inputs
once 0 ipf-collect --reproducible "$PWD/chat.records.zst" -o out.zst
once 0 ipf-collect --reproducible "$PWD/chat.records" -t "$TESTS/data/tokenizer/gpt2.json"
once 0 ipf-collect --explain "$PWD/chat.records"
once 3 ipf-collect "$PWD/chat.trace"
