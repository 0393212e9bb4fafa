#!/usr/bin/env python3
"""A load generator taking the place of ipf-fire: it writes records as ipf-records(5) describes them.

    generator.py URL MODEL COUNT RATE | tee mine.records | ipf-collect --check --api openai-chat
    ipf-collect --api openai-chat mine.records | ipf-report

It sends COUNT requests to an OpenAI-compatible server, RATE a second. Python is no precise client; yours may be.
"""
import hashlib
import http.client
import json
import sys
import threading
import time
import urllib.parse

lock, digest, lines = threading.Lock(), hashlib.sha256(), 0
begin = time.monotonic_ns() + 50_000_000  # t0: all times count from it


def now():
    return time.monotonic_ns() - begin


def write(line):
    global lines
    text = json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n"
    with lock:
        digest.update(text.encode())
        lines += 1
        sys.stdout.write(text)


def send(url, model, n, due_ns):
    time.sleep(max(0, due_ns - now()) / 1e9)
    body = json.dumps({"model": model, "stream": True, "max_tokens": 16, "stream_options": {"include_usage": True},
                       "messages": [{"role": "user", "content": f"Tell me about the number {n}."}]})
    record = {"n": n, "req": n, "stage": 0, "model": model, "asked_output_tokens": 16, "due_ns": due_ns,
              "ready_ns": due_ns, "start_ns": now(), "streamed": True, "request_bytes": len(body)}
    reads, answer = [], b""
    try:
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
        connection.connect()
        record["connect_ns"] = now()
        connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
        record["sent_ns"] = now()
        response = connection.getresponse()
        record["first_byte_ns"], record["status"] = now(), response.status
        while part := response.read1(65536):
            t_ns = now()
            reads.append([t_ns, len(part), t_ns])
            answer += part
    except (OSError, http.client.HTTPException) as error:
        started = "first_byte_ns" in record
        record["error"] = {"kind": "cut" if started else "connect" if "connect_ns" not in record else "reset",
                           "text": str(error) or type(error).__name__}
    record.update(end_ns=now(), reads=reads, body=answer.decode(errors="replace"))
    if len(record["body"].encode()) != len(answer):  # it is not UTF-8
        import base64
        record["body_base64"] = base64.b64encode(answer).decode()
        del record["body"]
    write(record)


def main():
    if len(sys.argv) != 5:
        sys.exit("usage: generator.py URL MODEL COUNT RATE")
    url, model, count, rate = urllib.parse.urlparse(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    end_ns = int(count / rate * 1e9)
    header = {"ipf": "records", "version": 1, "tool": "generator.py 1.0", "t0_unix_ns": time.time_ns() - now(),
              "target": sys.argv[1], "streamed": True,
              "stages": [{"name": "constant", "kind": "constant", "spec": f"constant:rate={rate:g},n={count}",
                          "begin_ns": 0, "end_ns": end_ns, "arrivals": count, "first_n": 0, "rate": rate,
                          "measured": True}]}
    print(json.dumps(header))
    threads = [threading.Thread(target=send, args=(url, model, n, int(n / rate * 1e9))) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps({"end": {"lines": lines, "sha256": digest.hexdigest()}}))


main()
