#!/usr/bin/env python3
"""JSON documents, valid ones and such with a few bytes changed, as our reader, Python's and jq's understand them.

    random_json.py SEED COUNT READERS    READERS: the program of tests/differ/readers.c

Prints each difference that no rule below explains; then how many documents were accepted and refused, and how often jq took other text for
JSON. lib/json/jdoc.h describes our reader: it accepts JSON by RFC 8259, up to a depth of 512; an escaped lone surrogate is U+FFFD. An
integer is a literal without fraction and exponent above -2^63 and below 2^63; a real is finite and shorter than 1 kB.
"""
import json
import math
import random
import re
import subprocess
import sys

DEPTH = 512
NUMBERS = ["0", "-0", "-0.0", "1", "-1", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
           "18446744073709551615", "18446744073709551616", "1e400", "-1e400", "1e-400", "4.9e-324", "2e-324", "1.7976931348623157e308",
           "1.7976931348623159e308", "2.2250738585072011e-308", "0.1", "1E+2", "1e-2", "0e0", "-0e-0", "123456789012345678901234567890",
           "9007199254740993", "0.30000000000000004", "1" + "0" * 400, "0." + "0" * 330 + "1", "1" * 1023, "1" * 1024, "0." + "3" * 1021, "0." + "3" * 1022]
WRONG = ["01", "-", "+1", "1.", ".5", "1e", "1e+", "-01", "0x1", "NaN", "nan", "Infinity", "-Infinity", "1_0", "tru", "True", "nul", "1 2",
         "{", "[", "]", "[1,]", "[,1]", '{"a":1,}', '{"a"}', "{1:1}", "'a'", '"', "", " ", '"\\x"', '"\\u12"', '"\\u00G0"', '"\t"', "\ufeff1", "/**/1"]
TEXTS = ["", "a", '"', "\\", "/", "\b", "\f", "\n", "\r", "\t", "\0", "\x1f", "\x7f", "\u00e9", "\u2028", "\ufeff", "\uffff", "\U0001f600", "\U0010ffff",
         "abcdefgh" * 9]
ESCAPES = ["\\ud800", "\\udc00", "\\ud83d\\ude00", "\\uD83D\\uDE00", "\\ud800\\ud83d\\ude00", "\\udbff\\udfff", "\\ud800\\u0041", "\\/", "\\u0000", "\\u000a",
           "\\ud800x", "\\ud800\\n", "\\ud800\\"]
