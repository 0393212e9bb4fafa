#!/bin/bash
# Which connections requests use: kept, fresh, from a pool, per session; HTTP/2 streams; resumed TLS sessions. nginx logs its view.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/nginx.sh"

server_start --log server.log --step-base 5ms --step-per-seq 0
PORT=${URL##*:}
ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens 8 -n 10 -q -o chat.trace
ipf-sched burst:n=12 -t chat.trace -q -o burst.sched
ipf-sched closed:users=1,n=6 -t chat.trace -q -o one.sched
ipf-prep sharegpt "$ROOT/examples/chat.json" --turns all --wait 1ms --output-tokens 4 -q -o talk.trace
ipf-sched closed:users=4,n=24 -t talk.trace -q -o talk.sched
TALKS=$(body talk.sched | grep -c '"n"')

fire() { # SCHEDULE ARGUMENTS OF ipf-fire…: rows
	: >server.log
	[ ! -f nginx.log ] || : >nginx.log
	case $1 in talk*) trace=talk.trace ;; *) trace=chat.trace ;; esac
	run ipf-fire -m sim -t $trace "$@"
	status_is 0 "ipf-fire $* ends with 0"
	requests "$OUT" >rows
	# A line is written after the answer was sent: none may come after the next run has begun.
	[ ! -f nginx.log ] || wait_for all_logged || not_ok "nginx logs what was answered"
}
all_logged() { [ "$(wc -l <nginx.log)" -ge "$(jq -c 'select(.status != null)' rows | wc -l)" ]; }
good() { # COUNT
	is "$(jq -c '[.error, .status]' rows | sort | uniq -c | tr -s ' ')" " $1 [null,200]" "every request succeeds"
	served() { [ "$(grep -c '"status":200' server.log)" -ge "$1" ]; } # logged after the answer was sent
	wait_for served "$1"
	is "$(grep -c '"status":200' server.log)" "$1" "the server answers every request once"
}
connections() { jq -s '[.[].connection.id] | unique | length' rows; }

# ---- a pool ----
fire burst.sched -u "$URL" --connections 3
good 12
is "$(connections)" 3 "a pool of three has three connections"
is "$(jq -s '[.[] | select(.pool_ns == null)] | length' rows)" 3 "three requests did not wait"
is "$(jq -c 'select(.pool_ns) | .pool_ns > .ready_ns and .pool_ns <= .start_ns and .connection.reused' rows | sort |
	uniq -c | tr -s ' ')" " 9 true" "nine did, and it shows"
is "$(jq -s 'map({start_ns, end_ns}) as $r | [$r[] | . as $a | [$r[] | select(.start_ns <= $a.start_ns and .end_ns > $a.start_ns)] | length] | max' rows)" 3 \
	"never more than three are under way"
ipf-collect -q "$OUT" -o pool.results
is "$(body pool.results |
	jq -s -c '[.[] | select(.n != null and .pool_wait_ns > 0)] | [length, (map(.lag_ns - .pool_wait_ns - .client_lag_ns | . * .) | max | . < 1e12)]')" \
	"[9,true]" "the results tell the wait, and it is not the client's lag"
fire burst.sched -u "$URL" --connections 100
is "$(jq -s '[.[] | select(.pool_ns)] | length' rows)" 0 "a large pool makes no request wait"
fire burst.sched -u "$URL"
is "$(connections) $(jq -s '[.[] | select(.pool_ns)] | length' rows)" "12 0" "kept ones are as many as it takes"
fire burst.sched -u "$URL" --connections fresh
is "$(connections) $(jq -c .connection.reused rows | sort -u)" "12 false" "fresh ones are never used again"
# Linux looks for a free local port among the even ones first, and connects slowly once these are in use.
local_ports() { # LAST DIGITS, in hex: of the connections to the server, those closed included
	awk -v to=":$(printf %04X "$PORT")\$" -v from="[$1]\$" '$3 ~ to && $2 ~ from' /proc/net/tcp | wc -l
}
if [ "$(printf '%s\n' 6.3 "$(uname -r)" | sort -V | head -1)" = 6.3 ]; then
	between "$(local_ports 13579BDF)" 4 999 "fresh ones have odd local ports"
	between "$(local_ports 02468ACE)" 4 999 "fresh connections have even local ports"
