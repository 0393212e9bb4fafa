#!/usr/bin/env python3
"""Feeds texts a terminal would obey, reorder or hide through every door, and checks the output.

usage: terminal_canaries.py BIN FOLDER     FOLDER has chat.trace, chat.sched, chat.records and chat.results, plain text

Prints TAP: a line per door. Output for people (all of standard error, and standard output unless it is a stream or a
report in JSON) is UTF-8 without control characters but the line's end, without format characters and separators of
lines. Streams are data: there, control characters below U+0020 are JSON's escapes, and the rest is verbatim.
"""
import copy
import hashlib
import json
import os
import re
import socket
import subprocess
import sys
import threading
import unicodedata

BIN, FOLDER = sys.argv[1:]
os.chdir(FOLDER)
CANARY = "a\x1b[31mb\x07c\x7fd\u009b31me\u202ef\u2066g\u200fh\u061ci\u2028j\u200bk\U000e0041l\ufeffm\rn\ro\tp"
RAW = CANARY.encode() + b"\x9b31m\xe2\x80 \xff\xc0\x9b\xed\xa0\x80"
COMMANDS = {"ipf-prep": [[], ["fit"], ["stat"], ["tokenize"]], "ipf-sched": [[], ["stat"]], "ipf-fire": [[]], "ipf-collect": [[]],
            "ipf-report": [[]]}
ENV = dict(os.environ, XDG_CACHE_HOME=os.path.abspath("cache"), XDG_STATE_HOME=os.path.abspath("state"), HOME=FOLDER)
failed = False


def some(items, i):
    """With IPF_LONG all of them; else one, in turn."""
    return items if os.environ.get("IPF_LONG") else [items[i % len(items)]]


def unsafe(text):
    """The first thing in the bytes that must not reach a terminal, or None."""
    try:
        decoded = text.decode()
    except UnicodeDecodeError as why:
        return f"{why}: {text[max(0, why.start - 40):why.start + 40]!r}"
    for at, c in enumerate(decoded):
        if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp"):
            return f"U+{ord(c):04X} in {decoded[max(0, at - 40):at + 20]!r}"
    return None


class Door:
    """Collects the faults of the runs of one door."""

    def __init__(self, name):
        self.name, self.wrong, self.runs, self.seen = name, [], 0, 0

    def run(self, *command, stdin=b"", env=None, statuses=(0, 1, 2, 3)):
        command = [os.fsencode(c) for c in command]
        done = subprocess.run([os.path.join(os.fsencode(BIN), command[0])] + command[1:], input=stdin, capture_output=True,
                              env=dict(ENV, **(env or {})), timeout=120)
        self.runs += 1
        self.seen += b"\\x1b[31mb" in done.stdout + done.stderr
        said = [("standard error", done.stderr)]
        stream = done.stdout.startswith(b"{")
        if not stream:
            said.append(("standard output", done.stdout.replace(b"\r\n", b"\n") if b"csv" in command else done.stdout))
        elif any(c < 0x20 and c != 10 for c in done.stdout):
            self.wrong.append(f"{command!r}: a control character in JSON")
        for where, text in said:
            why = unsafe(text)
            if why:
                self.wrong.append(f"{command!r}: {where}: {why}")
        if done.returncode not in statuses:
            self.wrong.append(f"{command!r}: exit status {done.returncode}: {done.stderr[:300]!r}")
        return done

    def close(self, seen=1):
        global failed
        if self.seen < seen:
            self.wrong.append(f"the text was seen {self.seen} times in {self.runs} runs, expected {seen} or more")
        failed |= bool(self.wrong)
        print(("not ok" if self.wrong else "ok") + f" - {self.name} ({self.runs} runs)")
        for wrong in self.wrong[:10]:
            print("#   " + wrong[:1000])


def options(program, command):
    """The options taking a value, as the help shows them."""
    text = subprocess.run([os.path.join(BIN, program)] + command + ["--help"], capture_output=True).stdout.decode()
    return sorted(set(re.findall(r"^ +(?:-\w, )?(--[a-z0-9-]+) \S", text, re.M)))


def arguments():
    door = Door("arguments of every program")
    for program, commands in COMMANDS.items():
        for command in commands:
            for text in (CANARY.encode(), RAW, b"\xe2\x80" * 700, ("\u20ac" * 700).encode()):
                for word in (text, b"--" + text, b"-" + text, b"auto:" + text, b"poisson:" + text, b"poisson:rate=1,n=" + text,
                             b"http://" + text, b"name=" + text):
                    door.run(program, *command, word)
            for i, option in enumerate(options(program, command)):
                for text in some([CANARY.encode(), RAW, CANARY.encode() + b"=1", b"1" + CANARY.encode(), b"http://h/" + RAW], i):
                    door.run(program, *command, os.fsencode(option) + b"=" + text, "-q" if command != ["stat"] else "-o-")
    door.close(200)


