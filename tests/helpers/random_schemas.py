"""Random JSON Schemas and answers: the result of ipf-collect --check-output format for each, beside python3-jsonschema.

    python3 random_schemas.py SEED COUNT        # runs ipf-collect once

The last line: "COUNT pairs, V valid, I invalid, 0 differ", before it a line for each that differs.
"""
import json
import random
import sys

import jsonschema
import schema_pairs

KEYS = ["a", "b", "c", "é/~"]
TEXTS = ["", "a", "ab", "é😀", "abc", "\t"]
NUMBERS = [-2, 0, 1, 1.0, 2.5, 3, 4, 10]
TYPES = ["null", "boolean", "object", "array", "number", "integer", "string"]


def value(r, depth):
    kind = r.randrange(7 if depth else 5)
    if kind == 5:
        return [value(r, depth - 1) for _ in range(r.randrange(4))]
    if kind == 6:
        return {key: value(r, depth - 1) for key in r.sample(KEYS, r.randrange(4))}
    return [None, r.random() < 0.5, r.choice(NUMBERS), r.choice(NUMBERS), r.choice(TEXTS)][kind]


def some(r, depth, least=1):
    return [schema(r, depth - 1) for _ in range(r.randrange(least, 4))]


def named(r, depth):
    return {key: schema(r, depth - 1) for key in r.sample(KEYS, r.randrange(4))}


def names(r):
    return r.sample(KEYS, r.randrange(3))


def keyword(r, depth):
    simple = {
        "type": lambda: r.choice(TYPES) if r.random() < 0.7 else r.sample(TYPES, 3),
        "enum": lambda: [value(r, 2) for _ in range(r.randrange(1, 5))],
        "const": lambda: value(r, 2),
        "multipleOf": lambda: r.choice([1, 2, 0.5, 2.5]),
        "maximum": lambda: r.choice(NUMBERS), "minimum": lambda: r.choice(NUMBERS),
        "exclusiveMaximum": lambda: r.choice(NUMBERS), "exclusiveMinimum": lambda: r.choice(NUMBERS),
        "maxLength": lambda: r.randrange(4), "minLength": lambda: r.randrange(4),
        "pattern": lambda: r.choice(["a", "^a", "b$", "^[ab]*$", "^.$", "é|c", "a{2,}"]),
        "maxItems": lambda: r.randrange(4), "minItems": lambda: r.randrange(3), "uniqueItems": lambda: r.random() < 0.8,
        "maxProperties": lambda: r.randrange(4), "minProperties": lambda: r.randrange(3),
        "required": lambda: names(r), "dependentRequired": lambda: {key: names(r) for key in names(r)},
        "$ref": lambda: r.choice(["#/$defs/a", "#/$defs/b", "#c"]),
    }
    inner = {
        "prefixItems": lambda: some(r, depth), "items": lambda: schema(r, depth - 1),
        "properties": lambda: named(r, depth), "additionalProperties": lambda: schema(r, depth - 1),
        "patternProperties": lambda: {key: schema(r, depth - 1) for key in r.sample(["a", "^b", "c|é"], 2)},
        "propertyNames": lambda: schema(r, depth - 1), "dependentSchemas": lambda: named(r, depth),
        "allOf": lambda: some(r, depth), "anyOf": lambda: some(r, depth), "oneOf": lambda: some(r, depth),
        "not": lambda: schema(r, depth - 1),
    }
    name = r.choice(list(simple) + (list(inner) if depth else []))
    if depth and r.random() < 0.1:
        return {"if": schema(r, depth - 1), "then": schema(r, depth - 1), "else": schema(r, depth - 1)}
    if depth and r.random() < 0.1:
        return {"contains": schema(r, depth - 1), "minContains": r.randrange(3), "maxContains": r.randrange(1, 4)}
    return {name: (simple | inner)[name]()}


def schema(r, depth):
    if r.random() < 0.1:
        return r.random() < 0.7
    made = {}
    for _ in range(r.choice([1, 1, 2, 3])):
        made |= keyword(r, depth)
    return made


def root(r):
    """References lead to leaves, so no schema goes round in a circle."""
    leaf = lambda: {name: one for name, one in keyword(r, 0).items() if name != "$ref"}
    made = schema(r, 3)
    made = made if isinstance(made, dict) else {}
    return made | {"$defs": {"a": leaf(), "b": leaf(), "c": leaf() | {"$anchor": "c"}}}


def main():
    r = random.Random(int(sys.argv[1]))
    pairs = [(root(r), value(r, 3)) for _ in range(int(sys.argv[2]))]
    found = schema_pairs.check(pairs, lambda n: n % 2)
    if isinstance(found, str):
        sys.exit(found)
    valid = differ = 0
    for (one, answer), (got, why) in zip(pairs, found, strict=True):
        expected = jsonschema.Draft202012Validator(one).is_valid(answer)
        valid += expected
        if got != ("valid" if expected else "schema"):
            differ += 1
            print(f"expected {expected}, got {got} ({why}): {json.dumps(one)} of {json.dumps(answer)}")
    print(f"{len(pairs)} pairs, {valid} valid, {len(pairs) - valid} invalid, {differ} differ")


main()
