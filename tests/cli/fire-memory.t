#!/bin/bash
# Long prompts are read ahead by their bytes, not only by their number.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

[ -z "${SANITIZE:-}" ] || skip_all "sanitizers take memory of their own"

# 200 prompts of 1 MB twice over, of which eight at most are under way, however slow the server is.
head -c 1000000 /dev/zero | tr '\0' x >megabyte
for i in $(seq 200); do
	printf '{"id":"r%d","messages":[{"role":"user","content":"' "$i"
	cat megabyte
	printf '"}],"output_tokens":2}\n'
done >lines
trace_of lines >big.trace
ipf-sched constant:rate=300,n=400,slots=8 -t big.trace -o big.sched
server_start --step-base 1ms --prefill-rate 1000M
ipf-fire --stop-after-failures 0 -u "$URL" -m sim -t big.trace big.sched -o /dev/null 2>"$ERR" &
fire=$!
stop_at_exit $fire
peak=0
while kill -0 $fire 2>/dev/null; do
	now=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$fire/status 2>/dev/null)
	[ -z "$now" ] || peak=$now
	sleep 0.1
done
status=0
wait $fire || status=$?
status_is 0 "400 prompts of a megabyte are sent"
# Ahead are 32 MiB rendered and 32 fetched, and a body each: 90,000 KiB with those under way. malloc's loss between them depends
# on the threads' turns. The trace alone is 195,000 KiB, and all the bodies are twice as much.
between "$peak" 1000 180000 "prompts of 400 MB take $peak KiB at most"

# Unread records wait in memory, up to a limit; then the run ends in order, and all coming is still there.
printf '{"id":"r","messages":[{"role":"user","content":"Tell me."}],"output_tokens":400}\n' >lines
trace_of lines >small.trace
ipf-sched closed:users=16,n=2000 -t small.trace -o small.sched
mkfifo slow
(exec 3<slow; while [ ! -e go ]; do sleep 0.1; done; exec cat <&3 >slow.records) &
stop_at_exit $!
ipf-fire -u "$URL" -m sim --memory 8MB -t small.trace small.sched >slow 2>"$ERR" &
fire=$!
stop_at_exit $fire
wait_for grep -q "waiting until the records are written" "$ERR"
touch go
status=0
wait $fire || status=$?
status_is 1 "a run whose records nobody reads ends"
stderr_contains "unwritten records exceed --memory" "ipf-fire says that unwritten records exceed --memory"
stderr_contains "--memory is full, no more requests are started" "ipf-fire says at once that it starts no more requests"
wait_for whole slow.records
yes_if "records of a slow reader are whole" whole slow.records
between "$(body slow.records |
	jq -s 'map(select(.n != null and .status == 200)) | length')" 50 1990 "records of a slow reader have the requests so far"
is "$(tail -1 slow.records |
	jq -r .end.incomplete)" "stopped: records could not be written as fast as requests ended" "the trailer says so"
