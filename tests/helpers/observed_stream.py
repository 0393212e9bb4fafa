#!/usr/bin/env python3
"""Makes of a predicted run a run observed in a capture, and its trace, as `ipf-prep capture` writes both.

    observed_stream.py PREDICTED-RECORDS TRACE OBSERVED-RECORDS CAPTURED-TRACE [LEFT-OUT]

The first packet comes 5 ms before the first request. Numbers begin at 3, as if others had come before. LEFT-OUT requests at the end are in the capture
only.
"""
import hashlib
import json
import sys

T0 = 1_700_000_000 * 10 ** 9
EARLY, FIRST = 5_000_000, 3
TIMES = ("start_ns", "sent_ns", "left_ns", "first_byte_ns", "end_ns")


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write(path, header, lines, trailer):
    body = "".join(json.dumps(line) + "\n" for line in lines).encode()
    trailer.update(lines=len(lines), sha256=hashlib.sha256(body).hexdigest())
    with open(path, "wb") as file:
        file.write(json.dumps(header).encode() + b"\n" + body + json.dumps({"end": trailer}).encode() + b"\n")


def main():
    header, *records, _ = lines_of(sys.argv[1])
    _, *requests, _ = lines_of(sys.argv[2])
    left_out = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    records = [record for record in records if "start_ns" in record]
    begin = min(record["start_ns"] for record in records)
    observed, trace = [], []
    for record in records:
        number = record["n"] + FIRST
        kept = {k: v for k, v in record.items() if k not in ("due_ns", "ready_ns", "slot_ns", "pool_ns", "req", "asked_input_tokens", "asked_output_tokens")}
        for name in TIMES:
            if name in kept:
                kept[name] += EARLY - begin
        kept["reads"] = [[read[0] + EARLY - begin, *read[1:2]] for read in record.get("reads", [])]
        kept.update(n=number, id="c%d" % number, stage=0, target=0)
        observed.append(kept)
        trace.append({**requests[record["req"]], "id": "c%d" % number, "at_ns": record["start_ns"] - begin})
    trace.sort(key=lambda request: request["at_ns"])
    trace = trace[:len(trace) - left_out]
    end = max(record["end_ns"] for record in observed)
    write(sys.argv[3], {"ipf": "records", "version": 1, "tool": "observed_stream", "t0_unix_ns": T0, "clock": "capture", "api": header["api"],
                        "targets": ["10.0.0.1:8000"], "stages": [{"name": "observed", "kind": "observed", "begin_ns": 0, "arrivals": 0, "first_n": 0}],
                        "observed": {"by": "capture"}},
          observed, {"stages": [{"begin_ns": 0, "end_ns": end}],
                     "observed": {"files": ["a.pcap"], "link": "EN10MB", "packets": 9, "bytes": 9, "cut_packets": 0, "other_packets": 0, "broken_packets": 0,
                                  "backwards": 0, "lost_gaps": 0, "lost_bytes": 0, "exchanges": len(observed), "requests": len(observed),
                                  "connections": {"HTTP/1.1": 1}, "damaged": {}, "other_requests": {}}})
    write(sys.argv[4], {"ipf": "trace", "version": 1, "tool": "observed_stream", "source": "capture", "observed": {"t0_unix_ns": T0}}, trace, {})


if __name__ == "__main__":
    main()
