#!/usr/bin/env python3
"""A server of scripts, byte by byte, on ports of 127.0.0.1: acts that no server should do. Python's standard library only.

    fault_server.py TABLE CERTIFICATES     a port for each row of TABLE whose third column begins with "raw "; prints "PORT NAME" for each,
                                           then "end"; CERTIFICATES/NAME.pem are certificates with their keys

A script is of steps with " ; " between them, for each connection from its beginning. $HEAD is the head of a stream in chunks, $CLOSE of
one that ends with the connection, $EVENT an event with the text "a" (57 bytes), $LAST the event that finishes, $DONE the end mark.

    request        read a whole request of HTTP/1.1, head and body
    read N         read N bytes
    say TEXT       send; | is CR LF, \\r \\n \\t \\0 \\xHH are bytes, \\{N:TEXT} is N times TEXT
    slow MS TEXT   the same, a byte at a time, MS milliseconds apart
    chunk TEXT     send as a chunk of HTTP/1.1
    wait MS        say nothing for so long
    hold           until the client closes
    flood TEXT     send it until the client closes
    close, reset   in order; with RST. A script that ends closes in order, after what comes is read
    again          from the step after `tls` or `h2`, or from the first one
    tls NAME       accept a handshake with this certificate
    along TEXT     send below TLS, in one write with what TLS writes next
    notify         end TLS in order (close_notify)
    alert          what openssl sends to a client whose record is damaged: an alert that is fatal
    plain TEXT     send below TLS
    h2             the preface and SETTINGS of HTTP/2
    h2request      read frames up to the end of a request, whose stream is $s from then on
    frame KIND FLAGS STREAM HEX       a frame of HTTP/2; HEX may be "00.N*HEX.ff"; STREAM may be $s or $s+N
    head, data TEXT, end              HEADERS with 200, DATA, DATA with END_STREAM for stream $s
    frames N KIND FLAGS STREAM HEX    N of them; 0: until the client closes; $n in STREAM counts 1, 3, 5
"""
import os
import re
import socket
import ssl
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "helpers"))
from response_table import unescape  # noqa: E402

KINDS = {"DATA": 0, "HEADERS": 1, "PRIORITY": 2, "RST_STREAM": 3, "SETTINGS": 4, "PUSH_PROMISE": 5, "PING": 6, "GOAWAY": 7,
         "WINDOW_UPDATE": 8, "CONTINUATION": 9, "UNKNOWN": 0xEE}
OK_HEAD = b"\x88\x10\x0ccontent-type\x11text/event-stream"
TEXTS = {
    "$HEAD": "HTTP/1.1 200 OK|Content-Type: text/event-stream|Transfer-Encoding: chunked||",
    "$CLOSE": "HTTP/1.1 200 OK|Content-Type: text/event-stream||",
    "$EVENT": r'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
    "$LAST": r'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    "$DONE": r"data: [DONE]\n\n",
}


def expand(text):
    for name, long in TEXTS.items():
        text = text.replace(name, long)
    return text


def unhex(text):
    parts = [part.rpartition("*") for part in text.split(".")]
    return b"".join(bytes.fromhex(part) * int(count or 1) for count, _, part in parts)


def frame(kind, flags, stream, payload):
    number = KINDS[kind]
    return struct.pack(">I", len(payload))[1:] + bytes([number, int(flags, 16)]) + struct.pack(">I", stream) + payload


class Gone(Exception):
    """The client has closed the connection."""