else
	skip "odd local ports and even ones" "Linux is older than 6.3"
fi
ipf-sched constant:rate=1000,n=400 -t chat.trace -q -o many.sched
fire many.sched -u "$URL" --connections 300
good 400
between "$(connections)" 1 300 "a pool that is larger than a handle's"

# ---- opened before the first request ----
fire burst.sched -u "$URL" --connections 12 --open-ahead
good 12
is "$(connections) $(jq -c '[.connection.reused, .connect_ns]' rows | sort -u)" "12 [true,null]" "--open-ahead: no request connects"
is "$(head -1 "$OUT" | jq -c .open_ahead)" true "the header says that connections were opened ahead"
fire burst.sched -u "$URL" --connections 3 --open-ahead
good 12
is "$(connections) $(jq -c .connection.reused rows | sort -u)" "3 true" "--open-ahead opens a whole pool"
run ipf-fire -q -u "$URL" -t chat.trace one.sched --open-ahead
status_is 2 "--open-ahead without a pool"
complains ipf-fire "--open-ahead requires --connections N" "--open-ahead requires a pool"

# A pool whose server is gone: no request waits forever.
server_start --fail reset
fire burst.sched -u "$URL" --connections 2
is "$(jq -c '.error.kind' rows | sort | uniq -c | tr -s ' ')" ' 12 "reset"' "failed requests make room in a pool"
server_stop
server_start --fail never
ipf-fire -q -m sim -t chat.trace burst.sched -u "$URL" --connections 2 --grace 100ms -o cut.records &
fire=$!
stop_at_exit $fire
sent() { plain cut.records | grep -q '"client"'; }
wait_for sent
kill -INT $fire
wait $fire
is "$(body cut.records | jq -c 'select(.n != null) | .error.kind' | sort | uniq -c |
	tr -s ' ')" ' 12 "cancelled"' "requests that wait for a connection are recorded when a run is cut"
server_stop
URL=http://127.0.0.1:$PORT

# ---- sessions ----
fire talk.sched -u "$URL" --connections session
good "$TALKS"
is "$(jq -s -c 'group_by(.session) | map(map(.connection.id) | unique | length) | unique' rows)" "[1]" "a session has one connection"
is "$(jq -s -c 'group_by(.connection.id) | map(map(.session) | unique | length) | unique' rows)" "[1]" "a connection has one session"
is "$(jq -s -c '[.[] | select(.turn == 0) | .connection.reused] | unique' rows)" "[false]" "a session's connection is new at its first turn"
fire talk.sched -u "http://model.test:$PORT" --resolve "model.test:$PORT:127.0.0.1" --connections session
good "$TALKS"
for wrong in 0 -1 many 1.5; do
	run ipf-fire -q -u "$URL" -t chat.trace one.sched --connections "$wrong"
	status_is 2 "--connections $wrong is refused"
done
run ipf-fire -q -u "$URL" -t chat.trace one.sched --http 2
status_is 2 "--http 2 without TLS"
complains ipf-fire "2-prior" "ipf-fire suggests 2-prior for --http 2 without TLS"
run ipf-fire -q -u "$URL" -t chat.trace one.sched --http 3
status_is 2 "--http 3 is refused"

# ---- compared with the log of nginx ----
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost >/dev/null 2>&1 || skip_all "openssl cannot make a certificate"
nginx_start "$PORT" || skip_all "nginx is not there"
logged() { [ "$(wc -l <nginx.log)" -ge "$(wc -l <rows)" ]; }
seen() { # FIELD: how often each value
	wait_for logged
	cut -d ' ' -f "$1" nginx.log | sort | uniq -c | tr -s ' \n' ' ' | sed 's/ $//'
}
distinct() {
	wait_for logged
	cut -d ' ' -f 1 nginx.log | sort -u | wc -l
}

