#!/usr/bin/env python3
"""A proxy for TCP that meddles with the traffic: the same bytes, but never as they came.

    meddle.py PORT        # passes on to 127.0.0.1:PORT; prints the ports that it listens on, one for each way:

    split      each byte in a send of its own
    coalesce   bytes within 15 ms in one send
    stall      nothing for 10 ms after each 400 bytes
    reset      every third connection is reset by the proxy after some of the server's bytes
"""
import asyncio
import socket
import struct
import sys

CONNECTIONS = 0


async def split(data, writer):
    for at in range(len(data)):
        writer.write(data[at : at + 1])
        await writer.drain()
        await asyncio.sleep(0)


async def stall(data, writer):
    for at in range(0, len(data), 400):
        writer.write(data[at : at + 400])
        await writer.drain()
        await asyncio.sleep(0.01)


async def read_more(reader, data):
    """The bytes arriving within 15 ms."""
    loop = asyncio.get_running_loop()
    end = loop.time() + 0.015
    while (left := end - loop.time()) > 0:
        try:
            more = await asyncio.wait_for(reader.read(65536), left)
        except asyncio.TimeoutError:
            return data, False
        if not more:
            return data, True
        data += more
    return data, False


async def pass_on(mode, reader, writer, reset_after):
    try:
        while data := await reader.read(65536):
            ended = False
            if mode == "split":
                await split(data, writer)
            elif mode == "stall":
                await stall(data, writer)
            elif mode == "coalesce":
                data, ended = await read_more(reader, data)
            if reset_after is not None:
                writer.write(data[:reset_after])
                reset_after -= len(data)
                await writer.drain()
                if reset_after <= 0:
                    linger = struct.pack("ii", 1, 0)  # close with a reset
                    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    writer.transport.abort()
                    return
            elif mode not in ("split", "stall"):
                writer.write(data)
                await writer.drain()
            if ended:
                break
        writer.write_eof()
    except (ConnectionError, OSError):
        writer.transport.abort()


async def serve(mode, port):
    async def on_client(reader, writer):
        global CONNECTIONS
        CONNECTIONS += 1
        reset = 40 + CONNECTIONS * 97 % 900 if mode == "reset" and CONNECTIONS % 3 == 0 else None
        try:
            to_server = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.transport.abort()
            return
        await asyncio.gather(
            pass_on(mode, reader, to_server[1], None), pass_on(mode, to_server[0], writer, reset)
        )
        for end in (writer, to_server[1]):
            end.close()

    return await asyncio.start_server(on_client, "127.0.0.1", 0, backlog=1024)


async def main(port):
    servers = [await serve(mode, port) for mode in ("split", "coalesce", "stall", "reset")]
    print(*(s.sockets[0].getsockname()[1] for s in servers), flush=True)
    await asyncio.gather(*(s.serve_forever() for s in servers))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
