"""Transcriptions, seen a second time without ipf.

    audio.py TRACE MEDIA LOG RESULTS REPORT   prints the differences between the trace's contents, the simulated server's account,
                                              the rows and the report; and the number of requests
    audio.py --form BODY                      the parts of a form, read by Python's e-mail package
    audio.py --data FOLDER                    makes a data set of recordings as Common Voice has them
"""

import base64
import email
import email.policy
import hashlib
import io
import json
import math
import os
import re
import sys
import wave

MARK = re.compile(r"\{ipf-media:(\d+)\+(\d+)\}")


def percentile(values, p):
    values = sorted(values)
    at = (len(values) - 1) * p / 100
    low = math.floor(at)
    return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (at - low)


def length_ns(data):
    with wave.open(io.BytesIO(data)) as sound:
        return sound.getnframes() * 10**9 // sound.getframerate()


def check(trace, media, log, results, report):
    stored = open(media, "rb").read()
    sent = {entry["id"]: entry for entry in map(json.loads, open(log))}
    rows = {row["id"]: row for row in map(json.loads, open(results)) if "n" in row}
    factors = []
    for request in map(json.loads, open(trace)):
        if "messages" not in request:
            continue
        begin, length = map(int, MARK.search(json.dumps(request["messages"])).groups())
        data = base64.b64decode(stored[begin : begin + length], validate=True)
        row, entry, audio_ns = rows[request["id"]], sent[request["id"]], length_ns(data)
        if entry["file_sha256"] != hashlib.sha256(data).hexdigest() or entry["file_bytes"] != len(data):
            print("request %s: another file was sent" % request["id"])
        if not row["ok"] or row["audio_ns"] != audio_ns or entry["audio_ns"] != audio_ns:
            print("request %s: audio of %d ns, the row says %s" % (request["id"], audio_ns, row.get("audio_ns")))
        if row["e2e_ns"] < entry["service_ns"] or abs(row["rtf_ns"] - row["e2e_ns"] * 10**9 / audio_ns) > 1:
            print("request %s: E2E %d, service time %d, rtf_ns %d" % (request["id"], row["e2e_ns"], entry["service_ns"], row["rtf_ns"]))
        factors.append(row["e2e_ns"] / audio_ns)
    told = json.load(open(report))["total"]["latency"]["rtf_ms"]
    for p in (50, 99):
        if not math.isclose(told["p%d" % p], 1000 * percentile(factors, p), abs_tol=1e-5):
            print("p%d: the report says %s, the rows %s" % (p, told["p%d" % p], 1000 * percentile(factors, p)))
    print("%d requests" % len(factors))


def show_form(path):
    boundary = "ipf-8d0c9f6e2b7a4153a6e0f1d47c38b95e"
    head = b"Content-Type: multipart/form-data; boundary=%s\r\n\r\n" % boundary.encode()
    message = email.message_from_bytes(head + open(path, "rb").read(), policy=email.policy.HTTP)
    assert message.is_multipart() and not message.defects, message.defects
    for part in message.iter_parts():
        name, data = part.get_param("name", header="Content-Disposition"), part.get_payload(decode=True)
        if part.get_filename():
            with wave.open(io.BytesIO(data)):
                print(name, part.get_filename(), part.get_content_type(), len(data), "bytes")
        else:
            print(name, data.decode().replace("\r\n", "%0D%0A"))


def make_data(folder):
    with open(os.path.join(folder, "common.jsonl"), "w") as lines:
        for name, frames, text in (("a.wav", 4000, "first words"), ("b.wav", 8000, "second words")):
            with wave.open(os.path.join(folder, name), "wb") as sound:
                sound.setnchannels(1)
                sound.setsampwidth(2)
                sound.setframerate(8000)
                sound.writeframes(bytes(i % 251 for i in range(2 * frames)))
            print(json.dumps({"audio": {"path": name}, "text": text}), file=lines)


if sys.argv[1] == "--form":
    show_form(sys.argv[2])
elif sys.argv[1] == "--data":
    make_data(sys.argv[2])
else:
    check(*sys.argv[1:])
