#!/bin/bash
# A server of random HTTP/2 frames, floods and cut answers: ipf-fire ends well in bounded memory, records each request once, and each
# answer sent whole before an attack as it was sent.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

command -v python3 >/dev/null || skip_all "python3 is not installed"
ipf-prep sharegpt "$ROOT/examples/chat.json" -q -o chat.trace
export PATH
random_rounds 4
attack() { # SEED ARGUMENTS OF attack_http2.py…
	run python3 "$TESTS/helpers/attack_http2.py" "$@"
	matches "$(tail -1 "$OUT")" ' connections, .* 0 wrong$' "seed $1${3:+, $3}: $(tail -1 "$OUT")"
	[ "$status" = 0 ] || {
		head -5 "$OUT" "$ERR" | cut -c 1-2000 | sed 's/^/# /'
		exit 1
	}
}
for seed in $(seq "${seed:?by random_rounds}" $((seed + rounds - 1))); do
	attack "$seed" 40
	attack "$seed" 20 grpc
done
