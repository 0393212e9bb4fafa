"""Compares the records of a capture with those of ipf-fire for the same run: captured_run.py FIRE.records CAPTURED.records

Prints the number of requests that agree in status, streaming, lengths and body, byte for byte, then the numbers of requests and events whose
times do not agree: events are compared at equal bytes of the body, as both stamps are the kernel's for one packet. A read may have later
packets, too, and then has the time of the last: an event may be earlier in the capture, but not later. The last event is not compared."""
import json
import subprocess
import sys

EVENT_NS = 20_000  # 99 % of the events


def load(path):
    text = subprocess.run(["zstdcat", "-f", path], check=True, capture_output=True).stdout
    lines = [json.loads(line) for line in text.splitlines()]
    return lines[0], [line for line in lines[1:-1] if "n" in line]


def body_of(record):
    return record.get("body") or record.get("body_base64") or ""


def pairs(fired, captured):
    left = {}
    for record in captured:
        left.setdefault(body_of(record), []).append(record)
    for record in sorted(fired, key=lambda r: r["start_ns"]):
        twins = left.get(body_of(record))
        if twins:
            yield record, twins.pop(0)


def ends(record):
    total, out = 0, {}
    for t_ns, size, _ in record.get("reads", []):
        total += size
        out[total] = t_ns
    return out


def main():
    (head, fired), (other, captured) = load(sys.argv[1]), load(sys.argv[2])
    shift = other["t0_unix_ns"] - head["t0_unix_ns"]
    captured.sort(key=lambda r: r["start_ns"])
    same = early = 0
    errors = []
    for ours, theirs in pairs(fired, captured):
        same += all(ours.get(k) == theirs.get(k) for k in ("status", "streamed", "request_bytes"))
        early += theirs["start_ns"] + shift < ours["start_ns"] - EVENT_NS
        seen = ends(theirs)
        errors += [seen[at] + shift - t for at, t in list(ends(ours).items())[:-1] if at in seen]
    late = sum(e > EVENT_NS for e in errors)
    print(f"{len(fired)} sent, {len(captured)} captured, {same} the same")
    print(f"{early} starts too early, {'few' if late <= len(errors) / 100 else late} of the events apart")


main()
