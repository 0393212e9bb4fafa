#!/usr/bin/env python3
"""A store of objects for the tests of --upload, on a free port of 127.0.0.1 or ADDRESS: the protocol of Amazon S3 as far as an upload needs it.

    python3 s3_server.py FOLDER READY [ADDRESS]

READY gets the port. FOLDER/objects/BUCKET/KEY are the objects, FOLDER/log has a line a request: METHOD PATH?QUERY STATUS CONTENT-TYPE.
Signatures are computed anew from the request as it came, with the keys below; digests of bodies are compared. A bearer token is taken, too.

Buckets: plain; kms (ETags are no MD5s, the SHA-256 of parts is kept); gcs (ETags of objects of several parts are no MD5s); write (may not
be read or listed); far (in another region); any other does not exist.

FOLDER/faults, if there is one, has lines METHOD PART-OF-QUERY COUNT ACTION; "-" is any query, and the first COUNT requests of a line get it:
a status; cut (the connection is closed in the middle of the body); lost (it is closed instead of the answer); etag (a wrong one);
error (status 200 with an error in the body); append:FILE (a byte is appended to that file first, then as usual).
"""
import base64
import datetime
import hashlib
import hmac
import http.server
import os
import re
import socket
import sys
import urllib.parse
import xml.etree.ElementTree as ET
from xml.sax.saxutils import escape

folder, ready, *address = sys.argv[1:]
KEYS = {"AKIDTEST": ("kEy/With+Marks=", None), "ASIATEST": ("temporary-secret", "session/token=="), "GOOGTEST": ("hmac-secret", None)}
TOKEN = "ya29.gcs-token"
BUCKETS = {"plain", "kms", "gcs", "write", "far"}
objects, uploads, used = {}, {}, {}


class Refused(Exception):
    def __init__(self, status, code, message, **headers):
        super().__init__(code)
        self.status, self.code, self.message, self.headers = status, code, message, headers


