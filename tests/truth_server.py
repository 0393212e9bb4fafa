"""A model server knowing its sends and their times: the truth for error bars. One thread; Python's standard library only.

    truth_server.py LOG [--events 20] [--gap 5ms] [--batch 1] [--cert PEM]     prints its port, runs until SIGTERM

It speaks HTTP/1.1 and, to clients beginning with its preface or agree on it in the TLS handshake (--cert: certificate and key), HTTP/2.
Every request is answered with a stream of chat completion chunks, `gap` after it came and apart. LOG gets a line of JSON for each request:
its number, which stands in the id of its chunks, when the kernel received it, and for each chunk when the call that sent it began and when
it returned; times in ns on the wall clock. A packet to this machine by loopback arrives while that call lasts.
"""
import argparse
import fcntl
import heapq
import json
import selectors
import signal
import socket
import ssl
import struct
import time

SO_TIMESTAMPNS = 35
SIOCOUTQNSD = 0x894B  # bytes that TCP has not sent yet
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


class Http1:
    """One request after another; `stream` is always 0."""
    held = b""

    def requests(self, data):
        self.held += data
        while b"\r\n\r\n" in self.held:
            head, rest = self.held.split(b"\r\n\r\n", 1)
            length = next((int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
            if len(rest) < length:
                return
            self.held = rest[length:]
            yield 0

    def head(self, stream):
        return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

    def chunk(self, stream, data, last):
        return b"%x\r\n%s\r\n" % (len(data), data) + (b"0\r\n\r\n" if last else b"")

    def replies(self):
        return b""


class Http2:
    """Any HEADERS are a request, which ends with END_STREAM; windows are large enough for its answers."""

    def __init__(self):
        self.held, self.reply, self.begun = b"", frame(4, 0, 0), False

    def requests(self, data):
        self.held += data
        if not self.begun:
            if len(self.held) < len(PREFACE):
                return
            self.held, self.begun = self.held[len(PREFACE):], True
        while len(self.held) >= 9:
            length, kind, flags, stream = struct.unpack(">I", b"\0" + self.held[:3])[0], self.held[3], self.held[4], struct.unpack(">I", self.held[5:9])[0]
            if len(self.held) < 9 + length:
                return
            payload, self.held = self.held[9:9 + length], self.held[9 + length:]
            if kind == 4 and not flags & 1:
                self.reply += frame(4, 1, 0)
            if kind == 6 and not flags & 1:
                self.reply += frame(6, 1, 0, payload)
            if kind == 0 and length: # the bytes it may send again
                self.reply += frame(8, 0, 0, struct.pack(">I", length))
            if kind in (0, 1) and flags & 1:
                yield stream

    def head(self, stream):
        return frame(1, 4, stream, b"\x88\x0f\x10" + bytes([17]) + b"text/event-stream")

    def chunk(self, stream, data, last):
        return frame(0, 1 if last else 0, stream, data)

    def replies(self):
        reply, self.reply = self.reply, b""
        return reply


class Connection:
    def __init__(self, sock, context):
        self.sock, self.protocol, self.tls, self.unsent = sock, None, None, []
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        if context:
            self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            self.tls = context.wrap_bio(self.incoming, self.outgoing, server_side=True)
            self.open = False

    def send(self, data):
        """When the call began and the kernel had sent it: at its return, unless the kernel waits for unacknowledged bytes, which it does if the
        client has no processor; note_sent() corrects it."""
        if self.tls and data:
            self.tls.write(data)
        if self.tls:
            data = self.outgoing.read()
        before = time.time_ns()
        if data:
            self.sock.sendall(data)
        when = [before, time.time_ns()]
        self.unsent += [when]
        self.note_sent()
        return when

    def note_sent(self):
        """Is all sent handed over? Until it is, its time is the last look's."""
        left = struct.unpack("=i", fcntl.ioctl(self.sock, SIOCOUTQNSD, b"\0\0\0\0"))[0]
        if left or len(self.unsent) > 1:
            for when in self.unsent:
                when[1] = time.time_ns()
        if not left:
            self.unsent = []
        return not left

    def read(self):
        """The received bytes, and the kernel's time of them; None at the end."""
        data, control, _, _ = self.sock.recvmsg(65536, 256)
        stamp = time.time_ns()
        for level, kind, value in control:
            if kind == SO_TIMESTAMPNS and len(value) >= 16:
                seconds, rest = struct.unpack("=qq", value[:16])
                stamp = seconds * 10**9 + rest
        if not data:
            return None, stamp
        if not self.tls:
            return data, stamp
        self.incoming.write(data)
        plain = b""
        try:
            if not self.open:
                self.tls.do_handshake()
                self.open = True
            while part := self.tls.read(65536):
                plain += part
        except ssl.SSLWantReadError:
            pass
        self.send(b"")
        return plain, stamp

    def requests(self, data):
        if not self.protocol and data:
            second = data.startswith(b"PRI") or (self.tls and self.tls.selected_alpn_protocol() == "h2")
            self.protocol = Http2() if second else Http1()
        found = list(self.protocol.requests(data)) if data else []
        reply = self.protocol.replies() if self.protocol else b""
        if reply:
            self.send(reply)
        return found


class Server:
    def __init__(self, o):
        self.o, self.log, self.count, self.due, self.entries = o, open(o.log, "w", encoding="utf-8"), 0, [], []
        self.selector, self.stop = selectors.DefaultSelector(), False
        self.context = None
        if o.cert:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(o.cert)
            self.context.set_alpn_protocols(["h2", "http/1.1"])
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.selector.register(self.listener, selectors.EVENT_READ)

    def begin(self, connection, stream, stamp):
        entry = {"request": self.count, "arrived_ns": stamp, "sent_ns": []}
        self.count += 1
        connection.send(connection.protocol.head(stream))
        heapq.heappush(self.due, (stamp + self.o.gap_ns, entry["request"], connection, stream, entry))

    def go_on(self):
        """Sends due events; then returns the time of the next."""
        while self.due and self.due[0][0] <= time.time_ns():
            at, number, connection, stream, entry = heapq.heappop(self.due)
            left = self.o.events - len(entry["sent_ns"])
            parts = b"".join(b'data: {"id":"chatcmpl-%d","choices":[{"index":0,"delta":{"content":"x"}}]}\n\n' % number for _ in range(min(left, self.o.batch)))
            last = left <= self.o.batch
            end = b'data: {"id":"chatcmpl-%d","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":%d}}\n\ndata: [DONE]\n\n' % (
                number, self.o.events)
            try:
                # the end apart from the content, as servers send it
                entry["sent_ns"] += min(left, self.o.batch) * [connection.send(connection.protocol.chunk(stream, parts, False))]
                if last:
                    connection.send(connection.protocol.chunk(stream, end, True))
                    self.entries.append(entry)
                else:
                    heapq.heappush(self.due, (at + self.o.gap_ns, number, connection, stream, entry))
            except OSError:
                pass # it hung up
        wait = max(0, self.due[0][0] - time.time_ns()) / 1e9 if self.due else 0.2
        waiting = [key.data for key in self.selector.get_map().values() if key.data and key.data.unsent]
        return wait if all([connection.note_sent() for connection in waiting]) else min(wait, 0.001)

    def run(self):
        print(self.listener.getsockname()[1], flush=True)
        while not self.stop:
            for key, _ in self.selector.select(self.go_on()):
                if key.fileobj is self.listener:
                    sock = self.listener.accept()[0]
                    self.selector.register(sock, selectors.EVENT_READ, Connection(sock, self.context))
                    continue
                connection = key.data
                try:
                    data, stamp = connection.read()
                    for stream in connection.requests(data) if data else []:
                        self.begin(connection, stream, stamp)
                except OSError:
                    data = None
                if data is None:
                    self.selector.unregister(connection.sock)
                    connection.sock.close()
        self.log.writelines(json.dumps(entry) + "\n" for entry in self.entries)
        self.log.close()


def duration(text):
    unit = {"us": 10**3, "ms": 10**6}[text[-2:]]
    return int(text[:-2]) * unit


def main():
    options = argparse.ArgumentParser()
    options.add_argument("log")
    options.add_argument("--events", type=int, default=20)
    options.add_argument("--gap", dest="gap_ns", type=duration, default=duration("5ms"))
    options.add_argument("--batch", type=int, default=1)
    options.add_argument("--cert")
    server = Server(options.parse_args())

    def on_signal(*_):
        server.stop = True
    signal.signal(signal.SIGTERM, on_signal)
    server.run()


main()
