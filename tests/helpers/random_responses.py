#!/usr/bin/env python3
"""Random HTTP/1.1 responses, as our reader and curl understand them: whether they are whole, the status, and the body's bytes.

    random_responses.py SEED COUNT READERS     READERS: the program of tests/differ/readers.c

Where we are stricter, or curl is, must be in the lists below, which have the reason; http1_responses.txt has each of them by example. Prints
the differences that are not, then the number of responses of each outcome.
"""
import collections
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading

# Why we refuse responses curl may accept. All else we refuse, curl has to refuse, too.
STRICTER = {
    "invalid status line": "one space each, three digits (RFC 9112 4)",
    "control character in the status line": "a bare CR is invalid (RFC 9112 2.2)",
    "no HTTP/1 status line": "HTTP/2 is no text, and the name is in upper case (RFC 9112 2.3)",
    "switching protocols without a request for it": "no upgrade is ever requested (RFC 9110 7.8)",
    "empty Content-Length": "no length (RFC 9110 8.6)",
    "Content-Length is no number": "no length (RFC 9110 8.6): curl takes the digits before what is none, or reads to the end",
    "Content-Length is too large": "a client must not guess (RFC 9110 8.6): curl reads until the connection closes",
    "several values of Content-Length": "the first is no better than the others (RFC 9112 6.3)",
    "a Transfer-Encoding other than chunked": "no such coding is wanted (RFC 9112 6.1)",
    "chunked twice": "not twice (RFC 9112 6.1)",
    "folded header line": "deprecated (RFC 9112 5.2)",
    "header line without a colon": "no header (RFC 9112 5): curl drops what has no colon once the head has begun",
    "white space before a header's colon": "not allowed (RFC 9112 5.1)",
    "invalid header name": "no name (RFC 9110 5.1)",
    "control character in a header": "a bare CR is invalid (RFC 9112 2.2)",
    "both Content-Length and Transfer-Encoding": "to be handled as an error (RFC 9112 6.3)",
    "Transfer-Encoding in a message of HTTP/1.0": "its framing is faulty (RFC 9112 6.1)",
    "too many interim responses": "a limit of ours against endless ones",
    "line of a chunk is too long": "a limit of ours (RFC 9112 7.1.1)",
    "control character in a chunk extension": "no extension (RFC 9112 7.1.1)",
    "invalid character after a chunk size": "no size (RFC 9112 7.1)",
    "no LF after the CR of a chunk size": "CR LF (RFC 9112 7.1)",
    "no LF after the CR of a chunk": "CR LF (RFC 9112 7.1)",
    "chunk is longer than its size": "CR LF (RFC 9112 7.1): curl does not miss the CR after a chunk's data",
}
# Responses curl refuses although they are right, by its exit status.
CURL_STRICTER = {
    1: "a higher minor version is read as 1.1 (RFC 9110 2.5)",
    27: "curl's limit of a header line is 100 kB",
}

STATUS = ["HTTP/1.1 200 OK"] * 12 + ["HTTP/1.0 200 OK", "HTTP/1.1 200", "HTTP/1.1 200 ", "HTTP/1.1 404 Not Found", "HTTP/1.1 204 None", "HTTP/1.1 304 Same",
                                     "HTTP/1.1 301 Moved", "HTTP/1.1 500 Oh", "HTTP/1.1 205 Reset", "HTTP/1.1 999 Odd", "HTTP/1.1 099 Low", "HTTP/1.1 101 Up"]
HEADERS = ["Date: Thu, 01 Jan 1970 00:00:00 GMT", "X: ", "X:y", "x-long: " + "z" * 500, "Connection: close", "Connection: keep-alive", "Trailer: X",
           "Content-Type: text/event-stream", "Keep-Alive: timeout=500", "X: \u00e9", "X:\ta\tb\t", "Server: a:b:c"]
