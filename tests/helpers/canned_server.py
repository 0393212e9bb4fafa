"""A server whose answers a script computes: canned_server.py SCRIPT prints its port.

The script has answer(path, headers, body), which returns the status, the body, and headers such as ("Location", "http://a/"). A body is bytes, an
iterator of bytes without a length, or else sent as JSON."""
import collections.abc
import http.server
import json
import sys

scope = {}
with open(sys.argv[1], encoding="utf-8") as script:
    exec(compile(script.read(), sys.argv[1], "exec"), scope)


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        asked = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, body, *headers = scope["answer"](self.path, self.headers, asked)
        endless = isinstance(body, collections.abc.Iterator)
        if not endless and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            headers.append(("Content-Type", "application/json"))
        self.send_response(status)
        for header in headers:
            self.send_header(*header)
        if not endless:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.close_connection = self.close_connection or endless
        try:
            for piece in body if endless else [body]:
                self.wfile.write(piece)
        except OSError:
            self.close_connection = True

    do_GET = do_PUT = do_POST


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
print(server.server_address[1], flush=True)
server.serve_forever()