def names():
    door = Door("names are refused")
    for command in (["ipf-sched", b"poisson:rate=5,n=3,name=" + CANARY.encode()],
                    ["ipf-sched", b"poisson:rate=5,n=3,name=x\xe2\x80\xaey"],
                    ["ipf-fire", "-u", "http://127.0.0.1:1", "-m", CANARY, "-t", "chat.trace", "chat.sched"],
                    ["ipf-prep", "sharegpt", "--models", CANARY + "=1", "chat.json"]):
        done = door.run(*command, statuses=(2,))
        if b"control characters" not in done.stderr:
            door.wrong.append(f"{command!r}: {done.stderr!r}")
    for name in ("session", "model", "tags"):
        value = {CANARY: 1} if name == "tags" else CANARY
        line = {"id": "a", "messages": [{"role": "user", "content": "x"}], "output_tokens": 3, name: value}
        door.run("ipf-prep", "jsonl", "--stop-on-bad", "-", stdin=json.dumps(line).encode() + b"\n")
        for ascii in (True, False):
            done = door.run("ipf-sched", "burst:n=1", "-t", "-", stdin=stream("trace", {}, [line], ascii), statuses=(3,))
            if b"control characters" not in done.stderr or b":2: " not in done.stderr:
                door.wrong.append(f"{name}: {done.stderr!r}")
    door.close(3)


def files():
    door = Door("names of files, and what is in them")
    os.makedirs(os.fsencode("d") + RAW, exist_ok=True)
    inside = os.path.join(b"d" + RAW, RAW.replace(b"/", b""))
    for content in (b"", RAW, b'{"ipf":"' + RAW + b'"}\n', b"\x1f\x8b" + RAW, b"\x28\xb5\x2f\xfd" + RAW, b"PAR1" + RAW,
                    RAW + b"," + RAW + b"\n1,2\n", b"[" + RAW + b"]", b"PK\x03\x04" + RAW):
        with open(inside, "wb") as file:
            file.write(content)
        for path in (inside, b"d" + RAW, b"missing" + RAW):
            for command in (["ipf-prep", "auto"], ["ipf-prep", "sharegpt"], ["ipf-prep", "stat"], ["ipf-prep", "azure"],
                            ["ipf-sched", "stat"], ["ipf-sched", "burst:n=1", "-t"], ["ipf-sched", "-r"],
                            ["ipf-fire", "-u", "http://127.0.0.1:1"], ["ipf-collect"], ["ipf-collect", "--explain"],
                            ["ipf-collect", "-t"], ["ipf-report"], ["ipf-prep", "tokenize", "-t"],
                            ["ipf-prep", "jsonl", "-t"], ["ipf-fire", "--api"], ["ipf-fire", "--calibration"],
                            ["ipf-collect", "--api"]):
                door.run(*command, path)
    door.close(100)


def stream(kind, header, lines, ascii=False):
    text = "".join(json.dumps(line, ensure_ascii=ascii) + "\n" for line in lines).encode()
    end = {"end": {"lines": len(lines), "sha256": hashlib.sha256(text).hexdigest()}}
    header = {"ipf": kind, "version": 1, **header}
    return json.dumps(header, ensure_ascii=ascii).encode() + b"\n" + text + json.dumps(end).encode() + b"\n"


def places(value, path=()):
    """The paths of all texts and keys in a JSON value."""
    if isinstance(value, dict):
        for key in value:
            yield path + (key,), True
            yield from places(value[key], path + (key,))
    elif isinstance(value, list):
        for i, item in enumerate(value[:3]):
            yield from places(item, path + (i,))
    elif isinstance(value, str):
        yield path, False


def changed(value, path, key):
    value = copy.deepcopy(value)
    at = value
    for step in path[:-1]:
        at = at[step]
    if key:
        at[CANARY] = at.pop(path[-1])
    else:
        at[path[-1]] = CANARY
    return value


