#!/usr/bin/env python3
"""The filter of vLLM's benchmark on a ShareGPT file, written anew with the reference implementation of tokenizers.

    python prep_vllm.py TOKENIZER.json FILE

Prints what it would send, a JSON list a line: prompt, its tokens, tokens to ask for.
"""
import json
import sys

from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file(sys.argv[1])
tokenizer.no_truncation()
tokenizer.no_padding()


def count(text):
    """As the tokenizer of a model is called: with the special tokens that it adds."""
    return len(tokenizer.encode(text).ids)


with open(sys.argv[2], encoding="utf-8") as f:
    text = f.read()
records = json.loads(text) if text.lstrip()[0] == "[" else [json.loads(line) for line in text.splitlines() if line]
for record in records:
    turns = record.get("conversations", [])
    if len(turns) < 2:
        continue
    prompt, answer = turns[0]["value"], turns[1]["value"]
    prompt_tokens, output_tokens = count(prompt), count(answer)
    if prompt_tokens < 4 or output_tokens < 4 or prompt_tokens > 1024 or prompt_tokens + output_tokens > 2048:
        continue
    print(json.dumps([prompt, prompt_tokens, output_tokens], ensure_ascii=False))
