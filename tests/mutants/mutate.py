#!/usr/bin/env python3
"""Changes one thing in a source at a time, builds, and sees whether a test fails.

    mutate.py TREE [-n N] [--seed S] [FILE…]     `make mutants` calls it, with a copy of the sources that it may change

From each FILE of files.tsv, N changes (all, with 0) are drawn: a comparison, a condition, a sign or a constant turned into its neighbour, a
call left out. The sizes of arrays and calls that release memory are left alone: sanitizers notice these. A change that does not compile is not
counted. Each that no test notices is printed, and whether equivalent.tsv says why none can. The last line has the counts; status 1 if more
than a tenth survives in a file, besides those that are equivalent.
"""
import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CHANGES = [  # pattern, replacement; the first matching at a place is taken
    (r"<=", "<"), (r">=", ">"), (r"==", "!="), (r"!=", "=="), (r"&&", "||"), (r"\|\|", "&&"),
    (r"(?<![-<>])(?<= )<(?= )", "<="), (r"(?<![-<>])(?<= )>(?= )", ">="),
    (r"(?<= )\+(?= )", "-"), (r"(?<= )-(?= )", "+"), (r"(?<= )\*(?= )", "/"), (r"(?<= )/(?= )", "*"),
    (r"\+=", "-="), (r"-=", "+="), (r"(?<=\()!(?=[a-z])", ""), (r"(?<= )!(?=[a-z])", ""),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    (r"(?<=\breturn )0(?=;)", "-1"), (r"(?<=[ (])-1\b(?![.\w])", "0"),  # callers look for a negative status
    (r"(?<![\w.\"'])\d+(?![\w.\"'])", lambda m: str(int(m.group()) + 1)),
    (r"(?<=[^\w.])\d+\.\d+(?![\w.])", lambda m: str(float(m.group()) * 2 + 1)),
    (r"^\t+(?!free|\w*(?:release|decref|clear|free|va_end)\b)[a-z_0-9]+\(.*\);$", lambda m: re.match(r"\t+", m.group()).group() + ";"),
    (r"\bbreak;", ";"), (r"\bcontinue;", ";"),
]
NOT_CODE = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|//.*|/\*.*?(?:\*/|$)')


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
            if re.search(r"^\t+(?:const |static )*(?:char|\w+_t|struct \w+) \w+\[[^\]]+\]|struct \w+ \w+ = \{0\}|calloc\(1,", masked):
                continue
            taken = set()
            for what, into in CHANGES:
                for m in re.finditer(what, masked):
                    if m.start() in taken or "\x01" in m.group() and m.group() != masked:
                        continue
                    taken.update(range(m.start(), m.end()))
                    yield number, m.start(), m.end(), into(m) if callable(into) else into
        in_comment = starts or (in_comment and "*/" not in line)


CC = os.environ.get("CC", "gcc")
SANITIZE = "-fsanitize=address,undefined -fno-sanitize-recover=all"
ASAN = "exitcode=99:hard_rss_limit_mb=4000:allocator_may_return_null=1"


def run(tree, command, seconds, folder=None):
    """The status of a command; 124 if it takes longer."""
    own = {"BUILD": os.path.join(tree, ".build"), "TESTS": os.path.join(tree, "tests"), "LC_ALL": "C", "TZ": "UTC", "ASAN_OPTIONS": ASAN}
    with subprocess.Popen(command, cwd=folder or tree, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          env=dict(os.environ, **own), start_new_session=True) as process:
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return 124
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def make(tree, targets, **options):
    command = ["make", f"-j{os.cpu_count()}", "HARDEN=", "CC=" + CC, "CFLAGS=-O0 -g0 -w", *targets]
    return subprocess.run(command, cwd=tree, env=dict(os.environ, BUILD=os.path.join(tree, ".build")), text=True, check=False, **options)


def build_script(tree, file, targets):
    """make's work for these targets once the file has changed, but with sanitizers for this file, which notice accesses beyond an array.
    Without make, whose Makefile takes longer to read than the file to compile."""
    for options in ["-s"], ["V=1"]:
        made = make(tree, options + targets, stdout=subprocess.PIPE)
        if made.returncode != 0:
            sys.exit(f"mutate: {file} does not build without any change")
        os.utime(os.path.join(tree, file))
    return "set -e\n" + made.stdout.replace(f"&& {CC} ", f"&& {CC} {SANITIZE} ")


