#!/usr/bin/env python3
"""Compares the prompts of a trace with the reference implementation of tokenizers (the package `tokenizers`).

    python prep_prompts.py TOKENIZER.json TRACE

Prints the number of requests, how many of them have exactly `input_tokens` tokens, the largest difference, and how many pairs of
prompts share a different number of leading tokens than their recorded blocks say. Comparing neighbours in two orders, by tokens and
by blocks, covers all pairs: a pair shares the minimum over the neighbours between them.
"""
import array
import json
import subprocess
import sys

from tokenizers import Tokenizer

BATCH = 512


def requests(path):
    reader = subprocess.Popen(["zstdcat", "-f", path], stdout=subprocess.PIPE)
    for line in reader.stdout:
        request = json.loads(line)
        if "id" in request:
            yield request
    reader.wait()


def text_of(request):
    return [m["content"] for m in request["messages"]]


def encode(tokenizer, texts):
    return [packed(e.ids) for e in tokenizer.encode_batch(texts, add_special_tokens=False)]


def packed(ids):
    """Four bytes each, the highest first: they sort as the ids do."""
    a = array.array("I", ids)
    if sys.byteorder == "little":
        a.byteswap()
    return a.tobytes()


def blocks_of(request):
    """[(key, tokens)] of the recorded blocks that are there, and the rest under a key of its own."""
    blocks, left, found = request.get("blocks"), request["input_tokens"], []
    for i, key in enumerate(blocks["ids"] if blocks else []):
        size = blocks["tokens"][i] if isinstance(blocks["tokens"], list) else blocks["tokens"]
        if left > 0:
            found.append(("%s/%020d" % (blocks.get("scope", ""), key), min(size, left)))
        left -= size
    if left > 0:
        found.append(("own/" + request["id"], left))
    return found


def shared_blocks(a, b):
    total = 0
    for (key_a, size_a), (key_b, size_b) in zip(a, b):
        if key_a != key_b:
            break
        total += min(size_a, size_b)
        if size_a != size_b:
            break
    return total


def shared_tokens(a, b):
    low, high = 0, min(len(a), len(b)) // 4
    while low < high:
        middle = (low + high + 1) // 2
        if a[: 4 * middle] == b[: 4 * middle]:
            low = middle
        else:
            high = middle - 1
    return low


def wrong_pairs(tokens, blocks):
    wrong = set()
    for order in (sorted(range(len(tokens)), key=tokens.__getitem__), sorted(range(len(tokens)), key=blocks.__getitem__)):
        for i, k in zip(order, order[1:]):
            if shared_tokens(tokens[i], tokens[k]) != shared_blocks(blocks[i], blocks[k]):
                wrong.add((min(i, k), max(i, k)))
    return wrong


def main():
    tokenizer = Tokenizer.from_file(sys.argv[1])
    tokenizer.no_truncation()
    tokenizer.no_padding()
    all_tokens, all_blocks, count, exact, most, batch = [], [], 0, 0, 0, []

    def finish():
        nonlocal exact, most
        texts = [t for r in batch for t in text_of(r)]
        ids = iter(encode(tokenizer, texts))
        for r in batch:
            mine = [next(ids) for _ in r["messages"]]
            off = abs(sum(map(len, mine)) // 4 - r["input_tokens"])
            exact += off == 0
            most = max(most, off)
            if "blocks" in r:
                all_tokens.append(mine[0])
                all_blocks.append(blocks_of(r))
        batch.clear()

    for r in requests(sys.argv[2]):
        count += 1
        batch.append(r)
        if len(batch) == BATCH:
            finish()
    finish()
    wrong = wrong_pairs(all_tokens, all_blocks)
    for i, k in sorted(wrong)[:3]:
        print("requests %d and %d share %d tokens, their blocks say %d" % (i, k, shared_tokens(all_tokens[i], all_tokens[k]),
              shared_blocks(all_blocks[i], all_blocks[k])), file=sys.stderr)
    print("requests %d exact %d off %d pairs %d" % (count, exact, most, len(wrong)))


if __name__ == "__main__":
    main()
