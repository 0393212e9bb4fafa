#!/bin/bash
# LitServe (PyPI's litserve, by Lightning AI): its OpenAI server, with a model saying numbers, 2 ms each.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/servers/servers.sh"

venv light mockllm==0.0.8 litserve==0.2.19
cat >app.py <<'END'
import sys, time
import litserve


class Numbers(litserve.LitAPI):
    def setup(self, device): pass

    def predict(self, prompt):
        for n in range(16):
            time.sleep(0.002)
            yield f"{n} "


if __name__ == "__main__":
    api = Numbers(spec=litserve.OpenAISpec())
    litserve.LitServer(api, accelerator="cpu", workers_per_device=1).run(host="127.0.0.1", port=int(sys.argv[1]), generate_client_file=False)
END
serve /health "$servers/light/bin/python" app.py PORT
WRONG_MODEL=accepted matrix "$SERVED" lit
