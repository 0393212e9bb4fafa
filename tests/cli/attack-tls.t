#!/bin/bash
# A server with odd certificates, whose TLS is damaged at random: ipf-fire ends well, records each request once and whole answers as they
# were sent, and sends no request if the certificate is wrong.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/attack.sh"

command -v openssl >/dev/null || skip_all "openssl is not installed"
ipf-prep sharegpt "$ROOT/examples/chat.json" -q -o chat.trace
export PATH
random_rounds 4
for seed in $(seq "${seed:?by random_rounds}" $((seed + rounds - 1))); do
	attacked "seed $seed" ' connections, .* 0 wrong$' attack_tls.py "$seed" 40
done
