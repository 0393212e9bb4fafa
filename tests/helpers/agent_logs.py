#!/usr/bin/env python3
"""Sessions of coding agents: a script of events, the logs the agents would have written, and a trace compared with the
script.

    agent_logs.py make claude-code|codex SEED FOLDER    writes logs and FOLDER/truth.json
    agent_logs.py check FOLDER TRACE                     prints how many requests there are, and the differences
"""
import json
import os
import random
import sys


class Clock:
    def __init__(self, r):
        self.r, self.ms = r, 0

    def pass_by(self, most_ms):
        self.ms += 1 + self.r.randrange(most_ms)
        return self.ms


def stamp(ms):
    return "2026-03-%02dT%02d:%02d:%02d.%03dZ" % (1 + ms // 86400000, ms // 3600000 % 24, ms // 60000 % 60, ms // 1000 % 60, ms % 1000)


def lengths(r, before, compacted):
    """For a prompt continuing another one: its common part with that, and its whole length; and the part read from a
    cache."""
    if before is None:
        cached = r.choice([0, 500, 1300])
        return cached, cached + 1 + r.randrange(900), cached
    if compacted or (before["input"] > 900 and r.random() < 0.1):  # a summary, or results that were cleared: it is shorter
        cached = r.randrange(before["input"] - 1)
        return cached, cached + 1 + r.randrange(before["input"] - cached - 1), cached
    return before["input"], before["input"] + r.randrange(700), r.choice([0, before["input"]])


# ---- Claude Code -------------------------------------------------------------------------------------------------------


class ClaudeSession:
    def __init__(self, r, name, truth, agent=None, clock=None):
        self.r, self.name, self.truth, self.agent = r, name, truth, agent
        self.clock = clock or Clock(r)
        self.lines, self.count, self.at, self.last = [], 0, None, None

    def line(self, kind, ms, **members):
        self.count += 1
        uuid = f"{self.name}-{self.agent or 'm'}-{self.count}"
        line = {"parentUuid": self.at, "isSidechain": bool(self.agent), "sessionId": self.name, "type": kind, "uuid": uuid,
                "timestamp": stamp(ms)} | ({"agentId": self.agent} if self.agent else {}) | members
        self.lines.append(line)
        self.at = uuid
        return uuid

    def user(self, content, **members):
        ms = self.clock.pass_by(9000)
        self.line("user", ms, message={"role": "user", "content": content}, **members)
        return ms

    def answer(self, start, compacted=False):
        """A request and its answer in several lines, whose tools run in parallel. Returns the result coming last."""
        r = self.r
        kept, total, cached = lengths(r, self.last, compacted)
        written = r.randrange(total - cached + 1)
        output, parts = 20 + r.randrange(400), 1 + r.randrange(4)
        id = f"msg_{self.name}-{self.agent or 'm'}-{self.count}"
        request = {"start": start, "input": total, "cached": cached, "output": output, "kept": kept,
                   "base": self.last and self.last["key"], "key": len(self.truth), "tools": parts - 1,
                   "session": self.name, "agent": self.agent}
        calls = []
        for part in range(parts):
            ms = self.clock.pass_by(3000)
            usage = {"input_tokens": total - cached - written, "cache_creation_input_tokens": written, "cache_read_input_tokens": cached,
                     "output_tokens": output if part == parts - 1 else r.randrange(20)}
            block = {"type": "tool_use", "id": f"{id}t{part}", "name": "x", "input": {}} if part else {"type": "text", "text": "…"}
            uuid = self.line("assistant", ms, requestId="req" + id, message={"id": id, "role": "assistant", "model": "m",
                                                                             "content": [block], "usage": usage})
            if part:
                calls.append((uuid, f"{id}t{part}"))
        request["end"] = ms
        self.truth.append(request)
        self.last = request
        for uuid, call in r.sample(calls, len(calls)):
            self.at = uuid
            result = self.user([{"type": "tool_result", "tool_use_id": call, "content": "…"}])
        return result if calls else None


def make_claude(r, folder, truth):
    for number in range(6):
        s = ClaudeSession(r, f"s{number}", truth)
        s.clock.ms = r.randrange(3600000)
        places = []
        s.lines.append({"type": "file-history-snapshot", "messageId": "x", "snapshot": {}})
        for turn in range(12):
            start, compacted = None, turn and r.random() < 0.2
            if compacted:
                s.at, before = None, s.at
                s.line("system", s.clock.pass_by(50), subtype="compact_boundary", logicalParentUuid=before)
                s.user("summary", isCompactSummary=True)
            elif places and r.random() < 0.2:  # back to an earlier message
                s.at, s.last, compacted = r.choice(places)
            places.append((s.at, s.last, compacted))
            start = s.user("…")
            while start is not None:
                start = s.answer(start, compacted)
                compacted = False
                if start is not None and r.random() < 0.2:
                    make_claude_agent(r, folder, truth, s)
        with open(f"{folder}/{s.name}.jsonl", "w") as out:
            for line in s.lines:
                print(json.dumps(line, separators=(",", ":")), file=out)
                if r.random() < 0.03:
                    print(json.dumps(line, separators=(",", ":")), file=out)
        if number == 5:
            resume_claude(r, folder, truth, s)


def make_claude_agent(r, folder, truth, up):
    a = ClaudeSession(r, up.name, truth, agent=f"a{len(truth)}", clock=Clock(r))
    a.clock.ms = up.clock.ms
    start = a.user("…")
    for _ in range(3):
        if start is not None:
            start = a.answer(start)
    with open(f"{folder}/{up.name}-agent-{a.agent}.jsonl", "w") as out:
        for line in a.lines:
            print(json.dumps(line, separators=(",", ":")), file=out)


def resume_claude(r, folder, truth, old):
    """Another file: copies under the new session's name, as new lines or the same ones, then the new part."""
    s = ClaudeSession(r, "s9", truth, clock=old.clock)
    same = r.random() < 0.5
    names = {}
    for line in old.lines[1:]:
        copy = dict(line, sessionId="s9")
        if not same:
            names[line["uuid"]] = "copy-" + line["uuid"]
            copy |= {"uuid": names[line["uuid"]], "parentUuid": names.get(line["parentUuid"])}
            if "logicalParentUuid" in line:
                copy["logicalParentUuid"] = names.get(line["logicalParentUuid"])
        s.lines.append(copy)
    s.at, s.last = names.get(old.at, old.at), old.last
    start = s.user("…")
    while start is not None:
        start = s.answer(start)
    with open(f"{folder}/s9.jsonl", "w") as out:
        for line in s.lines:
            print(json.dumps(line, separators=(",", ":")), file=out)


# ---- Codex -------------------------------------------------------------------------------------------------------------


def uuid7(ms, number):
    return "%08x-%04x-7000-8000-%012x" % (ms >> 16, ms & 0xffff, number)


class CodexThread:
    def __init__(self, r, name, truth, clock, parent=None):
        self.r, self.truth, self.clock, self.parent = r, truth, clock, parent
        self.id, self.name = uuid7(clock.ms, len(truth) + 1), name
        self.lines, self.last, self.totals = [], None, [0, 0, 0]
        source = {"subagent": {"thread_spawn": {"parent_thread_id": parent.id, "depth": 1}}} if parent else "cli"
        self.line("session_meta", {"id": self.id, "source": source, "cwd": "/"})

    def line(self, kind, payload, ms=None):
        self.lines.append({"timestamp": stamp(self.clock.ms if ms is None else ms), "type": kind, "payload": payload})

    def event(self, kind, **members):
        self.line("event_msg", {"type": kind} | members)

    def item(self, kind, **members):
        self.line("response_item", {"type": kind} | members)

    def turn(self):
        self.clock.pass_by(9000)
        self.event("task_started", turn_id=uuid7(self.clock.ms, self.r.randrange(1 << 40)))
        self.clock.pass_by(20)
        self.item("message", role="user", content=[])
        start = self.clock.ms
        self.line("turn_context", {"turn_id": self.lines[-2]["payload"]["turn_id"], "model": "m"})
        return start

    def answer(self, start, compacted=False):
        r = self.r
        kept, total, cached = lengths(r, self.last, compacted)
        output, calls = 20 + r.randrange(400), r.randrange(4)
        self.clock.pass_by(3000)
        self.item("reasoning")
        if calls == 0:
            self.clock.pass_by(3000)
            self.item("message", role="assistant", content=[])
        for call in range(calls):
            self.clock.pass_by(900)
            self.item("function_call", name="x", call_id=f"{self.id}{len(self.truth)}{call}")
        end, early = self.clock.ms, calls and r.random() < 0.3
        request = {"start": start, "input": total, "cached": cached, "output": output, "kept": kept,
                   "base": self.last and self.last["key"], "key": len(self.truth), "tools": calls, "session": (self.parent or self).id,
                   "agent": self.parent and self.id}
        if not early:
            end = self.clock.pass_by(200)
            self.count(request)
        request["end"] = end
        self.truth.append(request)
        self.last = request
        for call in range(calls):
            self.clock.pass_by(9000)
            self.item("function_call_output", call_id=f"{self.id}{len(self.truth) - 1}{call}")
        last = self.clock.ms
        if early:
            self.clock.pass_by(5)
            self.count(request)
        if r.random() < 0.3:  # limits only, or the same once more
            self.event("token_count", info=r.choice([None, self.lines_info]))
        return last if calls else None

    def count(self, q):
        for i, n in enumerate((q["input"], q["cached"], q["output"])):
            self.totals[i] += n
        names = ("input_tokens", "cached_input_tokens", "output_tokens")
        self.lines_info = {"total_token_usage": dict(zip(names, self.totals)), "last_token_usage": dict(zip(names, (q["input"], q["cached"], q["output"])))}
        self.event("token_count", info=self.lines_info)

    def write(self, folder):
        with open(f"{folder}/rollout-{self.name}.jsonl", "w") as out:
            for line in self.lines:
                print(json.dumps(line, separators=(",", ":")), file=out)


def make_codex(r, folder, truth):
    for number in range(6):
        clock = Clock(r)
        clock.ms = 1 + r.randrange(3600000)
        t = CodexThread(r, f"{9 - number}", truth, clock)
        for turn in range(10):
            start, compacted = t.turn(), False
            if turn and r.random() < 0.2:
                t.line("compacted", {"message": "…"})
                compacted = True
            elif turn and r.random() < 0.1:
                t.event("thread_rolled_back", num_turns=1)
                compacted = True
            while start is not None:
                start = t.answer(start, compacted)
                compacted = False
                if start is not None and r.random() < 0.2:
                    make_codex_agent(r, folder, truth, t)
        t.write(folder)


def make_codex_agent(r, folder, truth, up):
    clock = Clock(r)
    clock.ms = up.clock.ms
    a = CodexThread(r, f"{up.name}-{len(truth)}", truth, clock, parent=up)
    if r.random() < 0.5:  # it begins with the lines of its agent
        a.lines += [dict(line, timestamp=stamp(clock.ms)) for line in up.lines]
        a.last, a.totals = up.last, list(up.totals)
    start = a.turn()
    for _ in range(3):
        if start is not None:
            start = a.answer(start)
    a.write(folder)


# ---- a trace -----------------------------------------------------------------------------------------------------------


def pieces(row):
    return list(zip(row["blocks"]["ids"], row["blocks"]["tokens"] if isinstance(row["blocks"]["tokens"], list) else
                    [row["blocks"]["tokens"]] * len(row["blocks"]["ids"])))


def common(a, b):
    tokens = 0
    for (x, n), (y, m) in zip(a, b):
        if x != y:
            break
        tokens += min(n, m)
        if n != m:
            break
    return tokens


def check(folder, path):
    truth = json.load(open(f"{folder}/truth.json"))
    rows = [row for row in map(json.loads, open(path)) if "id" in row]
    origin = min(q["start"] for q in truth)
    by_time = {}
    for row in rows:
        key = (row["at_ns"] / 1e6, row["tags"].get("agent", "").split("/")[-1] or None, row["session"])
        by_time.setdefault(key, []).append(row)
    found, wrong = {}, []
    for q in truth:
        same = by_time.get((q["start"] - origin, q["agent"], q["session"]), [])
        same = [row for row in same if (row["input_tokens"], row["output_tokens"]) == (q["input"], q["output"])]
        if len(same) != 1:
            wrong.append(("not there", q["key"]))
            continue
        found[q["key"]] = row = same[0]
        if (row["tags"]["cached_tokens"], row["tags"].get("tool_calls", 0)) != (q["cached"], q["tools"]):
            wrong.append(("tags", q["key"]))
        if sum(n for _, n in pieces(row)) != q["input"]:
            wrong.append(("length", q["key"]))
    for q in truth:
        if q["key"] in found and q["base"] in found and common(pieces(found[q["key"]]), pieces(found[q["base"]])) != q["kept"]:
            wrong.append(("kept", q["key"], q["kept"]))
    ends = {found[q["key"]]["id"]: q["end"] for q in truth if q["key"] in found}
    for q in truth:  # its parent ended last before it began
        row = found.get(q["key"], {})
        if row.get("parents"):
            last = max(ends[p] for p in row["parents"])
            if abs(last + row.get("wait_ns", 0) / 1e6 - q["start"]) > 1e-6:
                wrong.append(("wait", q["key"]))
    shorter = sum(1 for q in truth if q["base"] is not None and q["input"] < truth[q["base"]]["input"])
    print(len(rows) - len(truth), wrong[:5], "shorter" if shorter > 5 else "")


def main():
    if sys.argv[1] == "check":
        check(sys.argv[2], sys.argv[3])
        return
    r, folder, truth = random.Random(int(sys.argv[3])), sys.argv[4], []
    os.makedirs(folder, exist_ok=True)
    {"claude-code": make_claude, "codex": make_codex}[sys.argv[2]](r, folder, truth)
    json.dump(truth, open(f"{folder}/truth.json", "w"))


main()
