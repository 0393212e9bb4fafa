#!/bin/bash
# mock-llm (npm's @dwmkerr/mock-llm), which repeats its prompt.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/servers/servers.sh"

command -v npm >/dev/null || skip_all "no npm"
npm_packages mock-llm @dwmkerr/mock-llm@0.1.29
cat >start <<'END'
PORT=$1 exec "$servers/mock-llm/node_modules/.bin/mock-llm"
END
export servers
serve /v1/models bash start PORT
NEAR_MS=30 WRONG_MODEL=accepted matrix "$SERVED" gpt-5.2
