#!/usr/bin/env python3
"""A server whose /metrics misbehaves as asked: metrics_server.py MODE [FILE]; prints its port, and on standard error a line for
each request that came. Modes:

good         counters that grow with each scrape, gzip if accepted
head         never answers          body        stops in the middle of the body
dies         closes the connection in the middle
garbage      HTML                   big         100 MB         endless     never ends
bomb         gzip of 100 MB           escapes     labels and names that a terminal would obey
redirect     elsewhere, to FILE (a URL)
bearer       200 only with the token in FILE, otherwise 401
resets       the counter begins again at every second scrape
late         hangs at the third scrape and later
"""
import gzip
import socket
import sys
import threading
import time
import zlib

MODE = sys.argv[1]
FILE = sys.argv[2] if len(sys.argv) > 2 else None
count = 0
lock = threading.Lock()


def head(length=None, status="200 OK", more=""):
    text = f"HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nConnection: close\r\n{more}"
    return (text + (f"Content-Length: {length}\r\n" if length is not None else "") + "\r\n").encode()


def metrics(n):
    tokens = 1000 * n if MODE != "resets" else 1000 * (n % 2) + 10
    text = ("# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 3\n"
            f"# TYPE vllm:generation_tokens counter\nvllm:generation_tokens_total {tokens}\n")
    if MODE == "escapes":
        text += 'vllm:num_requests_waiting{x="\x1b[2J\x07"} 1\n{"own\x1b]0;title\x07"} 5\n'
    return text.encode()


def bomb():
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = b"#" + b" " * 999998 + b"\n"
    return b"".join(packer.compress(block) for _ in range(100)) + packer.flush()


def serve(connection, n):
    request = b""
    while b"\r\n\r\n" not in request:
        part = connection.recv(65536)
        if not part:
            return
        request += part
    print("request", n, file=sys.stderr, flush=True)
    if MODE == "head" or (MODE == "late" and n >= 3):
        time.sleep(1000)
    elif MODE == "body":
        connection.sendall(head(10000) + metrics(n))
        time.sleep(1000)
    elif MODE == "dies":
        connection.sendall(head(10000) + metrics(n))
    elif MODE == "garbage":
        body = b"<html>\x1b[2Jnot found</html>"
        connection.sendall(head(len(body)) + body)
    elif MODE == "big":
        connection.sendall(head(100 << 20))
        for i in range(100):
            connection.sendall((b"vllm:num_requests_running 3\n" * 37450)[:1 << 20])
    elif MODE == "endless":
        connection.sendall(head())
        while True:
            connection.sendall(b"vllm:num_requests_running 3\n" * 1000)
    elif MODE == "bomb":
        body = BOMB
        connection.sendall(head(len(body), more="Content-Encoding: gzip\r\n") + body)
    elif MODE == "redirect":
        connection.sendall(head(0, "302 Found", f"Location: {FILE}\r\n"))
    elif MODE == "bearer" and f"authorization: bearer {open(FILE).read().strip()}" not in request.decode().lower():
        connection.sendall(head(0, "401 Unauthorized"))
    elif b"gzip" in request.lower():
        body = gzip.compress(metrics(n))
        connection.sendall(head(len(body), more="Content-Encoding: gzip\r\n") + body)
    else:
        body = metrics(n)
        connection.sendall(head(len(body)) + body)


def handle(connection):
    global count
    with lock:
        count += 1
        n = count
    try:
        serve(connection, n)
    except OSError:
        pass
    connection.close()


BOMB = bomb() if MODE == "bomb" else b""
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=handle, args=(listener.accept()[0],), daemon=True).start()
