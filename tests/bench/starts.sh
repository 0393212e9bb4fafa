#!/bin/bash
# How soon is a request on the wire? From its start to the kernel's timestamp of its packet: on connections that are kept, and of a thousand
# requests that start at one instant, on connections that are opened for them, or were before. The bare client's packets have such timestamps too.
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"
# shellcheck source-path=SCRIPTDIR
. "$BENCH/raw.sh"
seconds=${BENCH_SECONDS:-3} crowd=${STARTS:-1000}

# Of the requests in raw.records.zst, in us as bareclient says it.
wire_of() { # MEMBER FROM WHICH MEMBER IT COUNTS, FILTER OF REQUESTS
	zstd -dcq raw.records.zst | jq -c 'select(.n != null)' |
		jq -cs --arg from "$1" "map(select($2)) | (length) as \$all | map(select(.left_ns != null) | (.left_ns - .[\$from]) / 1e3) | sort
			| {requests: \$all, seen: length, wire_us: {p50: .[length * 0.5 | floor], p99: .[length * 0.99 | floor], max: .[-1]}}"
}

kept() {
	bare --rate 1000 --for "${seconds}s" --wire >>bare.kept
	fire "poisson:rate=1000,for=${seconds}s" >fire.run
	wire_of start_ns .connection.reused >>fire.kept
}

fresh() {
	bare -c "$crowd" -n "$crowd" --wire >>bare.fresh
	fire "burst:n=$crowd" --connections fresh >fire.run
	wire_of due_ns true >>fire.fresh
}

ahead() {
	bare -c "$crowd" -n "$crowd" --wire --ahead >>bare.ahead
	fire "burst:n=$crowd" --connections "$crowd" --open-ahead >fire.run
	wire_of due_ns true >>fire.ahead
}

show() { # KIND WHAT PERCENTILE GOAL [BASELINE'S KIND]
	local fire bare of=${5:-$1}
	fire=$(median "wire_us.$3" "fire.$1")
	bare=$(median "wire_us.$3" "bare.$of")
	row "$2" "$(rounded "$fire" "$DIGITS") us" "$(rounded "$bare" "$DIGITS") us bare$([ "$of" = "$1" ] || echo ", $of")" "$(ratio "$fire" "$bare")" "$4"
}

raw_start --events 1
for i in $(seq "$rounds"); do
	for kind in kept fresh ahead; do
		$kind
		echo "$kind, round $i: $(tail -n 1 bare.$kind | jq -c .wire_us) bare, $(tail -n 1 fire.$kind | jq -c .)" >&2
	done
done
DIGITS=1 show kept "start to wire on kept connections, p50" p50 "< 2.0"
DIGITS=1 show kept "the same, p99" p99 "< 2.0"
DIGITS=0 show fresh "$crowd at once on fresh connections, p50" p50 "< 1.25"
DIGITS=0 show fresh "the same, the last" max "< 1.25"
DIGITS=0 show ahead "$crowd at once on connections opened ahead, p50" p50 -
DIGITS=0 show ahead "the same, the last" max "< 0.45" fresh
