"""Random damage to files of OTLP in protocol buffers, which ipf-prep reads.

    attack_files.py SEED COUNT      COUNT files, in the current folder

ipf-prep has to read each (and ipf-prep stat its trace), or to end with 3 and a message with the file's name or the record. Prints each problem, and
"N files, N read, N refused, N wrong".
"""
import os
import random
import re
import struct
import subprocess
import sys

import attack

WAYS = ["attributes", "structured", "events", "logs", "message-logs"]
ENCODINGS = ["proto", "framed", "framed-zstd"]


def originals():
    found = []
    for way in WAYS:
        for encoding in ENCODINGS:
            subprocess.run([sys.executable, attack.FOLDER + "/otel_files.py", way, encoding], check=True)
            for name in ("spans", "logs"):
                if os.path.exists(name) and os.path.getsize(name):
                    with open(name, "rb") as file:
                        found.append((encoding, file.read()))
    return found


def framed(messages):
    return b"".join(struct.pack(">I", len(m)) + m for m in messages)


def fields_within(r, raw):
    """Changes a field some messages deep, with right lengths around it."""
    at, fields = 0, []
    while at < len(raw) and raw[at] & 7 == 2 and at + 1 < len(raw):
        size, shift, begin = 0, 0, at
        at += 1
        while at < len(raw) and raw[at] & 128:
            size, shift, at = size | (raw[at] & 127) << shift, shift + 7, at + 1
        if at >= len(raw):
            break
        size, at = size | raw[at] << shift, at + 1
        fields.append((begin, at, at + size))
        at += size
    if at != len(raw) or not fields:
        return attack.damaged(r, raw)
    begin, inner, end = r.choice(fields)
    changed = fields_within(r, raw[inner:end]) if r.randrange(8) else attack.damaged(r, raw[inner:end])
    return raw[:begin] + attack.field(raw[begin] >> 3, changed) + raw[end:]


def case_of(r, encoding, raw):
    if encoding == "proto":
        return r.choice([fields_within, fields_within, attack.damaged])(r, raw)
    if encoding == "framed":
        size = struct.unpack(">I", raw[:4])[0]
        first, rest = raw[4:4 + size], raw[4 + size:]
        message = fields_within(r, first)
        return r.choice([framed([message]) + rest, framed([message]) + rest, attack.damaged(r, raw), struct.pack(">I", r.choice([0, 1, 0xFFFFFFFF, 1 << 31, 1 << 20])) + first])
    return attack.damaged(r, raw)


def main(seed, count):
    attacks, r = attack.Attack(), random.Random(seed)
    sources = originals()
    read = refused = 0
    for number in range(count):
        encoding, raw = r.choice(sources)
        name = "otlp.%d" % (number % 4)
        with open(name, "wb") as file:
            file.write(case_of(r, encoding, raw))
        ended = attack.run(["ipf-prep", r.choice(["otel", "otel", "auto"]), name, "-o", "attack.trace"])
        problems = list(attack.problems_of(ended, {0, 3}))
        if ended.status == 0:
            read += 1
            problems += attack.problems_of(attack.run(["ipf-prep", "stat", "attack.trace"]), {0})
        else:
            refused += 1
            if name.encode() not in ended.said and not re.search(rb": (no requests|record \d+): ", ended.said):
                problems.append("no message with a place: %.300r" % ended.said)
        attacks.report("seed %d, file %d, %s" % (seed, number, encoding), problems)
    print("%d files, %d read, %d refused, %d wrong" % (count, read, refused, attacks.wrong))
    return 1 if attacks.wrong else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
