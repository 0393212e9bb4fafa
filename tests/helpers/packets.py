"""Captures of invented connections: packets.py KIND FILE

KIND is one of KINDS below. Times count from 1,790,000,000 s; each packet is 1 ms after the one before, and the second packet of a kind is named by
its place in the list, so tests know every time."""
import gzip
import json
import struct
import sys

T0 = 1_790_000_000 * 10**9
MS = 10**6
FIN, SYN, RST, ACK = 1, 2, 4, 16


class Capture:
    def __init__(self, v6=False):
        self.packets, self.now, self.v6 = [], T0, v6

    def add(self, frame):
        self.packets.append((self.now, frame))
        self.now += MS

    def frame(self, src, dst, segment):
        if self.v6:
            ip = struct.pack("!IHBB", 0x60000000, len(segment), 6, 64) + bytes(15) + bytes([src[0]]) + bytes(15) + bytes([dst[0]])
            return bytes(12) + b"\x86\xdd" + ip + segment
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(segment), 0, 0, 64, 6, 0, bytes([10, 0, 0, src[0]]), bytes([10, 0, 0, dst[0]]))
        return bytes(12) + b"\x08\x00" + ip + segment


class Connection:
    """Client 10.0.0.1, server 10.0.0.`server`."""

    def __init__(self, capture, port, server=2, server_port=8000, opened=True):
        self.capture, self.ends = capture, [(1, port), (server, server_port)]
        self.seq = [1000, 5000]
        if opened:
            self.send(0, flags=SYN)
            self.send(1, flags=SYN | ACK)
            self.send(0)

    def send(self, side, data=b"", flags=ACK):
        src, dst = self.ends[side], self.ends[1 - side]
        ack = 0 if flags == SYN else self.seq[1 - side]
        head = struct.pack("!HHIIBBHHH", src[1], dst[1], self.seq[side], ack, 0x50, flags, 65535, 0, 0)
        self.capture.add(self.capture.frame(src, dst, head + data))
        self.seq[side] += len(data) + (1 if flags & (SYN | FIN) else 0)

    def ask(self, body, path="/v1/chat/completions", headers=()):
        text = json.dumps(body).encode() if body is not None else b""
        lines = [f"{'POST' if text else 'GET'} {path} HTTP/1.1", "Host: model", "Authorization: Bearer SECRET", *headers]
        if text:
            lines.append(f"Content-Length: {len(text)}")
        self.send(0, "\r\n".join(lines).encode() + b"\r\n\r\n" + text)

    def answer(self, body, status="200 OK", headers=()):
        text = json.dumps(body).encode() if isinstance(body, dict) else body
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(text)}", "Set-Cookie: SECRET", *headers]
        self.send(1, "\r\n".join(lines).encode() + b"\r\n\r\n" + text)

    def stream_head(self, headers=()):
        self.send(1, "\r\n".join(["HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked", *headers]).encode() + b"\r\n\r\n")

    def chunk(self, data):
        self.send(1, f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def event(self, text):
        self.chunk(event(text))

    def stream_end(self):
        self.chunk(b"data: [DONE]\n\n")
        self.send(1, b"0\r\n\r\n")


def event(text):
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}).encode() + b"\n\n"


def chat(text, **more):
    return {"model": "m", "messages": [{"role": "user", "content": text}], "stream": True, **more}


def whole(text, tokens):
    return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "completion_tokens": tokens}}


def streamed(c, texts, headers=()):
    c.stream_head(headers)
    for text in texts:
        c.event(text)
    c.stream_end()


def mixed():
    """Several APIs, servers and ends: what a port carries."""
    cap = Capture()
    a = Connection(cap, 40001)
    a.ask(chat("one"), headers=["X-Session-Id: s1", "X-Tenant: t"])
    streamed(a, ["x", "y", "z"])
    a.ask({**chat("two"), "stream": False}, headers=["X-Session-Id: s1"])
    a.answer(whole("fine", 3))
    a.ask(None, "/metrics")
    a.answer(b"up 1\n")
    b = Connection(cap, 40002, server=3)
    b.ask({"model": "m", "prompt": "three", "max_tokens": 5}, "/v1/completions")
    b.answer({"choices": [{"text": "abc", "finish_reason": "length"}], "usage": {"prompt_tokens": 1, "completion_tokens": 5}})
    b.ask(chat("four"))
    b.answer({"error": {"message": "busy"}}, "503 Service Unavailable")
    b.ask({"model": "e", "input": "five"}, "/v1/embeddings")
    b.answer({"data": [{"embedding": [1.0]}]})
    c = Connection(cap, 40003)
    c.ask(chat("six"))
    c.stream_head()
    c.event("a")
    c.send(0, flags=FIN | ACK)
    c.send(1, flags=RST | ACK)
    return cap


def turns():
    """A conversation of three turns without a header, one that begins alike, and a request alone."""
    cap = Capture()
    a, b = Connection(cap, 40001), Connection(cap, 40002)
    said = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "one"}]

    def turn(c, messages):
        c.ask({"model": "m", "messages": messages, "stream": True})
        streamed(c, ["x"])

    turn(a, said)
    turn(b, [{"role": "user", "content": "alone"}])
    for text in ("two", "three"):
        said = said + [{"role": "assistant", "content": "x"}, {"role": "user", "content": text}]
        turn(a, said)
    turn(b, said[:2] + [{"role": "assistant", "content": "other"}, {"role": "user", "content": "four"}])
    return cap


