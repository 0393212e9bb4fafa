"""Random options of ipf-fire and ipf-collect, each command without and with --sandbox: the same results.

    sandbox_twice.py SEED COUNT URL ROOT     COUNT pipelines of a run at URL (ipf-sim), collected twice, in the current folder, which has
                                             chat.trace and chat.sched

ipf-collect's output has to be the same bytes; of records the rows without times and texts of the server's that change. Messages and
exit statuses are the same, too. Prints each difference, and "N pipelines, N commands twice, N of them successful, N
differ".
"""
import json
import os
import random
import re
import subprocess
import sys

HANGS = 600
TOKENIZER = "%s/tests/data/tokenizer/gpt2.json"


def run(command, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=HANGS, check=False, **more)


def some(r, *choices):
    """Each choice (a list of words) with a chance of one in three."""
    words = []
    for choice in choices:
        if r.randrange(3) == 0:
            words += choice
    return words


def fire_options(r, url):
    port = url.rsplit(":", 1)[1]
    host = r.choice([url, url, "http://localhost:" + port])
    words = ["-u", host] + (["-u", host] if r.randrange(4) == 0 else [])
    words += some(r, ["--threads", r.choice("123")], ["--connections", r.choice(["reuse", "fresh", "3", "session"])], ["--dns", "each"],
                  ["--history", r.choice(["live", "recorded"])], ["--record-header", r.choice(["*", "content-type"])], ["--retry", "2"],
                  ["--warm", "2"], ["--bind", "127.0.0.1"], ["--stamps", "user"], ["--name", "a name"], ["--param", "temperature=0"],
                  ["--timeout", "10m"], ["--no-stream"], ["--wait-ready", "10m"], ["--memory", "200MB"], ["--exact-output"], ["--probe"],
                  ["--calibration", "none"], ["--resolve", "localhost:%s:127.0.0.1" % port], ["--spin", "1ms"], ["--cancel", "none"])
    return words


def collect_options(r, root, results):
    words = some(r, ["--itl", r.choice(["gap", "token", "request"])], ["--events"], ["--text"], ["-t", r.choice(["approx", TOKENIZER % root])],
                 ["--stall", r.choice(["1ms", "10s"])], ["--deadline", r.choice(["1ms", "1s"])], ["--every", r.choice(["100ms", "1h"])],
                 ["--check-output", r.choice(["json", "schema.json"])], ["--check-output", "format", "--trace", "chat.trace"], ["--reproducible"], ["-v"], ["-q"],
                 ["--max-line", r.choice(["100MiB", "10MiB", "1MiB", "1KiB"])], ["--api", r.choice(["openai-chat", "vllm", "vllm", "tgi"])],
                 ["--definition", r.choice(["vllm", "sglang", "guidellm", "aiperf", "mlperf"])], ["--replica-header", "content-type"])
    how = r.randrange(5)
    words += [["--explain"], ["--check"], ["--samples", results], [], []][how]
    return words


def rows_of(path):
    """The rows of the records of a run, without times and new names of the server's."""
    rows = []
    text = run(["zstd", "-dcfq", path]).stdout.decode()
    for line in text.splitlines():
        row = json.loads(line)
        if "n" not in row:
            continue
        body = re.sub(r'chatcmpl-[0-9a-zA-Z-]*|"created": ?[0-9]*', "", row.get("body", ""))
        rows.append([row["n"], row.get("req"), row.get("stage"), row.get("status"), (row.get("error") or {}).get("kind"), body])
    return sorted(rows, key=str)


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


class Twice:
    def __init__(self):
        self.commands = self.good = self.differ = 0

    def compare(self, command, without, within):
        self.commands += 1
        self.good += without["status"] == 0
        for name in without:
            if without[name] != within[name]:
                self.differ += 1
                print("%s: another %s with --sandbox: %.300r, without: %.300r" % (" ".join(command), name, within[name], without[name]))

    def fire(self, r, url, suffix):
        options = fire_options(r, url)
        command = ["ipf-fire", "-m", "sim", "-t", "chat.trace", "chat.sched"] + options
        outcomes = []
        for name, more in (("without", []), ("within", ["--sandbox"])):
            path = name + suffix
            if os.path.exists(path):
                os.remove(path)
            ended = run(command + more + ["-o", path])
            said = ended.stderr.decode().replace(path, "OUTPUT") if "--probe" not in options else ""
            outcomes.append({"status": ended.returncode, "message": said, "rows": rows_of(path) if os.path.exists(path) else None})
        self.compare(command, *outcomes)

    def collect(self, r, root, records, suffix):
        command = ["ipf-collect"] + collect_options(r, root, "chat.results") + [records] + ([records] if r.randrange(8) == 0 else [])
        outcomes = []
        for name, more in (("without", []), ("within", ["--sandbox"])):
            path = "collected-" + name + suffix
            if os.path.exists(path):
                os.remove(path)
            ended = run(command + more + (["-o", path] if suffix else []))
            outcomes.append({"status": ended.returncode, "message": ended.stderr.decode().replace(path, "OUTPUT"), "output": ended.stdout,
                             "file": read(path)})
        self.compare(command, *outcomes)


def main(seed, count, url, root):
    r = random.Random(seed)
    twice = Twice()
    with open("schema.json", "w", encoding="utf-8") as file:
        file.write('{"type":"object"}')
    for _ in range(count):
        suffix = r.choice([".records", ".records.zst"])
        twice.fire(r, url, suffix)
        for _ in range(4):
            records = "within" + suffix
            twice.collect(r, root, records if os.path.exists(records) else "chat.records", r.choice(["", ".results", ".results.zst"]))
    print("%d pipelines, %d commands twice, %d of them successful, %d differ" % (count, twice.commands, twice.good, twice.differ))
    return 1 if twice.differ else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]))
