#!/bin/bash
# ipf-fire killed without a warning: what it had seen up to the last second can be read.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

server_start
ipf-prep sharegpt "$ROOT/examples/chat.json" --max-output 20 -q -o chat.trace
ipf-sched constant:rate=30,for=60s -t chat.trace -o chat.sched

done_now() { curl -s "$URL/metrics" | awk '/^vllm:request_success_total/ { n += $NF } END { print n + 0 }'; }
enough() { [ "$(done_now)" -ge 75 ]; }
for out in records.zst records; do
	base=$(done_now)
	ipf-fire -q -u "$URL" -m sim -t chat.trace chat.sched -o $out &
	fire=$!
	stop_at_exit $fire
	enough_since() { [ $(($(done_now) - base)) -ge 75 ]; }
	yes_if "75 requests end while the run goes on ($out)" wait_for enough_since
	seen=$(($(done_now) - base))
	kill -9 $fire
	wait $fire 2>/dev/null
	plain $out 2>/dev/null | grep -c '"end_ns"' >lines
	# A second at 30 requests/s, and half a second for what lies between the server's counter and the kill.
	between "$(cat lines)" $((seen - 45)) 100000 "of $seen requests that had ended, all but the last second's are in $out"
	run ipf-collect $out -o results
	status_is 3 "ipf-collect says with 3 that $out is cut"
	matches "$(cat "$ERR")" "^ipf-collect: $out: cut .*[1-9][0-9]* good lines" "and how many lines are good"
	yes_if "and its results are whole" whole results
	between "$(body results | grep -c '"ok":true')" $((seen - 45)) 100000 "with all these requests in them"
	run ipf-report results
	status_is 0 "ipf-report reads them"
	contains "$(cat "$OUT")" "cut" "and says that some is missing"
done