def sign(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    # ---- requests received ----

    def check_signature(self, path, query):
        given = self.headers.get("Authorization", "")
        if given == "Bearer " + TOKEN:
            return
        found = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, SignedHeaders=([a-z0-9;-]+), "
                             r"Signature=([0-9a-f]{64})", given)
        if not found:
            raise Refused(403, "AccessDenied", "Access Denied")
        key, date, region, service, names, signature = found.groups()
        if key not in KEYS:
            raise Refused(403, "InvalidAccessKeyId", "The key does not exist in our records.")
        secret, token = KEYS[key]
        stamp = self.headers.get("X-Amz-Date", "")
        when = datetime.datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
        if stamp[:8] != date or abs((datetime.datetime.now(datetime.timezone.utc) - when).total_seconds()) > 900:
            raise Refused(403, "RequestTimeTooSkewed", "The clocks differ.")
        must = {"host"} | {n.lower() for n in self.headers if n.lower().startswith("x-amz-") or n.lower() in ("content-type", "content-md5")}
        if names.split(";") != sorted(names.split(";")) or not must <= set(names.split(";")):
            raise Refused(403, "AccessDenied", "There were headers present in the request which were not signed: " + ",".join(sorted(must)))
        pairs = sorted(urllib.parse.parse_qsl(query, keep_blank_values=True))
        canonical = "\n".join([
            self.command, urllib.parse.quote(urllib.parse.unquote_to_bytes(path), safe="/-._~"),
            "&".join(urllib.parse.quote(k, safe="-._~") + "=" + urllib.parse.quote(v, safe="-._~") for k, v in pairs),
            "".join(n + ":" + " ".join(self.headers[n].split()) + "\n" for n in names.split(";")),
            names, self.headers.get("X-Amz-Content-Sha256", "")])
        scope = "/".join([date, region, service, "aws4_request"])
        text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        for part in [date, region, service, "aws4_request"]:
            secret = sign(secret if isinstance(secret, bytes) else ("AWS4" + secret).encode(), part)
        if hmac.new(secret, text.encode(), hashlib.sha256).hexdigest() != signature or service != "s3":
            raise Refused(403, "SignatureDoesNotMatch", "The signature does not match: " + given)
        if token and self.headers.get("X-Amz-Security-Token") != token:
            raise Refused(403, "InvalidToken", "The provided token is malformed: " + self.headers.get("X-Amz-Security-Token", ""))

    def read_body(self, limit=None):
        left, sha, md5, pieces = int(self.headers.get("Content-Length", 0)), hashlib.sha256(), hashlib.md5(), []
        left = left if limit is None else min(left, limit)
        while left:
            piece = self.rfile.read(min(left, 1 << 20))
            if not piece:
                raise ConnectionError
            left -= len(piece)
            pieces.append(piece)
            sha.update(piece)
            md5.update(piece)
        return b"".join(pieces), sha, md5

    def check_digests(self, sha, md5):
        if "X-Amz-Content-Sha256" in self.headers and self.headers["X-Amz-Content-Sha256"] != sha.hexdigest():
            raise Refused(400, "XAmzContentSHA256Mismatch", "The provided header does not match what was computed.")
        if self.headers.get("X-Amz-Checksum-Sha256") not in (None, base64.b64encode(sha.digest()).decode()):
            raise Refused(400, "BadDigest", "The SHA256 you specified did not match.")
        if self.command == "PUT" and self.headers.get("Content-MD5") != base64.b64encode(md5.digest()).decode():
            raise Refused(400, "BadDigest", "The Content-MD5 you specified did not match.")

    def fault(self, query):
        try:
            lines = open(os.path.join(folder, "faults")).read().splitlines()
        except FileNotFoundError:
            return None
        for number, line in enumerate(lines):
            method, part, count, action = line.split(None, 3)
            seen = used.setdefault((number, line), 0)
            if method == self.command and (part == "-" or part in query) and seen < int(count):
                used[(number, line)] += 1
                return action
        return None

    # ---- its abilities ----

    def put(self, bucket, key, query, body, sha, md5):
        record = {"bytes": len(body), "etag": md5.hexdigest(), "sha256": base64.b64encode(sha.digest()).decode()}
        if bucket == "kms":
            record["etag"] = hashlib.md5(b"encrypted" + md5.digest()).hexdigest()
        headers = {"ETag": '"%s"' % record["etag"]}
        if bucket == "kms":
            headers["x-amz-server-side-encryption"] = "aws:kms"
            if "X-Amz-Checksum-Sha256" in self.headers:
                headers["x-amz-checksum-sha256"] = record["sha256"]
        if "partNumber" in query:
            upload = uploads.get(query["uploadId"])
            if not upload or upload["key"] != (bucket, key):
                raise Refused(404, "NoSuchUpload", "The specified upload does not exist.")
            upload["parts"][int(query["partNumber"])] = record | {"body": body}
        else:
            self.keep(bucket, key, record["etag"], [body])
        return 200, headers, b""

    def keep(self, bucket, key, etag, pieces):
        path = os.path.join(folder, "objects", bucket, key)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            for piece in pieces:
                file.write(piece)
        objects[bucket, key] = {"bytes": sum(map(len, pieces)), "etag": etag}

    def begin(self, bucket, key):
        identity = "u%d" % (len(uploads) + 1)
        uploads[identity] = {"key": (bucket, key), "parts": {}, "open": True}
        headers = {"x-amz-checksum-algorithm": "SHA256"} if bucket == "kms" and "X-Amz-Checksum-Algorithm" in self.headers else {}
        return 200, headers, ("<?xml version=\"1.0\"?><InitiateMultipartUploadResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Key>%s</Key>"
                              "<UploadId>%s</UploadId></InitiateMultipartUploadResult>" % (escape(key), identity)).encode()

    def complete(self, bucket, key, identity, body):
        upload = uploads.get(identity)
        if not upload or not upload["open"]:
            raise Refused(404, "NoSuchUpload", "The specified upload does not exist.")
        space = "{http://s3.amazonaws.com/doc/2006-03-01/}"
        named = [(int(p.find(space + "PartNumber").text), p.find(space + "ETag").text.strip('"'), p.findtext(space + "ChecksumSHA256"))
                 for p in ET.fromstring(body)]
        parts = upload["parts"]
        if [n for n, _, _ in named] != sorted(parts) or any(parts[n]["etag"] != etag for n, etag, _ in named):
            raise Refused(400, "InvalidPart", "One or more of the specified parts could not be found.")
        if bucket == "kms" and any(parts[n]["sha256"] != sha for n, _, sha in named):
            raise Refused(400, "InvalidPart", "A part has no checksum.")
        upload["open"] = False
        etag = hashlib.md5(b"".join(bytes.fromhex(parts[n]["etag"]) for n in sorted(parts))).hexdigest() + "-%d" % len(parts)
        self.keep(bucket, key, etag if bucket != "gcs" else "CIi7tPrgzvMCEAE=", [parts[n]["body"] for n in sorted(parts)])
        return 200, {}, b"<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>"

    def list_uploads(self, bucket, prefix):
        found = [(u["key"][1], i) for i, u in uploads.items() if u["open"] and u["key"][0] == bucket and u["key"][1].startswith(prefix)]
        return 200, {}, ("<ListMultipartUploadsResult>" + "".join(
            "<Upload><Key>%s</Key><UploadId>%s</UploadId><Initiated>2026-01-01T00:00:%02d.000Z</Initiated></Upload>" %
            (escape(k), i, int(i[1:])) for k, i in sorted(found)) + "</ListMultipartUploadsResult>").encode()

    def list_parts(self, identity, after):
        upload = uploads[identity]
        numbers = [n for n in sorted(upload["parts"]) if n > after]
        page, sums = numbers[:2], upload["key"][0] == "kms"  # pages as small as that show that all are asked for
        return 200, {}, ("<ListPartsResult>%s<IsTruncated>%s</IsTruncated>" % (
            "<ChecksumAlgorithm>SHA256</ChecksumAlgorithm>" if sums else "", "true" if len(numbers) > 2 else "false") + "".join(
                "<Part><PartNumber>%d</PartNumber><ETag>&quot;%s&quot;</ETag><Size>%d</Size>%s</Part>" %
                (n, upload["parts"][n]["etag"], upload["parts"][n]["bytes"],
                 "<ChecksumSHA256>%s</ChecksumSHA256>" % upload["parts"][n]["sha256"] if sums else "") for n in page) +
            "</ListPartsResult>").encode()

    def act(self, path, query, body, sha, md5):
        bucket, _, key = urllib.parse.unquote(path[1:]).partition("/")
        fields = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        self.check_signature(path, query)
        if bucket not in BUCKETS:
            raise Refused(404, "NoSuchBucket", "The specified bucket does not exist")
        if bucket == "far":
            raise Refused(301, "PermanentRedirect", "Use the other endpoint.", **{"x-amz-bucket-region": "eu-west-3"})
        if bucket == "write" and self.command in ("GET", "HEAD"):
            raise Refused(403, "AccessDenied", "Access Denied")
        self.check_digests(sha, md5)
        if self.command == "PUT":
            return self.put(bucket, key, fields, body, sha, md5)
        if self.command == "POST":
            return self.begin(bucket, key) if "uploads" in fields else self.complete(bucket, key, fields["uploadId"], body)
        if "uploads" in fields:
            return self.list_uploads(bucket, fields.get("prefix", ""))
        if "uploadId" in fields:
            return self.list_parts(fields["uploadId"], int(fields.get("part-number-marker", 0)))
        if (bucket, key) not in objects:
            raise Refused(404, "NoSuchKey", "The specified key does not exist.")
        headers = {"ETag": '"%s"' % objects[bucket, key]["etag"], "Content-Length": str(objects[bucket, key]["bytes"])}
        return 200, headers | ({"x-amz-server-side-encryption": "aws:kms"} if bucket == "kms" else {}), b""

    def answer(self):
        path, _, query = self.path.partition("?")
        action = self.fault(query)
        note = "cut"
        try:
            if action == "cut":
                self.read_body(100000)
                raise ConnectionError
            body, sha, md5 = self.read_body()
            if action and action.startswith("append:"):
                with open(action[7:], "ab") as file:
                    file.write(b"x")
            if action and action.isdigit():
                raise Refused(int(action), "SlowDown", "Please reduce your request rate.", **{"Retry-After": "0"})
            status, headers, text = self.act(path, query, body, sha, md5)
            if action == "etag":
                headers["ETag"] = '"%032x"' % 1
            if action == "error":
                text = b"<?xml version=\"1.0\"?>\n<Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>"
            if action == "lost":
                note = "lost"
                raise ConnectionError
        except Refused as refused:
            status, headers = refused.status, refused.headers
            text = ("<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>%s</Message></Error>" % (refused.code, escape(refused.message))).encode()
        except ConnectionError:
            status = None
        with open(os.path.join(folder, "log"), "a", encoding="utf-8") as log:
            log.write("%s %s %s %s\n" % (self.command, self.path, status or note, self.headers.get("Content-Type", "-")))
        if status is None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    do_GET = do_HEAD = do_PUT = do_POST = answer


os.makedirs(folder, exist_ok=True)
server = http.server.ThreadingHTTPServer((*(address or ["127.0.0.1"]), 0), Handler)
server.daemon_threads = True
with open(ready + ".new", "w", encoding="utf-8") as file:
    file.write("%d\n" % server.server_address[1])
os.rename(ready + ".new", ready)
server.serve_forever()
