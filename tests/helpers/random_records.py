#!/usr/bin/env python3
"""Random records as a client could have seen them, by all rules of ipf-records(5): streams of chunks of every shape, whole answers, errors,
and times that are close, equal or far apart.

    random_records.py SEED COUNT DESCRIPTOR >records    DESCRIPTOR: lib/api/apis/openai-chat.json
"""
import base64
import hashlib
import json
import random
import sys

STAGES = 3
WORDS = ["a", " the", "\u00e9", "\U0001f600", '"', "\\", "\n", " of", "data:", "", "  ", "\u2028", "x" * 300]
# objects reporting an error, and objects saying there is none
ERROR_MEMBERS = [{"error": {"message": "full"}}, {"error": "full"}, {"error_type": "Full", "error_message": "full"}, {"errorMessage": "full"}, {"err": "full"},
                 {"errors": ["full"]}, {"base_resp": {"status_code": 1002, "status_msg": "full"}}, {"error_code": 50001, "text": "full"},
                 {"object": "error", "message": "full"}]
NO_ERROR_MEMBERS = [{"error": None}, {"error": False}, {"error": ""}, {"error": {}}, {"error": {"code": 0, "message": ""}}, {"error_message": "", "err": None},
                    {"base_resp": {"status_code": 0, "status_msg": "success"}}, {"error_code": 0}]
FINISHES = ["stop", "length", "tool_calls", "function_call", "eos_token", "content_filter", "abort", "error", "other"]
TRANSPORT = ["timeout", "reset", "cut", "hung-up", "cancelled", "too-large", "malformed"]


def written(rng, count):
    """A count as servers write it."""
    return rng.choice([count] * 8 + [float(count), str(count)])


def usage_of(rng, count):
    """A server's counts: with reasoning among the output or besides, under the names of one API or another."""
    usage, output, prompt = {}, None, None
    names = rng.choice([("completion_tokens", "prompt_tokens")] * 4 + [("output_tokens", "input_tokens")])
    thought = rng.choice([None] * 6 + [0, 5, count, 500])
    if rng.random() < 0.9:
        output = rng.choice([count, count, count, 3 * count, count + 1, max(0, count - 1), 0, 10 ** 6])
        output += rng.choice([thought or 0, thought or 0, 0])
        usage[names[0]] = written(rng, output)
    if rng.random() < 0.8:
        prompt = rng.choice([0, 1, 17, 4096])
        usage[names[1]] = written(rng, prompt)
    if thought is not None:
        usage.update(rng.choice([{names[0] + "_details": {"reasoning_tokens": thought}}] * 3 + [{"reasoning_tokens": written(rng, thought)}]))
    if output is not None and prompt is not None and rng.random() < 0.6:
        usage["total_tokens"] = written(rng, output + prompt + rng.choice([0, 0, thought or 0]))
    return usage


def delta_of(rng, style, thoughts):
    delta = {}
    if style == "tools":
        call = {rng.choice(["name", "arguments"]): rng.choice(WORDS)}
        if rng.random() < 0.2:
            delta["function_call"] = call
        else:
            delta["tool_calls"] = [{"index": rng.choice([0, 0, 1]), "function": call}]
    elif style == "reasoning":
        delta[thoughts] = rng.choice(WORDS)
    elif style == "unread":
        delta[rng.choice(["thinking", "thought"])] = rng.choice(["", "z" * 977])
    elif style == "mixed":
        return delta_of(rng, rng.choice(["tools", "reasoning", "text", "empty", "unread"]), thoughts)
    elif style == "empty":
        delta = rng.choice([{}, {"content": None}, {"content": ""}, {"role": "assistant"}, {"tool_calls": None}])
    else:
        delta["content"] = rng.choice(WORDS)
    if rng.random() < 0.1:
        delta["role"] = "assistant"
    return delta


