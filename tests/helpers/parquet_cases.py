#!/usr/bin/env python3
"""Parquet files that no library writes any more, or that are malformed, each with its expected message.

    parquet_cases.py FOLDER    writes FOLDER/NAME.parquet and FOLDER/NAME.expected for each case

NAME.expected is the rows as JSON Lines, or a line "error: TEXT" after the rows that are good, TEXT being a part of the message.
Written from github.com/apache/parquet-format alone: parquet.thrift, Encodings.md, LogicalTypes.md, and thrift-compact-protocol.md.
"""
import json
import struct
import sys

BOOLEAN, INT32, INT64, INT96, FLOAT, DOUBLE, BYTES, FIXED = range(8)
REQUIRED, OPTIONAL, REPEATED = range(3)
PLAIN, PLAIN_DICTIONARY, RLE, BIT_PACKED, DELTA, DELTA_LENGTH, DELTA_BYTES, DICTIONARY, SPLIT = 0, 2, 3, 4, 5, 6, 7, 8, 9
UTF8, MAP, MAP_KEY_VALUE, LIST = range(4)


# ---- Thrift's compact protocol --------------------------------------------------------------------------------------

def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n >= 128:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def zigzag(n):
    return varint(n << 1 ^ n >> 63)


def encode(value):
    """The type and the bytes of a value: dict {id: value} is a struct."""
    if isinstance(value, bool):
        return (1 if value else 2), b""
    if isinstance(value, int):
        return 6, zigzag(value)
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return 8, varint(len(value)) + value
    if isinstance(value, list):
        parts = [encode(v) for v in value]
        kind = parts[0][0] if parts else 12
        head = bytes([len(value) << 4 | kind]) if len(value) < 15 else bytes([0xF0 | kind]) + varint(len(value))
        return 9, head + b"".join(p[1] if p[0] > 2 else bytes([p[0]]) for p in parts)  # a bool is a byte in a list
    out, last = b"", 0
    for key in sorted(k for k in value if value[k] is not None):
        kind, data = encode(value[key])
        out += bytes([key - last << 4 | kind]) if 0 < key - last < 16 else bytes([kind]) + zigzag(key)
        out, last = out + data, key
    return 12, out + b"\0"


# ---- pages and files ------------------------------------------------------------------------------------------------

