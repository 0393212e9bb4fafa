"""A server whose answers do not end, in the ways taking a client's memory. Python's standard library only.

    endless_server.py [bytes]     prints http://127.0.0.1:PORT; serves until its standard input ends

The first part of the path says how: /fast/…  large pieces of an event stream as fast as they are taken; /bytes/…  an event stream a
byte at a time; /headers/…  header lines; /header/…  one header line; /interim/…  1xx responses; /trailers/…  trailers after a chunk;
/whole/…  one JSON string; /nul/…  zeros; /quiet/…  4 MB and then nothing; /bomb/… a compressed transfer encoding; /short/…  an answer
as it should be; /mixed/…  every tenth connection as /fast, the others as /short. HTTP/2 without TLS is served on the same port: streams
the client ends, in large pieces, or a byte at a time if the argument says so.
"""
import itertools
import socket
import struct
import sys
import threading
import time
import zlib

EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"' + b"x" * 1000 + b'"}}]}\n\n'
GOOD = (b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"a"}}]}\n\n'
        b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
PIECE = EVENT * 64
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
numbers = itertools.count()


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def endless(data):
    while True:
        yield data


def one_by_one(text):
    for i in itertools.cycle(range(len(text))):
        yield chunk(text[i:i + 1])


def bomb():
    squeeze = zlib.compressobj(9, zlib.DEFLATED, 31)
    while True:
        yield chunk(squeeze.compress(bytes(1 << 20)) + squeeze.flush(zlib.Z_SYNC_FLUSH))


def answer(how):
    if how == "mixed":
        how = "short" if next(numbers) % 10 else "fast"
    chunked = OK + b"Transfer-Encoding: chunked\r\n\r\n"
    if how == "fast":
        return itertools.chain([chunked], endless(chunk(PIECE)))
    if how == "whole":
        return itertools.chain([OK + b'\r\n{"choices":[{"text":"'], endless(b"y" * 65536))
    if how == "nul":
        return itertools.chain([OK + b"\r\n"], endless(bytes(65536)))
    if how == "bytes":
        return itertools.chain([chunked], one_by_one(EVENT))
    if how == "headers":
        return itertools.chain([OK], (b"X-%d: y\r\n" % i for i in itertools.count()))
    if how == "header":
        return itertools.chain([OK + b"X: "], endless(b"y" * 65536))
    if how == "interim":
        return endless(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100)
    if how == "trailers":
        return itertools.chain([chunked + chunk(GOOD) + b"0\r\n"], (b"X-%d: y\r\n" % i for i in itertools.count()))
    if how == "bomb":
        return itertools.chain([OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n"], bomb())
    if how == "quiet":
        return [chunked + chunk(PIECE) * 60, None]
    return [OK + b"Content-Length: %d\r\n\r\n%s" % (len(GOOD), GOOD)]


def read_request(c, got):
    while b"\r\n\r\n" not in got:
        more = c.recv(65536)
        if not more:
            return None, b""
        got += more
    head, _, rest = got.partition(b"\r\n\r\n")
    length = next((int(h.split(b":")[1]) for h in head.split(b"\r\n") if h.lower().startswith(b"content-length:")), 0)
    while len(rest) < length:
        rest += c.recv(65536)
    return head.split()[1].decode(), rest[length:]


def serve(c):
    got = c.recv(65536)
    if got.startswith(b"PRI"):
        return serve_h2(c, got)
    while True:
        path, got = read_request(c, got)
        if path is None:
            return None
        how = path.split("/")[1]
        for data in answer(how):
            if data is None:
                c.recv(1)
                return None
            c.sendall(data)
            if how == "bytes":
                time.sleep(0)


# ---- HTTP/2 ----

DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 8, 9


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


class Connection:
    """Windows, and which streams are open; a thread sends on each."""

    def __init__(self, c):
        self.c, self.lock = c, threading.Lock()
        self.change = threading.Condition(self.lock)
        self.window, self.initial, self.streams, self.gone = 65535, 65535, {}, False

    def send(self, stream, pieces):
        for piece in itertools.cycle(pieces):
            with self.lock:
                while not self.gone and stream in self.streams and min(self.window, self.streams[stream]) < len(piece):
                    self.change.wait()
                if self.gone or stream not in self.streams:
                    return
                self.window -= len(piece)
                self.streams[stream] -= len(piece)
                try:
                    self.c.sendall(frame(DATA, 0, stream, piece))
                except OSError:
                    return

    def handle(self, kind, flags, stream, payload):
        with self.lock:
            if kind == SETTINGS and not flags & 1:
                for i in range(0, len(payload), 6):
                    key, value = struct.unpack(">HI", payload[i:i + 6])
                    if key == 4:
                        self.initial = value
                self.c.sendall(frame(SETTINGS, 1, 0))
            elif kind == PING and not flags & 1:
                self.c.sendall(frame(PING, 1, 0, payload))
            elif kind == WINDOW_UPDATE:
                more = struct.unpack(">I", payload)[0]
                if stream == 0:
                    self.window += more
                elif stream in self.streams:
                    self.streams[stream] += more
            elif kind == RST_STREAM:
                self.streams.pop(stream, None)
            elif kind == HEADERS:
                self.streams[stream] = self.initial
                block = bytes([0x88, 0x10]) + b"\x0ccontent-type" + b"\x11text/event-stream"
                self.c.sendall(frame(HEADERS, 4, stream, block))
                pieces = [bytes([b]) for b in EVENT] if "bytes" in sys.argv[1:] else [PIECE[:16384]]
                threading.Thread(target=self.send, args=(stream, pieces), daemon=True).start()
            self.change.notify_all()


def serve_h2(c, got):
    conn = Connection(c)
    c.sendall(frame(SETTINGS, 0, 0))
    got = got[24:]
    try:
        while True:
            while len(got) < 9 or len(got) < 9 + int.from_bytes(got[:3], "big"):
                more = c.recv(65536)
                if not more:
                    return
                got += more
            size, kind, flags = int.from_bytes(got[:3], "big"), got[3], got[4]
            stream = int.from_bytes(got[5:9], "big") & 0x7fffffff
            conn.handle(kind, flags, stream, got[9:9 + size])
            got = got[9 + size:]
    finally:
        with conn.lock:
            conn.gone = True
            conn.change.notify_all()


def quietly(c):
    try:
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        serve(c)
    except OSError:
        pass
    finally:
        c.close()


def main():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    print("http://127.0.0.1:%d" % listener.getsockname()[1], flush=True)

    def accept():
        while True:
            threading.Thread(target=quietly, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()


main()