class Stream:
    """The chunks of one answer, as events of a text/event-stream."""

    def __init__(self, rng):
        self.rng, self.parts, self.content = rng, [], 0
        self.line = rng.choice(["\n", "\n", "\n", "\r\n", "\r"])
        self.prefix = rng.choice(["data: ", "data: ", "data:"])
        self.choices = rng.choice([1, 1, 1, 2])
        self.each = rng.random() < 0.2  # usage in each chunk
        self.ascii = rng.random() < 0.5
        self.thoughts = rng.choice(["reasoning_content", "reasoning"])

    def event(self, data, name=None):
        lines = [] if self.rng.random() < 0.95 else [self.rng.choice([": ping", "id: 7", "retry: 10"])]
        lines += [] if name is None else ["event: " + name]
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=self.ascii, separators=(",", ":"))
        if text.startswith('{"') and self.rng.random() < 0.05:  # a line of data each: JSON allows it after its first brace
            text = "{\n" + text[1:]
        lines += [self.prefix + part for part in text.split("\n")]
        self.parts.append(self.line.join(lines) + self.line * self.rng.choice([2, 2, 2, 2, 3]))

    def chunk(self, deltas, finish=None, usage=None):
        chunk = {"id": "x", "object": "chat.completion.chunk",
                 "choices": [{"index": i, "delta": delta, "finish_reason": finish} for i, delta in enumerate(deltas)]}
        if usage is not None and deltas and self.rng.random() < 0.3:
            chunk["choices"][0]["usage"] = usage
        elif usage is not None:
            chunk["usage"] = usage
        elif self.rng.random() < 0.1:
            chunk["usage"] = None
        self.event(chunk)

    def answer(self):
        rng, style = self.rng, self.rng.choice(["text", "text", "text", "tools", "reasoning", "mixed", "empty"])
        count = rng.choice([0, 1, 2, 3, 8, rng.randrange(60)])
        if rng.random() < 0.5:
            self.chunk([{"role": "assistant", "content": ""}])
        for i in range(count):
            deltas = [delta_of(rng, style, self.thoughts) for _ in range(self.choices if rng.random() < 0.9 else 0)]
            usage = {"completion_tokens": i + 1, "prompt_tokens": 5} if self.each or rng.random() < 0.01 else None
            self.chunk(deltas, rng.choice(FINISHES) if i + 1 == count and rng.random() < 0.3 else None, usage)
            if rng.random() < 0.01:
                self.trouble()
        if rng.random() < 0.7:
            self.chunk([{}], rng.choice(FINISHES[:2] if rng.random() < 0.9 else FINISHES))
        if rng.random() < 0.7:
            self.chunk(rng.choice([[], [], [{}]]), None, usage_of(rng, count))
        if rng.random() < 0.85:
            self.event("[DONE]")
        if rng.random() < 0.02:
            self.chunk([delta_of(rng, style, self.thoughts)])
        if rng.random() < 0.02:
            self.trouble()
        body = "".join(self.parts).encode()
        body = b"\xef\xbb\xbf" + body if rng.random() < 0.03 else body
        body = body.rstrip(b"\r\n") if rng.random() < 0.05 else body
        if rng.random() < 0.03 and body:
            at = rng.randrange(len(body))
            body = body[:at] + bytes([rng.choice([0x80, 0xff, 0x22, 0x7b, 0x20, 0x00])]) + body[at + 1:]
        return body

    def trouble(self):
        trouble = self.rng.choice(["error", "member", "pretty", "likely", "name", "nonsense", "list", "null", "not an error"])
        if trouble == "error":
            self.event({"error": self.rng.choice([{"message": "full"}, "full", True])})
        elif trouble == "member":
            self.event({"choices": None, **self.rng.choice(ERROR_MEMBERS)})
        elif trouble == "pretty":
            text = json.dumps(self.rng.choice(ERROR_MEMBERS), indent=self.rng.choice([1, 2, 4]))
            self.parts.append(text.replace("\n", self.line) + self.line)
        elif trouble == "likely":
            self.event({"code": self.rng.choice(["Full", 1302]), "message": "full"})
        elif trouble == "name":
            self.event({"message": "full"}, "error")
        elif trouble == "not an error":
            self.event({**self.rng.choice(NO_ERROR_MEMBERS), "choices": []})
        else:
            self.event({"nonsense": "nonsense", "list": [1], "null": None}[trouble])


