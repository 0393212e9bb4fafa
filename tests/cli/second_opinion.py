"""Understands records a second time, from the definitions alone and sharing no code with ipf-collect, and compares every row.

usage: second_opinion.py RECORDS RESULTS    (both plain; openai-chat, streamed)
Prints one line for each figure that differs, then "N rows, M differ".
"""
import base64
import json
import sys


def body_lines(path):
    lines = [json.loads(line) for line in open(path, encoding="utf-8")]
    assert "ipf" in lines[0] and "end" in lines[-1]
    return lines[1:-1]


def events_of(body):
    """Events of a text/event-stream as (name, data, end offset); the last one also where its blank line is missing."""
    at, data, name = 0, [], None
    if body.startswith(b"\xef\xbb\xbf"):
        at = 3
    while at < len(body):
        end = at
        while end < len(body) and body[end] not in b"\r\n":
            end += 1
        line = body[at:end]
        unended = end == len(body)
        if not unended:
            end += 2 if body[end:end + 2] == b"\r\n" else 1
        at = end
        if line == b"" and not unended:
            if data:
                yield name, b"\n".join(data), at
            data, name = [], None
        elif line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif line.startswith(b"event:"):
            name = line[6:].removeprefix(b" ")
    if data:
        yield name, b"\n".join(data), len(body)


def understand(record):
    row = {"ok": False}
    body = record.get("body", "").encode()
    if "body_base64" in record:
        body = base64.b64decode(record["body_base64"])
    reads, arrived = [], 0
    for t_ns, size, _ in record.get("reads", []):
        arrived += size
        reads.append((arrived, t_ns))
    assert arrived == len(body)

    def read_of(offset):
        return next(i for i, (end, _) in enumerate(reads) if end >= offset)

    start = record["start_ns"]
    if "first_byte_ns" in record:
        row["ttfb_ns"] = record["first_byte_ns"] - start
    transport = record.get("error", {}).get("kind")
    status = record.get("status")
    content, answers, in_band, malformed, ended, usage, finish = [], [], False, False, False, {}, None
    if status is not None and 200 <= status < 300 and b"data:" in body:
        pending = []
        for name, data, end in events_of(body):
            if data == b"[DONE]":
                ended = True
                continue
            try:
                event = json.loads(data.decode("utf-8", "strict"))
                assert isinstance(event, dict)
            except (ValueError, AssertionError):
                # The rest of a stream that broke in the middle of an event is no event.
                if end == len(body) and not body.endswith((b"\n\n", b"\r\r", b"\r\n\r\n")):
                    continue
                malformed = True
                continue
            if event.get("error") or event.get("object") == "error" or name == b"error":
                in_band = True
                continue
            usage = event.get("usage") or usage
            text = other = ""
            for choice in event.get("choices") or []:
                delta = choice.get("delta") or {}
                text += delta.get("content") or ""
                other += (delta.get("reasoning_content") or "") + (delta.get("reasoning") or "")
                for tool in delta.get("tool_calls") or []:
                    function = tool.get("function") or {}
                    other += (function.get("name") or "") + (function.get("arguments") or "")
                finish = choice.get("finish_reason") or finish
            if text or other:
                content.append(read_of(end))
            if text:
                answers.append(read_of(end))
    if in_band:
        row["error"] = "in-band"
    elif status is not None and not 200 <= status < 300:
        row["error"] = "http-status"
    elif malformed:
        row["error"] = "malformed"
    elif transport and not ended:
        row["error"] = transport
    elif not ended or not content:
        row["error"] = "cut"
    else:
        row["ok"] = True
    if finish:
        row["finish"] = finish
    if "completion_tokens" in usage:
        row["output_tokens"] = row["output_tokens_usage"] = usage["completion_tokens"]
    if "prompt_tokens" in usage:
        row["input_tokens_usage"] = usage["prompt_tokens"]
    if content:
        row.setdefault("output_tokens", len(content))  # no tokenizer was given
        times = [reads[i][1] for i in content]
        gaps = [b - a for a, b in zip(times, times[1:])]
        row["events"] = len(content)
        row["coalesced"] = sum(content.count(i) > 1 for i in content)
        row["ttft_ns"] = times[0] - start
        row["e2e_ns"] = times[-1] - start
        if answers:
            row["ttfa_ns"] = reads[answers[0]][1] - start
        if gaps:
            row["ttst_ns"] = gaps[0]
            row["itl_max_ns"] = max(gaps)
            row["itl_mean_ns"] = sum(gaps) / len(gaps)
            if row.get("output_tokens", 0) >= 2:
                row["tpot_ns"] = (times[-1] - times[0]) / (row["output_tokens"] - 1)
        if row.get("output_tokens", 0) >= 1:
            row["ntpot_ns"] = row["e2e_ns"] / row["output_tokens"]
    return row


FIGURES = ["ok", "error", "finish", "events", "coalesced", "ttfb_ns", "ttft_ns", "ttfa_ns", "ttst_ns", "e2e_ns", "itl_max_ns", "itl_mean_ns",
           "tpot_ns", "ntpot_ns", "output_tokens", "output_tokens_usage", "input_tokens_usage"]


def same(a, b):
    if isinstance(a, (int, float)) and isinstance(b, (int, float)) and not isinstance(a, bool):
        return abs(a - b) <= 1
    return a == b


def main():
    rows = {row["n"]: row for row in body_lines(sys.argv[2]) if "n" in row}
    count = differ = 0
    for record in body_lines(sys.argv[1]):
        if "n" not in record:
            continue
        count += 1
        theirs, ours = rows.pop(record["n"]), understand(record)
        theirs["error"] = theirs.get("error", {}).get("kind")
        wrong = [f"{figure}: {theirs.get(figure)}, here {ours.get(figure)}" for figure in FIGURES
                 if not same(theirs.get(figure), ours.get(figure)) and not (figure in ("events", "coalesced") and not theirs.get(figure))]
        if wrong:
            differ += 1
            print(f"n {record['n']}: " + "; ".join(wrong))
    print(f"{count} rows, {differ + len(rows)} differ")


main()
