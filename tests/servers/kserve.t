#!/bin/bash
# KServe's Python server (PyPI's kserve), with a model saying numbers: its protocols V1 (by a descriptor made here) and V2, over HTTP and
# gRPC. Its OpenAI protocol is vLLM's.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/servers/servers.sh"

venv kserve kserve==0.21.0
cat >app.py <<'END'
import sys
import kserve
from kserve.protocol.infer_type import InferOutput, InferResponse


class Numbers(kserve.Model):
    def __init__(self, name):
        super().__init__(name)
        self.ready = True

    def say(self, tokens): return "".join(f"{n} " for n in range(tokens))

    def predict(self, payload, headers=None, response_headers=None):
        if isinstance(payload, dict): return {"predictions": [[{"generated_text": self.say(i["max_length"])}] for i in payload["instances"]]}
        inputs = {given.name: given for given in payload.inputs}
        return InferResponse(payload.id, self.name, [InferOutput("text_output", [1], "BYTES", data=[self.say(int(inputs["max_tokens"].data[0]))])])


kserve.ModelServer(http_port=int(sys.argv[1]), grpc_port=int(sys.argv[2]), workers=1).start([Numbers("numbers")])
END
grpc=$(free_port)
serve /v2/health/ready "$servers/kserve/bin/python" app.py PORT "$grpc"
echo '{"ipf": "api", "version": 1, "name": "kserve-v1", "like": "naive-transformers", "path": "/v1/models/$model:predict",
	"response_whole": {"text_after": null}}' >v1.json
ipf-prep synthetic -n 20 --input-tokens 40 --output-tokens 16 -q -o prompts.trace
asks V1 v1.json numbers "$SERVED"
asks V2 kserve-http numbers "$SERVED"
asks V2-gRPC kserve-grpc numbers "http://127.0.0.1:$grpc" --http 2-prior --no-stream
