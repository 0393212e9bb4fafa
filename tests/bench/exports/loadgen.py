"""MLPerf's LoadGen, one query after another, against a server streaming chat completions: its mlperf_log_summary.txt.

usage: loadgen.py URL REQUESTS FOLDER

LoadGen is no client of HTTP: its users write the part asking for an answer, reads it, and passes its first and its last token to
LoadGen. This one reads a line at a time, counts the tokens by the server's usage, and keeps its connection.
"""
import array
import http.client
import json
import queue
import sys
import threading
import urllib.parse

import mlperf_loadgen as lg

PROMPT = "tell me a story of sixty-four bytes, no more and no less of it"


def tell(report, ident, tokens):
    ids = array.array("I", range(tokens))
    address, count = ids.buffer_info()
    report([lg.QuerySampleResponse(ident, address, count * ids.itemsize, tokens)])


def ask(connection, ident):
    body = {"model": "sim", "messages": [{"role": "user", "content": PROMPT}], "max_tokens": 64, "stream": True,
            "stream_options": {"include_usage": True}}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    response, tokens, first = connection.getresponse(), 0, True
    for line in response:
        if not line.startswith(b"data: {"):
            continue
        event = json.loads(line[6:])
        tokens = (event.get("usage") or {}).get("completion_tokens") or tokens
        if first and any(choice["delta"].get("content") for choice in event["choices"]):
            tell(lg.FirstTokenComplete, ident, 1)
            first = False
    tell(lg.QuerySamplesComplete, ident, tokens)


def main():
    url, count, folder = urllib.parse.urlsplit(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    waiting = queue.SimpleQueue()

    def work():
        connection = http.client.HTTPConnection(url.hostname, url.port)
        while (ident := waiting.get()) is not None:
            ask(connection, ident)

    thread = threading.Thread(target=work)
    thread.start()
    settings = lg.TestSettings()
    settings.scenario, settings.mode = lg.TestScenario.SingleStream, lg.TestMode.PerformanceOnly
    settings.use_token_latencies = True
    settings.single_stream_expected_latency_ns = 1_000_000_000
    settings.min_query_count = settings.max_query_count = count
    settings.min_duration_ms = 0
    output = lg.LogOutputSettings()
    output.outdir, output.copy_summary_to_stdout = folder, False
    log = lg.LogSettings()
    log.log_output = output
    sut = lg.ConstructSUT(lambda samples: [waiting.put(sample.id) for sample in samples], lambda: None)
    qsl = lg.ConstructQSL(1, 1, lambda _: None, lambda _: None)
    lg.StartTestWithLogSettings(sut, qsl, settings, log)
    waiting.put(None)
    thread.join()
    lg.DestroyQSL(qsl)
    lg.DestroySUT(sut)


main()
