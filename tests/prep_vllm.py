#!/usr/bin/env python3
"""An independent implementation of the filter of vLLM's benchmark for ShareGPT, with the reference implementation of tokenizers.

    python prep_vllm.py TOKENIZER.json FILE

Prints a JSON list for each request: prompt, its tokens, tokens to request.
"""
import json
import sys

from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file(sys.argv[1])
tokenizer.no_truncation()
tokenizer.no_padding()


def count(text):
    """With the special tokens a model's tokenizer adds."""
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
