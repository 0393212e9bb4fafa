#!/usr/bin/env python3
"""A server that is no Prometheus, or not in the mood: prometheus_server.py MODE; prints its port. Modes:

bad          400 with an error in JSON           denied       401 without a body
unavailable  503 with an error in JSON           redirect     302
garbage      HTML                                vector       success, but of another type
empty        success without series              huge         100 MB
hang         never answers                       dies         closes the connection in the middle
bearer       401 without the token, else the value 7 at each step
"""
import http.server
import json
import sys
import time
import urllib.parse

MODE = sys.argv[1]
ESCAPE = "\x1b[2J"


def values(form):
    start, end, step = (float(form[name][0]) for name in ("start", "end", "step"))
    count = round((end - start) / step) + 1
    return [[round(start + i * step, 3), "7"] for i in range(count)]


def answer(path, form, token):
    """Status, body."""
    names = path.endswith("/values")
    data = ["vllm:num_requests_running"] if names else {"resultType": "matrix", "result": []}
    error = {"status": "error", "errorType": "bad_data", "error": f"invalid {ESCAPE} parameter"}
    if MODE == "bad":
        return 400, json.dumps(error)
    if MODE == "unavailable":
        return 503, json.dumps({**error, "errorType": "unavailable", "error": "try later"})
    if MODE == "denied" or (MODE == "bearer" and token != "Bearer secret-of-the-test"):
        return 401, ""
    if MODE == "redirect":
        return 302, ""
    if MODE == "garbage":
        return 200, f"<html>{ESCAPE}</html>"
    if MODE == "vector":
        data = {"resultType": "vector", "result": []}
        return 200, json.dumps({"status": "success" if not names else "odd", "data": data})
    if MODE == "bearer":
        data["result"] = [{"metric": {"job": "a"}, "values": values(form)}]
    return 200, json.dumps({"status": "success", "data": data})


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_one(self):
        url = urllib.parse.urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        if MODE == "hang":
            time.sleep(1000)
        if MODE == "huge":
            self.send_response(200)
            self.send_header("Content-Length", str(100 << 20))
            self.end_headers()
            try:
                for _ in range(100):
                    self.wfile.write(b" " * (1 << 20))
            except OSError:
                self.close_connection = True
            return
        status, text = answer(url.path, urllib.parse.parse_qs(body or url.query), self.headers.get("Authorization"))
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "http://127.0.0.1:1/")
        self.send_header("Content-Length", str(len(text.encode()) + (1000 if MODE == "dies" else 0)))
        self.end_headers()
        self.wfile.write(text.encode())
        self.close_connection = MODE == "dies"

    do_GET = do_POST = handle_one

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
