"""As much of the API server of Kubernetes as the operator needs, and its failures: api_server.py TOKEN.

Prints its port. Objects live in memory and have versions, generations, finalizers and a status of their own; lists come in pages, watches begin
at a version. GET /test/log has the requests so far, a line each. POST /test/… for the test:

  put?resource=R            the object of the body, as it is
  finish?job=J&phase=P      the Job has ended; the body is what its pod leaves as its termination message
  compact                   versions up to now are forgotten: watches get an error with the code 410
  cut                       connections of watches are reset
  fail?status=S&count=N     the next N requests of the operator get this status; S=0: no answer
  conflict?count=N          somebody changes an object just before each of the next N changes of a status
  huge                      watches get a line of 6 MB
"""

import http.server, json, socket, sys, threading, time, urllib.parse

TOKEN = sys.argv[1]
lock = threading.Condition()
objects, history, log = {}, [], []
state = {"version": 100, "oldest": 0, "fail": (0, 0), "conflicts": 0, "epoch": 0, "huge": 0, "number": 0}


def stamp():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def changed(kind, what, value):
    state["version"] += 1
    value["metadata"]["resourceVersion"] = str(state["version"])
    history.append((state["version"], kind, what, json.dumps(value)))
    lock.notify_all()


def store(kind, value, what):
    objects.setdefault(kind, {})[value["metadata"]["name"]] = value
    changed(kind, what, value)


def create(kind, value):
    state["number"] += 1
    value["metadata"].update(uid=f"uid-{state['number']}", creationTimestamp=value["metadata"].get("creationTimestamp", stamp()), generation=1)
    if kind == "jobs":
        value.setdefault("status", {"active": 1, "ready": 0 if "stuck" in value["metadata"]["name"] else 1})
    store(kind, value, "ADDED")


def remove(kind, value):
    meta = value["metadata"]
    if meta.get("finalizers"):
        meta["deletionTimestamp"] = stamp()
        changed(kind, "MODIFIED", value)
    else:
        objects[kind].pop(meta["name"], None)
        changed(kind, "DELETED", value)


def merge(value, patch):
    if not isinstance(patch, dict):
        return patch
    value = dict(value) if isinstance(value, dict) else {}
    for key, inner in patch.items():
        if inner is None:
            value.pop(key, None)
        else:
            value[key] = merge(value.get(key), inner)
    return value


