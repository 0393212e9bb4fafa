"""Speech, seen a second time without ipf: speech.py RECORDS LOG RESULTS REPORT prints the differences between the reads, the simulated
server's account, the rows and the report; and the number of answers."""

import base64
import json
import math
import sys

A_SECOND = 48000  # bytes


def samples_of(record):
    """The bytes of samples each read brought, and when."""
    body = base64.b64decode(record["body_base64"]) if "body_base64" in record else record["body"].encode()
    head = 44 if body.startswith(b"RIFF") else 0
    expected = bytes(i * 31 % 251 for i in range(len(body) - head))
    if body[head:] != expected:
        print("request %s: other samples" % record["id"])
    reads, at = [], 0
    for t_ns, count, *_ in record["reads"]:
        new = max(at + count - head, 0) - max(at - head, 0)
        at += count
        if new:
            reads.append((t_ns, new))
    return reads


def wait_of(reads):
    """Plays: a clock that only runs while there are samples."""
    waited, heard, clock = 0, 0, reads[0][0]
    for t_ns, count in reads:
        empty = clock + heard * 10**9 // A_SECOND  # when the audio received before is played
        if t_ns > empty:
            waited += t_ns - empty
            clock += t_ns - empty
        heard += count
    return waited


def percentile(values, p):
    values = sorted(values)
    at = (len(values) - 1) * p / 100
    low = math.floor(at)
    return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (at - low)


def main(records, log, results, report):
    sent = {entry["id"]: entry for entry in map(json.loads, open(log))}
    rows = {row["n"]: row for row in map(json.loads, open(results)) if "n" in row}
    factors, seconds, smooth = [], 0, 0
    for record in map(json.loads, open(records)):
        if "n" not in record:
            continue
        reads, row = samples_of(record), rows[record["n"]]
        entry = sent[record["id"]]
        audio_ns, start = sum(count for _, count in reads) * 10**9 // A_SECOND, record["start_ns"]
        if row["output_audio_ns"] != audio_ns or audio_ns != entry["audio_ns"]:
            print("request %s: %d ns of audio, made %d, the row says %d" % (record["id"], audio_ns, entry["audio_ns"], row["output_audio_ns"]))
        if (row["ttft_ns"], row["e2e_ns"], row["events"]) != (reads[0][0] - start, reads[-1][0] - start, len(reads)):
            print("request %s: other times" % record["id"])
        if row["e2e_ns"] < entry["service_ns"]:
            print("request %s: earlier than its service time" % record["id"])
        if abs(row["playback_wait_ns"] - wait_of(reads)) > 2 * len(reads):
            print("request %s: waits %d, the row says %d" % (record["id"], wait_of(reads), row["playback_wait_ns"]))
        if abs(row["rtf_ns"] - row["e2e_ns"] * 10**9 / audio_ns) > 1:
            print("request %s: rtf %d" % (record["id"], row["rtf_ns"]))
        factors.append(row["e2e_ns"] / audio_ns)
        seconds += audio_ns / 1e9
        smooth += row["playback_wait_ns"] == 0
    total = json.load(open(report))["total"]
    for what, got, expected in (
        ("p50", total["latency"]["rtf_ms"]["p50"], 1000 * percentile(factors, 50)),
        ("p99", total["latency"]["rtf_ms"]["p99"], 1000 * percentile(factors, 99)),
        ("length", total["media"]["output_audio_s"], seconds),
        ("uninterrupted", total["media"]["uninterrupted"], smooth / len(factors)),
    ):
        if not math.isclose(got, expected, abs_tol=1e-5):
            print("%s: the report says %s, the rows %s" % (what, got, expected))
    print("%d answers" % len(factors))


main(*sys.argv[1:])
