"""Model servers that speak gRPC, by another's implementation: grpcio, and messages that protoc made of tests/data/grpc/.

    grpc_server.py PROTOS LOG [--ready-after QUESTIONS] [--age SECONDS] [--tls CERT KEY]

Serves all of them on one port, which it prints; with --age it says goodbye to connections that are so old. With --ready-after, it answers so
many questions about its readiness with no. Each request adds a line of JSON to LOG: the request, the answer and when the first content was
handed over. The header x-mode asks for misbehaviour: unavailable, exhausted (after three messages), big (4 MB in one message), compressed,
slow (never ends), fail (in the protocol's own way).
"""
import concurrent.futures
import importlib
import json
import os
import struct
import sys
import tempfile
import threading
import time

import grpc
from grpc_tools import protoc

STEP_S = 0.004


def load(protos):
    """The generated modules, by the protos' names."""
    into = tempfile.mkdtemp(dir=".")
    names = sorted(n for n in os.listdir(protos) if n.endswith(".proto"))
    if protoc.main(["protoc", f"-I{protos}", f"--python_out={into}", f"--grpc_python_out={into}"] + names):
        sys.exit("protoc failed")
    sys.path.insert(0, into)
    return {n[:-6]: (importlib.import_module(n[:-6] + "_pb2"), importlib.import_module(n[:-6] + "_pb2_grpc")) for n in names}


MODULES = load(sys.argv[1])
LOG = open(sys.argv[2], "a", encoding="utf-8")
LOCK = threading.Lock()
UNREADY = iter(range(int(sys.argv[sys.argv.index("--ready-after") + 1]) if "--ready-after" in sys.argv else 0))


def is_ready():
    with LOCK:
        return next(UNREADY, None) is None


def words(prompt, count):
    """An answer depending on the prompt, with characters of one to four bytes."""
    seed = sum(prompt.encode())
    return [" " * (i > 0) + ["one", "zwölf", "三", "👍🏽", "\"x\"\n"][(seed + i) % 5] + str(i) for i in range(count)]


class Exchange:
    """One request: its mode, its answer, its line in the log."""

    def __init__(self, context, api, prompt, count, **more):
        self.context = context
        given = dict(context.invocation_metadata())
        self.mode = given.get("x-mode", "")
        left = context.time_remaining()
        self.line = dict(api=api, id=given.get("x-request-id"), prompt=prompt, max_tokens=count,
                         time_remaining=left if left is not None and left < 1e6 else None, **more)
        self.pieces = words(prompt, count or 5)
        if self.mode == "big":
            self.pieces = ["é" * 2000000 + str(len(prompt))]
        if self.mode == "unavailable":
            context.abort(grpc.StatusCode.UNAVAILABLE, "no model: 100% gone,\nsorry é")
        if self.mode == "compressed":
            context.set_compression(grpc.Compression.Gzip)

    def each(self):
        for i, piece in enumerate(self.pieces):
            if self.mode == "exhausted" and i == 3:
                self.context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "out of blocks")
            if self.mode == "slow" and i == 2:
                while self.context.is_active():
                    time.sleep(0.01)
                return
            time.sleep(STEP_S)
            self.line.setdefault("first_wall_ns", time.time_ns())
            yield i + 1, piece, i + 1 == len(self.pieces)
        self.log()

    def whole(self):
        time.sleep(STEP_S)
        if self.mode == "slow":
            while self.context.is_active():
                time.sleep(0.01)
        if self.mode == "exhausted":
            self.context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "out of blocks")
        self.line["first_wall_ns"] = time.time_ns()
        self.log()
        return "".join(self.pieces)

    def log(self):
        self.line.update(text="".join(self.pieces), tokens=len(self.pieces))
        with LOCK:
            LOG.write(json.dumps(self.line) + "\n")
            LOG.flush()


# ---- TGIS ----
fm = MODULES["fmaas"][0]


