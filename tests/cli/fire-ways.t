#!/bin/bash
# Network paths: through a proxy, from local addresses, to a given address, through a Unix socket.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

server_start --log server.log --step-base 1ms
PORT=${URL##*:}
ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens 6 -n 10 -q -o chat.trace
ipf-sched closed:users=1,n=8 -t chat.trace -o chat.sched

fire() { # ARGUMENTS OF ipf-fire…: rows
	: >server.log
	run ipf-fire -m sim -t chat.trace chat.sched "$@"
	status_is 0 "ipf-fire $* ends with 0"
	requests "$OUT" >rows
}
good() { # TEXT
	is "$(jq -c '[.error, .status]' rows | sort | uniq -c | tr -s ' ')" ' 8 [null,200]' "$1"
	is "$(grep -c '"status":200' server.log)" 8 "the server logs every request"
}
header() { head -1 "$OUT" | jq -c "$1"; }

# ---- addresses ----
fire -u "http://model.test:$PORT" --resolve "model.test:$PORT:127.0.0.1"
good "--resolve: a name that no one knows"
fire -u "http://model.test:$PORT" --resolve "*:$PORT:127.0.0.1"
good "--resolve: any name"
is "$(header '[.dns, .proxy, .bind]')" '[null,null,null]' "the header has no network path"
is "$(jq -c .dns_ns rows | sort -u)" null "nothing is looked up during the run"
fire -u "http://localhost:$PORT" --dns each
good "--dns each"
is "$(jq -c 'select(.connection.reused | not) | .dns_ns >= .start_ns and .dns_ns <= .connect_ns' rows |
	sort -u)" true "--dns each records each look-up"
is "$(jq -c 'select(.connection.reused) | .dns_ns' rows | sort -u)" null "reused connections have no look-up"
is "$(header .dns)" '"each"' "the header has --dns each"
run ipf-fire -u "http://model.test:$PORT" -t chat.trace chat.sched --resolve "model.test:$PORT:localhost"
status_is 2 "--resolve to a name"
complains ipf-fire "expected a numeric address, got \"localhost\"" "ipf-fire says that --resolve takes a numeric address"
run ipf-fire -u "$URL" -t chat.trace chat.sched --resolve model.test:127.0.0.1
status_is 2 "--resolve without a port"
complains ipf-fire "HOST:PORT:ADDRESS" "ipf-fire says what --resolve may be"
# in no URL either, so nothing would be looked up in it
for entry in h:bar:1.2.3.4 h:80x:1.2.3.4 h:0:1.2.3.4 h:65536:1.2.3.4 h:99999999999999999999:1.2.3.4 h:80:1.2.3.4.5 h:80:1.2.3.4,1.2.3.5 \
	h:80:name "h:80: 1.2.3.4" "h x:80:1.2.3.4" -h:80:1.2.3.4 +h:80:1.2.3.4 "h:80:[127.0.0.1]" "h:80:[::1" "h:80:["; do
	run ipf-fire -m sim -u "$URL" -t chat.trace chat.sched "--resolve=$entry"
	is "$status $(grep -c '^ipf-fire: --resolve: .*expected' "$ERR")" "2 1" "--resolve $entry is refused"
done
for entry in h:80:::1 "h:80:[::1]" "*:80:1.2.3.4" model_a.test:65535:1.2.3.4; do
	run ipf-fire -m sim -u "$URL" -t chat.trace chat.sched "--resolve=$entry"
	status_is 0 "--resolve $entry is not"
done
run ipf-fire -u "$URL" -t chat.trace chat.sched --dns often
status_is 2 "--dns often ends with 2"
complains ipf-fire 'got "often"' "ipf-fire names the wrong value of --dns"

# ---- local addresses ----
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	ASAN_OPTIONS=detect_leaks=0 run strace -f -e trace=bind -o binds ipf-fire -m sim -t chat.trace chat.sched -u "$URL" --bind 127.0.0.2,127.0.0.3 --connections fresh
	status_is 0 "--bind ends with 0 under strace"
	is "$(sed 1,4d binds | grep -o '127.0.0.[23]' | sort | uniq -c |
		tr -s ' \n' ' ')" " 4 127.0.0.2 4 127.0.0.3 " "--bind takes the addresses in turn"
else
	skip "--bind takes the addresses in turn" "strace cannot be used here"
