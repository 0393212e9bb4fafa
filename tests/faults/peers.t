#!/bin/bash
# Each call of commands that talk to servers fails once: TLS, HTTP/2, proxies, figures sent away, files fetched.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/s3.sh"
. "$TESTS/once.sh"

once_inputs
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
	-keyout own.key -out own.crt 2>/dev/null || skip_all "openssl cannot make a certificate"
cat own.crt own.key >own.pem
{
	printf 'answers\ttls\traw tls own ; request ; say $CLOSE$EVENT$LAST$DONE ; notify ; close\n'
	printf 'answers\th2\traw h2 ; h2request ; head ; data $EVENT$LAST$DONE ; end ; again\n'
	printf 'answers\ttls-h2\traw tls own ; h2 ; h2request ; head ; data $EVENT$LAST$DONE ; end ; again\n'
} >scripts
scripts_start
secure() { # NAME: its address, which the certificate is for
	script_url "$1" | sed 's,http:,https:,'
}

export FAIL_LOOSE=1 # threads and connections: the calls are others each time
short=(-m sim -t "$PWD/short.trace" "$PWD/short.sched")
# OpenSSL does not say that reading a file failed, and allocates where it frees, after the trailer.
once_known="own.pem: --cacert: the file's certificates cannot be used|a trailer, other output, at ipf-fire.*said: ipf-fire: out of memory"
once 0 ipf-fire -q -u "$(secure tls)" --cacert "$PWD/own.pem" "${short[@]}"
once 0 ipf-fire -q -u "$(secure tls-h2)" --cacert "$PWD/own.pem" --http 2 "${short[@]}"
once_known='^$'
once 0 ipf-fire -q -u "$(script_url h2)" --http 2-prior "${short[@]}"
peer_start "$TESTS/proxy.py" proxy.log
once 0 ipf-fire -q -u "$URL" --proxy "$PEER_URL" "${short[@]}"
once_known='signal 14, .*system call 44 of socket' # libcurl begins the greeting of SOCKS anew after a short write
once 0 ipf-fire -q -u "$URL" --proxy "socks5h${PEER_URL#http}" "${short[@]}"
once_known='^$'
unset FAIL_LOOSE

peer_start "$TESTS/helpers/push_target.py" push.log
# The trailer has how many figures arrived.
FAIL_LOOSE=1 once 0 ipf-collect -q --reproducible --push "pushgateway=$PEER_URL/ok" "$PWD/chat.records"
once_known="Couldn't connect to server|libcurl function was given a bad argument" # in the words of libcurl
once 0 ipf-report -q --push "$PEER_URL/ok/metrics" "$PWD/chat.results" -o out
store_for_uploads
once 0 ipf-report -q --upload s3://plain/r.txt "$PWD/chat.results" -o out

mkdir files
cp "$ROOT/examples/chat.json" files
python3 "$TESTS/file_server.py" files files.log files.ready &
stop_at_exit $!
wait_for test -s files.ready
unset HF_HUB_OFFLINE
once 0 ipf-prep sharegpt -q --reproducible "http://127.0.0.1:$(cat files.ready)/files/chat.json" -n 3 -o out.trace