class Fmaas(MODULES["fmaas"][1].GenerationServiceServicer):
    def open(self, context, request, text):
        stop = request.params.stopping
        return Exchange(context, "tgis-grpc", text, stop.max_new_tokens, min_tokens=stop.min_new_tokens, model=request.model_id,
                        temperature=request.params.sampling.temperature)

    def GenerateStream(self, request, context):
        x = self.open(context, request, request.request.text)
        yield fm.GenerationResponse(input_token_count=len(request.request.text), seed=2**64 - 1)
        for n, piece, last in x.each():
            if x.mode == "fail" and n == 3:
                yield fm.GenerationResponse(generated_token_count=n, stop_reason=fm.ERROR)
                return
            yield fm.GenerationResponse(text=piece, generated_token_count=n, stop_reason=fm.MAX_TOKENS if last else 0,
                                        tokens=[fm.TokenInfo(text=piece, logprob=-0.5, rank=1)])

    def Generate(self, request, context):
        text = request.requests[0].text
        x = self.open(context, request, text)
        return fm.BatchedGenerationResponse(responses=[fm.GenerationResponse(
            input_token_count=len(text), text=x.whole(), generated_token_count=len(x.pieces), stop_reason=fm.EOS_TOKEN)])


# ---- Triton ----
kv = MODULES["kserve"][0]


def tensor(request, name):
    for i in request.inputs:
        if i.name == name:
            c = i.contents
            return (list(c.bytes_contents) + list(c.int_contents) + list(c.bool_contents))[0]
    return None


class Kserve(MODULES["kserve"][1].GRPCInferenceServiceServicer):
    def ServerReady(self, request, context):
        return kv.ServerReadyResponse(ready=is_ready())

    def open(self, context, request):
        parameters = tensor(request, "sampling_parameters")
        vllm = json.loads(parameters) if parameters else {}
        count = vllm.get("max_tokens") or tensor(request, "max_tokens")
        return Exchange(context, "kserve-grpc-vllm" if parameters else "kserve-grpc", tensor(request, "text_input").decode(), count,
                        model=request.model_name, min_tokens=vllm.get("min_tokens") or tensor(request, "min_tokens") or 0,
                        inputs={i.name: [i.datatype, list(i.shape)] for i in request.inputs}, temperature=vllm.get("temperature"),
                        outputs=[o.name for o in request.outputs])

    def answer(self, x, request, text, final):
        response = kv.ModelInferResponse(model_name=request.model_name, model_version="1", id=request.id)
        response.parameters["triton_final_response"].bool_param = final
        sequence = response.outputs.add(name="sequence_index", datatype="INT32", shape=[1])
        output = response.outputs.add(name="text_output", datatype="BYTES", shape=[1])
        raw = text.encode()
        if x.line["model"] == "contents":
            sequence.contents.int_contents.append(-3)
            output.contents.bytes_contents.append(raw)
        else:
            response.raw_output_contents.append(struct.pack("<i", -3))
            response.raw_output_contents.append(struct.pack("<I", len(raw)) + raw)
        return response

    def ModelInfer(self, request, context):
        x = self.open(context, request)
        return self.answer(x, request, x.whole(), True)

    def ModelStreamInfer(self, requests, context):
        for request in requests:
            x = self.open(context, request)
            if x.mode == "fail":
                yield kv.ModelStreamInferResponse(error_message="model 'm' is not ready")
            elif not tensor(request, "stream"):
                yield kv.ModelStreamInferResponse(infer_response=self.answer(x, request, x.whole(), True))
            else:
                for _, piece, last in x.each():
                    yield kv.ModelStreamInferResponse(infer_response=self.answer(x, request, piece, last))


# ---- JetStream ----
js = MODULES["jetstream"][0]


class Jetstream(MODULES["jetstream"][1].OrchestratorServicer):
    def HealthCheck(self, request, context):
        return js.HealthCheckResponse(is_live=is_ready())

    def Decode(self, request, context):
        ids = list(request.token_content.token_ids)
        x = Exchange(context, "jetstream-grpc", request.text_content.text or json.dumps(ids), request.max_tokens)
        yield js.DecodeResponse(initial_content=js.DecodeResponse.InitialContent())
        for n, piece, _ in x.each():
            content = js.DecodeResponse.StreamContent()
            content.samples.add(text=piece, token_ids=[n, -n])
            yield js.DecodeResponse(stream_content=content)


# ---- Saxml ----
sx = MODULES["sax"][0]