def selected(value, selector, fields=""):
    if fields and value["metadata"]["name"] != fields.removeprefix("metadata.name="):
        return False
    labels = value["metadata"].get("labels", {})
    return all(labels.get(part.split("=")[0]) == part.split("=")[1] for part in selector.split(",") if part)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, message):
        self.reply(status, {"kind": "Status", "code": status, "message": message})

    def handle_any(self):
        url = urllib.parse.urlsplit(self.path)
        query = {key: values[-1] for key, values in urllib.parse.parse_qs(url.query).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if url.path.startswith("/test/"):
            with lock:
                return self.test(url.path[6:], query, body)
        with lock:
            log.append(f"{self.command} {self.path}")
            status, count = state["fail"] if self.headers["User-Agent"].startswith("ipf/") else (0, 0)
            if count:
                state["fail"] = (status, count - 1)
        if count:
            if status:
                return self.refuse(status, "as the test says")
            self.close_connection = True
            return self.connection.shutdown(socket.SHUT_RDWR)
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.refuse(401, "Unauthorized")
        parts = url.path.split("/namespaces/ns/")
        if len(parts) != 2:
            return self.refuse(404, "not found")
        if query.get("watch"):
            return self.watch(parts[1], query)
        with lock:
            return self.serve(parts[1].split("/"), query, json.loads(body or b"null"))

    do_GET = do_POST = do_PATCH = do_DELETE = handle_any

    def serve(self, path, query, body):
        kind = path[0]
        if len(path) == 1:
            if self.command == "GET":
                return self.page(kind, query)
            name = body["metadata"]["name"]
            if kind == "jobs" and "refused" in name:
                return self.refuse(422, "Job is invalid: as the test says")
            if name in objects.get(kind, {}):
                return self.refuse(409, f'{kind} "{name}" already exists')
            create(kind, body)
            return self.reply(201, body)
        value = objects.get(kind, {}).get(path[1])
        if not value:
            return self.refuse(404, f'{kind} "{path[1]}" not found')
        if self.command == "DELETE":
            remove(kind, value)
            return self.reply(200, {"kind": "Status", "status": "Success"})
        if self.command == "PATCH":
            return self.patch(kind, value, path[2:], body)
        return self.reply(200, value)

    def patch(self, kind, value, sub, body):
        if sub == ["status"] and state["conflicts"]:
            state["conflicts"] -= 1
            value["metadata"].setdefault("annotations", {})["somebody"] = str(state["conflicts"])
            changed(kind, "MODIFIED", value)
        if body["metadata"].get("resourceVersion", value["metadata"]["resourceVersion"]) != value["metadata"]["resourceVersion"]:
            return self.refuse(409, "the object has been modified")
        new = merge(value, body)
        for part in ("status", "spec"):  # the status is changed by its own path only, and by nothing else
            if (part == "status") != (sub == ["status"]) and part in value:
                new[part] = value[part]
        if new.get("spec") != value.get("spec"):
            new["metadata"]["generation"] += 1
        store(kind, new, "MODIFIED")
        if new["metadata"].get("deletionTimestamp") and not new["metadata"].get("finalizers"):
            remove(kind, new)
        return self.reply(200, new)

    def page(self, kind, query):
        if int(query.get("continue", state["version"])) < state["oldest"]:
            return self.refuse(410, "too old")
        names = sorted(name for name, value in objects.get(kind, {}).items() if selected(value, query.get("labelSelector", ""), query.get("fieldSelector", "")))
        begin = int(query.get("offset", 0)) if not query.get("continue") else int(query["continue"]) % 1000
        end = begin + min(2, int(query.get("limit", 2)))
        meta = {"resourceVersion": str(state["version"])}
        if end < len(names):
            meta["continue"] = str(state["version"] * 1000 + end)
        self.reply(200, {"metadata": meta, "items": [objects[kind][name] for name in names[begin:end]]})

    def watch(self, kind, query):
        with lock:
            epoch, at = state["epoch"], int(query["resourceVersion"])
            self.send_response(200)
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            end = time.monotonic() + float(query["timeoutSeconds"])
            while state["epoch"] == epoch and time.monotonic() < end:
                lines = []
                if at < state["oldest"]:
                    lines = [json.dumps({"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired"}})]
                    epoch = None
                elif state["huge"]:
                    state["huge"] -= 1
                    lines = ['{"type": "ADDED", "object": "' + "x" * 6000000 + '"}']
                else:
                    for version, of, what, text in history:
                        if version > at and of == kind and selected(json.loads(text), query.get("labelSelector", "")):
                            lines.append('{"type": "%s", "object": %s}' % (what, text))
                    at = state["version"]
                    lines.append(json.dumps({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": str(at)}}}))
                lock.release()
                try:
                    self.wfile.write(("\n".join(lines) + "\n").encode())
                except OSError:
                    return
                finally:
                    lock.acquire()
                if state["version"] == at and state["epoch"] == epoch and at >= state["oldest"] and not state["huge"]:
                    lock.wait(1)

    def test(self, what, query, body):
        if what == "log":
            return self.reply(200, log)
        if what == "put":
            value = json.loads(body)
            create(query["resource"], value)
        elif what == "finish":
            job = objects["jobs"][query["job"]]
            job["status"] = {"conditions": [{"type": query["phase"], "status": "True"}]}
            ended = {"state": {"terminated": {"exitCode": 0, "message": body.decode()}}}
            labels = {"batch.kubernetes.io/job-name": query["job"]}
            create("pods", {"metadata": {"name": f"{query['job']}-x", "labels": labels}, "status": {"containerStatuses": [ended]}})
            changed("jobs", "MODIFIED", job)
        elif what == "compact":
            state["version"] += 1
            state["oldest"] = state["version"]
            history.clear()
        elif what == "cut":
            state["epoch"] += 1
        elif what == "fail":
            state["fail"] = (int(query["status"]), int(query["count"]))
        elif what == "conflict":
            state["conflicts"] = int(query["count"])
        elif what == "huge":
            state["huge"] = 1
        lock.notify_all()
        self.reply(200, {})


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
