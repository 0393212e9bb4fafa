#!/usr/bin/env python3
"""A queue of priorities, computed a second time: the log of ipf-sim --priority --max-batch 1 in the order in which a server takes its requests.

    priority_truth.py LOG priority|fcfs

From the arrivals and the ends of service alone: whenever the server is free, it takes of those that have arrived the one with the lowest priority, of equal
ones the earliest. Prints how many were taken in another order."""
import json
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as log:
        lines = [json.loads(line) for line in log]
    ranked = sys.argv[2] == "priority"
    served = sorted(lines, key=lambda line: line["first_token_ns"])
    waiting, differ, overtaken = list(served), 0, 0
    free = min(line["arrival_ns"] for line in lines)
    for line in served:
        # the step that lets it in begins when the one before it ends, at the end of the last answer; requests arriving within 2 ms of that may have come too
        # late
        sure = [other for other in waiting if other["arrival_ns"] < free - 2_000_000 and other is not line]
        key = (lambda other: (other.get("priority", 0), other["arrival_ns"])) if ranked else (lambda other: other["arrival_ns"])
        differ += any(key(other) < key(line) for other in sure)
        overtaken += any(other["arrival_ns"] < line["arrival_ns"] for other in sure)
        waiting.remove(line)
        free = line["last_token_ns"]
    print(f"{len(lines)} requests, {overtaken} overtook others, {differ} out of order")


if __name__ == "__main__":
    main()
