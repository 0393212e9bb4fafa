#!/usr/bin/env python3
"""Holds the records of a run with --retry against the log of ipf-sim --rate-limit, whose lines have the id of their request.

    retry_truth.py RECORDS LOG

Every attempt of the records is a line of the log and the other way round, in its order, with its status. No attempt arrives earlier than the one before it
asked for. The Retry-After of the records is the server's (for dates up to a second less, since a date has whole seconds)."""
import json
import sys


def main():
    with open(sys.argv[2], encoding="utf-8") as log:
        seen = [json.loads(line) for line in log]
    by_id, wrong, attempts = {}, [], 0
    for line in sorted(seen, key=lambda line: line["arrival_ns"]):
        by_id.setdefault(line["id"], []).append(line)
    with open(sys.argv[1], encoding="utf-8") as stream:
        records = [record for record in map(json.loads, stream) if "n" in record]
    for record in records:
        n, server = record["n"], by_id.pop(record["id"], [])
        answers = record.get("attempts", []) + ([record] if "attempts" not in record or "attempt_ns" in record else [])
        attempts += len(answers)
        if [answer.get("status") for answer in answers] != [line.get("status") for line in server]:
            wrong.append(f"n {n}: {[answer.get('status') for answer in answers]}, the server has {[line.get('status') for line in server]}")
            continue
        for answer, line in zip(answers, server):
            off = line.get("retry_after_ns", 0) - answer.get("retry_after_ns", 0)
            if not 0 <= off <= 10 ** 9 or off and "date" not in sys.argv[3:]:
                wrong.append(f"n {n}: asked to wait {answer.get('retry_after_ns')} ns, the server said {line.get('retry_after_ns')}")
        for answer, before, after in zip(answers, server, server[1:]):
            # the server's time of the first 429 is when it had read the request: before its answer
            if after["arrival_ns"] - before["arrival_ns"] < answer.get("retry_after_ns", 0):
                wrong.append(f"n {n}: came again after {after['arrival_ns'] - before['arrival_ns']} ns, not {answer['retry_after_ns']}")
    for key, lines in by_id.items():
        wrong.append(f"{key}: {len(lines)} requests at the server that no record has")
    print("\n".join(wrong[:20] + [f"{len(records)} requests, {attempts} attempts, {len(seen)} at the server, {len(wrong)} differ"]))


if __name__ == "__main__":
    main()
