#!/usr/bin/env python3
"""OpenAI's Files and Batches, for a test of batch.mk: batch_server.py LOG KEY [MODE]; prints its port.

A batch is validating for 1 s, in progress for 2 s and finalizing for 1 s. Each request is answered with 3 output tokens and as many input tokens as
its messages have characters; those whose id ends in 7 fail with status 400. MODE: failed (the input is refused), lost (an answer is missing,
another one comes twice), slow (never ends). LOG has a line for each request that came.
"""
import email
import http.server
import json
import sys
import threading
import time

LOG, KEY, MODE = sys.argv[1], sys.argv[2], (sys.argv[3:] or [""])[0]
files, batches, lock = {}, {}, threading.Lock()


def answers(lines):
    good, bad = [], []
    for line in lines:
        name = line["custom_id"]
        if name.endswith("7"):
            bad.append({"custom_id": name, "response": {"status_code": 400, "body": {"error": {"message": "no"}}}, "error": None})
            continue
        size = sum(len(m["content"]) for m in line["body"]["messages"])
        body = {"choices": [{"message": {"role": "assistant", "content": "x"}}], "usage": {"prompt_tokens": size, "completion_tokens": 3}}
        good.append({"custom_id": name, "response": {"status_code": 200, "body": body}, "error": None})
    if MODE == "lost":
        good = good[1:] + good[-1:]
    return good[::-1], bad


def state(batch):
    age, begin = time.time() - batch["created"], int(batch["created"])
    told = {"id": batch["id"], "object": "batch", "created_at": begin, "status": "validating",
            "request_counts": {"total": len(batch["lines"]), "completed": 0, "failed": 0}}
    if MODE == "failed" and age > 1 and "told" in batch:
        return told | {"status": "failed", "errors": {"data": [{"message": "line 3 is no request"}]}}
    phases = (("in_progress", "in_progress_at", 1), ("finalizing", "finalizing_at", 3), ("completed", "completed_at", 4))
    over = sum(age >= at and not (MODE == "slow" and status == "completed") for status, _, at in phases)
    batch["told"] = min(over, batch.get("told", -1) + 1)  # no phase is passed over, however late a client asks
    for status, key, at in phases[:batch["told"]]:
        told |= {"status": status, key: begin + at}
    if told["status"] == "completed":
        told |= {"output_file_id": batch["id"] + "-out", "error_file_id": batch["id"] + "-err" if batch["bad"] else None}
    return told


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, value):
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def handle_one(self, body):
        with lock:
            with open(LOG, "a", encoding="utf-8") as log:
                print(self.command, self.path, file=log)
            if self.headers.get("Authorization") != f"Bearer {KEY}":
                return self.answer(401, {"error": {"message": "wrong key"}})
            if self.path == "/v1/files" and body is not None:
                form = email.message_from_bytes(f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode() + body)
                parts = {p.get_param("name", header="content-disposition"): p.get_payload(decode=True) for p in form.get_payload()}
                assert parts["purpose"] == b"batch"
                name = f"file-{len(files)}"
                files[name] = parts["file"]
                return self.answer(200, {"id": name})
            if self.path == "/v1/batches" and body is not None:
                asked = json.loads(body)
                lines = [json.loads(line) for line in files[asked["input_file_id"]].splitlines()]
                assert all(line["method"] == "POST" and line["url"] == asked["endpoint"] for line in lines)
                name = f"batch_{len(batches)}"
                good, bad = answers(lines)
                batches[name] = {"id": name, "created": time.time(), "lines": lines, "bad": bad}
                files[name + "-out"] = "".join(json.dumps(line) + "\n" for line in good).encode()
                files[name + "-err"] = "".join(json.dumps(line) + "\n" for line in bad).encode()
                told = state(batches[name])
                del batches[name]["told"]  # the first question for the status gets "validating" again
                return self.answer(200, told)
            if self.path.startswith("/v1/batches/"):
                return self.answer(200, state(batches[self.path.split("/")[3]]))
            if self.path.startswith("/v1/files/"):
                return self.answer(200, files[self.path.split("/")[3]])
            return self.answer(404, {"error": {"message": "no such path"}})

    def do_GET(self):
        self.handle_one(None)

    def do_POST(self):
        self.handle_one(self.rfile.read(int(self.headers["Content-Length"])))

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
