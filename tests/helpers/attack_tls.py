"""TLS gone wrong against ipf-fire: a server on 127.0.0.1 plays a random script on each connection.

    attack_tls.py SEED COUNT     a run of COUNT requests with random options, in the current folder, which has chat.trace

The run has to end with 0 and a record of each request; ipf-collect and ipf-report have to read it and count the same
(faults/check_run.py). No request is sent if the certificate is wrong for the name. If it is right, and nothing is wrong below, each
whole answer is recorded as it was sent. A cut answer is no success. Prints each problem, and "N connections, N requests, N ok,
N whole, N wrong".
"""
import collections
import json
import os
import random
import select
import socket
import ssl
import struct
import subprocess
import sys

import attack
import attack_http2
import odd_certificates

ALERT, HANDSHAKE, DATA = 21, 22, 23
VERSION = b"\3\3"
BODY = 'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\ndata: [DONE]\n\n'


def record(kind, payload, version=VERSION, length=None):
    return bytes([kind]) + version + struct.pack(">H", len(payload) if length is None else length) + payload


def records_of(raw):
    """The records in these bytes, each with its head."""
    found = []
    while len(raw) >= 5:
        size = 5 + int.from_bytes(raw[3:5], "big")
        found, raw = found + [raw[:size]], raw[size:]
    return found + [raw] * bool(raw)


# ---- damage below TLS: each takes a generator and the bytes to send, and gives others ----


def random_record(r):
    kind = r.choice([20, 20, 21, 21, 22, 23, 24, 0, 255])
    payload = {20: b"\1", 21: bytes([r.choice([1, 2, 0]), r.choice([0, 10, 20, 40, 42, 48, 70, 80, 90, 100, 112, 120, 255])]), 22: b"\0\0\0\0"}.get(kind)
    if payload is None or r.randrange(3) == 0:
        payload = r.randbytes(r.choice([0, 1, 2, 32, 300, 16384, 16640, 20000]))
    return record(kind, payload, r.choice([VERSION, VERSION, b"\3\1", b"\3\4", b"\2\0", b"\xff\xff"]), r.choice([None, None, None, 0, 16641, 65535]))


def cut(r, raw):
    return raw[:r.randrange(len(raw) + 1)], True


def flip(r, raw):
    raw = bytearray(raw)
    for _ in range(r.choice([1, 1, 4])):
        if raw:
            raw[r.randrange(len(raw))] ^= 1 << r.randrange(8)
    return bytes(raw), False


def insert(r, raw):
    parts = records_of(raw)
    parts.insert(r.randrange(len(parts) + 1), random_record(r))
    return b"".join(parts), False


def repeat(r, raw):
    parts = records_of(raw)
    return b"".join(r.choice(parts) for _ in range(r.randrange(1, 5))) if parts else raw, False


def replace(r, raw):
    hello = b"\2" + struct.pack(">I", 1000)[1:] + VERSION + r.randbytes(32) + b"\0" + r.randbytes(30)
    retry = VERSION + bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c") + b"\0\x13\1\0\0\6\0\x2b\0\2\3\4"
    retry = record(HANDSHAKE, b"\2" + struct.pack(">I", len(retry))[1:] + retry)
    return r.choice([r.randbytes(r.choice([1, 5, 100, 20000])), b"HTTP/1.1 400 Bad Request\r\n\r\n", b"220 mail ESMTP\r\n", record(ALERT, b"\2\x28"), record(ALERT, b"\1\0"),
                     record(ALERT, b"\1\x70") * 10000, record(HANDSHAKE, b"") * 10000, record(20, b"\1") * 10000, record(HANDSHAKE, hello), retry, retry * 2,
                     record(HANDSHAKE, b"\2\xff\xff\xff" + bytes(16000)) * 100, record(HANDSHAKE, b"\0\0\0\0") * 1000, b"\x80\x2e\1\0\2" + bytes(40),
                     record(22, bytes(16384)) * 20, record(HANDSHAKE, b"\2\0\0\6" + VERSION + bytes(4))]), True


DAMAGES = [cut, flip, insert, repeat, replace]


def with_chain(raw, chain):
    """A flight of TLS 1.2 with other certificates."""
    messages = b"".join(part[5:] for part in records_of(raw) if part[0] == HANDSHAKE)
    found = b""
    while messages:
        size = 4 + int.from_bytes(messages[1:4], "big")
        one, messages = messages[:size], messages[size:]
        if one[0] == 11:
            listed = b"".join(len(c).to_bytes(3, "big") + c for c in chain)[:0xFFFFF0]
            body = len(listed).to_bytes(3, "big") + listed
            one = b"\x0b" + len(body).to_bytes(3, "big") + body
        found += one
    return b"".join(record(HANDSHAKE, found[at:at + 16384]) for at in range(0, len(found), 16384))


