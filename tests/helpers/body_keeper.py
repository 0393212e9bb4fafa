#!/usr/bin/env python3
"""A server keeping the body of each request in a file, its headers as a list in FILE.headers, and answers as a chat or a message in one piece.

    body_keeper.py FOLDER       prints its port; the file has the name in X-Request-Id, with _ for /
"""
import http.server
import json
import os
import sys

CHAT = {
    "object": "chat.completion",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "seen"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 1},
}
MESSAGE = {
    "type": "message",
    "content": [{"type": "text", "text": "seen"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 9, "output_tokens": 1},
}
GEMINI = {
    "candidates": [{"content": {"parts": [{"text": "seen"}], "role": "model"}, "finishReason": "STOP"}],
    "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 1},
}


class Keeper(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        length = self.headers.get("Content-Length")
        body = self.rfile.read(int(length)) if length else self.read_chunks()
        with open(os.path.join(sys.argv[1], self.headers["X-Request-Id"].replace("/", "_")), "wb") as file:
            file.write(body)
        with open(file.name + ".headers", "w", encoding="utf-8") as headers:
            json.dump([[name.lower(), value] for name, value in self.headers.items()], headers)
        answer = MESSAGE if "/messages" in self.path else GEMINI if "generateContent" in self.path.lower() else CHAT
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def read_chunks(self):
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Keeper)
print(server.server_address[1], flush=True)
server.serve_forever()
