"""Finds checks in the tests of `make check` that a busy machine can break: clock.py FILE…; prints FILE:LINE: what is wrong, and ends with 1 if there is any.

A test asserts no upper bound of a measured time, no rate, no lag, no share of late requests and no verdict on them: those belong into tests/bench or
tests/long. It may if the clock is simulated (ipf-twin predict, the arithmetic of ipf-sim, times that the test wrote). Such a line in a file that also
sends requests ends in "# exact: REASON"."""
import re
import sys

MEASURES = re.compile(r"server_start|scraped_begin|ipf-fire\"?( |$)|fixture\.sh|-f \"?\$SHARE")
TIME = r"\b(start|end|first_byte|sent|connected|ttft|ttfa|e2e|tpot|itl|itl_\w+|lag|client_lag|ttfb)_(ns|ms)\b"
AGAIN = "a second try hides what the first one said"
SHELL = [
    (r"\bwait_for [0-9]", "wait_for takes no seconds: it polls until the test hangs"),
    (r"(^|[\s(;|])timeout (-k [0-9]+ )?([0-9.]+)(?= )", "a timeout is for hangs: at least 120 s"),
    (r"\$\(?\(?SECONDS|\$\{?SECONDS|date \+%s", "elapsed time of this machine"),
    (r"^\s*(\w+) \|\| \1\b|for (attempt|try) in", AGAIN),
]
PYTHON = [(r"timeout(=|\()([0-9.]+)", "a timeout is for hangs: at least 120 s")]
MEASURED = [
    (r"\bbetween .*(%s|\blatency\b|\blag|\blate\b|\btook|elapsed|\.(completed|achieved)\b|\.p[0-9]+\b)" % TIME, "an upper bound of what was measured: use at_least"),
    (TIME + r"(?:(?! and | or | elif )[^\"'|\[\]{}$<])*[^-=<]<=? *[1-9]", "an upper bound of what was measured"),
    (r"verdict\.status|client_headroom\b.*\b(OK|INVALID)|load_delivered\b.*\b(OK|INVALID)|[Vv]erdict[ +\\]*(OK|DOUBTFUL|INVALID)", "a verdict on a run that was measured"),
]


def breaches(path):
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    python = path.endswith(".py")
    code = [line for line in lines if not re.match(r"\s*#", line)]
    rules = PYTHON if python else SHELL
    if not python and any(MEASURES.search(line) and "ipf-twin" not in line for line in code):
        rules = rules + MEASURED
    for number, line in enumerate(lines, 1):
        if re.match(r"\s*#", line) or re.search(r"# exact: \S", line):
            continue
        if not python and re.search(r"for _ in [0-9]", line) and any(re.search(r"\bbreak\b", after) for after in lines[number:number + 15]):
            yield f"{path}:{number}: {AGAIN}: {line.strip()}"
        for pattern, why in rules:
            found = re.search(pattern, line)
            if found and "for hangs" in why and float(re.findall(r"[0-9.]+", found[0])[-1]) >= 120:
                continue
            if found:
                yield f"{path}:{number}: {why}: {line.strip()}"


found = [text for path in sys.argv[1:] for text in breaches(path)]
print(*found, sep="\n", end="\n" if found else "")
sys.exit(bool(found))
