#!/bin/bash
# Kernel timestamps: when bytes arrived, even while the client was busy. Compared with a server logging its sends.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

# The server answers every request with ten events 5 ms apart; each contains when it was sent, on the clock of the records.
cat >server.py <<'END'
import socket, sys, threading, time

def answer(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    held = b""
    while True:
        while b"\r\n\r\n" not in held:
            got = connection.recv(65536)
            if not got:
                return
            held += got
        head, held = held.split(b"\r\n\r\n", 1)
        length = int([l for l in head.lower().split(b"\r\n") if l.startswith(b"content-length:")][0].split(b":")[1])
        while len(held) < length:
            held += connection.recv(65536)
        held = held[length:]
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for i in range(10):
            time.sleep(0.005)
            event = b'data: {"choices":[{"index":0,"delta":{"content":"x"}}],"sent":%d}\n\n' % time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            connection.sendall(b"%x\r\n%s\r\n" % (len(event), event))
        event = b"data: [DONE]\n\n"
        connection.sendall(b"%x\r\n%s\r\n0\r\n\r\n" % (len(event), event))

listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()
END
if ! command -v python3 >/dev/null; then
	skip "stamps are right" "python3 is not installed"
	exit
fi
peer_start server.py
URL=$PEER_URL

ipf-prep sharegpt "$ROOT/examples/chat.json" --max-output 12 -q -o chat.trace
ipf-sched constant:rate=40,n=40 -t chat.trace -o chat.sched

# The error of each event's time, in microseconds: the time in the records less the time the server logged.
cat >errors.py <<'END'
import json, re, sys
path, column = sys.argv[1], int(sys.argv[2])
errors = []
for line in map(json.loads, open(path)):
    zero = line.get("t0_clock_ns", None) if "ipf" in line else zero
    if "n" not in line:
        continue
    body, ends, end = line["body"].encode(), [], 0
    for read in line["reads"]:
        end += read[1]
        ends.append((end, read[column]))
    for event in re.finditer(rb'data: \{.*?"sent":(\d+)\}\n\n', body):
        came = next(t for until, t in ends if until >= event.end())
        errors.append((came - (int(event[1]) - zero)) / 1e3)
print(*sorted(errors), sep="\n")
END
errors() { # COLUMN: 0 the event's time, 2 our own clock
	python3 errors.py "$OUT" "$1"
}
at() { # PART OF A HUNDRED, of the numbers on standard input
	awk -v p="$1" '{ v[NR] = $1 } END { i = int(NR * p / 100) + 1; if (i > NR) i = NR; print v[i] }'
}

run ipf-fire -u "$URL" -m sim -t chat.trace chat.sched
status_is 0 "a run of forty requests ends with 0"
if [ "$(head -1 "$OUT" | jq -r .stamps)" = kernel ]; then
	ok "the kernel stamps here"
else
	skip "stamps are right" "the kernel gives none here: $(ipf-fire -u "$URL" -t chat.trace --stamps kernel chat.sched 2>&1 >/dev/null)"
	exit
fi
is "$(body "$OUT" | jq -s -c '[.[] | select(.n != null) | .reads[] | .[0] <= .[2]] | all' \
	)" true "our clock at the read is never before the kernel's"
is "$(body "$OUT" |
	jq -s -c '[.[] | select(.n != null) | .start_ns <= .sent_ns and .sent_ns <= .first_byte_ns and .first_byte_ns <= .reads[0][0] and .reads[-1][0] <= .end_ns] | all')" true \
	"sent, answered and ended in this order"

is "$(body "$OUT" |
	jq -s -c '[.[] | select(.n != null and .left_ns != null) | .start_ns <= .left_ns and .left_ns <= .first_byte_ns] | all')" true \
	"a request leaves between its start and its answer"
if body "$OUT" | grep -q '"left_ns"'; then
	is "$(body "$OUT" |
		jq -s -c '[.[] | select(.n != null) | .left_ns != null] | all')" true "the kernel stamps what is sent as well, on new connections and on kept ones"
else
	skip "the kernel stamps sent bytes" "the kernel gives no such stamps here"
fi
errors 0 >kernel
errors 2 >own
is "$(wc -l <kernel)" 400 "ten events each"
# the server reads its clock before it sends, so an event can only seem earlier by the error of reading clocks
at_least "$(head -1 kernel)" -1 "no event has a kernel stamp from before it was sent"
yes_if "the kernel's stamps are nearer to it than our own clock" awk -v k="$(at 50 <kernel)" -v o="$(at 50 <own)" 'BEGIN { exit !(k < o) }'

# ---- while the client is stopped: its own clock is late by the length of the stop, the kernel's is not ----
ipf-fire -q -u "$URL" -m sim -t chat.trace chat.sched -o "$OUT" &
fire=$!
stop_at_exit $fire
until tap_gone $fire; do
	kill -STOP $fire 2>/dev/null
	sleep 0.05
	kill -CONT $fire 2>/dev/null
	sleep 0.05
done
wait $fire
errors 0 >kernel
errors 2 >own
is "$(wc -l <kernel)" 400 "a client that was stopped again and again for 50 ms has all events"
at_least "$(at 90 <own)" 2000 "the clock of a stopped client has events late by milliseconds"
# several waiting packets are one read, with the time of the last one: the first ones seem later than they were
yes_if "kernel stamps have far fewer late events" awk -v k="$(grep -cE '^[0-9]{4}' kernel)" -v o="$(grep -cE '^[0-9]{4}' own)" 'BEGIN { exit !(k < o) }'

# ---- the program's own clock ----
run ipf-fire -u "$URL" -m sim -t chat.trace --stamps user chat.sched
status_is 0 "--stamps user ends with 0"
is "$(head -1 "$OUT" | jq -r .stamps)" user "the source of stamps stands in the header"
is "$(body "$OUT" | jq -s -c '[.[] | select(.n != null) | .reads[] | .[0] == .[2]] | all')" true "our clock alone"
at_least "$(errors 0 | head -1)" 0 "--stamps user: no event is from before it was sent"
run ipf-fire -u "$URL" -m sim -t chat.trace --stamps kernel chat.sched
status_is 0 "--stamps kernel ends with 0"
run ipf-fire -u "$URL" -m sim -t chat.trace --stamps clock chat.sched
status_is 2 "--stamps takes two names"
is "$(cat "$ERR")" 'ipf-fire: --stamps: expected kernel or user, got "clock"' "ipf-fire says what --stamps may be"