fire burst.sched -u "http://localhost:$PLAIN" --connections 3
good 12
is "$(distinct)" 3 "nginx sees three connections of a pool of three"
fire talk.sched -u "http://localhost:$PLAIN" --connections session
is "$(distinct)" "$(jq -s '[.[].session] | unique | length' rows)" "nginx sees as many connections as sessions"
SESSIONS=$(jq -s '[.[].session] | unique | length' rows)
fire one.sched -u http://localhost --unix-socket nginx.sock
good 6
is "$(distinct)" 1 "nginx sees one connection by its Unix socket"

fire burst.sched -u "https://localhost:$TLS" --cacert cert.pem --http 2
good 12
is "$(seen 2) $(distinct)" " 12 HTTP/2.0 1" "HTTP/2: all on one connection"
is "$(jq -c '[.connection.http, .connection.reused]' rows | sort | uniq -c |
	tr -s ' \n' ' ')" " 1 [2,false] 11 [2,true] " "records show one HTTP/2 connection"
is "$(jq -c '.connected_ns >= .start_ns and .connected_ns <= .sent_ns and .sent_ns <= .first_byte_ns and .first_byte_ns <= .reads[0][0] and .reads[-1][0] <= .end_ns' rows | sort -u)" \
	true "times of every HTTP/2 stream are in order"
is "$(jq -c 'select(.connection.reused | not) | .connect_ns < .tls_ns and .tls_ns <= .connected_ns' rows)" true "the connection's for the one that made it"
is "$(jq -c 'select(.connection.reused) | [.connect_ns, .tls_ns]' rows |
	sort -u)" "[null,null]" "reused connections have no times of connecting"
fire burst.sched -u "http://localhost:$H2C" --http 2-prior
good 12
is "$(seen 2) $(distinct)" " 12 HTTP/2.0 1" "HTTP/2 without TLS: all on one connection"
fire one.sched -u "http://localhost:$H2C" --http 2-prior --wait-ready 120s
ready_logged() { [ "$(wc -l <nginx.log)" -ge 7 ]; }
wait_for ready_logged
is "$(cut -d ' ' -f 2,3 nginx.log | sort | uniq -c |
	tr -s ' ')" " 7 HTTP/2.0 200" "--wait-ready asks in the same protocol"
fire one.sched -u "http://localhost:$H2C" --http 2-prior --connections fresh
is "$(seen 2) $(distinct)" " 6 HTTP/2.0 6" "fresh HTTP/2 connections carry a request each"
fire burst.sched -u "http://localhost:$H2C" --http 2-prior --streams 5
good 12
is "$(distinct)" 3 "--streams 5: twelve on three connections"
fire burst.sched -u "http://localhost:$H2C" --http 2-prior --streams 3 --connections 2
good 12
is "$(distinct)" 2 "a pool of two with three streams each"
is "$(jq -s '[.[] | select(.pool_ns)] | length' rows)" 6 "a pool of two with three streams lets six wait"
fire talk.sched -u "http://localhost:$H2C" --http 2-prior --connections session
good "$TALKS"
is "$(distinct)" "$(jq -s '[.[].session] | unique | length' rows)" "a session's own connection"
fire one.sched -u "https://localhost:$TLS" --cacert cert.pem
is "$(seen 2) $(jq -s -c 'map(.connection.http) | unique' rows)" " 6 HTTP/1.1 [null]" "ipf-fire uses HTTP/1.1 without --http"

