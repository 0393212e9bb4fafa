"""Random frames of HTTP/2 against ipf-fire: a server on 127.0.0.1 plays a random script on each connection, with right answers
between wrong ones.

    attack_http2.py SEED COUNT [grpc]    a run of COUNT requests with random options, in the current folder, which has chat.trace;
                                         grpc: the frames are right, and their messages of gRPC are not

The run has to end with 0 and a record of each request; ipf-collect and ipf-report have to read it and count the same
(faults/check_run.py). An answer sent whole before the first attack on its connection is recorded as it was sent. A cut answer is no
success. Prints each problem, and "N connections, N attacks, N requests, N ok, N whole, N wrong".
"""
import base64
import collections
import gzip
import json
import os
import random
import select
import socket
import struct
import subprocess
import sys

import attack

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, END_HEADERS, ACK, PADDED, HAS_PRIORITY = 1, 4, 1, 8, 32
FLOOD = 20000
EVENT = 'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n'
LAST = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


def frame(kind, flags, stream, payload=b"", length=None):
    length = len(payload) if length is None else length
    return struct.pack(">I", length & 0xFFFFFF)[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


# ---- HPACK, RFC 7541 ----


def integer(value, bits, first):
    most = (1 << bits) - 1
    if value < most:
        return bytes([first | value])
    out, value = bytes([first | most]), value - most
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def text_of(raw):
    return integer(len(raw), 7, 0) + raw


def literal(name, value, first=0x10):
    """0x10: it enters no table; 0x40 enters it."""
    return bytes([first]) + text_of(name) + text_of(value)


OK_HEAD = b"\x88" + literal(b"content-type", b"text/event-stream")


def whole_answer(stream, text):
    """Frames."""
    body = (EVENT % text + LAST).encode()
    return [frame(HEADERS, END_HEADERS, stream, OK_HEAD), frame(DATA, 0, stream, body), frame(DATA, END_STREAM, stream)]


def body_with(text):
    return EVENT % text + LAST


# ---- attacks: each takes a generator and a stream, and gives bytes ----


def some_stream(r, s):
    return r.choice([s, s, s, 0, s + 2, s + 100, 1, 2, 4, 0x7FFFFFFF, s | 1 << 31, 1 << 31])


def noise(r, most):
    return r.randbytes(r.choice([0, 1, 4, 5, 8, r.randrange(most)]))


def attack_any_frame(r, s):
    return frame(r.choice([*range(11), 255]), r.randrange(256), some_stream(r, s), noise(r, 300))


def attack_length(r, s):
    payload = noise(r, 100)
    length = r.choice([0, 1, len(payload) + 1, max(0, len(payload) - 1), 16384, 16385, 0xFFFFFF, r.randrange(1 << 24)])
    return frame(r.choice(range(10)), r.choice([0, 1, 4, 5, 8]), some_stream(r, s), payload, length)


def attack_bits(r, s):
    """A right answer with a few bits changed."""
    raw = bytearray(b"".join(whole_answer(s, "changed")))
    for _ in range(r.choice([1, 1, 2, 8])):
        raw[r.randrange(len(raw))] ^= 1 << r.randrange(8)
    return bytes(raw)


def attack_order(r, s):
    """Frames of a right answer in another order, twice, or on other streams."""
    frames = whole_answer(s, "moved") + whole_answer(some_stream(r, s), "moved")
    return b"".join(r.choice(frames) for _ in range(r.randrange(1, 8)))


def attack_bomb(r, s):
    """One large field in the table, and many references to it."""
    block = literal(b"x-large", b"x" * r.choice([3000, 4000]), 0x40) + b"\xbe" * r.choice([10, 1000, 16000, 60000])
    parts = [block[at:at + 16384] for at in range(0, len(block), 16384)]
    out = frame(HEADERS, END_HEADERS if len(parts) == 1 else 0, s, b"\x88" + parts[0] if len(parts[0]) < 16000 else parts[0])
    for i, part in enumerate(parts[1:]):
        out += frame(CONTINUATION, END_HEADERS if i == len(parts) - 2 else 0, s, part)
    return out


def attack_hpack(r, s):
    bad = [b"\x80", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"\xbe", integer(r.randrange(62, 1 << 40), 7, 0x80),
           b"\x3f" + b"\xff" * 6 + b"\x01", integer(r.choice([0, 4096, 4097, 1 << 30]), 5, 0x20) * r.choice([1, 3]), b"\x10\x05abc",
           b"\x10" + integer(1 << 30, 7, 0) + b"x", b"\x10\x82\xff\xff\x81\xff", b"\x10\x81\x00\x01x", b"\x10\x84\xff\xff\xff\xff\x00",
           literal(b"", b""), b"\x0f\xff\xff\xff\xff\xff\xff\x7f", noise(r, 50)]
    block = (b"\x88" if r.randrange(2) else b"") + r.choice(bad) + (b"\x88" if r.randrange(4) == 0 else b"")
    return frame(HEADERS, r.choice([END_HEADERS, END_HEADERS | END_STREAM, 0]), s, block)


def attack_fields(r, s):
    """Odd fields, and fields HTTP does not allow."""
    odd = [literal(b"Upper-Case", b"x"), literal(b"connection", b"close"), literal(b"transfer-encoding", b"chunked"), literal(b"te", b"gzip"),
           literal(b":status", r.choice([b"99", b"099", b"1000", b"abc", b"", b"20", b"-20", b"2 0", b"200", b"000", b"999", b"600"])),
           literal(b":path", b"/"), literal(b":unknown", b"x"), literal(b"x-control", r.choice([b"a\0b", b"a\r\nb: c", b"\x1b[31m", b"\xff\xfe", b" x "])),
           literal(b"bad name", b"x"), literal(b"x\0y", b"x"), literal(b"content-length", r.choice([b"0", b"5", b"-1", b"99999999999999999999", b"5, 5"])),
           literal(b"x-long", b"y" * r.choice([100, 5000, 16000])), literal(b"retry-after", r.choice([b"-1", b"1e18", b"99999999999", b"x"])),
           literal(b"date", noise(r, 60)), literal(b"content-encoding", b"gzip"), literal(b"location", b"http://127.0.0.1:1/"),
           literal(b"content-type", noise(r, 60)), literal(b"set-cookie", noise(r, 300))]
    status = r.choice([b"\x88", b"\x88", b"\x8b", b"\x8e", literal(b":status", b"103"), literal(b":status", b"100"), literal(b":status", b"429"), b""])
    block = status + b"".join(r.choice(odd) for _ in range(r.randrange(1, 4)))
    return frame(HEADERS, r.choice([END_HEADERS, END_HEADERS, END_HEADERS | END_STREAM]), s, block) + r.choice(
        [b"", frame(DATA, END_STREAM, s, b"data: x\n\n"), frame(HEADERS, END_HEADERS | END_STREAM, s, literal(b"x-trailer", b"1"))])


def attack_continuations(r, s):
    part = r.choice([b"", b"\x88", literal(b"x", b"y" * 100), bytes(16000)])
    count = r.choice([1, 10, 100, 1000])
    return frame(HEADERS, 0, s, b"\x88") + frame(CONTINUATION, 0, s, part) * count + r.choice(
        [b"", frame(CONTINUATION, END_HEADERS, s), frame(DATA, 1, s, b"x"), frame(CONTINUATION, END_HEADERS, s + 2)])


def attack_settings(r, s):
    values = [0, 1, 2, 100, 4096, 16383, 16384, 0xFFFFFF, 0x1000000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]
    pairs = b"".join(struct.pack(">HI", r.choice([*range(10), 0xFFFF]), r.choice(values)) for _ in range(r.choice([0, 1, 2, 40])))
    one = frame(SETTINGS, r.choice([0, 0, 0, ACK]), r.choice([0, 0, 0, 0, s]), pairs + r.choice([b"", b"", b"", b"x"]))
    return one * r.choice([1, 1, 10, FLOOD // 20])


def attack_flood(r, s):
    one = r.choice([frame(PING, 0, 0, bytes(8)), frame(PING, ACK, 0, bytes(8)), frame(SETTINGS, 0, 0), frame(DATA, 0, s), frame(PRIORITY, 0, s, b"\0\0\0\0\1"),
                    frame(WINDOW_UPDATE, 0, r.choice([0, s]), b"\0\0\0\1"), frame(HEADERS, END_HEADERS, s, literal(b":status", b"103")),
                    frame(0xEE, 0, s, b"x"), frame(RST_STREAM, 0, s + 2, bytes(4)), frame(DATA, PADDED, s, b"\xff" + bytes(255))])
    return one * r.choice([10, 1000, FLOOD])


def attack_window(r, s):
    return frame(WINDOW_UPDATE, 0, r.choice([0, s, s + 2]), struct.pack(">I", r.choice([0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 0x80000000]))) * r.choice([1, 2, 3])


def attack_reset(r, s):
    return frame(RST_STREAM, 0, some_stream(r, s), struct.pack(">I", r.choice([0, 1, 2, 5, 7, 8, 11, 13, 14, 0xFFFFFFFF])))


def attack_goaway(r, s):
    last = r.choice([0, s, s, s + 2, max(0, s - 2), 0x7FFFFFFF, 0xFFFFFFFF])
    text = r.choice([b"", b"calm down", b"\x1b]0;x\x07\r\n" * 9, b"%s%n" * 30, bytes(range(256)) * 8, "ä\u202e".encode()])
    return frame(GOAWAY, 0, r.choice([0, 0, 0, s]), struct.pack(">II", last, r.choice([0, 0, 1, 2, 7, 11, 0xFFFFFFFF])) + text)


def attack_push(r, s):
    block = r.choice([b"", b"\x82\x84\x86" + literal(b":authority", b"x"), noise(r, 30)])
    return frame(PUSH_PROMISE, END_HEADERS, some_stream(r, s), struct.pack(">I", r.choice([2, 4, 1, 0, s, 0x7FFFFFFE])) + block)


def attack_padding(r, s):
    head = frame(HEADERS, END_HEADERS | PADDED | r.choice([0, HAS_PRIORITY]), s, bytes([r.choice([0, 1, 5, 255])]) + noise(r, 8) + OK_HEAD + bytes(r.choice([0, 5])))
    return r.choice([head, b""]) + frame(DATA, PADDED | r.choice([0, 1]), s, r.choice([b"", b"\0", b"\xff", b"\4abcd", b"\5abcd", b"\3abcd"]))


def attack_other_protocol(r, s):
    return r.choice([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"HTTP/", b"\x15\x03\x03\x00\x02\x02\x28", b"<html>", bytes(100),
                     b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", noise(r, 4000)])


def attack_large(r, s):
    return frame(HEADERS, END_HEADERS, s, OK_HEAD) + frame(DATA, 0, s, b"x" * 16384) * r.choice([1, 20, 200])


ATTACKS = [value for name, value in sorted(globals().items()) if name.startswith("attack_")]

# ---- gRPC: frames as they should be, with random messages ----

GRPC_HEAD = b"\x88" + literal(b"content-type", b"application/grpc")
APIS = ["tgis-grpc", "kserve-grpc", "kserve-grpc-vllm", "jetstream-grpc", "deepspeed-mii-grpc", "sax-grpc", "caikit-grpc"]


def grpc_message(r):
    text = r.choice([b"ab", "ä😀".encode(), b"\xff\xfe", b"\x1b[31m\0", b"x" * 3000])
    raw = attack.field(4, text) + attack.field(r.choice([1, 2, 3, 5, 7]), r.choice([1, 2, 1 << 31, b"", b"\x0a\x01x"]))
    raw = r.choice([raw, attack.field(1, raw), attack.field(5, attack.field(1, text)), attack.field(1, text)])
    raw = attack.damaged(r, raw) if r.randrange(3) else raw
    packed, flag = raw, 0
    if r.randrange(8) == 0:
        packed, flag = gzip.compress(r.choice([raw, bytes(50 << 20)]), 9), 1
    length = len(packed) if r.randrange(8) else r.choice([0, len(packed) + 1, 1 << 20, 0xFFFFFFFF])
    return bytes([r.choice([flag] * 8 + [1, 2, 255])]) + struct.pack(">I", length) + packed


def grpc_answer(r, s):
    status = r.choice([b"0", b"0", b"0", b"14", b"99", b"-1", b"OK", b"", b"18446744073709551616"])
    text = r.choice([b"", b"not%20here", b"%zz%", b"%00%1b%5b31m%0a", b"%ff%fe", b"x" * 9000])
    trailers = literal(b"grpc-status", status) + literal(b"grpc-message", text) + literal(b"grpc-status-details-bin", r.randbytes(9).hex().encode())
    body = b"".join(grpc_message(r) for _ in range(r.choice([0, 1, 2, 5])))
    out = frame(HEADERS, END_HEADERS, s, GRPC_HEAD + r.choice([b"", literal(b"grpc-encoding", r.choice([b"gzip", b"identity", b"x"]))]))
    for at in range(0, len(body), 16384):
        out += frame(DATA, 0, s, body[at:at + 16384])
    if r.randrange(8):
        return out + frame(HEADERS, END_HEADERS | END_STREAM, s, trailers)
    return out + frame(DATA, END_STREAM, s)


# ---- the server ----


class Server(attack.Server):
    def __init__(self, seed, log, api):
        self.seed, self.log, self.api = seed, log, api
        super().__init__(Connection)


class Connection:
    def __init__(self, server, sock, number):
        self.server, self.sock, self.number = server, sock, number
        self.received, self.waiting = b"", []
        self.clean = True
        self.r = random.Random("%d %d" % (server.seed, number))

    def read(self, count):
        while len(self.received) < count:
            got = self.sock.recv(65536)
            if not got:
                raise attack.Gone
            self.received += got
        taken, self.received = self.received[:count], self.received[count:]
        return taken

    def read_frame(self):
        """True: a request has ended, and its stream waits."""
        prefix = self.read(9)
        kind, flags, stream = prefix[3], prefix[4], struct.unpack(">I", prefix[5:])[0]
        payload = self.read(int.from_bytes(prefix[:3], "big"))
        if kind == SETTINGS and not flags & ACK:
            self.sock.sendall(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            self.sock.sendall(frame(PING, ACK, 0, payload))
        if kind in (DATA, HEADERS) and flags & END_STREAM:
            self.waiting.append(stream)
            return True
        return False

    def next_stream(self):
        """Waits for it; after an attack not for long, since the client may wait for us."""
        while not self.waiting:
            if not self.clean and not self.received and not select.select([self.sock], [], [], 0.02)[0]:
                raise attack.Gone
            self.read_frame()
        return self.waiting.pop(0)

    def answer(self):
        s = self.next_stream()
        text = "whole-%d-%d" % (self.number, s)
        for one in whole_answer(s, text):
            self.sock.sendall(one)
        if self.clean:
            self.server.whole.add(body_with(text))

    def cut(self):
        """A right answer up to any byte but its last frame's, then the end of the connection."""
        s = self.next_stream()
        text = "cut-%d-%d" % (self.number, s)
        raw = b"".join(whole_answer(s, text))
        self.server.cut.add(body_with(text))
        self.sock.sendall(raw[:self.r.randrange(len(raw))])

    def attack(self):
        act = self.r.choice(ATTACKS)
        s = self.waiting[0] if self.waiting else 1
        with self.server.lock:
            self.server.attacks += 1
        raw = act(self.r, s)
        self.server.log.write("%d: %s, stream %d, %d bytes %s\n" % (self.number, act.__name__, s, len(raw), raw[:200].hex()))
        if self.r.randrange(4) == 0:
            raw = raw[:self.r.randrange(len(raw) + 1)]
        self.sock.sendall(raw)

    def script(self):
        r = self.r
        way = r.randrange(32)
        self.clean = self.clean and way > 2
        if way < 2:
            self.sock.sendall(attack_other_protocol(r, 1))
        elif way > 2:  # a connection begins with them
            self.sock.sendall(frame(SETTINGS, 0, 0, r.choice([b"", struct.pack(">HI", 3, r.choice([1, 2, 100]))])))
        if r.randrange(16) == 0:
            self.clean = False
            self.attack()
        self.read(24)
        for _ in range(r.choice([0, 0, 1, 2, 5])):
            self.answer()
        if r.randrange(6) == 0:
            return self.cut()
        self.waiting.append(self.next_stream())
        self.clean = False
        for _ in range(r.choice([1, 1, 2, 6])):
            self.attack()
            if self.waiting and r.randrange(3) == 0:
                self.answer()
        while r.randrange(3):
            self.answer()
        return None

    def grpc_script(self):
        self.sock.sendall(frame(SETTINGS, 0, 0))
        self.read(24)
        while True:
            s = self.next_stream()
            with self.server.lock:
                self.server.attacks += 1
            self.sock.sendall(grpc_answer(self.r, s))

    def play(self):
        try:
            try:
                (self.grpc_script if self.server.api else self.script)()
            except attack.Gone:
                pass
            if self.r.randrange(5) == 0:
                self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                self.sock.shutdown(socket.SHUT_WR)
                while self.sock.recv(65536):
                    pass
        except socket.timeout:
            self.server.hung = True
            print("connection %d: the client neither reads nor closes" % self.number)
        except OSError:
            pass
        finally:
            self.sock.close()


# ---- the client ----


def options(r, count, api):
    words = ["--http", "2-prior", "--streams", r.choice(["1", "3", "100"]), "--connections", r.choice(["reuse", "fresh", "2", "session"]),
             "--threads", r.choice(["1", "2"]), "--timeout", "0", "--stop-after-failures", "0", "--calibration", "none"]
    for more in (["--retry", "2,first=1ms,cap=2ms,on=429+503+connect"], ["--max-answer", "100kB"], ["--memory", "100MB"], ["--record-header", "*"],
                 ["--history", "live"], [] if api else ["--no-stream"], ["--sandbox"], ["-v"]):
        words += more if r.randrange(4) == 0 and not ("--sandbox" in more and os.environ.get("SANITIZE")) else []
    stage = "closed:users=%d,n=%d" % (r.choice([1, 4, 16]), count) if r.randrange(5) else "burst:n=%d" % count
    return words, stage


def body_of(row):
    return base64.b64decode(row["body_base64"]).decode("utf-8", "replace") if "body_base64" in row else row.get("body", "")


def check_rows(rows, server, count):
    numbers = collections.Counter(row["n"] for row in rows)
    if len(rows) != count or len(numbers) != count:
        yield "%d records of %d requests" % (len(numbers), count)
    bodies = collections.Counter()
    for row in rows:
        error = row.get("error")
        if error:
            yield from attack.problems_of_text(error.get("text", ""))
        elif body_of(row) in server.cut:
            yield "request %d: a cut answer is a success" % row["n"]
        else:
            bodies[body_of(row)] += 1
    for body in server.whole:
        if bodies[body] != 1:
            yield "a whole answer is in %d records: %s" % (bodies[body], body[:80])


def main(seed, count, way=None):
    r = random.Random(seed)
    api = ["--api", r.choice(APIS)] if way == "grpc" else []
    attacks = attack.Attack()
    words, stage = options(r, count, api)
    words += api
    subprocess.run(["ipf-sched", stage, "-t", "chat.trace", "-q", "-o", "attack.sched"], check=True)
    with open("attack.log", "w", encoding="ascii") as log:
        server = Server(seed, log, api)
        ended = attack.run(["ipf-fire", "-u", "http://127.0.0.1:%d" % server.port, "-m", "sim", "-t", "chat.trace", "attack.sched", *words,
                            "-o", "attack.records"])
        attacks.report(" ".join(words), attack.problems_of(ended, {0}))
    rows = []
    if not attacks.wrong:
        attacks.report(" ".join(words), attack.check_run("attack.records"))
        with open("attack.records", encoding="utf-8") as records:
            rows = [row for row in map(json.loads, records) if "n" in row]
        attacks.report(" ".join(words), check_rows(rows, server, count))
    good = sum(1 for row in rows if not row.get("error"))
    print("%d connections, %d attacks, %d requests, %d ok, %d whole, %d wrong" %
          (server.connections, server.attacks, count, good, len(server.whole), attacks.wrong))
    return 1 if attacks.wrong else 0


if __name__ == "__main__":
    STATUS = main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
    sys.stdout.flush()
    os._exit(STATUS)  # threads of connections may still wait
