#!/usr/bin/env python3
"""A server whose answers are tool calls, as the last user message asks, on a free port of 127.0.0.1, which is printed. It speaks chat
completions, Anthropic's messages, OpenAI's responses and Gemini, whose calls get no ids, and takes each request to the form of a chat.

usage: tool_server.py LOG

The last user message is a JSON text with the answer:

    {"text": "…", "reasoning": "…", "calls": [["name", {arguments}], …]}

Each call gets an id of its own ("live-1", …). Calls are streamed in pieces of three characters, in turn; with "stream": false the
answer comes whole. With a conversation a strict server refuses (a call without a result, a result without a call, two answers in a
row) the status is 400. The messages of each request, in that form, are a line of LOG.
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
    """A strict server's objection to them; None."""
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


# ---- the other APIs: their requests, as messages of a chat ----


def call_of(ident, name, arguments):
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": ident, "type": "function", "function": {"name": name, "arguments": text}}


def from_blocks(message):
    """Anthropic: a message of texts, calls and results."""
    if isinstance(message["content"], str):
        return [message]
    texts, calls, results = [], [], []
    for block in message["content"]:
        if block["type"] == "tool_use":
            assert isinstance(block["input"], dict)
            calls.append(call_of(block["id"], block["name"], block["input"]))
        elif block["type"] == "tool_result":
            results.append({"role": "tool", "tool_call_id": block["tool_use_id"], "content": block["content"]})
        else:
            assert block["text"]
            texts.append(block["text"])
    return results or [{"role": message["role"], "content": "".join(texts) or None, **({"tool_calls": calls} if calls else {})}]


def from_items(items):
    """Responses: messages, calls and results beside each other; calls belong to the answer before them."""
    messages = []
    for item in items:
        if item.get("type") == "function_call":
            assert isinstance(item["arguments"], str)
            if not messages or messages[-1]["role"] != "assistant":
                messages.append({"role": "assistant", "content": None})
            messages[-1].setdefault("tool_calls", []).append(call_of(item["call_id"], item["name"], item["arguments"]))
        elif item.get("type") == "function_call_output":
            messages.append({"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]})
        else:
            messages.append(item)
    return messages


def from_contents(contents):
    """Gemini: all results of an answer's calls in one content, each with the name of its call."""
    messages, names = [], {}
    for content in contents:
        calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        results = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
        text = "".join(part.get("text", "") for part in content["parts"])
        assert not results or len(results) == len(names), "not as many results as calls"
        for result in results:
            assert names[result["id"]] == result["name"], "a result with the name of another call"
            messages.append({"role": "tool", "tool_call_id": result["id"], "content": result["response"]["result"]})
        names = {call["id"]: call["name"] for call in calls}
        if not results:
            made = [call_of(call["id"], call["name"], call["args"]) for call in calls]
            role = "assistant" if content["role"] == "model" else content["role"]
            messages.append({"role": role, "content": text or None, **({"tool_calls": made} if made else {})})
    return messages


# ---- and their answers ----


def blocks_answer(wanted, stream):
    blocks = [{"type": "text", "text": wanted["text"]}] if wanted.get("text") else []
    blocks += [{"type": "tool_use", "id": c["id"], "name": c["function"]["name"], "input": json.loads(c["function"]["arguments"])}
               for c in calls_of(wanted)]
    if not stream:
        return {"type": "message", "content": blocks, "stop_reason": "end_turn"}
    events = [{"type": "message_start", "message": {"usage": {"input_tokens": 1}}}]
    for index, block in enumerate(blocks):
        empty = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        if block["type"] == "text":
            events.append({"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": block["text"]}})
        else:
            text = json.dumps(block["input"])
            events += [{"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": text[at:at + 3]}}
                       for at in range(0, len(text), 3)]
        events.append({"type": "content_block_stop", "index": index})
    return events + [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}, {"type": "message_stop"}]


def items_answer(wanted, stream):
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": wanted["text"]}]}] if wanted.get("text") else []
    output += [{"type": "function_call", "id": "fc_" + c["id"], "call_id": c["id"], "name": c["function"]["name"],
                "arguments": c["function"]["arguments"]} for c in calls_of(wanted)]
    whole = {"id": "resp_1", "status": "completed", "output": output}
    if not stream:
        return whole
    events = [{"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "output": []}}]
    for index, item in enumerate(output):
        if item["type"] == "message":
            events.append({"type": "response.output_text.delta", "output_index": index, "delta": wanted["text"]})
        else:
            events += [{"type": "response.output_item.added", "output_index": index, "item": {**item, "arguments": ""}},
                       {"type": "response.function_call_arguments.delta", "output_index": index, "delta": item["arguments"]},
                       {"type": "response.output_item.done", "output_index": index, "item": item}]
    return events + [{"type": "response.completed", "response": whole}]


def contents_answer(wanted, stream):
    parts = [{"text": wanted["text"]}] if wanted.get("text") else []
    parts += [{"functionCall": {"name": c["function"]["name"], "args": json.loads(c["function"]["arguments"])}} for c in calls_of(wanted)]
    if not stream:
        return {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}
    events = [{"candidates": [{"content": {"role": "model", "parts": [part]}}]} for part in parts]
    return events + [{"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "STOP"}]}]


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
        stream, answer = request.get("stream", False), None
        if self.path.endswith("/messages"):
            messages, answer = [m for message in request["messages"] for m in from_blocks(message)], blocks_answer
        elif self.path.endswith("/responses"):
            messages, answer = from_items(request["input"]), items_answer
        elif "enerateContent" in self.path:
            messages, answer, stream = from_contents(request["contents"]), contents_answer, "stream" in self.path
        else:
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
        if answer and stream:
            self.send(200, "text/event-stream", "".join(f"data: {json.dumps(event)}\n\n" for event in answer(wanted, True)).encode())
            return
        if answer:
            self.send(200, "application/json", json.dumps(answer(wanted, False)).encode())
            return
        if not stream:
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
