"""Writes a large capture: capture_file.py bulk|events FILE BYTES

bulk: prompts of a megabyte, short answers. events: 200 streams of short events, a segment each, acknowledged every second one."""
import struct
import sys

CLIENT, SERVER = 0x0A000001, 0x0A000002
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENT = (
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":'
    b'[{"index":0,"delta":{"content":" tok%d"},"logprobs":null,"finish_reason":null}]}\n\n'
)


def main():
    kind, path, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
    events, words, streams = (100, 20, 200) if kind == "events" else (1, 80000, 8)
    content = b"hello world " * words
    body = b'{"model":"m","messages":[{"role":"user","content":"%s"}],"stream":true,"max_tokens":100}' % content
    request = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    now, wrote = 1_790_000_000 * 10**9, 0
    places = [[i * 100007, i * 99991] for i in range(streams)]

    with open(path, "wb", buffering=1 << 20) as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1))

        def send(number, side, data, flags=0x18):
            nonlocal now, wrote
            own, other = places[number][side], places[number][1 - side]
            ends = [(CLIENT, 20000 + number), (SERVER, 8000)]
            (src, sport), (dst, dport) = ends[side], ends[1 - side]
            ip = struct.pack("!BBHHHBBHII", 0x45, 0, 40 + len(data), 0, 0, 64, 6, 0, src, dst)
            tcp = struct.pack("!HHIIBBHHH", sport, dport, own & 0xFFFFFFFF, other & 0xFFFFFFFF, 0x50, flags, 65535, 0, 0)
            frame = bytes(12) + b"\x08\x00" + ip + tcp + data
            file.write(struct.pack("<IIII", now // 10**9, now % 10**9, len(frame), len(frame)) + frame)
            places[number][side] += len(data) + (1 if flags & 2 else 0)
            now += 2000
            wrote += len(frame)

        for i in range(streams):
            send(i, 0, b"", 2)
            send(i, 1, b"", 0x12)
        while wrote < size:
            for i in range(streams):
                for at in range(0, len(request), 1448):
                    send(i, 0, request[at : at + 1448])
            for e in range(events + 1):
                for i in range(streams):
                    data = EVENT % e if e < events else b"data: [DONE]\n\n"
                    chunk = b"%x\r\n" % len(data) + data + b"\r\n"
                    send(i, 1, (HEAD if e == 0 else b"") + chunk + (b"0\r\n\r\n" if e == events else b""))
                    if e % 2 == 0:
                        send(i, 0, b"", 0x10)


main()
