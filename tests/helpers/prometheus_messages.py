"""Metrics published as protocol buffers, decoded by Google's library with the messages described here anew.

    prometheus_messages.py families FILE        the exposition format: prints "name{labels} value" as the text format does, sorted
    prometheus_messages.py native FILE          its native histograms: "name{labels} [[index, count], …]"
    prometheus_messages.py serve FOLDER         receives remote write on a free port, which it prints: FOLDER/N.json, a request each
    prometheus_messages.py buckets RESULTS      "name{stage} [[index, count], …]" as computed from the rows

Ends with 77 where the library is not installed.
"""
import collections, http.server, json, math, os, sys

from protobuf_messages import message_of

CLIENT = {  # io.prometheus.client, proto2
    "LabelPair": "name=1 string, value=2 string",
    "Gauge": "value=1 double", "Counter": "value=1 double",
    "Bucket": "cumulative_count=1 uint64, upper_bound=2 double",
    "BucketSpan": "offset=1 sint32, length=2 uint32",
    "Histogram": "sample_count=1 uint64, sample_sum=2 double, bucket=3 *Bucket, schema=5 sint32, zero_threshold=6 double, "
                 "zero_count=7 uint64, positive_span=12 *BucketSpan, positive_delta=13 *sint64",
    "Metric": "label=1 *LabelPair, gauge=2 Gauge, counter=3 Counter, histogram=7 Histogram",
    "MetricFamily": "name=1 string, help=2 string, type=3 int32, metric=4 *Metric",
}
WRITE = {  # prometheus (prompb), proto3
    "Label": "name=1 string, value=2 string", "Sample": "value=1 double, timestamp=2 int64",
    "BucketSpan": "offset=1 sint32, length=2 uint32",
    "Histogram": "count_int=1 uint64, sum=3 double, schema=4 sint32, zero_threshold=5 double, zero_count_int=6 uint64, "
                 "positive_spans=11 *BucketSpan, positive_deltas=12 *sint64, timestamp=15 int64",
    "TimeSeries": "labels=1 *Label, samples=2 *Sample, histograms=4 *Histogram",
    "MetricMetadata": "type=1 int32, metric_family_name=2 string, help=4 string, unit=5 string",
    "WriteRequest": "timeseries=1 *TimeSeries, metadata=3 *MetricMetadata",
}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def unsnappy(data):
    """The block format, from its description."""
    size, at = varint(data, 0)
    out = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        if tag & 3 == 0:
            n = tag >> 2
            if n >= 60:
                extra = n - 59
                n = int.from_bytes(data[at:at + extra], "little")
                at += extra
            out += data[at:at + n + 1]
            at += n + 1
            continue
        if tag & 3 == 1:
            n, offset = (tag >> 2 & 7) + 4, (tag >> 5) << 8 | data[at]
            at += 1
        else:
            width = 2 if tag & 3 == 2 else 4
            n, offset = (tag >> 2) + 1, int.from_bytes(data[at:at + width], "little")
            at += width
        for _ in range(n):
            out.append(out[-offset])
    assert len(out) == size, (len(out), size)
    return bytes(out)


def number(value):
    if math.isinf(value):
        return "+Inf"
    return str(int(value)) if value == int(value) else repr(value)


def series(name, labels):
    return name + ("{" + ",".join(f'{k}="{v}"' for k, v in labels) + "}" if labels else "")


def native(spans, deltas):
    found, index, count, at = [], 0, 0, 0
    for span in spans:
        index += span.offset
        for _ in range(span.length):
            count += deltas[at]
            at += 1
            if count:
                found.append([index, count])
            index += 1
    assert at == len(deltas)
    return found


def families(path, what):
    family_class = message_of("client", CLIENT)
    data, at, lines = open(path, "rb").read(), 0, []
    while at < len(data):
        size, at = varint(data, at)
        family = family_class.FromString(data[at:at + size])
        at += size
        assert family.help
        for m in family.metric:
            labels = [(l.name, l.value) for l in m.label]
            if family.type == 4:
                h = m.histogram
                buckets = native(h.positive_span, h.positive_delta)
                assert sum(n for _, n in buckets) + h.zero_count == h.sample_count and h.schema == 5, (h, buckets)
                if what == "native":
                    lines.append(series(family.name, labels) + " " + json.dumps(buckets))
                    continue
                for b in h.bucket:
                    bound = repr(b.upper_bound) if b.upper_bound < math.inf else "+Inf"
                    lines.append(series(family.name + "_bucket", labels + [("le", bound.replace("e-05", "e-05"))]) + f" {b.cumulative_count}")
                lines.append(series(family.name + "_sum", labels) + " " + number(h.sample_sum))
                lines.append(series(family.name + "_count", labels) + f" {h.sample_count}")
            elif what != "native":
                lines.append(series(family.name, labels) + " " + number(m.counter.value if family.type == 0 else m.gauge.value))
    print("\n".join(sorted(lines)))


def buckets(path):
    with open(path) as f:
        header, *rows = [json.loads(line) for line in f]
    names = [s["name"] for s in header["stages"]]
    for metric, key in (("ipf_e2e_request_latency_seconds", "e2e_ns"), ("ipf_start_lag_seconds", "lag_ns"),
                        ("ipf_time_to_first_token_seconds", "ttft_ns")):
        for i, stage in enumerate(names):
            values = [r[key] / 1e9 for r in rows
                      if "n" in r and r["stage"] == i and r.get(key, 0) > 0 and (r["ok"] or key == "lag_ns")]
            found = collections.Counter(math.ceil(math.log2(v) * 32) for v in values)
            print(f'{metric}{{stage="{stage}"}} {json.dumps(sorted([k, n] for k, n in found.items()))}')


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    requests = 0

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        request = message_of("write", WRITE).FromString(unsnappy(body))
        got = {"headers": {k.lower(): v for k, v in self.headers.items()}, "series": [], "metadata": len(request.metadata)}
        for s in request.timeseries:
            names = [l.name for l in s.labels]
            got["series"].append({
                "labels": {l.name: l.value for l in s.labels}, "sorted": names == sorted(names),
                "samples": [[x.value, x.timestamp] for x in s.samples],
                "histograms": [[h.count_int, sum(n for _, n in native(h.positive_spans, h.positive_deltas)) + h.zero_count_int, h.timestamp]
                               for h in s.histograms]})
        Receiver.requests += 1
        path = os.path.join(self.server.folder, f"{Receiver.requests:04}.json")
        with open(path + ".part", "w") as f:
            json.dump(got, f)
        os.rename(path + ".part", path)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


if sys.argv[1] == "serve":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    server.folder = sys.argv[2]
    print(server.server_address[1], flush=True)
    server.serve_forever()
elif sys.argv[1] == "buckets":
    buckets(sys.argv[2])
else:
    families(sys.argv[2], sys.argv[1])
