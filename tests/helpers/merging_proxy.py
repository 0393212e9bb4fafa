#!/usr/bin/env python3
"""A proxy before a model server that makes one event of two: usage: merging_proxy.py PORT-OF-THE-SERVER

Its own port of 127.0.0.1 is printed. Two successive chunks with content become one with the content of both; all else passes as it is.
"""
import http.client
import http.server
import json
import socket
import sys

server = int(sys.argv[1])


def content_of(event):
    """The chunk and its content; None: the event has none."""
    if not event.startswith(b"data: {"):
        return None, None
    chunk = json.loads(event[6:])
    choices = chunk.get("choices") or [{}]
    return chunk, choices[0].get("delta", {}).get("content")


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def pass_on(self, response):
        held, held_content, rest = None, "", b""
        while data := response.read1(65536):
            *events, rest = (rest + data).split(b"\n\n")
            for event in events:
                chunk, content = content_of(event)
                if held and content:
                    held["choices"][0]["delta"]["content"] = held_content + content
                    event, held = b"data: " + json.dumps(held).encode(), None
                elif content:
                    held, held_content = chunk, content
                    continue
                elif held:
                    self.send(b"data: " + json.dumps(held).encode() + b"\n\n")
                    held = None
                self.send(event + b"\n\n")
        self.send(rest) if rest else None

    def do_POST(self):
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        behind = http.client.HTTPConnection("127.0.0.1", server)
        behind.request("POST", self.path, body, {"Content-Type": "application/json"})
        response = behind.getresponse()
        self.send_response(response.status)
        self.send_header("Content-Type", response.headers["Content-Type"])
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.pass_on(response)
        self.wfile.write(b"0\r\n\r\n")
        behind.close()


with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy:
    print(proxy.server_address[1], flush=True)
    proxy.serve_forever()
