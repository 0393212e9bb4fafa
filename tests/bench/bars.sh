#!/bin/bash
# Do the error bars contain the true values? Request by request against the servers' logs of their sends: quiet, with the sending thread at 60
# % of a core, with a process taking half of the client's core 5 ms at a time, over TLS and over HTTP/2; the first three also against captured
# packets, where tcpdump may capture. STREAMS=100 makes it smaller. On a busy machine, as root: BARS_RUN="chrt -r 10", for all processes.
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR/..
. "$TESTS/tap.sh"
PATH=$BUILD/bench:$PATH

streams=${STREAMS:-400} seconds=${BARS_SECONDS:-4}
plan() { # STREAMS EVENTS GAP_MS: as many in flight
	printf '{"id":"r","messages":[{"role":"user","content":"Tell me."}],"output_tokens":%d}\n' "$2" >lines
	trace_of lines >t.trace
	ipf-sched -q "poisson:rate=$(awk -v s="$1" -v e="$2" -v g="$3" 'BEGIN { print s / (e * g / 1000) }'),for=${seconds}s" -t t.trace -o t.sched
}
on_server=${BARS_RUN:-} on_client=${BARS_RUN:-}
if [ "$(nproc)" -gt 1 ]; then on_server="$on_server taskset -c 0" on_client="$on_client taskset -c 1"; fi

row() { # NAME FILE
	jq -r --arg name "$1" '(del(.tap) | to_entries[] | [$name + ", " + .key, "\(.value.within * 10000 | round / 100) % of \(.value.requests)",
			"\(.value.width_p50_us) us wide at p50, \(.value.width_p99_us) us at p99", "-", ">= 99 %",
			(if .value.within >= 0.99 then "met" else "missed" end)]),
		(.tap | values | [$name + ", after leaving and before coming", "\(.after_leaving_us.p50) and \(.before_coming_us.p50) us at p50",
			"\(.after_leaving_us.p99) and \(.before_coming_us.p99) us at p99", "-", "-", "of \(.messages) messages"]) | @tsv' "$2"
}

measure() { # NAME EVENTS SERVER… -- ARGUMENTS OF IPF-FIRE… [-- COMMAND that disturbs meanwhile]
	local name=$1 server=() fire=() disturb='' capture='' beside='' url
	shift
	while [ "$1" != -- ]; do server+=("$1") && shift; done
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do fire+=("$1") && shift; done
	rm -f sends port packets tap.port stamps t.records t.results
	# shellcheck disable=SC2086 # one word or none
	$on_server "${server[@]}" >port &
	local pid=$!
	wait_for test -s port
	url=$(sed '1s/.* //' port)
	case $url in http*) ;; *) url=${scheme:-http}://localhost:$url ;; esac
	if [ $# -gt 1 ]; then
		shift
		"$@" &
		disturb=$!
	fi
	if [ -n "${with_capture:-}" ]; then
		# shellcheck disable=SC2086
		${BARS_RUN:-} python3 "$BENCH/tap_delay.py" tap.port stamps &
		beside=$!
		wait_for test -s tap.port
		tcpdump -i lo -w packets -s 400 -B 262144 --time-stamp-precision=nano \
			"greater 80 and (tcp port ${url##*:} or tcp port $(cat tap.port))" 2>said & # no mere acknowledgements
		capture=$!
		wait_for grep -q listening said || capture=
	fi
	# shellcheck disable=SC2086
	$on_client ipf-fire -q --force -u "$url" -m sim -t t.trace t.sched -o t.records ${fire[@]+"${fire[@]}"}
	[ -z "$disturb" ] || { kill "$disturb" 2>/dev/null || true; wait "$disturb" 2>/dev/null || true; }
	kill "$pid"
	wait "$pid" || true
	ipf-collect -q t.records -o t.results
	busy=$(grep '^{"client"' t.records |
		jq -s '.[:-1] | if length < 2 then 0
			else (.[-1].client.cpu.send - .[0].client.cpu.send) / (.[-1].client.t_ns - .[0].client.t_ns) * 1e11 | round end')
	python3 "$TESTS/bar_truth.py" t.records t.results --log sends >by-log
	row "$name, sending thread at $busy %" by-log
	[ -z "$beside" ] || { kill "$beside" && wait "$beside" || true; }
	[ -z "$capture" ] || { sleep 0.5 && kill -INT "$capture" && wait "$capture" || true; }
	if [ -s packets ]; then
		python3 "$TESTS/bar_truth.py" t.records t.results --pcap packets --tap stamps >by-pcap
		row "$name, by captured packets" by-pcap
	fi
}
raw() { # NAME [-- COMMAND…]
	local name=$1
	shift
	measure "$name" rawserver --events 100 --first 50ms --gap 10ms --log sends -- "$@"
}

plan "$streams" 100 10
with_capture=
if [ "$(id -u)" = 0 ] && command -v tcpdump >/dev/null; then
	with_capture=yes
fi
raw "$streams streams"
if [ -z "$with_capture" ]; then
	printf 'by captured packets\tskipped: needs tcpdump, as root\t-\t-\t-\t-\n'
fi
# as many as keep the thread busy for 60 %; less is needed for each when there are more
more=$streams
for _ in 1 2 3; do
	if [ "$busy" -eq 0 ] || [ "$busy" -ge 55 ]; then break; fi
	more=$((more * 60 / busy))
	plan "$more" 100 10
	raw "$more streams" >rows
done
[ "$more" = "$streams" ] || cat rows
plan "$streams" 100 10
"${CC:-cc}" -O2 -o hog "$BENCH/hog.c"
# shellcheck disable=SC2086
raw "$streams streams, with a hog" -- $on_client ./hog 5ms 10ms

# a server in Python: fewer of them, and nothing in a capture that tells of which request a packet is
with_capture=
few=$((streams / 20 + 1))
plan "$few" 20 5
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost >/dev/null 2>&1
cat key.pem cert.pem >both.pem
scheme=https measure "$few streams, TLS" python3 "$TESTS/truth_server.py" sends --cert both.pem -- --http 1.1 --cacert cert.pem
measure "$few streams, HTTP/2" python3 "$TESTS/truth_server.py" sends -- --http 2-prior
scheme=https measure "$few streams, HTTP/2 over TLS" python3 "$TESTS/truth_server.py" sends --cert both.pem -- --http 2 --cacert cert.pem
measure "$few streams, clock of ipf-fire" python3 "$TESTS/truth_server.py" sends -- --stamps user
