#!/usr/bin/env python3
"""A chat server whose answers are tool calls, as the last user message asks, on a free port of 127.0.0.1, which is printed.

usage: tool_server.py LOG

The last user message is a JSON text with what to answer:

    {"text": "…", "reasoning": "…", "calls": [["name", {arguments}], …]}

Each call gets an id of its own ("live-1", …). Calls are streamed in pieces of three characters, in turn; with "stream": false the
answer comes whole. With a conversation that a strict server refuses (a call without a result, a result without a call, two
answers in a row) the status is 400. The messages of each request are a line of LOG.
"""
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

log = open(sys.argv[1], "w")
lock = Lock()
last = 0


def calls_of(wanted):
    global last
    made = []
    for name, arguments in wanted.get("calls", []):
        with lock:
            last += 1
            number = last
        made.append({"id": f"live-{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}})
    return made


def fault(messages):
    """What a strict server has against them; None."""
    waiting, before = [], None
    for message in messages:
        role = message["role"]
        if role == "assistant" and before == "assistant":
            return "two answers in a row"
        if role == "tool":
            if message["tool_call_id"] not in waiting:
                return f"a result without a call: {message['tool_call_id']}"
            waiting.remove(message["tool_call_id"])
        elif waiting:
            return f"calls without a result: {waiting}"
        if role == "assistant":
            waiting = [call["id"] for call in message.get("tool_calls", [])]
            if not waiting and not message.get("content"):
                return "an empty answer"
        before = role
    return f"calls without a result: {waiting}" if waiting else None


def deltas(wanted):
    if wanted.get("reasoning"):
        yield {"reasoning_content": wanted["reasoning"]}
    if wanted.get("text"):
        yield {"content": wanted["text"]}
    calls = calls_of(wanted)
    for index, call in enumerate(calls):
        function = {"name": call["function"]["name"], "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": function}]}
    for at in range(0, max([0] + [len(call["function"]["arguments"]) for call in calls]), 3):
        for index, call in enumerate(calls):
            piece = call["function"]["arguments"][at:at + 3]
            if piece:
                yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        messages = request["messages"]
        with lock:
            log.write(json.dumps(messages) + "\n")
            log.flush()
        why = fault(messages)
        if why:
            self.send(400, "application/json", json.dumps({"error": {"message": why}}).encode())
            return
        wanted = json.loads([message["content"] for message in messages if message["role"] == "user"][-1])
        if messages[-1]["role"] == "tool":
            wanted = {"text": "done"}
        if not request.get("stream"):
            message = {"role": "assistant", "content": wanted.get("text")}
            if wanted.get("calls"):
                message["tool_calls"] = calls_of(wanted)
            answer = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
            self.send(200, "application/json", json.dumps(answer).encode())
            return
        events = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas(wanted)]
        events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
        self.send(200, "text/event-stream", body.encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
