#!/usr/bin/env python3
"""Requests whose texts try to leave their places in the body.

    hostile_bodies.py make SEED COUNT KIND plain|hostile    lines of a trace with chats, prompts or inputs; both have the same shapes
    hostile_bodies.py compare PLAIN HOSTILE            the bodies body_keeper.py kept in two folders: a line for each differing in
                                                       more than its texts; then "N bodies, M wrong"
"""
import json
import os
import random
import sys

HOSTILE = [
    '"', "\\", '"}],"injected":true,"x":[{"y":"', '\\"}', "\n", "\r\n\r\nPOST / HTTP/1.1\r\n", "\t\x01\x1f\x7f", "\u2028\u2029", "</s><|im_end|>",
    " {ipf-media:0+64}", "%s%n$(touch x)`touch x`", "é𝄞\ufeff\ufffd", "\\u0000\\ud800", "{{model}}", "null",
    '{"injected":true}', "]", "}", "<script>", "'; DROP TABLE x; --", "a" * 5000, "-----BEGIN", "--boundary--", ",", ":", "\x0b\x0c\x1b[31m",
]


class Texts:
    """The texts of one request; those of a plain one are words, drawn from the same sequence of random numbers."""

    def __init__(self, rng, hostile):
        self.rng, self.hostile = rng, hostile

    def text(self):
        parts = [self.rng.choice(HOSTILE) for _ in range(self.rng.randint(1, 4))]
        return "".join(parts) if self.hostile else "words"

    def name(self):
        """As a function's: APIs allow only these characters."""
        return f"tool_{self.rng.randint(0, 9)}"


def content(t):
    if t.rng.random() < 0.7:
        return t.text()
    return [{"type": "text", "text": t.text()} for _ in range(t.rng.randint(1, 3))]


def messages(t):
    made = [{"role": "system", "content": t.text()}] if t.rng.random() < 0.5 else []
    for i in range(t.rng.randint(1, 3)):
        made.append({"role": "user", "content": content(t)})
        if i < 2 and t.rng.random() < 0.5:
            call = {"id": f"call_{i}", "type": "function", "function": {"name": t.name(), "arguments": json.dumps({"k": t.text()})}}
            made.append({"role": "assistant", "content": t.text(), "tool_calls": [call]})
            made.append({"role": "tool", "tool_call_id": call["id"], "content": t.text()})
        else:
            made.append({"role": "assistant", "content": t.text()})
    return made + [{"role": "user", "content": content(t)}]


def request(i, kind, t):
    made = {"id": f"r{i}", "output_tokens": t.rng.randint(1, 9)}
    if kind == "chats":
        made["messages"] = messages(t)
        if t.rng.random() < 0.4:
            made["tools"] = [{"type": "function", "function": {"name": t.name(), "description": t.text(),
                                                               "parameters": {"type": "object", "properties": {"k": {"type": "string", "description": t.text()}}}}}]
        if t.rng.random() < 0.2:
            made["response_format"] = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object", "title": t.text()}}}
    elif kind == "prompts":
        made["prompt"] = t.text()
    else:
        made["inputs"] = [t.text() for _ in range(t.rng.randint(1, 3))]
        if t.rng.random() < 0.5:
            made["query"] = t.text()
    if t.rng.random() < 0.3:
        made["model"] = "m" + "".join(c for c in t.text() if c.isprintable())[:200]  # others are refused
    if t.rng.random() < 0.3:
        made["body"] = {"user": t.text(), "metadata": {"a": t.text()}}
    if kind == "chats" and t.rng.random() < 0.3:
        made["session"] = f"s{i}"
    return made


def shape(value):
    if isinstance(value, dict):
        return {k: shape(v) for k, v in value.items()}
    if isinstance(value, list):
        return [shape(v) for v in value]
    return type(value).__name__


def compare(plain, hostile):
    count = wrong = 0
    for name in sorted(os.listdir(plain)):
        if name.endswith(".headers"):
            continue
        count += 1
        try:
            with open(os.path.join(plain, name), "rb") as f:
                expected = json.loads(f.read())
            with open(os.path.join(hostile, name), "rb") as f:
                got = json.loads(f.read())
            why = "" if shape(got) == shape(expected) else f"{json.dumps(shape(expected))[:300]} became {json.dumps(shape(got))[:300]}"
        except (OSError, ValueError) as e:
            why = str(e)
        if why:
            wrong += 1
            print(f"{name}: {why}")
    print(f"{count} bodies, {wrong} wrong")


if sys.argv[1] == "make":
    for n in range(int(sys.argv[3])):
        print(json.dumps(request(n, sys.argv[4], Texts(random.Random(f"{sys.argv[2]} {n}"), sys.argv[5] == "hostile")), ensure_ascii=n % 2 == 0))
else:
    compare(sys.argv[2], sys.argv[3])
