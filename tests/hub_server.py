#!/usr/bin/env python3
"""A server with the routes of the Hugging Face hub, for tests, on a free port of 127.0.0.1, and one for its large files on another port.

    python3 hub_server.py FOLDER LOG READY

FOLDER has repositories: models/OWNER/NAME/REVISION/FILE (models/NAME/… for one without an owner) and datasets/…; a folder
REVISION is a branch or a tag. The commit of a revision is the SHA-1 of its name and repository. READY gets the port. LOG gets a
line a request: server (hub or lfs), method, path, and the Authorization and Range headers.

A file in REVISION, whose name begins with a dot, says how the repository behaves; lines of KEY VALUE:

    gated           401 with GatedRepo without the token, 403 with it
    private TOKEN   401 with RepoNotFound without this token
    moved NAME      a relative redirect to another name
    absolute        large files: redirects on this server, absolute
    cut N           the first N answers with a file end in its middle
    wrong           large files: other bytes than announced
    more            answers are longer than announced
    slow FILE       waits until FILE exists before it sends the second half
    status CODE     this status for every file
    noheaders       no X-Repo-Commit
    insecure URL    large files: redirects to this URL
    chunked         no length
"""
import hashlib
import http.server
import json
import os
import sys
import threading
import time
import urllib.parse

root, log, ready = sys.argv[1:]
LARGE = 12000  # bytes, and more: "LFS"
counts = {}
lock = threading.Lock()


def rules(folder):
    try:
        with open(os.path.join(folder, ".rules"), encoding="utf-8") as f:
            return dict((line.split(None, 1) + [""])[:2] for line in f.read().splitlines())
    except OSError:
        return {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self):
        seen = " ".join("%s=%s" % (n, self.headers[n]) for n in ["Authorization", "Range"] if n in self.headers)
        with lock, open(log, "a", encoding="utf-8") as f:
            f.write(("%s %s %s %s" % (self.server.role, self.command, self.path, seen)).strip() + "\n")

    def answer(self, code, body=b"", **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, code, error, message):
        self.answer(code, message.encode(), X_Error_Code=error, X_Error_Message=message)

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.note()
        path, _, query = self.path.partition("?")
        parts = [urllib.parse.unquote(p) for p in path.strip("/").split("/")]
        if self.server.role == "lfs" or parts[0] == "lfs":
            return self.send_file(os.path.join(root, *parts[1:]))
        if parts[0] == "api":
            return self.api(parts[1:], urllib.parse.parse_qs(query))
        kind = parts.pop(0) if parts[0] == "datasets" else "models"
        if "resolve" not in parts:
            return self.answer(404)
        at = parts.index("resolve")
        self.resolve(kind, "/".join(parts[:at]), parts[at + 1], "/".join(parts[at + 2:]))

    def repository(self, kind, name, revision):
        """The folder; None after a refusal."""
        folder = os.path.join(root, kind, name)
        branches = [d for d in sorted(os.listdir(folder))] if os.path.isdir(folder) else []
        for branch in branches:
            if revision == commit(kind, name, branch):
                revision = branch
        top = os.path.join(folder, revision)
        rule = rules(os.path.join(folder, branches[0])) if branches else {}
        token = self.headers.get("Authorization", "").partition("Bearer ")[2]
        if "gated" in rule:
            self.refuse(403 if token else 401, "GatedRepo", "Access to model %s is restricted." % name)
        elif not branches or ("private" in rule and rule["private"] != token):
            if token and branches:
                self.answer(401, b"", X_Error_Message="Invalid credentials in Authorization header")
            else:
                self.refuse(404 if token else 401, "RepoNotFound", "Repository not found")
        elif not os.path.isdir(top):
            self.refuse(404, "RevisionNotFound", "Invalid rev id: %s" % revision)
        else:
            return top, commit(kind, name, os.path.basename(top))
        return None, None

    def api(self, parts, query):
        kind = parts.pop(0)
        if "search" in query:
            found = [o + "/" + n for o in sorted(os.listdir(os.path.join(root, kind)))
                     for n in sorted(os.listdir(os.path.join(root, kind, o))) if query["search"][0].lower() in n.lower()]
            return self.answer(200, json.dumps([{"id": i, "modelId": i} for i in found]).encode())
        revision = "main"
        if "revision" in parts:
            revision = parts[parts.index("revision") + 1]
            parts = parts[:parts.index("revision")]
        top, sha = self.repository(kind, "/".join(parts), revision)
        if top:
            names = sorted(os.path.relpath(os.path.join(d, f), top) for d, _, fs in os.walk(top) for f in fs if f != ".rules")
            body = {"id": "/".join(parts), "sha": sha, "siblings": [{"rfilename": n} for n in names]}
            self.answer(200, json.dumps(body).encode(), Content_Type="application/json")

    def resolve(self, kind, name, revision, file):
        rule = rules(os.path.join(root, kind, name, "main"))
        if "moved" in rule:
            return self.answer(307, Location=self.path.replace("/%s/" % name, "/%s/" % rule["moved"], 1))
        top, sha = self.repository(kind, name, revision)
        if not top:
            return None
        rule = rules(top)
        if "status" in rule:
            return self.answer(int(rule["status"]))
        path = os.path.join(top, file)
        if not os.path.isfile(path):
            return self.refuse(404, "EntryNotFound", "Entry not found")
        with open(path, "rb") as f:
            data = f.read()
        headers = {} if "noheaders" in rule else {"X_Repo_Commit": sha}
        if len(data) < LARGE:
            blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
            return self.send_file(path, ETag='"%s"' % blob, **headers)
        port = self.server.server_port if "absolute" in rule else lfs.server_port
        return self.answer(302, b"Found. Redirecting", Location=rule.get("insecure") or "http://127.0.0.1:%d/lfs/%s"
                           % (port, urllib.parse.quote(os.path.relpath(path, root))), X_Linked_Size=str(len(data)),
                           X_Linked_ETag='"%s"' % hashlib.sha256(data).hexdigest(), ETag='"of-the-redirect"', **headers)

    def send_file(self, path, **headers):
        rule = rules(os.path.dirname(path))
        with open(path, "rb") as f:
            data = f.read()
        if "wrong" in rule:
            data = b"x" + data[1:]
        start = int(self.headers.get("Range", "bytes=0-")[6:].split("-")[0])
        rest = data[start:]
        self.send_response(206 if start else 200)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if start:
            self.send_header("Content-Range", "bytes %d-%d/%d" % (start, len(data) - 1, len(data)))
        if "more" in rule and self.command == "GET":
            rest += b"and more"
        if "chunked" in rule:
            self.close_connection = True
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        if self.command == "HEAD":
            return
        with lock:
            counts[path] = counts.get(path, 0) + 1
            cut = counts[path] <= int(rule.get("cut", "0"))
        half = len(rest) // 2
        self.wfile.write(rest[:half])
        self.wfile.flush()
        while "slow" in rule and not os.path.exists(rule["slow"]):
            time.sleep(0.02)
        if cut:
            self.close_connection = True
        else:
            self.wfile.write(rest[half:])


def commit(kind, name, revision):
    return hashlib.sha1(("%s/%s/%s" % (kind, name, revision)).encode()).hexdigest()


def listen(role):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.role = role
    return server


lfs = listen("lfs")
threading.Thread(target=lfs.serve_forever, daemon=True).start()
hub = listen("hub")
with open(ready + ".new", "w", encoding="utf-8") as f:
    f.write("%d\n" % hub.server_port)
os.rename(ready + ".new", ready)
hub.serve_forever()
