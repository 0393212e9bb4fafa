#!/bin/bash
# BentoML (PyPI's bentoml), with a service that mounts a FastAPI application, as its examples of language models do: it says numbers.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/servers/servers.sh"

venv bentoml bentoml==1.4.40 fastapi
cp "$TESTS/servers/numbers_app.py" .
cat >service.py <<'END'
import bentoml
from numbers_app import app


@bentoml.service(workers=1, traffic={"timeout": 60})
@bentoml.asgi_app(app)
class Numbers:
    pass
END
export BENTOML_DO_NOT_TRACK=True BENTOML_HOME=$PWD/home
serve /v1/models "$servers/bentoml/bin/bentoml" serve service:Numbers --host 127.0.0.1 --port PORT
NEAR_MS=30 matrix "$SERVED" numbers