def bits(values, width):
    """Packed, least significant bit first, in whole groups of eight."""
    values = values + [0] * (-len(values) % 8)
    number = sum(v << i * width for i, v in enumerate(values))
    return number.to_bytes(len(values) * width // 8, "little")


def runs(values, width):
    """The hybrid encoding, as one packed run."""
    return varint((len(values) + 7) // 8 << 1 | 1) + bits(values, width)


def levels(values, width):
    data = runs(values, width)
    return struct.pack("<I", len(data)) + data


def text(*values):
    return b"".join(struct.pack("<I", len(v.encode())) + v.encode() for v in values)


def ints(*values):
    return struct.pack("<%di" % len(values), *values)


def page(count, body, encoding=PLAIN, level_encoding=RLE, size=None, packed=None, **more):
    """A data page of the first version. `packed` is its body as compressed."""
    head = {1: 0, 2: len(body) if size is None else size, 3: len(body if packed is None else packed),
            5: {1: count, 2: encoding, 3: level_encoding, 4: level_encoding}}
    head.update({int(k[1:]): v for k, v in more.items()})
    return encode(head)[1] + (body if packed is None else packed)


def page2(count, rep, defs, body, encoding=PLAIN, rep_len=None, def_len=None):
    return encode({1: 3, 2: len(rep + defs + body), 3: len(rep + defs + body),
                   8: {1: count, 2: 0, 3: count, 4: encoding, 5: len(defs) if def_len is None else def_len,
                       6: len(rep) if rep_len is None else rep_len, 7: False}})[1] + rep + defs + body


def dictionary(count, body, encoding=PLAIN, size=None):
    return encode({1: 2, 2: len(body) if size is None else size, 3: len(body), 7: {1: count, 2: encoding}})[1] + body


def field(name, kind=None, repetition=REQUIRED, children=None, note=None, **more):
    return {**{1: kind, 3: repetition, 4: name, 5: children, 6: note}, **{int(k[1:]): v for k, v in more.items()}}


def column(kind, values, *pages, codec=0, chunk=None, **meta):
    return {"kind": kind, "values": values, "data": b"".join(pages), "codec": codec, "chunk": chunk or {},
            "meta": {int(k[1:]): v for k, v in meta.items()}}


def file(fields, *groups, root_children=None, tail=b"PAR1"):
    """The fields are below the root; a group is (rows, column…)."""
    out, described = b"PAR1", []
    for rows, *columns in groups:
        chunks = []
        for c in columns:
            meta = {1: c["kind"], 2: [PLAIN], 3: ["x"], 4: c["codec"], 5: c["values"], 6: len(c["data"]), 7: len(c["data"]),
                    9: len(out)}
            meta.update(c["meta"])
            chunks.append({2: 0, 3: meta, **c["chunk"]})
            out += c["data"]
        described.append({1: chunks, 2: 0, 3: rows})
    top = sum(1 for _ in fields)
    root = {4: "schema", 5: root_children if root_children is not None else count_top(fields) or top}
    footer = encode({1: 1, 2: [root] + fields, 3: sum(g[0] for g in groups), 4: described})[1]
    return out + footer + struct.pack("<I", len(footer)) + tail


def count_top(fields):
    """How many of the elements are directly below the root."""
    at = count = 0

    def skip(i):
        for _ in range(fields[i].get(5) or 0):
            skip_to[0] += 1
            if skip_to[0] < len(fields):
                skip(skip_to[0])

    skip_to = [0]
    while at < len(fields) and len(fields) < 60:
        skip_to[0] = at
        skip(at)
        at, count = skip_to[0] + 1, count + 1
    return count


# ---- cases ----------------------------------------------------------------------------------------------------------

CASES = {}


def rows(name, data, *expected, error=None):
    CASES[name] = data, [json.dumps(e, ensure_ascii=False, separators=(",", ":")) for e in expected], error


def wrong(name, data, error):
    rows(name, data, error=error)


one_int = [field("n", INT32)]
names = [field("name", BYTES, note=UTF8)]
optional = [field("n", INT32, OPTIONAL)]
nested = levels([0, 1, 0, 0], 1) + levels([2, 2, 0, 1], 2)

# Lists in the older forms: rules 1 to 5 of LogicalTypes.md.
rows("rule-1", file([field("l", children=1, repetition=OPTIONAL, note=LIST), field("e", INT32, REPEATED)],
                    (3, column(INT32, 4, page(4, nested + ints(1, 2))))), {"l": [1, 2]}, {"l": None}, {"l": []})
rows("rule-2", file([field("l", children=1, repetition=OPTIONAL, note=LIST), field("e", children=2, repetition=REPEATED),
                     field("a", INT32), field("b", INT32)],
                    (3, column(INT32, 4, page(4, nested + ints(1, 2))), column(INT32, 4, page(4, nested + ints(3, 4))))),
     {"l": [{"a": 1, "b": 3}, {"a": 2, "b": 4}]}, {"l": None}, {"l": []})
rows("rule-3", file([field("l", children=1, repetition=OPTIONAL, note=LIST), field("array", children=1, repetition=REPEATED, note=LIST),
                     field("array", INT32, REPEATED)],
                    (2, column(INT32, 4, page(4, levels([0, 2, 1, 0], 2) + levels([3, 3, 2, 0], 2) + ints(1, 2))))),
     {"l": [[1, 2], []]}, {"l": None})
for i, group in enumerate(["array", "l_tuple"]):
    rows("rule-4-%d" % i, file([field("l", children=1, repetition=OPTIONAL, note=LIST),
                                field(group, children=1, repetition=REPEATED), field("s", BYTES, note=UTF8)],
                               (3, column(BYTES, 4, page(4, nested + text("x", "y"))))),
         {"l": [{"s": "x"}, {"s": "y"}]}, {"l": None}, {"l": []})
rows("rule-5", file([field("l", children=1, repetition=OPTIONAL, note=LIST), field("element", children=1, repetition=REPEATED),
                     field("s", BYTES, OPTIONAL, note=UTF8)],
                    (2, column(BYTES, 3, page(3, levels([0, 1, 0], 1) + levels([3, 2, 0], 2) + text("x"))))),
     {"l": ["x", None]}, {"l": None})
rows("bare-repeated", file([field("n", INT32, REPEATED), field("g", children=1, repetition=REPEATED), field("s", BYTES, note=UTF8)],
                           (2, column(INT32, 3, page(3, levels([0, 1, 0], 1) + levels([1, 1, 0], 1) + ints(1, 2))),
                            column(BYTES, 2, page(2, levels([0, 0], 1) + levels([0, 1], 1) + text("x"))))),
     {"n": [1, 2], "g": []}, {"n": [], "g": [{"s": "x"}]})
rows("map-key-value", file([field("m", children=1, note=MAP_KEY_VALUE), field("map", children=2, repetition=REPEATED),
                            field("k", INT32), field("v", BYTES, OPTIONAL, note=UTF8)],
                           (2, column(INT32, 3, page(3, levels([0, 1, 0], 1) + levels([1, 1, 0], 1) + ints(7, -8))),
                            column(BYTES, 3, page(3, levels([0, 1, 0], 1) + levels([2, 1, 0], 2) + text("x"))))),
     {"m": {"7": "x", "-8": None}}, {"m": {}})
rows("map-of-keys", file([field("m", children=1, note=MAP), field("map", children=1, repetition=REPEATED), field("k", BYTES, note=UTF8)],
                         (1, column(BYTES, 1, page(1, levels([0], 1) + levels([1], 1) + text("x"))))), {"m": {"x": None}})
# Levels in the older encoding, most significant bit first: 1, 0, 1.
rows("bit-packed-levels", file(optional, (3, column(INT32, 3, page(3, b"\xa0" + ints(1, 2), level_encoding=BIT_PACKED)))),
     {"n": 1}, {"n": None}, {"n": 2})
# The dictionary before data whose offset is the only one; its entries in the older encoding; indexes of no bits.
rows("old-dictionary", file(names, (2, column(BYTES, 2, dictionary(1, text("é\n"), PLAIN_DICTIONARY),
                                              page(2, b"\0", PLAIN_DICTIONARY)))), {"name": "é\n"}, {"name": "é\n"})
rows("index-page", file(one_int, (1, column(INT32, 1, encode({1: 1, 2: 3, 3: 3, 6: {}})[1] + b"abc", page(1, ints(5))))), {"n": 5})
rows("unknown-fields", file([field("n", INT32, _11={1: [1, 2], 2: True, 3: "x", 4: {9: [False]}}, _99=[{1: 2}] * 20)],
                            (1, column(INT32, 1, page(1, ints(5))))), {"n": 5})
rows("run-of-nulls", file(optional, (700, column(INT32, 700, page(700, struct.pack("<I", 3) + varint(700 << 1) + b"\0")))),
     *[{"n": None}] * 700)
rows("two-groups", file(one_int, (2, column(INT32, 2, page(1, ints(1)), page(1, ints(2)))), (0, column(INT32, 0, _9=0)),
                        (1, column(INT32, 1, page(1, ints(3))))), {"n": 1}, {"n": 2}, {"n": 3})
rows("json", file([field("j", BYTES, note=19)],
                  (3, column(BYTES, 3, page(3, text('{"a":\n[1]}', '1},{"x":2', "3"))))), {"j": {"a": [1]}}, {"j": '1},{"x":2'}, {"j": 3})
CASES["json"] = CASES["json"][0], ['{"j":{"a": [1]}}'] + CASES["json"][1][1:], None
rows("boolean-runs", file([field("b", BOOLEAN)], (3, column(BOOLEAN, 3, page(3, levels([1, 0, 1], 1), RLE)))),
     {"b": True}, {"b": False}, {"b": True})
rows("version-2", file(optional, (3, column(INT32, 3, page2(3, b"", runs([1, 0, 1], 1), ints(1, 2))))),
     {"n": 1}, {"n": None}, {"n": 2})

# ---- the file and its footer
good = file(one_int, (1, column(INT32, 1, page(1, ints(5)))))
wrong("cut", good[:-5], "does not end with PAR1")
wrong("cut-early", good[:9], "the Parquet file is cut: it has 9 bytes")
wrong("encrypted", good[:-4] + b"PARE", "the Parquet file is encrypted, which is not supported")
wrong("long-footer", good[:-8] + struct.pack("<I", 1 << 31) + b"PAR1", "has 2147483648 bytes, more than the file")
wrong("cut-footer", good[:-8] + struct.pack("<I", 4) + b"PAR1", "has no schema")
wrong("bad-footer", b"PAR1\x15" + b"\xff" * 40 + struct.pack("<I", 40) + b"PAR1", "the footer of the Parquet file is malformed")
wrong("many-elements", b"PAR1\x15" + (b"\x29\xfc" + varint(1 << 40) + b"\0" * 60) + struct.pack("<I", 68) + b"PAR1",
      "the footer of the Parquet file is malformed (its end is missing)")
# ---- the schema
wrong("no-column", file([], root_children=0), "there is no column")
wrong("missing-children", file(one_int, root_children=3), "more members than there are elements")
wrong("negative-children", file([field("n", INT32, children=-1)], root_children=1), "is not possible")
wrong("left-over", file(one_int * 3, root_children=2), "there are elements behind the last column")
wrong("endless-depth", file([field("g", children=1) for _ in range(100)] + one_int, root_children=1), "it is nested too deep")
wrong("endless-lists", file([field("g", children=1, repetition=REPEATED, note=LIST) for _ in range(100)] + one_int, root_children=1),
      "it is nested too deep")
wrong("no-type", file([field("n", 9)], root_children=1), "it is a column without a known type")
wrong("no-length", file([field("n", FIXED)], root_children=1), "its values have no possible length")
wrong("map-of-structs", file([field("m", children=1, note=MAP), field("map", children=2, repetition=REPEATED), field("k", children=1),
                              field("a", INT32), field("v", INT32)], root_children=1), "keys are not single values")
# ---- where columns are
for key, value, message in [
        (9, 1 << 40, "outside of the file"), (9, 0, "outside of the file"), (7, 1 << 40, "outside of the file"), (5, -1, "outside of the file"),
        (1, INT64, "not the schema's"), (4, 1, "cannot decompress (Snappy) to 4 bytes"), (4, 7, "compression LZ4_RAW is not supported"),
        (4, 3, "compression LZO is not supported"), (4, 4, "compression Brotli is not supported"), (4, 77, "no known kind (77)"),
        (4, 6, "cannot decompress (Zstandard)"), (4, 2, "cannot decompress (GZIP)")]:
    wrong("chunk-%d-%d" % (key, value), file(one_int, (1, column(INT32, 1, page(1, ints(5)), **{"_%d" % key: value}))), message)
wrong("encrypted-column", file(one_int, (1, column(INT32, 1, page(1, ints(5)), chunk={8: {1: {}}}))),
      "column n, row group 1: it is encrypted")
wrong("elsewhere", file(one_int, (1, column(INT32, 1, page(1, ints(5)), chunk={1: "other.parquet"}))), "it is in another file")
wrong("no-columns", file(one_int, (1,)), "row group 1 of the Parquet file has 0 columns instead of 1")
# ---- pages
wrong("fewer-pages", file(one_int, (9, column(INT32, 9, page(1, ints(5))))), None)
rows("fewer-values", file(one_int, (9, column(INT32, 1, page(1, ints(5))))), {"n": 5},
     error="column n, row group 1, page 1: it has fewer values than rows")
rows("more-values", file(one_int, (1, column(INT32, 2, page(2, ints(5, 6))))), {"n": 5},
     error="column n, row group 1, page 1: it has more values than rows")
CASES["fewer-pages"] = CASES["fewer-pages"][0], ['{"n":5}'], "column n, row group 1, page 2: the pages end before the last 8 values"
rows("second-group", file(one_int, (1, column(INT32, 1, page(1, ints(5)))), (1, column(INT32, 1, page(1, b"")))), {"n": 5},
     error="column n, row group 2, page 1: it has fewer values than its levels say")
prompts = [field("prompt", BYTES, note=UTF8)]
rows("good-then-bad", file(prompts, (2, column(BYTES, 2, page(2, text("One?", "Two?")))), (1, column(BYTES, 1, page(2, text("Three?", "Four?"))))),
     {"prompt": "One?"}, {"prompt": "Two?"}, error="column prompt, row group 2, page 1: the page has 2 values, and 1 are left")
wrong("too-many-values", file(one_int, (1, column(INT32, 1, page(2, ints(5, 6))))), "the page has 2 values, and 1 are left")
wrong("huge-page", file(one_int, (1, column(INT32, 1, page(1, ints(5), _3=1 << 31)))), "the page has 2147483648 bytes, and 4 are left")
wrong("bomb", file(one_int, (1, column(INT32, 1, page(1, ints(5), size=(1 << 31) - 1), codec=1))), "at most 512 MiB are read")
wrong("negative-size", file(one_int, (1, column(INT32, 1, page(1, ints(5), size=-1)))), "at most 512 MiB are read")
wrong("other-size", file(one_int, (1, column(INT32, 1, page(1, ints(5), size=5)))), "has 4 bytes, not 5")
wrong("bad-header", file(one_int, (1, column(INT32, 1, b"\xff" * 50))), "the header of the page is malformed")
wrong("endless-header", file(one_int, (1, column(INT32, 1, b"\x18" + varint(1 << 30) + bytes(2000)))), "the header of the page is malformed")
wrong("cut-values", file(one_int, (1, column(INT32, 1, page(1, b"abc")))), "it has fewer values than its levels say")
wrong("cut-text", file(names, (1, column(BYTES, 1, page(1, struct.pack("<I", 1 << 31) + b"abc")))), "fewer values than its levels say")
wrong("unknown-encoding", file(one_int, (1, column(INT32, 1, page(1, ints(5), 10)))), "the encoding ALP of its values is not supported")
wrong("other-encoding", file(one_int, (1, column(INT32, 1, page(1, ints(5), DELTA_BYTES)))), "the encoding DELTA_BYTE_ARRAY of its values")
# ---- levels
wrong("high-level", file([field("l", children=1, repetition=OPTIONAL, note=LIST), field("e", INT32, REPEATED)],
                         (1, column(INT32, 1, page(1, levels([0], 1) + levels([3], 2) + ints(1))))), "a level is 3, and the highest possible is 2")
wrong("first-repeats", file([field("n", INT32, REPEATED)], (1, column(INT32, 1, page(1, levels([1], 1) + levels([1], 1) + ints(1))))),
      "its levels do not fit")
wrong("few-levels", file(optional, (9, column(INT32, 9, page(9, struct.pack("<I", 2) + varint(1 << 1) + b"\1" + ints(1))))),
      "the page has fewer levels than values")
wrong("long-levels", file(optional, (1, column(INT32, 1, page(1, struct.pack("<I", 1 << 30) + b"\2\1" + ints(1))))),
      "the levels of the page are malformed")
wrong("level-encoding", file(optional, (1, column(INT32, 1, page(1, levels([1], 1) + ints(1), level_encoding=PLAIN)))),
      "the levels of the page are malformed")
wrong("long-levels-2", file(optional, (1, column(INT32, 1, page2(1, b"", runs([1], 1), ints(1), def_len=1 << 30)))), "levels of the page are malformed")
wrong("negative-levels-2", file(optional, (1, column(INT32, 1, page2(1, b"", runs([1], 1), ints(1), rep_len=-1)))), "levels of the page are malformed")
pair = [field("l", children=1, note=LIST), field("e", children=2, repetition=REPEATED), field("a", INT32), field("b", INT32)]
wrong("lists-differ", file(pair, (1, column(INT32, 2, page(2, levels([0, 1], 1) + levels([1, 1], 1) + ints(1, 2))),
                                  column(INT32, 1, page(1, levels([0], 1) + levels([1], 1) + ints(3))))), "column l.e.b, row group 1, page 1: it has fewer")
group = [field("g", children=2, repetition=OPTIONAL), field("a", INT32), field("b", INT32)]
wrong("structs-differ", file(group, (1, column(INT32, 1, page(1, levels([0], 1))), column(INT32, 1, page(1, levels([1], 1) + ints(3))))),
      "column g.b, row group 1, page 1: its levels do not fit those of other columns")
# A list of a thousand million elements, from ten bytes: its row is too long.
endless = varint(10**9 << 1) + b"\1"
wrong("endless-list", file([field("n", INT32, REPEATED)], (1, column(INT32, 10**9, dictionary(1, ints(1)), page2(
    10**9, varint(1 << 1) + b"\0" + endless, endless, b"\0", DICTIONARY)))), "row 1 has more than 1 MiB as JSON; --max-line")
# ---- dictionaries
index = bytes([2]) + runs([0, 3], 2)
rows("nulls-without-dictionary", file(optional, (2, column(INT32, 2, page(2, levels([0, 0], 1), DICTIONARY)))), {"n": None}, {"n": None})
wrong("no-dictionary", file(names, (2, column(BYTES, 2, page(2, index, DICTIONARY)))), "its values are in a dictionary, and there is none")
wrong("high-index", file(names, (2, column(BYTES, 2, dictionary(2, text("a", "b")), page(2, index, DICTIONARY)))), "a value is number 3 of a dictionary of 2")
wrong("wide-index", file(names, (2, column(BYTES, 2, dictionary(2, text("a", "b")), page(2, b"\x21\x02\x00", DICTIONARY)))), "have 33 bits")
wrong("many-entries", file(names, (2, column(BYTES, 2, dictionary(1 << 40, text("a")), page(2, index, DICTIONARY)))), "cannot have 1099511627776 values")
wrong("two-dictionaries", file(names, (2, column(BYTES, 2, dictionary(1, text("a")), dictionary(1, text("a"))))), "an unexpected dictionary")
wrong("huge-dictionary", file(names, (2, column(BYTES, 2, dictionary(1, text("a"), size=200 << 20), codec=1))), "at most 128 MiB are read")
# ---- differences
head = varint(128) + varint(4)
wrong("delta-head", file(one_int, (1, column(INT32, 1, page(1, varint(100) + varint(3) + varint(1) + zigzag(5), DELTA)))), "or they are malformed")
wrong("delta-width", file(one_int, (2, column(INT32, 2, page(2, head + varint(2) + zigzag(5) + zigzag(0) + b"\x41\0\0\0", DELTA)))), "or they are malformed")
wrong("delta-cut", file(one_int, (2, column(INT32, 2, page(2, head + varint(2) + zigzag(5) + zigzag(0) + b"\x20\0\0\0", DELTA)))), "or they are malformed")
wrong("delta-lengths", file(names, (1, column(BYTES, 1, page(1, head + varint(1) + zigzag(-5), DELTA_LENGTH)))), "or they are malformed")
wrong("delta-prefix", file(names, (1, column(BYTES, 1, page(1, head + varint(1) + zigzag(7) + head + varint(1) + zigzag(1) + b"x", DELTA_BYTES)))),
      "a value repeats 7 bytes of one that has 0")
# Each text is the one before and 4200 bytes: 512 of them are more than is held at once.
growing = head + varint(512) + zigzag(0) + b"".join(zigzag(4200) + b"\0\0\0\0" for _ in range(4))
same = head + varint(512) + zigzag(4200) + b"".join(zigzag(0) + b"\0\0\0\0" for _ in range(4))
wrong("delta-bomb", file(names, (512, column(BYTES, 512, page(512, growing + same + bytes(512 * 4200), DELTA_BYTES)))), "take more than 512 MiB")

wrong("delta-few", file(one_int, (2, column(INT32, 2, page(2, head + varint(1) + zigzag(5), DELTA)))), "fewer values than its levels say")
wrong("delta-prefix-head", file(names, (1, column(BYTES, 1, page(1, b"\xff" * 20, DELTA_BYTES)))), "fewer values than its levels say")
wrong("delta-length-head", file(names, (1, column(BYTES, 1, page(1, head + varint(1) + zigzag(0) + b"\xff" * 20, DELTA_BYTES)))), "fewer values than")
wrong("delta-lengths-few", file(names, (2, column(BYTES, 2, page(2, head + varint(1) + zigzag(1) + b"x", DELTA_LENGTH)))), "fewer values than")
wrong("delta-length-high", file(names, (1, column(BYTES, 1, page(1, head + varint(1) + zigzag(9) + b"x", DELTA_LENGTH)))), "fewer values than")
fixed = [field("f", FIXED, _2=4)]
wrong("delta-fixed", file(fixed, (1, column(FIXED, 1, page(1, head + varint(1) + zigzag(0) + head + varint(1) + zigzag(1) + b"x", DELTA_BYTES)))),
      "a value has 1 bytes instead of 4")
rows("split-fixed", file(fixed, (2, column(FIXED, 2, page(2, b"aebfcgdh", SPLIT)))), {"f": "abcd"}, {"f": "efgh"})
wrong("split-few", file(fixed, (2, column(FIXED, 2, page(2, b"abcd", SPLIT)))), "fewer values than its levels say")
wrong("few-booleans", file([field("b", BOOLEAN)], (9, column(BOOLEAN, 9, page(9, b"\xff")))), "fewer values than its levels say")
wrong("long-booleans", file([field("b", BOOLEAN)], (1, column(BOOLEAN, 1, page(1, struct.pack("<I", 9) + b"\3\1", RLE)))), "fewer values than")
wrong("few-indexes", file(names, (9, column(BYTES, 9, dictionary(2, text("a", "b")), page(9, b"\1\2\1", DICTIONARY)))), "fewer values than")
wrong("dictionary-encoding", file(names, (1, column(BYTES, 1, dictionary(1, text("a"), RLE)))), "the encoding of its dictionary is not supported")
wrong("dictionary-cut", file(names, (1, column(BYTES, 1, dictionary(1, struct.pack("<I", 9) + b"x")))), "fewer values than")
wrong("boolean-dictionary", file([field("b", BOOLEAN)], (1, column(BOOLEAN, 1, dictionary(1, b"\1")))), "an unexpected dictionary")
rows("wide-decimal", file([field("d", BYTES, note=5, _7=2)], (2, column(BYTES, 2, page(2, text("\1" * 17, "\0\1"))))), {"d": None}, {"d": 0.01})
rows("end-of-day", file([field("t", INT32, note=7)], (1, column(INT32, 1, page(1, ints(86400000))))), {"t": "24:00:00"})
wrong("many-columns", file([field("n", INT32)] * 20001, root_children=20001), "has 20002 elements; at most 20000 are read")
# A list of row groups longer than the bytes behind it could be.
groups = b"\x15\x02\x19\x1c\x48\x01s\x00\x16\x02\x19\xfc" + varint(30) + bytes(40)
wrong("no-groups", b"PAR1" + groups + struct.pack("<I", len(groups)) + b"PAR1", "the footer of the Parquet file is malformed (its end is missing)")

if __name__ == "__main__":
    for case, (content, expected, message) in CASES.items():
        with open("%s/%s.parquet" % (sys.argv[1], case), "wb") as to:
            to.write(content)
        with open("%s/%s.expected" % (sys.argv[1], case), "w") as to:
            to.write("".join(line + "\n" for line in expected) + ("error: %s\n" % message if message else ""))
