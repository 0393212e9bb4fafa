"""Understands records a second time, from the definitions alone and sharing no code with ipf-collect, and compares every row and
every window of time.

usage: second_opinion.py RECORDS… RESULTS    (plain; openai-chat; without a tokenizer, --itl gap) Prints one line for each row
and differing window, then "N windows, M differ" and "N rows, M differ".
"""
import base64
import json
import re
import sys


def lines_of(path):
    lines = [json.loads(line) for line in open(path, encoding="utf-8")]
    assert "ipf" in lines[0] and "end" in lines[-1]
    return lines[0], lines[1:-1]


def events_of(body):
    """Events of a text/event-stream as (name, data, end offset, whether its blank line came)."""
    at, data, name = 0, [], None
    if body.startswith(b"\xef\xbb\xbf"):
        at = 3
    while at < len(body):
        end = at
        while end < len(body) and body[end] not in b"\r\n":
            end += 1
        line = body[at:end]
        if end < len(body):
            end += 2 if body[end:end + 2] == b"\r\n" else 1
        at = end
        if line == b"":
            if data or name is not None:
                yield name, b"\n".join(data), at, True
            data, name = [], None
        elif line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif line.startswith(b"event:"):
            name = line[6:].removeprefix(b" ")
    if data or name is not None:
        yield name, b"\n".join(data), len(body), False


def sent_from(record):
    """The start of the attempt whose answer it has; None: it waited to be sent again when it ended."""
    return record.get("attempt_ns") if "attempts" in record else record["start_ns"]


def attempts_of(record, row):
    """The attempts of a request, and the waits that refusals asked for."""
    answers = record.get("attempts", []) + ([record] if sent_from(record) is not None else [])
    asked = [answer["retry_after_ns"] for answer in answers if "retry_after_ns" in answer]
    found = {"refusals": sum(answer.get("status") in (429, 503) for answer in answers)}
    if asked:
        found |= {"retry_afters": len(asked), "retry_after_ns": sum(asked), "retry_after_min_ns": min(asked), "retry_after_max_ns": max(asked)}
    if "attempts" in record:
        starts = [attempt["start_ns"] for attempt in record["attempts"][1:]] + [record.get("attempt_ns", record["end_ns"])]
        gaps = [start - attempt["end_ns"] for start, attempt in zip(starts, record["attempts"])]
        sent = len(answers) - 1
        found |= {"attempts": len(answers), "retry_wait_ns": sum(gaps), "attempt_start_ns": record.get("attempt_ns"),
                  "retry_early": sum(gap < attempt.get("retry_after_ns", 0) for gap, attempt in list(zip(gaps, record["attempts"]))[:sent])}
    if record.get("retry"):
        for name in ("ttft", "e2e"):
            if name + "_ns" in row and sent_from(record) is not None:
                found["attempt_%s_ns" % name] = row[name + "_ns"] - (sent_from(record) - record["start_ns"])
    return {key: value for key, value in found.items() if value or key in ("retry_wait_ns", "retry_after_ns", "retry_after_min_ns", "retry_after_max_ns", "attempt_start_ns", "attempt_ttft_ns", "attempt_e2e_ns") and value is not None}


def sending_of(record):
    """When the request was on its way, after all it waited for."""
    waits = {"dns_ns": 1, "connect_ns": 1, "tls_ns": 2, "connected_ns": 1}
    start = sent_from(record)
    if start is None:
        return {}
    ready = max(start, *(record[key] for key in ("connect_ns", "tls_ns", "connected_ns") if key in record), start)
    left = record.get("left_ns", record.get("sent_ns"))
    if left is None:
        return {}
    if record.get("request_bytes", 0) > 10 * 1460:
        left = min(left, record.get("sent_ns", left))
    row = {"sending_ns": max(left - ready, 0)}
    if ready > start:
        row |= {"setup_ns": ready - start, "send_waits": sum(n for key, n in waits.items() if key in record)}
    return row


