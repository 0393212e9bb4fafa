#!/usr/bin/env python3
"""A server of files for the tests of sources that are addresses, on a free port of 127.0.0.1.

    python3 file_server.py FOLDER LOG READY

Files of FOLDER under their names, with ETag, If-None-Match, Range and If-Range. READY gets the port. LOG gets a line a request: method,
path, and the headers Authorization, Range, If-None-Match and If-Range where they came. Its other abilities are in the path:

    /status/CODE/…         that answer, with Retry-After: 7
    /cut/N/ID/FILE         the first N answers under this ID end in the middle of what they owe
    /short/FILE            says a longer length than it sends, always
    /weak/FILE             no ETag that holds
    /to/PORT/FILE          a redirect to another server
    /round                 a redirect to itself
    /away                  a redirect to a server with plain http that is not this machine
    /to-url?URL            a redirect to that URL
    /retry/CODE/VALUE/…    that answer, with Retry-After: VALUE (escaped)
    …/resolve/REVISION/…   as the hub serves files: FILE is what comes last
"""
import hashlib
import http.server
import os
import sys
import urllib.parse

folder, log, ready = sys.argv[1:]
cuts = {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self):
        names = ["Authorization", "Range", "If-None-Match", "If-Range"]
        seen = " ".join("%s=%s" % (n, self.headers[n]) for n in names if n in self.headers)
        with open(log, "a", encoding="utf-8") as f:
            f.write(("%s %s %s" % (self.command, self.path, seen)).strip() + "\n")

    def plain(self, code, **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        body = b"" if code == 304 else b"no\n"
        if code != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.note()
        path = self.path.split("?")[0]
        words = path.strip("/").split("/")
        if words[0] == "status":
            return self.plain(int(words[1]), Retry_After="7")
        if words[0] == "to":
            return self.plain(302, Location="http://127.0.0.1:%s/%s" % (words[1], "/".join(words[2:])))
        if words[0] == "to-url":
            return self.plain(302, Location=self.path.split("?", 1)[1])
        if words[0] == "retry":
            return self.plain(int(words[1]), Retry_After=urllib.parse.unquote(words[2]))
        if words[0] == "round":
            return self.plain(302, Location="/round")
        if words[0] == "away":
            return self.plain(302, Location="http://192.0.2.1/file.json")
        try:
            with open(os.path.join(folder, words[-1]), "rb") as f:
                return self.file(words, f.read())
        except OSError:
            return self.plain(404)

    def file(self, words, data):
        mark = '"%s"' % hashlib.sha256(data).hexdigest()[:16]
        if words[0] == "weak":
            mark = 'W/"x"'
        if self.headers.get("If-None-Match") == mark:
            return self.plain(304, ETag=mark)
        start = 0
        asked = self.headers.get("Range", "")
        if asked.startswith("bytes=") and self.headers.get("If-Range") == mark:
            start = int(asked[6:].split("-")[0])
            if start >= len(data):
                return self.plain(416)
        rest = data[start:]
        self.send_response(206 if start else 200)
        self.send_header("ETag", mark)
        if start:
            self.send_header("Content-Range", "bytes %d-%d/%d" % (start, len(data) - 1, len(data)))
        self.send_header("Content-Length", str(len(rest) + (10 if words[0] == "short" else 0)))
        self.end_headers()
        if words[0] == "cut":
            cuts[words[2]] = cuts.get(words[2], 0) + 1
            if cuts[words[2]] <= int(words[1]):
                rest = rest[: (len(rest) + 1) // 2]
                self.close_connection = True
        if words[0] == "short":
            self.close_connection = True
        self.wfile.write(rest)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open(ready + ".new", "w", encoding="utf-8") as f:
    f.write("%d\n" % server.server_port)
os.rename(ready + ".new", ready)
server.serve_forever()
