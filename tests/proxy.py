#!/usr/bin/env python3
"""A proxy to test with: HTTP (forwarding and CONNECT) and SOCKS 5 on one free port of 127.0.0.1, which is printed.

usage: proxy.py LOG [--auth USER:PASSWORD] [--refuse] [--slow SECONDS] [--together N [--all]]
       proxy.py LOG --relay PATH|::1 PORT

A line of LOG for each connection: its target, and whether it was let through. --refuse says no to everything: 502 to HTTP, "host unreachable" to SOCKS. --slow takes so long for a
connection of SOCKS. --together makes the first connection of SOCKS at once, and the next only when N of them are waiting: LOG has "together" then, or "alone" where they are fewer
for 120 seconds; with --all, the first one waits for N as well. --relay takes connections to the Unix socket at PATH to PORT, and prints PATH; or those to a free port of ::1.
"""
import asyncio
import base64
import sys

log = open(sys.argv[1], "a", buffering=1)
auth = sys.argv[sys.argv.index("--auth") + 1] if "--auth" in sys.argv else None
refuse = "--refuse" in sys.argv
together = int(sys.argv[sys.argv.index("--together") + 1]) if "--together" in sys.argv else 0
everyone = "--all" in sys.argv
seen, enough = 0, asyncio.Event()
slow = float(sys.argv[sys.argv.index("--slow") + 1]) if "--slow" in sys.argv else 0


async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def join(reader, writer, there, first=b""):
    there[1].write(first)
    await asyncio.gather(pump(reader, there[1]), pump(there[0], writer))


async def gather():
    global seen
    seen += 1
    if (seen == 1 and not everyone) or enough.is_set():
        return
    if seen == together + (not everyone):
        log.write("together\n")
        enough.set()
    try:
        await asyncio.wait_for(enough.wait(), 120)
    except asyncio.TimeoutError:
        log.write("alone\n")


async def socks(reader, writer):
    methods = await reader.readexactly((await reader.readexactly(1))[0])
    if auth:
        writer.write(b"\5\2" if 2 in methods else b"\5\xff")
        await reader.readexactly(1)
        user = await reader.readexactly((await reader.readexactly(1))[0])
        password = await reader.readexactly((await reader.readexactly(1))[0])
        good = (user + b":" + password).decode() == auth
        writer.write(b"\1\0" if good else b"\1\1")
        if not good:
            log.write("socks5 denied\n")
            return
    else:
        writer.write(b"\5\0")
    kind = (await reader.readexactly(4))[3]
    if kind == 1:
        host, how = ".".join(map(str, await reader.readexactly(4))), "address"
    else:
        host, how = (await reader.readexactly((await reader.readexactly(1))[0])).decode(), "name"
    port = int.from_bytes(await reader.readexactly(2), "big")
    log.write(f"socks5 {how} {host}:{port}\n")
    if refuse:
        writer.write(b"\5\4\0\1\0\0\0\0\0\0")
        return
    await asyncio.sleep(slow)
    if together:
        await gather()
    there = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"\5\0\0\1\0\0\0\0\0\0")
    await join(reader, writer, there)


async def say_no(reader, writer, head, status):
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            await reader.readexactly(int(line.split(b":")[1]))  # else the answer would be lost to a reset
    writer.write(b"HTTP/1.1 " + status + b"\r\nConnection: close\r\nContent-Length: 3\r\n\r\nno\n")


async def http(reader, writer, first):
    head = first + await reader.readuntil(b"\r\n\r\n")
    method, url, _ = head.split(b"\r\n")[0].decode().split(" ")
    authority = url.split("://")[-1].split("/")[0]
    if auth and b"basic " + base64.b64encode(auth.encode()).lower() not in head.lower():
        log.write(f"{method} denied\n")
        await say_no(reader, writer, head, b"407 Proxy Authentication Required")
        return
    log.write(f"{method} {authority}\n")
    if refuse:
        await say_no(reader, writer, head, b"502 Bad Gateway")
        return
    there = await asyncio.open_connection("127.0.0.1", int(authority.rsplit(":", 1)[1]))
    if method == "CONNECT":
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await join(reader, writer, there)
    else:
        await join(reader, writer, there, head.replace(b"http://" + authority.encode(), b"", 1))


async def serve(reader, writer):
    try:
        first = await reader.readexactly(1)
        await (socks(reader, writer) if first == b"\5" else http(reader, writer, first))
        await writer.drain()
    except (OSError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def relay(reader, writer):
    log.write("unix\n")
    await join(reader, writer, await asyncio.open_connection("127.0.0.1", int(sys.argv[4])))


async def main():
    if "--relay" in sys.argv and sys.argv[3] == "::1":
        server = await asyncio.start_server(relay, "::1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()
    if "--relay" in sys.argv:
        server = await asyncio.start_unix_server(relay, sys.argv[3])
        print(sys.argv[3], flush=True)
        await server.serve_forever()
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