def early_of(record, end, length):
    """By how much the event ending there may have come before its time: back to the last read with another time."""
    before, arrived = record.get("left_ns", sent_from(record)), 0
    if before < record.get("first_byte_ns", before) < record["reads"][0][0]:
        before = record["first_byte_ns"]
    for i, (t_ns, size, own_ns) in enumerate(record["reads"]):
        arrived += size
        following = record["reads"][i + 1][0] if i + 1 < len(record["reads"]) else record["end_ns"]
        if arrived >= end:
            exact = arrived == end and t_ns != own_ns and record["connection"].get("http") != 2 and following > t_ns
            return 0 if exact else max(t_ns - before, 0)
        if following > t_ns:
            before = t_ns
    raise AssertionError(f"{end} of {length}")


def json_of(data):
    """The value; ValueError also for bytes that are no UTF-8."""
    return json.loads(data.decode("utf-8", "strict"))


FINISHES = {"function_call": "tool_calls", "eos_token": "stop", "stop_sequence": "stop", "abort": "error", "cancelled": "error", "ABORTED": "error"}
FIELDS = (b"data", b"event", b"id", b"retry", b"error", b"")


def reports_error(value):
    """Does the value of a member such as `error` report one?"""
    if isinstance(value, dict):
        return bool(value) and not (value.get("code") == 0 and not value.get("message"))
    return bool(value)


def has_error(event):
    said = ("error", "error_message", "errorMessage", "err", "errors", "error_type")
    return any(reports_error(event.get(name)) for name in said) or bool(event.get("error_code")) or event.get("object") == "error" or \
        bool((event.get("base_resp") or {}).get("status_code"))


def objects_outside(body):
    """JSON objects beginning a line of a stream of events and go on over several lines."""
    text = body.decode("utf-8", "replace")
    for begin in re.finditer(r"(?:^|[\r\n])(?=\{[\r\n])", text):
        try:
            yield json.JSONDecoder().raw_decode(text, begin.end())[0]
        except ValueError:
            pass


