#!/usr/bin/env python3
"""Takes the machine out of records: calm.py RECORDS… >CALM

The requests, answers and headers stay. Each request starts when it was due (in a closed loop, when it started), and leaves at once. Its first event comes after
FIRST_MS, each later one GAP_MS after the one before it, each in a read of its own. Lines about the client say it was never late. A report from such records
does not depend on how busy the machine was. Answers are streams of events, plain and in UTF-8.
"""
import hashlib
import json
import sys

FIRST_MS, GAP_MS = 12, 4


def calm(record):
    start = record.get("due_ns", record["start_ns"])
    late = 40_000 + record["n"] * 7919 % 60_000  # a client is never quite in time
    record["ready_ns"] = start
    start += late
    record["start_ns"], record["sent_ns"], record["left_ns"] = start, start + 20_000, start + 20_000
    if "connect_ns" in record:
        record["connect_ns"] = start + 10_000
    for name in ("slot_ns", "looked_up_ns", "tls_ns", "send_waits"):
        record.pop(name, None)
    if "reads" not in record or "body" not in record:
        return record
    events = [event + b"\n\n" for event in record["body"].encode().split(b"\n\n")]
    events[-1] = events[-1][:-2]
    # the role comes with the first token, usage and end mark with the last one, as the simulated server sends them
    tail = b""
    while len(events) > 1 and (not events[-1] or b'"content":"' not in events[-1] and b'"text":"' not in events[-1]):
        tail = events.pop() + tail
    events[-1] += tail
    if len(events) > 1 and b'"content":""' in events[0]:
        events[:2] = [events[0] + events[1]]
    at = start + FIRST_MS * 1_000_000
    reads = []
    for event in events:
        reads.append([at, len(event), at + 10_000])
        at += GAP_MS * 1_000_000
    record["reads"] = reads
    record["first_byte_ns"], record["end_ns"] = reads[0][0], reads[-1][0]
    return record


def idle(value, name=""):
    """Figures of a client with the machine to itself."""
    if isinstance(value, dict):
        return {key: idle(member, name if name in ("cpu", "run_queue") else key) for key, member in value.items()}
    if name == "cpu":
        return 0.001
    if name == "run_queue":
        return 0
    return min(value, 50_000) if name in ("p50", "p99", "p999", "max") else 1 if name == "within_1ms" else value


def main():
    for path in sys.argv[1:]:
        lines = [json.loads(line) for line in open(path, encoding="utf-8")]
        head, records, end = lines[0], [calm(line) for line in lines[1:-1] if "n" in line], lines[-1]
        records += [idle(line) for line in lines[1:-1] if "client" in line]
        records.sort(key=lambda record: record["client"]["t_ns"] if "client" in record else record.get("end_ns", 0))
        body = [json.dumps(record, separators=(",", ":"), ensure_ascii=False) + "\n" for record in records]
        end["end"] |= {"client": idle(end["end"]["client"])}
        for number, stage in enumerate(end["end"].get("stages", [])):
            own = [record for record in records if record.get("stage") == number]
            if own and "end_ns" in stage:
                stage["end_ns"] = max(record["end_ns"] for record in own)
        end["end"] |= {"lines": len(body), "sha256": hashlib.sha256("".join(body).encode()).hexdigest()}
        sys.stdout.write(json.dumps(head, separators=(",", ":"), ensure_ascii=False) + "\n" + "".join(body) +
                         json.dumps(end, separators=(",", ":"), ensure_ascii=False) + "\n")


main()
