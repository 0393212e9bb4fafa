"""Random bytes for servers of ours, ipf-sim and --listen of ipf-collect: requests with changes, HTTP/2, TLS, cut at any byte, reset.

    attack_listeners.py SEED COUNT HOST:PORT PATH     COUNT connections, many at a time; after each round PATH is still answered

Each connection ends with an answer or without, in memory that does not grow with the number of connections. Prints each problem, and
"N connections, N answered, N wrong".
"""
import concurrent.futures
import random
import re
import select
import socket
import struct
import sys

import attack
import attack_http2

BODIES = [b'{"model":"sim","messages":[{"role":"user","content":"a b c"}],"stream":true,"max_tokens":2}', b'{"model":"sim","prompt":"a","max_tokens":1}',
          b'{"prompt":[1,2,3],"max_tokens":1e999}', b'{"a":' * 3000, b"[" * 100000, b'{"model":"\xff","messages":"\\ud800"}', b"", b"null", b"\0" * 50]
PATHS = [b"/v1/chat/completions", b"/v1/completions", b"/metrics", b"/v1/models", b"/generate", b"/v1/embeddings", b"/", b"/%00", b"//..//", b"*", b"http://x/metrics", b"/" * 9000,
         b"/metrics?x=" + b"y" * 300, b"/tokenize", b"/v1/audio/transcriptions", b"/sim"]
FIELDS = [b"Content-Length: 5", b"Content-Length: -1", b"Content-Length: 99999999999999999999", b"Content-Length: 5\r\nContent-Length: 6", b"Transfer-Encoding: chunked",
          b"Transfer-Encoding: gzip, chunked", b"Expect: 100-continue", b"Connection: close", b"Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk", b"X: " + b"y" * 70000,
          b"\x00: x", b"Bad Name: x", b": x", b" folded", b"Accept: */*;q=nan, text/plain;version=99", b"Accept: application/vnd.google.protobuf;encoding=delimited",
          b"Accept-Encoding: gzip;q=1e9", b"Host: \xff", b"X-Prometheus-Scrape-Timeout-Seconds: -1e300", b"Content-Type: multipart/form-data; boundary=x", b"Authorization: Basic " + b"=" * 999]


def request(r):
    body = r.choice(BODIES)
    raw = b"%s %s %s\r\n" % (r.choice([b"GET", b"POST", b"POST", b"HEAD", b"PUT", b"get", b"", b"X" * 99]), r.choice(PATHS), r.choice([b"HTTP/1.1"] * 6 + [b"HTTP/1.0", b"HTTP/2.0", b"HTTP/9", b""]))
    raw += b"Host: x\r\n" if r.randrange(6) else b""
    fields = [r.choice(FIELDS) for _ in range(r.choice([0, 0, 1, 3]))]
    if r.randrange(3):
        fields.append(b"Content-Length: %d" % len(body))
    elif r.randrange(2):
        fields.append(b"Transfer-Encoding: chunked")
        body = r.choice([b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body), b"ffffffffffffffffff\r\n", b"-5\r\nx", b"3;" + b"e" * 5000 + b"\r\nabc\r\n0\r\nT: x\r\n\r\n"])
    raw += b"".join(field + b"\r\n" for field in fields) + b"\r\n" + body
    if r.randrange(3) == 0:
        raw = bytearray(raw)
        for _ in range(r.choice([1, 2, 9])):
            raw[r.randrange(len(raw))] = r.randrange(256)
        raw = bytes(raw)
    return raw


def case_of(r):
    way = r.randrange(8)
    if way == 0:
        frames = b"".join(r.choice(attack_http2.ATTACKS)(r, 1)[:100000] for _ in range(3))
        return r.choice([b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b""]) + attack_http2.frame(4, 0, 0) + frames
    if way == 1:
        return r.choice([b"\x16\3\1\2\0\1\0\1\xfc\3\3" + r.randbytes(500), r.randbytes(r.choice([1, 30, 3000])), b"\r\n" * 5000, b"\0" * 100000, b"GET /metrics\r\n"])
    return b"".join(request(r) for _ in range(r.choice([1, 1, 2, 6])))


def connect(host, port):
    return socket.create_connection((host, port), timeout=attack.HANGS / 2)


def one(seed, number, host, port):
    """Whether an answer came; a text if something is wrong."""
    r = random.Random("%d %d" % (seed, number))
    raw = case_of(r)
    if r.randrange(3) == 0:
        raw = raw[:r.randrange(len(raw) + 1)]
    with connect(host, port) as sock:
        try:
            for at in range(0, len(raw), size := r.choice([1 << 20, 1 << 20, 1000, 100])):
                sock.sendall(raw[at:at + size])
            if r.randrange(5) == 0:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return False
            sock.shutdown(socket.SHUT_WR)
            got = b""
            # a server may wait for the rest of a request: the client gives up on purpose
            while select.select([sock], [], [], 0.2)[0] and (part := sock.recv(1 << 20)):
                got = (got + part)[:4096]
        except OSError:
            return False
    if got and not re.match(rb"HTTP/1\.[01] [1-5]\d\d ", got):
        return "connection %d: not an answer of HTTP: %r to %r" % (number, got[:100], raw[:200])
    return bool(got)


def is_answered(host, port, path):
    with connect(host, port) as sock:
        sock.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % path.encode())
        return sock.recv(65536).startswith(b"HTTP/1.1 200 ")


def main(seed, count, address, path):
    attacks, answered = attack.Attack(), 0
    host, port = address.rsplit(":", 1)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for got in pool.map(lambda number: one(seed, number, host, int(port)), range(count)):
            if isinstance(got, str):
                attacks.report("seed %d" % seed, [got])
            else:
                answered += got
    if not is_answered(host, int(port), path):
        attacks.report("seed %d" % seed, ["%s is not answered afterwards" % path])
    print("%d connections, %d answered, %d wrong" % (count, answered, attacks.wrong))
    return 1 if attacks.wrong else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]))
