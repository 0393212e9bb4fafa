#!/bin/bash
# Error bars contain the true values: request by request against a server that logs its sends with their times, over HTTP/1.1, TLS and
# HTTP/2. This holds on a busy machine, too, where the bars are wider; tests/bench/bars.sh measures more.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

if ! command -v python3 >/dev/null; then
	skip "error bars are true" "python3 is not installed"
	exit
fi
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost >/dev/null 2>&1 || skip_all "openssl cannot make a certificate"
cat key.pem cert.pem >both.pem
printf '{"id":"r","messages":[{"role":"user","content":"Tell me."}],"output_tokens":10}\n' >lines
trace_of lines >t.trace
ipf-sched -q poisson:rate=200,n=100 -t t.trace -o t.sched

# The log has when each call that sends began and ended, so a server held up within it knows of it.
compare() { # NAME SCHEME OPTIONS OF THE SERVER… -- ARGUMENTS…
	local name=$1 scheme=$2 server=()
	shift 2
	while [ "$1" != -- ]; do server+=("$1") && shift; done
	shift
	rm -f t.results
	peer_start "$TESTS/truth_server.py" sends --events 10 ${server[@]+"${server[@]}"}
	ipf-fire -q --force -u "$scheme://localhost:${PEER_URL##*:}" -m sim -t t.trace t.sched -o t.records "$@"
	peer_stop
	ipf-collect -q t.records -o t.results
	run python3 "$TESTS/bar_truth.py" t.records t.results --log sends -v
	status_is 0 "$name: bars are computed"
	is "$(jq -c '[.ttft, .e2e, .tpot] | map(.requests > 20)' "$OUT")" "[true,true,true]" "requests are compared"
	yes_if "requests were as their bars say" jq -e 'all(.[]; .within >= 0.95)' "$OUT"
	jq -e 'all(.[]; .within >= 0.95)' "$OUT" >/dev/null || sed 's/^/#   /' "$OUT" "$ERR"
}
compare HTTP/1.1 http --
# a bar that were wrong would be found: by 10 s
jq -c 'if .n != null then .ttft_ns += 10000000000 else . end' t.results >wrong.results
run python3 "$TESTS/bar_truth.py" t.records wrong.results --log sends
yes_if "wrong figures are not" jq -e '.ttft.within < 0.5 and .e2e.within >= 0.95' "$OUT"
compare "two events in a packet" http --batch 2 --
compare TLS https --cert both.pem -- --http 1.1 --cacert cert.pem
compare HTTP/2 http -- --http 2-prior
compare "HTTP/2 over TLS" https --cert both.pem -- --http 2 --cacert cert.pem
