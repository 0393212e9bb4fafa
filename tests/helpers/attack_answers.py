"""Random answers to what ipf-collect sends and asks beside a run: spans by OTLP, pushed figures, scrapes, questions to Prometheus.

    attack_answers.py SEED COUNT RECORDS WORKERS    COUNT runs of ipf-collect on the rows of RECORDS, many times over, WORKERS at a
                                                    time, in the current folder

Each has to end with 0, with the same rows as without a server, and count each span once: sent, failed, dropped or rejected. Prints
each problem, and "N runs, N answers, N spans, N sent, N wrong".
"""
import concurrent.futures
import gzip
import hashlib
import json
import os
import random
import socket
import struct
import sys
import threading
import zlib

import attack

ROWS = 4000
TEXTS = [b"two are too many", b"\x1b[31mred\x07\r\nipf-collect: forged", b"\xff\xfe\x80", "\u202eevil\u2066".encode(), b"%s%n%d", b"\0" * 9, b"x" * 3000, b"y" * 60000,
         b"z" * 70000, b"", b"Bearer secret", "ä😀".encode() * 500, b"\n\n\n", b"a\\nb"]
AFTER = [b"-1", b"0", b"0", b"0.0", b"1e18", b"99999999999999999999", b"Fri, 31 Dec 9999 23:59:59 GMT", b"Thu, 01 Jan 1970 00:00:00 GMT", b"Fri, 32 Foo 99999 99:99:99",
         b"", b" ", b"x" * 100, b"0" * 70, b"0x10", b"NaN", b"-9223372036854775808", b"0, 0"]
STATUSES = [200] * 24 + [201, 202, 204, 206, 226, 300, 301, 304, 400, 401, 404, 413, 415, 418, 429, 500, 501, 502, 503, 504, 599, 999]
METRICS = b"""# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{model_name="m"} 3
vllm:num_requests_waiting{model_name="m"} 0
# TYPE vllm:prompt_tokens_total counter
vllm:prompt_tokens_total{model_name="m"} 1e3
# TYPE vllm:time_to_first_token_seconds histogram
vllm:time_to_first_token_seconds_bucket{le="0.1"} 1
vllm:time_to_first_token_seconds_bucket{le="+Inf"} 2
vllm:time_to_first_token_seconds_sum 0.3
vllm:time_to_first_token_seconds_count 2
"""
SERIES = (b'{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"vllm:num_requests_running","instance":"a"},'
          b'"values":[[%d,"1"],[%d,"2.5"]]}]}}')


# ---- bodies ----


def changed(r, raw):
    """Text with a few bytes changed, left out, repeated."""
    raw = bytearray(raw)
    for _ in range(r.choice([0, 1, 1, 3, 10])):
        at = r.randrange(len(raw) + 1)
        size = r.choice([1, 1, 4, 30])
        way = r.randrange(5)
        if way == 0:
            raw[at:at + size] = r.randbytes(size)
        elif way == 1:
            del raw[at:at + size]
        elif way == 2:
            raw[at:at] = raw[at:at + size] * r.choice([1, 3])
        elif way == 3:
            raw[at:at] = r.choice([b"NaN", b"-Inf", b"1e999", b"18446744073709551616", b'"', b"\\", b"{", b"}", b"[" * 9000, b"\0", b"\xff", b"\n", b" ", b"# EOF\n", b"# TYPE a b\n",
                                   "é".encode(), b'{a="b",a="b"}'])
        else:
            del raw[at:]
    return bytes(raw)


def otlp_body(r, status):
    text = r.choice(TEXTS)
    if status == 200:
        rejected = r.choice([0, 1, 5, 512, 513, 1 << 31, (1 << 63) - 1, -1, -1 << 63])
        raw = attack.field(1, attack.field(1, rejected) + attack.field(2, text))
    else:
        raw = attack.field(1, r.choice([3, -1])) + attack.field(2, text) + attack.field(3, attack.nested(2, 50))
    return r.choice([b"", b"", raw, raw, attack.damaged(r, raw), attack.damaged(r, raw), attack.nested(1, 20000), b"{}", text])


def body_of(r, path, status):
    if path.startswith("/otlp"):
        return otlp_body(r, status)
    if path.startswith("/metrics"):
        return changed(r, r.choice([METRICS, METRICS, METRICS * 300, b"", attack.nested(1, 300)]))
    if path.startswith("/prometheus"):
        return changed(r, r.choice([SERIES % (0, 1), SERIES % (1e9, 1e10), b'{"status":"error","errorType":"x","error":"\\u001b[31m bad"}', b"[]", b"[" * 100000]))
    return r.choice(TEXTS)


# ---- answers: each gives bytes, None for a reset, or a number: so many bytes without end ----


