#!/bin/bash
# TLS: certificates are verified, and failures of the handshake are distinguished from later ones.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens 5 -n 5 -q -o chat.trace
ipf-sched burst:n=1 -t chat.trace -o chat.sched
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost >/dev/null 2>&1 || skip_all "openssl cannot make a certificate"

# A server sending the same response to every request.
mkfifo say
exec 7<>say
openssl s_server -accept 127.0.0.1:0 -cert cert.pem -key key.pem <&7 >heard 2>&1 7>&- &
stop_at_exit $!
port() { sed -n 's/^ACCEPT .*:\([0-9]*\)$/\1/p' heard | head -1 | grep .; }
wait_for port || skip_all "openssl s_server does not tell its port"
PORT=$(port)
answer() { printf 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\n{}\n' >&7; }
asked() { # N: requests have been heard
	[ "$(grep -c '"max_tokens":5' heard)" -ge "$1" ]
}

ask() { # ARGUMENTS…: rows
	ipf-fire -m sim -t chat.trace chat.sched "$@" >"$OUT" 2>"$ERR" &
	fire=$!
	stop_at_exit $fire
	[ -z "${expected:-}" ] || { wait_for asked "$expected" && answer; }
	status=0
	wait $fire || status=$?
	status_is 0 "ipf-fire $* ends with 0"
	requests "$OUT" >rows
}
expected='' ask -u "https://localhost:$PORT"
is "$(jq -c '[.error.kind, .status, .tls_ns, .sent_ns]' rows)" '["tls",null,null,null]' "a certificate that nobody vouches for"
matches "$(jq -r .error.text rows)" "certificate" "the record says that the certificate is wrong"
expected=1 ask -u "https://localhost:$PORT" --cacert cert.pem
is "$(jq -c '[.error, .status, .body, .connect_ns < .tls_ns, .tls_ns <= .sent_ns, .sent_ns <= .first_byte_ns]' rows)" '[null,200,"{}\n",true,true,true]' "--cacert trusts it"
expected='' ask -u "https://127.0.0.1:$PORT" --cacert cert.pem
is "$(jq -c '[.error.kind, .status]' rows)" '["tls",null]' "--cacert does not accept another name"
expected=2 ask -u "https://127.0.0.1:$PORT" --insecure
is "$(jq -c '[.error, .status]' rows)" '[null,200]' "--insecure asks for none"
expected=3 ask -u "https://localhost:$PORT" --insecure --cert cert.pem --key key.pem
is "$(jq -c '[.error, .status]' rows)" '[null,200]' "--insecure works with a client certificate"
openssl pkcs8 -topk8 -in key.pem -out locked.pem -passout pass:secret
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout other.pem -out other-cert.pem -days 2 -subj /CN=other >/dev/null 2>&1
cat cert.pem key.pem >both.pem
refused() { # STATUS ERROR TEXT ARGUMENTS…
	expected_status=$1 error=$2 text=$3
	shift 3
	run ipf-fire -u "https://localhost:$PORT" -t chat.trace chat.sched "$@" </dev/null
	status_is "$expected_status" "$text ends with $expected_status"
	is "$(cat "$ERR")" "ipf-fire: $error" "ipf-fire refuses before the run: $text"
}
refused 1 "nope.pem: cannot open: No such file or directory" "a file of certificates that is not there" --cacert nope.pem
refused 2 "chat.trace: --cacert: the file contains no certificate (PEM)" "a file that holds no certificate" --cacert chat.trace
refused 1 "nope.pem: cannot open: No such file or directory" "no file of our own certificate" --cert nope.pem
refused 2 "key.pem: --cert: the file contains no certificate (PEM)" "a key for a certificate" --cert key.pem --key key.pem
refused 2 "cert.pem: --key: the file contains no private key (PEM)" "a certificate without its key" --cert cert.pem
refused 1 "nope.pem: cannot open: No such file or directory" "a key that is not there" --cert cert.pem --key nope.pem
refused 2 "locked.pem: --key: the key has a pass phrase, which is not supported" "a key with a pass phrase" --cert cert.pem --key locked.pem
refused 2 "other.pem: --key: the key does not belong to the certificate of --cert" "another's key" --cert cert.pem --key other.pem
refused 2 "--key requires --cert" "a key without a certificate" --key key.pem
expected=4 ask -u "https://localhost:$PORT" --insecure --cert both.pem
is "$(jq -c '[.error, .status]' rows)" '[null,200]' "a certificate with its key in one file"

# shellcheck disable=SC2119
server_start
expected='' ask -u "${URL/http:/https:}" --connect-timeout 500ms
is "$(jq -c '[.error.kind, .status]' rows)" '["tls",null]' "a server that speaks no TLS"

# ---- bytes that came before the request --------------------------------------------------------------------------

if command -v python3 >/dev/null; then
	cat cert.pem key.pem >good.pem
	script() { printf -- '-\t%s\traw along %s ; tls good ; hold\n' "$1" "$2"; }
	{
		script record '\x17\x03\x03\x00\x20\{32:x}'
		script alert '\x15\x03\x03\x00\x02\x02\x28'
		script text 'HTTP/1.1 400 Bad Request||'
	} >scripts
	scripts_start
	for name in record alert text; do
		for http in 1.1 2; do
			expected='' ask -u "$(script_url $name | sed 's,http://127.0.0.1,https://localhost,')" --cacert cert.pem --http $http
			is "$(jq -c '[.error.kind, .status, .tls_ns > .connect_ns, .end_ns >= .tls_ns, .end_ns >= (.connected_ns // 0), .end_ns >= (.sent_ns // 0)]' rows)" \
				'["tls",null,true,true,true,true]' "HTTP/$http: a damaged $name in the server's handshake ends the request after its start"
		done
	done
else
	skip "bytes in the server's handshake" "python3 is not installed"
fi
