#!/usr/bin/env python3
"""A server with OpenAI's responses API keeping sessions: a request may name the response it continues.

    session_server.py LOG [FAIL]     prints its port; FAIL: the response of this number (from 1) has status 500

LOG has a line of JSON for each request: the id in X-Request-Id, the messages that came, the response it continues, and the whole conversation as
the server has it. An answer is made of the conversation: "re " and the first eight digits of its SHA-256.
"""
import hashlib
import http.server
import json
import sys
import threading

lock = threading.Lock()
conversations = {}
count = 0


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        global count
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        previous = body.get("previous_response_id")
        with lock:
            count += 1
            number = count
            known = conversations.get(previous, [] if previous is None else None)
            if known is None or (len(sys.argv) > 2 and number == int(sys.argv[2])):
                status, response = 500 if known is not None else 404, {"error": {"message": f"no response {previous}"}}
                whole = None
            else:
                status, name = 200, f"resp_{number}"
                whole = known + [[m["role"], m["content"]] for m in body["input"]]
                text = "re " + hashlib.sha256(json.dumps(whole).encode()).hexdigest()[:8]
                conversations[name] = whole + [["assistant", text]]
                response = {"id": name, "object": "response", "status": "completed", "error": None,
                            "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}],
                            "usage": {"input_tokens": len(json.dumps(whole)), "output_tokens": 3}}
            with open(sys.argv[1], "a", encoding="utf-8") as log:
                print(json.dumps({"id": self.headers["X-Request-Id"], "came": len(body["input"]), "previous": previous is not None, "status": status,
                                  "conversation": whole}), file=log)
        self.answer(status, response, body.get("stream"))

    def answer(self, status, response, stream):
        if status == 200 and stream:
            text = response["output"][0]["content"][0]["text"]
            events = [{"type": "response.created", "response": {"id": response["id"], "status": "in_progress"}},
                      {"type": "response.output_text.delta", "delta": text}, {"type": "response.completed", "response": response}]
            data = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()
        else:
            data = json.dumps(response).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/event-stream" if stream else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
