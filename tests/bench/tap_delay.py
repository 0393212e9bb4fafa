#!/usr/bin/env python3
"""How far a capture on loopback is from the kernel's timestamps of sockets, measured beside a run with a connection of its own.

    tap_delay.py PORT STAMPS    sends small messages over loopback until it gets SIGTERM; its port is in the file PORT as soon as it listens

STAMPS gets a line for each message: its number, and when the kernel says it left and it came, in ns on the wall clock. The same tcpdump
captures them: read(STAMPS, packets) gives the delays. On loopback the three times differ, in this order (Linux 5.18 and later).
loopback_xmit() stamps a packet and then queues a copy of it for the sender. The capture has the time at which it copies the packet, since a
sent packet still carries the time at which it was due to leave, which no capture shows. ip_local_deliver_finish() stamps it for the
receiver, for the same reason only there. A packet coming through a network card has one timestamp for both."""
import re
import signal
import socket
import struct
import sys
import time

TIMESTAMPING, TX, RX, SOFTWARE, OPT_ID, TSONLY = 37, 1 << 1, 1 << 3, 1 << 4, 1 << 7, 1 << 11
NAME = re.compile(rb"tap delay, message (\d+)\n")
EVERY = 0.002


def stamp_in(control):
    for level, kind, data in control:
        if (level, kind) == (socket.SOL_SOCKET, TIMESTAMPING):
            seconds, ns = struct.unpack("qq", data[:16])
            return seconds * 10**9 + ns
    return None


def left(sender):
    """When the last message left; None: the kernel does not say (yet)."""
    try:
        return stamp_in(sender.recvmsg(10, 1000, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)[1])
    except BlockingIOError:
        return None


def main():
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    listener = socket.create_server(("127.0.0.1", 0))
    sender = socket.create_connection(listener.getsockname())
    receiver, _ = listener.accept()
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sender.setsockopt(socket.SOL_SOCKET, TIMESTAMPING, SOFTWARE | OPT_ID | TSONLY)
    receiver.setsockopt(socket.SOL_SOCKET, TIMESTAMPING, SOFTWARE | RX)
    with open(sys.argv[1], "w", encoding="ascii") as port:
        port.write(f"{listener.getsockname()[1]}\n")
    with open(sys.argv[2], "w", encoding="ascii") as stamps:
        number = 0
        while not stop:
            sender.sendmsg([b"tap delay, message %09d\n" % number], [(socket.SOL_SOCKET, TIMESTAMPING, struct.pack("I", TX))])
            came, gone = stamp_in(receiver.recvmsg(100, 1000)[1]), left(sender)
            if came and gone:
                stamps.write(f"{number} {gone} {came}\n")
            number += 1
            time.sleep(EVERY)


def read(stamps, packets):
    """For each message captured: how much later than the stamp of its leaving, and earlier than its coming's; ns,
    sorted. `packets`: (time, payload)."""
    seen = {int(match[1]): t for t, payload in packets for match in [NAME.fullmatch(payload)] if match}
    lines = [tuple(map(int, line.split())) for line in open(stamps, encoding="ascii") if line.endswith("\n")]
    return sorted(seen[n] - gone for n, gone, _ in lines if n in seen), sorted(came - seen[n] for n, _, came in lines if n in seen)


if __name__ == "__main__":
    main()
