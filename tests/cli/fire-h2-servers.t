#!/bin/bash
# HTTP/2 servers of others: some thousand requests each, with many streams on few connections and the other way round, and no false
# failure. IPF_LONG=1 sends 100,000 to each (LIMIT=3600 tests/run …), and builds a server in Go.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/nginx.sh"
. "$TESTS/told_port.sh"
. "$TESTS/helpers/grpc.sh"

[ -n "${IPF_LONG:-}" ] && MANY=100000 || MANY=
PATH=$PATH:/usr/sbin
server_start --step-base 500us --step-per-seq 0 --keep-alive 1h
SIM=${URL##*:}
ipf-prep sharegpt "$ROOT/examples/chat.json" --output-tokens 4 -n 10 -q -o chat.trace

# All sent is answered, by HTTP/2, with 200 and the whole body: as long, but for digits and the id, as the others to the same prompt.
hold() { # TEXT COUNT ARGUMENTS OF ipf-fire…
	ipf-sched "closed:users=60,n=${MANY:-$2}" -t chat.trace -q -o chat.sched
	run ipf-fire -m sim -t chat.trace chat.sched "${@:3}"
	status_is 0 "$1: ends well"
	requests "$OUT" >rows
	is "$(jq -c '[.connection.http, .status, .error]' rows | sort | uniq -c | tr -s ' ')" " ${MANY:-$2} [2,200,null]" "$1: all are answered"
	is "$(jq -c '["abcdefghij"[.req:.req + 1], .body]' rows | sed 's,chatcmpl[^"]*,,g;s,[0-9],,g' | awk '{ print substr($0, 1, 4), length($0) }' | sort -u | wc -l)" 10 \
		"$1: the bodies are whole"
}
both() { # TEXT COUNT ARGUMENTS OF ipf-fire…
	hold "$@"
	hold "$1, four connections" "${@:2}" --connections 4 --streams 10
	is "$(jq -c .connection.stream_resets rows | sort -u)" null "$1, four connections: no stream was refused"
}

# ---- nghttp2 ----
if command -v nghttpd >/dev/null; then
	mkdir -p htdocs/v1/chat
	printf 'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' one two three >htdocs/v1/chat/completions
	listen nghttpd --no-tls -a 127.0.0.1 -d htdocs PORT
	both nghttpd 2000 -u "http://127.0.0.1:$PORT" --http 2-prior
	quit
	listen nghttpd --no-tls -a 127.0.0.1 -d htdocs -m 3 --encoder-header-table-size=0 PORT
	hold "nghttpd with three streams" 500 -u "http://127.0.0.1:$PORT" --http 2-prior
	quit
else
	skip nghttpd "there is none here"
fi
if command -v nghttpx >/dev/null; then
	listen nghttpx --conf=/dev/null "-f127.0.0.1,PORT;no-tls" "-b127.0.0.1,$SIM" -n 1 --errorlog-file=nghttpx.log
	both nghttpx 1000 -u "http://127.0.0.1:$PORT" --http 2-prior
	quit
else
	skip nghttpx "there is none here"
fi

# ---- nginx, which sends GOAWAY after so many requests of a connection ----
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem 2>openssl.said
if REQUESTS=1000000 nginx_start "$SIM"; then
	both nginx 1000 -u "http://localhost:$H2C" --http 2-prior
	hold "nginx by TLS" 1000 -u "https://localhost:$TLS" --cacert cert.pem --http 2
	hold "nginx, fresh connections" 200 -u "http://localhost:$H2C" --http 2-prior --connections fresh
	nginx_stop
	REQUESTS=50 STREAMS=20 nginx_start "$SIM" || exit 1
	hold "nginx that goes away" 1000 -u "http://localhost:$H2C" --http 2-prior
	hold "nginx that goes away, TLS" 500 -u "https://localhost:$TLS" --cacert cert.pem --http 2 --connections 4
	nginx_stop
else
	skip nginx "it does not start here"
fi

# ---- others, which need no more than their language ----
if command -v node >/dev/null; then
	cat >server.js <<'END'
const server = require("http2").createServer({settings: {maxConcurrentStreams: 30}});
server.on("stream", (stream, headers) => {
	let bytes = 0;
	stream.on("error", () => {});
	stream.on("data", d => bytes += d.length);
	stream.on("end", () => {
		stream.additionalHeaders({":status": 103, link: "x"});
		stream.respond({":status": 200, "content-type": "text/event-stream"}, {waitForTrailers: true});
		stream.on("wantTrailers", () => stream.sendTrailers({"x-bytes": String(bytes)}));
		stream.write("data: {}\n\n");
		setImmediate(() => stream.end("data: [DONE]\n\n" + "x".repeat(bytes)));
	});
});
server.listen(process.argv[2], "127.0.0.1");
END
	listen node server.js PORT
	both node 1000 -u "http://127.0.0.1:$PORT" --http 2-prior
	quit
