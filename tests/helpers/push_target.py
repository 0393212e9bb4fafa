"""A target for --push that answers as the path says: push_target.py LOG. Prints its port.

    /ok /400 /500 …     that status, with a text that repeats the Authorization header
    /429                429 with Retry-After: 1 twice, then 200
    /late               500 twice, then 200
    /hang               never an answer
    /endless            an answer without end

Appends a line to LOG for each request: METHOD PATH BYTES CONTENT-TYPE AUTHORIZATION.
"""
import collections, http.server, sys, time

seen = collections.Counter()


class Target(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        way = self.path.split("/")[1]
        seen[way] += 1
        with open(sys.argv[1], "a") as log:
            log.write(f"{self.command} {self.path} {len(body)} {self.headers.get('Content-Type', '-').split(';')[0]} "
                      f"{self.headers.get('Authorization', '-')}\n")
        if way == "hang":
            time.sleep(1000)
        status = {"429": 429, "late": 500}.get(way, 200) if seen[way] <= 2 else 200
        if way.isdigit() and way != "429":
            status = int(way)
        text = f"status {status} for {self.headers.get('Authorization')}\nmore\n".encode()
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", "1")
        if way == "endless":
            self.end_headers()
            while True:
                self.wfile.write(b"x" * 65536)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_PUT = do_POST = answer

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Target)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