def number_of(value):
    """A count: an integer, however a server writes it."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    whole = isinstance(value, (int, float)) and not isinstance(value, bool) and value == int(value)
    return int(value) if whole and value >= 0 else None


def usage_in(event):
    """The counts of an event: of the answer, else of its first choice."""
    usage, choices = event.get("usage") or {}, event.get("choices") or [{}]
    inner = choices[0].get("usage") or {}
    found = {"output": [usage.get("completion_tokens"), usage.get("output_tokens"), inner.get("completion_tokens")],
             "input": [usage.get("prompt_tokens"), usage.get("input_tokens"), inner.get("prompt_tokens")],
             "total": [usage.get("total_tokens"), inner.get("total_tokens")],
             "reasoning": [(usage.get(name + "_tokens_details") or {}).get("reasoning_tokens") for name in ("completion", "output")] +
                          [usage.get("reasoning_tokens"), (inner.get("completion_tokens_details") or {}).get("reasoning_tokens")]}
    counts = {name: next((number for number in map(number_of, values) if number is not None), None) for name, values in found.items()}
    return {name: count for name, count in counts.items() if count is not None}


def texts_in(value):
    """The strings of members that servers name so if they have text of the answer."""
    if isinstance(value, list):
        for one in value:
            yield from texts_in(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            if isinstance(one, str) and one and name in ("content", "reasoning", "reasoning_content", "thinking", "thought", "text", "arguments"):
                yield one
            yield from texts_in(one)


class Answer:
    """Reads the body of a 2xx response, event by event."""

    def __init__(self, record, body, trouble):
        self.ends, self.texts, self.reported = [], [], []  # for the content events: their ends, those with text, output tokens so far
        self.calls = set()  # by their index, else their place
        self.in_band = self.likely = self.malformed = self.ended = self.broken = self.whole = False
        self.usage, self.finish, self.after_usage = {}, None, 0
        self.size = self.bare = self.unread = 0  # bytes of content, events without content, those with an unread text
        self.thoughts = self.thought_size = 0  # content events with reasoning alone, its bytes
        self.counted, self.ascii = False, b"\\u" in body  # by usage; escapes instead of characters
        self.choices, self.of = [], []  # indexes as they came; the place among them of each content event
        trimmed = body.removeprefix(b"\xef\xbb\xbf").strip(b" \t\r\n")
        if trimmed and (self.is_whole(trimmed) or not record.get("streamed") and not trimmed.startswith((b"data:", b"event:", b"id:", b"retry:", b":"))):
            self.read_whole(trimmed, len(body), trouble)
        elif trimmed:
            self.read_stream(body, trouble)

    def length(self, text):
        """In bytes, as the server wrote it."""
        return len(json.dumps(text, ensure_ascii=self.ascii).encode()) - 2

    def note_unread(self, event):
        """One that has text where none was read, unless that repeats all coming before."""
        length = next((self.length(text) for text in texts_in(event)), 0)
        self.unread += length not in (0, self.thought_size, self.size - self.thought_size)

    @staticmethod
    def is_whole(body):
        try:
            return body[:1] in b"{[" and json_of(body) is not None
        except ValueError:
            return False

    def read_whole(self, body, length, trouble):
        self.whole = True
        try:
            answer = json_of(body)
        except ValueError:
            self.malformed = True
            return
        if isinstance(answer, dict):
            self.ended = answer.get("choices") is not None
            self.read_event(answer, "message", length)
        elif answer and isinstance(answer, list) and isinstance(answer[0], dict) and "error" in answer[0]:
            self.in_band = True
        elif isinstance(answer, list):  # a list of answers, where one is expected
            self.note_unread(answer)
        else:
            self.malformed = True
        self.malformed |= not self.ended and not trouble

    def read_stream(self, body, trouble):
        events, after_end = 0, 0
        for name, data, end, complete in events_of(body):
            events += 1
            data = data.strip(b" \t\r\n")
            if not complete and trouble:  # the rest of a stream that broke is no event
                self.broken = True
            elif name == b"error":
                self.in_band = True
            elif data == b"[DONE]":
                self.ended = True
            elif data:
                before = len(self.ends)
                try:
                    event = json_of(data)
                    if isinstance(event, dict):
                        self.read_event(event, "delta", end)
                    elif event is not None:
                        self.malformed |= not self.ended
                except ValueError:
                    self.broken |= not complete
                    self.malformed |= complete and not self.ended
                after_end += (len(self.ends) - before) * self.ended
        self.in_band |= any(has_error(thing) for thing in objects_outside(body))
        if not self.ends and not events and body.startswith(b'{"choices": []}\n{'):  # lines of JSON
            self.malformed = True
        lines = body.removeprefix(b"\xef\xbb\xbf").replace(b"\r", b"\n").split(b"\n")
        if not events and any(line.split(b":")[0] not in FIELDS and line[:1] != b"{" for line in lines):
            self.malformed = True
        self.malformed |= after_end > 0
        # some servers never send an end mark
        if self.finish and "output" in self.usage and not self.after_usage and not trouble and not self.broken:
            self.ended = True

    def read_event(self, event, member, end):
        choices = event.get("choices") or []
        if has_error(event) or any(choice.get("finish_reason") == "error" for choice in choices):
            self.in_band = True
            return
        usage = {name: value for name, value in usage_in(event).items() if value != 0 or not self.usage.get(name)}  # a zero does not replace a count
        self.usage |= usage
        text = other = thought = ""
        for place, choice in enumerate(choices):
            position = choice.get("index", place)
            said = choice.get(member) or {}
            text += said.get("content") or ""
            thought += (said.get("reasoning_content") or "") + (said.get("reasoning") or "")
            tools = said.get("tool_calls") or []
            only = said.get("function_call") or {}
            functions = [tool.get("function") or {} for tool in tools]
            written = "".join((function.get("name") or "") + (function.get("arguments") or "") for function in functions)
            self.calls |= {(position, tool.get("index", i)) for i, (tool, function) in enumerate(zip(tools, functions))
                           if function.get("name") or function.get("arguments")}
            alone = (only.get("name") or "") + (only.get("arguments") or "")
            self.calls |= {(position, "only")} if alone else set()
            other += written + alone
            self.finish = choice.get("finish_reason") or self.finish
        other += thought
        self.after_usage = 0 if "output" in usage else self.after_usage + bool(text or other)
        self.note_unread(event if not (text or other) else {})
        self.size += self.length(text) + self.length(other)
        self.bare += not (text or other)
        if text or other:
            self.ends.append(end)
            self.reported.append(usage.get("output"))
            named = [choice["index"] for choice in choices if isinstance(choice.get("index"), int)]
            for index in named or ([] if self.choices else [0]):
                if index not in self.choices:
                    self.choices.append(index)
            self.of.append(self.choices.index(named[-1]) if named else 0)
        if text:
            self.texts.append(end)
        elif thought:
            self.thoughts += 1
        self.thought_size += self.length(thought)
        self.likely |= not (text or other) and "output" not in usage and bool(event.get("code") and event.get("message"))


def error_of(record, answer):
    """The kind of the error, or None: the server's own, then that of the transfer, then that of a missing part."""
    trouble = record.get("error", {}).get("kind")
    if answer and (answer.in_band or answer.likely and not (answer.ended and answer.finish)):
        return "in-band"
    if "status" in record and not answer:
        return "http-status"
    if trouble and not (answer and answer.ended):
        return trouble
    if answer.malformed:
        return "malformed"
    if not answer.ended:
        return "cut"
    if FINISHES.get(answer.finish, answer.finish) == "error" or not answer.ends and answer.finish == "content_filter":
        return "in-band"
    if not answer.ends and not answer.finish and "output" not in answer.usage:
        return "malformed"
    return None


