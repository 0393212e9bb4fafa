#!/bin/bash
# The cost of HTTP/2. The same short answers over the same connections and streams as h2load, from nghttpd; how long the longest waits where ten
# thousand streams share a hundred connections; and a large answer, which h2load throws away and ipf-fire keeps. Needs h2load and nghttpd
# (nghttp2-client, nghttp2-server). H2_ANSWER=100M makes the large answer smaller, 320M is --max-answer's most; three times its size of memory has
# to be free.
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"
# shellcheck source-path=SCRIPTDIR
. "$BENCH/raw.sh"
seconds=${BENCH_SECONDS:-3} answer=$(numfmt --from=iec "${H2_ANSWER:-300M}")

if ! command -v h2load >/dev/null || ! command -v nghttpd >/dev/null; then
	row "HTTP/2" "skipped: needs h2load and nghttpd" - - -
	exit
fi

mkdir -p htdocs/v1/chat
printf 'data: {"choices":[{"delta":{"content":"Hello."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n' >htdocs/v1/chat/completions
printf '{"model":"raw","messages":[{"role":"user","content":"Tell me."}],"max_tokens":1,"stream":true}' >body
PORT=$((10000 + $$ % 20000)) # nghttpd takes no free one of itself
taskset -c "$server_core" nghttpd --no-tls -a 127.0.0.1 -d htdocs -m 1000 -w 30 -W 30 "$PORT" >nghttpd.said 2>&1 &
SERVER=$!
stop_at_exit $SERVER
URL=http://127.0.0.1:$PORT
wait_for curl -s --http2-prior-knowledge -o /dev/null "$URL/"

seconds_of() { # A duration as h2load prints it: 12.3us, 4.5ms, 1.20s
	awk -v t="$1" 'BEGIN { f = t ~ /us$/ ? 1e-6 : t ~ /ms$/ ? 1e-3 : 1; print (t + 0) * f }'
}

# As raw.sh's `fire` says it, with the longest answer.
h2load_run() { # CONNECTIONS STREAMS
	local TIMEFORMAT='%U %S'
	{ time on_client h2load -c "$1" -m "$2" -D "$seconds" -d body -H 'content-type: application/json' "$URL/v1/chat/completions" >h2load.said 2>&1; } 2>h2load.time
	local done_ longest
	done_=$(sed -n 's/^requests: .* \([0-9]*\) succeeded.*/\1/p' h2load.said)
	longest=$(awk '/^time for request:/ { print $5 }' h2load.said)
	awk -v n="$done_" -v s="$seconds" -v cpu="$(awk '{ print $1 + $2 }' h2load.time)" -v longest="$(seconds_of "$longest")" \
		'BEGIN { printf "{\"requests\":%d,\"requests_s\":%.1f,\"cpu_us_request\":%.3f,\"longest_s\":%.4f}\n", n, n / s, cpu / n * 1e6, longest }'
}
fire_run() { # CONNECTIONS STREAMS
	fire "closed:users=$(($1 * $2)),for=${seconds}s" --http 2-prior --connections "$1" --streams "$2" >of.run
	zstd -dcq raw.records.zst | jq -c 'select(.n != null) | .end_ns - .start_ns' | sort -n | tail -n 1 |
		jq -c --slurpfile run of.run '$run[0] + {longest_s: (. / 1e9)}'
}

load() { # CONNECTIONS STREAMS
	local i
	for i in $(seq "$rounds"); do
		h2load_run "$1" "$2" >>"h2load.$1"
		fire_run "$1" "$2" >>"fire.$1"
		echo "$1 connections, $2 streams, round $i: $(tail -n 1 "h2load.$1") h2load, $(tail -n 1 "fire.$1")" >&2
	done
}
show() { # CONNECTIONS WHAT MEMBER UNIT DIGITS GOAL
	local fire h2load
	fire=$(median "$3" "fire.$1")
	h2load=$(median "$3" "h2load.$1")
	row "$2" "$(rounded "$fire" "$5") $4" "$(rounded "$h2load" "$5") $4 of h2load" "$(ratio "$fire" "$h2load")" "$6"
}

load 8 32
show 8 "HTTP/2: 32 streams on 8 connections" requests_s requests/s 0 "> 0.50"
show 8 "the same, CPU" cpu_us_request "us a request" 1 -
load 100 100
show 100 "HTTP/2: 10,000 streams on 100 connections" requests_s requests/s 0 "> 0.50"
show 100 "the same, the longest answer" longest_s s 2 "< 2.00"
row "the same, requests that failed" "$(jq -s 'map(.failed) | add' fire.100)" - - "< 0" "$(jq -s 'map(.failed) | add' fire.100)"

# Lines of text, as answers are.
awk 'BEGIN { for (i = 0; i < 16384; i++) printf "data: {\"choices\":[{\"delta\":{\"content\":\" w%05d\"}}]}\n\n", i }' >piece
for i in $(seq $((answer / $(stat -c %s piece) + 1))); do cat piece; done | head -c "$answer" >htdocs/v1/chat/completions || true
for i in $(seq "$rounds"); do
	on_client h2load -c 1 -m 1 -n 1 -d body "$URL/v1/chat/completions" >h2load.said 2>&1
	echo "{\"s\":$(seconds_of "$(awk '/^time for request:/ { print $4 }' h2load.said)")}" >>h2load.large
	rm -f raw.records.zst
	fire closed:users=1,n=1 --http 2-prior --max-answer "$((answer + answer / 5))" --memory "$((answer * 3))" >of.run
	# the line is as long as the answer, before which come the times
	{ zstd -dcq raw.records.zst || true; } 2>/dev/null | head -c 65536 | sed -n 's/^{"n":.*"start_ns":\([0-9]*\).*"end_ns":\([0-9]*\).*"status":200.*/\1 \2/p' |
		awk '{ printf "{\"s\":%.4f}\n", ($2 - $1) / 1e9 }' >>fire.large
	[ "$(jq '.requests - .failed' of.run)" = 1 ] || { echo "h2.sh: the answer of $answer bytes failed" >&2; exit 1; }
	echo "an answer of $answer bytes, round $i: $(tail -n 1 h2load.large) h2load, $(tail -n 1 fire.large)" >&2
done
speed() { awk -v s="$(median s "$1")" -v n="$answer" 'BEGIN { printf "%.0f", n / s / 1e6 }'; }
row "HTTP/2: an answer of $(numfmt --to=iec "$answer")" "$(speed fire.large) MB/s" "$(speed h2load.large) MB/s of h2load" "$(ratio "$(speed fire.large)" "$(speed h2load.large)")" "> 0.50"
