#!/usr/bin/env python3
"""A TCP proxy that is slow: usage: delaying_proxy.py PORT-OF-THE-SERVER MILLISECONDS

Its own port of 127.0.0.1 is printed. A client's bytes are passed on at once, the server's so much later.
"""
import asyncio
import sys

server, delay = int(sys.argv[1]), float(sys.argv[2]) / 1000


async def pump(reader, writer, later):
    """Passes on all bytes, each read as late after it came as the one before."""
    held = asyncio.Queue()

    async def send():
        while True:
            due, data = await held.get()
            await asyncio.sleep(due - asyncio.get_running_loop().time())
            if not data:
                break
            writer.write(data)
            await writer.drain()
        writer.close()

    sending = asyncio.create_task(send())
    try:
        while data := await reader.read(65536):
            held.put_nowait((asyncio.get_running_loop().time() + later, data))
    except ConnectionError:
        pass
    held.put_nowait((0, b""))
    try:
        await sending
    except ConnectionError:
        pass


async def client(reader, writer):
    behind = await asyncio.open_connection("127.0.0.1", server)
    await asyncio.gather(pump(reader, behind[1], 0), pump(behind[0], writer, delay))


async def main():
    proxy = await asyncio.start_server(client, "127.0.0.1", 0)
    print(proxy.sockets[0].getsockname()[1], flush=True)
    await proxy.serve_forever()


asyncio.run(main())
