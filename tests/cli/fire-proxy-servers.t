#!/bin/bash
# Proxies of others: squid (by absolute URL and by CONNECT), tinyproxy, dante (SOCKS 4 and 5), HAProxy. Some hundred requests through
# each, on kept and on fresh connections, and no false failure. IPF_LONG=1 sends 100,000 (LIMIT=3600 tests/run …).
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/nginx.sh"
. "$TESTS/told_port.sh"
PATH=$PATH:/usr/sbin
have=0
for proxy in squid tinyproxy danted haproxy; do ! command -v $proxy >/dev/null || have=$((have + 1)); done
[ $have -gt 0 ] || skip_all "none of squid, tinyproxy, dante and HAProxy is installed"

server_start --step-base 500us --step-per-seq 0 --keep-alive 1h
SIM=${URL##*:}
ipf-prep synthetic -n 10 --input-tokens 20 --output-tokens 4 -q -o chat.trace
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem 2>openssl.said
nginx_start "$SIM" || TLS1=

hold() { # TEXT COUNT ARGUMENTS OF ipf-fire…
	local many=$2
	[ -z "${IPF_LONG:-}" ] || many=${MANY:-100000}
	ipf-sched "closed:users=20,n=$many" -t chat.trace -q -o chat.sched
	run ipf-fire -m sim -t chat.trace chat.sched "${@:3}"
	status_is 0 "$1: ends well"
	requests "$OUT" >rows
	is "$(jq -c '[.status, .error]' rows | sed 's,127[0-9.:]*,…,' | sort | uniq -c | tr -s ' ')" " $many [200,null]" "$1: all are answered"
	is "$(jq -c 'select(.body // "" | endswith("data: [DONE]\n\n") | not)' rows | wc -l)" 0 "$1: bodies are complete"
}
both() { # TEXT SCHEME: plain and TLS, kept and fresh
	hold "$1" 400 -u "http://localhost:$SIM" --proxy "$2://127.0.0.1:$PORT"
	others "$1" "$2"
}
others() {
	MANY=${FRESH:-} hold "$1, fresh connections" 100 -u "http://localhost:$SIM" --proxy "$2://127.0.0.1:$PORT" --connections fresh
	[ -n "$TLS1" ] || { skip "$1: requests succeed by TLS" "nginx does not start here"; return; }
	hold "$1, TLS" 400 -u "https://localhost:$TLS1" --cacert cert.pem --proxy "$2://127.0.0.1:$PORT"
	hold "$1, HTTP/2" 400 -u "https://localhost:$TLS" --cacert cert.pem --http 2 --proxy "$2://127.0.0.1:$PORT"
}

if command -v squid >/dev/null; then
	cat >proxy.template <<END
http_port 127.0.0.1:PORT
http_access allow localhost
http_access deny all
cache deny all
access_log none
cache_log $PWD/squid.log
cache_store_log none
pid_filename none
coredump_dir $PWD
shutdown_lifetime 0 seconds
pinger_enable off
netdb_filename none
END
	chmod a+rwx . # it gives up the rights of root
	listen squid -N -f proxy.conf
	both squid http
	quit
else
	skip squid "there is none here"
fi
if command -v tinyproxy >/dev/null; then
	printf '%s\n' "Port PORT" "Listen 127.0.0.1" "MaxClients 200" "Timeout 600" "LogLevel Critical" "Allow 127.0.0.1" >proxy.template
	listen tinyproxy -d -c proxy.conf
	others tinyproxy http # it closes every connection to us after an answer without saying so, so there are no kept ones
	quit
else
	skip tinyproxy "there is none here"
fi
if command -v danted >/dev/null; then
	cat >proxy.template <<END
logoutput: $PWD/danted.log
internal: 127.0.0.1 port = PORT
external: lo
clientmethod: none
socksmethod: none
client pass { from: 127.0.0.0/8 to: 0.0.0.0/0 }
socks pass { from: 127.0.0.0/8 to: 0.0.0.0/0 }
END
	listen danted -f proxy.conf
	for scheme in socks4 socks5 socks5h; do # it does not know SOCKS 4A: it connects to 0.0.0.1, which stands for the name
		hold "dante, $scheme" 200 -u "http://localhost:$SIM" --proxy "$scheme://127.0.0.1:$PORT"
	done
	# it binds a port of its own for each connection to the server, of which there are 28,000 a minute
	FRESH=10000 both dante socks5h
	quit
else
	skip dante "there is none here"
fi
# Between the client and the server as a reverse proxy, with few connections to the server for all of ours.
if command -v haproxy >/dev/null; then
	cat >proxy.template <<END
defaults
	mode http
	timeout connect 10s
	timeout client 60s
	timeout server 60s
	option http-keep-alive
	http-reuse always
listen model
	bind 127.0.0.1:PORT
	server sim 127.0.0.1:$SIM
END
	listen haproxy -db -f proxy.conf
	hold HAProxy 400 -u "http://127.0.0.1:$PORT"
	hold "HAProxy, fresh connections" 100 -u "http://127.0.0.1:$PORT" --connections fresh
	hold "HAProxy, HTTP/2" 400 -u "http://127.0.0.1:$PORT" --http 2-prior
	quit
else
	skip HAProxy "there is none here"
fi
