#!/bin/bash
# A server of random HTTP/2 frames, floods and cut answers: ipf-fire ends well in bounded memory, records each request once, and each
# answer sent whole before an attack as it was sent.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/attack.sh"

ipf-prep sharegpt "$ROOT/examples/chat.json" -q -o chat.trace
export PATH
random_rounds 4
attack() { # SEED ARGUMENTS OF attack_http2.py…
	attacked "seed $1${3:+, $3}" ' connections, .* 0 wrong$' attack_http2.py "$@"
}
for seed in $(seq "${seed:?by random_rounds}" $((seed + rounds - 1))); do
	attack "$seed" 40
	attack "$seed" 20 grpc
done
