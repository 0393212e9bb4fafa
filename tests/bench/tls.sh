#!/bin/bash
# The cost of TLS 1.3. Events a second of a thousand streams against the same without TLS, and handshakes for each second of one core's time,
# with sessions resumed and without.
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"
# shellcheck source-path=SCRIPTDIR
. "$BENCH/raw.sh"
seconds=${BENCH_SECONDS:-3}
raw_certificate

# A thousand answers at once on connections open by then; one kind of server after the other, since they share a core. Another run, of answers
# of one event, measures the cost of connecting.
streams=1000 events=${TLS_EVENTS:-1000}
once() { # FILE EVENTS ARGUMENTS OF rawserver…
	local to=$1 EVENTS=$2
	shift 2
	raw_start --events "$EVENTS" "$@"
	fire "burst:n=$streams" --insecure --connections $streams --open-ahead >>"$to.cpu.$EVENTS"
	zstd -dcq raw.records.zst | jq -c 'select(.n != null) | [.start_ns, .end_ns, .status]' | jq -cs --argjson events "$EVENTS" \
		'(map(select(.[2] == 200)) | length) as $answers | {events_s: ($answers * $events / ((map(.[1]) | max) - (map(.[0]) | min)) * 1e9), answers: $answers}' >>"$to.$EVENTS"
	server_stop
}
of_event() { # FILE: CPU time, without connecting
	awk -v all="$(median cpu_s "$1.cpu.$events")" -v few="$(median cpu_s "$1.cpu.1")" -v n="$((streams * (events - 1)))" 'BEGIN { printf "%.3f", (all - few) / n * 1e6 }'
}

for i in $(seq "$rounds"); do
	for many in $events 1; do
		once plain "$many"
		once tls "$many" --cert cert.pem --key key.pem
	done
	echo "streams, round $i: $(tail -n 1 plain.$events) plain, $(tail -n 1 tls.$events)" >&2
done
tls=$(median events_s tls.$events) plain=$(median events_s plain.$events)
row "$streams streams over TLS" "$(rounded "$tls") events/s" "$(rounded "$plain") events/s plain" "$(ratio "$tls" "$plain")" "> 0.80"
row "the same, CPU" "$(of_event tls) us an event" "$(of_event plain) us plain" "$(ratio "$(of_event tls)" "$(of_event plain)")" -

EVENTS=1
raw_start --events 1 --cert cert.pem --key key.pem
for i in $(seq "$rounds"); do
	fire "closed:users=64,for=${seconds}s" --insecure --connections fresh >>resumed
	[ "$(zstd -dcq raw.records.zst | grep -c '"resumed":true')" -gt 0 ]
	fire "closed:users=64,for=${seconds}s" --insecure --connections fresh --no-tls-resumption >>full
	echo "handshakes, round $i: $(tail -n 1 resumed | jq -c '[.requests_s, .cpu_us_request, .failed]') resumed, $(tail -n 1 full | jq -c '[.requests_s, .cpu_us_request, .failed]') full" >&2
done
per_core() { # FILE: requests for each second of CPU time, with everything belonging to a request
	awk -v us="$(median cpu_us_request "$1")" 'BEGIN { printf "%.0f", 1e6 / us }'
}
row "handshakes a second of CPU time, resumed" "$(per_core resumed)/s" "$(per_core full)/s in full" "$(ratio "$(per_core resumed)" "$(per_core full)")" "> 2000/s" "$(per_core resumed)"