# Many requests at once: all connections they need are opened at once, not one after another. A proxy opens none before all are requested.
ipf-sched burst:n=60 -t chat.trace -q -o crowd.sched
if command -v python3 >/dev/null; then
	gathering() { # ARGUMENTS OF proxy.py…: $GATHER
		: >gather.log
		peer_start "$TESTS/proxy.py" gather.log "$@"
		GATHER="socks5h://${PEER_URL#http://}"
	}
	together() { # CONNECTIONS TEXT ARGUMENTS OF ipf-fire…
		fire crowd.sched "${@:3}" --proxy "$GATHER"
		good 60
		is "$(distinct)" "$1" "$2: as many connections as they need"
		is "$(grep -vc '^socks5' gather.log) $(grep -c together gather.log)" "1 1" "$2: all of them are requested before any is made"
		peer_stop
	}
	gathering --together 6 --all
	together 6 "HTTP/2 at once" -u "http://localhost:$H2C" --http 2-prior --streams 10
	gathering --together 6 --all
	together 6 "HTTP/2 by TLS" -u "https://localhost:$TLS" --cacert cert.pem --http 2 --streams 10
	# the first connection says the server agrees to HTTP/1.1 only
	gathering --together 59
	together 60 "a server that agrees to HTTP/1.1 only" -u "https://localhost:$TLS1" --cacert cert.pem --http 2
	gathering
	fire crowd.sched -u "https://localhost:$TLS1" --cacert cert.pem --http 2 --proxy "$GATHER" --connections 5
	good 60
	is "$(distinct)" 5 "a pool of five keeps to them where a connection carries one request only"
	peer_stop
else
	skip "connections that are made at once" "python3, which the proxy needs, is not installed"
fi
run bash -c 'ulimit -n 100 && exec "$0" "$@"' "$BIN/ipf-fire" -m sim -t chat.trace crowd.sched -u "http://localhost:$H2C" --http 2-prior --threads 2
status_is 0 "more requests at once than there may be files are not refused where they share connections"
is "$(body "$OUT" | jq -c 'select(.n != null) | .status' | sort | uniq -c | tr -s ' ')" " 60 200" "requests that share connections succeed under a limit of files"
fire crowd.sched -u "http://localhost:$H2C" --http 2-prior --dns each
good 60
is "$(distinct)" 1 "HTTP/2 shares connections also where names are looked up for each"

# The times of a stream come from its own bytes: compared with the server's log of when it sent them.
ipf-sched closed:users=3,n=9 -t chat.trace -q -o three.sched
fire three.sched -u "http://localhost:$H2C" --http 2-prior
t0=$(head -1 "$OUT" | jq .t0_clock_ns)
jq -s --argjson t0 "$t0" 'sort_by(.first_token_ns) | map((.first_token_ns - $t0) / 1e6 | floor)' server.log >there
jq -s 'sort_by(.reads[0][0]) | map(.reads[0][0] / 1e6 | floor)' rows >here
at_least "$(jq -s '[.[0], .[1]] | transpose | map(.[1] - .[0]) | min' there here)" -1 "no stream's first byte is from before it was sent"

fire one.sched -u "https://localhost:$TLS" --cacert cert.pem --connections fresh
is "$(seen 4)" " 1 . 5 r" "TLS sessions are resumed"
is "$(jq -s -c 'sort_by(.start_ns) | map(.connection.resumed)' rows)" "[null,true,true,true,true,true]" "records say that TLS sessions were resumed"
fire one.sched -u "https://localhost:$TLS" --cacert cert.pem --connections fresh --no-tls-resumption
is "$(seen 4)" " 6 ." "--no-tls-resumption resumes none"
is "$(jq -c '.connect_ns < .tls_ns and .tls_ns <= .sent_ns' rows | sort -u)" true "every TLS handshake takes its time"
is "$(jq -s -c 'map(.connection.resumed) | unique' rows)" "[null]" "records with --no-tls-resumption say nothing of resumption"

