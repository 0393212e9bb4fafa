#!/usr/bin/env python3
"""Makes numbers of other tools' result files huge, and reads them with ipf-report.

    huge_numbers.py FOLDER    a line for each wrong case, and "N files, M wrong"

Each number of a file is replaced in turn; of many, 40 spread over the file. Each case must end with status 3 and one line with the place, or
with status 0 and finite figures.
"""
import os
import re
import subprocess
import sys

NUMBER = re.compile(r"(?<=[:\[, ])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?=[,\]} \n])")
VALUES = ["1e308", "-1e308", "1e29", "Infinity", "-Infinity", "NaN", "1" * 200]


def wrong(path):
    """Why the answer of ipf-report is wrong, or an empty text."""
    done = subprocess.run(["ipf-report", "-q", "-f", "csv", path], capture_output=True, text=True, timeout=240, check=False)
    if done.returncode == 3 and re.fullmatch(r"ipf-report: changed\.jsonl?:\d+: .*\n", done.stderr):
        return ""
    if done.returncode == 0 and not re.search(r"(?<![a-z])-?(?:inf|nan)(?![a-z])", done.stdout):
        return ""
    return f"status {done.returncode}: {done.stderr[:200]}{' '.join(re.findall('[^,]*inf[^,]*', done.stdout)[:3])}"


files = bad = 0
for name in sorted(os.listdir(sys.argv[1])):
    if name.endswith(".md"):
        continue
    with open(os.path.join(sys.argv[1], name), encoding="utf-8") as f:
        text = f.read()
    numbers = list(NUMBER.finditer(text))
    changed = "changed" + os.path.splitext(name)[1]
    for i, number in enumerate(numbers[::max(1, len(numbers) // 40)]):
        value = VALUES[i % len(VALUES)]
        with open(changed, "w", encoding="utf-8") as f:
            f.write(text[:number.start()] + value + text[number.end():])
        why = wrong(changed)
        files += 1
        if why:
            bad += 1
            print(f"{name}: {value} for {text[max(0, number.start() - 40):number.end()]!r}: {why}")
print(f"{files} files, {bad} wrong")