def encoded():
    """Answers by gzip, of which each event is flushed."""
    cap = Capture()
    c = Connection(cap, 40001)
    c.ask(chat("one"))
    c.stream_head(["Content-Encoding: gzip"])
    packer = gzip.zlib.compressobj(wbits=31)
    for text in ["x", "y", "z"]:
        c.chunk(packer.compress(event(text)) + packer.flush(gzip.zlib.Z_SYNC_FLUSH))
    c.chunk(packer.compress(b"data: [DONE]\n\n") + packer.flush())
    c.send(1, b"0\r\n\r\n")
    c.ask(chat("two"))
    c.answer(b"not read", headers=["Content-Encoding: br"])
    return cap


def before():
    """Connections that began before the capture, within an answer and between two, and one that is still open."""
    cap = Capture()
    a = Connection(cap, 40001, opened=False)
    a.chunk(event("rest"))
    a.stream_end()
    a.ask(chat("one"))
    streamed(a, ["x"])
    b = Connection(cap, 40002, opened=False)
    b.ask(chat("two"))
    streamed(b, ["x"])
    c = Connection(cap, 40003)
    c.ask(chat("three"))
    c.stream_head()
    c.event("x")
    return cap


def others():
    """Protocols that are not HTTP, and TLS without keys."""
    cap = Capture()
    Connection(cap, 40001).send(1, b"SSH-2.0-OpenSSH\r\n")
    hello = bytes.fromhex("0303") + bytes(32) + b"\0" + bytes.fromhex("00021301") + b"\1\0" + bytes.fromhex("0000")
    t = Connection(cap, 40002)
    t.send(0, b"\x16\x03\x01" + struct.pack("!H", len(hello) + 4) + b"\1\0" + struct.pack("!H", len(hello)) + hello)
    Connection(cap, 40003, opened=False).send(1, b"\x17\x03\x03\x00\x20" + bytes(32))
    Connection(cap, 40004)
    c = Connection(cap, 40005)
    c.ask(chat("one"))
    streamed(c, ["x"])
    return cap


def odd():
    """Packets a capture does not have in a quiet laboratory: a port used again, a reset by somebody else, questions of browsers."""
    cap = Capture()
    a = Connection(cap, 40001, opened=False)
    a.ask(chat("one"))
    streamed(a, ["x"])
    for side in (0, 1):
        a.send(side, flags=FIN | ACK)
    a.seq = [70000, 90000]
    a.send(0, flags=SYN)
    a.send(1, flags=SYN | ACK)
    a.send(0)
    a.ask(chat("two"))
    a.stream_head()
    a.event("x")
    seq, a.seq[1] = a.seq[1], 0x70000000
    a.send(1, flags=RST)
    a.seq[1] = seq
    a.event("y")
    a.stream_end()
    a.send(0, b"OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: x\r\n\r\n")
    a.answer(b"", status="204 No Content")
    b = Connection(cap, 40002)
    b.ask(chat("three"))
    b.stream_head()
    b.event("x")
    b.send(1, flags=FIN | ACK)
    b.send(0, flags=RST | ACK)
    return cap


def back():
    """A clock that is set back while the first of two requests waits."""
    cap = Capture()
    for port in (40001, 40002):
        c = Connection(cap, port)
        c.ask(chat("one"))
        cap.now -= 20 * MS if port == 40001 else 0
        streamed(c, ["x", "y"])
    return cap


def secrets():
    """Credentials wherever a request may have them, except in its body."""
    cap = Capture()
    c = Connection(cap, 40001)
    c.send(0, b"GET http://user:SECRET@host/health;jsessionid=SECRET?key=SECRET#SECRET HTTP/1.1\r\nHost: x\r\n\r\n")
    c.answer(b"ok")
    c.ask(chat("one"), path="http://user:SECRET@host/v1/chat/completions?api_key=SECRET",
          headers=["X-Session-Id: https://user:SECRET@host/", "X-Request-Id: https://user:SECRET@host/?key=SECRET"])
    streamed(c, ["x"], ["X-Request-Id: Bearer SECRET", "X-Goog-Api-Key: SECRET"])
    return cap


def pcap(cap, snaplen=262144):
    out = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, snaplen, 1)
    for t, frame in cap.packets:
        out += struct.pack("<IIII", t // 10**9, t % 10**9, min(len(frame), snaplen), len(frame)) + frame[:snaplen]
    return out


def pcapng(cap, dropped=0, link=1):
    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack(">II", kind, 12 + len(body)) + body + struct.pack(">I", 12 + len(body))

    out = block(0x0A0D0D0A, struct.pack(">IHHq", 0x1A2B3C4D, 1, 0, -1))
    out += block(1, struct.pack(">HHI", link, 0, 262144) + struct.pack(">HHB3x", 9, 1, 9) + bytes(4))
    for t, frame in cap.packets:
        out += block(6, struct.pack(">IIIII", 0, t >> 32, t & 0xFFFFFFFF, len(frame), len(frame)) + frame)
    return out + block(5, struct.pack(">III", 0, 0, 0) + struct.pack(">HHQ", 5, 8, dropped) + bytes(4))


def v6():
    cap = Capture(v6=True)
    c = Connection(cap, 40001)
    c.ask(chat("one"))
    streamed(c, ["x", "y"])
    return cap


KINDS = {
    "mixed": lambda: pcap(mixed()),
    "mixed.pcapng": lambda: pcapng(mixed(), dropped=40),
    "snapped": lambda: pcap(mixed(), snaplen=96),
    "turns": lambda: pcap(turns()),
    "encoded": lambda: pcap(encoded()),
    "before": lambda: pcap(before()),
    "others": lambda: pcap(others()),
    "v6": lambda: pcap(v6()),
    "odd": lambda: pcap(odd()),
    "back": lambda: pcap(back()),
    "secrets": lambda: pcap(secrets()),
    "two-links": lambda: pcapng(mixed()) + pcapng(mixed(), link=113),
}

if __name__ == "__main__":
    with open(sys.argv[2], "wb") as file:
        file.write(KINDS[sys.argv[1]]())
