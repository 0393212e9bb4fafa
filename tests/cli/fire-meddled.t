#!/bin/bash
# A network may cut the bytes into pieces as it likes, hold them back, or put them together: the same answers come. Where it resets
# connections, every request is recorded once, and is no more wrong than the network made it. IPF_LONG=1 sends 10,000 requests each way.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/nginx.sh"
command -v python3 >/dev/null || skip_all "python3 is missing"

ipf-prep synthetic -n 24 --input-tokens 40 --output-tokens 4 -q -o t.trace
COUNT=24 USERS=8 CONNECTIONS=4
[ -z "${IPF_LONG:-}" ] || COUNT=10000 USERS=64 CONNECTIONS=32
ipf-sched closed:users=$USERS,n=$COUNT -t t.trace -q -o t.sched
server_start --step-base 1ms
meddle() { # PORT: $SPLIT, $COALESCE, $STALL and $RESET are ports leading there
	peer_start "$TESTS/meddle.py" "$1"
	# shellcheck disable=SC2034 # same_through names them
	read -r SPLIT COALESCE STALL RESET <"$PEER_SAID"
}
fire() { # ARGUMENTS OF ipf-fire…: rows, by the requests' ids
	run ipf-fire -q -m sim -t t.trace t.sched "$@"
	status_is 0 "ipf-fire $* ends with 0"
	requests "$OUT" | jq -s -c 'sort_by(.id)[]' >rows
	is "$(jq -s 'map(.n) | unique | length' rows)" $COUNT "every request is recorded once"
}
# The texts of each request's whole answers, whatever ids and times there are in them.
texts() {
	jq -r 'select(.error == null) | [.id, .status, ([.body | split("\n")[] | select(startswith("data: {")) | ltrimstr("data: ") | fromjson | .choices[0].delta.content? // empty] | join(""))] | @json' rows | sort -u
}

SIM=$URL
fire -u "$SIM"
texts >plain
is "$(wc -l <plain)" 24 "answers are read here"
is "$(jq -c '[.status, .error]' rows | sort -u)" '[200,null]' "every request without a proxy succeeds"
same_through() { # WHAT PORT URL-SCHEME://HOST ARGUMENTS OF ipf-fire…
	local way
	meddle "$2"
	for way in SPLIT COALESCE STALL; do
		fire -u "$3:${!way}" --connections $CONNECTIONS "${@:4}"
		texts >meddled
		same plain meddled "$1, $way: the same answers"
	done
	fire -u "$3:$RESET" --connections $CONNECTIONS "${@:4}"
	is "$(jq -r '.error.kind // "none"' rows | sort -u | grep -v -x -e none -e reset -e cut ${KINDS:+-e "$KINDS"})" "" "$1, RESET: failures are the network's"
	texts >whole
	is "$(grep -v -x -F -f plain whole)" "" "$1, RESET: complete answers are whole"
	peer_stop
}
same_through "HTTP/1.1" "${SIM##*:}" http://127.0.0.1
between "$(jq -c 'select(.error == null) | .n' rows | wc -l)" 1 $((COUNT - 1)) "HTTP/1.1, RESET: some requests succeed, others fail"

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem 2>openssl.said
if nginx_start "${SIM##*:}"; then
	same_through "HTTP/2" "$H2C" http://localhost --http 2-prior
	KINDS=tls # reset within the handshake
	same_through "HTTP/2 over TLS" "$TLS" https://localhost --http 2 --cacert cert.pem
	same_through "TLS" "$TLS" https://localhost --cacert cert.pem
	nginx_stop
else
	skip "HTTP/2 and TLS" "nginx does not start here"
fi
