#!/bin/bash
# Ray Serve (PyPI's ray[serve]), with a FastAPI application of two replicas saying numbers: behind its proxy.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/servers/servers.sh"

venv ray 'ray[serve]==2.60.0'
cp "$TESTS/servers/numbers_app.py" .
cat >app.py <<'END'
import sys
import ray
from numbers_app import app
from ray import serve


@serve.deployment(num_replicas=2, max_ongoing_requests=64, ray_actor_options={"num_cpus": 0})
@serve.ingress(app)
class Numbers:
    pass


ray.init(num_cpus=2, include_dashboard=False, object_store_memory=100_000_000, _metrics_export_port=int(sys.argv[2]))
serve.start(http_options={"host": "127.0.0.1", "port": int(sys.argv[1])})
serve.run(Numbers.bind(), blocking=True)
END
export RAY_USAGE_STATS_ENABLED=0
serve /v1/models "$servers/ray/bin/python" app.py PORT "$(free_port)"
NEAR_MS=30 matrix "$SERVED" numbers
