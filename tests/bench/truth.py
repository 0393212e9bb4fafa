#!/usr/bin/env python3
"""How far ipf-fire's times are from the truth, request by request.

    truth.py RECORDS --log SENDS            against the send times that rawserver logged (sendlog.h)
    truth.py RECORDS --pcap FILE            against packets captured on the way (tcpdump -w, any link type of Ethernet or loopback)

Prints a line of JSON; times in microseconds. An event's error is the time in the records less the time at which it was sent. The error of
TTFT is its figure by the records less the server's (from the kernel's stamp of the request's arrival there to the first send), and the
ITL's likewise, gap by gap. `own` is the time of our own clock in place of the kernel's stamps. Events coming several to a read have the
time of the last of them (and count as coalesced in the results): `alone` is without these."""
import argparse, json, math, re, struct, subprocess, sys

EVENT = re.compile(rb'data: \{"id":"chatcmpl-(\d+)"[^\n]*?"sent_ns":"(\d+)"[^\n]*\n\n')


def lines(path):
    if path.endswith(".zst"):
        return subprocess.run(["zstd", "-dcq", path], check=True, stdout=subprocess.PIPE).stdout.splitlines()
    return open(path, "rb").read().splitlines()


def requests(path):
    """The header, and of each answered request (start, number at the server, events), an event: (time, own time, sent on the wall clock, read)."""
    found = []
    for line in map(json.loads, lines(path)):
        if "ipf" in line:
            header, zero = line, line["t0_unix_ns"]
        if line.get("status") != 200:
            continue
        body, read, until, events, number = line["body"].encode(), -1, 0, [], None
        for event in EVENT.finditer(body):
            while until < event.end():
                read += 1
                until += line["reads"][read][1]
            t, _, own = line["reads"][read]
            number = int(event[1])
            events.append((zero + t, zero + own, int(event[2]), read))
        if events:
            found.append((zero + line["start_ns"], number, events, line))
    return header, found


def arrivals(path):
    """When each request came to the server, by its number there: wall clock, mono."""
    entry, found = struct.Struct("=qqIiIIII"), {}
    for mono, real, request, event, *_ in entry.iter_unpack(open(path, "rb").read()):
        if event == -1:
            found[request] = real
    return found


def packets(path):
    """The packets of a capture: time on the wall clock, ports, sequence number, payload."""
    data = open(path, "rb").read()
    magic = data[:4]
    order = "<" if magic in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    unit = 1 if magic in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d") else 1000
    link, at = struct.unpack(order + "I", data[20:24])[0], 24
    skip = {1: 14, 113: 16, 276: 20}[link]
    while at + 16 <= len(data):
        seconds, fraction, kept, _ = struct.unpack(order + "IIII", data[at:at + 16])
        ip = data[at + 16 + skip:at + 16 + kept]
        at += 16 + kept
        if len(ip) < 40 or ip[0] >> 4 != 4 or ip[9] != 6:
            continue
        head = (ip[0] & 15) * 4
        tcp = ip[head:struct.unpack(">H", ip[2:4])[0] or None] # 0: larger than the field
        source, target, sequence = struct.unpack(">HHI", tcp[:8])
        payload = tcp[(tcp[12] >> 4) * 4:]
        if payload:
            yield seconds * 10**9 + fraction * unit, source, target, sequence, payload


def captured(path):
    """For each request by its number at the server: when its first packet and those of its events passed."""
    begun, events = {}, {}
    for t, source, target, _, payload in packets(path):
        if payload.startswith(b"POST "):
            begun[source] = t
        for event in EVENT.finditer(payload):
            events.setdefault(int(event[1]), (begun.get(target), []))[1].append((t, int(event[2])))
    return events


def spread(values):
    """Mean, spread and percentiles of the errors' sizes."""
    if not values:
        return None
    sizes = sorted(map(abs, values))
    mean = sum(values) / len(values)
    point = lambda p: round(sizes[min(len(sizes) - 1, int(len(sizes) * p / 100))] / 1e3, 2)
    return {"count": len(values), "mean": round(sum(sizes) / len(sizes) / 1e3, 2), "bias": round(mean / 1e3, 2),
            "std": round(math.sqrt(sum((v - mean) ** 2 for v in values) / len(values)) / 1e3, 2),
            "p50": point(50), "p99": point(99), "p999": point(99.9), "max": point(100)}


def gaps(times):
    return [b - a for a, b in zip(times, times[1:])]


def compare(found, first_of, sent_of):
    """first_of(request): the true time to the first event; sent_of(request): when each event was sent."""
    event, alone, own, ttft, itl, itl_alone, itl_own, count = [], [], [], [], [], [], [], 0
    for start, number, events, _ in found:
        sent = sent_of(number, events)
        if not sent or len(sent) != len(events):
            continue
        event += [e[0] - s for e, s in zip(events, sent)]
        own += [e[1] - s for e, s in zip(events, sent)]
        reads = [e[3] for e in events]
        single = [reads.count(r) == 1 if len(set(reads)) < len(reads) else True for r in reads]
        count += len(events)
        alone += [e[0] - s for e, s, one in zip(events, sent, single) if one]
        errors = [a - b for a, b in zip(gaps([e[0] for e in events]), gaps(sent))]
        itl_alone += [e for e, one, next in zip(errors, single, single[1:]) if one and next]
        ttft.append(events[0][0] - start - first_of(number, sent))
        itl += errors
        itl_own += [a - b for a, b in zip(gaps([e[1] for e in events]), gaps(sent))]
    return {"coalesced": round(1 - len(alone) / count, 4) if count else None, "event": spread(event), "event_alone": spread(alone), "ttft": spread(ttft),
            "itl": spread(itl), "itl_alone": spread(itl_alone), "own_event": spread(own), "own_itl": spread(itl_own)}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("records")
    options.add_argument("--log")
    options.add_argument("--pcap")
    o = options.parse_args()
    header, found = requests(o.records)
    result = {"requests": len(found), "stamps": header["stamps"]}
    if o.log:
        came = arrivals(o.log)
        result |= compare(found, lambda number, sent: sent[0] - came[number], lambda number, events: [e[2] for e in events])
    if o.pcap:
        seen = captured(o.pcap)
        # a capture may have lost packets: those requests do not count
        found = [r for r in found if r[1] in seen and seen[r[1]][0] and len(seen[r[1]][1]) == len(r[2])]
        result |= {"captured": len(found)} | compare(found, lambda number, sent: sent[0] - seen[number][0], lambda number, events: [t for t, _ in seen[number][1]])
    print(json.dumps(result))


if __name__ == "__main__":
    main()
