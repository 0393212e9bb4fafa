"""Compares the output of ipf-prep anonymize with its input, by other means.

    anonymous_trace.py same TRACE OUTPUT FILLED BLOCK PREP TOKENIZER
        TRACE: the input as a trace of ipf-prep; OUTPUT: its anonymous form, a line for each request in the same order; FILLED: OUTPUT as
        ipf-prep mooncake fills it. Lengths, arrivals and sessions are the same in all three, and two prompts have the same hash for a
        block exactly if they begin alike up to its end, in tokens. TOKENIZER "approx": a token for 4 bytes.
    anonymous_trace.py leaks OUTPUT FILE…
        No text of any JSON file is in OUTPUT: no 8 bytes of it; of digits alone, of which hashes and lengths consist, no 14.
    anonymous_trace.py groups OUTPUT K
        At least K requests have the model, the hour and the lengths of each request.

Prints each fault, a line each; then, if anything was compared, "ok" and its kind."""
import hashlib
import json
import subprocess
import sys
from collections import Counter

wrong = 0


def complain(text):
    global wrong
    wrong += 1
    if wrong <= 10:
        print(text)


def plain(path):
    with open(path, "rb") as f:
        data = f.read()
    if data[:4] == b"\x28\xb5\x2f\xfd":
        return subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True).stdout
    if data[:2] == b"\x1f\x8b":
        return subprocess.run(["gzip", "-dc", path], check=True, capture_output=True).stdout
    return data


def lines(path):
    return [json.loads(line) for line in plain(path).splitlines() if line.strip()]


def requests_of(path):
    return [r for r in lines(path) if "ipf" not in r and "end" not in r]


# ---- prompts as tokens ----

def content_of(content):
    """The text, and all else making prompts differ."""
    if content is None:
        return "", []
    if isinstance(content, str):
        return content, []
    texts = [p if isinstance(p, str) else p.get("text") for p in content]
    rest = [json.dumps(p) for p, text in zip(content, texts) if not isinstance(text, str)]
    return "".join(t for t in texts if isinstance(t, str)), rest


class Texts:
    """Texts to token ids, all at once."""

    def __init__(self, prep, tokenizer):
        self.prep, self.tokenizer, self.texts = prep, tokenizer, {}

    def want(self, text):
        self.texts[text] = None

    def encode(self):
        if self.tokenizer == "approx":
            for text in self.texts:
                data = text.encode()
                self.texts[text] = [data[i:i + 4] for i in range(0, len(data), 4)]
            return
        texts = list(self.texts)
        out = subprocess.run([self.prep, "tokenize", "-t", self.tokenizer, "--json"], check=True, capture_output=True,
                             input="".join(json.dumps(t) + "\n" for t in texts).encode()).stdout
        for text, ids in zip(texts, out.splitlines()):
            self.texts[text] = json.loads(ids)


def pieces_of(requests):
    """For each request its whole prompt: marks (bytes) and texts, those of earlier turns first."""
    sessions, prompts = {}, []
    for r in requests:
        pieces = [json.dumps(r.get("tools")).encode()]
        if r.get("context") == "session" and r["turn"] > 0:
            pieces = list(sessions[r["session"]])
        for m in r["messages"]:
            text, rest = content_of(m.get("content"))
            more = {k: v for k, v in m.items() if k not in ("role", "content")}
            pieces += [b"role " + m["role"].encode(), json.dumps([more, rest]).encode(), text]
        prompts.append(list(pieces))
        if r.get("context") == "session":
            answer = r.get("answer")
            pieces += [b"role assistant", json.dumps([{}, []]).encode(), answer if answer is not None else b"of " + r["id"].encode()]
            sessions[r["session"]] = pieces
    return prompts


def block_keys(pieces, texts, length, block):
    """A key for each block, of all coming before its end."""
    running, count, keys = hashlib.sha256(), 0, []
    for piece in pieces:
        if isinstance(piece, bytes):
            running.update(b"\0mark" + piece + b"\0")
            continue
        for token in texts.texts[piece]:
            running.update(repr(token).encode() + b" ")
            count += 1
            if count % block == 0:
                keys.append(running.hexdigest())
    if length % block:
        keys.append(running.hexdigest() + " %d" % length)
    return keys, count


# ---- the three ----

def check_hashes(what, requests, anonymous, block, texts):
    """Are equal keys equal hashes, and different keys different ones?"""
    prompts = pieces_of(requests)
    for pieces in prompts:
        for piece in pieces:
            if isinstance(piece, str):
                texts.want(piece)
    texts.encode()
    hash_of, key_of, shared = {}, {}, 0
    for n, (r, a, pieces) in enumerate(zip(requests, anonymous, prompts)):
        keys, count = block_keys(pieces, texts, r["input_tokens"], block)
        if count != r["input_tokens"]:
            complain("%s: request %d: %d tokens, counted %d" % (what, n, r["input_tokens"], count))
            continue
        ids = a["hash_ids"]
        if len(keys) != len(ids):
            complain("%s: request %d: %d blocks, %d hashes" % (what, n, len(keys), len(ids)))
        for i, (key, number) in enumerate(zip(keys, ids)):
            # Text is filled in by blocks: where one is cut, a shorter one begins like it.
            if what == "filled" and (i + 1) * block > r["input_tokens"]:
                continue
            shared += key in hash_of
            if hash_of.setdefault(key, number) != number or key_of.setdefault(number, key) != key:
                complain("%s: request %d, block %d: its hash is not that of the tokens" % (what, n, i))
    return len(hash_of), shared


