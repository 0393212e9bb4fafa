"""Clients of --listen that mean no good: hostile_scraper.py HOST PORT. Ends with 0 if a scrape works beside each of them."""
import socket, sys, time, urllib.request

host, port = sys.argv[1], int(sys.argv[2])
url = f"http://{host}:{port}/metrics"


def connect():
    return socket.create_connection((host, port), timeout=120)


def scrape(what):
    with urllib.request.urlopen(url, timeout=120) as r:
        if b"ipf_requests_total" not in r.read():
            sys.exit(f"{what}: no metrics")


# connections saying nothing, or that begin a request again and again and never end it
silent = [connect() for _ in range(200)]
scrape("beside 200 silent connections")
slow = [connect() for _ in range(100)]
for s in slow:
    s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n")
for i in range(5):
    for s in slow:
        try:
            s.sendall(b"X-%d: y\r\n" % i)
        except OSError:
            pass
    scrape("beside slow requests")
# a reader that does not read its answers
deaf = connect()
deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
deaf.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
scrape("beside a reader that does not read")
# bytes that are no request, or one of a megabyte
for bad in (b"\0\xff\x16\x03\x01" * 1000, b"GET /metrics HTTP/1.1\r\nX: " + b"y" * (1 << 20) + b"\r\n\r\n",
            b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999999\r\n\r\n" + b"z" * 100000,
            b"GET " + b"/" * (1 << 20) + b" HTTP/1.1\r\n\r\n"):
    s = connect()
    s.settimeout(1)  # exact: gives up on purpose, whatever the answer
    try:
        s.sendall(bad)
        s.shutdown(socket.SHUT_WR)
        while s.recv(65536):
            pass
    except OSError:
        pass
    scrape("after " + repr(bad[:20]))
# a reset in the middle
s = connect()
s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
s.close()
for i in range(1000):
    scrape(f"scrape {i}")
