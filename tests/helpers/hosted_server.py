"""Hosted services as a client meets them: Amazon's, which verify the signature of every request (written from their description, not from
ours), and Vertex AI, which wants a bearer token. Python's standard library only.

    hosted_server.py LOG    prints the port; serves until its standard input ends

Keys: AKIDTEST / s3cret-4711, session token t0ken-4712, region eu-test-1; bearer token b3arer-4713. A model named "throttled" is refused
within its stream, "cut" ends within a message, "damaged" has a wrong checksum.
"""
import binascii
import hashlib
import hmac
import http.server
import json
import struct
import sys
import threading
import time
import urllib.parse

LOG = open(sys.argv[1], "a", encoding="utf-8")
LOCK = threading.Lock()
SECRET = "s3cret-4711"


def hmac256(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def verify(method, target, headers, body, service):
    """None, or why the signature is not good."""
    auth = headers.get("Authorization", "")
    if not auth.startswith("AWS4-HMAC-SHA256 "):
        return "no signature"
    parts = dict(p.strip().split("=", 1) for p in auth[17:].split(","))
    access, date, region, given_service, last = parts["Credential"].split("/")
    if (access, region, given_service, last) != ("AKIDTEST", "eu-test-1", service, "aws4_request"):
        return "wrong scope " + parts["Credential"]
    stamp = headers["X-Amz-Date"]
    sent = time.mktime(time.strptime(stamp, "%Y%m%dT%H%M%SZ")) - time.timezone
    if abs(sent - time.time()) > 300 or stamp[:8] != date:
        return "stale"
    if headers.get("X-Amz-Security-Token") != "t0ken-4712":
        return "no token"
    names = parts["SignedHeaders"].split(";")
    if names != sorted(names) or not {"host", "x-amz-date", "x-amz-security-token"} <= set(names):
        return "too few headers are signed"
    path, _, query = target.partition("?")
    canonical = "\n".join([
        method, urllib.parse.quote(path, safe="/-_.~"), "&".join(sorted(query.split("&"))) if query else "",
        *(f"{n}:{' '.join(headers[n].split())}" for n in names), "", ";".join(names), hashlib.sha256(body).hexdigest()])
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, f"{date}/{region}/{service}/aws4_request", hashlib.sha256(canonical.encode()).hexdigest()])
    key = hmac256(hmac256(hmac256(hmac256(("AWS4" + SECRET).encode(), date), region), service), "aws4_request")
    return None if hmac256(key, text).hex() == parts["Signature"] else "wrong signature for " + canonical