class Tests:
    """How a file's tests are built and run: those of units, and the others."""

    def __init__(self, tree, file, unit, others):
        self.tree, self.file, self.others = tree, os.path.join(tree, file), others
        binary = ".build/unit/" + unit[0].split("/")[1].split("_")[1]
        self.unit = [[os.path.join(tree, binary), t.split("/")[1]] for t in unit]
        self.build_unit = build_script(tree, file, [binary])
        fuzz = [".build/fuzz/" + t.split("_")[1].rstrip("0123456789") for t in others if t.startswith("fuzz/")]
        self.programs = [f".build/bin/ipf-{n}" for n in ["prep", "sched", "fire", "collect", "report", "sim"]] + fuzz
        self.seconds = 120
        began = time.monotonic()
        passed = run(tree, ["sh", "-c", self.build_unit], 600) == 0 and self.unit_pass()
        self.seconds = 2 + 4 * (time.monotonic() - began)
        os.utime(self.file)
        if not passed or others and (make(tree, ["-s", "tests"]).returncode != 0 or not self.others_pass()):
            sys.exit(f"mutate: the tests of {file} fail without any change: {unit} {others}")

    def unit_pass(self):
        with tempfile.TemporaryDirectory() as folder:
            return all(run(self.tree, command, self.seconds, folder) == 0 for command in self.unit)

    def others_pass(self):
        return run(self.tree, ["tests/run", *self.others], 600) == 0

    def noticed(self, equivalent):
        """Which tests notice the change, or None; "" if it does not compile. For one that none can notice, command-line tests are not
        run."""
        if run(self.tree, ["sh", "-c", self.build_unit], 600) != 0:
            return ""
        if not self.unit_pass():
            return "unit"
        if equivalent or not self.others:
            return None
        os.utime(self.file)  # a file with an object with sanitizers
        make(self.tree, ["-s", *self.programs], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return None if self.others_pass() else "command line"


def table(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        return [line.rstrip("\n").split("\t") for line in f if line.strip() and not line.startswith("#")]


def changes(source, file, options):
    """The draws from a source: (line number from 1, the line, the changed line, the whole changed text)."""
    lines = source.split("\n")
    drawn = list(places(lines))
    random.Random(f"{options.seed} {file}").shuffle(drawn)
    for number, begin, end, new in drawn[:options.n or None]:
        changed = lines[number][:begin] + new + lines[number][end:]
        yield number + 1, lines[number].strip(), changed.strip(), "\n".join(lines[:number] + [changed] + lines[number + 1:])


def try_file(tree, file, tests, options, equivalent):
    path = os.path.join(tree, file)
    with open(path, encoding="utf-8") as f:
        source = f.read()
    counts = {"unit": 0, "command line": 0, "equivalent": 0, "survived": 0}
    try:
        for number, line, changed, text in changes(source, file, options):
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            same = [file, changed] in [e[:2] for e in equivalent]
            by = tests.noticed(same)
            if by == "":
                continue
            if by is None:
                by = "equivalent" if same else "survived"
                print(f"{by}: {file}:{number}: {line}\n    -> {changed}", flush=True)
            counts[by] += 1
    finally:
        with open(path, "w", encoding="utf-8") as f:
            f.write(source)
        os.utime(os.path.join(tree, ".build", file[:-1] + "o"), (0, 0))  # that of the last change
    print(f"{file}: {sum(counts.values())} changes: {counts['unit']} noticed by unit tests, {counts['command line']} on the command line, "
          f"{counts['equivalent']} equivalent, {counts['survived']} survived", flush=True)
    return counts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tree")
    parser.add_argument("-n", type=int, default=40)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--unit", action="store_true", help="run no command-line tests")
    parser.add_argument("file", nargs="*")
    options = parser.parse_intermixed_args()
    tree = os.path.abspath(options.tree)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the source is written back
    many = False
    for file, unit, others in table("files.tsv"):
        if options.file and not any(f in file for f in options.file):
            continue
        tests = Tests(tree, file, unit.split(), [] if options.unit else others.split())
        counts = try_file(tree, file, tests, options, table("equivalent.tsv"))
        many |= counts["survived"] * 10 > sum(counts.values()) - counts["equivalent"]
    sys.exit(1 if many else 0)


main()
