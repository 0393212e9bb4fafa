#!/bin/bash
# The threads' system settings before the first request: turns on the processor, and room for open files.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

! grep -q __tsan_init "$BIN/ipf-fire" || skip_all "the sanitizer of threads has one of its own"
ipf-prep sharegpt "$ROOT/examples/chat.json" --max-output 6 -n 30 -q -o chat.trace
ipf-sched constant:rate=20,for=20s -t chat.trace -q -o slow.sched
server_start --step-base 1ms

begin() { # COMMAND…: starts ipf-fire by it, until it has sent something
	rm -f slow.records
	"$@" ipf-fire -q -u "$URL" -m sim -t chat.trace slow.sched -o slow.records 2>said &
	fire=$!
	stop_at_exit $fire
	wait_for grep -q '"status":200' slow.records
}
end() {
	kill -INT $fire
	wait $fire
	status_of=$?
	is $status_of 0 "SIGINT ends the run with 0"
}
# For each thread but the first, in the order of their nice values: policy (0: ordinary, 1: FIFO), and that value where it
# counts.
turns() {
	for stat in /proc/"$fire"/task/*/stat; do
		[ "${stat#*task/}" = "$fire/stat" ] || sed 's/.*) //' "$stat" | awk '{ print $39, ($39 ? "-" : $17) }'
	done | sort -k 2n | tr '\n' ';'
}

begin env
if [ "$(id -u)" = 0 ]; then
	is "$(turns)" "0 -10;0 -5;0 10;" "threads that send have the best turns, then rendering, then recording"
else
	skip "threads that send have better turns than those that render" "priorities are the administrator's to give"
fi
# as many as there may be, up to 65,536; the kernel says how many it has room for
most=$(awk -v n="$(ulimit -Hn)" 'BEGIN { print (n == "unlimited" || n + 0 > 65536 ? 65536 : n) }')
between "$(sed -n 's/^FDSize:\s*//p' /proc/$fire/status)" "$most" $((2 * most + 64)) "the table of open files is as long as it will ever be"
end

if chrt -f 1 true 2>/dev/null; then
	begin chrt -f 1
	is "$(turns)" "0 -5;1 -;0 10;" "a real-time process is one for the thread that sends"
	end
else
	skip "a real-time process is one for the thread that sends" "chrt may not"
fi
server_stop
