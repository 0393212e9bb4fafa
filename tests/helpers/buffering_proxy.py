#!/usr/bin/env python3
"""A proxy before a model server that buffers responses: usage: buffering_proxy.py PORT-OF-THE-SERVER [BYTES]

Its own port of 127.0.0.1 is printed. A response is sent on when it is complete, or with BYTES whenever so many have come.
"""
import http.client
import http.server
import socket
import sys

server, buffer = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

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
        held = b""
        while data := response.read1(65536):
            held += data
            while buffer and len(held) >= buffer:
                self.chunk(held[:buffer])
                held = held[buffer:]
        if held:
            self.chunk(held)
        self.wfile.write(b"0\r\n\r\n")
        behind.close()


with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy:
    print(proxy.server_address[1], flush=True)
    proxy.serve_forever()
