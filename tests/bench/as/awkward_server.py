"""A server of OpenAI's chat completions with bad manners on a fixed schedule, to compare the reports of tools on the same answers.

usage: awkward_server.py [--plain] [--step MS] [--before URL] [--records FILE]      prints "listening on URL"; ends with its standard input

With --records, it writes its sends and their times as records of ipf-fire: the best possible measurement of the same answers.

The k-th request gets the manner k mod 16: the opening chunk at once and the model late, empty chunks, several tokens in a chunk, usage in
every chunk, an error in the stream, no end mark, a status, an answer without content, a pause before the end mark. With --plain, every
answer is a usual one. Each token takes STEP milliseconds. With --before, it has no manners and passes requests on to another server, and
its answers chunk by chunk.
"""
import argparse
import asyncio
import hashlib
import json
import sys
import time

MANNERS = ["usual", "role-late", "empty-chunks", "multi", "usual", "usage-each", "late-end", "error", "one-token", "role-with-text", "multi",
           "no-done", "usual", "status", "no-content", "stall"]


def chunk(delta, finish=None, usage=None, choices=True):
    return {"id": "x", "object": "chat.completion.chunk", "created": 1700000000, "model": "sim",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}] if choices else [], **({"usage": usage} if usage else {})}


def usage_of(tokens):
    return {"prompt_tokens": 16, "completion_tokens": tokens, "total_tokens": 16 + tokens}


def script(manner, tokens):
    """(milliseconds before it in steps, the bytes sent): texts of four bytes a token."""
    yield (0 if manner == "role-late" else 1), chunk({"role": "assistant", "content": "lore" if manner == "role-with-text" else ""})
    sent = 1 if manner == "role-with-text" else 0
    if manner == "role-late":
        yield 4, None
    if manner == "no-content":
        yield 1, chunk({}, "stop")
        yield 0, chunk({}, usage=usage_of(0), choices=False)
        yield 0, "[DONE]"
        return
    at_once = 4 if manner == "multi" else 1
    while sent < tokens:
        now = min(at_once, tokens - sent)
        if manner == "empty-chunks" and sent % 3 == 1:
            yield 1, chunk({"content": ""})
        if manner == "stall" and sent == 8:
            yield 10, None
        sent += now
        yield (0 if sent == now else 1), chunk({"content": "lore" * now}, usage=usage_of(sent) if manner == "usage-each" else None)
        if manner == "error" and sent >= 5:
            yield 1, {"error": {"message": "the engine died", "type": "InternalServerError", "code": 500}}
            yield 0, "[DONE]"
            return
    yield 0, chunk({}, "length")
    yield (5 if manner == "late-end" else 0), chunk({}, usage=usage_of(tokens), choices=False)
    if manner != "no-done":
        yield 0, "[DONE]"


class Answer:
    """The parts of one answer, and their times."""

    def __init__(self, writer, record):
        self.writer, self.record, self.record["reads"], self.body = writer, record, [], ""

    async def send(self, wire, body=""):
        now = time.monotonic_ns()
        self.writer.write(wire)
        await self.writer.drain()
        self.record.setdefault("first_byte_ns", now)
        if body:
            self.record["reads"].append([now, len(body), now])
            self.body += body

    def end(self, status):
        self.record.update(end_ns=time.monotonic_ns(), status=status, body=self.body)


class Server:
    def __init__(self, options):
        self.options, self.count, self.records = options, 0, []

    async def answer(self, reader, writer):
        try:
            while await self.one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        writer.close()

    def begin(self, writer, number, started):
        self.records.append({"n": number, "req": 0, "stage": 0, "model": "sim", "asked_output_tokens": 64, "start_ns": started, "streamed": True})
        return Answer(writer, self.records[-1])

    async def pass_on(self, path, body, started, writer):
        sent = self.begin(writer, self.count, started)
        self.count += 1
        host = self.options.before.split("//")[1]
        reader, upstream = await asyncio.open_connection(*host.split(":"))
        upstream.write(f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        head = await reader.readuntil(b"\r\n\r\n")
        status = int(head.split()[1])
        if b"transfer-encoding: chunked" not in head.lower():
            raise ConnectionError("not an answer in chunks")
        await sent.send(head)
        size = 1
        while size:
            line = await reader.readuntil(b"\r\n")
            size = int(line, 16)
            data = await reader.readexactly(size + 2)
            await sent.send(line + data, data[:-2].decode())
        upstream.close()
        sent.end(status)
        return True

    async def one(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        started = time.monotonic_ns()
        length = next((int(line.split(":")[1]) for line in head.split("\r\n") if line.lower().startswith("content-length:")), 0)
        body = await reader.readexactly(length)
        path = head.split(" ")[1]
        if not path.endswith("/chat/completions"):
            models = json.dumps({"object": "list", "data": [{"id": "sim", "object": "model"}]}) if path.endswith("/models") else "{}"
            status = "404 Not Found" if head.startswith("POST") else "200 OK"
            writer.write(f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(models)}\r\n\r\n{models}".encode())
            await writer.drain()
            return True
        json.loads(body)
        if self.options.before:
            return await self.pass_on(path, body, started, writer)
        manner = "usual" if self.options.plain else MANNERS[self.count % len(MANNERS)]
        tokens = 1 if manner == "one-token" else 12 + self.count % len(MANNERS)
        self.count += 1
        loop, step = asyncio.get_running_loop(), self.options.step / 1000
        sent = self.begin(writer, self.count - 1, started)
        if manner == "status":
            await asyncio.sleep(step)
            text = '{"error":{"message":"busy","type":"ServiceUnavailable","code":503}}'
            await sent.send(f"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode(),
                            text)
            sent.end(503)
            return True
        await sent.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        due = loop.time()
        for steps, event in script(manner, tokens):
            due += steps * step
            if steps:
                await asyncio.sleep(max(0, due - loop.time()))
            if event is not None:
                data = f"data: {event if event == '[DONE]' else json.dumps(event)}\n\n"
                await sent.send(f"{len(data):x}\r\n{data}\r\n".encode(), data)
        await sent.send(b"0\r\n\r\n")
        sent.end(200)
        return True

    def write(self, path):
        stage = {"name": "closed", "kind": "closed", "spec": "closed:slots=1", "closed": True, "slots": 1, "measured": True, "begin_ns": 0,
                 "arrivals": len(self.records)}
        header = {"ipf": "records", "version": 1, "tool": "awkward_server", "from": [{"ipf": "schedule", "version": 1, "stages": [stage]}]}
        first = min((record["start_ns"] for record in self.records), default=0)
        for record in self.records:
            for name in ("start_ns", "first_byte_ns", "end_ns"):
                record[name] -= first
            record["reads"] = [[t - first, size, t - first] for t, size, _ in record["reads"]]
        lines = [json.dumps(record) for record in self.records]
        digest = hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest()
        with open(path, "w") as file:
            for line in [json.dumps(header)] + lines + [json.dumps({"end": {"lines": len(lines), "sha256": digest}})]:
                file.write(line + "\n")


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--step", type=float, default=20)
    parser.add_argument("--before", metavar="URL")
    parser.add_argument("--records")
    server = Server(parser.parse_args())
    listening = await asyncio.start_server(server.answer, "127.0.0.1", 0)
    print(f"listening on http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    if server.options.records:
        server.write(server.options.records)


asyncio.run(main())