def packed(r, body):
    way = r.randrange(12)
    if way == 0:
        return gzip.compress(body), b"gzip"
    if way == 1:
        return gzip.compress(bytes(r.choice([1, 30]) << 20), 9), b"gzip"
    if way == 2:
        return zlib.compress(body), b"deflate"
    if way == 3:
        return body, r.choice([b"gzip", b"br", b"zstd", b"identity", b"x", b"gzip, gzip, gzip, gzip, gzip, gzip"])
    return body, None


def right_answer(r, path):
    status = r.choice(STATUSES)
    body, encoding = packed(r, body_of(r, path, status))
    head = b"HTTP/1.1 %d %s\r\n" % (status, r.choice([b"OK", b"", b"\x1b[1mbold", b"x" * 300]))
    if status >= 300 or r.randrange(10) == 0:
        for _ in range(r.choice([0, 1, 1, 2])):
            head += b"Retry-After: %s\r\n" % r.choice(AFTER)
    head += b"Content-Type: %s\r\n" % r.choice([b"application/x-protobuf", b"text/plain", b"application/json", b"application/vnd.google.protobuf", b""])
    head += b"Content-Encoding: %s\r\n" % encoding if encoding else b""
    if r.randrange(4) == 0:
        size = r.choice([1, 100, 70000])
        chunks = [body[at:at + size] for at in range(0, min(len(body), 100000), size)]
        return head + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(b"%x\r\n%s\r\n" % (len(c), c) for c in chunks) + b"0\r\n\r\n"
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + (b"" if status in (204, 304) else body)


def wrong_answer(r, path):
    raw = right_answer(r, path)
    way = r.randrange(10)
    if way == 0:
        return raw[:r.randrange(len(raw))]
    if way == 1:
        return changed(r, raw[:400]) + raw[400:]
    if way == 2:
        return None
    if way == 3:
        return b"HTTP/1.1 200 OK\r\nX: " + b"y" * r.choice([200000, 2000000]) + b"\r\n\r\n"
    if way == 4:
        return b"HTTP/1.1 100 Continue\r\n\r\n" * r.choice([1, 1000]) + raw
    if way == 5:
        return b"HTTP/1.1 200 OK\r\n" + b"Retry-After: 0\r\nX-Y: z\r\n" * r.choice([10, 4000]) + b"Content-Length: 0\r\n\r\n"
    if way == 6:
        return b"HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n" % r.choice([b"-1", b"99999999999999999999", b"5, 5", b"0x5", b"100000000"]) + b"hello"
    if way == 7:
        return r.choice([b"", r.randbytes(100), b"HTTP/9.9 200\r\n\r\n", b"HTTP/1.1 \r\n\r\n", b"ICY 200 OK\r\n\r\n", b"\n" * 1000])
    if way == 8:
        return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + r.choice([b"ffffffffffffffff\r\n", b"-1\r\nx", b"zz\r\n", b"5;" + b"e" * 90000, b"0\r\n" + b"T: t\r\n" * 3000])
    return b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n" + bytes(100)


# ---- the server ----


