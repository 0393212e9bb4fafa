#!/bin/bash
# How soon is a request on the wire? From its start to the kernel's timestamp of its packet: on kept connections, and of crowds (STARTS)
# starting at one instant, on connections opened for them, also over TLS, or were before. The bare client's packets have such timestamps
# too; over TLS it is when the call that sent it returned, and each handshake is one in full.
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"
# shellcheck source-path=SCRIPTDIR
. "$BENCH/raw.sh"
seconds=${BENCH_SECONDS:-3}
read -ra crowds <<<"${STARTS:-1000 5000}"
first=${crowds[0]}

# The requests in raw.records.zst, in us as bareclient prints it.
wire_of() { # MEMBER FROM WHICH IT COUNTS, MEMBER TO WHICH, FILTER OF REQUESTS
	zstd -dcq raw.records.zst | jq -c 'select(.n != null)' |
		jq -cs --arg from "$1" --arg to "$2" "map(select($3)) | (length) as \$all | map(select(.[\$to] != null) | (.[\$to] - .[\$from]) / 1e3) | sort
			| {requests: \$all, seen: length, wire_us: {p50: .[length * 0.5 | floor], p99: .[length * 0.99 | floor], max: .[-1]}}"
}

kept() {
	bare --rate 1000 --for "${seconds}s" --wire >>bare.kept
	fire "poisson:rate=1000,for=${seconds}s" >fire.run
	wire_of start_ns left_ns .connection.reused >>fire.kept
}

# The kernel's timestamps are rationed: of a large crowd only the first requests have one.
fresh() { # KIND COUNT [tls]
	local bare=() fire=()
	[ "${3:-}" != tls ] || bare=(--tls) fire=(--insecure --no-tls-resumption)
	sleep 1.1 # until the local ports of the run before may be used again: who looks for one among few is late
	bare -c "$2" -n "$2" --wire "${bare[@]}" >>"bare.$1"
	sleep 1.1
	fire "burst:n=$2" --connections fresh "${fire[@]}" >fire.run
	wire_of due_ns sent_ns true >>"fire.$1"
}

ahead() {
	bare -c "$first" -n "$first" --wire --ahead >>bare.ahead
	fire "burst:n=$first" --connections "$first" --open-ahead >fire.run
	wire_of due_ns left_ns true >>fire.ahead
}

told() { # KIND ROUND
	echo "$1, round $2: $(tail -n 1 "bare.$1" | jq -c .wire_us) bare, $(tail -n 1 "fire.$1" | jq -c .)" >&2
}

show() { # KIND WHAT PERCENTILE GOAL [BASELINE'S KIND]
	local fire bare of=${5:-$1}
	fire=$(median "wire_us.$3" "fire.$1")
	bare=$(median "wire_us.$3" "bare.$of")
	row "$2" "$(rounded "$fire" "$DIGITS") us" "$(rounded "$bare" "$DIGITS") us bare$([ "$of" = "$1" ] || echo ", $of")" "$(ratio "$fire" "$bare")" "$4"
}

raw_certificate
raw_start --events 1
for i in $(seq "$rounds"); do
	kept && told kept "$i"
	ahead && told ahead "$i"
	for crowd in "${crowds[@]}"; do fresh "fresh.$crowd" "$crowd" && told "fresh.$crowd" "$i"; done
done
server_stop
raw_start --events 1 --cert cert.pem --key key.pem
for i in $(seq "$rounds"); do
	for crowd in "${crowds[@]}"; do fresh "tls.$crowd" "$crowd" tls && told "tls.$crowd" "$i"; done
done
DIGITS=1 show kept "start to wire on kept connections, p50" p50 "< 2.0"
DIGITS=1 show kept "the same, p99" p99 "< 2.0"
DIGITS=0
for crowd in "${crowds[@]}"; do
	show "fresh.$crowd" "$crowd at once on fresh connections, p50" p50 "< 1.25"
	show "fresh.$crowd" "the same, the last" max "< 1.25"
	show "tls.$crowd" "$crowd at once on fresh connections over TLS, p50" p50 "< 1.25"
	show "tls.$crowd" "the same, the last" max "< 1.25"
done
show ahead "$first at once on connections opened ahead, p50" p50 -
show ahead "the same, the last" max "< 0.45" "fresh.$first"
