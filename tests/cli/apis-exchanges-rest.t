#!/bin/bash
# Exchanges with servers, as files (tests/data/apis/): those whose name begins with a letter of this part of the alphabet. See exchanges.sh.
. "$TESTS/tap.sh"
. "$TESTS/helpers/exchanges.sh"

server_start --api-key nobody # keeps the model from being found
exchanges '[p-z][a-z-]*'
is "$(find "$TESTS/data/apis" -name '*.json' | sed 's,/[^/]*$,,;s,.*/,,' | sort -u)" "$(ipf-fire --list-apis |
	cut -d' ' -f1 | sort)" \
	"exchanges cover every built-in API"