class Server:
    def __init__(self, seed):
        self.seed = seed
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.answers = self.connections = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            sock, _ = self.listener.accept()
            sock.settimeout(attack.HANGS / 2)
            with self.lock:
                number, self.connections = self.connections, self.connections + 1
            threading.Thread(target=self.serve, args=(sock, random.Random("%d %d" % (self.seed, number))), daemon=True).start()

    def serve(self, sock, r):
        try:
            received = b""
            while True:
                while b"\r\n\r\n" not in received:
                    received += sock.recv(65536) or self.gone()
                head, _, received = received.partition(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
                while len(received) < length:
                    received += sock.recv(1 << 20) or self.gone()
                received = received[length:]
                with self.lock:
                    self.answers += 1
                if not self.answer(sock, r, head.split(b" ")[1].decode("latin-1")):
                    break
            sock.shutdown(socket.SHUT_WR)
            while sock.recv(65536):
                pass
        except OSError:
            pass
        finally:
            sock.close()

    def gone(self):
        raise OSError

    def answer(self, sock, r, path):
        """False: the connection ends with it."""
        way = r.randrange(12)
        if way == 0:  # without end
            sock.sendall(b"HTTP/1.1 200 OK\r\n" + r.choice([b"", b"Content-Encoding: gzip\r\n", b"Transfer-Encoding: chunked\r\n"]) + b"\r\n")
            part = r.choice([b"x" * 65536, gzip.compress(bytes(1 << 20)), b"1\r\nx\r\n" * 10000, b"\n" * 65536])
            for _ in range(1600):
                sock.sendall(part)
            return False
        raw = wrong_answer(r, path) if way < 4 else right_answer(r, path)
        if raw is None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            sock.close()
            raise OSError
        sock.sendall(raw)
        return way >= 4


# ---- the client ----


def words_of(r, url):
    words, scraped = [], False
    words += ["--otlp", url + "/otlp/" + r.choice(["v1/traces", "x"])] if r.randrange(4) else []
    for _ in range(r.choice([0, 0, 1, 3])):
        words += ["--push", r.choice(["pushgateway=%s/push", "remote-write=%s/write", "%s/metrics/job/x"]) % url]
    if r.randrange(3) == 0:
        scraped = True
        words += ["--scrape", "a=" + url + "/metrics", "--metric", "*"]
    elif r.randrange(3) == 0:
        words += ["--prometheus", url + "/prometheus"]
    return words, scraped


def texts_in(value, name=""):
    if isinstance(value, dict):
        for key, one in value.items():
            yield from texts_in(one, key)
    elif isinstance(value, list):
        for one in value:
            yield from texts_in(one, name)
    elif isinstance(value, str) and name in ("last_error", "error", "text"):
        yield value


def check_results(path, rows, words):
    with open(path, "rb") as file:
        lines = file.read().splitlines()
    found = [line for line in lines[1:-1] if line.startswith(b'{"n":')]
    if found != rows:
        yield "other rows than without a server"
    for line in lines[1:-1]:
        if not line.startswith(b'{"n":'):
            for text in texts_in(json.loads(line)):
                yield from attack.problems_of_text(text, 600)
    end = json.loads(lines[-1])["end"]
    for text in texts_in(end):
        yield from attack.problems_of_text(text, 600)
    for target in end.get("publish", []):
        counts = [target.get(name, 0) for name in ("sent", "failed", "dropped", "rejected")]
        if min(counts) < 0:
            yield "a negative count: %s" % target
        if "otlp" in target and sum(counts) != len(rows):
            yield "%d spans of %d: %s" % (sum(counts), len(rows), target)
    if "--otlp" in words and not any("otlp" in target for target in end["publish"]):
        yield "nothing about --otlp at the end"


def sent_in(path):
    with open(path, "rb") as file:
        end = json.loads(file.read().splitlines()[-1])["end"]
    return sum(target["sent"] for target in end.get("publish", []) if "otlp" in target)


def one_run(seed, number, records, rows, server):
    r = random.Random("run %d %d" % (seed, number))
    folder = os.path.abspath("attack.%d" % number)
    os.makedirs(folder, exist_ok=True)
    words, live = words_of(r, "http://127.0.0.1:%d" % server.port)
    results = folder + "/new.results"
    command = ["ipf-collect", *words, "-o", results]
    reader, writer = os.pipe()

    def feed():
        with open(records, "rb") as source, open(writer, "wb") as pipe:
            try:
                pipe.write(source.read())
            except BrokenPipeError:
                pass

    if live:  # servers are sampled while a run lasts
        threading.Thread(target=feed, daemon=True).start()
        ended = attack.run(command, stdin=reader, folder=folder)
    else:
        os.close(writer)
        ended = attack.run(command + [records], folder=folder)
    os.close(reader)
    problems = list(attack.problems_of(ended, {0}))
    if not problems:
        problems = list(check_results(results, rows, words))
    return " ".join(words), problems, 0 if problems or "--otlp" not in words else sent_in(results), "--otlp" in words


def many(records, path):
    """The same run with more requests: their spans need several batches."""
    with open(records, "rb") as file:
        header, *lines = file.read().splitlines()
    end = json.loads(lines.pop())
    rows = [json.loads(line) for line in lines if line.startswith(b'{"n":')]
    copies = [dict(rows[n % len(rows)], n=n) for n in range(ROWS)]
    body = b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in copies)
    end["end"].update(lines=ROWS, sha256=hashlib.sha256(body).hexdigest())
    with open(path, "wb") as file:
        file.write(header + b"\n" + body + json.dumps(end).encode() + b"\n")


def main(seed, count, records, workers):
    attacks, server = attack.Attack(), Server(seed)
    many(records, "many.records")
    records = os.path.abspath("many.records")
    attack.run(["ipf-collect", "-q", "-o", "plain.results", records])
    with open("plain.results", "rb") as file:
        rows = [line for line in file.read().splitlines() if line.startswith(b'{"n":')]
    spans = sent = 0
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for where, problems, good, otlp in pool.map(lambda number: one_run(seed, number, records, rows, server), range(count)):
            attacks.report("seed %d: %s" % (seed, where), problems)
            spans, sent = spans + otlp * len(rows), sent + good
    print("%d runs, %d answers, %d spans, %d sent, %d wrong" % (count, server.answers, spans, sent, attacks.wrong))
    return 1 if attacks.wrong else 0


if __name__ == "__main__":
    STATUS = main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
    sys.stdout.flush()
    os._exit(STATUS)  # threads of connections may still wait