TOKENS = [b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\\u", b"\\ud800", b"0", b"-", b"e", b".", b"+", b" ", b"\n", b"\x00", b"\x80", b"\xff", b"\xc0\x80",
          b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc3", b"\xe2\x80", b"\xf0\x9f", b"null", b"true", b"NaN", b"'", b"\x0b", b"\xc2\xa0", b"\xef\xbb\xbf", b"/"]


def space(rng):
    return "".join(rng.choice(" \t\r\n") for _ in range(rng.choice([0, 0, 0, 0, 1, 2])))


def text_of(rng):
    parts = []
    for _ in range(rng.choice([0, 1, 1, 2, 5])):
        if rng.random() < 0.2:
            escape = rng.choice(ESCAPES)
            parts.append(escape + ("n" if escape.endswith("\\") else ""))
        else:
            text = rng.choice(TEXTS + [chr(rng.randrange(0xd800)), chr(rng.randrange(0xe000, 0x110000))])
            parts.append(json.dumps(text, ensure_ascii=rng.random() < 0.3)[1:-1])
    return '"' + "".join(parts) + '"'


def number_of(rng):
    way = rng.randrange(4)
    if way == 0:
        return rng.choice(NUMBERS)
    if way == 1:
        return str(rng.choice([-1, 1]) * (2 ** rng.choice([31, 32, 53, 62, 63, 64]) + rng.randrange(-3, 4)))
    if way == 2:
        return repr(rng.uniform(-1, 1) * 10.0 ** rng.randrange(-320, 308))
    digits = "".join(rng.choice("0123456789") for _ in range(rng.randrange(1, 40)))
    return rng.choice(["", "-"]) + (digits.lstrip("0") or "0") + rng.choice(["", "." + digits]) + rng.choice(["", "e%d" % rng.randrange(-400, 400)])


def value_of(rng, depth):
    kind = rng.randrange(4 if depth <= 0 else 7)
    if kind < 2:
        return number_of(rng)
    if kind == 2:
        return text_of(rng)
    if kind == 3:
        return rng.choice(["null", "true", "false"])
    count = rng.choice([0, 1, 2, 4])
    if kind < 6:
        return "[" + ",".join(space(rng) + value_of(rng, depth - 1) + space(rng) for _ in range(count)) + "]"
    keys = [rng.choice(['"a"', '"b"', text_of(rng)]) for _ in range(count)]
    return "{" + ",".join(space(rng) + key + space(rng) + ":" + space(rng) + value_of(rng, depth - 1) for key in keys) + space(rng) + "}"


def deep(rng):
    depth = rng.choice([DEPTH - 1, DEPTH, DEPTH + 1, 3 * DEPTH])
    kind = rng.choice(["[", '{"a":'])
    return kind * depth + "1" + {"[": "]", '{"a":': "}"}[kind] * depth


def document(rng):
    way = rng.random()
    text = deep(rng) if way < 0.01 else rng.choice(WRONG) if way < 0.05 else space(rng) + value_of(rng, rng.randrange(5)) + space(rng)
    data = text.encode()
    if way > 0.95:
        data = b"[" + data + b"," + rng.choice(WRONG).encode() + b"]"
    for _ in range(rng.choice([0, 0, 1, 1, 2, 5])):
        at, token = rng.randrange(len(data) + 1), rng.choice(TOKENS)
        data = data[:at] + rng.choice([token, token, b""]) + data[at + rng.choice([0, 1, 1, len(token)]):]
    return data if rng.random() < 0.97 else data[:rng.randrange(len(data) + 1)]


def number(literal):
    """As readers.c writes one."""
    integer = int(literal) if len(literal) < 25 and re.fullmatch(r"-?\d+", literal) else None
    real = float(literal) if len(literal) < 1024 else math.inf
    return {"number": literal, "integer": integer if integer is not None and -2 ** 63 < integer < 2 ** 63 else None,
            "real": real if math.isfinite(real) else False}


def refuse(constant):
    raise ValueError(constant)


def scalars(text):
    """Python's surrogates are U+FFFD in UTF-8."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text) if isinstance(text, str) else text


def without_surrogates(value):
    if isinstance(value, list):
        return [without_surrogates(element) for element in value]
    if isinstance(value, dict):
        return {key: without_surrogates(element) for key, element in value.items()}
    return scalars(value)


def depth_of(value):
    """Makes nested lists and maps."""
    deepest, todo = 0, [(value, 1)]
    while todo:
        value, depth = todo.pop()
        if isinstance(value, dict):
            value = value.get("members")
        if isinstance(value, list):
            deepest = max(deepest, depth)
            todo += [(element, depth + 1) for element in value]
    return deepest


def python_says(data):
    """{"value": as readers.c writes it} or {"refused": why}."""
    try:
        text = data.decode("utf-8", "strict")
        if text.startswith("\ufeff"):
            raise ValueError("begins with a byte order mark")
        value = json.loads(text, parse_int=number, parse_float=number, parse_constant=refuse,
                           object_pairs_hook=lambda pairs: {"members": [part for pair in pairs for part in pair]})
        if depth_of(value) > DEPTH:
            raise ValueError("too deep")
        return {"value": without_surrogates(value)}
    except (ValueError, RecursionError) as error:
        return {"refused": str(error)}


def ours(documents, readers):
    given = b"".join(b"%d 0 0\n" % len(data) + data for data in documents)
    lines = subprocess.run([readers, "json"], input=given, stdout=subprocess.PIPE, check=True).stdout.decode("utf-8", "strict").split("\n")
    assert len(lines) == len(documents) + 1, "%d answers to %d documents" % (len(lines) - 1, len(documents))
    return [json.loads(line) for line in lines[:-1]]


def jq_says(texts):
    """For each text: [value] or None."""
    given = json.dumps(texts).encode()
    done = subprocess.run(["jq", "-c", ".[] | try [fromjson] catch null"], input=given, stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


JQ_REFUSES = re.compile(r"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])")  # a high surrogate alone, which is JSON


def same_as_jq(value, jq):
    """Ours against jq's: its numbers are doubles, and the last of equal keys counts."""
    if isinstance(value, list):
        return isinstance(jq, list) and len(value) == len(jq) and all(map(same_as_jq, value, jq))
    if not isinstance(value, dict):
        return type(value) is type(jq) and value == jq
    if "number" in value:
        large = value["real"] is False  # jq has the largest double
        return isinstance(jq, (int, float)) and (large or math.isclose(value["real"], jq, rel_tol=1e-15, abs_tol=5e-324))
    members = dict(zip(value["members"][::2], value["members"][1::2]))
    return isinstance(jq, dict) and members.keys() == jq.keys() and all(same_as_jq(members[key], jq[key]) for key in members)


def compare_jq(documents, answers):
    """Differences; and how many texts jq took that are no JSON."""
    of_text, lenient, wrong = [], 0, []
    for data, answer in zip(documents, answers):
        try:
            text = data.decode()
            if text.strip(" \t\r\n") and "\0" not in text and depth_of(answer.get("value")) < 200 and not JQ_REFUSES.search(text):
                of_text.append((text, answer))
        except UnicodeDecodeError:
            pass
    said = jq_says([text for text, _ in of_text])
    assert len(said) == len(of_text), "%d answers to %d texts" % (len(said), len(of_text))
    for (text, answer), jq in zip(of_text, said):
        if "value" not in answer:
            lenient += jq is not None
        elif jq is None or not same_as_jq(answer["value"], jq[0]):
            wrong.append("%r: ours %s, jq %s" % (text, json.dumps(answer), json.dumps(jq)))
    return wrong, lenient


def main():
    sys.setrecursionlimit(20000)
    rng = random.Random(int(sys.argv[1]))
    documents = [document(rng) for _ in range(int(sys.argv[2]))]
    answers = ours(documents, sys.argv[3])
    wrong = []
    for data, answer in zip(documents, answers):
        python = python_says(data)
        if ("value" in python) != ("value" in answer) or "value" in python and python != answer:
            wrong.append("%r: ours %s, Python's %s" % (data, json.dumps(answer), json.dumps(python)))
    more, lenient = compare_jq(documents, answers)
    wrong += more
    for line in wrong:
        print(line[:1500])
    accepted = sum("value" in answer for answer in answers)
    print("%d accepted, %d refused, %d of these not by jq, %d differ" % (accepted, len(answers) - accepted, lenient, len(wrong)))


if __name__ == "__main__":
    main()
