"""Calls as OpenTelemetry's own SDK for Python records and encodes them: writes spans.pb and logs.pb (protocol buffers),
spans.json and logs.json (the same messages in OTLP's JSON). Needs opentelemetry-sdk and
opentelemetry-exporter-otlp-proto-common."""
import base64
import json
import sys

try:
    from google.protobuf.json_format import MessageToDict
    from opentelemetry import trace
    from opentelemetry._logs import LogRecord
    from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
except ImportError as missing:
    print(missing)
    sys.exit(77)

START = 1760428258000000000


def hex_ids(value):
    """OTLP's JSON has ids as hexadecimal digits, where protocol buffers' JSON has base64."""
    if isinstance(value, dict):
        return {k: base64.b64decode(v).hex() if k in ("traceId", "spanId", "parentSpanId") else hex_ids(v)
                for k, v in value.items()}
    return [hex_ids(v) for v in value] if isinstance(value, list) else value


def write(name, message):
    with open(name + ".pb", "wb") as file:
        file.write(message.SerializeToString())
    with open(name + ".json", "w", encoding="utf-8") as file:
        file.write(json.dumps(hex_ids(MessageToDict(message))) + "\n")


def main():
    span_exporter, log_exporter = InMemorySpanExporter(), InMemoryLogRecordExporter()
    spans, logs = TracerProvider(), LoggerProvider()
    spans.add_span_processor(SimpleSpanProcessor(span_exporter))
    logs.add_log_record_processor(SimpleLogRecordProcessor(log_exporter))
    tracer, logger = spans.get_tracer("test"), logs.get_logger("test")
    for n in range(3):
        span = tracer.start_span("chat m", start_time=START + n * 10**9, attributes={
            "gen_ai.operation.name": "chat", "gen_ai.request.model": "m\u00e9", "gen_ai.usage.input_tokens": 10 + n,
            "gen_ai.usage.output_tokens": 5, "gen_ai.conversation.id": "c", "gen_ai.response.finish_reasons": ["stop"],
            "gen_ai.response.time_to_first_chunk": 0.125})
        context = trace.set_span_in_context(span)
        prompt = "Question %d?" % n
        if n == 0:
            span.add_event("gen_ai.user.message", {"content": prompt}, timestamp=START)
            span.add_event("gen_ai.choice", {"index": 0, "message": '{"content":"The first answer."}'}, timestamp=START)
        elif n == 1:
            logger.emit(LogRecord(timestamp=START, context=context, event_name="gen_ai.user.message",
                                  body={"content": prompt}, attributes={"gen_ai.system": "openai"}))
            logger.emit(LogRecord(timestamp=START + 1, context=context, event_name="gen_ai.choice",
                                  body={"index": 0, "message": {"content": "The second answer."}}))
        else:
            logger.emit(LogRecord(
                timestamp=START, context=context, event_name="gen_ai.client.inference.operation.details",
                attributes={"gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": prompt}]}],
                            "gen_ai.tool.definitions": [{"type": "function", "name": "f", "parameters": {
                                "type": "object", "minimum": -1, "maximum": 2.5, "nullable": True}}]}))
        span.end(end_time=START + n * 10**9 + 5 * 10**8)
    write("spans", encode_spans(span_exporter.get_finished_spans()))
    write("logs", encode_logs(log_exporter.get_finished_logs()))


main()
