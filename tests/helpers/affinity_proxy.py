#!/usr/bin/env python3
"""A proxy before several model servers, which gives each session to one of them, if the client returns its token: on a free port of 127.0.0.1, which is
printed.

usage: affinity_proxy.py LOG header|cookie|body URL…

A request without a token goes to another server than the request before it with the same X-Request-Id; the first of each goes to the next server in turn. Its
answer has the server's number, as X-Replica, or as the cookie route=N with attributes, beside another cookie changing each time. With "body" nothing is
handed out: the member user of the body decides. Each request is a line of LOG: its X-Request-Id and the server.
"""
import http.client
import itertools
import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from urllib.parse import urlsplit
from zlib import crc32

log, kind = open(sys.argv[1], "w"), sys.argv[2]
servers = [urlsplit(url) for url in sys.argv[3:]]
turn, lock, last = itertools.count(), Lock(), {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def chosen(self, body):
        if kind == "body":
            user = json.loads(body).get("user")
            return user and crc32(user.encode()) % len(servers)
        if kind == "header":
            return self.headers.get("X-Replica")
        found = re.search(r"(?:^|; )route=(\d+)", self.headers.get("Cookie", ""))
        return found and found.group(1)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        token = self.chosen(body)
        with lock:
            count = next(turn)
            session = self.headers.get("X-Request-Id")
            last[session] = last.get(session, len(last)) + 1
            number = int(token) if token is not None else last[session] % len(servers)
            log.write(f"{self.headers.get('X-Request-Id')} {number}\n")
            log.flush()
        server = http.client.HTTPConnection(servers[number].hostname, servers[number].port)
        server.request("POST", self.path, body, {"Content-Type": "application/json"})
        answer = server.getresponse()
        content = answer.read()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.getheader("Content-Type"))
        self.send_header("Content-Length", str(len(content)))
        if kind == "header":
            self.send_header("X-Replica", str(number))
        elif kind == "cookie":
            self.send_header("Set-Cookie", f"seen={count}; Max-Age=60")
            self.send_header("Set-Cookie", f"route={number}; Path=/; HttpOnly")
        self.end_headers()
        self.wfile.write(content)
        server.close()


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