class Wire:
    """A socket's methods through TLS, with damage to one of the writes below it."""

    def __init__(self, sock, context, damage, damaged_write):
        self.sock, self.damage, self.left = sock, damage, damaged_write
        self.damaged = False
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_side=True)

    def flush(self):
        raw = self.outgoing.read()
        if not raw:
            return
        end = False
        if self.damage and self.left == 0:
            raw, end = self.damage(raw)
            self.damaged = True
        self.left -= 1
        self.sock.sendall(raw)
        if end:
            raise attack.Gone

    def fill(self):
        """After damage not for long: the client may wait for the rest of a record."""
        if self.damaged and not select.select([self.sock], [], [], 0.2)[0]:
            raise attack.Gone
        got = self.sock.recv(65536)
        if not got:
            raise attack.Gone
        self.incoming.write(got)

    def handshake(self):
        while True:
            try:
                self.tls.do_handshake()
                return self.flush()
            except ssl.SSLWantReadError:
                self.flush()
                self.fill()
            except ssl.SSLError:
                self.flush()
                raise

    def recv(self, most):
        while True:
            try:
                return self.tls.read(most)
            except ssl.SSLWantReadError:
                self.flush()
                self.fill()

    def sendall(self, data):
        for at in range(0, len(data), 16384):
            self.tls.write(data[at:at + 16384])
        self.flush()

    def notify(self):
        try:
            self.tls.unwrap()
        except ssl.SSLError:
            pass
        self.flush()

    def __getattr__(self, name):
        return getattr(self.sock, name)


class Server(attack.Server):
    def __init__(self, seed, made):
        self.seed, self.made, self.api = seed, made, []
        self.log = open("attack.log", "w", encoding="ascii", buffering=1)
        super().__init__(Connection)


class Connection:
    def __init__(self, server, sock, number):
        self.server, self.sock, self.number = server, sock, number
        self.r = random.Random("%d %d" % (server.seed, number))
        self.received = b""
        self.said = ""

    # ---- the handshake ----

    def context(self, certificate):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain("%s.pem" % certificate)
        context.set_alpn_protocols(self.r.choice([["h2", "http/1.1"], ["http/1.1"], []]))
        if self.r.randrange(3) == 0:
            context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.num_tickets = self.r.choice([0, 2, 2, 20])
        return context

    def begin(self):
        """The wire, and whether a request may come by it (None: either way)."""
        r = self.r
        way = r.randrange(10)
        if way < 2:  # a random certificate
            called = r.choice(sorted(self.server.made.expected))
            self.said = "certificate " + called
            return Wire(self.sock, self.context(called), None, 0), self.server.made.expected[called]
        context = self.context("good")
        if way < 3:
            called = r.choice(sorted(self.server.made.broken))
            self.said = "certificate: " + called
            context.maximum_version = ssl.TLSVersion.TLSv1_2
            context.options |= ssl.OP_NO_TICKET
            return Wire(self.sock, context, lambda raw: (with_chain(raw, self.server.made.broken[called]), False), 0), None
        if way < 6:
            act, number = r.choice(DAMAGES), r.choice([0, 0, 0, 1, 1, 2, 3])
            self.said = "%s of write %d" % (act.__name__, number)
            return Wire(self.sock, context, lambda raw: act(r, raw), number), None
        return Wire(self.sock, context, None, 0), True

    # ---- HTTP/1.1 ----

    def read_request(self):
        while b"\r\n\r\n" not in self.received:
            self.received += self.wire.recv(65536) or self.gone()
        head, _, rest = self.received.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
        while len(rest) < length:
            rest += self.wire.recv(65536) or self.gone()
        self.received = rest[length:]

    def gone(self):
        raise attack.Gone

    def answer(self, text, framed="length"):
        body = (BODY % text).encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
        if framed == "length":
            return head + b"Content-Length: %d\r\n\r\n" % len(body) + body
        if framed == "chunks":
            return head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        return head + b"\r\n" + body

    def send(self, raw):
        """In one record or many."""
        if self.r.randrange(3) == 0:
            at = 0
            while at < len(raw):
                size = self.r.choice([1, 7, 100])
                self.wire.sendall(raw[at:at + size])
                at += size
        else:
            self.wire.sendall(raw)

    def ends(self, way):
        """The end of a connection after a cut answer."""
        if way == "notify":
            self.wire.notify()
        elif way == "alert":
            self.sock.sendall(record(ALERT, b"\2\x50"))
        elif way == "noise":
            self.sock.sendall(self.r.randbytes(300))
        elif way == "record":
            self.sock.sendall(random_record(self.r))
        elif way == "notify and more":
            self.wire.notify()
            self.sock.sendall(record(DATA, self.r.randbytes(40)) + self.r.randbytes(40))
        elif way == "flood":
            self.sock.sendall(record(ALERT, b"\1\x64") * 20000)

    def http1(self, right):
        r = self.r
        for number in range(r.choice([0, 1, 1, 3])):
            self.read_request()
            text = "whole-%d-%d" % (self.number, number)
            self.send(self.answer(text, r.choice(["length", "chunks"])))
            if right:
                self.server.whole.add(BODY % text)
        self.read_request()
        way = r.choice(["notify", "alert", "noise", "record", "notify and more", "flood", "closed"])
        self.said += ", ends by " + way
        text = "end-%d" % self.number
        framed = r.choice(["length", "chunks", "close"])
        raw = self.answer(text, framed)
        if framed == "close" and r.randrange(2):  # whole, if the connection ends in order
            self.send(raw)
            if way in ("notify", "notify and more") and right and r.randrange(2):
                self.server.whole.add(BODY % text)
                return self.ends("notify")
            self.server.cut.add(BODY % text)
            return self.ends(r.choice(["alert", "noise", "record", "flood", "closed"]))
        at = r.randrange(len(raw) if framed == "length" else len(raw) - 10)
        if framed != "close":
            self.server.cut.add(BODY % text)
        self.send(raw[:at])
        return self.ends(way)

    # ---- a connection ----

    def script(self):
        self.wire, right = self.begin()
        self.wire.handshake()
        if self.wire.tls.selected_alpn_protocol() == "h2":
            if right is not False:
                self.said += ", HTTP/2"
                inner = attack_http2.Connection(self.server, self.wire, self.number)
                inner.clean = right is True
                return inner.script()
        elif right is not False:
            return self.http1(right)
        if self.wire.recv(1) and not self.server.insecure:
            self.server.problems.append("a request came in spite of the certificate: %s" % self.said)
        return None

    def play(self):
        try:
            try:
                self.script()
            except (attack.Gone, ssl.SSLError):
                pass
            self.server.log.write("%d: %s\n" % (self.number, self.said))
            if self.r.randrange(6) == 0 and "ends by" not in self.said:
                self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                self.sock.shutdown(socket.SHUT_WR)
                while self.sock.recv(65536):
                    pass
        except socket.timeout:
            self.server.problems.append("connection %d: the client neither reads nor closes: %s" % (self.number, self.said))
        except OSError:
            pass
        finally:
            self.sock.close()