def usage_of_each(answer):
    """The sum of the events' own usage, if that is not the usage of the answer so far."""
    reported, last = answer.reported, answer.reported[-1] if answer.reported else None
    if len(reported) < 2 or None in reported or answer.usage.get("output", 0) > last:
        return None
    fixed = len(reported) > 2 and last > 0 and len(set(reported)) == 1
    return sum(reported) if last < max(reported) or fixed or last < len(reported) and answer.size > 16 * last else None


def usage_with_reasoning(answer):
    """The output tokens by usage, with the reasoning if it is counted besides; None: it says nothing, or no total."""
    events, usage = len(answer.ends), answer.usage
    count = usage_of_each(answer)
    count = usage.get("output") if count is None else count
    if count is None or count == 0 and events or answer.after_usage and count < events:
        return None
    reasoning = usage.get("reasoning", 0)
    besides = "total" in usage and "input" in usage and usage["total"] - usage["input"] == count + reasoning
    return count + (reasoning if reasoning > count or besides else 0)


def hidden_of(answer, count):
    """Reasoning that was paid for and did not come, as far as the received tokens leave room for it."""
    events, reasoning = len(answer.ends), answer.usage.get("reasoning", 0)
    if answer.whole or not events or answer.thoughts and reasoning <= answer.thought_size + 16:
        return 0
    return max(0, min(reasoning - answer.thoughts, count - events))