def check_sessions(what, requests, anonymous, keep):
    forth, back = {}, {}
    for n, (r, a) in enumerate(zip(requests, anonymous)):
        ours, theirs = r.get("session"), a.get("session_id")
        if (ours is None) != (theirs is None):
            complain("%s: request %d: session %s, %s" % (what, n, ours, theirs))
        if forth.setdefault(ours, theirs) != theirs or back.setdefault(theirs, ours) != ours:
            complain("%s: request %d: session %s is not always %s" % (what, n, ours, theirs))
        if ours is not None and not keep and ours == theirs:
            complain("%s: request %d: session %s is not keyed" % (what, n, ours))
    return len(forth)


def same(trace, output, filled, block, prep, tokenizer):
    requests, anonymous = requests_of(trace), lines(output)
    full = {int(r["id"]): r for r in requests_of(filled)}
    first = min([r["at_ns"] for r in requests if "at_ns" in r], default=0)
    if len(requests) != len(anonymous) or len(full) != len(requests):
        complain("%d requests, %d anonymous ones, %d filled" % (len(requests), len(anonymous), len(full)))
        return
    again = [full[n + min(full)] for n in range(len(anonymous))]
    for n, (r, a, f) in enumerate(zip(requests, anonymous, again)):
        known = set(a) - {"timestamp", "input_length", "output_length", "hash_ids", "session_id", "delay", "model", "block_size"}
        if known:
            complain("request %d: unexpected members %s" % (n, known))
        if not r["input_tokens"] == a["input_length"] == f["input_tokens"]:
            complain("request %d: input %d, %d, %d" % (n, r["input_tokens"], a["input_length"], f["input_tokens"]))
        if not r["output_tokens"] == a["output_length"] == f["output_tokens"]:
            complain("request %d: output %d, %d, %d" % (n, r["output_tokens"], a["output_length"], f["output_tokens"]))
        if "at_ns" in r and not r["at_ns"] - first == round(a["timestamp"] * 1000000) == f["at_ns"]:
            complain("request %d: arrival %d, %s, %d" % (n, r["at_ns"] - first, a["timestamp"], f["at_ns"]))
        if r.get("wait_ns") is not None and not r["wait_ns"] == round(a["delay"] * 1000000) == f["wait_ns"]:
            complain("request %d: wait %s, %s, %s" % (n, r["wait_ns"], a["delay"], f.get("wait_ns")))
        if a.get("block_size", 512) != block or not all(isinstance(i, int) and 0 <= i < 2**63 for i in a["hash_ids"]):
            complain("request %d: blocks" % n)
    sessions = check_sessions("input", requests, anonymous, False)
    check_sessions("filled", again, anonymous, True)
    texts = Texts(prep, tokenizer)
    blocks, shared = check_hashes("input", requests, anonymous, block, texts)
    check_hashes("filled", again, anonymous, block, texts)
    if not wrong:
        print("ok: %d requests, %d sessions, %d blocks, %d of them again" % (len(requests), sessions, blocks, shared))


# ---- leaks ----

DIGITS = set(b"0123456789., ")
MEMBERS = ["timestamp", "input_length", "output_length", "hash_ids", "session_id", "delay", "model", "block_size"]


def grams(data):
    for i in range(len(data) - 7):
        if not DIGITS.issuperset(data[i:i + 8]):
            yield data[i:i + 8]
        elif DIGITS.issuperset(data[i:i + 14]) and i + 14 <= len(data):
            yield data[i:i + 14]


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for v in value:
            yield from strings(v)
    elif isinstance(value, dict):
        for k, v in value.items():
            yield k
            yield from strings(v)


def leaks(output, files):
    text = plain(output)
    for member in MEMBERS:
        text = text.replace(b'"%s": ' % member.encode(), b"\n")
    present = set(g for line in text.split(b"\n") for g in grams(line))
    seen = set()
    for file in files:
        data = plain(file)
        try:
            values = [json.loads(data)]
        except ValueError:
            values = [json.loads(line) for line in data.splitlines() if line.strip()]
        for value in values:
            for s in strings(value):
                seen.update(grams(s.encode("utf-8", "replace")))
    for g in sorted(present & seen):
        complain("in the output: %r" % g)
    if not seen:
        complain("nothing to look for")
    if not wrong:
        print("ok: none of %d" % len(seen) if len(seen) < 100 else "ok: none of many")


def groups(output, k):
    def key(r):
        return (r.get("model"), int(r["timestamp"] // 3600000), r["input_length"], r["output_length"])
    counts = Counter(key(r) for r in lines(output))
    for group, count in counts.items():
        if count < k:
            complain("%s: %d" % (group, count))
    if not wrong:
        print("ok: %d groups" % len(counts) if counts else "nothing")


if sys.argv[1] == "same":
    same(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]), sys.argv[6], sys.argv[7])
elif sys.argv[1] == "leaks":
    leaks(sys.argv[2], sys.argv[3:])
else:
    groups(sys.argv[2], int(sys.argv[3]))
if wrong:
    print("%d wrong" % wrong)
