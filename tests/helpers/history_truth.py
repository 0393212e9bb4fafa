#!/usr/bin/env python3
"""A report's expected figures of live histories ("history" of a block, without the shares), from the records alone.

usage: history_truth.py RECORDS
"""
import json
import sys

KEYS = ("turns", "compared_turns", "compared_tokens", "differing_turns", "differing_tokens", "generated_tokens", "found_tokens")


def answer(body):
    """Ids of prompt and answer, None where they are not listed; input, output and cached tokens."""
    events = [json.loads(line[6:]) for line in body.splitlines() if line.startswith("data: {")] or [json.loads(body)]
    prompt, output, usage = None, None, {}
    for event in events:
        usage = event.get("usage") or usage
        prompt = event.get("prompt_token_ids") or prompt
        for choice in event["choices"]:
            prompt = choice.get("prompt_token_ids") or prompt
            if "token_ids" in choice:
                output = (output or []) + choice["token_ids"]
    return prompt, output, usage["prompt_tokens"], usage["completion_tokens"], usage["prompt_tokens_details"]["cached_tokens"]


def alike(a, b):
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


records = [json.loads(line) for line in open(sys.argv[1])]
records = {r["n"]: r for r in records if "n" in r}
truth = dict.fromkeys(KEYS, 0)
for record in records.values():
    if "continues" not in record:
        continue
    before, now = answer(records[record["continues"]]["body"]), answer(record["body"])
    truth["turns"] += 1
    truth["generated_tokens"] += before[3]
    truth["found_tokens"] += min(before[3], max(0, now[4] - before[2]))
    if before[0] and before[1] and now[0]:
        whole = before[0] + before[1]
        same = alike(whole, now[0])
        truth["compared_turns"] += 1
        truth["compared_tokens"] += len(whole)
        truth["differing_turns"] += same < len(whole)
        truth["differing_tokens"] += len(whole) - same
if not truth["compared_turns"]:
    truth = {k: v for k, v in truth.items() if not k.startswith(("compared", "differing"))}
print(json.dumps(truth, sort_keys=True))
