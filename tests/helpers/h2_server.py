"""A bare HTTP/2 server answering every request with one of a few scripts of gRPC, good and bad, frame by frame: acts that no
server of gRPC would do by itself. Python's standard library only.

    h2_server.py            prints a port and the script that it has, a line for each; serves until its standard input ends
"""
import socket
import struct
import sys
import threading
import time

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
END_STREAM, END_HEADERS, ACK = 1, 4, 1


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    """A header that enters no table, without Huffman's code."""
    return b"\x10" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


def message(text, compressed=0):
    """A message whose field 4 is the text, in its frame of gRPC."""
    raw = text.encode()
    body = b"\x22" + bytes([len(raw)]) + raw if len(raw) < 128 else None
    return bytes([compressed]) + struct.pack(">I", len(body)) + body


def head(stream, *more, end=False, status=b"\x88"):
    block = status + literal("content-type", "application/grpc") + b"".join(literal(*m) for m in more)
    return frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), stream, block)


def trailers(stream, *pairs):
    return frame(HEADERS, END_HEADERS | END_STREAM, stream, b"".join(literal(*p) for p in pairs))


def data(stream, payload, end=False):
    return frame(DATA, END_STREAM if end else 0, stream, payload)


def goaway(last):
    return frame(GOAWAY, 0, 0, struct.pack(">II", last, 0))


OK = ("grpc-status", "0")
END = b"\x00\x00\x00\x00\x02\x38\x01"  # stop_reason of TGIS, MAX_TOKENS


def scripts(s):
    """The output for stream `s`: bytes, pauses, None for an end of the connection."""
    ab = message("ab") + message("cd") + END
    halves = [bytes([b]) for b in ab]
    return {
        # each byte a frame of its own, with a pause within a message
        "bytes": [head(s)] + [x for i, b in enumerate(halves) for x in ([0.02, data(s, b)] if i == 3 else [data(s, b)])] + [trailers(s, OK)],
        "one-frame": [head(s), data(s, ab), trailers(s, OK)],
        "late-end": [head(s), data(s, message("ab")[:7]), 0.1, data(s, message("ab")[7:] + END), trailers(s, OK)],
        "no-trailers": [head(s), data(s, ab, end=True)],
        "no-trailers-short": [head(s), data(s, message("ab"), end=True)],
        "trailers-only": [head(s, ("grpc-status", "14"), ("grpc-message", "not%20here%2C%20100%25"), end=True)],
        "in-headers-too": [head(s, ("grpc-status", "0")), data(s, ab), trailers(s, ("grpc-status", "0"))],
        "strange-status": [head(s), data(s, ab), trailers(s, ("grpc-status", "99"), ("grpc-message", "what"))],
        "no-number": [head(s), data(s, ab), trailers(s, ("grpc-status", "OK"))],
        "compressed": [head(s, ("grpc-encoding", "gzip")), data(s, message("ab", 1) + END), trailers(s, OK)],
        "no-message": [head(s), data(s, b"<html>busy</html>"), trailers(s, OK)],
        "bad-message": [head(s), data(s, b"\0\0\0\0\4\x22\x7fab" + END), trailers(s, OK)],
        "cut-message": [head(s), data(s, message("ab") + message("cd")[:7]), trailers(s, OK)],
        "empty": [head(s), trailers(s, OK)],
        "no-end-mark": [head(s), data(s, message("ab")), trailers(s, OK)],
        "reset": [head(s), data(s, message("ab")), frame(RST_STREAM, 0, s, struct.pack(">I", 8))],
        "closed": [head(s), data(s, message("ab")), 0.05, None],
        # one request a connection: the second is not looked at, or the goodbye comes in time
        "goodbye": [head(s), data(s, ab), trailers(s, OK)] if s == 1 else [goaway(1), None],
        "goodbye-in-time": [head(s), data(s, ab), trailers(s, OK) + goaway(1)],
        "goodbye-always": [goaway(0)],
        "goodbye-closed": [head(s), data(s, ab), trailers(s, OK) + goaway(1), None],
        "closed-behind": [head(s), data(s, ab), trailers(s, OK), None],
        "closed-unseen": [head(s), data(s, ab), trailers(s, OK)] if s == 1 else [None],
        "http-503": [frame(HEADERS, END_HEADERS, s, literal(":status", "503")), data(s, b"upstream is gone", end=True)],
    }


def serve(connection, script):
    received = b""
    connection.sendall(frame(SETTINGS, 0, 0))

    def read(count):
        nonlocal received
        while len(received) < count:
            got = connection.recv(65536)
            if not got:
                raise EOFError
            received += got
        taken, received = received[:count], received[count:]
        return taken

    try:
        assert read(24) == b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        while True:
            prefix = read(9)
            kind, flags, stream = prefix[3], prefix[4], struct.unpack(">I", prefix[5:])[0]
            payload = read(int.from_bytes(prefix[:3], "big"))
            if kind == SETTINGS and not flags & ACK:
                connection.sendall(frame(SETTINGS, ACK, 0))
            elif kind == PING and not flags & ACK:
                connection.sendall(frame(PING, ACK, 0, payload))
            if kind in (DATA, HEADERS) and flags & END_STREAM:
                for step in scripts(stream)[script]:
                    if step is None:
                        return
                    if isinstance(step, float):
                        time.sleep(step)
                    else:
                        connection.sendall(step)
    except (EOFError, OSError):
        pass
    finally:
        connection.close()


def accept(listener, script):
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(connection, script), daemon=True).start()


def main():
    for script in scripts(0):
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        print(listener.getsockname()[1], script)
        threading.Thread(target=accept, args=(listener, script), daemon=True).start()
    print("end", flush=True)
    sys.stdin.read()


main()