# A connection per session over any network path: the certificate and the server still see the host name of the URL.
alone() { # TEXT FIELDS: of nginx.log, the same for all
	is "$(jq -s -c '[group_by(.session), group_by(.connection.id)] | map(map(map([.session, .connection.id]) | unique | length) | unique)' rows)" "[[1],[1]]" \
		"$1: a session has a connection, and that no other"
	is "$(distinct)" "$SESSIONS" "$1: nginx sees as many connections as sessions"
	is "$(cut -d ' ' -f 2,3,5,6 nginx.log | sort | uniq -c |
		tr -s ' ')" " $TALKS $2" "$1: who was asked for what, and how"
}
fire talk.sched -u "https://localhost:$TLS" --cacert cert.pem --connections session
good "$TALKS"
alone TLS "HTTP/1.1 200 localhost localhost:$TLS"
fire talk.sched -u "https://localhost:$TLS" --cacert cert.pem --connections session --no-tls-resumption
alone "TLS anew" "HTTP/1.1 200 localhost localhost:$TLS"
is "$(seen 4)" " $TALKS ." "TLS anew: no session of TLS is resumed"
fire talk.sched -u "https://localhost:$TLS" --cacert cert.pem --connections session --http 2
good "$TALKS"
alone "HTTP/2 and TLS" "HTTP/2.0 200 localhost localhost:$TLS"
fire talk.sched -u http://localhost --unix-socket nginx.sock --connections session
good "$TALKS"
alone "a Unix socket" "HTTP/1.1 200 - localhost"
fire talk.sched -u "http://localhost:$PLAIN" --connections session --bind 127.0.0.2 --threads 2
good "$TALKS"
alone "two threads" "HTTP/1.1 200 - localhost:$PLAIN"
fire talk.sched -u "http://localhost:$PLAIN" --connections session --dns each
good "$TALKS"
alone "--dns each" "HTTP/1.1 200 - localhost:$PLAIN"
is "$(jq -c 'select(.connection.reused | not) | .dns_ns > .start_ns and .dns_ns <= .connect_ns' rows |
	sort -u)" true "--dns each: every connection has its look-up"
fire talk.sched -u "https://localhost:$TLS" --cacert cert.pem --connections session --dns each --http 2
good "$TALKS"
alone "--dns each, HTTP/2 and TLS" "HTTP/2.0 200 localhost localhost:$TLS"
if command -v python3 >/dev/null; then
	peer_start "$TESTS/proxy.py" proxy.log
	PROXY=${PEER_URL#http://}
	by() { # TEXT FIELDS ASKED ARGUMENTS OF ipf-fire…
		: >proxy.log
		fire talk.sched --connections session "${@:4}"
		good "$TALKS"
		alone "$1" "$2"
		is "$(sort proxy.log | uniq -c |
			tr -s ' ')" " $SESSIONS $3" "$1: the proxy is asked for the server, once for each session"
	}
	# a forwarding proxy sees a request only when the connection begins
	by "an HTTP proxy" "HTTP/1.1 200 - localhost:$PLAIN" "POST localhost:$PLAIN" -u "http://localhost:$PLAIN" --proxy "http://$PROXY"
	by "by CONNECT" "HTTP/1.1 200 localhost localhost:$TLS" "CONNECT localhost:$TLS" -u "https://localhost:$TLS" --cacert cert.pem --proxy "http://$PROXY"
	by "by CONNECT, HTTP/2" "HTTP/2.0 200 - localhost:$H2C" "CONNECT localhost:$H2C" -u "http://localhost:$H2C" --http 2-prior --proxy "http://$PROXY"
	by "SOCKS by name" "HTTP/1.1 200 - localhost:$PLAIN" "socks5 name localhost:$PLAIN" -u "http://localhost:$PLAIN" --proxy "socks5h://$PROXY"
	by "SOCKS by address" "HTTP/1.1 200 localhost localhost:$TLS" "socks5 address 127.0.0.1:$TLS" -u "https://localhost:$TLS" --cacert cert.pem \
		--resolve "localhost:$TLS:127.0.0.1" --proxy "socks5://$PROXY" --dns each
	# IPv6, where the kernel might look at the difference between the connections
	: >six.port
	python3 "$TESTS/proxy.py" six.log --relay ::1 "$PLAIN" >six.port 2>six.err &
	SIX=$!
	stop_at_exit $SIX
	six_or_gone() { [ -s six.port ] || ! kill -0 $SIX 2>/dev/null; }
	wait_for six_or_gone
	if [ -s six.port ]; then
		fire talk.sched -u "http://[::1]:$(cat six.port)" --connections session
		good "$TALKS"
		alone IPv6 "HTTP/1.1 200 - [::1]:$(cat six.port)"
	else
		skip "sessions' connections by IPv6" "there is no ::1 here"
	fi
