#!/bin/bash
# A server with odd certificates, whose TLS is damaged at random: ipf-fire ends well, records each request once and whole answers as they
# were sent, and sends no request if the certificate is wrong.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

command -v python3 openssl >/dev/null || skip_all "python3 or openssl is not installed"
ipf-prep sharegpt "$ROOT/examples/chat.json" -q -o chat.trace
export PATH
random_rounds 4
for seed in $(seq "${seed:?by random_rounds}" $((seed + rounds - 1))); do
	run python3 "$TESTS/helpers/attack_tls.py" "$seed" 40
	matches "$(tail -1 "$OUT")" ' connections, .* 0 wrong$' "seed $seed: $(tail -1 "$OUT")"
	[ "$status" = 0 ] || {
		head -5 "$OUT" "$ERR" | cut -c 1-2000 | sed 's/^/# /'
		exit 1
	}
done