ODD_HEADERS = ["X : y", "X", " folded", ": y", "X\ty: z", "X: a\0b", "X: a\rb", "Content-Length: 5x", "Content-Length: -1", "Content-Length:", "Content-Length: 3, 3",
               "Content-Length: 99999999999999999999", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: identity", "Transfer-Encoding: chunked, chunked"]
BYTES = [b"\r", b"\n", b"\r\n", b" ", b"\t", b"\0", b":", b";", b",", b"0", b"5", b"f", b"-", b"\xff", b"chunked", b"HTTP/1.1 200 OK\r\n"]


def body_of(rng):
    return bytes(rng.choice(b"abc\r\n\0 0:\xff") for _ in range(rng.choice([0, 1, 5, rng.randrange(40)])))


def chunks_of(rng, body):
    out = b""
    while body:
        size = rng.randrange(1, len(body) + 1)
        form = rng.choice(["%x", "%x", "%X", "%04x"])
        extension = rng.choice(["", "", "", "", ";a", ";a=b", ' ;a="b;c"', "; a = 1"])
        out += (form % size + extension).encode() + b"\r\n" + body[:size] + b"\r\n"
        body = body[size:]
    out += rng.choice([b"0", b"0", b"0", b"000", b"0;x=y"]) + b"\r\n"
    return out + rng.choice([b"", b"", b"", b"X: y\r\n", b"A: b\r\nC: d\r\n"]) + b"\r\n"


def response_of(rng, head):
    out = b""
    for _ in range(rng.choice([0] * 9 + [1, 2])):
        out += rng.choice([b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n", b"HTTP/1.1 102 \r\n\r\n"])
    status, body = rng.choice(STATUS), body_of(rng)
    headers = [rng.choice(HEADERS) for _ in range(rng.choice([0, 1, 1, 3]))] + ([rng.choice(ODD_HEADERS)] if rng.random() < 0.1 else [])
    framing = rng.choice(["length", "length", "chunks", "chunks", "close"])
    if framing == "length":
        headers.append(rng.choice(["Content-Length: %d", "content-length:%d", "Content-Length: \t%d ", "CONTENT-LENGTH: 00%d"])
                       % max(0, len(body) + (rng.choice([-1, 1]) if rng.random() < 0.1 else 0)))
    elif framing == "chunks":
        headers.append(rng.choice(["Transfer-Encoding: chunked", "transfer-encoding:Chunked", "Transfer-Encoding: \tchunked "]))
        body = chunks_of(rng, body)
    rng.shuffle(headers)
    line = rng.choice(["\r\n"] * 9 + ["\n"])
    out += (line.join([status] + headers) + line * 2).encode("latin-1", "replace")
    if not head and not status[9:12] in ("204", "304"):
        out += body
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2])):
        at = rng.randrange(len(out) + 1)
        out = out[:at] + rng.choice([b"", rng.choice(BYTES), rng.choice(BYTES)]) + out[at + rng.choice([0, 1, 1, 2]):]
    return out[:rng.randrange(len(out) + 1)] if rng.random() < 0.05 else out


class Case:
    def __init__(self, rng):
        self.head = rng.random() < 0.05
        self.bytes = response_of(rng, self.head)
        self.piece = rng.choice([1, 2, 7, 1 << 20])
        self.pieces = sorted(rng.randrange(len(self.bytes) + 1) for _ in range(rng.choice([0, 0, 1, 3])))