def options(r, count):
    words = ["--http", r.choice(["1.1", "1.1", "2"]), "--connections", r.choice(["reuse", "fresh", "2", "session"]), "--threads", r.choice(["1", "2"]),
             "--timeout", "0", "--stop-after-failures", "0", "--calibration", "none"]
    words += ["--insecure"] if r.randrange(8) == 0 else ["--cacert", "ca.pem"]
    for more in (["--retry", "2,first=1ms,cap=2ms,on=429+503+connect"], ["--no-tls-resumption"], ["--record-header", "*"], ["--no-stream"], ["--sandbox"], ["-v"]):
        words += more if r.randrange(4) == 0 and not ("--sandbox" in more and os.environ.get("SANITIZE")) else []
    return words, "closed:users=%d,n=%d" % (r.choice([1, 4, 16]), count)


def check_rows(rows, server, count):
    numbers = collections.Counter(row["n"] for row in rows)
    if len(rows) != count or len(numbers) != count:
        yield "%d records of %d requests" % (len(numbers), count)
    bodies = collections.Counter()
    for row in rows:
        error = row.get("error")
        if error:
            yield from attack.problems_of_text(error.get("text", ""), 300)
        elif attack_http2.body_of(row) in server.cut:
            yield "request %d: a cut answer is a success: %s" % (row["n"], attack_http2.body_of(row)[:80])
        else:
            bodies[attack_http2.body_of(row)] += 1
    for body in server.whole:
        if bodies[body] != 1:
            yield "a whole answer is in %d records: %s" % (bodies[body], body[:80])


def main(seed, count):
    r = random.Random(seed)
    attacks = attack.Attack()
    words, stage = options(r, count)
    subprocess.run(["ipf-sched", stage, "-t", "chat.trace", "-q", "-o", "attack.sched"], check=True)
    server = Server(seed, odd_certificates.make(".", r, 120 if os.environ.get("IPF_ROUNDS") else 5))
    server.insecure = "--insecure" in words
    ended = attack.run(["ipf-fire", "-u", "https://localhost:%d" % server.port, "--resolve", "localhost:%d:127.0.0.1" % server.port, "-m", "sim", "-t",
                        "chat.trace", "attack.sched", *words, "-o", "attack.records"])
    where = "seed %d: %s" % (seed, " ".join(words))
    attacks.report(where, attack.problems_of(ended, {0}))
    rows = []
    if not attacks.wrong:
        attacks.report(where, attack.check_run("attack.records"))
        with open("attack.records", encoding="utf-8") as records:
            rows = [row for row in map(json.loads, records) if "n" in row]
        attacks.report(where, check_rows(rows, server, count))
    attacks.report(where, server.problems)
    good = sum(1 for row in rows if not row.get("error"))
    print("%d connections, %d requests, %d ok, %d whole, %d wrong" % (server.connections, count, good, len(server.whole), attacks.wrong))
    return 1 if attacks.wrong else 0


if __name__ == "__main__":
    STATUS = main(int(sys.argv[1]), int(sys.argv[2]))
    sys.stdout.flush()
    os._exit(STATUS)  # threads of connections may still wait
