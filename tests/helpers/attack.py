"""Common parts of attacks from outside: attack_http2.py, attack_tls.py, attack_answers.py, attack_files.py, attack_listeners.py. A
program under attack ends with a documented status, in bounded memory, and its messages are short lines of printable text.

    ended = attack.run(["ipf-fire", …])
    for problem in attack.problems_of(ended, {0}): …
"""
import os
import signal
import socket
import subprocess
import sys
import threading
import unicodedata

HANGS = 4 * int(os.environ.get("HANG", "150"))  # seconds: for hangs only
MEMORY_MOST = 400 << 20
LINE_MOST = 1200  # bytes
FOLDER = os.path.dirname(os.path.abspath(__file__))


class Ended:
    def __init__(self, command, status, said, memory):
        self.command, self.status, self.said, self.memory = command, status, said, memory


def run(command, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, folder="."):
    """Its end, standard error and peak memory. SIGABRT, which is no documented status, ends one hanging."""
    with open(folder + "/attack.stderr", "wb") as error:
        process = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=error, cwd=folder)
    timer = threading.Timer(HANGS, process.send_signal, [signal.SIGABRT])
    timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    with open(folder + "/attack.stderr", "rb") as error:
        return Ended(command, process.returncode, error.read(), usage.ru_maxrss * 1024)


def is_printable(text):
    """Nothing a terminal obeys, reorders or hides: controls, formats, other ends of lines."""
    return not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in text)


def problems_of_text(text, most=LINE_MOST):
    """A text of ours, in a message or a stream, repeating a server's words."""
    if len(text) > most:
        yield "a text of %d characters: %.300r" % (len(text), text)
    if not is_printable(text):
        yield "a text that is not printable: %.300r" % text


def problems_of(ended, statuses):
    name = os.path.basename(ended.command[0])
    if ended.status not in statuses:
        yield "%s ended with %d" % (name, ended.status)
    if b"runtime error:" in ended.said or b"Sanitizer" in ended.said:
        yield "%s: a sanitizer's report" % name
    if not os.environ.get("SANITIZE") and ended.memory > MEMORY_MOST:
        yield "%s took %d MiB" % (name, ended.memory >> 20)
    try:
        lines = ended.said.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        yield "%s: a message that is no UTF-8: %.300r" % (name, ended.said)
        return
    for line in lines:
        if not line.startswith(name + ": "):
            yield "a message without the program's name: %.300r" % line
        yield from problems_of_text(line)


# ---- protocol buffers ----


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(number, value):
    """An integer or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value & (1 << 64) - 1)
    return varint(number << 3 | 2) + varint(len(value)) + value


def nested(number, depth):
    raw = b""
    for _ in range(depth):
        raw = field(number, raw)
    return raw


def damaged(r, raw):
    """A message of protocol buffers, changed in a random way."""
    raw = bytearray(raw)
    at = r.randrange(len(raw) + 1)
    bad = [b"\xff" * 9 + b"\x01", b"\xff" * 10 + b"\x01", b"\xff" * 40, b"\x00", varint(r.getrandbits(64)), b"\x0a" + varint(r.choice([1 << 20, 1 << 31, 1 << 32, 1 << 62, (1 << 64) - 1])),
           bytes([r.randrange(256)]), nested(r.choice([1, 2, 4]), r.choice([5, 200, 3000])), field(r.choice([1, 2, 4, 7, 536870911]), r.randbytes(r.choice([0, 1, 30]))),
           field(r.choice([1, 2, 4, 7]), r.choice([0, 1, 1 << 31, 1 << 63, (1 << 64) - 1])), b"\x0b\x0c", varint(r.choice([1, 2, 4, 7]) << 3 | r.choice([1, 3, 4, 5, 6, 7])) + r.randbytes(4)]
    way = r.randrange(6)
    if way == 0:
        return bytes(raw[:at])
    if way == 1 and raw:
        for _ in range(r.choice([1, 1, 3, 10])):
            raw[r.randrange(len(raw))] ^= 1 << r.randrange(8)
    elif way == 2:
        return bytes(raw[:at]) + r.choice(bad) + bytes(raw[at:])
    elif way == 3:
        return r.choice(bad) + bytes(raw)
    elif way == 4:
        return bytes(raw) + r.choice(bad)
    else:
        return b"".join(r.choice(bad) for _ in range(r.randrange(1, 5)))
    return bytes(raw)


class Gone(Exception):
    """The client has closed the connection."""


class Server:
    """A server under whose connections a program suffers: each is a new talk(server, socket, number), which plays in a thread."""

    def __init__(self, talk):
        self.talk = talk
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.connections = self.attacks = 0
        self.whole, self.cut, self.problems = set(), set(), []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            sock, _ = self.listener.accept()
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.settimeout(HANGS / 2)
            with self.lock:
                number, self.connections = self.connections, self.connections + 1
            threading.Thread(target=self.talk(self, sock, number).play, daemon=True).start()


class Attack:
    """Counts, and reports the first problems of each round."""

    def __init__(self):
        self.wrong = 0

    def report(self, where, problems):
        for problem in problems:
            self.wrong += 1
            if self.wrong <= 20:
                print("%s: %s" % (where, problem))


def check_run(records, results="new.results", report="new.json"):
    """Problems of records, of their results and of their report."""
    found = []
    ended = run(["ipf-collect", "-q", "--text", "--events", "-o", results, records])
    found += problems_of(ended, {0})
    with open(report, "wb") as out:
        ended = run(["ipf-report", "-f", "json", results], stdout=out)
    found += problems_of(ended, {0})
    if not found:
        checked = subprocess.run([sys.executable, FOLDER + "/../faults/check_run.py", records, results, report], capture_output=True,
                                 check=False, timeout=HANGS)
        found += checked.stdout.decode("utf-8", "backslashreplace").splitlines()[1:]
        if checked.returncode:
            found.append(checked.stderr.decode("utf-8", "replace")[-300:])
    return found
