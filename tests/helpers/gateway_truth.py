#!/usr/bin/env python3
"""Records of two captures, in front of a gateway and behind it, whose truth is known.

    gateway_truth.py DESCRIPTOR FRONT BACK [NAME=VALUE…]     DESCRIPTOR: lib/api/apis/openai-chat.json

n=100        requests that the gateway passes on once; every `space` us (20000) one begins, so they overlap
id=request   how a request is known on both sides: request, trace, response, none
forward=200  us until the gateway sends a request on
event=500    us that it keeps each event
merge=1      events behind that become one in front
split=1      events in front that one behind becomes
retries=0    more requests, answered behind at the second attempt: the first gets status 500 by the same server
failovers=0  the same, by another server
limited=0    more requests, with status 429 by the gateway
cached=0     more requests, answered by the gateway
alone=0      requests behind without one in front
servers=2    behind, in turn
sessions=0   requests of so many sessions, each of which stays at one server; but `roaming` (0) of them do not
shift=0      us by which the clock behind is ahead
tokens=8     output tokens of an answer; the first comes after 5 ms, others each 4 ms; vary=1: of request i i % 50 more
"""
import hashlib
import json
import sys

T0 = 1_700_000_000 * 10 ** 9
US = 1000


def chunk(name, delta, finish=None, **more):
    return "data: " + json.dumps({"id": name, "object": "chat.completion.chunk", "model": "m",
                                  "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}) + "\n\n"


class Capture:
    def __init__(self, targets, shift):
        self.targets, self.shift, self.records = targets, shift, []

    def add(self, start, end, headers, **more):
        record = {"n": 0, "stage": 0, "start_ns": start + self.shift, "end_ns": end + self.shift, "model": "m", "streamed": True, "request_bytes": 300,
                  "connection": {"id": len(self.records), "reused": False}, "sent_ns": start + self.shift, **more}
        if headers:
            record["headers"] = headers
        self.records.append(record)

    def write(self, path, api):
        self.records.sort(key=lambda record: record["start_ns"])
        for n, record in enumerate(self.records):
            record.update(n=n, id="c%d" % n)
        end = max(record["end_ns"] for record in self.records) + 10 ** 9
        lines = "".join(json.dumps(record) + "\n" for record in sorted(self.records, key=lambda record: record["end_ns"])).encode()
        header = {"ipf": "records", "version": 1, "tool": "gateway_truth", "t0_unix_ns": T0, "clock": "capture", "api": api, "targets": self.targets,
                  "stages": [{"name": "observed", "kind": "observed", "begin_ns": 0, "arrivals": 0, "first_n": 0}], "observed": {"by": "capture"}}
        trailer = {"lines": len(self.records), "sha256": hashlib.sha256(lines).hexdigest(), "stages": [{"begin_ns": 0, "end_ns": end}],
                   "observed": {"files": ["truth.pcap"], "link": "ethernet", "packets": 20 * len(self.records), "bytes": 10 ** 6, "cut_packets": 0,
                                "other_packets": 0, "broken_packets": 0, "backwards": 0, "lost_gaps": 0, "lost_bytes": 0,
                                "exchanges": len(self.records), "requests": len(self.records), "connections": {"HTTP/1.1": len(self.records)},
                                "damaged": {}, "snaplen": 262144, "other_requests": {}}}
        with open(path, "wb") as file:
            file.write(json.dumps(header).encode() + b"\n" + lines + json.dumps({"end": trailer}).encode() + b"\n")


class Truth:
    def __init__(self, options):
        self.o = {"n": 100, "space": 20000, "forward": 200, "event": 500, "merge": 1, "split": 1, "retries": 0, "failovers": 0, "limited": 0, "cached": 0,
                  "alone": 0, "servers": 2, "sessions": 0, "roaming": 0, "shift": 0, "tokens": 8, "vary": 0, "id": "request"}
        self.o.update({k: v if k == "id" else int(v) for k, v in (option.split("=") for option in options)})
        self.front = Capture(["10.0.0.1:80"], 0)
        self.back = Capture(["10.0.1.%d:8000" % s for s in range(self.o["servers"])], self.o["shift"] * US)
        self.next = 0

    def names(self):
        """A new request: its start, its ids in the headers of both sides, and of its answer."""
        self.next += 1
        number, by = self.next, self.o["id"]
        headers = [{}, {}]
        if by == "request":
            headers = [{"x-request-id": "r%d" % number}] * 2
        elif by == "trace":
            headers = [{"traceparent": "00-%032x-%016x-01" % (number, number * 2 + side)} for side in range(2)]
        response = ["chatcmpl-%d" % number] * 2 if by == "response" else ["front-%d" % number, "back-%d" % number]
        return number * self.o["space"] * US, headers, response

    def answer(self, name, times, texts, tokens):
        """Reads and body of an answer whose events come at these times; its end is the last one's."""
        parts = [chunk(name, {"content": text}) for text in texts]
        parts[-1] += chunk(name, {}, "stop", usage={"prompt_tokens": 30, "completion_tokens": tokens, "total_tokens": 30 + tokens}) + "data: [DONE]\n\n"
        return {"status": 200, "first_byte_ns": times[0], "reads": [[t, len(part)] for t, part in zip(times, parts)], "body": "".join(parts)}

    def behind(self, start, headers, response, target, extra=0):
        tokens = self.o["tokens"] + extra
        times = [start + (5000 + 4000 * i) * US for i in range(tokens)]
        shifted = [t + self.back.shift for t in times]
        self.back.add(start, times[-1], headers, target=target, **self.answer(response, shifted, ["word "] * tokens, tokens))
        return times

    def in_front(self, start, headers, response, times, **more):
        late, merge, split = self.o["event"] * US, self.o["merge"], self.o["split"]
        groups = [times[i:i + merge] for i in range(0, len(times), merge)]
        sent = [group[-1] + late for group in groups for _ in range(split)]
        texts = [text for group in groups for text in (["word " * len(group)] if split == 1 else ["word "[:2], "word "[2:]])]
        self.front.add(start, sent[-1], headers, target=0, **self.answer(response, sent, texts, len(times)), **more)

    def passed_on(self, i):
        start, headers, response = self.names()
        more, target = {}, i % self.o["servers"]
        if self.o["sessions"]:
            session = i % self.o["sessions"]
            more["session"] = "s%d" % session
            target = (session + (i // self.o["sessions"] if session < self.o["roaming"] else 0)) % self.o["servers"]
        times = self.behind(start + self.o["forward"] * US, headers[1], response[1], target, i % 50 if self.o["vary"] else 0)
        self.in_front(start, headers[0], response[0], times, **more)

    def again(self, failover):
        start, headers, response = self.names()
        first = start + self.o["forward"] * US
        self.back.add(first, first + 3000 * US, headers[1], target=0, status=500, first_byte_ns=first + 3000 * US + self.back.shift,
                      reads=[[first + 3000 * US + self.back.shift, 2]], body="{}")
        times = self.behind(first + 10000 * US, headers[1], response[1], 1 if failover else 0)
        self.in_front(start, headers[0], response[0], times)

    def limited(self):
        start, headers, _ = self.names()
        end = start + 300 * US
        self.front.add(start, end, headers[0], target=0, status=429, first_byte_ns=end, reads=[[end, 2]], body="{}")

    def make(self):
        for i in range(self.o["n"]):
            self.passed_on(i)
        for failover in range(2):
            for _ in range(self.o["failovers" if failover else "retries"]):
                self.again(failover)
        for _ in range(self.o["limited"]):
            self.limited()
        for _ in range(self.o["cached"]):
            start, headers, response = self.names()
            self.in_front(start, headers[0], response[0] + "-kept", [start + 400 * US])
        for _ in range(self.o["alone"]):
            start, headers, response = self.names()
            self.behind(start, headers[1], response[1], 0)


def main():
    truth = Truth(sys.argv[4:])
    truth.make()
    with open(sys.argv[1], encoding="utf-8") as file:
        api = json.load(file)
    truth.front.write(sys.argv[2], api)
    truth.back.write(sys.argv[3], api)


if __name__ == "__main__":
    main()
