#!/bin/bash
# ipf-fire --retry against servers that refuse: every attempt is one that the server has in its log, none comes earlier than Retry-After says, and
# latencies, slots and sessions count from the first start to the end of the last attempt.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/nginx.sh"
PATH=$PATH:/usr/sbin

ipf-prep sharegpt "$ROOT/examples/chat.json" -n 30 --output-tokens 3 -q -o chat.trace
ipf-sched constant:rate=100,n=60 -t chat.trace -q -o chat.sched
again() { # RECORDS ARGUMENTS…: with ids the server's log has
	# shellcheck disable=SC2016 # the program's variable
	run ipf-fire -u "$URL" -m sim -t chat.trace -H 'X-Request-Id: $id' -o "$1" "${@:2}"
}
limited() { # ARGUMENTS OF ipf-sim…: a server whose log begins anew
	[ -z "${SERVER:-}" ] || server_stop
	rm -f sim.log
	server_start --step-base 1ms --log sim.log "$@"
}
# Each request of the schedule has an id of its own only if the trace is not repeated.
ipf-sched constant:rate=100,n=30 -t chat.trace -q -o once.sched
logged() { [ "$(wc -l <sim.log)" -ge "$1" ]; }
truth() { # RECORDS TEXT [date]
	wait_for logged "$(requests "$1" | jq -s 'map((.attempts // [] | length) + 1) | add')"
	run python3 "$TESTS/helpers/retry_truth.py" "$1" sim.log "${@:3}"
	matches "$(tail -1 "$OUT")" "^30 requests, [0-9]+ attempts, [0-9]+ at the server, 0 differ$" "$2: $(tail -1 "$OUT")"
	is "$(wc -l <"$OUT")" 1 "$2: no request differs"
}

# ---- all end well ----------------------------------------------------------------------------------------------------

for form in ms openai; do
	limited --rate-limit 50/s,burst=5,say=$form
	again $form.records once.sched --retry 100
	status_is 0 "$form: a run with --retry"
	said=$(cat "$ERR")
	is "$(requests $form.records | jq -c '[.status, .error]' | sort -u)" '[200,null]' "$form: every request ends well"
	truth $form.records "$form"
	refused=$(requests $form.records | jq -s 'map(select(.attempts)) | length')
	[ $form != ms ] || ms_refused=$refused
	# The first refusal of a request is its first line. (Each line is held against the records above, and the bucket is computed again below.)
	is "$refused" "$(jq -s 'group_by(.id) | map(select(min_by(.arrival_ns).status == 429)) | length' sim.log)" "$form: as many were refused first as the server's log says"
	at_least "$refused" 1 "$form: some were refused first"
	times=$(requests $form.records | jq -s 'map(.attempts // [] | length) | add')
	is "$said" "ipf-fire: $refused requests were refused and retried, $times times in all (--retry)" "$form: ipf-fire counts refusals and retries"
	run ipf-collect --check $form.records
	status_is 0 "$form: the records are as they must be"
	is "$(head -1 $form.records | jq -cS .retry)" '{"cap_ns":60000000000,"first_ns":1000000000,"most":100,"on":[429,503]}' "$form: the header has the rule"
done
limited --rate-limit 20/s,burst=20
again seconds.records once.sched --retry 9
is "$(requests seconds.records | jq -c .status | sort -u)" 200 "seconds: every request ends well"
truth seconds.records seconds
limited --rate-limit 20/s,burst=20,say=date --clock-offset 1h
again date.records once.sched --retry 9
is "$(requests date.records | jq -c .status | sort -u)" 200 "dates of a clock that is ahead: every request ends well"
truth date.records date date
limited --rate-limit 50/s,burst=5,say=nothing
again nothing.records once.sched --retry 100,first=20ms,cap=50ms
is "$(requests nothing.records | jq -c .status | sort -u)" 200 "requests without Retry-After all end well"
is "$(requests nothing.records | jq -c '.attempts[]? | [(.wait_ns >= 10000000 and .wait_ns <= 50000000), .retry_after_ns]' | sort -u)" '[true,null]' \
	"waits without Retry-After lie between half of the first one and the cap"
is "$(requests nothing.records | jq -s '[.[].attempts[]?.wait_ns] | (unique | length) > length / 2')" true "waits without Retry-After differ"
is "$(requests nothing.records | jq -c 'select(.attempts) | .attempts[0].body' | sort -u | jq -r .)" \
	'{"error":{"message":"Rate limit reached for requests","type":"RateLimitError","param":null,"code":429}}' "attempts have the bodies of the refusals"

# ---- the rows --------------------------------------------------------------------------------------------------------