fi
fire -u "$URL" --bind 127.0.0.2,127.0.0.3 --connections fresh
good "--bind"
is "$(header .bind)" '"127.0.0.2,127.0.0.3"' "the header has --bind"
fire -u "$URL" --bind ::1,127.0.0.2 --connections fresh
good "--bind: addresses of the other kind are left out"
run ipf-fire -u "$URL" -t chat.trace chat.sched --bind ::1
status_is 1 "--bind: none of its kind"
complains ipf-fire "cannot connect: no address of --bind has the server's address family" "ipf-fire says that --bind has no address of the family"
# More connections than ports, in a network namespace with a thousand ports and no server.
ipf-sched closed:users=1500,n=1600 -t chat.trace -q -o ports.sched
alone() { # ARGUMENTS OF ipf-fire…
	run unshare -rn sh -c 'ip link set lo up && echo 50000 50999 >/proc/sys/net/ipv4/ip_local_port_range && exec "$@"' sh \
		ipf-fire -u http://127.0.0.1:9 -t chat.trace "$@"
}
if unshare -rn sh -c 'ip link set lo up && echo 50000 50999 >/proc/sys/net/ipv4/ip_local_port_range' 2>/dev/null; then
	ipf-sched burst:n=1500 -t chat.trace -q -o burst.sched
	for sched in ports burst; do
		alone $sched.sched
		status_is 1 "more connections than there are ports ($sched)"
		complains ipf-fire " needs 1500 concurrent connections, but the range of local ports allows only 1000: add addresses with --bind, " "ipf-fire says that local ports are too few"
		alone $sched.sched --bind 127.0.0.2,127.0.0.3
		complains ipf-fire "cannot connect from 127.0.0.2: Connection refused" "more addresses have more of them"
	done
	alone ports.sched --connections 10
	complains ipf-fire "cannot connect: Connection refused" "a pool needs no more local ports than connections"
else
	skip "more connections than there are ports" "no network of our own can be had"
fi
run ipf-fire -u "$URL" -t chat.trace chat.sched --bind 192.0.2.1
status_is 1 "--bind: an address of another machine"
complains ipf-fire "--bind: 192.0.2.1: cannot bind to this address" "ipf-fire names the address that it cannot bind to"
run ipf-fire -u "$URL" -t chat.trace chat.sched --bind localhost
status_is 2 "--bind: a name"
complains ipf-fire 'got "localhost"' "ipf-fire refuses a name for --bind"

# ---- proxies ----
run ipf-fire -u "$URL" -t chat.trace chat.sched --proxy localhost:3128
status_is 2 "--proxy without a scheme"
complains ipf-fire ": expected http://" "ipf-fire says what --proxy may be, given no scheme"
run ipf-fire -u "$URL" -t chat.trace chat.sched --proxy ftp://localhost:3128
status_is 2 "--proxy by another protocol"
complains ipf-fire ": expected http://" "ipf-fire says what --proxy may be, given another protocol"
command -v python3 >/dev/null || skip_all "python3, which the proxy needs, is not installed"

proxy_start() { # ARGUMENTS OF proxy.py…: $PROXY, its port
	: >proxy.log
	peer_start "$TESTS/proxy.py" proxy.log "$@"
	PROXY=${PEER_URL##*:}
}
asked() { sort proxy.log | uniq | tr '\n' '|'; }

proxy_start
http_proxy=http://127.0.0.1:$PROXY ALL_PROXY=http://127.0.0.1:$PROXY fire -u "$URL"
good "the environment's proxy"
is "$(asked)" "" "a proxy of the environment gets no request"
fire -u "$URL" --proxy "http://127.0.0.1:$PROXY"
good "an HTTP proxy"
is "$(asked)" "POST 127.0.0.1:$PORT|" "an HTTP proxy forwards requests"
is "$(header .proxy)" "\"http://127.0.0.1:$PROXY\"" "the header has the proxy"
NO_PROXY='*' fire -u "$URL" --proxy "http://127.0.0.1:$PROXY"
is "$(asked)" "POST 127.0.0.1:$PORT|" "NO_PROXY does not switch --proxy off"
: >proxy.log
fire -u "http://model.test:$PORT" --proxy "socks5h://127.0.0.1:$PROXY"
good "a SOCKS proxy that looks names up"
is "$(asked)" "socks5 name model.test:$PORT|" "a SOCKS proxy that looks names up gets the name"
is "$(jq -c 'select(.connection.reused | not) | .connect_ns < .sent_ns' rows | sort -u)" true "connections through a SOCKS proxy have their phases"
: >proxy.log
fire -u "http://model.test:$PORT" --proxy "socks5://127.0.0.1:$PROXY" --resolve "model.test:$PORT:127.0.0.1"
good "a SOCKS proxy that does not"
is "$(asked)" "socks5 address 127.0.0.1:$PORT|" "another SOCKS proxy gets the address"
peer_stop

# ---- HTTP/2 through a proxy forwarding in HTTP/1.1 ----
if openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost >/dev/null 2>&1 &&
	. "$TESTS/nginx.sh" && nginx_start "$PORT"; then
	proxy_start
	for wait in 0 120s; do
		fire -u "http://localhost:$H2C" --http 2-prior --proxy "http://127.0.0.1:$PROXY" --wait-ready $wait
		good "HTTP/2 without TLS by an HTTP proxy, --wait-ready $wait"
		is "$(asked)" "CONNECT localhost:$H2C|" "HTTP/2 asks an HTTP proxy to connect"
	done
	is "$(cut -d ' ' -f 2 nginx.log | sort -u)" "HTTP/2.0" "HTTP/2 goes through the tunnel"
	peer_stop
	nginx_stop
else
	skip "HTTP/2 by an HTTP proxy" "nginx is not there"
fi

# ---- a Unix socket ----
proxy_start --relay "$PWD/llm.sock" "$PORT"
fire -u http://model.test --unix-socket llm.sock
good "--unix-socket"
is "$(asked)" "unix|" "requests go to the Unix socket"
is "$(header '[.unix_socket, .target]')" '["llm.sock","http://model.test/v1/chat/completions"]' "the header has the Unix socket"
is "$(jq -c '.connection.reused' rows | sort | uniq -c | tr -s ' \n' ' ' | sed 's/ $//')" " 1 false 7 true" "the connection to a Unix socket is kept"
fire -u http://model.test --unix-socket llm.sock --connections fresh
good "a connection for each request"
is "$(jq -c '.connect_ns <= .sent_ns and .sent_ns <= .first_byte_ns' rows | sort -u)" true "fresh connections to a Unix socket have their phases"
run ipf-fire -u "$URL" -t chat.trace chat.sched --unix-socket llm.sock --proxy "http://127.0.0.1:1"
status_is 2 "a proxy and a Unix socket"
complains ipf-fire "--unix-socket cannot be combined with --proxy" "ipf-fire refuses --unix-socket with --proxy"
peer_stop
run ipf-fire -u "$URL" -t chat.trace chat.sched --unix-socket none.sock
status_is 1 "a socket that is not there"
complains ipf-fire "none.sock: cannot connect" "a missing Unix socket is named"

proxy_start --auth me:secret
fire -u "$URL" --proxy "http://me:secret@127.0.0.1:$PROXY"
good "a proxy that asks for a password"
is "$(header .proxy)" "\"http://127.0.0.1:$PROXY\"" "the header has the proxy without its password"
is "$(grep -cw secret "$OUT")" 0 "records do not contain the password of an HTTP proxy"
fire -u "$URL" --proxy "socks5h://me:secret@127.0.0.1:$PROXY"
good "a SOCKS proxy accepts the password"
is "$(grep -cw secret "$OUT")" 0 "records do not contain the password of a SOCKS proxy"
fire -u "$URL" --proxy "socks5h://me:wrong@127.0.0.1:$PROXY"
is "$(jq -c '[.error.kind, .status, .sent_ns, .connection]' rows | sort | uniq -c |
	tr -s ' ')" ' 8 ["connect",null,null,null]' "a wrong one is a matter of connecting"
