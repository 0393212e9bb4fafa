#!/usr/bin/env python3
"""Files as a power loss leaves them: the last writes are missing, or pages of them are zeros.

    power_loss.py ROUNDS SEED FILE PATTERN COMMAND…    the command reads {} and prints the lines it read (those matching PATTERN count)

ROUNDS states of FILE are tried. All before the first lost page must be read, and the loss said with status 3. A line for each wrong state, then "N states, M wrong".
"""
import os
import random
import re
import subprocess
import sys

rounds, seed, path, pattern = int(sys.argv[1]), sys.argv[2], sys.argv[3], re.compile(sys.argv[4].encode())
with open(path, "rb") as f:
    whole = f.read()
compressed = whole.startswith(b"\x28\xb5\x2f\xfd")
rng = random.Random(f"{seed} {os.path.basename(path)}")
PAGE = 4096


def state():
    """The file's bytes, and how many of them are as they were written."""
    size = rng.choice([rng.randrange(len(whole)), rng.randrange(len(whole) // PAGE + 1) * PAGE, len(whole)])
    content = bytearray(whole[:size])
    lost = [p for p in range(len(content) // PAGE + 1) if rng.random() < rng.choice([0, 0.1, 0.5])]
    good = size
    for page in lost[rng.randrange(len(lost) + 1):]:
        end = min(size, (page + 1) * PAGE)
        if end > page * PAGE and any(content[page * PAGE:end]):
            good = min(good, page * PAGE)
            content[page * PAGE:end] = bytes(end - page * PAGE)
    if rng.random() < 0.3:
        content += bytes(rng.randrange(1, 3 * PAGE))
    return bytes(content), good


def lines_of(content):
    if compressed:
        content = subprocess.run(["zstd", "-dcq"], input=content, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    return sum(bool(pattern.search(line)) for line in content.split(b"\n")[1:-1] if not line.startswith(b'{"end"'))


def lines_read(done):
    """Those printed; or those counted by a statistic, or else by the message."""
    counted = re.match(rb"([0-9,]+) lines?, ", done.stdout) or re.search(rb'"requests": ?([0-9]+)', done.stdout)
    if b"stat" not in map(os.fsencode, sys.argv[5:]):
        return sum(bool(pattern.search(line)) for line in done.stdout.split(b"\n"))
    if counted:
        return int(counted[1].replace(b",", b""))
    place = re.search(rb"after ([0-9]+) good lines?", done.stderr) or re.search(rb":([0-9]+): ", done.stderr)
    return max(0, int(place[1]) - (b"good line" not in done.stderr) * 2) if place else 0


wrong = 0
for n in range(rounds):
    content, good = state()
    lost = "lost" + os.path.splitext(path)[1]
    with open(lost, "wb") as f:
        f.write(content)
    done = subprocess.run([a.replace("{}", lost) for a in sys.argv[5:]], capture_output=True, timeout=240, check=False)
    read = lines_read(done)
    least = lines_of(whole[:good])
    intact = content == whole
    if done.returncode != (0 if intact else 3) or read < least or done.stderr.count(b"\n") > 3:
        wrong += 1
        print(f"state {n}: {len(content)} bytes, {good} good: status {done.returncode}, {read} of {least} lines: {done.stderr[:200]!r}")
print(f"{rounds} states, {wrong} wrong")