run ipf-collect ms.records -o ms.results
status_is 0 "ipf-collect reads the records of --retry"
run python3 "$TESTS/helpers/second_opinion.py" ms.records ms.results
matches "$(cat "$OUT")" "^30 rows, 0 differ$" "rows as a second implementation has them"
is "$(requests ms.results | jq -c '[.start_ns >= .due_ns, (.attempts // 1) > 0, .attempt_ttft_ns <= .ttft_ns, (.attempts == null) == (.attempt_ttft_ns == .ttft_ns)]' |
	sort -u)" '[true,true,true,true]' "latencies of users and of the server"
is "$(requests ms.results | jq -c 'select(.attempts) | [.retry_wait_ns >= .retry_after_ns, .retry_early, .refusals == .attempts - 1]' | sort -u)" \
	'[true,null,true]' "waits are no shorter than asked for"

# ---- the report ------------------------------------------------------------------------------------------------------

requests ms.results | jq -s '{requests: (map(select(.refusals)) | length), answers: (map(.refusals // 0) | add), retried: (map(select(.attempts)) | length),
	retried_ok: (map(select(.attempts and .ok)) | length), attempts: (map(.attempts // 1) | add), early: (map(.retry_early // 0) | add),
	asked: (map(.retry_afters // 0) | add)}' >counted
run ipf-report -f json ms.results
cp "$OUT" report.json
is "$(jq -cS '.total.refusals | {requests, answers, retried, retried_ok, attempts, early, asked}' report.json)" "$(jq -cS . counted)" "the report counts them"
requests ms.results | jq -s '[(map(.retry_wait_ns // 0) | add) / 1e9, (map(.retry_wait_ns // 0) | add) / (map(.end_ns - .start_ns) | add),
	(map(.retry_after_min_ns // empty) | min) / 1e6, (map(.retry_after_ns // 0) | add) / (map(.retry_afters // 0) | add) / 1e6,
	(map(.retry_after_max_ns // empty) | max) / 1e6, (map(.attempt_ttft_ns) | add) / length / 1e6]' >sums
is "$(jq -c --slurpfile r report.json '($r[0].total | [.refusals.waited_s, .refusals.waited_share, .refusals.asked_min_ms, .refusals.asked_mean_ms,
	.refusals.asked_max_ms, .latency.attempt_ttft_ms.mean]) as $got | [range(6) as $i | ($got[$i] - .[$i] | fabs) < 1e-5] | unique' sums)" \
	'[true]' "JSON has the times of refusals and attempts"
run ipf-report --section refusals ms.results
text=$(tr -s ' \n' ' ' <"$OUT")
contains "$text" "refused $ms_refused requests" "the text has a section"
contains "$text" "no attempt came earlier" "the text says that the server was obeyed"
contains "$text" "from the first start" "the text has the latency from the first start"
contains "$text" "from the last attempt" "the text has the latency from the last attempt"
run ipf-report -f csv ms.results
is "$(python3 -c 'import csv, sys
print([[row[name] for name in ("requests_refused", "attempts")] for row in csv.DictReader(open(sys.argv[1]))][0])' "$OUT")" \
	"['$ms_refused', '$(jq .attempts counted)']" "CSV has both counts"

# ---- without --retry -------------------------------------------------------------------------------------------------

# 60 requests in 0.59 s: the bucket has five tokens at first, and 20 more a second.
limited --rate-limit 20/s,burst=5
again plain.records chat.sched
refused=$(requests plain.records | jq -s 'map(select(.status == 429)) | length')
wait_for logged 60
taken=$(jq -s 'map(select(.status == 200)) | length' sim.log)
is "$((60 - taken))" "$refused" "failures without --retry are the server's refusals"
# The arrivals in the server's log that a bucket lets pass.
is "$(jq -s 'map(.arrival_ns) | sort | . as $t | reduce .[] as $a ({m: 0, last: $t[0], n: 0};
	.m = ([.m - 20 * ($a - .last) / 1e9, 0] | max) | .last = $a | if .m + 1 <= 5 then .m += 1 | .n += 1 else . end) | .n' sim.log)" "$taken" \
	"the bucket computed a second time refuses as many"
is "$(requests plain.records | jq -c 'select(.status == 429) | [.retry_after_ns, .attempts]' | sort -u)" '[1000000000,null]' "Retry-After is recorded"
ipf-collect -q plain.records -o plain.results
is "$(requests plain.results | jq -c 'select(.ok | not) | [.refusals, .retry_after_ns, .attempts, .attempt_ttft_ns]' | sort -u)" '[1,1000000000,null,null]' \
	"rows have Retry-After"
run ipf-report --section refusals plain.results
contains "$(tr -s ' \n' ' ' <"$OUT")" "retried none: see ipf-fire --retry" "the report says that nothing was retried"
contains "$(tr -s ' \n' ' ' <"$OUT")" "Retry-After in $refused answers: at least 1,000 ms, 1,000 ms on average, at most 1,000 ms" "the report has the waits of Retry-After"
ipf-collect -q openai.records -o openai.results
run ipf-report compare --fail-if 'refused > 5%' --fail-if 'attempt_ttft.p50 > 1h' ms.results openai.results
stderr_contains "--fail-if refused > 5%: new is" "a comparison has the share of refused requests"
is "$(grep -c attempt_ttft "$ERR")" 0 "compare takes the latency of last attempts"
run ipf-report compare -f json ms.results openai.results
is "$(jq -c '[.. | objects | select(.figure? // .name? | . == "refused" or . == "attempt_e2e.p50")] | length >= 2' "$OUT")" true "JSON of compare has refusals and attempts"

# ---- not for ever ----------------------------------------------------------------------------------------------------

limited --fail 429:retry=0
again never.records once.sched --retry 3,first=2ms,cap=10ms
is "$(requests never.records | jq -c '[.status, (.attempts | length)]' | sort -u)" '[429,3]' "N attempts more, and no more"
wait_for logged 120
is "$(jq -s length sim.log)" 120 "the server counts four attempts of each of 30 requests"
is "$(requests never.records | jq -c '.body | fromjson.error.code' | sort -u)" 429 "the record is that of the last attempt"
limited --fail 429
again cap.records once.sched --retry 3,first=2ms,cap=999ms
is "$(requests cap.records | jq -c '[.status, .attempts]' | sort -u)" '[429,null]' "a wait longer than the cap is a failure"
limited --fail 429:retry=2h
again time.records once.sched --retry 3,cap=3h --timeout 1h
is "$(requests time.records | jq -c '[.status, .attempts]' | sort -u)" '[429,null]' "a wait longer than --timeout is a failure"
limited --fail 503
again other.records once.sched --retry 3,on=429,first=2ms
is "$(requests other.records | jq -c '[.status, .attempts]' | sort -u)" '[503,null]' "a status outside of on= is a failure"
limited --fail 503:retry=1h
again stop.records once.sched --retry 2,cap=2h --timeout 0 --cancel 100%@2s
is "$(requests stop.records | jq -c '.error.kind' | sort -u)" '"hung-up"' "clients that disconnect do not wait for an hour"
at_least "$(requests stop.records | jq -c 'select(.attempts)' | wc -l)" 1 "some clients disconnect while they wait to be sent again"
server_stop
SERVER=

# ---- a server not there yet ----------------------------------------------------------------------------------

# It goes away after the first connection, which looks whether it is there, and comes back on the same port. The port is
# none the system gives to others meanwhile; the schedule goes on when the test has seen its condition.
for k in 1 2 3 4 5 6 7 8 9; do
	PORT=$((10000 + ($$ * 41 + k * 227) % 10000))
	"$BIN/ipf-sim" --die-with-parent --step-base 1ms -p $PORT >sim.said 2>sim.err &
	SERVER=$!
	stop_at_exit $SERVER
	wait_for tap_port_or_gone sim.said $SERVER
	[ ! -s sim.said ] || break
done
URL=http://127.0.0.1:$PORT
ipf-sched constant:rate=20,for=4s -t chat.trace -q -o long.sched
mkfifo rest
ipf-fire -q -u "$URL" -m sim -t chat.trace rest --connections fresh --retry 100,on=connect,first=20ms,cap=1s -o gone.records &
fire=$!
stop_at_exit $fire
exec 7>rest
head -6 long.sched >&7
answered() { [ "$(grep -c '^{"n"' gone.records)" = 5 ]; }
wait_for answered
server_stop
tail -n +7 long.sched >&7
exec 7>&- # before a server has it, too
# Before the server went, five at most were in flight.
many_wait() { [ "$(grep -o '"in_flight":[0-9]*' gone.records | tail -1 | cut -d: -f2)" -ge 10 ]; }
wait_for many_wait
server_start --step-base 1ms -p "$PORT"
wait $fire
is "$?" 0 "a server that goes away and comes back"
# Requests in flight when it went are lost.
is "$(requests gone.records | jq -c 'select(.error.kind == "connect")' | wc -l)" 0 "no request fails for want of a connection"
between "$(requests gone.records | jq -c 'select(.attempts) | select([.attempts[].error.kind] | unique == ["connect"]) | .status' | grep -c 200)" 1 80 \
	"some were sent again until it was there"
server_stop
SERVER=

# ---- sessions and slots ----------------------------------------------------------------------------------------------

ipf-prep sharegpt "$ROOT/examples/chat.json" --turns all --wait 1ms --output-tokens 4 --sessions 12 -q -o talk.trace
ipf-sched closed:users=4,n=12 -t talk.trace -q -o talk.sched
limited --rate-limit 60/s,say=ms
run ipf-fire -u "$URL" -m sim -t talk.trace talk.sched --retry 100 --history live -o talk.records
status_is 0 "conversations that are refused"
is "$(requests talk.records | jq -c '[.status, .error]' | sort -u)" '[200,null]' "every turn ends well"
at_least "$(requests talk.records | jq -s 'map(select(.attempts)) | length')" 1 "turns end well after a refusal"
is "$(requests talk.records | jq -sc 'group_by(.session) | map(sort_by(.turn) | [.[:-1], .[1:]] | transpose | map(.[1].start_ns >= .[0].end_ns) | all) | all')" \
	true "a turn waits for the last attempt of the one before it"
# At no time are there more requests from first start to end than users.
is "$(requests talk.records | jq -s 'map([.start_ns, 1], [.end_ns, -1]) | sort | reduce .[] as $x ([0, 0]; [.[0] + $x[1], ([.[1], .[0] + $x[1]] | max)]) | .[1] <= 4')" \
	true "a turn keeps its slot while it waits"

# ---- signals ---------------------------------------------------------------------------------------------------------

# A wait of an hour a signal does not end would hang the test.
limited --fail 429:retry=1h
for grace in 1h 0; do
	rm -f stuck.records
	: >sim.log
	ipf-fire -u "$URL" -m sim -t chat.trace once.sched --retry 3,cap=2h --timeout 0 --grace $grace -o stuck.records 2>"$ERR" &
	fire=$!
	stop_at_exit $fire
	seen=$(requests stuck.records 2>/dev/null | wc -l)
	waiting() { [ "$(tail -n +2 stuck.records 2>/dev/null | grep -o '"in_flight":[0-9]*' | tail -1 | cut -d: -f2)" = 30 ]; }
	wait_for waiting
	# The server has answered all, and the client has gone on for two lines about itself.
	wait_for logged 30
	clients() { grep -c '^{"client"' stuck.records; }
	before=$(clients)
	goes_on() { [ "$(clients)" -ge $((before + 2)) ]; }
	wait_for goes_on
	is "$seen,$(requests stuck.records | wc -l)" "0,0" "requests that wait have no record (--grace $grace)"
	kill -INT $fire
	# The second signal, when the first one was taken and the program sleeps again: of two waiting the system keeps one, and those within a tenth of
	# a second are one.
	taken() { tap_gone $fire || { grep -q '^State:.S' /proc/$fire/status && ! grep -qE '^(SigPnd|ShdPnd):.*[1-9a-f]' /proc/$fire/status; }; }
	[ $grace = 0 ] || { wait_for taken && sleep 0.15 && kill -INT $fire; }
	status=0
	wait $fire || status=$?
	is "$(requests stuck.records | jq -c '[.error.kind, .status, (.attempts | length), .attempt_ns]' | sort -u)" \
		'["cancelled",null,1,null]' "a signal ends the waits (--grace $grace)"
	run ipf-collect --check stuck.records
	status_is 0 "--check passes records of ended waits (--grace $grace)"
done
server_stop
SERVER=

# ---- HTTP/2, threads -------------------------------------------------------------------------------------------------

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem 2>openssl.said
limited --rate-limit 50/s,burst=5,say=ms
if nginx_start "${URL##*:}"; then
	URL=http://localhost:$H2C
	again h2.records once.sched --retry 100 --http 2-prior --threads 2
	is "$(requests h2.records | jq -c '[.status, .connection.http]' | sort -u)" '[200,2]' "HTTP/2: every request ends well"
	truth h2.records "HTTP/2, two threads"
	nginx_stop
else
	skip "HTTP/2: every request ends well" "there is no nginx here"
fi

# ---- refusals -------------------------------------------------------------------------------------------------

for value in 0 101 x "" 3,on=200 3,on= 3,cap=5 3,first=2m 3,wait=1s 3,on=429+; do
	run ipf-fire -u "$URL" -t chat.trace --retry "$value" once.sched
	status_is 2 "--retry '$value' is misuse"
done
run ipf-fire -u "$URL" -t chat.trace --retry 3 --probe
complains ipf-fire "--retry cannot be combined with --probe" "a probe is one exchange"
