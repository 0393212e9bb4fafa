"""Computes how wide sessions fan out and how much that saves a second time, from the definitions alone.

usage: session_graph.py RESULTS        "sessions" of its JSON report, each as [n, mean, max]
       session_graph.py --random SEED  rows of results with random graphs of requests, without header and trailer

Sessions are told apart by name: each is sent once, in a measured stage.
"""
import json
import random
import sys

PARTS = ("model_s", "think_s", "waiting_s", "client_s")


def path_of(rows):
    """From the request ending last back to the first one, along the latest end each waited for."""
    by_n = {row["n"]: row for row in rows}
    at = max(rows, key=lambda row: (row["end_ns"], row["n"]))
    path = []
    while at:
        path.append(at)
        at = max((by_n[n] for n in at.get("after", [])), key=lambda row: (row["end_ns"], row["n"]), default=None)
    return path


def most_in_flight(rows):
    """Each start, with all that are then in flight."""
    return max(sum(other["start_ns"] <= row["start_ns"] < other["end_ns"] for other in rows if other["end_ns"] > other["start_ns"]) for row in rows)


def time_in_flight(rows):
    """The length of the union of their times."""
    total, until = 0, None
    for start, end in sorted((row["start_ns"], row["end_ns"]) for row in rows):
        begin = start if until is None else max(start, until)
        total += max(0, end - begin)
        until = end if until is None else max(until, end)
    return total


def figures_of(rows):
    path, in_all = path_of(rows), sum(row["end_ns"] - row["start_ns"] for row in rows)
    parts = dict.fromkeys(PARTS, 0)
    for row, before in zip(path, path[1:] + [None]):
        due = row.get("due_ns", row["ready_ns"])
        client = min(row.get("client_lag_ns", 0), row["start_ns"] - due)
        parts["model_s"] += row["end_ns"] - row["start_ns"]
        parts["client_s"] += client
        parts["waiting_s"] += row["start_ns"] - due - client
        parts["think_s"] += due - before["end_ns"] if before else 0
    waited_by = [sum(row["n"] in other.get("after", []) for other in rows) for row in rows]
    return {name: [value / 1e9] for name, value in parts.items()} | {
        "requests_each": [len(rows)],
        "requests_on_path": [len(path)],
        "time_s": [sum(parts.values()) / 1e9],
        "in_flight_most": [most_in_flight(rows)],
        "in_flight_mean": [in_all / time_in_flight(rows)],
        "parallelism": [in_all / parts["model_s"]],
        "waits_for": [len(row["after"]) for row in rows if row.get("after")],
        "waited_by": [count for count in waited_by if count],
    }


def read(path):
    sessions, figures = {}, {}
    for line in open(path, encoding="utf-8"):
        row = json.loads(line)
        if "n" in row and "session" in row:
            sessions.setdefault(row["session"], []).append(row)
    for rows in sessions.values():
        for name, values in figures_of(rows).items():
            figures.setdefault(name, []).extend(values)
    return {name: [len(values), sum(values) / len(values), max(values)] for name, values in figures.items()}


def random_rows(seed):
    """Sessions in which each request but the first waits for one to four earlier ones, for a slot, and for the client."""
    rng, n, rows = random.Random(seed), 0, []
    for session in range(rng.randrange(2, 40)):
        ends, first, bushy = [], n, rng.random()
        for _ in range(rng.randrange(1, 30)):
            most = min(4 if rng.random() < bushy else 1, len(ends))
            after = sorted(rng.sample(range(len(ends)), rng.randrange(1, most + 1))) if ends else []
            due = max((ends[k] for k in after), default=rng.randrange(10**9)) + rng.choice([0, 1, rng.randrange(3 * 10**8)])
            client = rng.choice([0, 0, rng.randrange(10**6)])
            start = due + rng.choice([0, rng.randrange(10**8)]) + client
            end = start + rng.choice([1, rng.randrange(1, 10**9)])
            ends.append(end)
            row = {"n": n, "req": n, "stage": 0, "session": f"s{session}"}
            if after:
                row["after"] = [first + k for k in after]
            rows.append(row | {"ok": True, "due_ns": due, "ready_ns": due, "start_ns": start, "end_ns": end, "lag_ns": start - due,
                               "client_lag_ns": client, "e2e_ns": end - start, "output_tokens": 5})
            n += 1
    rng.shuffle(rows)
    return rows


if sys.argv[1] == "--random":
    for made in random_rows(int(sys.argv[2])):
        print(json.dumps(made, separators=(",", ":")))
else:
    print(json.dumps(read(sys.argv[1])))