def event(payload, **headers):
    """A message of an event stream."""
    block = b""
    for name, value in {"message-type": "event", **{k.replace("_", "-"): v for k, v in headers.items()}}.items():
        name = ":" + name
        block += bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
    block += b"\x04kind\x02\x07" + b"\x02at\x08" + b"\0" * 8  # headers of other types stand between
    prelude = struct.pack(">II", 16 + len(block) + len(payload), len(block))
    whole = prelude + struct.pack(">I", binascii.crc32(prelude)) + block + payload
    return whole + struct.pack(">I", binascii.crc32(whole))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.connection.setsockopt(6, 1, 1)

    def log_message(self, *args):
        pass

    def answer(self, status, body, kind="application/json"):
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def chunk(self, raw):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))
        time.sleep(0.004)

    def begin(self, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        asked = json.loads(body)
        path = self.path.split("/")
        if "aiplatform" in path:
            return self.vertex(path, asked)
        service = "bedrock" if path[1] == "model" else "sagemaker"
        why = verify("POST", self.path, self.headers, body, service)
        if why:
            return self.answer(403, {"message": why})
        return getattr(self, service)(path, asked)

    def note(self, **what):
        with LOCK:
            LOG.write(json.dumps(what) + "\n")
            LOG.flush()

    def words(self, prompt, count):
        pieces = [" " * (i > 0) + ["one", "zwölf", "三"][(i + len(prompt)) % 3] for i in range(count)]
        self.note(prompt=prompt, count=count, text="".join(pieces), path=self.path)
        return pieces

    def bedrock(self, path, asked):
        model = urllib.parse.unquote(path[2])
        pieces = self.words(asked["messages"][-1]["content"][0]["text"], asked["inferenceConfig"]["maxTokens"])
        usage = {"inputTokens": 7, "outputTokens": len(pieces), "totalTokens": 7 + len(pieces)}
        if path[3] == "converse":
            return self.answer(200, {"output": {"message": {"role": "assistant", "content": [{"text": "".join(pieces)}]}},
                                     "stopReason": "max_tokens", "usage": usage, "metrics": {"latencyMs": 12}})
        self.begin("application/vnd.amazon.eventstream")
        say = lambda name, what: self.chunk(event(json.dumps({**what, "p": "abc"}, ensure_ascii=False).encode(), event_type=name, content_type="application/json"))
        say("messageStart", {"role": "assistant"})
        for i, piece in enumerate(pieces):
            if model == "throttled" and i == 2:
                self.chunk(event(b'{"message":"Too many tokens, slow down"}', message_type="exception", exception_type="throttlingException"))
                break
            whole = event(json.dumps({"contentBlockIndex": 0, "delta": {"text": piece}}).encode(), event_type="contentBlockDelta")
            if model == "cut" and i == 2:
                self.chunk(whole[:20])
                break
            if model == "damaged" and i == 2:
                self.chunk(whole[:-1] + b"?")
                break
            # in two pieces that mean nothing
            self.chunk(whole[:15])
            self.chunk(whole[15:])
        else:
            say("contentBlockStop", {"contentBlockIndex": 0})
            say("messageStop", {"stopReason": "max_tokens"})
            say("metadata", {"usage": usage, "metrics": {"latencyMs": 12}})
        self.wfile.write(b"0\r\n\r\n")

    def sagemaker(self, path, asked):
        pieces = self.words(asked["inputs"], asked["parameters"]["max_new_tokens"])
        details = {"finish_reason": "length", "generated_tokens": len(pieces), "input_length": 7}
        if path[3] == "invocations":
            return self.answer(200, [{"generated_text": "".join(pieces), "details": details}])
        assert asked["stream"] is True
        self.begin("application/vnd.amazon.eventstream")
        stream = b""
        for i, piece in enumerate(pieces):
            last = i + 1 == len(pieces)
            stream += b"data:" + json.dumps({"index": i, "token": {"id": i, "text": piece, "logprob": -1, "special": False},
                                             "generated_text": "".join(pieces) if last else None,
                                             "details": details if last else None}, ensure_ascii=False).encode() + b"\n\n"
            # the container's stream is cut where it happens to be
            cut = len(stream) if last else len(stream) - 9
            self.chunk(event(stream[:cut], event_type="PayloadPart", content_type="application/octet-stream"))
            stream = stream[cut:]
        self.wfile.write(b"0\r\n\r\n")

    def vertex(self, path, asked):
        if self.headers.get("Authorization") != "Bearer b3arer-4713":
            return self.answer(401, [{"error": {"code": 401, "message": "no token", "status": "UNAUTHENTICATED"}}])
        if path[-1] == "completions":
            pieces = self.words(asked["messages"][-1]["content"], asked.get("max_tokens") or asked["max_completion_tokens"])
            self.begin("text/event-stream")
            for i, piece in enumerate(pieces):
                last = i + 1 == len(pieces)
                self.chunk(b"data: " + json.dumps({"choices": [{"delta": {"content": piece}, "finish_reason": "length" if last else None}],
                                                   "usage": {"prompt_tokens": 7, "completion_tokens": len(pieces)} if last else None}).encode() + b"\n\n")
            self.chunk(b"data: [DONE]\n\n")
        else:
            pieces = self.words(asked["contents"][-1]["parts"][0]["text"], asked["generationConfig"]["maxOutputTokens"])
            part = lambda text, end: {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, **({"finishReason": "MAX_TOKENS"} if end else {})}],
                                      "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": len(pieces)}}
            if not path[-1].split("?")[0].endswith(":streamGenerateContent"):
                return self.answer(200, part("".join(pieces), True))
            self.begin("text/event-stream")
            for i, piece in enumerate(pieces):
                self.chunk(b"data: " + json.dumps(part(piece, i + 1 == len(pieces))).encode() + b"\r\n\r\n")
        self.wfile.write(b"0\r\n\r\n")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