class Connection:
    def __init__(self, sock, certificates):
        self.sock = sock
        self.certificates = certificates
        self.tls = None
        self.received = self.along = b""
        self.stream = 0

    # ---- bytes, through TLS if there is any ----

    def more(self):
        if self.tls:
            while True:
                try:
                    return self.tls.read(65536) or self.gone()
                except ssl.SSLWantReadError:
                    self.incoming.write(self.sock.recv(65536) or self.gone())
        return self.sock.recv(65536) or self.gone()

    def gone(self):
        raise Gone

    def read(self, count):
        while len(self.received) < count:
            self.received += self.more()
        taken, self.received = self.received[:count], self.received[count:]
        return taken

    def send(self, data):
        if self.tls:
            for at in range(0, len(data), 16384):
                self.tls.write(data[at:at + 16384])
            self.flush()
        else:
            self.sock.sendall(data)

    def flush(self):
        data = self.outgoing.read()
        if data:
            self.sock.sendall(data + self.along)
            self.along = b""

    def do_tls(self, name):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain("%s/%s.pem" % (self.certificates, name))
        context.set_alpn_protocols(["h2", "http/1.1"])
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(self.incoming, self.outgoing, server_side=True)
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                self.flush()
                self.incoming.write(self.sock.recv(65536) or self.gone())
            except ssl.SSLError:
                self.flush()
                raise
        self.flush()
        self.tls = tls

    # ---- steps ----

    def do_request(self, _):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.read(1)
        length = re.search(rb"(?i)content-length: *(\d+)", head)
        self.read(int(length[1]) if length else 0)

    def do_read(self, text):
        self.read(int(text))

    def do_say(self, text):
        self.send(unescape(text))

    def do_slow(self, text):
        pause, text = text.split(" ", 1)
        for byte in unescape(text):
            self.send(bytes([byte]))
            time.sleep(int(pause) / 1000)

    def do_chunk(self, text):
        data = unescape(text)
        self.send(b"%x\r\n%s\r\n" % (len(data), data))

    def do_wait(self, text):
        time.sleep(int(text) / 1000)

    def do_hold(self, _):
        while True:
            self.more()

    def do_flood(self, text):
        data = unescape(text)
        while True:
            self.send(data)

    def do_close(self, _):
        raise Gone

    def do_reset(self, _):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()
        raise Gone

    def do_notify(self, _):
        try:
            self.tls.unwrap()
        except ssl.SSLError:
            pass
        self.flush()

    def do_alert(self, _):
        self.incoming.write(b"\x17\x03\x03\x00\x20" + bytes(32))
        try:
            self.tls.read(1)
        except ssl.SSLError:
            pass
        self.flush()

    def do_along(self, text):
        self.along = unescape(text)

    def do_plain(self, text):
        self.sock.sendall(unescape(text))

    def do_h2(self, _):
        self.send(frame("SETTINGS", "0", 0, b""))
        self.read(24)

    def do_h2request(self, _):
        while True:
            prefix = self.read(9)
            kind, flags, stream = prefix[3], prefix[4], struct.unpack(">I", prefix[5:])[0]
            self.read(int.from_bytes(prefix[:3], "big"))
            if kind == KINDS["SETTINGS"] and not flags & 1:
                self.send(frame("SETTINGS", "1", 0, b""))
            if kind in (KINDS["DATA"], KINDS["HEADERS"]) and flags & 1:
                self.stream = stream
                return

    def number(self, text, n=0):
        base, _, more = text.partition("+")
        return {"$s": self.stream, "$n": 2 * n + 1}.get(base, int(base) if base.isdigit() else 0) + int(more or 0)

    def do_frame(self, text):
        kind, flags, stream, payload = (text + " ").split(" ")[:4]
        self.send(frame(kind, flags, self.number(stream), unhex(payload)))

    def do_frames(self, text):
        count, kind, flags, stream, payload = (text + " ").split(" ")[:5]
        n = 0
        while count == "0" or n < int(count):
            self.send(b"".join(frame(kind, flags, self.number(stream, n + i), unhex(payload)) for i in range(100)))
            n += 100

    def do_head(self, _):
        self.send(frame("HEADERS", "4", self.stream, OK_HEAD))

    def do_data(self, text):
        self.send(frame("DATA", "0", self.stream, unescape(text)))

    def do_end(self, _):
        self.send(frame("DATA", "1", self.stream, b""))

    def play(self, steps):
        try:
            at, begin = 0, 0
            while at < len(steps):
                step, _, text = steps[at].partition(" ")
                at += 1
                if step == "again":
                    at = begin
                else:
                    getattr(self, "do_" + step)(text)
                if step in ("tls", "h2"):
                    begin = at
            if self.sock.fileno() >= 0:
                self.sock.shutdown(socket.SHUT_WR)
                while self.sock.recv(65536):
                    pass
        except (Gone, OSError, ssl.SSLError):
            pass
        finally:
            self.sock.close()


def accept(listener, steps, certificates):
    while True:
        sock, _ = listener.accept()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=Connection(sock, certificates).play, args=(steps,), daemon=True).start()


def main(table, certificates):
    with open(table, encoding="utf-8") as rows:
        for row in rows:
            columns = row.rstrip("\n").split("\t")
            if row.startswith("#") or len(columns) < 3 or not columns[2].startswith("raw "):
                continue
            steps = expand(columns[2][4:]).split(" ; ")
            for step in steps:
                if step.split(" ")[0] != "again" and not hasattr(Connection, "do_" + step.split(" ")[0]):
                    sys.exit("%s: no step is called %s" % (columns[1], step))
            listener = socket.create_server(("127.0.0.1", 0), backlog=256)
            print(listener.getsockname()[1], columns[1], flush=True)
            threading.Thread(target=accept, args=(listener, steps, certificates), daemon=True).start()
    print("end", flush=True)
    threading.Event().wait()


main(sys.argv[1], sys.argv[2])