def whole(rng):
    count = rng.choice([0, 1, 7])
    message = {"role": "assistant", "content": rng.choice(WORDS)}
    if rng.random() < 0.2:
        message["reasoning_content"] = rng.choice(WORDS)
    if rng.random() < 0.2:
        message["tool_calls"] = [{"function": {"name": "f", "arguments": rng.choice(WORDS)}}]
    answer = {"choices": [{"message": message, "finish_reason": rng.choice([None] + FINISHES)}]}
    if rng.random() < 0.7:
        answer["usage"] = usage_of(rng, count)
    if rng.random() < 0.1:
        answer = rng.choice([{}, {"choices": []}, {"choices": None}, [answer]] + ERROR_MEMBERS)
    text = json.dumps(answer, indent=rng.choice([None, 1]))
    return (rng.choice(["", "\n", " "]) + text + rng.choice(["", "\n"])).encode()


def answer_of(rng, record):
    """Status and body; with a transport error, cut where it happened."""
    record["status"] = rng.choice([200] * 20 + [201, 299, 301, 302, 400, 429, 500, 503])
    kind = rng.choice(["stream"] * 12 + ["whole", "whole", "odd"])
    if rng.random() < (0.95 if kind == "stream" else 0.4):
        record["streamed"] = True
    if record["status"] >= 300:
        return rng.choice([b"", b'{"error":{"message":"busy"}}', b"<html>moved</html>", Stream(rng).answer()])
    if kind == "odd":
        return rng.choice([b"", b"<html>not here</html>", b"\n\n", b": ping\n\n", b"data: [DONE]\n\n", b'"text"', b"{", b"null", b"[]",
                           b'{"choices": []}\n{"choices": []}\n'])
    return Stream(rng).answer() if kind == "stream" else whole(rng)


def pieces_of(rng, body):
    """How the body came: the lengths of its reads."""
    way = rng.choice(["events", "events", "once", "some", "any", "bytes"])
    if way == "events":
        ends = [i + 2 for i in range(len(body)) if body[i:i + 2] in (b"\n\n", b"\r\r") or body[i - 2:i + 2] == b"\r\n\r\n"]
        keep = rng.choice([1, 1, 0.5])
        cuts = [end for end in ends if rng.random() < keep]
    else:
        count = {"once": 0, "some": rng.randrange(4), "any": rng.randrange(40), "bytes": min(len(body), 2000)}[way]
        cuts = range(count) if way == "bytes" else [rng.randrange(len(body)) for _ in range(count)] if body else []
    cuts = [0] + sorted({cut for cut in cuts if 0 < cut < len(body)}) + ([len(body)] if body else [])
    return [b - a for a, b in zip(cuts, cuts[1:])]


def step(rng):
    return rng.choice([0, 0, 1, rng.randrange(100), rng.randrange(10 ** 6), rng.randrange(3 * 10 ** 7)])


def attempts_of(rng, record):
    """Attempts before the last one; returns the start of that."""
    at, record["attempts"] = record["start_ns"], []
    for _ in range(rng.choice([1, 1, 2, 5])):
        attempt = {"status": rng.choice([429, 429, 503, 500]), "start_ns": at, "end_ns": at + step(rng)}
        if rng.random() < 0.7:
            attempt["retry_after_ns"] = rng.choice([0, step(rng), 10 ** 9])
        if rng.random() < 0.1:
            del attempt["status"]
            attempt["error"] = {"kind": "connect", "text": "refused"}
        at = attempt["end_ns"] + rng.choice([0, step(rng), attempt.get("retry_after_ns", 0)])
        record["attempts"].append(attempt)
    record["attempt_ns"] = at
    return at


