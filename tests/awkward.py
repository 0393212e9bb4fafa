#!/usr/bin/env python3
"""A server taking connections to no use: on a free port of 127.0.0.1, which is printed.

usage: awkward.py MODE

silent   reads what comes, and never answers
deaf     does not even read
reset    reads a little, then RST
close    reads a little, then closes in order
unbound  an answer whose head never ends
full     answers, but its queue of connections is full until six connections are under way
"""
import select
import socket
import struct
import sys
import threading
import time

mode = sys.argv[1]
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
server.bind(("127.0.0.1", 0))
server.listen(0 if mode == "full" else 64)
print(server.getsockname()[1], flush=True)
kept = []


def serve(connection):
    kept.append(connection)
    try:
        if mode == "deaf":
            return
        connection.recv(4096)
        if mode == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if mode in ("reset", "close"):
            connection.recv(65536, socket.MSG_DONTWAIT) if mode == "close" else None
            connection.close()
            return
        if mode == "full":
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
                            b'data: {"choices":[{"index":0,"delta":{"content":"one"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
            connection.close()
            return
        if mode == "unbound":
            connection.send(b"HTTP/1.1 200 OK\r\n")
            while True:
                connection.send(b"X-More: " + b"x" * 1000 + b"\r\n")
        while connection.recv(65536):
            pass
    except OSError:
        if mode == "close":
            connection.close()


def under_way():
    """How many sockets are connected or connecting to this one."""
    port = ":%04X" % server.getsockname()[1]
    with open("/proc/net/tcp") as table:
        return sum(line.split()[2].endswith(port) and line.split()[3] in ("01", "02") for line in table)


if mode == "full":
    select.select([server], [], [])
    while under_way() < 6:
        time.sleep(0.01)
    server.listen(64)  # SYNs sent again find room
while True:
    threading.Thread(target=serve, args=server.accept()[:1], daemon=True).start()
