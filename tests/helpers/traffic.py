"""Makes recorded traffic for tests of ipf-prep fit, in formats ipf-prep reads.

    traffic.py bursty N      Azure CSV: arrivals in bursts of many lengths, lengths that depend on each other
    traffic.py even N        Azure CSV: gaps of a gamma distribution, half as wide as by chance; even-fast: a quarter; even-tide: the rate changes
    traffic.py sessions N    Qwen Bailian: sessions with arrivals, growing prompts, shared blocks
    traffic.py ticks N       Mooncake: arrivals at ticks of 3 s, prompts that continue earlier ones
"""
import json
import math
import random
import sys

kind, count = sys.argv[1], int(sys.argv[2])
rng = random.Random(7)


def bursty():
    print("TIMESTAMP,ContextTokens,GeneratedTokens")
    t, rates = 0.0, [1.0] * 6
    for i in range(count):
        for k in range(6):  # each changes every 4^k requests or so
            if rng.random() < 4.0**-k:
                rates[k] = math.exp(rng.gauss(-0.08, 0.4))
        t += rng.expovariate(10 * math.prod(rates))
        size = rng.gauss(0, 1)
        prompt = int(math.exp(6.5 + size)) + 1
        answer = int(math.exp(5 + 0.4 * size + 0.6 * rng.gauss(0, 1))) + 1
        print(f"2024-05-10 {int(t // 3600):02d}:{int(t // 60) % 60:02d}:{t % 60:09.6f}+00:00,{prompt},{answer}")


def even():
    print("TIMESTAMP,ContextTokens,GeneratedTokens")
    t, shape, rate = 0.0, 16 if kind == "even-fast" else 4, 10 if kind == "even-fast" else 3
    for i in range(count):
        tide = 1 + 0.3 * math.sin(t / 100) if kind == "even-tide" else 1
        t += rng.gammavariate(shape, 1 / (shape * rate * tide))
        print(f"2024-05-10 {int(t // 3600):02d}:{int(t // 60) % 60:02d}:{t % 60:09.6f}+00:00,{20 + i % 7},10")


def sessions():
    rows, block, t, chat = [], 100, 0.0, 0
    while len(rows) < count:
        t += rng.expovariate(0.3)
        at, ids, parent, length = t, [1, 2, 3, 4] if rng.random() < 0.5 else [], -1, 64
        for turn in range(rng.randint(1, 6)):
            length = len(ids) * 16 + 80 + int(rng.expovariate(1 / 80))
            ids = ids + [block + i for i in range(length // 16 - len(ids))]
            block += len(ids)
            rows.append((at, {"chat_id": chat, "parent_chat_id": parent, "timestamp": round(at, 3), "input_length": length,
                              "output_length": 1 + int(rng.expovariate(0.01)), "type": "text", "turn": turn + 1,
                              "hash_ids": ids + ([block + len(ids)] if length % 16 else [])}))
            block += 1
            parent, chat = chat, chat + 1
            at += 1 + rng.lognormvariate(3, 0.8)
    for _, row in sorted(rows, key=lambda r: r[0])[:count]:
        print(json.dumps(row))


def ticks():
    prompts, block, t = [], 1, 0
    while len(prompts) < count:
        for _ in range(1 + rng.randrange(12)):
            ids = [0]
            if prompts and rng.random() < 0.4:
                ids = list(prompts[max(0, len(prompts) - 1 - int(rng.expovariate(1 / 60)))])
            new = 1 + int(rng.expovariate(0.15))
            ids += range(block, block + new)
            block += new
            prompts.append(ids)
            print(json.dumps({"timestamp": t, "input_length": 512 * len(ids), "output_length": 1 + rng.randrange(600), "hash_ids": ids}))
            if len(prompts) == count:
                return
        t += 3000


{"bursty": bursty, "even": even, "sessions": sessions, "ticks": ticks}[kind.split("-")[0]]()
