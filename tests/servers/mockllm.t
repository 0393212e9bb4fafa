#!/bin/bash
# MockLLM (PyPI's mockllm, by Luke Hinds): a mock of OpenAI and Anthropic answering from a file, a character an event.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/servers/servers.sh"

venv light mockllm==0.0.8 litserve==0.2.19
cat >answers.yml <<'END'
responses: {}
defaults:
  unknown_response: "It rains in the north, and the rivers rise."
settings:
  lag_enabled: false
END
serve /models "$servers/light/bin/mockllm" start -r "$PWD/answers.yml" -h 127.0.0.1 -p PORT
WRONG_MODEL=accepted matrix "$SERVED" gpt-4