class Sax(MODULES["sax"][1].LMServiceServicer):
    def open(self, context, request):
        items = request.extra_inputs.items
        return Exchange(context, "sax-grpc", request.text, int(items["per_example_max_decode_steps"]), model=request.model_key,
                        temperature=items.get("temperature"))

    def GenerateStream(self, request, context):
        x = self.open(context, request)
        before = ""
        for _, piece, _ in x.each():
            # the last character is not whole at first, and is taken back
            for text, keep in ((piece[:-1] + "\ufffd", len(before)), (piece[-1], len(before) + len(piece) - 1)):
                response = sx.GenerateStreamResponse()
                response.items.add(text=text, prefix_len=keep)
                yield response
            before += piece

    def Generate(self, request, context):
        x = self.open(context, request)
        return sx.GenerateResponse(texts=[sx.DecodedText(text=x.whole(), score=-0.25)])


# ---- Caikit ----
ck = MODULES["caikit"][0]


class Caikit(MODULES["caikit"][1].NlpServiceServicer):
    def open(self, context, request):
        return Exchange(context, "caikit-grpc", request.text, request.max_new_tokens, min_tokens=request.min_new_tokens,
                        model=dict(context.invocation_metadata()).get("mm-model-id"), temperature=request.temperature)

    def ServerStreamingTextGenerationTaskPredict(self, request, context):
        x = self.open(context, request)
        for n, piece, last in x.each():
            yield ck.GeneratedTextStreamResult(generated_text=piece, details=ck.TokenStreamDetails(
                finish_reason=ck.MAX_TOKENS if last else 0, generated_tokens=n, input_token_count=len(request.text)))

    def TextGenerationTaskPredict(self, request, context):
        x = self.open(context, request)
        return ck.GeneratedTextResult(generated_text=x.whole(), generated_tokens=len(x.pieces), finish_reason=ck.EOS_TOKEN,
                                      input_token_count=len(request.text), seed=7)


# ---- DeepSpeed-MII ----
mi = MODULES["mii"][0]


class Mii(MODULES["mii"][1].ModelResponseServicer):
    def open(self, context, request):
        given = {k: getattr(v, v.WhichOneof("oneof_values")) for k, v in request.query_kwargs.items()}
        return Exchange(context, "deepspeed-mii-grpc", request.request[0], given.get("max_new_tokens"),
                        min_tokens=given.get("min_new_tokens", 0), full=given.get("return_full_text"), temperature=given.get("temperature"))

    def GeneratorReplyStream(self, request, context):
        x = self.open(context, request)
        for n, piece, last in x.each():
            reply = mi.MultiGenerationReply()
            reply.response.add(response=piece, finish_reason="length" if last else "none", prompt_tokens=len(x.line["prompt"]),
                               generated_tokens=n)
            yield reply

    def GeneratorReply(self, request, context):
        x = self.open(context, request)
        reply = mi.MultiGenerationReply()
        reply.response.add(response=x.whole(), finish_reason="stop", prompt_tokens=len(x.line["prompt"]), generated_tokens=len(x.pieces))
        return reply


hl = MODULES["health"][0]


class Health(MODULES["health"][1].HealthServicer):
    def Check(self, request, context):
        return hl.HealthCheckResponse(status=hl.HealthCheckResponse.SERVING if is_ready() else hl.HealthCheckResponse.NOT_SERVING)


def main():
    options = [("grpc.max_send_message_length", -1)]
    if "--age" in sys.argv:
        age_ms = int(1000 * float(sys.argv[sys.argv.index("--age") + 1]))
        options += [("grpc.max_connection_age_ms", age_ms), ("grpc.max_connection_age_grace_ms", 60000)]
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(16), options=options)
    for name, servicer in (("fmaas", Fmaas), ("kserve", Kserve), ("jetstream", Jetstream), ("sax", Sax), ("caikit", Caikit), ("mii", Mii),
                           ("health", Health)):
        module = MODULES[name][1]
        add = next(getattr(module, n) for n in dir(module) if n.startswith("add_"))
        add(servicer(), server)
    if "--tls" in sys.argv:
        cert, key = (open(sys.argv[sys.argv.index("--tls") + i], "rb").read() for i in (1, 2))
        port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([(key, cert)]))
    else:
        port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    sys.stdin.read()  # until whoever started us is gone
    server.stop(0)


main()
