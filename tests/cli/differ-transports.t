#!/bin/bash
# The same random run over HTTP/1.1 and HTTP/2, without and with TLS, over a Unix socket, by one thread and by four: values determined by trace,
# schedule and server are the same in all records and results.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/nginx.sh"

command -v python3 >/dev/null || skip_all "python3 is not installed"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem 2>openssl.said || skip_all "openssl cannot make a certificate"
server_start --step-base 1ms --step-per-seq 0 --prefill-rate 100M --no-prefix-cache
UPSTREAM=fresh nginx_start "${URL##*:}" || skip_all "nginx does not start here"

go() { # WAY URL ARGUMENTS OF ipf-fire…: WAY.records, WAY.results; says nothing if all is well
	ways+=("$1")
	(
		# shellcheck disable=SC2086 # several options
		ipf-fire -q -H "X-Sim: \$model" -u "$2$path" $options -t run.trace run.sched --timeout 20s --force -o "$1.records" "${@:3}" &&
			ipf-collect --check "$1.records" | grep ": 0 violations " >/dev/null && ipf-collect -q --text "$1.records" -o "$1.results" || echo "$1 failed"
	) >"$1.said" 2>&1 &
	runs+=($!)
}
random_rounds 1
for seed in $(seq "$seed" $((seed + rounds - 1))); do
	python3 "$TESTS/helpers/random_transports.py" make "$seed" >run.trace
	read -r path options < <(python3 "$TESTS/helpers/random_transports.py" options "$seed")
	ipf-sched -q --seed "$seed" poisson:rate=100,n=30 closed:users=8,n=30 -t run.trace -o run.sched
	ways=() runs=()
	go sim-h1-clear "$URL"
	go sim-h1-clear-threads "$URL" --threads 4
	go nginx-h1-clear-socket http://localhost --unix-socket nginx.sock --threads 4
	go nginx-h1-clear-fresh "http://localhost:$PLAIN" --connections fresh
	go nginx-h1-tls "https://localhost:$TLS1" --cacert cert.pem
	go nginx-h1-tls-threads "https://localhost:$TLS1" --cacert cert.pem --threads 4
	go nginx-h2-clear "http://localhost:$H2C" --http 2-prior
	go nginx-h2-clear-threads "http://localhost:$H2C" --http 2-prior --threads 4 --streams 3
	go nginx-h2-tls "https://localhost:$TLS" --cacert cert.pem --http 2
	go nginx-h2-tls-threads "https://localhost:$TLS" --cacert cert.pem --http 2 --threads 4
	wait "${runs[@]}"
	is "$(cat "${ways[@]/%/.said}")" "" "seed $seed, $options: all runs end well, and their records are valid"
	run python3 "$TESTS/helpers/random_transports.py" compare run.trace "${ways[@]}"
	matches "$(tail -1 "$OUT")" '^[0-9]{2,} requests, [0-9]{4,} compared, 0 differ$' "seed $seed: $(tail -1 "$OUT")"
	[ "$status" = 0 ] && [ "$tap_failed" = 0 ] || {
		head -20 "$OUT" "$ERR" | cut -c 1-1200 | sed 's/^/# /'
		exit 1
	}
done