def streams():
    readers = {"trace": [["ipf-prep", "stat"], ["ipf-sched", "burst:n=2", "-v", "-t"],
                         ["ipf-fire", "-u", "http://127.0.0.1:1", "--probe", "-t"]],
               "schedule": [["ipf-sched", "stat"], ["ipf-fire", "-v", "-u", "http://127.0.0.1:1", "-t", "chat.trace"]],
               "records": [["ipf-collect", "-v"], ["ipf-collect", "--explain"]],
               "results": [["ipf-report", "-v", "--by", "model"], ["ipf-report", "-f", "csv"], ["ipf-sched", "-v", "sweep:from=9", "-r"]]}
    files_of = {"trace": "chat.trace", "schedule": "chat.sched", "records": "chat.records", "results": "chat.results"}
    for kind, commands in readers.items():
        door = Door(f"texts and names in a {kind} stream")
        with open(files_of[kind], "rb") as file:
            header, *lines = [json.loads(line) for line in file][:-1]
        variants = [(changed(header, path, key), lines) for path, key in places(header) if path[0] not in ("ipf", "version")]
        for i in range(min(len(lines), 1)):
            variants += [(header, lines[:i] + [changed(lines[i], path, key)] + lines[i + 1:]) for path, key in places(lines[i])]
        for i, (new_header, new_lines) in enumerate(variants):
            data = stream(kind, {k: v for k, v in new_header.items() if k not in ("ipf", "version")}, new_lines)
            with open("changed", "wb") as file:
                file.write(data)
            for command in some(commands, i):
                door.run(*command, "changed")
        for data in (b'{"ipf":"' + kind.encode() + b'","version":1,"x":"' + RAW + b'"}\n', RAW + b"\n", b"{" + RAW + b"}\n",
                     json.dumps(header).encode() + b"\n{" + RAW + b"}\n"):
            for command in commands:
                door.run(*command, "-", stdin=data)
        door.close(kind != "trace")  # a trace's names are refused, and no other text of it is shown


ANSWERS = [
    b"HTTP/1.1 500 " + RAW.replace(b"\r", b"") + b"\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 " + RAW.replace(b"\r", b"") + b"\r\n\r\n",
    RAW + b"\r\n\r\n",
    b"HTTP/1.1 404 Not Found\r\nX-Why: " + RAW.replace(b"\r", b"") + b"\r\nContent-Type: " + RAW.replace(b"\r", b"") +
    b"\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:1/" + RAW.replace(b"\r", b"") + b"\r\nContent-Length: 0\r\n\r\n",
]
for body in (json.dumps({"error": {"message": CANARY, "type": CANARY}}).encode(), RAW, b"<title>" + RAW + b"</title>",
             json.dumps({CANARY: CANARY}).encode(),
             b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": CANARY}, "finish_reason": None}], CANARY: CANARY},
                                    ensure_ascii=False).encode() +
             b"\n\nevent: " + RAW.replace(b"\r", b"") + b"\ndata: {}\n\ndata: " + RAW.replace(b"\r", b"") + b"\n\ndata: " +
             json.dumps({"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": CANARY}]}).encode() +
             b"\n\ndata: [DONE]\n\n"):
    for status in (b"200 OK", b"400 Bad Request"):
        ANSWERS.append(b"HTTP/1.1 " + status + b"\r\nContent-Type: " + (b"text/event-stream" if body.startswith(b"data") else
                       b"application/json") + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


def serve(connection, answer):
    try:
        request = b""
        while b"\r\n\r\n" not in request:
            request += connection.recv(65536) or b"\r\n\r\n"
        head, _, rest = request.partition(b"\r\n\r\n")
        size = re.search(rb"(?i)content-length: (\d+)", head)
        while size and len(rest) < int(size.group(1)):
            rest += connection.recv(65536) or bytes(1 << 20)
        connection.sendall(answer[0])
    except OSError:
        pass
    connection.close()


def listen(server, answer):
    while True:
        threading.Thread(target=serve, args=(server.accept()[0], answer), daemon=True).start()


def servers():
    door = Door("a server's answers")
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(64)
    answer = [b""]
    threading.Thread(target=listen, args=(server, answer), daemon=True).start()
    url = f"http://127.0.0.1:{server.getsockname()[1]}"
    with open("one.sched", "wb") as file:
        file.write(door.run("ipf-sched", "burst:n=2,name==cmd", "-q", "-t", "chat.trace").stdout)
    for data in ANSWERS:
        answer[0] = data
        door.run("ipf-fire", "-u", url, "-m", "sim", "--probe", "-t", "chat.trace")
        door.run("ipf-fire", "-u", url, "-m", "sim", "-v", "-t", "chat.trace", "one.sched", "-o", "canary.records", "--force")
        door.run("ipf-fire", "-u", url, "-m", "sim", "-v", "-t", "chat.trace", "one.sched", "-o", "canary.records")
        door.run("ipf-collect", "-v", "--text", "canary.records", "-o", "canary.results")
        door.run("ipf-collect", "--explain", "canary.records")
        door.run("ipf-report", "-v", "canary.results")
        if not re.search(rb"(?m)^'=cmd,", door.run("ipf-report", "-f", "csv", "canary.results").stdout):
            door.wrong.append("the name of a stage is a formula in CSV")
        door.run("ipf-report", "-f", "json", "canary.results")
        door.run("ipf-prep", "sharegpt", url + "/x.json")
    door.close(8)


for check in (arguments, names, files, streams, servers):
    check()
sys.exit(failed)
