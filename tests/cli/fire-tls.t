#!/bin/bash
# TLS: certificates are checked, and what fails in the handshake is told apart from what fails later.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens 5 -n 5 -q -o chat.trace
ipf-sched burst:n=1 -t chat.trace -o chat.sched
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost >/dev/null 2>&1 || skip_all "openssl cannot make a certificate"

# A server that says the same to everybody, once it has seen the end of a request.
mkfifo say
exec 7<>say
openssl s_server -accept 127.0.0.1:0 -cert cert.pem -key key.pem <&7 >heard 2>&1 7>&- &
stop_at_exit $!
port() { sed -n 's/^ACCEPT .*:\([0-9]*\)$/\1/p' heard | head -1 | grep .; }
wait_for 10 port || skip_all "openssl s_server does not tell its port"
PORT=$(port)
answer() { printf 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\n{}\n' >&7; }
asked() { # N: requests have been heard
	[ "$(grep -c '"max_tokens":5' heard)" -ge "$1" ]
}

ask() { # ARGUMENTS…: rows
	ipf-fire -m sim -t chat.trace chat.sched "$@" >"$OUT" 2>"$ERR" &
	fire=$!
	stop_at_exit $fire
	[ -z "${expected:-}" ] || { wait_for 10 asked "$expected" && answer; }
	status=0
	wait $fire || status=$?
	status_is 0 "ipf-fire $*"
	body "$OUT" | jq -c 'select(.n != null)' >rows
}
expected='' ask -u "https://localhost:$PORT"
is "$(jq -c '[.error.kind, .status, .tls_ns, .sent_ns]' rows)" '["tls",null,null,null]' "a certificate that nobody vouches for"
matches "$(jq -r .error.text rows)" "certificate" "and the reason"
expected=1 ask -u "https://localhost:$PORT" --cacert cert.pem
is "$(jq -c '[.error, .status, .body, .connect_ns < .tls_ns, .tls_ns <= .sent_ns, .sent_ns <= .first_byte_ns]' rows)" '[null,200,"{}\n",true,true,true]' "--cacert trusts it"
expected='' ask -u "https://127.0.0.1:$PORT" --cacert cert.pem
is "$(jq -c '[.error.kind, .status]' rows)" '["tls",null]' "but not under another name"
expected=2 ask -u "https://127.0.0.1:$PORT" --insecure
is "$(jq -c '[.error, .status]' rows)" '[null,200]' "--insecure asks for none"
expected=3 ask -u "https://localhost:$PORT" --insecure --cert cert.pem --key key.pem
is "$(jq -c '[.error, .status]' rows)" '[null,200]' "with a certificate of our own"
expected='' ask -u "https://localhost:$PORT" --cacert chat.trace
is "$(jq -c '.error.kind' rows)" '"tls"' "a file that holds no certificate"

# shellcheck disable=SC2119
server_start
expected='' ask -u "${URL/http:/https:}" --connect-timeout 500ms
is "$(jq -c '[.error.kind, .status]' rows)" '["tls",null]' "a server that speaks no TLS"
