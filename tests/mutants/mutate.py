#!/usr/bin/env python3
"""Changes one thing in a source at a time, builds, and sees whether a test fails.

    mutate.py TREE [-n N] [--seed S] [FILE…]     `make mutants` calls it, with a copy of the sources that it may change

Of each FILE of files.tsv, N changes (all, with 0) are drawn: a comparison, a condition, a sign or a constant turned into its neighbour, a
call left out. The sizes of arrays and calls that release memory are left alone: sanitizers notice these. A change that does not compile is not
counted. Each that no test notices is printed, and whether equivalent.tsv says
why none can. The last line has the counts; status 1 if more than a tenth survives in a file, besides those that are equivalent.
"""
import argparse
import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CHANGES = [  # what, into what; the first that matches at a place is taken
    (r"<=", "<"), (r">=", ">"), (r"==", "!="), (r"!=", "=="), (r"&&", "||"), (r"\|\|", "&&"),
    (r"(?<![-<>])(?<= )<(?= )", "<="), (r"(?<![-<>])(?<= )>(?= )", ">="),
    (r"(?<= )\+(?= )", "-"), (r"(?<= )-(?= )", "+"), (r"(?<= )\*(?= )", "/"), (r"(?<= )/(?= )", "*"),
    (r"\+=", "-="), (r"-=", "+="), (r"(?<=\()!(?=[a-z])", ""), (r"(?<= )!(?=[a-z])", ""),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    (r"(?<![\w.\"'])\d+(?![\w.\"'])", lambda m: str(int(m.group()) + 1)),
    (r"(?<=[^\w.])\d+\.\d+(?![\w.])", lambda m: str(float(m.group()) * 2 + 1)),
    (r"^\t+(?!free|\w*(?:release|decref|clear|free)\b)[a-z_0-9]+\(.*\);$", lambda m: re.match(r"\t+", m.group()).group() + ";"),
    (r"\bbreak;", ";"), (r"\bcontinue;", ";"),
]
NOT_CODE = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|//.*|/\*.*?\*/')


def places(text):
    """All changes of a source: (line number from 0, begin, end, new text)."""
    in_comment = in_function = False
    for number, line in enumerate(text):
        if line.startswith("{"):
            in_function = True
        elif line.startswith("}"):
            in_function = False
        starts = line.rfind("/*") > line.rfind("*/")
        if in_function and not in_comment and not line.lstrip().startswith(("#", "*", "//")):
            masked = NOT_CODE.sub(lambda m: "\x01" * len(m.group()), line)
            if re.search(r"^\t+(?:const |static )*(?:char|\w+_t|struct \w+) \w+\[\d+\]", masked):
                continue
            for what, into in CHANGES:
                for m in re.finditer(what, masked):
                    if "\x01" in m.group() and m.group() != masked:
                        continue
                    yield number, m.start(), m.end(), into(m) if callable(into) else into
        in_comment = starts or (in_comment and "*/" not in line)


def run(tree, command, seconds):
    try:
        return subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, check=False,
                              env=dict(os.environ, BUILD=os.path.join(tree, ".build"))).returncode
    except subprocess.TimeoutExpired:
        return 124


def build(tree, targets):
    jobs = f"-j{os.cpu_count()}"
    return run(tree, ["make", "-s", jobs, "HARDEN=", "CC=" + os.environ.get("CC", "gcc"), "CFLAGS=-O0 -g0 -w", *targets], 600) == 0


def unit_binaries(tests):
    """The binaries of unit tests: .build/unit/PROGRAM for test_PROGRAM_MODULE."""
    return sorted({".build/unit/" + t.split("/")[1].split("_")[1] for t in tests})


def programs(tests):
    """What command-line tests and replays of fuzz targets run."""
    names = ["prep", "sched", "fire", "collect", "report", "sim"]
    return [f".build/bin/ipf-{n}" for n in names] + [".build/fuzz/" + t.split("_")[1].rstrip("0123456789") for t in tests if t.startswith("fuzz/")]


def noticed(tree, unit, others):
    """Which tests notice the change, or None; "" if it does not compile."""
    if not build(tree, unit_binaries(unit)):
        return ""
    if run(tree, ["env", "LIMIT=60", "tests/run", *unit], 120) != 0:
        return "unit"
    if not build(tree, programs(others)):
        return ""
    return "command line" if run(tree, ["env", "LIMIT=120", "tests/run", *others], 600) != 0 else None


def table(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        return [line.rstrip("\n").split("\t") for line in f if line.strip() and not line.startswith("#")]


def try_file(tree, file, tests, options, equivalent):
    path = os.path.join(tree, file)
    with open(path, encoding="utf-8") as f:
        source = f.read()
    lines = source.split("\n")
    drawn = list(places(lines))
    random.Random(f"{options.seed} {file}").shuffle(drawn)
    counts = {"unit": 0, "command line": 0, "equivalent": 0, "survived": 0}
    unit, others = tests
    for number, begin, end, new in drawn[:options.n or None]:
        line = lines[number]
        changed = line[:begin] + new + line[end:]
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(lines[:number] + [changed] + lines[number + 1:]))
        by = noticed(tree, unit, others)
        if by == "":
            continue
        if by is None:
            by = "equivalent" if any(e[0] == file and e[1] == changed.strip() for e in equivalent) else "survived"
            print(f"{by}: {file}:{number + 1}: {line.strip()}\n    -> {changed.strip()}", flush=True)
        counts[by] += 1
    with open(path, "w", encoding="utf-8") as f:
        f.write(source)
    print(f"{file}: {sum(counts.values())} changes: {counts['unit']} noticed by unit tests, {counts['command line']} on the command line, "
          f"{counts['equivalent']} equivalent, {counts['survived']} survived", flush=True)
    return counts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tree")
    parser.add_argument("-n", type=int, default=40)
    parser.add_argument("--seed", default="1")
    parser.add_argument("file", nargs="*")
    options = parser.parse_intermixed_args()
    tree = os.path.abspath(options.tree)
    many = False
    for file, unit, others in table("files.tsv"):
        if options.file and not any(f in file for f in options.file):
            continue
        tests = unit.split(), others.split()
        if not build(tree, ["tests"]) or run(tree, ["tests/run", *tests[0], *tests[1]], 1200) != 0:
            sys.exit(f"mutate: the tests of {file} fail without any change: {unit} {others}")
        counts = try_file(tree, file, tests, options, table("equivalent.tsv"))
        many |= counts["survived"] * 10 > sum(counts.values()) - counts["equivalent"]
    sys.exit(1 if many else 0)


main()
