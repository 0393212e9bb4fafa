#!/bin/bash
# A run of ipf-fire beside tcpdump: the capture has the same requests, bodies byte for byte, and times. Over plain HTTP and TLS with a key log.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/nginx.sh"
[ "$(id -u)" = 0 ] || skip_all "only root may capture packets"
command -v tcpdump >/dev/null || skip_all "there is no tcpdump"

capture_start() { # FILE PORT
	rm -f tcpdump.said # the former one's has the line waited for
	tcpdump -i lo -w "$1" -B 131072 -U --time-stamp-precision=nano "tcp port $2" 2>tcpdump.said &
	TCPDUMP=$!
	stop_at_exit "$TCPDUMP"
	wait_for grep -q 'listening on' tcpdump.said
}
# Everything sent so far is in the file once a later connection is. Fails if the kernel dropped packets.
capture_stop() { # FILE PORT
	mark=/mark-$RANDOM
	wait_for marked "$1" "$2"
	kill "$TCPDUMP"
	wait "$TCPDUMP" 2>/dev/null
	grep -q '^0 packets dropped by kernel' tcpdump.said
}
marked() {
	(exec 3<>"/dev/tcp/127.0.0.1/$2" && printf 'GET %s HTTP/1.0\r\n\r\n' "$mark" >&3 && cat <&3 >/dev/null) 2>/dev/null
	grep -aq "$mark" "$1"
}

server_start
nginx_ready=
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost,IP:127.0.0.1 >/dev/null 2>&1
nginx_start "${URL##*:}" && nginx_ready=1
ipf-prep synthetic -q -n 60 --input-tokens 30 --output-tokens 12 -o run.trace
ipf-sched -q constant:rate=60,n=60 -t run.trace -o run.sched

compare() { # NAME URL PORT ARGUMENTS OF ipf-fire…
	name=$1 url=$2 port=$3
	shift 3
	rm -f keys.log
	capture_start "$name.pcap" "$port"
	SSLKEYLOGFILE=$PWD/keys.log run ipf-fire -q -u "$url" -m m -t run.trace run.sched -o "$name.fire.records" "$@"
	status_is 0 "$name: ipf-fire runs"
	if ! capture_stop "$name.pcap" "$port"; then
		skip "$name: the capture has the same requests at the same times" "the busy kernel dropped packets"
		return
	fi
	: >>keys.log
	run ipf-prep capture "$name.pcap" -q --keylog keys.log --records "$name.records" -o "$name.trace"
	status_is 0 "$name: the capture is read"
	run ipf-collect --check "$name.records"
	status_is 0 "$name: the records are valid"
	is "$(python3 "$TESTS/helpers/captured_run.py" "$name.fire.records" "$name.records")" \
		"60 sent, 60 captured, 60 the same
0 starts too early, few of the events apart" "$name: the capture has the same requests at the same times" # exact: both are stamps of the kernel
	is "$(plain "$name.trace" | tail -1 | jq .end.lines)" 60 "$name: the trace has each request"
}

compare plain "$URL" "${URL##*:}"
compare fresh "$URL" "${URL##*:}" --connections fresh
if [ "$nginx_ready" ]; then
	compare tls13 "https://localhost:$TLS1" "$TLS1" --cacert cert.pem
	compare h2c "http://localhost:$H2C" "$H2C" --http 2-prior
	is "$(plain h2c.records | jq -c 'select(.n != null) | .connection.http' | sort -u)" 2 "HTTP/2: the records say so"
else
	skip "TLS 1.3 is decrypted" "there is no nginx"
fi

# ---- downstream -----------------------------------------------------------------------------------------------------------------------
if [ -s plain.records ]; then
	ipf-collect -q plain.records -o plain.results
	run ipf-report plain.results
	matches "$(tr -s ' ' <"$OUT")" 'Verdict OBSERVED' "the report is marked OBSERVED"
	ipf-collect -q plain.fire.records -o fire.results
	counts() { ipf-report -q -f json "$1" | jq -c '[.total.requests.ok, .total.tokens.output]'; }
	is "$(counts plain.results)" "$(counts fire.results)" "results of the capture have the requests and tokens of ipf-fire's"
else
	skip "results of the capture have the requests and tokens of ipf-fire's" "there is no capture"
fi