def serve(listener, cases):
    """Answers GET /N with the Nth response, in its pieces, and closes the connection, until the listener is closed."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            connection.settimeout(120)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                request = b""
                while b"\r\n\r\n" not in request:
                    more = connection.recv(65536)
                    if not more:
                        raise OSError
                    request += more
                case = cases[int(request.split()[1][1:])]
                ends = [0] + case.pieces + [len(case.bytes)]
                for begin, end in zip(ends, ends[1:]):
                    connection.sendall(case.bytes[begin:end])
            except OSError:
                pass  # curl had enough


def ours(cases, readers):
    """For each case: result, status, body, why."""
    given = b"".join(b"%d %d %d\n" % (len(case.bytes), case.piece, case.head) + case.bytes for case in cases)
    lines = subprocess.run([readers, "http1"], input=given, stdout=subprocess.PIPE, check=True).stdout.decode().split("\n")[:-1]
    assert len(lines) == len(cases)
    said = [line.split(" ", 3) for line in lines]
    return [(result, int(status), b"" if body == "-" else bytes.fromhex(body), why) for result, status, body, why in said]


def config(cases, port, folder, begin):
    for n in range(begin, len(cases)):
        yield 'url = "http://row%d.test:%d/%d"\nconnect-to = "::127.0.0.1:%d"\noutput = "%s/%d"\n' % (n, port, n, port, folder, n)
        yield 'silent\nhttp1.1\nmax-time = 10\nnoproxy = "*"\nwrite-out = "%d %%{exitcode} %%{http_code}\\n"\n' % n
        yield ("head\n" if cases[n].head else "") + "next\n"


def curl_says(cases, port, folder):
    """For each case: exit status, HTTP status, body. curl ends at some errors, and goes on with the next."""
    said = {}
    while len(said) < len(cases):
        before = len(said)
        with open(folder + "/config", "w", encoding="ascii") as f:
            f.writelines(config(cases, port, folder, len(said)))
        done = subprocess.run(["curl", "-q", "-K", folder + "/config"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        for line in done.stdout.decode().splitlines():
            n, code, status = map(int, line.split())
            said[n] = (code, status, read(folder + "/%d" % n) if not cases[n].head else b"")
        assert len(said) > before, "curl says nothing of response %d" % before
    return [said[n] for n in range(len(cases))]


def read(path):
    """Empty where curl got no body."""
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as f:
        return f.read()


INTERIM = re.compile(rb"(HTTP/1\.1 1\d\d[^\n]*\n([^\r\n]+\r?\n)*\r?\n)*")


def curl_misses_no_end(case, body, curl_body):
    """The head's length, which then has no body (RFC 9112 8), and the trailers' (7.1.2), by when all chunks have
    come."""
    head_ends = re.search(rb"\n\r?\n", case.bytes[INTERIM.match(case.bytes).end():])
    return body == curl_body and (not head_ends or b"chunked" in case.bytes.lower())


def difference(case, mine, curl):
    """The difference from the lists, or None."""
    result, status, body, why = mine
    code, curl_status, curl_body = curl
    if result == "complete":
        if code == 0:
            return None if (status, body) == (curl_status, curl_body) else "other status or body"
        return None if code in CURL_STRICTER else "curl refuses"
    if result == "cut":
        return "curl misses nothing" if code == 0 and not curl_misses_no_end(case, body, curl_body) else None
    return "curl accepts" if code == 0 and why not in STRICTER else None


def main():
    rng = random.Random(int(sys.argv[1]))
    cases = [Case(rng) for _ in range(int(sys.argv[2]))]
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    thread = threading.Thread(target=serve, args=(listener, cases), daemon=True)
    thread.start()
    with tempfile.TemporaryDirectory(dir=".") as folder:
        curl = curl_says(cases, listener.getsockname()[1], folder)
    listener.close()
    counts, differ = collections.Counter(), 0
    for case, mine, his in zip(cases, ours(cases, sys.argv[3]), curl):
        counts[mine[0] + (" (not curl)" if (mine[0] == "complete") != (his[0] == 0) else "")] += 1
        wrong = difference(case, mine, his)
        if wrong:
            differ += 1
            print("%s: %s%r\n  ours %s, curl's %s" % (wrong, "HEAD " * case.head, case.bytes[:600], mine, his))
    print(", ".join("%d %s" % (count, name) for name, count in sorted(counts.items())) + ", %d differ" % differ)


if __name__ == "__main__":
    main()
