#!/bin/bash
# NVIDIA's Triton, the server inside PyPI's nvidia-pytriton, with a model in Python that answers as TensorRT-LLM's does and says numbers: the
# generate extension and the V2 protocol, over HTTP and gRPC, and its metrics.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/servers/servers.sh"

# its Python models run in the libpython of the system
PYTHON=/usr/bin/python3 venv triton nvidia-pytriton==0.7.0
cat >app.py <<'END'
import sys, time
import numpy
from pytriton.model_config import DynamicBatcher, ModelConfig, Tensor
from pytriton.triton import Triton, TritonConfig

http, grpc, metrics = map(int, sys.argv[1:])


def numbers(requests):
    for n in range(int(requests[0]["max_tokens"].flat[0])):
        time.sleep(0.002)
        yield [{"text_output": numpy.array([f"{n} ".encode()], dtype=object)[None]}]


def whole(requests):
    tokens = int(requests[0]["max_tokens"].flat[0])
    return [{"text_output": numpy.array(["".join(f"{n} " for n in range(tokens)).encode()], dtype=object)[None]}]


given = [Tensor(name="text_input", dtype=bytes, shape=(1,)), Tensor(name="max_tokens", dtype=numpy.int32, shape=(1,)),
         Tensor(name="bad_words", dtype=bytes, shape=(1,), optional=True), Tensor(name="stop_words", dtype=bytes, shape=(1,), optional=True),
         Tensor(name="stream", dtype=numpy.bool_, shape=(1,), optional=True)]
with Triton(config=TritonConfig(http_port=http, grpc_port=grpc, metrics_port=metrics, http_address="127.0.0.1", grpc_address="127.0.0.1")) as triton:
    for name, says in ("numbers", numbers), ("whole", whole):
        triton.bind(model_name=name, infer_func=says, inputs=given, outputs=[Tensor(name="text_output", dtype=bytes, shape=(1,))],
                    config=ModelConfig(batching=True, max_batch_size=1, decoupled=says is numbers))
    triton.serve()
END
grpc=$(free_port) metrics=$(free_port)
serve /v2/models/whole/ready "$servers/triton/bin/python" app.py PORT "$grpc" "$metrics"
wait_for answers "$SERVED/v2/models/numbers/ready"
ipf-prep synthetic -n 20 --input-tokens 40 --output-tokens 16 -q -o prompts.trace
asks generate-stream triton-generate numbers "$SERVED"
is "$(jq .total.tokens.output.mean generate-stream.json)" 16 "generate-stream: an event for each token"
asks generate triton-generate whole "$SERVED" --no-stream
asks V2 kserve-http whole "$SERVED"
asks V2-gRPC kserve-grpc whole "http://127.0.0.1:$grpc" --http 2-prior --no-stream
asks V2-gRPC-stream kserve-grpc numbers "http://127.0.0.1:$grpc" --http 2-prior

# ---- its metrics -----------------------------------------------------------------------------------------------------
API=triton-generate MODEL=numbers URL=$SERVED
ipf-sched -q constant:rate=10,n=40 -t prompts.trace -o published.sched
asked published.sched 2>"$ERR" | ipf-collect -q --scrape "http://127.0.0.1:$metrics" --every 200ms -o published.results 2>>"$ERR"
ipf-report -q -f json published.results >published.json
is "$(jq -c '.server.comparison.requests | .client == .server' published.json)" true "the server's counter has our requests"
