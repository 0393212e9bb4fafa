"""Do the error bars of requests contain the true values? They are compared with the server's log, or with a capture.

    bar_truth.py RECORDS RESULTS --log LOG        of truth_server.py, or of rawserver (sendlog.h)
    bar_truth.py RECORDS RESULTS --pcap FILE --tap STAMPS    as truth.py and tap_delay.py of bench read them

Prints a line of JSON: for TTFT, E2E and TPOT how many requests were compared, the share lying within its bar, and percentiles of the width of
the bars, in us. The truth is an interval, too: a send happened between the beginning and the end of a call, and a request came to the server
after it had left the client, by the stamps of both kernels: that time is the network's. A capture on loopback has the time at which it copied
a packet, which is later than that of its leaving and earlier than its coming's: measured by messages of another connection in the same
capture (the delay that 99 % of them keep). A request opening a connection is compared by TPOT only: its server knows nothing of the wait."""
import argparse
import json
import os
import re
import struct
import sys

sys.path += [os.path.join(os.path.dirname(os.path.abspath(__file__)), "helpers"), os.path.join(os.path.dirname(os.path.abspath(__file__)), "bench")]
from error_bars import bars_of_row, longest_delays  # noqa: E402

ID = re.compile(r'"id":"chatcmpl-(\d+)"')


def lines_of(path):
    return [json.loads(line) for line in open(path, encoding="utf-8")]


def logged(path):
    """For each request at the server: when it came, and the intervals in which its events were sent."""
    if open(path, "rb").read(1) == b"{":
        return {entry["request"]: (entry["arrived_ns"], entry["sent_ns"]) for entry in lines_of(path)}
    entry, found = struct.Struct("=qqIiIIII"), {}
    for _, real, request, event, count, _, _, took in entry.iter_unpack(open(path, "rb").read()):
        if event == -1:
            found[request] = (real, [])
        elif request in found:
            found[request][1].extend(count * [(real, real + took)])
    return found


def captured(path, stamps):
    """As logged(), when a request left in place of when it came; and the delays of the capture."""
    from tap_delay import read
    from truth import captured as events_of, packets
    delays = read(stamps, ((t, payload) for t, _, _, _, payload in packets(path)))
    after_leaving, before_coming = (list_[int(len(list_) * 0.99)] for list_ in delays)
    found = {number: (begun, begun - after_leaving, [(t, t + before_coming) for t, _ in events])
             for number, (begun, events) in events_of(path).items() if begun}
    return found, {"messages": len(delays[0]), "after_leaving_us": spread(delays[0]), "before_coming_us": spread(delays[1])}


def spread(values):
    return {"p50": round(values[len(values) // 2] / 1e3, 2), "p99": round(values[int(len(values) * 0.99)] / 1e3, 2)}


def truth_of(arrived, left, sent, tokens):
    """The least and the most each latency was."""
    (first, first_end), (last, last_end) = sent[0], sent[-1]
    found = {"ttft": (first - arrived, first_end - left), "e2e": (last - arrived, last_end - left)}
    if tokens > 1:
        found["tpot"] = ((last - first_end) / (tokens - 1), (last_end - first) / (tokens - 1))
    return found


def main():
    options = argparse.ArgumentParser()
    options.add_argument("records")
    options.add_argument("results")
    options.add_argument("--log")
    options.add_argument("--pcap")
    options.add_argument("--tap")
    options.add_argument("-v", action="store_true", help="also a line for each request outside its bar")
    o = options.parse_args()
    truth, tap = ({n: (came, None, sent) for n, (came, sent) in logged(o.log).items()}, None) if o.log else captured(o.pcap, o.tap)
    records = lines_of(o.records)
    zero = records[0]["t0_unix_ns"]
    records = {r["n"]: r for r in records if "n" in r and ID.search(r.get("body", ""))}
    results = lines_of(o.results)
    seconds, longest = longest_delays([line for line in results if line.get("sample") == "client"])
    within = {name: [] for name in ("ttft", "e2e", "tpot")}
    widths = {name: [] for name in within}
    for row in results:
        if "n" not in row or not row["ok"]:
            continue
        record = records[row["n"]]
        arrived, left, sent = truth.get(int(ID.search(record["body"])[1]), (None, None, []))
        if len(sent) != row["events"]:
            continue # a packet the capture lost
        if left is None:
            left = min(arrived, zero + record["left_ns"]) if "left_ns" in record else arrived
        true = truth_of(arrived, left, sent, row["output_tokens"])
        for name, (low, high) in bars_of_row(row, seconds, longest).items():
            if name not in true or ("connect_ns" in record and name != "tpot"):
                continue
            inside = low <= true[name][1] and high >= true[name][0]
            within[name].append(inside)
            widths[name].append((high - low) / 1e3)
            if o.v and not inside:
                print(f"n {row['n']}: {name} {true[name][0]:.0f} … {true[name][1]:.0f}, by its bar {low:.0f} … {high:.0f} ns", file=sys.stderr)
    point = lambda values, p: round(sorted(values)[min(len(values) - 1, int(len(values) * p))], 1)
    print(json.dumps({name: {"requests": len(list_), "within": round(sum(list_) / len(list_), 5), "width_p50_us": point(widths[name], 0.5), "width_p99_us": point(widths[name], 0.99)}
                      for name, list_ in within.items() if list_} | ({"tap": tap} if tap else {})))


main()
