#!/bin/bash
# Long prompts are read ahead by their bytes, not only by their number.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

[ -z "${SANITIZE:-}" ] || skip_all "sanitizers take memory of their own"

# 200 prompts of 1 MB; the schedule asks for one a second after the first.
head -c 1000000 /dev/zero | tr '\0' x >megabyte
for i in $(seq 200); do
	printf '{"id":"r%d","messages":[{"role":"user","content":"' "$i"
	cat megabyte
	printf '"}],"output_tokens":2}\n'
done >lines
{
	printf '{"ipf":"trace","version":1}\n'
	cat lines
	printf '{"end":{"lines":200,"sha256":"%s"}}\n' "$(sha256sum <lines | cut -d ' ' -f 1)"
} >big.trace
ipf-sched constant:rate=100,n=200 -t big.trace -o big.sched
server_start --step-base 1ms --prefill-rate 1000M
ipf-fire -u "$URL" -m sim -t big.trace big.sched -o /dev/null 2>"$ERR" &
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
status_is 0 "200 prompts of a megabyte are sent"
between "$peak" 1000 130000 "and never held all at once: $peak KiB at most"