fire -u "$URL" --proxy "http://me:wrong@127.0.0.1:$PROXY"
is "$(jq -c '[.error, .status]' rows | sort | uniq -c |
	tr -s ' ')" ' 8 [null,407]' "an HTTP proxy that refuses gives its own answer"
fire -u "https://127.0.0.1:$PORT" --proxy "http://me:wrong@127.0.0.1:$PROXY"
is "$(jq -c '[.error.kind, .status, .first_byte_ns]' rows | sort | uniq -c |
	tr -s ' ')" ' 8 ["connect",null,null]' "a proxy that refuses CONNECT gives no connection"
matches "$(jq -r .error.text rows)" "407" "the record says why the proxy refused CONNECT"
peer_stop

proxy_start --refuse
fire -u "$URL" --proxy "socks5h://127.0.0.1:$PROXY"
is "$(jq -c '[.error.kind, .status]' rows | sort | uniq -c |
	tr -s ' ')" ' 8 ["connect",null]' "a proxy that finds no server (SOCKS)"
fire -u "https://127.0.0.1:$PORT" --proxy "http://127.0.0.1:$PROXY"
is "$(jq -c '[.error.kind, .status]' rows | sort | uniq -c | tr -s ' ')" ' 8 ["connect",null]' "a proxy that finds no server (CONNECT)"
peer_stop
run ipf-fire -u "$URL" -t chat.trace chat.sched --proxy "http://me:secret@127.0.0.1:$PROXY"
status_is 1 "a proxy that is not there"
complains ipf-fire "http://127.0.0.1:$PROXY: cannot connect" "a missing proxy is named without its password"

# A proxy killed during the run.
proxy_start
ipf-sched constant:rate=40,for=1h -t chat.trace -o long.sched
ipf-fire -q -m sim -t chat.trace long.sched -u "$URL" --proxy "http://127.0.0.1:$PROXY" -o gone.records &
fire=$!
stop_at_exit $fire
answered() { plain gone.records | grep -q '"status":200'; }
wait_for answered
kill -9 "$PEER"
without() { plain gone.records | grep -q '"kind":"connect"'; }
yes_if "the run goes on without connections when the proxy has gone" wait_for without
kill -INT $fire
wait $fire
status=$?
status_is 0 "a run whose proxy has gone ends in order"
requests gone.records >rows
is "$(jq -s -c 'map(.n) | sort == [range(length)]' rows)" true "every request of a run whose proxy has gone is recorded"
is "$(jq -r '.error.kind // "ok"' rows | sort -u | grep -v -e cut -e reset |
	tr '\n' ' ')" "connect ok " "requests of a run whose proxy has gone are answered or lack a connection"