def output_tokens_of(record, answer):
    """The number of output tokens, of those that were not sent, and the doubt: by the server's usage, if that can be; otherwise by the content
    events, which say nothing if there may be one for all."""
    events, asked = len(answer.ends), record.get("asked_output_tokens")
    one = events == 1 and (answer.whole or not record.get("streamed"))
    by_events = None if not events or one and asked != 1 else events
    count = usage_with_reasoning(answer)
    if count is None:
        return by_events, 0, None
    answer.counted = True
    if events > count:
        answer.counted = answer.size // 16 <= count
        return (count if answer.counted else by_events), 0, "usage-below-events"
    most, hidden = answer.size + answer.bare + 16 + 48 * len(answer.calls), hidden_of(answer, count)
    if not events or not answer.size or count - hidden <= most or count == asked:
        return count, hidden, None
    answer.counted = asked is None or count <= asked
    return (count if answer.counted else by_events), hidden if answer.counted else 0, "usage-above-content"


def understand(record):
    row = sending_of(record)
    body = record.get("body", "").encode()
    if "body_base64" in record:
        body = base64.b64decode(record["body_base64"])
    reads, arrived = [], 0
    for t_ns, size, _ in record.get("reads", []):
        arrived += size
        reads.append((arrived, t_ns))
    assert arrived == len(body)
    start = record["start_ns"]
    if "first_byte_ns" in record:
        row["ttfb_ns"] = record["first_byte_ns"] - start
    if "connect_ns" in record:
        row["connect_ns"] = record["connect_ns"] - record.get("dns_ns", sent_from(record))
    answer = Answer(record, body, "error" in record) if 200 <= record.get("status", 0) < 300 else None
    error = error_of(record, answer)
    row["ok"] = error is None
    if error:
        row["error"] = error
    if answer:
        row |= figures_of(record, answer, reads)
    return row | attempts_of(record, row)


def figures_of(record, answer, reads):
    row, usage, start = {}, answer.usage, record["start_ns"]
    tokens, hidden, doubt = output_tokens_of(record, answer)
    for name, value in (("finish", FINISHES.get(answer.finish, answer.finish)), ("output_tokens", tokens),
                        ("output_tokens_usage", usage.get("output")), ("input_tokens_usage", usage.get("input")),
                        ("reasoning_tokens", usage.get("reasoning")), ("hidden_tokens", hidden or None), ("doubt", doubt),
                        ("unread_events", answer.unread or None)):
        if value is not None:
            row[name] = value
    if answer.calls:
        row["tool_calls"] = len(answer.calls)
    if not answer.ends:
        return row

    def time_of(offset):
        return next(t_ns for end, t_ns in reads if end >= offset)

    times = [time_of(end) for end in answer.ends]
    pairs, last = [], {}  # pairs of events of the same choice, one after another
    for t_ns, choice in zip(times, answer.of):
        if choice in last:
            pairs.append((last[choice], t_ns))
        last[choice] = t_ns
    gaps = [b - a for a, b in pairs]
    firsts = max(1, len(answer.choices))
    row["events"] = len(times)
    row["coalesced"] = sum(times.count(t_ns) > 1 for t_ns in times)
    row["e2e_ns"] = times[-1] - start
    row["first_early_ns"], row["last_early_ns"] = (early_of(record, answer.ends[i], reads[-1][0]) for i in (0, -1))
    by_events = not answer.counted  # a guess of their number
    number = None if by_events else tokens
    one = len(times) == 1 and not record.get("streamed") and (number or record.get("asked_output_tokens")) != 1
    if not answer.whole and not one:
        row["ttft_ns"] = times[0] - start
        if answer.texts:
            row["ttfa_ns"] = time_of(answer.texts[0]) - start
    if gaps:
        if firsts == 1:
            row["ttst_ns"] = gaps[0]
        row["itl_max_ns"] = max(gaps)
        row["itl_mean_ns"] = sum(gaps) / len(gaps)
        if (tokens or 0) - hidden > firsts:
            row["tpot_ns"] = sum(gaps) / (tokens - hidden - firsts)
    if (tokens or 0) >= 1:
        row["ntpot_ns"] = row["e2e_ns"] / tokens
    row["times"], row["pairs"] = times, pairs
    row["tokens"] = tokens_of_events(answer, tokens, hidden, doubt) if tokens is not None else []
    return row