else
	skip node "there is none here"
fi
if python3 -c 'import hypercorn' 2>/dev/null; then
	cat >asgi.py <<'END'
async def app(scope, receive, send):
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body")
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
    await send({"type": "http.response.body", "body": b"data: {}\n\n", "more_body": True})
    await send({"type": "http.response.body", "body": b"x" * size})
END
	echo 'keep_alive_max_requests = 1000000' >hypercorn.toml # beyond it, it closes connections within responses
	listen python3 -m hypercorn -c hypercorn.toml -b 127.0.0.1:PORT asgi:app
	both hypercorn 300 -u "http://127.0.0.1:$PORT" --http 2-prior
	quit
else
	skip hypercorn "python3 has it not"
fi
if python=$(grpc_python); then
	printf '{"id":"r","prompt":"one two","input_tokens":4,"output_tokens":3}\n%.0s' 1 >lines
	trace_of lines >one.trace
	ipf-sched "closed:users=20,n=${MANY:-300}" -t one.trace -q -o one.sched
	: >server.log
	python_server "$python" "$TESTS/helpers/grpc_server.py" "$TESTS/data/grpc" server.log --age 1
	run ipf-fire -m sim -t one.trace one.sched --api tgis -u "http://127.0.0.1:$(cat "$SAID")"
	status_is 0 "grpcio that goes away each second: ends well"
	is "$(body "$OUT" | jq -c 'select(.n != null) | [.connection.http, .status, .error, .headers["grpc-status"]]' | sort | uniq -c |
		tr -s ' ')" " ${MANY:-300} [2,200,null,\"0\"]" "grpcio that goes away each second: all are answered"
	quit
else
	skip grpcio "no python3 here has it"
fi

# ---- one that announces another length than it sends: a response ending while the reset of its stream is written, on
# connections closing then and on one going on ----
cat >lengths.py <<'END'
import socket, threading

def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload

def serve(connection):
    reader = connection.makefile("rb")
    reader.read(24)
    connection.sendall(frame(4, 0, 0))
    while len(head := reader.read(9)) == 9:
        reader.read(int.from_bytes(head[:3], "big"))
        stream = int.from_bytes(head[5:], "big")
        if head[3] in (0, 1) and head[4] & 1:
            sent = b"four" if stream % 4 == 1 else b"five5"
            connection.sendall(frame(1, 4, stream, b"\x88\x0f\x0d\x015") + frame(0, 1, stream, sent))

listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
END
if python3 -c '' 2>/dev/null; then
	python_server python3 lengths.py
	ipf-sched closed:users=6,n=40 -t chat.trace -q -o chat.sched
	for connections in 1 fresh; do
		run ipf-fire -m sim -t chat.trace chat.sched -u "http://127.0.0.1:$(cat "$SAID")" --http 2-prior --connections $connections
		[ $connections = 1 ] && wanted='20 [200,"malformed"] 20 [200,null]' || wanted='40 [200,"malformed"]'
		is "$(body "$OUT" | jq -c 'select(.n != null) | [.status, .error.kind]' | sort | uniq -c | tr -s ' \n' ' ' | sed 's/^ //;s/ $//')" "$wanted" \
			"a wrong content-length, --connections $connections: malformed, and nothing else"
	done
	quit
else
	skip "a wrong content-length" "no python3 here"
fi

if [ -z "$MANY" ]; then
	skip Go "it takes a minute to build: only with IPF_LONG=1"
elif command -v go >/dev/null; then
	cat >server.go <<'END'
package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
)

func main() {
	both := new(http.Protocols)
	both.SetHTTP1(true)
	both.SetUnencryptedHTTP2(true)
	answer := func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		w.Header().Set("Trailer", "X-End")
		w.Write([]byte("data: {}\n\n"))
		w.(http.Flusher).Flush()
		w.Write(bytes.Repeat([]byte("x"), int(n)))
		w.Header().Set("X-End", "1")
	}
	server := http.Server{Addr: os.Args[1], Handler: http.HandlerFunc(answer), Protocols: both}
	panic(server.ListenAndServe())
}
END
	if GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local GOCACHE=$PWD/go.cache go build -o goserver server.go 2>go.said; then
		listen ./goserver 127.0.0.1:PORT
		both Go 1000 -u "http://127.0.0.1:$PORT" --http 2-prior
		quit
	else
		skip Go "this one does not build it: $(head -1 go.said)"
	fi
else
	skip Go "there is none here"
fi
