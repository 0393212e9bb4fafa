#!/bin/bash
# Random bytes, requests with changes, HTTP/2 and TLS for our own servers, ipf-sim and --listen of ipf-collect, which speak HTTP/1.1: they
# answer in HTTP or close, go on serving, and end well.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/attack.sh"

server_start --step-base 100us
small_run 4
mkfifo pipe
ipf-collect --listen :0 <pipe >held.results 2>held.err &
COLLECT=$!
stop_at_exit $COLLECT
exec 5>pipe
sed '$d' chat.records >&5
wait_for grep -q '"n":' held.results
AT=$(grep -o 'http://[^/]*' held.err)

random_rounds 2
attack() { # WHO ADDRESS PATH
	attacked "seed $seed, $1" ' connections, .* 0 wrong$' attack_listeners.py "$seed" 300 "${2#http://}" "$3"
}
memory() { # PID: the most it took, in MiB
	awk '/^VmHWM/ { print int($2 / 1024) }' "/proc/$1/status"
}
for seed in $(seq "${seed:?by random_rounds}" $((seed + rounds - 1))); do
	attack ipf-sim "$URL" /v1/models
	attack "ipf-collect --listen" "$AT" /metrics
done
if [ -z "${SANITIZE:-}" ]; then
	between "$(memory "$SERVER")" 1 400 "ipf-sim takes bounded memory"
	between "$(memory $COLLECT)" 1 200 "ipf-collect --listen takes bounded memory"
fi
sed -n '$p' chat.records >&5
exec 5>&-
status=0
wait $COLLECT || status=$?
status_is 0 "ipf-collect ends with 0"
is "$(body held.results | jq -c 'select(.n != null) | .ok' | sort | uniq -c | tr -s ' ')" " 4 true" "the rows are those of the run"
server_stop
