"""The part of GitLab's API that examples/ci needs: ci_registry.py FOLDER. Prints its port.

PUT keeps a file, GET gives it back or 404, under the last part of its path in FOLDER; POST to …/notes keeps the body there as notes. The job's token is
"job", that of comments "comments"; another one gets 401. A file "broken" in FOLDER makes every answer 500.
"""
import http.server, os, sys, urllib.parse

folder = sys.argv[1]


class Registry(http.server.BaseHTTPRequestHandler):
    def answer(self, status, body=b""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do(self):
        name = os.path.basename(self.path)
        file = os.path.join(folder, name)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        comment = self.command == "POST" and name == "notes"
        token = self.headers.get("PRIVATE-TOKEN") == "comments" if comment else self.headers.get("JOB-TOKEN") == "job"
        if os.path.exists(os.path.join(folder, "broken")):
            self.answer(500)
        elif not token:
            self.answer(401)
        elif self.command == "GET":
            if os.path.exists(file):
                with open(file, "rb") as kept:
                    self.answer(200, kept.read())
            else:
                self.answer(404, b'{"message":"404 Not Found"}')
        else:
            if comment:
                body = urllib.parse.parse_qs(body.decode())["body"][0].encode()
            with open(file, "wb") as kept:
                kept.write(body)
            self.answer(201)

    do_GET = do_PUT = do_POST = do

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
print(server.server_port, flush=True)
server.serve_forever()
