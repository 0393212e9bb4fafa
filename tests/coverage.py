#!/usr/bin/env python3
"""Sums up which lines and branches tests have run; `make coverage` calls it.

    coverage.py BUILD       a folder that was built and run with clang's coverage: programs in bin, unit, fuzz, profiles in profiles

Prints a line for lib and each program, and writes to BUILD/coverage.txt for each file its lines and branches in percent, and each run of
lines that no test has run, with its text.
"""
import collections
import glob
import json
import os
import subprocess
import sys

TOTALS = ("lines", "branches", "functions")


def export(build, profile):
    binaries = [f for folder in ("bin", "unit", "fuzz") for f in sorted(glob.glob(f"{build}/{folder}/*")) if os.access(f, os.X_OK)]
    command = ["llvm-cov", "export", "-instr-profile", profile, binaries[0], *(w for b in binaries[1:] for w in ("-object", b))]
    files = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)["data"][0]["files"]
    root = os.getcwd() + "/"
    return {f["filename"].removeprefix(root): f for f in files}


def lines_not_run(segments, count):
    """The lines (from 1) whose regions were never entered; segments are (line, column, count, has count, is entry, is gap)."""
    never, position, state = set(), 0, None
    by_line = collections.defaultdict(list)
    for s in segments:
        by_line[s[0]].append(s)
    for number in range(1, count + 1):
        here = [s for s in by_line[number] if s[3] and not s[5]]
        counts = [s[2] for s in here if s[4]] + ([state] if state is not None else [])
        if counts and max(counts) == 0:
            never.add(number)
        if by_line[number]:
            last = by_line[number][-1]
            state = last[2] if last[3] and not last[5] else None
    return never


def runs(numbers):
    begin = end = None
    for n in sorted(numbers):
        if end is not None and n == end + 1:
            end = n
            continue
        if begin is not None:
            yield begin, end
        begin = end = n
    if begin is not None:
        yield begin, end


def write_details(out, name, file):
    with open(name, encoding="utf-8") as f:
        text = f.read().split("\n")
    s = file["summary"]
    out.write(f"{name}: lines {s['lines']['percent']:.1f} %, branches {s['branches']['percent']:.1f} %\n")
    for begin, end in runs(lines_not_run(file["segments"], len(text))):
        out.write(f"  {begin}\n" if begin == end else f"  {begin}-{end}\n")
        for line in text[begin - 1:end]:
            out.write(f"      {line}\n")


def main():
    build = sys.argv[1]
    profile = f"{build}/coverage.profdata"
    subprocess.run(["llvm-profdata", "merge", "-sparse", "--failure-mode=all", "-o", profile, *glob.glob(f"{build}/profiles/*.profraw")], check=True)
    sums = collections.defaultdict(lambda: {t: [0, 0] for t in TOTALS})
    files = export(build, profile)
    with open(f"{build}/coverage.txt", "w", encoding="utf-8") as out:
        for name in sorted(files):
            room = name.split("/")[0]
            if room != "lib" and not room.startswith("ipf-"):
                continue
            if files[name]["summary"]["lines"]["count"]:
                write_details(out, name, files[name])
            for t in TOTALS:
                sums[room][t][0] += files[name]["summary"][t]["covered"]
                sums[room][t][1] += files[name]["summary"][t]["count"]
    print(f"{'':12} {'lines':>16} {'branches':>17} {'functions':>15}")
    for room, of in sorted(sums.items()):
        print(f"{room:12} " + " ".join(f"{100 * of[t][0] / max(1, of[t][1]):6.1f} % of {of[t][1]:5}" for t in TOTALS))
    print(f"what no test has run is in {build}/coverage.txt")


main()
