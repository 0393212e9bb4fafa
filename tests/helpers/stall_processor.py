"""Takes processor N away from every other process, again and again: idle for 0.1 to 2 s, then busy with real-time priority for 20 to 400 ms.

    python3 stall_processor.py N SEED

This is how a guest sees a crowded host. It needs root; it ends with its parent.
"""
import ctypes
import os
import random
import signal
import sys
import time

ctypes.CDLL(None).prctl(1, signal.SIGTERM)
processor = int(sys.argv[1])
chance = random.Random(f"{sys.argv[2]} {processor}")
os.sched_setaffinity(0, {processor})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
while True:
    time.sleep(chance.uniform(0.1, 2))
    until = time.monotonic() + 0.02 * 20 ** chance.random()
    while time.monotonic() < until:
        pass
