#!/bin/bash
# ipf-fire killed without a warning: its records have all but the last second. The bounds are for a machine with time; cli/pipeline-killed.t has
# rules for every machine.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

server_start
ipf-prep sharegpt "$ROOT/examples/chat.json" --max-output 20 -q -o chat.trace
ipf-sched constant:rate=30,for=10m -t chat.trace -o chat.sched
done_now() { curl -s "$URL/metrics" | awk '/^vllm:request_success_total/ { n += $NF } END { print n + 0 }'; }
for out in records.zst records; do
	base=$(done_now)
	ipf-fire -q -u "$URL" -m sim -t chat.trace chat.sched -o $out &
	fire=$!
	stop_at_exit $fire
	enough() { [ $(($(done_now) - base)) -ge 300 ]; }
	yes_if "300 requests end while the run goes on ($out)" wait_for enough
	seen=$(($(done_now) - base))
	kill -9 $fire
	wait $fire 2>/dev/null
	# A second at 30 requests/s, and half a second between the server's counter and the kill.
	at_least "$(plain $out 2>/dev/null | grep -c '"end_ns"')" $((seen - 45)) "records of $out have all but the last second of $seen requests"
	run ipf-collect $out -o results
	at_least "$(body results | grep -c '"ok":true')" $((seen - 45)) "the results of $out have all these requests"
done
