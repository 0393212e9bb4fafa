#!/usr/bin/env python3
"""A small model of random weights as a GGUF file, for tests with a real engine: random_model.py TOKENIZER.json > model.gguf

It speaks nonsense, at the speed of its size (LAYERS, WIDTH in the environment), over the vocabulary of a byte-level BPE tokenizer.
The format: github.com/ggml-org/ggml, docs/gguf.md. Weights are float32.
"""
import array
import json
import os
import random
import struct
import sys

LAYERS, WIDTH, HEADS = int(os.environ.get("LAYERS", 2)), int(os.environ.get("WIDTH", 64)), 4
UINT32, FLOAT32, STRING, ARRAY, INT32 = 4, 6, 8, 9, 5
NORMAL, CONTROL = 1, 3
ALIGNMENT = 32


def text(s):
    raw = s.encode()
    return struct.pack("<Q", len(raw)) + raw


def member(name, kind, value):
    if kind == STRING:
        return text(name) + struct.pack("<I", STRING) + text(value)
    return text(name) + struct.pack("<I", kind) + struct.pack("<I" if kind == UINT32 else "<f", value)


def members(name, kind, values):
    head = text(name) + struct.pack("<IIQ", ARRAY, kind, len(values))
    return head + b"".join(text(v) if kind == STRING else struct.pack("<i", v) for v in values)


def tensors(vocabulary):
    """Names and shapes, the shape's first number running fastest."""
    yield "token_embd.weight", (WIDTH, vocabulary)
    yield "output.weight", (WIDTH, vocabulary)
    yield "output_norm.weight", (WIDTH,)
    for i in range(LAYERS):
        for name in "attn_q", "attn_k", "attn_v", "attn_output":
            yield f"blk.{i}.{name}.weight", (WIDTH, WIDTH)
        yield f"blk.{i}.attn_norm.weight", (WIDTH,)
        yield f"blk.{i}.ffn_norm.weight", (WIDTH,)
        yield f"blk.{i}.ffn_gate.weight", (WIDTH, 2 * WIDTH)
        yield f"blk.{i}.ffn_up.weight", (WIDTH, 2 * WIDTH)
        yield f"blk.{i}.ffn_down.weight", (2 * WIDTH, WIDTH)


def weights(shape, draw):
    count = shape[0] * (shape[1] if len(shape) > 1 else 1)
    if len(shape) == 1:
        return array.array("f", [1.0]) * count
    spread = shape[0] ** -0.5
    return array.array("f", (draw.gauss(0, spread) for _ in range(count)))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        tokenizer = json.load(file)
    model = tokenizer["model"]
    vocabulary = dict(model["vocab"])
    vocabulary.update((t["content"], t["id"]) for t in tokenizer["added_tokens"])
    tokens = sorted(vocabulary, key=vocabulary.get)
    special = {t["content"] for t in tokenizer["added_tokens"]}
    merges = [m if isinstance(m, str) else " ".join(m) for m in model["merges"]]
    end = vocabulary[next(iter(special))]
    about = [
        member("general.architecture", STRING, "llama"), member("general.name", STRING, "random"),
        member("llama.context_length", UINT32, 8192), member("llama.embedding_length", UINT32, WIDTH),
        member("llama.block_count", UINT32, LAYERS), member("llama.feed_forward_length", UINT32, 2 * WIDTH),
        member("llama.attention.head_count", UINT32, HEADS), member("llama.attention.head_count_kv", UINT32, HEADS),
        member("llama.rope.dimension_count", UINT32, WIDTH // HEADS), member("llama.vocab_size", UINT32, len(tokens)),
        member("llama.attention.layer_norm_rms_epsilon", FLOAT32, 1e-5),
        member("tokenizer.ggml.model", STRING, "gpt2"), member("tokenizer.ggml.pre", STRING, "gpt-2"),
        members("tokenizer.ggml.tokens", STRING, tokens),
        members("tokenizer.ggml.token_type", INT32, [CONTROL if t in special else NORMAL for t in tokens]),
        members("tokenizer.ggml.merges", STRING, merges),
        member("tokenizer.ggml.bos_token_id", UINT32, end), member("tokenizer.ggml.eos_token_id", UINT32, end),
        member("tokenizer.chat_template", STRING,
               "{% for m in messages %}{{ m['role'] + ': ' + m['content'] + '\\n' }}{% endfor %}{{ 'assistant:' }}"),
    ]
    draw, data, table = random.Random(1), bytearray(), []
    for name, shape in tensors(len(tokens)):
        table.append(text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", n) for n in shape)
                     + struct.pack("<IQ", 0, len(data)))
        data += weights(shape, draw).tobytes()
        data += bytes(-len(data) % ALIGNMENT)
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(table), len(about)) + b"".join(about) + b"".join(table)
    sys.stdout.buffer.write(head + bytes(-len(head) % ALIGNMENT) + bytes(data))


main()