else
	skip "sessions' connections by proxies" "python3, which the proxy needs, is not installed"
fi
fire talk.sched -u "https://model.test:$TLS" --resolve "model.test:$TLS:127.0.0.1" --cacert cert.pem --connections session
is "$(jq -c '[.error.kind, .status]' rows | sort | uniq -c |
	tr -s ' ')" " $TALKS [\"tls\",null]" "a certificate for another name"
is "$(wc -l <nginx.log)" 0 "no request goes to a host with a certificate for another name"
nginx_stop

# A server accepting fewer streams than --streams refuses some; they are sent on other connections, and none is lost.
STREAMS=4 nginx_start "$PORT" || skip_all "nginx does not start again"
fire burst.sched -u "http://localhost:$H2C" --http 2-prior
good 12
between "$(distinct)" 2 12 "a connection carries at most four streams"
is "$(cut -d ' ' -f 1 nginx.log | sort | uniq -c | awk '$1 > 4' | wc -l)" 0 "nginx sees at most four streams on a connection"
fire burst.sched -u "http://localhost:$H2C" --http 2-prior --connections 1 --streams 4
good 12
is "$(distinct)" 1 "a pool of one connection with four streams"

# Its limit is known after the first connection, and the others are opened at once: a proxy opens none of them before five
# are requested.
fewer() { # TEXT ARGUMENTS OF ipf-fire…
	gathering --together 5
	fire "${@:2}" --proxy "$GATHER"
	good "$(wc -l <rows)"
	is "$(grep -vc '^socks5' gather.log) $(grep -c together gather.log)" "1 1" "$1: as many connections as the rest needs are made at once"
	between "$(distinct)" 6 16 "$1: no more connections than that"
	is "$(jq -c 'select(.connected_ns < .start_ns or .sent_ns < .connected_ns or .first_byte_ns < .sent_ns)' rows)" "" "$1: the times are in order"
	peer_stop
}
if command -v python3 >/dev/null; then
	fewer "HTTP/2" crowd.sched -u "http://localhost:$H2C" --http 2-prior
	fewer "HTTP/2 and TLS" crowd.sched -u "https://localhost:$TLS" --cacert cert.pem --http 2
	# one request, and then all of them: now it is known beforehand
	ipf-sched closed:users=1,n=1 burst:n=60 -t chat.trace -q -o after.sched
	fewer "known before" after.sched -u "http://localhost:$H2C" --http 2-prior
	is "$(jq -c .connection.stream_resets rows | sort -u)" null "no stream is refused when the limit is known"
	fire after.sched -u "http://localhost:$H2C" --http 2-prior --connections 3
	good 61
	is "$(distinct)" 3 "a pool keeps to its connections"
	is "$(jq -c .connection.stream_resets rows | sort -u)" null "a pool keeps to the streams that the server takes"
	between "$(jq -s '[.[] | select(.pool_ns)] | length' rows)" 1 60 "requests wait for a connection of a full pool" # exact: a count of requests in a pool
else
	skip "connections that are made at once" "python3, which the proxy needs, is not installed"
fi
nginx_stop
STREAMS=1 nginx_start "$PORT" || skip_all "nginx does not start again"
fire burst.sched -u "http://localhost:$H2C" --http 2-prior
good 12
fire after.sched -u "http://localhost:$H2C" --http 2-prior --timeout 600s
good 61
fire after.sched -u "http://localhost:$H2C" --http 2-prior --connections 3
good 61
is "$(distinct)" 3 "a pool where a connection carries one request"
fire talk.sched -u "http://localhost:$H2C" --http 2-prior --connections session
good "$TALKS"