def tokens_of_events(answer, total, hidden, doubt):
    """Each content event's tokens: by its own usage if nothing contradicts it, otherwise even parts. Tokens that were not sent came
    first."""
    reported, sent = answer.reported, total - hidden
    if usage_of_each(answer) == total:
        known = reported
    elif not hidden and not doubt and None not in reported and reported == sorted(reported) and reported[-1] > 0:
        known = [b - a for a, b in zip([0] + reported, reported)]
    else:
        known = []
    known = known if known and sum(known) == sent else even(sent, len(reported))
    return [known[0] + hidden] + known[1:]


def even(total, parts):
    small = total // parts
    return [small] * (parts - total % parts) + [small + 1] * (total % parts)


class Windows:
    """The windows of a run by (number, stage), as in the results."""

    def __init__(self, every):
        self.every, self.all, self.positions = every, {}, {}

    def at(self, t_ns, stage):
        return self.all.setdefault((t_ns // self.every, stage), {})

    def add(self, t_ns, stage, name, number):
        if number:
            window = self.at(t_ns, stage)
            window[name] = window.get(name, 0) + number

    def sample(self, t_ns, stage, name, value):
        self.at(t_ns, stage).setdefault(name, []).append(value)

    def spend(self, begin, end, stage, name):
        for number in range(begin // self.every, end // self.every + 1):
            self.add(number * self.every, stage, name,
                     max(0, min(end, (number + 1) * self.every) - max(begin, number * self.every)))

    def add_request(self, record, row, offset):
        stage, times = record["stage"], [t + offset for t in row.get("times", [])]
        due, ready, start, end = (record[name] + offset if name in record else None
                                  for name in ("due_ns", "ready_ns", "start_ns", "end_ns"))
        if due is not None:
            self.add(due, stage, "scheduled", 1)
        if start is not None:
            self.add(start, stage, "started", 1)
            self.spend(start, end, stage, "in_flight_ns")
            if due is not None:
                self.sample(start, stage, "lag_ns", start - due)
            slot = record["slot_ns"] + offset if "slot_ns" in record else None
            if slot is not None:
                self.spend(ready, max(slot, ready) if "pool_ns" in record else start, stage, "slot_wait_ns")
            if "pool_ns" in record:
                self.spend(max(ready, slot or ready), start, stage, "pool_wait_ns")
        if row["ok"]:
            self.add(end, stage, "ok", 1)
        elif row["error"] == "hung-up":
            self.add(end, stage, "hung_up", 1)
        else:
            failed = self.at(end, stage).setdefault("failed", {})
            failed[row["error"]] = failed.get(row["error"], 0) + 1
        usage = row.get("input_tokens_usage")
        self.add(times[0] if times else end, stage, "input_tokens", usage or record.get("asked_input_tokens", 0))
        output = "output_tokens" if row["ok"] else "failed_output_tokens"
        if not times:
            self.add(end, stage, output, row.get("output_tokens", 0))
        for t_ns, tokens in zip(times, row.get("tokens", [])):
            self.add(t_ns, stage, output, tokens)
        for t_ns in times:
            self.add(t_ns, stage, "events", 1)
        if row["ok"] and times:
            if "ttft_ns" in row:
                self.sample(times[0], stage, "ttft_ns", times[0] - start)
            self.sample(times[-1], stage, "e2e_ns", times[-1] - start)
            pairs = [(before + offset, after + offset) for before, after in row["pairs"]]
            for before, after in pairs:
                self.sample(after, stage, "itl_ns", after - before)
            for position, (before, after) in enumerate(pairs, 1):
                self.positions.setdefault((stage, 2 ** (position.bit_length() - 1)), []).append(after - before)

    def position_lines(self):
        for (stage, position), values in sorted(self.positions.items()):
            yield {"histogram": "itl_by_position_ns", "stage": stage, "position": position, **histogram(values)}

    def lines(self):
        for (number, stage), window in sorted(self.all.items()):
            if window:
                yield {"window": number, "t_ns": number * self.every, "length_ns": self.every, "stage": stage,
                       **{name: histogram(value) if isinstance(value, list) else value for name, value in window.items()}}


def bucket(value):
    """64 in each octave, so those of 64 to 127 have the width 1."""
    octave = value.bit_length() - 1
    return value if value < 64 else 64 * (octave - 5) + ((value - 2 ** octave) * 64 >> octave)


def histogram(values):
    buckets = [bucket(value) for value in values]
    return {"count": len(values), "min": min(values), "max": max(values), "sum": sum(values),
            "buckets": [[i, buckets.count(i)] for i in sorted(set(buckets))]}


FIGURES = ["ok", "error", "finish", "events", "coalesced", "connect_ns", "ttfb_ns", "ttft_ns", "ttfa_ns", "ttst_ns", "e2e_ns", "itl_max_ns", "itl_mean_ns",
           "tool_calls", "tpot_ns", "ntpot_ns", "sending_ns", "setup_ns", "send_waits", "first_early_ns", "last_early_ns", "attempts", "attempt_start_ns", "attempt_ttft_ns",
           "attempt_e2e_ns", "retry_wait_ns", "retry_early", "refusals", "retry_afters", "retry_after_ns", "retry_after_min_ns", "retry_after_max_ns",
           "output_tokens", "output_tokens_usage", "input_tokens_usage", "reasoning_tokens", "hidden_tokens", "doubt", "unread_events"]


def same(a, b):
    if isinstance(a, (int, float)) and isinstance(b, (int, float)) and not isinstance(a, bool):
        return abs(a - b) <= 1
    return a == b


def main():
    header, results = lines_of(sys.argv[-1])
    rows = {row["n"]: row for row in results if "n" in row}
    windows = Windows(header["series"]["every_ns"])
    count = differ = 0
    for record, offset in records_of(sys.argv[1:-1], header["series"].get("t0_unix_ns")):
        count += 1
        theirs, ours = rows.pop(record["n"]), understand(record)
        windows.add_request(record, ours, offset)
        theirs["error"] = theirs.get("error", {}).get("kind")
        wrong = [f"{figure}: {theirs.get(figure)}, here {ours.get(figure)}" for figure in FIGURES
                 if not same(theirs.get(figure), ours.get(figure)) and not (figure in ("events", "coalesced") and not theirs.get(figure))]
        if wrong:
            differ += 1
            print(f"n {record['n']}: " + "; ".join(wrong))
    compare_positions(list(windows.position_lines()), [line for line in results if line.get("histogram") == "itl_by_position_ns"])
    compare_windows(list(windows.lines()), [line for line in results if "window" in line])
    print(f"{count} rows, {differ + len(rows)} differ")


def records_of(paths, t0_ns):
    for path in paths:
        header, lines = lines_of(path)
        offset = header["t0_unix_ns"] - t0_ns if t0_ns is not None else 0
        yield from ((line | {"retry": "retry" in header}, offset) for line in lines if "n" in line)


def compare_positions(ours, theirs):
    print(f"{len(ours)} bins of positions, {sum(line not in theirs for line in ours) + sum(line not in ours for line in theirs)} differ")


def compare_windows(ours, theirs):
    differ = 0
    for i in range(max(len(ours), len(theirs))):
        a, b = (list_[i] if i < len(list_) else {} for list_ in (ours, theirs))
        if a != b:
            differ += 1
            names = [name for name in {**a, **b} if a.get(name) != b.get(name)]
            print(f"window {b.get('window')} of stage {b.get('stage')}: " +
                  "; ".join(f"{name}: {b.get(name)}, here {a.get(name)}" for name in names))
    print(f"{len(ours)} windows, {differ} differ")


if __name__ == "__main__":
    main()