def times_of(rng, record, body, kernel):
    """Times of the request, in the order in which they must come."""
    at = rng.randrange(-10 ** 8 if rng.random() < 0.05 else 0, 3 * 10 ** 9)
    if rng.random() < 0.8:
        record["due_ns"] = at
        at += step(rng)
    record["ready_ns"] = at
    for name in ("slot_ns", "pool_ns"):
        if rng.random() < 0.2:
            at += step(rng)
            record[name] = at
    at += step(rng)
    record["start_ns"] = at
    if rng.random() < 0.2:
        at = attempts_of(rng, record)
    for name, share in (("dns_ns", 0.1), ("connect_ns", 0.3), ("tls_ns", 0.2)):
        if rng.random() < share:
            at += step(rng)
            record[name] = at
    if record["connection"].get("http") == 2 and rng.random() < 0.3:
        record["connected_ns"] = at
    if rng.random() < 0.97 or "status" in record:
        at += step(rng)
        if rng.random() < 0.5:
            record["left_ns"] = at + rng.choice([0, step(rng)])
        record["sent_ns"] = at
    if "status" in record:
        at += step(rng)
        record["first_byte_ns"], record["reads"] = at, []
        for size in pieces_of(rng, body):
            at += step(rng)
            record["reads"].append([at, size, at + (rng.randrange(10 ** 5) if kernel else 0)])
    record["end_ns"] = at + step(rng)


def record_of(rng, n):
    record = {"n": n, "req": rng.randrange(100), "stage": rng.randrange(STAGES), "request_bytes": rng.choice([100, 14600, 14601, 10 ** 6]),
              "connection": {"id": rng.randrange(9), "reused": rng.random() < 0.5}}
    for name in ("asked_input_tokens", "asked_output_tokens"):
        if rng.random() < 0.5:
            record[name] = rng.choice([1, 2, 50])
    if rng.random() < 0.2:
        record["connection"]["http"] = 2
    body = b""
    failed = rng.random() < 0.15
    if failed and rng.random() < 0.4:
        record["error"] = {"kind": rng.choice(TRANSPORT + ["connect", "tls"]), "text": "no answer"}
        record.update({"streamed": True} if rng.random() < 0.9 else {})
    else:
        body = answer_of(rng, record)
        if failed:
            body = body[:rng.randrange(len(body) + 1)]
            record["error"] = {"kind": rng.choice(TRANSPORT), "text": "broke"}
        elif rng.random() < 0.03:  # the server ended early, in order
            body = body[:rng.randrange(len(body) + 1)]
    times_of(rng, record, body, rng.random() < 0.7)
    try:
        record["body"] = body.decode()
    except UnicodeDecodeError:
        record["body_base64"] = base64.b64encode(body).decode()
    return record


def main():
    rng, count = random.Random(int(sys.argv[1])), int(sys.argv[2])
    numbers = rng.sample(range(10 * count), count)
    records = sorted((record_of(rng, n) for n in numbers), key=lambda record: record["end_ns"])
    with open(sys.argv[3], encoding="utf-8") as descriptor:
        api = json.load(descriptor)
    stages = [{"name": "stage%d" % i, "kind": "constant", "spec": "constant:rate=1,n=1", "begin_ns": i * 10 ** 9,
               "end_ns": (i + 1) * 10 ** 9, "arrivals": 0, "first_n": 0, "rate": 1, "measured": True} for i in range(STAGES)]
    header = {"ipf": "records", "version": 1, "tool": "random_records", "t0_unix_ns": 1700000000 * 10 ** 9, "target": "http://127.0.0.1",
              "streamed": True, "api": api, "stages": stages, "retry": {"most": 5, "on": [429, 503], "first_ns": 1, "cap_ns": 1}}
    lines = "".join(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records).encode()
    sys.stdout.buffer.write(json.dumps(header).encode() + b"\n" + lines)
    end = {"lines": count, "sha256": hashlib.sha256(lines).hexdigest()}
    sys.stdout.buffer.write(json.dumps({"end": end}).encode() + b"\n")


if __name__ == "__main__":
    main()
