"""The expected result of --check-output for each row of results with the texts (--text), by Python's own JSON and, with
a schema, python3-jsonschema.

    python3 output_truth.py RESULTS [SCHEMA]

Prints a line for each differing row, then the counts: "fenced 3, not-json 2, valid 7".
"""
import collections
import json
import re
import sys


def parsed(text):
    def refuse(name):
        raise ValueError(name)
    if text.strip(" \t\r\n") != text.strip():
        raise ValueError("white space")
    return json.loads(text, parse_constant=refuse)


def kind_of(text, validator):
    if not text.strip(" \t\r\n"):
        return "empty"
    try:
        value = parsed(text)
    except ValueError:
        fence = re.fullmatch(r"\s*```[^\n]*\n(.*)```\s*", text, re.DOTALL)
        try:
            parsed(fence[1] if fence else "")
            return "fenced"
        except ValueError:
            return "not-json"
    return "valid" if validator is None or validator.is_valid(value) else "schema"


def main():
    validator = None
    if len(sys.argv) > 2:
        import jsonschema
        with open(sys.argv[2], encoding="utf-8") as file:
            validator = jsonschema.Draft202012Validator(json.load(file))
    counts = collections.Counter()
    with open(sys.argv[1], encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if "n" not in row:
                continue
            checked = row["ok"] and row.get("finish") != "tool_calls"
            expected = kind_of(row.get("text", ""), validator) if checked else "unchecked"
            got = row.get("output_check", "unchecked")
            counts[expected] += 1
            if got != expected or ("output_invalid" in row) != (got not in ("valid", "unchecked")):
                print(f"row {row['n']}: expected {expected}, got {got}: {row.get('text')!r}")
    print(", ".join(f"{kind} {counts[kind]}" for kind in sorted(counts)))


main()
